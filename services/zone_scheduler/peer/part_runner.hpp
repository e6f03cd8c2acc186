#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/common/messages/profile.hpp"
#include "services/common/ports/executor.hpp"
#include "services/zone_scheduler/peer/part.hpp"
#include "services/zone_scheduler/peer/part_allocations.hpp"
#include "services/zone_scheduler/peer/part_results.hpp"
#include "services/zone_scheduler/peer/part_staging.hpp"

namespace zbs {

/// The processes of parts: what a launch starts, how they are and end, the profile that they leave.
class PartRunner {
  public:
    /// Turns the text of a model file into a model (the domain knows no JSON).
    using DecodeModel = std::function<Result<ApplicationModel>(std::string_view)>;
    struct Parts {
        const ZoneConfig& config;
        Executor& executor;
        PartAllocations& allocations;
        const ProcessorLedger& ledger;
        const PartStaging& staging;
        PartResults& results;
        DecodeModel decode;
    };
    explicit PartRunner(Parts parts) : p_(std::move(parts)) {}

    /// The machines of its proxies, as this zone names them. `shown`: the assignment as home knows it. Errors:
    /// kInvalidArgument for proxies that the part cannot have.
    Result<std::vector<MachineName>> machines_of(const PartRecord& record, const std::vector<RankPlace>& shown,
                                                 const LaunchRequest& request) const;
    /// Reports the steps of a part to the executor; before they start, and again after a restart.
    void place(const PartRecord& record);
    /// Starts all processes of a part that is on record as running. Errors: the executor's, for the first that fails.
    Result<void> start(const PartRecord& record, const LaunchRequest& request);
    void stop(const PartRecord& record, Duration grace);
    part::Observation look(const PartRecord& record);
    /// Of the steps whose machines' agents have said something; several kinds together are mixed.
    std::optional<StepWork> work_of(const PartRecord& record) const;
    /// The model that rank 0 left here, else what the ranks of this part left. kNotFound where there is none.
    Result<ApplicationModel> profile(const PartRecord& record) const;

  private:
    Result<StepSpec> step_of(const PartRecord& record, const LaunchRequest& request, std::size_t i,
                             std::vector<std::string> command);
    void add_profiler(const PartRecord& record, const LaunchRequest& request, std::size_t i, StepSpec& step) const;
    std::map<MachineName, StepId> profile_steps(const PartRecord& record) const;
    std::vector<std::pair<std::string, std::string>> rank_records(const PartRecord& record) const;

    Parts p_;
};

}  // namespace zbs
