// What a policy sees of a queue, and how its plan is carried out there.
#include <algorithm>
#include <utility>

#include "algorithms/base/expects.hpp"
#include "algorithms/queue/queue_round.hpp"

namespace zbs {

ZoneQueue::View::View(std::size_t processors, const Policy& policy)
    : sharing(policy.sharing()),
      level(policy.needs().level),
      stops(policy.needs().stops),
      state({.processors = static_cast<std::int32_t>(processors), .sharing = policy.sharing()}) {}

void ZoneQueue::View::submit(const PartId& id, const Job& job) {
    apply(std::max(job.submit, state.now()), JobSubmitted{job});
    jobs.emplace(id, job.id);
    parts.emplace(job.id, id);
}

void ZoneQueue::View::apply(Time at, const ZoneEvent& event) {
    const bool applied = state.apply(at, event).has_value();
    ZBS_EXPECTS(applied);
}

/// Without what has ended; empty where there is none.
TraceDiagram ZoneQueue::View::diagram() const {
    TraceDiagram diagram = *state.snapshot().diagram;
    std::vector<JobId> ended;
    for (std::int32_t row = 0; row < diagram.row_count(); ++row)
        for (const TraceDiagram::Entry& entry : diagram.entries(row)) {
            const JobRecord* record = state.find(entry.job);
            if (record == nullptr || record->phase != JobPhase::kRunning) ended.push_back(entry.job);
        }
    for (const JobId job : ended) diagram.remove(job);
    return diagram;
}

/// What came, ended or began since the last decision. A start that was not carried out has ended, and waits again.
void ZoneQueue::find_changes(Duration now) {
    View& view = *view_;
    std::vector<const Entry*> waiting;
    for (const auto& [id, entry] : waiting_)
        if (entry.part.processors <= static_cast<std::int32_t>(row_size())) waiting.push_back(&entry);
    std::sort(waiting.begin(), waiting.end(), [](const Entry* a, const Entry* b) { return a->number < b->number; });
    const auto submit_until = [&](Duration until) {
        for (const Entry* entry : waiting) {
            const WaitingPart& part = entry->part;
            if (part.since > until || view.jobs.contains(part.id)) continue;
            view.submit(part.id, {.id = entry->number,
                                  .submit = time_at(part.since),
                                  .walltime = part.length,
                                  .processors = part.processors,
                                  .priority = part.priority,
                                  .least_share = static_cast<std::int8_t>(part.share)});
        }
    };
    submit_until(now - Duration{1});
    view.apply(std::max(time_at(now), view.state.now()), ClockAdvanced{});
    // Where there are slots, those of who has ended go together: the policy moves others up then.
    const bool has_slots = view.state.snapshot().diagram != nullptr;
    if (has_slots) find_joined(now);
    find_ended();
    submit_until(now);
    if (view.sharing == ZoneState::Sharing::kSpace)
        for (const auto& [id, promise] : calendar_.promises()) {
            const auto job = view.jobs.find(id);
            if (job == view.jobs.end() || promise.when.end <= now) continue;
            const Time end = time_at(promise.when.end);
            if (view.state.find(job->second)->expected_end != end)
                view.apply(view.state.now(), EndExpected{job->second, end});
        }
    if (!has_slots) find_joined(now);
}

void ZoneQueue::find_ended() {
    View& view = *view_;
    for (auto known = view.jobs.begin(); known != view.jobs.end();) {
        const auto& [id, job] = *known;
        const bool waits = view.state.find(job)->phase == JobPhase::kWaiting;
        const bool stays = waits ? waiting_.contains(id) || is_stopped(id) : calendar_.find(id) != nullptr;
        if (stays) {
            ++known;
            continue;
        }
        view.apply(view.state.now(), waits ? ZoneEvent(JobWithdrawn{job}) : ZoneEvent(JobEnded{job}));
        view.parts.erase(job);
        known = view.jobs.erase(known);
    }
}

/// In the order of their starts.
void ZoneQueue::find_joined(Duration now) {
    std::vector<std::pair<Duration, PartId>> others;
    for (const auto& [id, promise] : calendar_.promises())
        if (promise.when.begin <= now && promise.when.end > now && !promise.processors.empty() &&
            !view_->jobs.contains(id))
            others.emplace_back(promise.when.begin, id);
    std::sort(others.begin(), others.end());
    for (const auto& [begin, id] : others) join(id, ProcessorCalendar::Promise(*calendar_.find(id)), now);
}

/// A part that has its processors without the queue. Where it finds no slots, it stays outside of the policy's view.
void ZoneQueue::join(const PartId& id, const ProcessorCalendar::Promise& promise, Duration now) {
    View& view = *view_;
    std::set<std::int32_t> own;
    for (const std::int32_t p : promise.processors) own.insert(p % static_cast<std::int32_t>(row_size()));
    Job job{.id = JobId{next_number_},
            .submit = view.state.now(),
            .walltime = promise.when.end - promise.when.begin,
            .processors = static_cast<std::int32_t>(own.size()),
            .least_share = static_cast<std::int8_t>(promise.share)};
    if (view.sharing == ZoneState::Sharing::kSpace) {
        // After a restart two parts may have the same processors: one had stopped the other, or overran.
        const std::size_t wanted = own.size();
        for (const auto& [other, taken] : calendar_.promises())
            if (other != id && view.jobs.contains(other))
                for (const std::int32_t p : taken.processors) own.erase(p);
        if (!view.stops && (own.empty() || std::ssize(own) > view.state.snapshot().free_processors)) return;
        ++next_number_;
        if (view.stops && (own.size() < wanted || std::ssize(own) > view.state.snapshot().free_processors)) {
            view.submit(id, job);
            calendar_.remove(id);
            stopped_.emplace(id, promise);
            return;
        }
        job.processors = static_cast<std::int32_t>(own.size());
        view.submit(id, job);
        view.apply(view.state.now(), JobStarted{job.id});
        if (promise.when.end > now) view.apply(view.state.now(), EndExpected{job.id, time_at(promise.when.end)});
        return;
    }
    if (view.sharing == ZoneState::Sharing::kShare) {
        ++next_number_;
        view.submit(id, job);
        return view.apply(view.state.now(), JobStarted{job.id});
    }
    TraceDiagram diagram = view.diagram();
    diagram.remove_alternatives();
    const std::vector<std::int32_t> processors(own.begin(), own.end());
    // The fullest row with room; where rows are ranks, the first one.
    const bool is_ranked = view.sharing == ZoneState::Sharing::kPriority;
    const std::span<const std::int32_t> free = diagram.free_counts();
    std::int32_t row = diagram.row_count();
    for (std::int32_t r = diagram.row_count(); r-- > 0;)
        if (diagram.all_free(r, processors) && (row == diagram.row_count() || is_ranked || free[r] <= free[row]))
            row = r;
    if (view.sharing == ZoneState::Sharing::kPriority && row >= view.level) return;
    if (row == diagram.row_count()) diagram.add_row();
    diagram.place(row, job.id, processors);
    ++next_number_;
    view.submit(id, job);
    view.apply(view.state.now(), JobStarted{job.id});
    view.apply(view.state.now(), DiagramChanged{std::make_shared<TraceDiagram>(std::move(diagram))});
}

/// The policy's plan for what runs and who waits, but those set aside.
Plan ZoneQueue::ask(const Round& round) const {
    const std::unique_ptr<Policy> policy = make_policy_();
    if (round.aside.empty()) return policy->plan(view_->state.snapshot());
    ZoneState state = view_->state;
    for (const PartId& id : round.aside)
        if (const auto job = view_->jobs.find(id); job != view_->jobs.end()) {
            const bool withdrawn = state.apply(state.now(), JobWithdrawn{job->second}).has_value();
            ZBS_EXPECTS(withdrawn);
        }
    return policy->plan(state.snapshot());
}

/// The processors of a part that starts in the slots that the diagram has for it, all of one row of the calendar where
/// they can be. A slot that it may not use, or that is promised to others before its end, is exchanged for an idle one
/// of the same row of the diagram. None where there are too few.
std::vector<std::int32_t> ZoneQueue::place_in_slots(const Round& round, const Entry& entry,
                                                    TraceDiagram& diagram) const {
    const auto size = static_cast<std::int32_t>(row_size());
    std::vector<std::vector<std::int32_t>> numbers(row_size());  // by processor: its free numbers, ascending
    for (const std::int32_t p : room_in(round.calendar, round.from(round.now, entry), round.usable_by(entry.part.id)))
        numbers[static_cast<std::size_t>(p % size)].push_back(p);
    const auto has_room = [&](std::int32_t p) { return !numbers[static_cast<std::size_t>(p)].empty(); };
    const std::int32_t row = diagram.home_row(entry.number).value();
    std::vector<std::int32_t> slots = diagram.processors_of(row, entry.number);
    if (!std::ranges::all_of(slots, has_room)) {
        diagram.remove_alternatives();
        std::erase_if(slots, [&](std::int32_t p) { return !has_room(p); });
        for (std::int32_t p = 0; p < size && std::ssize(slots) < entry.part.processors; ++p)
            if (diagram.is_free(row, p) && has_room(p)) slots.push_back(p);
        if (std::ssize(slots) < entry.part.processors) return {};
        std::ranges::sort(slots);
        diagram.remove(entry.number);
        diagram.place(row, entry.number, slots);
    }
    for (std::size_t r = 0; r < rows_; ++r) {
        std::vector<std::int32_t> found;
        for (const std::int32_t p : slots) found.push_back(static_cast<std::int32_t>(r) * size + p);
        const auto is_free = [&](std::int32_t number) {
            return std::ranges::binary_search(numbers[static_cast<std::size_t>(number % size)], number);
        };
        if (std::ranges::all_of(found, is_free)) return found;
    }
    std::vector<std::int32_t> found;
    for (const std::int32_t p : slots) found.push_back(numbers[static_cast<std::size_t>(p)].front());
    return found;
}

/// Whether a part that was stopped can go on; else its processors are promised to it from the next instant on at which
/// it can.
bool ZoneQueue::resume_in(Round& round, const PartId& id) const {
    ProcessorCalendar::Promise promise = stopped_.at(id);
    const Duration length = std::max(promise.when.end - round.now, Duration{1});
    for (const Duration start : round.calendar.changes(round.now, length)) {
        const std::vector<bool> busy = round.calendar.busy({start, start + length});
        if (std::ranges::any_of(promise.processors, [&](std::int32_t p) { return busy[static_cast<std::size_t>(p)]; }))
            continue;
        promise.when = {start, start + length};
        promise.expected_end = promise.when.end;
        round.calendar.set(id, std::move(promise));
        return start == round.now;
    }
    return false;
}

/// What the simulator does with a plan, in its order.
void ZoneQueue::carry_out(const Plan& plan) {
    View& view = *view_;
    const Time now = view.state.now();
    for (const JobId job : plan.preemptions) {
        const PartId id = view.parts.at(job);
        view.apply(now, JobPreempted{job});
        stopped_.emplace(id, *calendar_.find(id));
        calendar_.remove(id);
    }
    for (const JobId job : plan.starts) {
        view.apply(now, JobStarted{job});
        if (auto stopped = stopped_.extract(view.parts.at(job)))
            calendar_.set(stopped.key(), std::move(stopped.mapped()));
    }
    if (plan.diagram) view.apply(now, DiagramChanged{plan.diagram});
    if (!plan.shares.empty()) view.apply(now, SharesChanged{plan.shares});
    if (plan.load) view.apply(now, LoadFound{*plan.load});
    for (const Reservation& reservation : plan.reservations)
        view.apply(now, JobReserved{reservation.id, reservation.at, reservation.latest});
    view.state.changes_planned();
}

Turns ZoneQueue::find_turns(Duration slice) const {
    Turns turns{.slice = slice};
    for (const auto& [id, promise] : stopped_) turns.stopped.push_back(id);
    if (view_->state.snapshot().diagram != nullptr) {
        const TraceDiagram diagram = view_->diagram();
        for (std::int32_t row = 0; row < diagram.row_count(); ++row) {
            std::vector<PartId> parts;
            for (const TraceDiagram::Entry& entry : diagram.entries(row)) parts.push_back(view_->parts.at(entry.job));
            if (!parts.empty()) turns.rows.push_back(std::move(parts));
        }
    }
    if (view_->sharing != ZoneState::Sharing::kShare) return turns;
    for (const auto& [id, job] : view_->jobs)
        if (const JobRecord* record = view_->state.find(job); record->phase == JobPhase::kRunning)
            turns.shares.emplace(id, record->share);
    return turns;
}

QueueView ZoneQueue::find_view() const {
    QueueView known{.load = view_->state.snapshot().load,
                    .slice = turns_.slice,
                    .next_number = next_number_,
                    .next_arrival = view_->state.next_arrival()};
    for (const auto& [id, job] : view_->jobs) known.parts.push_back({id, *view_->state.find(job)});
    const JobRecord* first = view_->state.snapshot().records.data();
    std::ranges::sort(known.parts, {}, [&](const QueueView::Known& part) {
        return view_->state.find(part.record.job.id) -
               first;  // runs come in the order of handles, where they end alike
    });
    for (const auto& [id, promise] : stopped_) known.stopped.push_back(id);
    if (view_->state.snapshot().diagram == nullptr) return known;
    const TraceDiagram diagram = view_->diagram();
    for (std::int32_t row = 0; row < diagram.row_count(); ++row) {
        std::vector<QueueView::Slots>& slots = known.rows.emplace_back();
        for (const TraceDiagram::Entry& entry : diagram.entries(row))
            slots.push_back({view_->parts.at(entry.job), diagram.processors_of(row, entry.job),
                             entry.stay == TraceDiagram::Stay::kAlternative});
    }
    return known;
}

Result<void> ZoneQueue::recover(const QueueView& known) {
    View& view = *view_;
    ZoneRecovered zone{.records = {}, .diagram = {}, .load = known.load, .next_arrival = known.next_arrival};
    std::map<PartId, JobId> jobs;
    for (const auto& [id, record] : known.parts) {
        if (!has(id) && find_promise(id) == nullptr) return invalid("part " + to_string(id) + " does not wait or run");
        if (!jobs.emplace(id, record.job.id).second) return invalid("part " + to_string(id) + " is there twice");
        zone.records.push_back(record);
    }
    const auto size = static_cast<std::int32_t>(row_size());
    auto diagram = std::make_shared<TraceDiagram>(size);
    for (const std::vector<QueueView::Slots>& slots : known.rows) {
        const std::int32_t row = diagram->add_row();
        for (const auto& [id, processors, is_alternative] : slots) {
            const auto job = jobs.find(id);
            std::set<std::int32_t> idle;
            for (const std::int32_t p : processors)
                if (p >= 0 && p < size && diagram->is_free(row, p)) idle.insert(p);
            if (job == jobs.end() || idle.empty() || idle.size() != processors.size() ||
                !diagram->processors_of(row, job->second).empty())
                return invalid("part " + to_string(id) + " has slots that it cannot have");
            diagram->place(row, job->second, processors,
                           is_alternative ? TraceDiagram::Stay::kAlternative : TraceDiagram::Stay::kHome);
        }
    }
    if (view.state.snapshot().diagram != nullptr) zone.diagram = std::move(diagram);
    if (auto done = view.state.apply(std::max(time_at(aged_), view.state.now()), zone); !done) return done;
    next_number_ = std::max(next_number_, known.next_number);
    for (const auto& [id, job] : jobs) {
        view.jobs.emplace(id, job);
        view.parts.emplace(job, id);
        next_number_ = std::max(next_number_, job.value + 1);
        if (const auto entry = waiting_.find(id); entry != waiting_.end()) entry->second.number = job;
    }
    for (auto& [id, entry] : waiting_)
        if (!jobs.contains(id)) entry.number = JobId{next_number_++};
    for (const PartId& id : known.stopped) {
        const ProcessorCalendar::Promise* promise = calendar_.find(id);
        if (promise == nullptr || !jobs.contains(id)) return invalid("part " + to_string(id) + " was not stopped");
        stopped_.emplace(id, *promise);
        calendar_.remove(id);
    }
    turns_ = find_turns(known.slice);
    return {};
}

/// 1 in fair order  2 ask the policy  3 find the processors of who starts; without those for whom there are none, again
/// from 2  4 carry the plan out
QueueDecision ZoneQueue::plan(Round& round) {
    View& view = *view_;
    WaitingOrdered in_order;
    std::map<JobId, Entry*> entries;
    for (Entry* entry : round.order) {
        entries.emplace(entry->number, entry);
        if (view.jobs.contains(entry->part.id)) in_order.jobs.push_back(entry->number);
    }
    view.apply(view.state.now(), in_order);

    QueueDecision decision;
    Plan plan;
    std::size_t placed = 0;
    for (bool again = true; again;) {
        again = false;
        if (placed >= kMaxOutlooks) set_rest_aside(round);
        decision.starts.clear();
        decision.places.clear();
        plan = ask(round);
        const ProcessorCalendar promised = round.calendar;
        for (const JobId job : plan.preemptions) round.calendar.remove(view.parts.at(job));
        std::shared_ptr<TraceDiagram> diagram;
        if (plan.diagram) diagram = std::make_shared<TraceDiagram>(*plan.diagram);
        std::vector<PartId> refused;
        for (const JobId job : plan.starts) {
            const PartId& id = view.parts.at(job);
            if (is_stopped(id)) {
                if (!resume_in(round, id)) refused.push_back(id);
                continue;
            }
            const Entry& entry = *entries.at(job);
            std::vector<std::int32_t> place =
                diagram ? place_in_slots(round, entry, *diagram) : round.find_row(entry, round.now);
            if (place.empty()) {
                refused.push_back(id);
                continue;
            }
            decision.starts.push_back(id);
            if (diagram) decision.places.push_back(place);
            place.resize(static_cast<std::size_t>(entry.part.processors));
            const ProcessorCalendar::Interval when = round.from(round.now, entry);
            round.calendar.set(id, {std::move(place), when, when.end});
        }
        plan.diagram = diagram;
        if (refused.empty()) break;
        again = true;
        round.calendar = promised;
        for (const PartId& id : refused) {
            round.aside.insert(id);
            if (is_stopped(id)) {
                static_cast<void>(resume_in(round, id));
                continue;
            }
            const Entry& entry = waiting_.at(id);
            const bool enough = !round.find_row(entry, round.now, Duration{1}).empty();
            round.reason[id] = enough ? WaitsFor::kReservation : WaitsFor::kTurn;
            round.expected[id] = placed++ < kMaxOutlooks ? round.take_first(entry) : kNoStart;
        }
    }
    round.started.insert(decision.starts.begin(), decision.starts.end());
    carry_out(plan);
    for (const PartId& id : round.aside)  // who is not in the policy's plan has no promise of it
        if (const auto job = view.jobs.find(id); job != view.jobs.end())
            view.apply(view.state.now(), JobReserved{job->second, kNever});
    turns_ = find_turns(plan.diagram && plan.slice > Duration{0} ? plan.slice : turns_.slice);
    decision.turns = turns_;
    if (plan.wake_at != kNever) decision.wake_at = plan.wake_at.time_since_epoch();
    return decision;
}

}  // namespace zbs
