#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "algorithms/queue/zone_queue.hpp"
#include "services/common/ports/clock.hpp"
#include "services/zone_scheduler/peer/part.hpp"
#include "services/zone_scheduler/peer/processor_ledger.hpp"

namespace zbs {

/// The parts of a zone that have not ended, and which processors are promised to them when. Decides nothing.
class PartTable {
  public:
    using Shared = std::shared_ptr<part::State>;
    /// `of_zone`: gets the table; the limits of an organisation are for all of these together. Null: it is the only
    /// one.
    PartTable(const ZoneConfig& config, const Clock& clock, ZoneQueue::Observer observer,
              std::vector<const PartTable*>* of_zone = nullptr);

    // Parts
    void add(Shared part);
    void remove(const PartId& id);        ///< with what is promised to it, and its place in the queue
    Shared find(const PartId& id) const;  ///< null where it has ended, or there is none
    const std::map<PartId, Shared>& all() const { return parts_; }
    std::vector<const PartRecord*> records() const;  ///< valid until the strand is left
    /// What the organisation has held, committed or running in the zone.
    PeeringUsage usage_of(const OrganisationName& organisation) const;

    // Promises
    /// What the part may need from now on.
    void promise(const part::State& part);
    /// A part that still runs has its processors, whatever was promised of its end. To be called before processors are
    /// given out: between two rounds of the watch a promise ends, and a zone that stood still hears the call before the
    /// clock.
    void promise_overruns();
    /// What a run that has ended says of how much of their walltime parts use.
    void record_run(const part::State& part);
    double used_share() const { return used_share_; }
    /// In that interval, also to what waits.
    ProcessorLedger::Promised promised(const ProcessorCalendar::Interval& when, std::set<PartId> without,
                                       bool by_estimate = false) const;
    /// Of the organisation in the zone, by what is promised in that interval.
    PeeringUsage usage_in(const OrganisationName& organisation, const ProcessorCalendar::Interval& when,
                          const std::set<PartId>& without, bool by_estimate = false) const;
    static constexpr Duration kNoLimit{std::numeric_limits<std::int64_t>::max()};
    /// Steady time: with a later launch others would wait for processors that are promised to them. O(promises x
    /// processors).
    Duration latest_launch(const part::State& part) const;
    /// Whether another part runs on its processors, and was not stopped for others.
    bool is_blocked(const part::State& part) const;
    ProcessorCalendar::Interval promise_of(const PartId& id) const;  ///< empty where there is none
    /// Grows with each change of promises; who has seen a number sees whether something changed after it.
    std::uint64_t changes() const { return changes_; }
    void note_change() { ++changes_; }  ///< of the processors themselves

    // Parts of it
    ZoneQueue& queue() { return queue_; }
    const ZoneQueue& queue() const { return queue_; }
    std::size_t waiting_count() const { return queue_.size(); }  ///< parts in the queue, without processors
    ProcessorLedger& ledger() { return ledger_; }
    const ProcessorLedger& ledger() const { return ledger_; }

    // For people and metrics
    int free_processors() const { return ledger_.free_processors(queue_.calendar(), clock_.steady_now()); }
    std::vector<ProcessorLedger::NodeView> nodes() const {
        return ledger_.nodes(queue_.calendar(), clock_.steady_now());
    }
    ProcessorLedger::Use use() const;  ///< cost: in proportion to processors and parts
    /// Row of the slice matrix that the part lies in, 0 to `ZoneConfig::slots` - 1. None where processors are not
    /// shared, or it has none yet.
    std::optional<int> slice_of(const PartRecord& part) const;

  private:
    const ZoneConfig& config_;
    const Clock& clock_;
    std::vector<const PartTable*> own_;
    std::vector<const PartTable*>& of_zone_;  ///< whose parts count as in use
    std::map<PartId, Shared> parts_;
    ZoneQueue queue_;         ///< what is promised to them, and who waits
    ProcessorLedger ledger_;  ///< which of them are free, and where a part lies
    double used_share_ = 1;   ///< of their walltime, that parts ran lately; 1 = nothing is known
    std::uint64_t changes_ = 0;
};

}  // namespace zbs
