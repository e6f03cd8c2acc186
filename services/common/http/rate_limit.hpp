#pragma once
#include <array>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "algorithms/base/time.hpp"
#include "services/common/http/call.hpp"
#include "services/common/messages/limits.hpp"

namespace zbs::http {

/// So many a second in the long run, and so many at once after a rest. `per_second` 0: no limit.
struct Rate {
    double per_second = 0;
    double burst = 1;
    bool operator==(const Rate&) const = default;
};

/// What one caller may ask of a service. The defaults stop floods, not work: a followed run makes 10 calls a second,
/// a home zone 5 for each part that runs at a peer.
struct RateLimits {
    Rate user{200, 1'000};        ///< each user and each operator
    Rate zone{2'000, 10'000};     ///< each zone and each registry
    Rate anonymous{50, 500};      ///< each address, all who have no name there together
    Rate connection{200, 4'096};  ///< new connections from each address
    bool operator==(const RateLimits&) const = default;
};

/// A token bucket per caller: by organisation, kind and name, or by address where there is no name. Safe from any
/// thread: a call costs one look-up under a lock that it shares with a sixteenth of the callers. Remembers at most
/// `max_buckets` callers; the one silent for longest is forgotten first and begins with a full bucket again.
class RateLimiter {
  public:
    explicit RateLimiter(const RateLimits& limits, std::size_t max_buckets = limits::kMaxRateBuckets);

    /// Takes one call of this caller. None: go ahead. Else how long until there is one again; nothing was taken.
    /// `now` is the monotonic clock.
    std::optional<Duration> take(const PeerIdentity& peer, std::string_view address, Duration now);
    /// The same for a new connection from `address`.
    std::optional<Duration> take_connection(std::string_view address, Duration now);
    /// Other limits from now on. A bucket that was empty is so at its next call, and then fills
    /// at the new rate.
    void set_limits(const RateLimits& limits);
    /// Callers remembered now.
    std::size_t size() const;

  private:
    /// A bucket as one instant: when it will be full again. It is empty where that is the time of a whole burst ahead.
    struct Bucket {
        std::string key;
        Duration full_at{};
    };
    struct Shard {
        mutable std::mutex mutex;
        RateLimits limits;          ///< a copy for each, so that no call waits for another lock than its own
        std::list<Bucket> buckets;  ///< the one used last first
        std::unordered_map<std::string_view, std::list<Bucket>::iterator> by_key;
    };
    std::optional<Duration> take(Rate RateLimits::*which, std::string key, Duration now);

    static constexpr std::size_t kShards = 16;
    const std::size_t max_per_shard_;
    std::array<Shard, kShards> shards_;
};

/// 429 with Retry-After (whole seconds, at least `wait`) and RateLimit: nothing is left of `limit`; empty: of the rate
/// of callers of this kind, by its name in the settings.
Reply too_many_requests(const PeerIdentity& peer, Duration wait, std::string_view limit = {});

}  // namespace zbs::http
