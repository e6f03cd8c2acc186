#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "services/common/ports/log.hpp"
#include "services/common/ports/steps/step_files.hpp"
#include "services/common/ports/storage/part_store.hpp"
#include "services/zone_scheduler/peer/part_allocations.hpp"
#include "services/zone_scheduler/records/file_library.hpp"
#include "services/zone_scheduler/records/zone_config.hpp"

namespace zbs {

/// Files that a part gets before its launch: whether the zone takes them, and their way to the machines of the part.
class PartStaging {
  public:
    /// `files`: null where the zone takes none.
    PartStaging(const ZoneConfig& config, const PartAllocations& allocations, StepFiles& step_files,
                MachineFiles& machine_files, FileLibrary* files, Log& log)
        : config_(config),
          allocations_(allocations),
          step_files_(step_files),
          machine_files_(machine_files),
          files_(files),
          log_(log) {}
    FileLibrary* files() const { return files_; }  ///< null: the zone takes none

    /// Whether this zone would take the files of such an application. The error names the bound to other organisations,
    /// not its value.
    Result<void> check_need(const Caller& caller, const std::optional<StagingNeed>& need) const;
    /// Precondition: the zone takes files.
    Result<void> check(const Staging& staging) const;
    /// As other organisations receive it: a general refusal; the log has the reason.
    Error redact_for(const Caller& caller, const Error& error) const;

    bool runs_on_agents(const PartRecord& record) const;
    /// Whether all machines of this part have its files. The machines of a part that waits are not known: they get the
    /// files when it starts.
    Result<bool> bring_inputs(const PartRecord& record);
    /// Errors: kConflict where a file of the part has not come.
    Result<void> check_staged(const PartRecord& record) const;
    /// By step, the one in whose folder its ranks run: the first of the same host.
    std::vector<StepId> staged_steps(const PartRecord& record) const;
    void add_to(const PartRecord& record, std::size_t step, StepSpec& spec) const;
    /// Nobody needs the copies of a part that has ended once its results are stored.
    void remove_inputs(const PartRecord& record);

  private:
    Result<void> check_nodes() const;
    std::vector<StepSpec::Input> inputs_of(const PartRecord& record) const;

    const ZoneConfig& config_;
    const PartAllocations& allocations_;
    StepFiles& step_files_;
    MachineFiles& machine_files_;
    FileLibrary* files_;
    Log& log_;
};

}  // namespace zbs
