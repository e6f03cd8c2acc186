#pragma once
#include <optional>

#include "services/zone_scheduler/home/application.hpp"
#include "services/zone_scheduler/home/application_ports.hpp"
#include "services/zone_scheduler/home/profile_library.hpp"
#include "services/zone_scheduler/home/zone_offers.hpp"

namespace zbs {

/// Watches the launchers of applications at home, and collects what they leave. All must outlive it.
class ApplicationWatch {
  public:
    ApplicationWatch(const ApplicationPorts& ports, const ZoneOffers& zones, ProfileLibrary& profiles, ApplyInput apply)
        : ports_(ports), zones_(zones), profiles_(profiles), apply_(std::move(apply)) {}

    void watch(const std::shared_ptr<ApplicationRun>& run);
    void measure_output(const std::shared_ptr<ApplicationRun>& run);
    void await_launcher(const std::shared_ptr<ApplicationRun>& run, const effect::AwaitLauncher& end);
    void ask_how_it_ended(const std::shared_ptr<ApplicationRun>& run);

  private:
    bool wants_answers(const ApplicationRun& run) const;
    void ask_profile(const std::shared_ptr<ApplicationRun>& run, const ZoneName& zone, const PartId& id);
    bool takes_results(const std::shared_ptr<ApplicationRun>& run);
    void bring_results(const std::shared_ptr<ApplicationRun>& run);
    void finish(const std::shared_ptr<ApplicationRun>& run);
    std::optional<ProfileId> store_profile(const ApplicationRun& run, const phase::Ending& ending,
                                           ApplicationState end);

    const ApplicationPorts& ports_;
    const ZoneOffers& zones_;
    ProfileLibrary& profiles_;
    const ApplyInput apply_;
};

}  // namespace zbs
