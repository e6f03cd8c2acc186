#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "services/zone_scheduler/home/application_ports.hpp"
#include "services/zone_scheduler/home/planner.hpp"
#include "services/zone_scheduler/home/zone_backoff.hpp"

namespace zbs {

/// The zones that a home may use: their addresses, whether they take new work, and what they offer now.
class ZoneOffers {
  public:
    /// Zones in `backoff` are offered with the reason to leave them out. It and the ports must outlive this.
    ZoneOffers(const ApplicationPorts& ports, const ZoneBackoff& backoff) : ports_(ports), backoff_(backoff) {}

    ServiceAddress own_address() const;
    /// Empty for a zone that is not known any more.
    ServiceAddress address_of(const ZoneName& zone) const;
    /// Empty for a zone that takes new work.
    std::string why_it_rests(const ZoneName& zone) const;
    /// Refuses a name that no zone has; a zone that is away or rests is known. Nothing is refused until the registry
    /// has listed the zones. Errors: kInvalidArgument, with the nearest name.
    Result<void> check_zones(const ApplicationRequest& request) const;

    struct Question {
        const Caller& owner;
        const ApplicationRequest& request;
        std::set<ZoneName> excluded{};           ///< not asked
        std::optional<ApplicationId> without{};  ///< what this one holds counts as free
    };
    /// Asks all zones that the request allows. Calls `done` once, never from inside this call, with one offer for each
    /// known zone, by name; a zone that is silent for 5 s offers nothing.
    void collect(const Question& question, std::function<void(std::vector<Offer>)> done);

  private:
    struct Collection;
    Offer offer_of(const ServiceAddress& address, const std::string& rests, Result<Capacity> answer) const;
    CapacityRequest capacity_request(const Question& question) const;

    const ApplicationPorts& ports_;
    const ZoneBackoff& backoff_;
};

}  // namespace zbs
