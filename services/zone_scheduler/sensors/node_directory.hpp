#pragma once
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "algorithms/model/resource_graph.hpp"
#include "services/common/messages/node.hpp"
#include "services/common/ports/clock.hpp"
#include "services/common/ports/log.hpp"
#include "services/common/ports/machine_use.hpp"
#include "services/zone_scheduler/sensors/measured_series.hpp"

namespace zbs {

/// Node agents of this zone, as they register again and again. Nothing of it is stored: who is there says so within
/// seconds of a restart, and time while the zone was down counts against nobody. Lives on the domain's strand.
class NodeDirectory {
  public:
    static constexpr Duration kLease = std::chrono::seconds{40};

    /// `agents`: the machines that the zone has by their agents; only of these a forecast is made, and `uses_of`
    /// speaks. Clock and log must outlive this.
    NodeDirectory(std::set<MachineName, std::less<>> agents, const Clock& clock, Log& log)
        : clock_(clock), log_(log), agents_(std::move(agents)) {}

    /// Errors: kInvalidArgument where the description is of another node than `name`; kTooManyRequests over
    /// `limits::kMaxNodes`.
    Result<NodeLease> put(const MachineName& name, NodeRegistration registration);

    struct Node {
        NodeRegistration registration;  ///< the last one
        Time seen{};                    ///< when it came
        bool is_live = false;           ///< its lease has not run out
        /// Share of its processors that others leave; none of a machine that the zone does not have by its agent.
        std::optional<SeriesView> available{};
    };
    /// All that registered since the zone was started, by name.
    std::vector<Node> nodes() const;
    /// Null where it never registered.
    const NodeRegistration* find(const MachineName& name) const;
    bool is_live(const MachineName& name) const;

    /// What machines with an agent have for parts of the zone: nothing where the agent is not there or may use fewer
    /// processors than the zone has of the machine. Their speed is the share of its processors that others will leave,
    /// as forecast from what the agent measures.
    std::vector<MachineUse> uses_of(const std::vector<Machine>& machines) const;

  private:
    struct Entry {
        NodeRegistration registration;
        Time seen{};
        Duration until{};                           ///< steady time
        std::optional<MeasuredSeries> available{};  ///< share of its processors
    };
    MachineUse use_of(const Machine& machine) const;
    const Clock& clock_;
    Log& log_;
    std::map<MachineName, Entry, std::less<>> entries_;
    std::set<MachineName, std::less<>> agents_;
};

}  // namespace zbs
