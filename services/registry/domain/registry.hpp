#pragma once
#include <map>
#include <string>
#include <vector>

#include "services/common/messages/identity.hpp"
#include "services/common/ports/clock.hpp"
#include "services/common/ports/log.hpp"
#include "services/common/ports/zone_store.hpp"

namespace zbs {

/// White, yellow and green pages of zones, with leases on the monotonic clock. An entry whose lease is not renewed
/// vanishes. After a restart every entry gets its full lease again: time while the registry was down counts against
/// nobody.
class Registry {
  public:
    static constexpr Duration kMinLease = std::chrono::seconds{1};
    static constexpr Duration kMaxLease = std::chrono::seconds{300};

    Registry(Clock& clock, RegistryStore& store, Log& log);
    Result<void> resume();

    /// Puts in or replaces the caller's entry; the answer has the lease granted. Errors: kUnauthenticated; kDenied (the
    /// entry names another zone than the caller); kConflict (the name belongs to another organisation);
    /// kTooManyRequests.
    Result<ZoneEntry> publish(const Caller& caller, const ZoneEntry& entry);
    /// Errors: kNotFound (never there, or expired: publish again).
    Result<ZoneEntry> renew(const Caller& caller, const std::string& zone);
    Result<ZoneEntry> leave(const Caller& caller, const std::string& zone);
    /// Live entries by name; filters where given.
    std::vector<ZoneEntry> list(const ZoneQuery& query) const;

  private:
    struct Live {
        ZoneEntry entry;
        Duration until{};
    };
    Result<void> check_caller(const Caller& caller, const std::string& zone) const;
    void expire();

    Clock& clock_;
    RegistryStore& store_;
    Log& log_;
    std::map<std::string, Live> zones_;
};

}  // namespace zbs
