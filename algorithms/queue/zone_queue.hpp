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
/// code. A `Policy` of the simulator says who starts; what is promised to others from a later instant on (advance
/// reservations of co-allocated applications) is in a calendar, and stands.
///
/// A decision is made by a fresh policy object, which sees the `ZoneState` that the simulator would have:
/// - Parts that occupy processors run, and are expected to end when their promises end; where parts share processors,
///   they have their slots, shares and service. Waiting parts come in fair order: the organisation that has had least
///   for its weight comes first, its parts in order of arrival. Its use is counted in processors x seconds of all its
///   parts that ran here, and halves with each day.
/// - A plan is carried out whole. A start for which the calendar has no room as long as it takes, or the right is
///   missing, makes another plan: that part gets the first time the calendar has, as a promise behind which everybody
///   else has to stay, and the policy is asked again without it. So a reservation holds nobody up who can end before
///   it, and cannot make anybody wait for ever.
/// - Those still waiting get the earliest start in that order that the calendar has, `kMaxOutlooks` of them: what they
///   can expect, and what who comes later has to leave alone (`promised()`).
///
/// The calendar has each processor once in each row, so a processor can be promised to as many parts at a time as there
/// are rows; its rows are not those of the slice matrix. What came without the queue (holds at once, reservations,
/// parts of an earlier life) joins what runs when it begins: in the first row of the matrix where its processors are
/// idle, or in a new one. A part that was stopped stays on its processors: it goes on when these are free, not any
/// others.
///
/// Cost of a decision: the policy's, times one more for each part that a reservation keeps from starting, and
/// O(outlooks x promises x processors of a promise).
class ZoneQueue {
  public:
    using MakePolicy = std::function<std::unique_ptr<Policy>()>;
    static constexpr std::size_t kMaxOutlooks = 64;

    /// `processors`: of all rows. Precondition: `queue_discipline` would have made the policy for those of a row, and
    /// for so many rows; or nobody ever waits.
    ZoneQueue(std::size_t processors, MakePolicy make_policy, std::size_t rows = 1);
    ~ZoneQueue();

    /// From the next decision on; precondition as above. Parts that were stopped have their processors again.
    /// `text`: what `queue_discipline` made it from, for the log.
    void use_policy(MakePolicy make_policy, const std::string& text);
    /// Receives all events that follow, in order: the log that `replay` takes.
    using Observer = std::function<void(const QueueEvent&)>;
    void observe(Observer observer);

    /// Sends the observer all that a new log needs to continue without the earlier events. Not from inside of the
    /// observer, but after a decision. O(parts).
    void restate() const;
    /// The rest of what `restate` emitted, in a queue that received all before it. Errors, kInvalidArgument: parts,
    /// slots or use that no queue has.
    Result<void> recover(const QueueContinued& rest);
    /// That rest, as of now.
    QueueContinued continued() const { return {.at = aged_, .used = used_, .view = find_view()}; }
    /// Goes on with the rest of an earlier life, whose times are `later` by the clock of this one. Parts that have
    /// ended since end now; those that have started since come anew. To be called before the first decision, when those
    /// that wait or run are known. Errors as `recover`: the queue goes on without it.
    Result<void> resume(QueueContinued rest, Duration later);

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

    /// The policy's plan counts as carried out, but that those who start are still taken out by `remove` and get their
    /// processors by `promise`; who has none by the next decision waits again.
    /// Precondition: a mask has as many entries as there are processors.
    QueueDecision decide(Duration now, const UsableProcessors& usable = {});

    /// What is promised to those that have something here.
    const ProcessorCalendar& calendar() const { return calendar_; }
    /// The same, and the starts that those who wait could expect at the last decision.
    const ProcessorCalendar& promised() const { return promised_; }
    /// Also of a part that is stopped, which the calendar does not have. Null where there is none.
    const ProcessorCalendar::Promise* find_promise(const PartId& id) const;
    bool is_stopped(const PartId& id) const { return stopped_.contains(id); }
    std::size_t row_size() const { return calendar_.processors() / rows_; }
    std::size_t rows() const { return rows_; }
    /// Whether parts share processors or are stopped here. Then a decision is due after each change, also where nobody
    /// waits.
    bool shares() const;
    ZoneState::Sharing sharing() const;
    /// As the last decision has it.
    const Turns& turns() const { return turns_; }

  private:
    struct Entry {
        WaitingPart part;
        JobId number;  ///< by arrival
    };
    struct Round;
    struct View;

    void emit(QueueEvent event) const {
        if (observer_) observer_(event);
    }
    void age(Duration now);
    double used(const std::string& party) const;
    std::vector<Entry*> fair_order();
    void set_rest_aside(Round& round) const;
    Duration promised_start(const Entry& entry) const;
    QueueDecision plan(Round& round);
    void choose(MakePolicy make_policy);
    void find_changes(Duration now);
    void find_ended();
    void find_joined(Duration now);
    void join(const PartId& id, const ProcessorCalendar::Promise& promise, Duration now);
    Plan ask(const Round& round) const;
    std::vector<std::int32_t> place_in_slots(const Round& round, const Entry& entry, TraceDiagram& diagram) const;
    bool resume_in(Round& round, const PartId& id) const;
    void carry_out(const Plan& plan);
    Turns find_turns(Duration slice) const;
    QueueView find_view() const;
    Result<void> recover(const QueueView& known);

    MakePolicy make_policy_;
    std::string policy_text_;
    Observer observer_;
    std::size_t rows_;
    std::unique_ptr<View> view_;                              ///< what the policy sees, as of the last decision
    std::map<PartId, ProcessorCalendar::Promise> stopped_{};  ///< not in the calendar
    Turns turns_{};
    ProcessorCalendar calendar_;
    ProcessorCalendar promised_;
    std::map<PartId, std::string> party_of_;  ///< of what is in the calendar
    std::map<PartId, Entry> waiting_;
    std::map<std::string, double> weight_;
    std::map<std::string, double> used_;
    Duration aged_{};  ///< `used_` is of this instant
    std::int64_t next_number_ = 0;
};

}  // namespace zbs
