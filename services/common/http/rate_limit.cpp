#include "services/common/http/rate_limit.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "services/common/http/reply.hpp"

namespace zbs::http {
namespace {

std::string key_of(char kind, std::string_view name) { return kind + std::string(name); }

bool has_name(const PeerIdentity& peer) { return peer.evidence() != Evidence::kNone; }

}  // namespace

RateLimiter::RateLimiter(const RateLimits& limits, std::size_t max_buckets)
    : max_per_shard_(std::max<std::size_t>(1, max_buckets / kShards)) {
    set_limits(limits);
}

void RateLimiter::set_limits(const RateLimits& limits) {
    for (Shard& shard : shards_) {
        const std::lock_guard lock(shard.mutex);
        shard.limits = limits;
    }
}

std::optional<Duration> RateLimiter::take(const PeerIdentity& peer, std::string_view address, Duration now) {
    if (!has_name(peer)) return take(&RateLimits::anonymous, key_of('a', address), now);
    const bool service = is_service(peer.name().kind);
    return take(service ? &RateLimits::zone : &RateLimits::user, key_of('n', to_uri(peer.name())), now);
}

std::optional<Duration> RateLimiter::take_connection(std::string_view address, Duration now) {
    return take(&RateLimits::connection, key_of('c', address), now);
}

std::optional<Duration> RateLimiter::take(Rate RateLimits::*which, std::string key, Duration now) {
    Shard& shard = shards_[std::hash<std::string>{}(key) % kShards];
    const std::lock_guard lock(shard.mutex);
    const Rate& rate = shard.limits.*which;
    if (rate.per_second <= 0) return std::nullopt;
    const Duration each = seconds_to_duration(1 / rate.per_second);
    const Duration most = seconds_to_duration(std::max(1.0, rate.burst) / rate.per_second);
    auto known = shard.by_key.find(key);
    if (known == shard.by_key.end()) {
        if (shard.buckets.size() >= max_per_shard_) {
            shard.by_key.erase(shard.buckets.back().key);
            shard.buckets.pop_back();
        }
        shard.buckets.push_front({std::move(key), now});
        known = shard.by_key.emplace(shard.buckets.front().key, shard.buckets.begin()).first;
    } else {
        shard.buckets.splice(shard.buckets.begin(), shard.buckets, known->second);
    }
    Bucket& bucket = *known->second;
    bucket.full_at = std::min(bucket.full_at, now + most);  // it may be of slower limits
    const Duration next = std::max(bucket.full_at, now) + each;
    if (next - now > most) return next - now - most;
    bucket.full_at = next;
    return std::nullopt;
}

std::size_t RateLimiter::size() const {
    std::size_t count = 0;
    for (const Shard& shard : shards_) {
        const std::lock_guard lock(shard.mutex);
        count += shard.buckets.size();
    }
    return count;
}

Reply too_many_requests(const PeerIdentity& peer, Duration wait, std::string_view limit) {
    const auto seconds = std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::seconds>(wait).count());
    const std::string who = has_name(peer) ? to_uri(peer.name()) : "callers without a name from this address";
    Reply reply = problem({ErrorCode::kTooManyRequests,
                           "too many requests of " + who + "; ask again in " + std::to_string(seconds) + " s",
                           {}});
    if (limit.empty()) limit = !has_name(peer) ? "anonymous" : is_service(peer.name().kind) ? "zone" : "user";
    reply.headers.emplace_back("Retry-After", std::to_string(seconds));
    reply.headers.emplace_back("RateLimit", "\"" + std::string(limit) + "\";r=0;t=" + std::to_string(seconds));
    return reply;
}

}  // namespace zbs::http
