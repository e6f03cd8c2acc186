#pragma once
#include <optional>

#include "services/zone_scheduler/home/application.hpp"
#include "services/zone_scheduler/home/application_ports.hpp"
#include "services/zone_scheduler/home/profile_library.hpp"
#include "services/zone_scheduler/home/zone_calls.hpp"
#include "services/zone_scheduler/home/zone_offers.hpp"

namespace zbs {

/// Follows applications from the start of their ranks to what they leave: polls parts and launcher, ends what goes
/// wrong, and collects how it ended. All must outlive it.
class ApplicationWatch {
  public:
    ApplicationWatch(const ApplicationPorts& ports, const ZoneOffers& zones, ZoneCalls& calls, ProfileLibrary& profiles,
                     ApplyInput apply)
        : ports_(ports), zones_(zones), calls_(calls), profiles_(profiles), apply_(std::move(apply)) {}

    void watch(const std::shared_ptr<ApplicationRun>& run);
    void poll_parts(const std::shared_ptr<ApplicationRun>& run);
    /// The launcher ends once no part runs any more, or at `launcher_until`.
    void stop_parts(const std::shared_ptr<ApplicationRun>& run, Duration launcher_until);

  private:
    void part_polled(const std::shared_ptr<ApplicationRun>& run, ApplicationPart& known, PartStatus now);
    void stop_unless_it_ends(const std::shared_ptr<ApplicationRun>& run, const ZoneName& zone, const PartStatus& end);
    void stop(const std::shared_ptr<ApplicationRun>& run, const std::string& reason) {
        apply_(run, event::StopAsked{reason});
    }
    void stop_at_output_limit(const std::shared_ptr<ApplicationRun>& run);
    void stop_deserted_launcher(const std::shared_ptr<ApplicationRun>& run);
    void end_launcher(const std::shared_ptr<ApplicationRun>& run);
    bool wants_answers(const ApplicationRun& run) const;
    void ask_how_it_ended(const std::shared_ptr<ApplicationRun>& run);
    void ask_profile(const std::shared_ptr<ApplicationRun>& run, const ZoneName& zone, const PartId& id);
    bool takes_results(const std::shared_ptr<ApplicationRun>& run);
    void bring_results(const std::shared_ptr<ApplicationRun>& run);
    void finish(const std::shared_ptr<ApplicationRun>& run);
    std::optional<ProfileId> store_profile(const ApplicationRun& run, const phase::Ending& ending,
                                           ApplicationState end);

    const ApplicationPorts& ports_;
    const ZoneOffers& zones_;
    ZoneCalls& calls_;
    ProfileLibrary& profiles_;
    const ApplyInput apply_;
};

}  // namespace zbs
