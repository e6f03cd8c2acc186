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
        std::optional<ApplicationId> without{};  ///< what this one holds counts as free
    };
    /// Whether both can be asked in one call to each zone.
    static bool go_together(const Question& one, const Question& other);
    /// Asks all zones that the request allows, once each for all `questions`, which go together. Calls `done` once,
    /// never from inside this call, for each question with one offer for each known zone, by name; a zone that is
    /// silent for 5 s offers nothing, and is not waited for longer than 0.5 s until it answers in 5 s again.
    /// Precondition: 1 to 1 + `limits::kMaxOtherQuestions` questions.
    void collect(const std::vector<Question>& questions, std::function<void(std::vector<std::vector<Offer>>)> done);

  private:
    struct Collection;
    Offer offer_of(const ServiceAddress& address, const std::string& rests, Result<Capacity> answer) const;
    void go_on_without(Collection& collection) const;
    void pass_silent(const std::shared_ptr<Collection>& collection);
    CapacityRequest capacity_request(const std::vector<Question>& questions) const;

    const ApplicationPorts& ports_;
    const ZoneBackoff& backoff_;
    std::set<ZoneName> silent_;  ///< zones whose last answer took too long
};

}  // namespace zbs
