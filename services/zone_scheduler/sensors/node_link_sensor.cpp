#include "services/zone_scheduler/sensors/node_link_sensor.hpp"

#include <algorithm>

namespace zbs {
namespace {

constexpr Duration kMinRest = std::chrono::seconds{1};
constexpr std::size_t kMedianEvery = 64;  ///< probes of one round

/// The one in the middle; of an even number the mean of the two there. Changes the order. Precondition: not empty.
double median_of(std::vector<double>& values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    if (values.size() % 2 == 1) return *middle;
    return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace

void NodeLinkSensor::start() {
    if (config_.probe_every <= Duration{0}) return;
    // Early, so that the first plans know something; not at once, so that agents have registered.
    clock_.after(std::min<Duration>(config_.probe_every, config_.discover_every * 3), [this] { begin_round(); });
}

void NodeLinkSensor::begin_round() {
    present_ = agents_();
    std::ranges::sort(present_, {}, &Agent::name);
    next_ = 0;
    const Duration now = clock_.steady_now();
    pace_ = round_ == 0 ? config_.probe_every : now - begun_;
    begun_ = now;
    forget_old();
    probe_next();
}

/// In round r of n agents number i probes number i + 1 + r mod (n - 1): all others, before one comes again.
void NodeLinkSensor::probe_next() {
    const std::size_t count = present_.size();
    if (count < 2 || next_ == count) return end_round();
    const std::size_t step = 1 + static_cast<std::size_t>(round_ % (count - 1));
    const Agent& from = present_[next_];
    const Agent& to = present_[(next_ + step) % count];
    if (++next_ % kMedianEvery == 0) update_median();
    const Pair pair{from.name, to.name};
    entry_of(pair).asked = clock_.steady_now();
    ask_(from, {to.name, to.url}, [this, pair](const Result<ProbeReport>& report) {
        answered(pair, report);
        probe_next();
    });
}

void NodeLinkSensor::end_round() {
    ++round_;
    update_median();
    // Rounds begin as often as they should, so that a pair comes again when its forecasters expect it.
    const Duration took = clock_.steady_now() - begun_;
    clock_.after(std::max(config_.probe_every - took, kMinRest), [this] { begin_round(); });
}

void NodeLinkSensor::update_median() {
    median_ = median_of_pairs(false);
    if (!median_) median_ = median_of_pairs(true);
}

bool NodeLinkSensor::is_present(const MachineName& name) const {
    return std::ranges::binary_search(present_, name, {}, &Agent::name);
}

std::optional<Link> NodeLinkSensor::median_of_pairs(bool also_failing) const {
    std::vector<double> delays, bandwidths;
    for (const auto& [pair, entry] : pairs_) {
        if (!entry.link.forecast() || (entry.link.failures() > 0 && !also_failing)) continue;
        if (!is_present(pair.first) || !is_present(pair.second)) continue;
        if (clock_.steady_now() - entry.answered > kForgottenAfter) continue;
        delays.push_back(entry.link.forecast()->delay_s);
        bandwidths.push_back(entry.link.forecast()->bandwidth_Bps);
    }
    if (delays.empty()) return std::nullopt;
    return Link{median_of(delays), median_of(bandwidths)};
}

void NodeLinkSensor::answered(const Pair& pair, const Result<ProbeReport>& report) {
    if (!report) {
        const ErrorCode code = report.error().code;
        if (code == ErrorCode::kTooManyRequests) return;  // says nothing of the way
        return record_failed(pair, report.error());
    }
    Entry& entry = entry_of(pair);
    // A pair comes again once its first one has probed all others.
    const auto rounds = static_cast<int>(std::max<std::size_t>(present_.size(), 2)) - 1;
    entry.link.observe({.round_trip = report->round_trip,
                        .bytes = static_cast<std::size_t>(report->bytes),
                        .transfer = report->transfer,
                        .overhead = overhead_of_both(pair, *report)},
                       clock_.now(), std::max(config_.probe_every, pace_) * rounds);
    entry.answered = clock_.steady_now();
    entry.both_ways = report->round_trip - report->overhead;
    logged_.erase(pair);
}

/// What of the round trip is not the way. A call to another one takes this side's half of a call and the other's half
/// of an answer, a call to itself both of this side: what is too much here is too little in the measurement from the
/// other side, and falls out of the sum.
Duration NodeLinkSensor::overhead_of_both(const Pair& pair, const ProbeReport& report) {
    const auto back = pairs_.find({pair.second, pair.first});
    if (back == pairs_.end() || !back->second.both_ways || back->second.link.failures() > 0) return report.overhead;
    return report.round_trip - (report.round_trip - report.overhead + *back->second.both_ways) / 2;
}

void NodeLinkSensor::record_failed(const Pair& pair, const Error& error) {
    entry_of(pair).link.fail();
    if (logged_.size() >= kMaxLogged || !logged_.insert(pair).second) return;
    log_.info("node_probe_failed", {{"node", pair.first}, {"other", pair.second}, {"reason", error.message}});
}

/// Makes room for a new one.
NodeLinkSensor::Entry& NodeLinkSensor::entry_of(const Pair& pair) {
    if (const auto at = pairs_.find(pair); at != pairs_.end()) return at->second;
    if (pairs_.size() >= kMaxPairs)
        pairs_.erase(std::ranges::min_element(pairs_, {}, [](const auto& p) { return p.second.asked; }));
    return pairs_[pair];
}

void NodeLinkSensor::forget_old() {
    const Duration now = clock_.steady_now();
    std::erase_if(pairs_, [&](const auto& p) { return now - p.second.asked > kForgottenAfter; });
    std::erase_if(logged_, [this](const Pair& p) { return !is_present(p.first) || !is_present(p.second); });
}

Link NodeLinkSensor::within_zone() const {
    return source() == LinkView::Source::kMeasured ? *median_ : config_.zone.within_zone;
}

LinkView::Source NodeLinkSensor::source() const {
    if (config_.declares_within_zone) return LinkView::Source::kDeclared;
    return median_ ? LinkView::Source::kMeasured : LinkView::Source::kAssumed;
}

int NodeLinkSensor::failing() const {
    return static_cast<int>(std::ranges::count_if(pairs_, [](const auto& p) { return p.second.link.failures() > 0; }));
}

std::vector<NodeLinkView> NodeLinkSensor::worst() const {
    using Row = std::pair<std::pair<bool, double>, const std::pair<const Pair, Entry>*>;
    std::vector<Row> rows;
    for (const auto& pair : pairs_) {
        const MeasuredLink& link = pair.second.link;
        rows.push_back({{link.failures() == 0, link.forecast() ? -link.forecast()->delay_s : 0}, &pair});
    }
    std::ranges::stable_sort(rows, {}, &Row::first);
    if (rows.size() > kMaxShown) rows.resize(kMaxShown);
    std::vector<NodeLinkView> views;
    for (const auto& [rank, pair] : rows) {
        const MeasuredLink& link = pair->second.link;
        views.push_back({pair->first.first, pair->first.second, link.delay_s(), link.bandwidth_Bps(), link.measured(),
                         link.failures()});
    }
    return views;
}

}  // namespace zbs
