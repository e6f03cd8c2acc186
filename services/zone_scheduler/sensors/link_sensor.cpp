#include "services/zone_scheduler/sensors/link_sensor.hpp"

#include <algorithm>
#include <utility>

namespace zbs {
namespace {

constexpr int kSmallProbes = 3;

}  // namespace

void LinkSensor::start() {
    if (config_.probe_every <= Duration{0}) return;
    // Early, so that the first plans know something; not at once, so that zones have found each other.
    clock_.after(std::min<Duration>(config_.probe_every, config_.discover_every * 2), [this] { begin_round(); });
}

void LinkSensor::begin_round() {
    for (ServiceAddress& target : targets_()) waiting_.push_back(std::move(target));
    probe_next();
}

/// The next zone; after the last the round is over, and the next one comes.
void LinkSensor::probe_next() {
    if (waiting_.empty()) {
        clock_.after(config_.probe_every, [this] { begin_round(); });
        return;
    }
    const auto probe = std::make_shared<Probe>(Probe{std::move(waiting_.front()), kSmallProbes, Duration::max(), {}});
    waiting_.pop_front();
    send_small(probe);
}

void LinkSensor::send_small(const std::shared_ptr<Probe>& probe) {
    probe->asked = clock_.steady_now();
    transport_.probe(probe->to, ProbeSize::kSmall, [this, probe](const Result<std::size_t>& answer) {
        if (!answer) return failed(*probe, answer.error());
        probe->round_trip = std::min(probe->round_trip, clock_.steady_now() - probe->asked);
        return --probe->small_left > 0 ? send_small(probe) : send_large(probe);
    });
}

void LinkSensor::send_large(const std::shared_ptr<Probe>& probe) {
    probe->asked = clock_.steady_now();
    transport_.probe(probe->to, ProbeSize::kLarge, [this, probe](const Result<std::size_t>& answer) {
        if (!answer) return failed(*probe, answer.error());
        measured_[ZoneName(probe->to.who.name)].observe(
            {.round_trip = probe->round_trip, .bytes = *answer, .transfer = clock_.steady_now() - probe->asked},
            clock_.now(), config_.probe_every);
        probe_next();
    });
}

void LinkSensor::failed(const Probe& probe, const Error& why) {
    if (measured_[ZoneName(probe.to.who.name)].fail())
        log_.info("probe_failed", {{"zone", to_uri(probe.to.who)}, {"reason", why.message}});
    probe_next();
}

std::optional<Link> LinkSensor::measured_link(const ZoneName& zone) const {
    const auto at = measured_.find(zone);
    return at == measured_.end() ? std::nullopt : at->second.forecast();
}

Link LinkSensor::link_to(const ZoneName& zone) const {
    if (const LinkToZone* declared = declared_link(config_, zone)) return declared->link;
    return measured_link(zone).value_or(config_.default_link);
}

std::vector<LinkView> LinkSensor::links() const {
    std::map<ZoneName, LinkView> views;
    for (const LinkToZone& link : config_.links) views[link.zone].zone = link.zone;
    for (const auto& [zone, link] : measured_) {
        LinkView& view = views[zone];
        view.zone = zone;
        view.delay_s = link.delay_s();
        view.bandwidth_Bps = link.bandwidth_Bps();
        view.measured = link.measured();
        view.failures = link.failures();
    }
    std::vector<LinkView> sorted;
    for (auto& [zone, view] : views) {
        view.link = link_to(zone);
        view.source = declared_link(config_, zone) != nullptr ? LinkView::Source::kDeclared
                      : measured_link(zone)                   ? LinkView::Source::kMeasured
                                                              : LinkView::Source::kAssumed;
        sorted.push_back(std::move(view));
    }
    return sorted;
}

}  // namespace zbs
