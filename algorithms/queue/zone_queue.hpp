#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/policy/policy.hpp"
#include "algorithms/queue/queue_event.hpp"

namespace zbs {

/// The line of parts before one zone, as a pure state machine: the live zone and the replay of its log drive the same
/// code. A space-sharing `Policy` of the simulator says who starts; what is promised to others from a later instant on
/// (advance reservations of co-allocated applications) is in a calendar, and stands.
///
/// A decision is made anew from all that is known, by a fresh policy object:
/// - The policy sees what occupies processors now as running jobs that end when their promise ends, and who waits in
///   fair order: the organisation that has had least for its weight comes first, each one's parts in order of arrival.
///   What it has had is processors x seconds, of all that ran here, and halves with each day.
/// - A start for which the calendar has no room as long as it takes is not carried out. That part gets the first time
///   the calendar has, as a promise behind which everybody else has to stay, and the policy is asked again without it.
///   So a reservation holds nobody up who can end before it, and cannot make anybody wait for ever.
/// - Those still waiting get the earliest start in that order that the calendar has, `kMaxOutlooks` of them: what they
///   can expect, and what who comes later has to leave alone (`promised()`).
///
/// Cost of a decision: the policy's, times one more for each part that a reservation keeps from starting, and
/// O(outlooks x promises x processors of a promise).
class ZoneQueue {
  public:
    using MakePolicy = std::function<std::unique_ptr<Policy>()>;
    static constexpr std::size_t kMaxOutlooks = 64;

    /// Precondition: 1 <= processors; the policy shares by space, stops nothing that runs, and serves so many.
    ZoneQueue(std::size_t processors, MakePolicy make_policy);

    /// From the next decision on; precondition as above.
    /// `text`: what `queue_discipline` made it from, for the log.
    void use_policy(MakePolicy make_policy, const std::string& text);
    /// Receives all events that follow, in order: the log that `replay` takes.
    using Observer = std::function<void(const QueueEvent&)>;
    void observe(Observer observer);

    /// Sends the observer all that a new log needs to continue without the earlier events. Not from inside of the
    /// observer, but after a decision. O(parts).
    void restate() const;
    /// The rest of what `restate` emitted, in a queue that received all before it.
    /// Precondition: the parts wait; use is finite and 0 or more.
    void recover(const QueueContinued& rest);

    /// Precondition of what takes an `id`: it waits, or does not, as the name says.
    void add(const WaitingPart& part);
    void remove(const PartId& id);  ///< nothing where it does not wait
    bool has(const PartId& id) const { return waiting_.contains(id); }
    std::size_t size() const { return waiting_.size(); }
    /// What `party` has or will have; another promise under the same id takes the place of the first.
    void promise(const PartId& id, const std::string& party, ProcessorCalendar::Promise promise, Duration now);
    void withdraw_promise(const PartId& id, Duration now);  ///< nothing where there is none
    /// Beside the others' 1; > 0.
    void set_weight(const std::string& party, double weight);

    /// Changes nothing but what it remembers of the policy's promises; who starts is taken out by `remove` and gets its
    /// processors by `promise`.
    /// Precondition: a mask has as many entries as there are processors.
    QueueDecision decide(Duration now, const UsableProcessors& usable = {});

    /// What is promised to those that have something here.
    const ProcessorCalendar& calendar() const { return calendar_; }
    /// The same, and the starts that those who wait could expect at the last decision.
    const ProcessorCalendar& promised() const { return promised_; }
    /// Processors x seconds, faded: what the fair order goes by.
    double used(const std::string& party) const;

  private:
    struct Entry {
        WaitingPart part;
        JobId number;                  ///< by arrival
        Duration promised = kNoStart;  ///< by the policy, at the last decision
        std::uint64_t promise_order = 0;
    };
    struct Round;

    void emit(QueueEvent event) const {
        if (observer_) observer_(event);
    }
    void age(Duration now);
    std::vector<Entry*> fair_order();
    Plan ask(const Round& round) const;
    void set_rest_aside(Round& round) const;
    void record_promises(const Round& round, const Plan& plan);

    MakePolicy make_policy_;
    std::string policy_text_;
    Observer observer_;
    ProcessorCalendar calendar_;
    ProcessorCalendar promised_;
    std::map<PartId, std::string> party_of_;  ///< of what is in the calendar
    std::map<PartId, Entry> waiting_;
    std::map<std::string, double> weight_;
    std::map<std::string, double> used_;
    Duration aged_{};  ///< `used_` is of this instant
    std::int64_t next_number_ = 0;
    std::uint64_t next_promise_ = 0;
};

}  // namespace zbs
