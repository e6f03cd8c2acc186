#include "services/zone_scheduler/home/zone_backoff.hpp"

#include <algorithm>

namespace zbs {

void ZoneBackoff::record_failure(const ZoneName& zone, Duration now, bool is_suspicion) {
    Entry& entry = zones_[zone];
    if (entry.failures > 0 && now < entry.until) return;
    entry.until = now + std::min(kFirst * (1 << std::min(entry.failures, 16)), kLongest);
    ++entry.failures;
    if (is_suspicion) ++entry.suspicions;
}

std::optional<Duration> ZoneBackoff::left(const ZoneName& zone, Duration now) const {
    const auto at = zones_.find(zone);
    if (at == zones_.end() || at->second.until <= now) return std::nullopt;
    return at->second.until - now;
}

int ZoneBackoff::failures(const ZoneName& zone) const {
    const auto at = zones_.find(zone);
    return at == zones_.end() ? 0 : at->second.failures;
}

int ZoneBackoff::proven(const ZoneName& zone) const {
    const auto at = zones_.find(zone);
    return at == zones_.end() ? 0 : at->second.failures - at->second.suspicions;
}

int ZoneBackoff::suspicions() const {
    int sum = 0;
    for (const auto& [zone, entry] : zones_) sum += entry.suspicions;
    return sum;
}

}  // namespace zbs
