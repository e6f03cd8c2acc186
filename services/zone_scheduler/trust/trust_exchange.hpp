#pragma once
#include <functional>
#include <vector>

#include "services/common/ports/clock.hpp"
#include "services/common/ports/log.hpp"
#include "services/common/ports/transport/trust_transport.hpp"
#include "services/zone_scheduler/trust/membership_service.hpp"

namespace zbs {

/// Fetches the trust statement of every zone that is known, again and again, so that a revocation anywhere is in force
/// here within 60 s: every 15 s by default, with 5 s for an answer. A zone that does not answer keeps its last
/// statement.
class TrustExchange {
  public:
    static constexpr Duration kEvery = std::chrono::seconds{15};

    /// `every`: time between two looks. `known` gives the zones to ask, at the time of asking.
    TrustExchange(Clock& clock, TrustTransport& transport, MembershipService& membership, Log& log,
                  std::function<std::vector<ServiceAddress>()> known, Duration every = kEvery);
    void start();

  private:
    void look();

    Clock& clock_;
    TrustTransport& transport_;
    MembershipService& membership_;
    Log& log_;
    std::function<std::vector<ServiceAddress>()> known_;
    Duration every_;
};

}  // namespace zbs
