#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/queue/zone_queue.hpp"
#include "services/common/ports/clock.hpp"
#include "services/common/ports/log.hpp"
#include "services/common/ports/slice_sink.hpp"
#include "services/common/ports/storage/part_store.hpp"
#include "services/zone_scheduler/records/zone_config.hpp"

namespace zbs {

/// Per cent of its processors that a part asks for. A part of another organisation's user has no more than one that
/// asks for nothing: a share counts in the whole row.
int share_of(const ZoneConfig& config, const std::optional<int>& asked, const Caller& user);

/// How parts share processors, as the policy of the queue has it: which columns of slices, nice levels or weights the
/// machines get. Parts take turns, as in gang scheduling; or they run together, by priority [Turner1995, chapter 6] or
/// by shares [Huang2004, chapter 5].
class TimeSharing {
  public:
    /// Returns the parts that run, in order of their ids; valid until the strand is left.
    using RunningParts = std::function<std::vector<const PartRecord*>()>;
    /// `slices`: receives the slices of the machines; null where they get none.
    TimeSharing(const ZoneConfig& config, std::string partition, const ZoneQueue& queue, Clock& clock, PartStore& store,
                Log& log, SliceSink* slices, RunningParts running)
        : config_(config),
          partition_(std::move(partition)),
          queue_(queue),
          clock_(clock),
          store_(store),
          log_(log),
          slices_(slices),
          running_(std::move(running)) {}

    bool takes_turns() const;
    /// "turns", "nice levels" or "weights"; empty where a processor has one part at a time.
    std::string mode() const;
    void note_change() { changed_ = true; }  ///< of what runs
    /// Sends the machines their columns and shares after a change.
    void send();

  private:
    struct Row {
        /// Of its parts the largest. What all rows leave goes to them in proportion, as agents divide the period.
        int share = 0;
        std::map<MachineName, std::vector<StepId>> steps;  ///< of machines where a step of the row runs
        std::optional<ApplicationId> across;               ///< the first with ranks in other zones, too
    };
    using Rows = std::vector<Row>;  ///< that have something that runs
    void see_weights();
    void begin_turns(Time now);
    Result<void> store_queue() const;
    int share_of_part(const PartRecord& part) const;
    void add_to(Row& row, const PartRecord& part) const;
    Rows running_rows() const;
    SliceColumn column_of(const MachineName& machine, const Rows& rows) const;
    std::map<PartId, std::vector<int>> levels() const;
    ShareTable shares_of(const MachineName& machine) const;

    const ZoneConfig& config_;
    const std::string partition_;  ///< whose machines these are, as the store has it
    const ZoneQueue& queue_;
    Clock& clock_;
    PartStore& store_;
    Log& log_;
    SliceSink* slices_;
    RunningParts running_;
    bool changed_ = true;  ///< since the last columns were sent
    bool sent_ = false;
    bool has_weights_ = false;  ///< all machines can give weights, as far as is known
    Turns turns_{};             ///< of the policy, when the last columns were sent
    Duration slice_{};          ///< of the last columns
    Time epoch_{};              ///< of the last columns; their slices are counted from there on
    std::uint64_t turn_ = 0;    ///< slices from 1970 to that one
};

}  // namespace zbs
