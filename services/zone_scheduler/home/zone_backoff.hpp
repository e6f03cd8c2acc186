#pragma once
#include <map>
#include <optional>
#include <utility>

#include "algorithms/base/time.hpp"
#include "services/common/messages/names/name_types.hpp"

namespace zbs {

/// Zones that failed the start of a part though they had committed it. Plans of all applications leave such a zone out
/// for `kFirst`, twice as long after every further failure in a row, `kLongest` at most; a program that ended well
/// there clears it. Not stored: a home that restarts asks everybody again. Times are steady.
class ZoneBackoff {
  public:
    static constexpr Duration kFirst = std::chrono::seconds{2};
    static constexpr Duration kLongest = std::chrono::minutes{30};

    /// Failures of parts that were planned before the zone was left out count as one. `is_suspicion`: another zone may
    /// have failed.
    void record_failure(const ZoneName& zone, Duration now, bool is_suspicion = false);
    void record_success(const ZoneName& zone) { zones_.erase(zone); }
    /// How long it is left out from `now` on; none: it is not.
    std::optional<Duration> left(const ZoneName& zone, Duration now) const;
    int failures(const ZoneName& zone) const;  ///< in a row
    int proven(const ZoneName& zone) const;    ///< failures in a row, without suspicions
    int suspicions() const;                    ///< of all zones

    struct Entry {
        int failures = 0;
        int suspicions = 0;  ///< of the failures
        Duration until{};
    };
    using Entries = std::map<ZoneName, Entry>;
    ZoneBackoff() = default;
    explicit ZoneBackoff(Entries entries) : zones_(std::move(entries)) {}
    const Entries& entries() const { return zones_; }

  private:
    Entries zones_;
};

}  // namespace zbs
