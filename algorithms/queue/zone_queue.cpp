#include "algorithms/queue/zone_queue.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <set>
#include <utility>

#include "algorithms/base/expects.hpp"
#include "algorithms/queue/queue_round.hpp"

namespace zbs {
namespace {

constexpr Duration kHalfLife = std::chrono::hours{24};

}  // namespace

ZoneQueue::ZoneQueue(std::size_t processors, MakePolicy make_policy, std::size_t rows)
    : rows_(rows), calendar_(processors), promised_(processors) {
    ZBS_EXPECTS(rows >= 1 && processors >= rows && processors % rows == 0);
    choose(std::move(make_policy));
}
ZoneQueue::~ZoneQueue() = default;

void ZoneQueue::use_policy(MakePolicy make_policy, const std::string& text) {
    choose(std::move(make_policy));
    policy_text_ = text;
    emit(DisciplineChosen{text});
}

void ZoneQueue::choose(MakePolicy make_policy) {
    make_policy_ = std::move(make_policy);
    for (auto& [id, promise] : stopped_) calendar_.set(id, std::move(promise));
    stopped_.clear();
    turns_ = {};
    view_ = std::make_unique<View>(row_size(), *make_policy_());
}

void ZoneQueue::observe(Observer observer) {
    observer_ = std::move(observer);
    emit(QueueOpened{static_cast<std::int32_t>(calendar_.processors()), static_cast<std::int32_t>(rows_)});
}

void ZoneQueue::restate() const {
    emit(QueueOpened{static_cast<std::int32_t>(calendar_.processors()), static_cast<std::int32_t>(rows_)});
    if (!policy_text_.empty()) emit(DisciplineChosen{policy_text_});
    for (const auto& [party, weight] : weight_) emit(WeightSet{party, weight});
    for (const auto& [id, promise] : calendar_.promises())
        emit(ProcessorsPromised{id, party_of_.at(id), promise, aged_});
    for (const auto& [id, promise] : stopped_) emit(ProcessorsPromised{id, party_of_.at(id), promise, aged_});
    std::vector<const Entry*> entries;
    for (const auto& [id, entry] : waiting_) entries.push_back(&entry);
    std::sort(entries.begin(), entries.end(), [](const Entry* a, const Entry* b) { return a->number < b->number; });
    for (const Entry* entry : entries) emit(PartWaits{entry->part});
    emit(continued());
}

Result<void> ZoneQueue::recover(const QueueContinued& rest) {
    for (const auto& [party, used] : rest.used)
        if (!(used >= 0) || !std::isfinite(used)) return invalid("the use of '" + party + "' is out of range");
    aged_ = rest.at;
    used_ = rest.used;
    return recover(rest.view);
}

Result<void> ZoneQueue::resume(QueueContinued rest, Duration later) {
    QueueView& view = rest.view;
    std::set<PartId> changed, gone;  // between that and what is known now
    for (const QueueView::Known& part : view.parts) {
        const bool ran = part.record.phase == JobPhase::kRunning || std::ranges::count(view.stopped, part.id) > 0;
        const bool waits = has(part.id), runs = find_promise(part.id) != nullptr;
        if (!waits && !runs) gone.insert(part.id);
        if (ran ? waits : runs) changed.insert(part.id);
    }
    std::erase_if(view.stopped, [&](const PartId& id) { return changed.contains(id); });
    std::erase_if(view.parts, [&](const QueueView::Known& part) { return changed.contains(part.id); });
    for (std::vector<QueueView::Slots>& row : view.rows)
        std::erase_if(row, [&](const QueueView::Slots& slots) { return changed.contains(slots.id); });
    for (QueueView::Known& part : view.parts)
        for (Time* at :
             {&part.record.job.submit, &part.record.waiting_since, &part.record.reserved, &part.record.latest_start,
              &part.record.served_until, &part.record.start, &part.record.expected_end})
            if (*at != kNever) *at += later;
    if (view.load) view.load->at += later;
    rest.at += later;
    // The policy learns at its next decision that they have ended, as it would have without the restart.
    for (const PartId& id : gone) promise(id, {}, {}, aged_);
    Result<void> recovered = recover(rest);
    if (recovered) emit(std::move(rest));
    for (const PartId& id : gone) withdraw_promise(id, aged_);
    return recovered;
}

/// By the policy.
Duration ZoneQueue::promised_start(const Entry& entry) const {
    const JobRecord* record = view_->state.find(entry.number);
    return record == nullptr || record->reserved == kNever ? kNoStart : record->reserved.time_since_epoch();
}

bool ZoneQueue::shares() const { return view_->sharing != ZoneState::Sharing::kSpace || view_->stops; }
ZoneState::Sharing ZoneQueue::sharing() const { return view_->sharing; }

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
    if (const auto stopped = stopped_.find(id); stopped != stopped_.end()) {
        stopped->second = std::move(promise);
        return;
    }
    promised_.set(id, promise);
    calendar_.set(id, std::move(promise));
}

void ZoneQueue::withdraw_promise(const PartId& id, Duration now) {
    if (find_promise(id) == nullptr) return;
    age(now);
    emit(PromiseEnded{id, now});
    party_of_.erase(id);
    stopped_.erase(id);
    calendar_.remove(id);
    promised_.remove(id);
}

void ZoneQueue::set_weight(const std::string& party, double weight) {
    ZBS_EXPECTS(weight > 0);
    double& known = weight_.try_emplace(party, 1).first->second;
    if (known != weight) emit(WeightSet{party, weight});
    known = weight;
}

const ProcessorCalendar::Promise* ZoneQueue::find_promise(const PartId& id) const {
    const auto stopped = stopped_.find(id);
    return stopped == stopped_.end() ? calendar_.find(id) : &stopped->second;
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

/// Whoever has no room now, at once and not one in each round.
void ZoneQueue::set_rest_aside(Round& round) const {
    for (const Entry* entry : round.order) {
        const PartId& id = entry->part.id;
        if (round.started.contains(id) || round.aside.contains(id)) continue;
        if (!round.find_row(*entry, round.now).empty()) continue;
        round.aside.insert(id);
        round.reason[id] = WaitsFor::kTurn;
        round.expected[id] = kNoStart;
    }
}

QueueDecision ZoneQueue::decide(Duration now, const UsableProcessors& usable) {
    age(now);
    find_changes(now);
    Round round{.now = now, .usable = usable, .order = fair_order(), .calendar = calendar_, .row_size = row_size()};
    for (Entry* entry : round.order) {
        if (entry->part.processors <= static_cast<std::int32_t>(row_size()) && round.may_ever(*entry)) continue;
        round.aside.insert(entry->part.id);
        round.reason[entry->part.id] = WaitsFor::kRight;
        round.expected[entry->part.id] = kNoStart;
    }
    QueueDecision decision = plan(round);
    std::size_t place = 0;
    for (Entry* entry : round.order) {
        const PartId& id = entry->part.id;
        if (round.started.contains(id)) continue;
        Outlook outlook{.id = id, .place = ++place, .promised = promised_start(*entry)};
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
