#include "services/registry/domain/registry.hpp"

#include <algorithm>

#include "services/common/messages/limits.hpp"

namespace zbs {

Registry::Registry(Clock& clock, RegistryStore& store, Log& log) : clock_(clock), store_(store), log_(log) {}

Result<void> Registry::resume() {
    Result<std::vector<ZoneEntry>> entries = store_.load();
    if (!entries) return entries.error();
    for (ZoneEntry& entry : *entries) {
        const Duration until = clock_.steady_now() + entry.lease;
        const std::string name = entry.name;
        zones_.emplace(name, Live{std::move(entry), until});
    }
    expire();
    return {};
}

Result<void> Registry::check_caller(const Caller& caller, const std::string& zone) const {
    if (caller.kind != CallerKind::kZone) return Error{ErrorCode::kUnauthenticated, "only zones keep entries here", {}};
    if (caller.name != zone) return Error{ErrorCode::kDenied, "a zone may only change its own entry", "/name"};
    return {};
}

Result<ZoneEntry> Registry::publish(const Caller& caller, const ZoneEntry& entry) {
    if (auto ok = check_caller(caller, entry.name); !ok) return ok.error();
    if (caller.organisation != entry.organisation)
        return Error{ErrorCode::kDenied, "the entry names another organisation than the caller", "/organisation"};
    const auto known = zones_.find(entry.name);
    if (known != zones_.end() && known->second.entry.organisation != entry.organisation) {
        return Error{
            ErrorCode::kConflict,
            "zone name '" + entry.name + "' belongs to organisation '" + known->second.entry.organisation + "'",
            "/name"};
    }
    if (known == zones_.end() && zones_.size() >= static_cast<std::size_t>(limits::kMaxZonesInRegistry)) {
        return Error{ErrorCode::kTooManyRequests, "the registry is full", {}};
    }
    ZoneEntry granted = entry;
    granted.lease = std::clamp(entry.lease, kMinLease, kMaxLease);
    if (auto ok = store_.save(granted); !ok) return ok.error();
    if (known == zones_.end())
        log_.info("zone_published", {{"zone", entry.name}, {"organisation", entry.organisation}, {"url", entry.url}});
    zones_[entry.name] = {granted, clock_.steady_now() + granted.lease};
    return granted;
}

Result<ZoneEntry> Registry::renew(const Caller& caller, const std::string& zone) {
    if (auto ok = check_caller(caller, zone); !ok) return ok.error();
    const auto at = zones_.find(zone);
    if (at == zones_.end() || at->second.entry.organisation != caller.organisation ||
        at->second.until <= clock_.steady_now()) {
        return Error{ErrorCode::kNotFound, "no live entry of zone '" + zone + "'; publish it again", {}};
    }
    at->second.until = clock_.steady_now() + at->second.entry.lease;
    return at->second.entry;
}

Result<ZoneEntry> Registry::leave(const Caller& caller, const std::string& zone) {
    if (auto ok = check_caller(caller, zone); !ok) return ok.error();
    const auto at = zones_.find(zone);
    if (at == zones_.end() || at->second.entry.organisation != caller.organisation)
        return Error{ErrorCode::kNotFound, "no entry of zone '" + zone + "'", {}};
    if (auto ok = store_.remove(zone); !ok) return ok.error();
    const ZoneEntry entry = at->second.entry;
    zones_.erase(at);
    log_.info("zone_left", {{"zone", zone}});
    return entry;
}

std::vector<ZoneEntry> Registry::list(const ZoneQuery& query) const {
    std::vector<ZoneEntry> found;
    for (const auto& [name, live] : zones_) {
        if (live.until <= clock_.steady_now()) continue;
        const std::vector<std::string>& categories = live.entry.categories;
        if (!query.category.empty() &&
            std::find(categories.begin(), categories.end(), query.category) == categories.end())
            continue;
        if (query.interface_version > 0 && live.entry.interface_version != query.interface_version) continue;
        found.push_back(live.entry);
    }
    return found;
}

void Registry::expire() {
    for (auto at = zones_.begin(); at != zones_.end();) {
        if (at->second.until > clock_.steady_now()) {
            ++at;
            continue;
        }
        log_.info("zone_expired", {{"zone", at->first}});
        if (auto ok = store_.remove(at->first); !ok)
            log_.warn("store_failed", {{"zone", at->first}, {"reason", ok.error().message}});
        at = zones_.erase(at);
    }
    clock_.after(std::chrono::seconds{1}, [this] { expire(); });
}

}  // namespace zbs
