#pragma once
#include <string>

#include "services/zone_scheduler/home/application.hpp"
#include "services/zone_scheduler/home/application_ports.hpp"
#include "services/zone_scheduler/home/zone_offers.hpp"

namespace zbs {

/// Longest reason that goes with a release, bytes.
inline constexpr std::size_t kMaxReason = 1'000;

/// The questions of home to the zones of an application's parts. Each answer becomes an event.
class ZoneCalls {
  public:
    ZoneCalls(const ApplicationPorts& ports, const ZoneOffers& zones, ApplyInput apply)
        : ports_(ports), zones_(zones), apply_(std::move(apply)) {}

    using Run = std::shared_ptr<ApplicationRun>;
    void perform(const Run& run, const effect::AskZones& ask);
    void perform(const Run& run, const effect::AskZone& ask);
    void perform(const Run& run, const effect::AskProfile& ask);
    void perform(const Run& run, const effect::StopParts&);
    void perform(const Run& run, const effect::ReleasePart& release);
    void perform(const Run& run, const effect::Penalise& broken);

  private:
    /// A launch is repeated under the same ids until it is answered: nothing starts twice.
    void ask(const Run& run, Question question, const PartId& id);
    /// A zone that is away for a while signals its ranks when it is back, if the launcher still runs then.
    void stop(const Run& run, const ZoneName& zone, const PartId& id);
    PartRequest hold_request(const ApplicationRun& run, const ApplicationPart& part, const ServiceAddress& zone) const;
    void record_broken(const ApplicationRun& run, const effect::Penalise& broken);

    const ApplicationPorts& ports_;
    const ZoneOffers& zones_;
    const ApplyInput apply_;
};

}  // namespace zbs
