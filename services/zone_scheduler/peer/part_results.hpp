#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>

#include "services/common/ports/clock.hpp"
#include "services/zone_scheduler/peer/part_staging.hpp"

namespace zbs {

/// Files that a part leaves for its home: stored a piece at a time, handed on, removed.
class PartResults {
  public:
    PartResults(const ZoneConfig& config, PartStaging& staging, Clock& clock, PartStore& store, StepFiles& step_files,
                MachineFiles& machine_files, Log& log)
        : config_(config),
          staging_(staging),
          clock_(clock),
          store_(store),
          step_files_(step_files),
          machine_files_(machine_files),
          log_(log) {}

    /// Selects the results among the files of the part's steps.
    void request(const PartRecord& record);
    /// What a part that has ended left. The first question makes the zone store it; until then it is not complete.
    Result<StagedResults> find(const PartRecord& record);
    Result<FileChunk> read(const PartRecord& record, const std::string& name, std::uint64_t offset) const;
    /// Home has them.
    void remove(const PartRecord& record);

  private:
    struct Found {
        StepId step;  ///< in whose folder it is
        StepFiles::File file;
    };
    struct Collection;
    std::deque<Found> search(const PartRecord& record, StagedResults& results);
    void collect(const PartId& id);
    void record_collected(Collection& work);
    void remove_fetched(const PartRecord& record);

    const ZoneConfig& config_;
    PartStaging& staging_;
    Clock& clock_;
    PartStore& store_;
    StepFiles& step_files_;
    MachineFiles& machine_files_;
    Log& log_;
    std::map<PartId, std::shared_ptr<Collection>> collecting_;
};

}  // namespace zbs
