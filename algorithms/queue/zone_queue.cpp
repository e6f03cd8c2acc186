#include "algorithms/queue/zone_queue.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <set>
#include <utility>

#include "algorithms/base/expects.hpp"

namespace zbs {
namespace {

constexpr Duration kHalfLife = std::chrono::hours{24};

Time at(Duration steady) { return Time{steady}; }

/// The processors free for all of `when` that the part may use, by number.
std::vector<std::int32_t> room_in(const ProcessorCalendar& calendar, const ProcessorCalendar::Interval& when,
                                  const std::vector<bool>* usable) {
    const std::vector<bool> busy = calendar.busy(when);
    std::vector<std::int32_t> free;
    for (std::size_t p = 0; p < busy.size(); ++p)
        if (!busy[p] && (usable == nullptr || (*usable)[p])) free.push_back(static_cast<std::int32_t>(p));
    return free;
}

}  // namespace

/// One decision in the making.
struct ZoneQueue::Round {
    Duration now;
    const UsableProcessors& usable;
    std::vector<Entry*> order;
    ProcessorCalendar calendar;  ///< with the starts of this decision and the promises of who was set aside
    std::set<PartId> started{}, aside{};
    std::map<PartId, Duration> expected{};
    std::map<PartId, WaitsFor> reason{};

    const std::vector<bool>* usable_by(const PartId& id) const {
        const auto found = usable.find(id);
        return found == usable.end() ? nullptr : &found->second;
    }
    ProcessorCalendar::Interval from(Duration start, const Entry& entry) const {
        return {start, start + entry.part.length};
    }
    /// False where there is no room for it at `start`.
    bool take(const Entry& entry, Duration start) {
        const ProcessorCalendar::Interval when = from(start, entry);
        std::vector<std::int32_t> room = room_in(calendar, when, usable_by(entry.part.id));
        const auto wanted = static_cast<std::size_t>(entry.part.processors);
        if (room.size() < wanted) return false;
        room.resize(wanted);
        calendar.set(entry.part.id, {std::move(room), when, when.end});
        return true;
    }
    /// Promises it the earliest start; `kNoStart` where there is none.
    Duration take_first(const Entry& entry) {
        for (const Duration start : calendar.changes(now, entry.part.length))
            if (take(entry, start)) return start;
        return kNoStart;
    }
    bool may_ever(const Entry& entry) const {
        const std::vector<bool>* mask = usable_by(entry.part.id);
        return mask == nullptr || std::count(mask->begin(), mask->end(), true) >= entry.part.processors;
    }
};

ZoneQueue::ZoneQueue(std::size_t processors, MakePolicy make_policy)
    : make_policy_(std::move(make_policy)), calendar_(processors), promised_(processors) {
    ZBS_EXPECTS(processors >= 1);
}

void ZoneQueue::use_policy(MakePolicy make_policy, const std::string& text) {
    make_policy_ = std::move(make_policy);
    policy_text_ = text;
    emit(DisciplineChosen{text});
}

void ZoneQueue::observe(Observer observer) {
    observer_ = std::move(observer);
    emit(QueueOpened{static_cast<std::int32_t>(calendar_.processors())});
}

void ZoneQueue::restate() const {
    emit(QueueOpened{static_cast<std::int32_t>(calendar_.processors())});
    if (!policy_text_.empty()) emit(DisciplineChosen{policy_text_});
    for (const auto& [party, weight] : weight_) emit(WeightSet{party, weight});
    for (const auto& [id, promise] : calendar_.promises())
        emit(ProcessorsPromised{id, party_of_.at(id), promise, aged_});
    std::vector<const Entry*> entries;
    for (const auto& [id, entry] : waiting_) entries.push_back(&entry);
    std::sort(entries.begin(), entries.end(), [](const Entry* a, const Entry* b) { return a->number < b->number; });
    for (const Entry* entry : entries) emit(PartWaits{entry->part});
    std::erase_if(entries, [](const Entry* entry) { return entry->promised == kNoStart; });
    std::sort(entries.begin(), entries.end(),
              [](const Entry* a, const Entry* b) { return a->promise_order < b->promise_order; });
    QueueContinued rest{.at = aged_, .used = used_, .promised = {}};
    for (const Entry* entry : entries) rest.promised.emplace_back(entry->part.id, entry->promised);
    emit(std::move(rest));
}

void ZoneQueue::recover(const QueueContinued& rest) {
    aged_ = rest.at;
    used_ = rest.used;
    for (const auto& [id, start] : rest.promised) {
        Entry& entry = waiting_.at(id);
        entry.promised = start;
        entry.promise_order = next_promise_++;
    }
}

void ZoneQueue::add(const WaitingPart& part) {
    ZBS_EXPECTS(!has(part.id) && part.processors >= 1 && part.length > Duration{0});
    emit(PartWaits{part});
    waiting_.emplace(part.id, Entry{.part = part, .number = JobId{next_number_++}});
}

void ZoneQueue::remove(const PartId& id) {
    if (waiting_.erase(id) > 0) emit(PartLeaves{id});
    if (calendar_.find(id) == nullptr) promised_.remove(id);
}

void ZoneQueue::promise(const PartId& id, const std::string& party, ProcessorCalendar::Promise promise, Duration now) {
    age(now);
    emit(ProcessorsPromised{id, party, promise, now});
    party_of_[id] = party;
    promised_.set(id, promise);
    calendar_.set(id, std::move(promise));
}

void ZoneQueue::withdraw_promise(const PartId& id, Duration now) {
    if (calendar_.find(id) == nullptr) return;
    age(now);
    emit(PromiseEnded{id, now});
    party_of_.erase(id);
    calendar_.remove(id);
    promised_.remove(id);
}

void ZoneQueue::set_weight(const std::string& party, double weight) {
    ZBS_EXPECTS(weight > 0);
    double& known = weight_.try_emplace(party, 1).first->second;
    if (known != weight) emit(WeightSet{party, weight});
    known = weight;
}

double ZoneQueue::used(const std::string& party) const {
    const auto found = used_.find(party);
    return found == used_.end() ? 0 : found->second;
}

/// Brings `used_` up to `now`. What ended between two calls counts up to its end.
void ZoneQueue::age(Duration now) {
    if (now <= aged_) return;
    const double kept = std::exp2(-to_seconds(now - aged_) / to_seconds(kHalfLife));
    for (auto& [party, used] : used_) used *= kept;
    for (const auto& [id, promise] : calendar_.promises()) {
        const Duration ran = std::min(now, promise.when.end) - std::max(aged_, promise.when.begin);
        if (ran > Duration{0})
            used_[party_of_.at(id)] += to_seconds(ran) * static_cast<double>(promise.processors.size());
    }
    aged_ = now;
}

/// Organisations take turns: next is always the one that has had least for its weight, what is before it in line
/// included. O(parts x organisations).
std::vector<ZoneQueue::Entry*> ZoneQueue::fair_order() {
    struct Line {
        double had = 0;
        double weight = 1;
        std::deque<Entry*> parts;
    };
    std::map<std::string, Line> lines;
    for (auto& [id, entry] : waiting_) lines[entry.part.party].parts.push_back(&entry);
    for (auto& [party, line] : lines) {
        std::sort(line.parts.begin(), line.parts.end(),
                  [](const Entry* a, const Entry* b) { return a->number < b->number; });
        if (const auto weight = weight_.find(party); weight != weight_.end()) line.weight = weight->second;
        line.had = used(party) / line.weight;
    }
    std::vector<Entry*> order;
    while (order.size() < waiting_.size()) {
        Line* next = nullptr;
        for (auto& [party, line] : lines) {
            if (line.parts.empty()) continue;
            if (next == nullptr || line.had < next->had ||
                (line.had == next->had && line.parts.front()->number < next->parts.front()->number))
                next = &line;
        }
        Entry* first = next->parts.front();
        next->parts.pop_front();
        next->had += first->part.processors * to_seconds(first->part.length) / next->weight;
        order.push_back(first);
    }
    return order;
}

/// The policy's plan for what is in the calendar and who waits, but those set aside.
Plan ZoneQueue::ask(const Round& round) const {
    ZoneState state({.processors = static_cast<std::int32_t>(round.calendar.processors())});
    Duration first = round.now;
    for (const Entry* entry : round.order) first = std::min(first, entry->part.since);
    std::vector<bool> taken(round.calendar.processors(), false);
    std::int64_t number = next_number_;
    // A policy that keeps promises tries to better them when something has ended: here something may always have.
    const Job ended{.id = JobId{number++}, .submit = at(first), .walltime = Duration{1}};
    const bool applied = state.apply(at(first), JobSubmitted{ended}) && state.apply(at(first), JobStarted{ended.id}) &&
                         state.apply(at(first), JobEnded{ended.id});
    ZBS_EXPECTS(applied);
    for (const auto& [id, promise] : round.calendar.promises()) {
        if (promise.when.begin > round.now || promise.when.end <= round.now) continue;
        std::int32_t own = 0;  // after a restart two may have the same for a while
        for (const std::int32_t p : promise.processors) {
            own += !taken[static_cast<std::size_t>(p)];
            taken[static_cast<std::size_t>(p)] = true;
        }
        if (own == 0) continue;
        Job job{.id = JobId{number++}, .submit = at(first), .walltime = promise.when.end - first, .processors = own};
        const bool good = state.apply(at(first), JobSubmitted{job}) && state.apply(at(first), JobStarted{job.id});
        ZBS_EXPECTS(good);
    }
    std::vector<const Entry*> promised;
    Duration last = first;
    for (const Entry* entry : round.order) {
        if (round.started.contains(entry->part.id) || round.aside.contains(entry->part.id)) continue;
        last = std::max(last, entry->part.since);
        Job job{.id = entry->number,
                .submit = at(entry->part.since),
                .walltime = entry->part.length,
                .processors = entry->part.processors};
        const bool good = state.apply(at(last), JobSubmitted{job}).has_value();
        ZBS_EXPECTS(good);
        if (entry->promised != kNoStart) promised.push_back(entry);
    }
    const bool advanced = state.apply(at(std::max(last, round.now)), ClockAdvanced{}).has_value();
    ZBS_EXPECTS(advanced);
    std::sort(promised.begin(), promised.end(),
              [](const Entry* a, const Entry* b) { return a->promise_order < b->promise_order; });
    for (const Entry* entry : promised)
        static_cast<void>(
            state.apply(state.now(), JobReserved{entry->number, std::max(at(entry->promised), state.now())}));
    return make_policy_()->plan(state.snapshot());
}

void ZoneQueue::record_promises(const Round& round, const Plan& plan) {
    for (Entry* entry : round.order) {
        if (round.aside.contains(entry->part.id)) entry->promised = kNoStart;
        const auto made = std::find_if(plan.reservations.begin(), plan.reservations.end(),
                                       [&](const Reservation& r) { return r.id == entry->number; });
        if (made == plan.reservations.end()) continue;
        entry->promised = made->at == kNever ? kNoStart : made->at.time_since_epoch();
        entry->promise_order = next_promise_++;
    }
}

/// Whoever has no room now, at once and not one in each round.
void ZoneQueue::set_rest_aside(Round& round) const {
    for (const Entry* entry : round.order) {
        const PartId& id = entry->part.id;
        if (round.started.contains(id) || round.aside.contains(id)) continue;
        const std::vector<std::int32_t> room =
            room_in(round.calendar, round.from(round.now, *entry), round.usable_by(id));
        if (room.size() >= static_cast<std::size_t>(entry->part.processors)) continue;
        round.aside.insert(id);
        round.reason[id] = WaitsFor::kTurn;
        round.expected[id] = kNoStart;
    }
}

QueueDecision ZoneQueue::decide(Duration now, const UsableProcessors& usable) {
    age(now);
    QueueDecision decision;
    Round round{.now = now, .usable = usable, .order = fair_order(), .calendar = calendar_};
    for (Entry* entry : round.order) {
        if (entry->part.processors <= static_cast<std::int32_t>(calendar_.processors()) && round.may_ever(*entry))
            continue;
        round.aside.insert(entry->part.id);
        round.reason[entry->part.id] = WaitsFor::kRight;
        round.expected[entry->part.id] = kNoStart;
    }
    std::size_t placed = 0;
    for (bool again = true; again;) {
        again = false;
        if (placed >= kMaxOutlooks) set_rest_aside(round);
        const Plan plan = ask(round);
        for (const JobId id : plan.starts) {
            Entry* entry =
                *std::find_if(round.order.begin(), round.order.end(), [&](const Entry* e) { return e->number == id; });
            if (round.take(*entry, now)) {
                round.started.insert(entry->part.id);
                decision.starts.push_back(entry->part.id);
                continue;
            }
            // Processors that it may not use count for the policy, so a right can be the reason, too.
            const bool enough =
                room_in(round.calendar, {now, now + Duration{1}}, round.usable_by(entry->part.id)).size() >=
                static_cast<std::size_t>(entry->part.processors);
            round.aside.insert(entry->part.id);
            round.reason[entry->part.id] = enough ? WaitsFor::kReservation : WaitsFor::kTurn;
            // Behind so many nobody has a promise of his own: a place in the calendar costs a look at all others.
            round.expected[entry->part.id] = placed++ < kMaxOutlooks ? round.take_first(*entry) : kNoStart;
            again = true;
        }
        if (!again) record_promises(round, plan);
    }
    std::size_t place = 0;
    for (Entry* entry : round.order) {
        const PartId& id = entry->part.id;
        if (round.started.contains(id)) continue;
        Outlook outlook{.id = id, .place = ++place, .promised = entry->promised};
        if (const auto known = round.expected.find(id); known != round.expected.end())
            outlook.start = known->second;
        else if (decision.outlooks.size() < kMaxOutlooks)
            outlook.start = round.take_first(*entry);
        if (const auto reason = round.reason.find(id); reason != round.reason.end()) outlook.reason = reason->second;
        decision.outlooks.push_back(outlook);
    }
    for (const PartId& id : decision.starts) round.calendar.remove(id);
    promised_ = std::move(round.calendar);
    emit(Decided{now, usable, decision});
    return decision;
}

}  // namespace zbs
