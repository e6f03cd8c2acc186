#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "services/zone_scheduler/peer/part_table.hpp"
#include "services/zone_scheduler/records/zone_observer.hpp"
#include "services/zone_scheduler/trust/authorization_filter.hpp"

namespace zbs {

/// The parts that wait for processors, and the cycle that gives them some.
class PartQueue {
  public:
    /// What a decision does. Each may refuse: what it decides on has to be stored.
    struct Actions {
        /// The part on some of these processors. False where it does not fit, or could not be stored.
        std::function<bool(const PartTable::Shared&, const ProcessorSet& usable)> give;
        /// It shall wait no more.
        std::function<void(const PartTable::Shared&, const std::string& reason)> withdraw;
    };
    /// The rights of users now.
    struct Rights {
        /// Of the part's user, on top of what its organisation has.
        std::function<Entitlement(const PartRecord&, const PeeringUsage&)> find;
        /// The weight of an organisation in the fair order; none: the usual one.
        std::function<std::optional<double>(const OrganisationName&)> share_of;
    };
    PartQueue(const ZoneConfig& config, const Clock& clock, PartTable& table, ZoneObserver& observer, Rights rights,
              Actions actions);

    /// From now on, as `queue_discipline` reads it; empty: nobody can wait here. Those who wait stay in any case.
    /// Errors, nothing changed: `queue_discipline`'s; kInvalidArgument for a policy that takes other rows of processors
    /// than the zone has, or agents where there are none.
    Result<void> use(const std::string& discipline);
    bool is_open() const { return is_open_; }
    void add(const part::State& part);
    /// Goes on with what an earlier life of the zone stored of a queue with the same policy. To be called when all
    /// parts are known again.
    Result<void> resume(PartStore& store, const std::string& partition);
    /// One cycle, if one is due.
    void run();
    /// One cycle: starts whom the discipline wants started, and takes down what the others can expect.
    void decide();
    /// What the parts that wait can expect, by the last decision.
    const std::map<PartId, Outlook>& outlooks() const { return outlooks_; }
    /// What a part that waits can expect; for the zone's own users all of it.
    QueueOutlook outlook(const part::State& part, bool is_own) const;

  private:
    bool is_due(Duration now) const;
    void withdraw_hopeless();
    UsableProcessors usable_by_waiting();
    ProcessorSet usable_by(const PartRecord& record);
    bool start(const QueueDecision& decision, Duration decided);
    bool give_processors(const PartTable::Shared& part, Duration decided, const std::vector<std::int32_t>* place);

    const ZoneConfig& config_;
    const Clock& clock_;
    PartTable& table_;
    ZoneObserver& observer_;
    Rights rights_;
    Actions actions_;
    bool is_open_ = false;
    std::map<PartId, Outlook> outlooks_;  ///< of the last decision
    std::uint64_t seen_ = 0;              ///< changes of the table that the last decision knew of
    Duration decided_{};                  ///< steady time of the last decision
    Duration rest_{};                     ///< until the next one
    Duration wake_at_ = kNoStart;         ///< steady time at which the policy wants to be asked again
};

}  // namespace zbs
