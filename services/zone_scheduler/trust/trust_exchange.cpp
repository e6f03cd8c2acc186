#include "services/zone_scheduler/trust/trust_exchange.hpp"

namespace zbs {

TrustExchange::TrustExchange(Clock& clock, TrustTransport& transport, MembershipService& membership, Log& log,
                             std::function<std::vector<ServiceAddress>()> known, Duration every)
    : clock_(clock),
      transport_(transport),
      membership_(membership),
      log_(log),
      known_(std::move(known)),
      every_(every) {}

void TrustExchange::start() { look(); }

void TrustExchange::look() {
    for (const ServiceAddress& zone : known_()) {
        transport_.fetch_trust(zone, [this, who = zone.who](const Result<TrustStatement>& statement) {
            const Result<void> taken = statement ? membership_.take(who, *statement) : Result<void>(statement.error());
            if (!taken) log_.warn("trust_not_refreshed", {{"zone", to_uri(who)}, {"reason", taken.error().message}});
        });
    }
    clock_.after(every_, [this] { look(); });
}

}  // namespace zbs
