#pragma once
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "algorithms/base/rng.hpp"
#include "services/common/failpoint/failpoint.hpp"
#include "services/zone_scheduler/home/application.hpp"
#include "services/zone_scheduler/home/application_ports.hpp"
#include "services/zone_scheduler/home/home_launcher.hpp"
#include "services/zone_scheduler/home/plan_maker.hpp"
#include "services/zone_scheduler/home/profile_library.hpp"
#include "services/zone_scheduler/home/start_choice.hpp"
#include "services/zone_scheduler/home/zone_backoff.hpp"
#include "services/zone_scheduler/home/zone_calls.hpp"
#include "services/zone_scheduler/home/zone_offers.hpp"

namespace zbs {

/// The zone as home: takes applications of its own users from `accepted` to an end state. Every change of state is
/// stored before the next outside step, so that a restart goes on where it stopped. Lives on the domain's strand.
///
///   accepted -> planned -> held -> committed -> launching -> running -> completed | failed | cancelled
///        ^_____________________________________| a zone refuses, times out, lets a hold go or starts nothing, before a
///                                                rank has begun: release, plan again without it
///
/// Where not all is free now, the earliest common start is reserved: all parts are held and committed for it, home
/// waits in `committed`, takes an earlier start where one comes up, and plans again where the start slips.
///
/// All or nothing: unless every part holds, commits and starts, every part is given back.
class ApplicationService {
  public:
    explicit ApplicationService(ApplicationPorts ports);
    /// Takes up what the store holds. Errors: the store's.
    Result<void> resume();
    void restate_applications() const;  ///< to the observer of steps: all that have something left to do

    /// Same id and request again: the same application. Errors: kUnauthenticated/kDenied for others than own users;
    /// kIdReused; kInvalidArgument (an id that is not the caller's, unknown mapper or zone); kTooManyRequests.
    Result<Application> submit(const Caller& caller, const ApplicationRequest& request);
    /// The plan that `submit` would start with; changes nothing.
    void dry_run(const Caller& caller, const ApplicationRequest& request, Respond<ApplicationPlan> respond);
    /// As it is now, and changing with it where it has not ended. Errors: kNotFound, also for other users'
    /// applications; the store's.
    Result<std::shared_ptr<const Application>> find(const Caller& caller, const ApplicationId& id) const;
    /// Newest first, by when the zone took them, on its clock; an operator's are everybody's.
    struct Page {
        std::optional<ApplicationPlace> after{};  ///< only what lies behind this
        std::optional<Time> since{};              ///< only what was submitted then or later
        std::vector<ApplicationState> states{};   ///< only in one of these; empty: in any
        std::optional<Caller> owner{};            ///< only this user's; of others only an operator sees any
        std::size_t limit = 100;
    };
    /// Errors: the store's.
    Result<std::vector<ApplicationSummary>> list(const Caller& caller, const Page& page) const;
    /// How many of the applications in `list` are in each state: all that have not ended, and those that ended since
    /// `since`.
    struct Counts {
        std::map<ApplicationState, std::size_t> by_state;
        Time since{};
    };
    Result<Counts> counts(const Caller& caller) const;
    /// Whose it is; none where there is none. Errors: the store's.
    Result<std::optional<Caller>> owner_of(const ApplicationId& id) const;
    std::size_t open_count() const { return runs_.size(); }  ///< with something left to do
    Result<Application> cancel(const Caller& caller, const ApplicationId& id);

    /// What is at home of what the application left; complete once it has ended. Errors: `find`'s.
    Result<StagedResults> results(const Caller& caller, const ApplicationId& id) const;
    /// A piece of one of them. Errors: kNotFound; kInvalidArgument for an offset behind its end.
    Result<FileChunk> result(const Caller& caller, const ApplicationId& id, const std::string& name,
                             std::uint64_t offset) const;

    /// What was learnt from runs, and what the next ones are planned with.
    ProfileLibrary& profiles() { return profiles_; }

    /// How many there are in each state, of those with something left to do.
    std::map<ApplicationState, std::size_t> open_by_state() const;

  private:
    using Run = ApplicationRun;
    struct Performer;

    void apply(const std::shared_ptr<Run>& run, const ApplicationInput& event);
    Moment moment_of(const Run& run) const;
    void advance_after(const std::shared_ptr<Run>& run, Duration delay);
    bool pass(const std::shared_ptr<Run>& run, failpoint::Point point);
    bool store(const std::shared_ptr<Run>& run, ApplicationStep::Save save);
    void entered(const std::shared_ptr<Run>& run);
    std::shared_ptr<const Application> known(const ApplicationId& id) const;
    void recover(const std::shared_ptr<Run>& run);
    void count_reservation(const Run& run);
    event::LaunchFailed suspect(const Run& run, const std::string& reason);
    void store_profile(const std::shared_ptr<Run>& run, std::optional<Duration> measured);

    struct PlanningCycle;
    enum class Progress {
        kMore,
        kDone,
        kPaused,  ///< it goes on when a plan that is made in the background is here
    };
    struct PassedOver {
        bool any = false;         ///< one that comes before waits on
        bool to_confirm = false;  ///< somebody could start before it
    };
    void await_planning(const std::shared_ptr<Run>& run);
    void begin_cycle(Duration delay);
    void run_cycle();
    void decide();
    void in_pieces(Progress (ApplicationService::*step)(), std::function<void()> then);
    void take_reserved();
    Progress take_next();
    void ask_zones(std::function<void()> then);
    Progress decide_next();
    Progress admit(const std::shared_ptr<Run>& run, Result<StartChoice> made,
                   std::shared_ptr<const ApplicationModel> model, std::uint64_t number);
    void stay_in_queue(const std::shared_ptr<Run>& run);
    std::vector<Offer> offers_for(const std::shared_ptr<Run>& run, std::vector<Offer> offers);
    MayWait may_wait_of(const Run& run) const;
    void drop_plan(const std::shared_ptr<Run>& run);
    void end_cycle();
    bool may_start_early(const Run& run) const;
    bool take_plan(const std::shared_ptr<Run>& run, StartChoice made, std::shared_ptr<const ApplicationModel> model,
                   std::uint64_t number);
    bool has_to_confirm(const std::shared_ptr<Run>& run, PassedOver& passed_over);
    Duration latest_reserved_before(const Run& run) const;
    void ask_elsewhere(const std::shared_ptr<Run>& run);
    const ProfileLibrary::Choice& choice_for(const Run& run);

    const ApplicationPorts ports_;
    ProfileLibrary profiles_;
    Rng jitter_;
    ZoneBackoff backoff_;
    /// Of zones that took part in launches: how many have failed with nobody to be seen since the last good end there,
    /// and how many programs have ended well. At most one entry a zone; not stored.
    struct Doubt {
        int failures = 0, good_ends = 0;
    };
    std::map<ZoneName, Doubt> doubts_;
    ZoneOffers zones_;
    const ApplyInput apply_;
    ZoneCalls calls_;
    PlanMaker plans_;
    HomeLauncher launcher_;
    std::map<ApplicationId, std::shared_ptr<Run>> runs_;  ///< those with something left to do
    std::set<ApplicationId> reserved_;                    ///< those that wait for a start
    std::set<ApplicationId> elsewhere_;                   ///< those in a queue that another zone might start now
    std::map<std::string, int> unfinished_;               ///< by owner's URI
    /// By priority, the highest first, then by submission: who waits for a plan.
    using Turn = std::tuple<int, Time, ApplicationId>;
    static Turn turn_of(const Run& run);
    std::map<Turn, std::shared_ptr<Run>> waiting_;
    /// What is learnt of the programs of those that wait, and the steady time of that.
    struct Learned {
        std::optional<ProfileLibrary::Choice> choice;
        Duration at{};
    };
    std::map<ApplicationId, Learned> learned_;
    std::optional<Turn> asked_last_;        ///< of those that are asked about in turns
    std::uint64_t plans_begun_ = 0;         ///< in the background
    std::optional<Duration> cycle_due_;     ///< steady time: a timer for it is set
    Duration rests_until_{};                ///< steady time: no cycle begins before
    std::shared_ptr<PlanningCycle> cycle_;  ///< null while none runs
    int planning_ = 0;                      ///< applications whose zones have not answered all holds
    Duration admitted_at_{};                ///< steady time: the last of these
};

}  // namespace zbs
