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
#include "services/common/failpoint/points.hpp"
#include "services/zone_scheduler/home/application_ports.hpp"
#include "services/zone_scheduler/home/profile_library.hpp"
#include "services/zone_scheduler/home/start_choice.hpp"
#include "services/zone_scheduler/home/zone_backoff.hpp"
#include "services/zone_scheduler/home/zone_offers.hpp"
#include "services/zone_scheduler/launch/mpich.hpp"

namespace zbs {

struct ApplicationRun;

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
    using Step = void (ApplicationService::*)(const std::shared_ptr<Run>&);

    void advance(const std::shared_ptr<Run>& run);
    bool cancel_if_blocked(const std::shared_ptr<Run>& run);
    std::string why_cancelled(const std::shared_ptr<Run>& run) const;
    std::shared_ptr<const Application> known(const ApplicationId& id) const;
    void recover(const std::shared_ptr<Run>& run);
    struct PlanningCycle;
    enum class Planned {
        kNot,       ///< it waits on
        kEnded,     ///< it is rejected, or its plan could not be stored
        kNotYet,    ///< not before the plans of this cycle are held
        kNow,       ///< its zones are asked to hold it
        kForLater,  ///< likewise, for a later start
    };
    void await_planning(const std::shared_ptr<Run>& run);
    void leave_planning(const std::shared_ptr<Run>& run);
    void begin_cycle(Duration delay);
    void run_cycle();
    void decide(PlanningCycle& cycle);
    struct PassedOver {
        bool any = false;         ///< one that comes before waits on
        bool to_confirm = false;  ///< somebody could start before it
    };
    Planned plan(const std::shared_ptr<Run>& run, const std::vector<Offer>& offers, bool may_reserve_now,
                 PassedOver& passed_over);
    static bool has_to_confirm(Run& run, PassedOver& passed_over);
    void admit(const std::shared_ptr<Run>& run);
    void end_turn(const std::shared_ptr<Run>& run);
    void later(const std::shared_ptr<Run>& run, Duration delay, Step step);
    bool save(const std::shared_ptr<Run>& run, ApplicationStatus changed);
    /// One stored write for the new state and all that changes with it: a crash leaves the old state or the new,
    /// nothing between.
    bool pass(const std::shared_ptr<Run>& run, failpoint::Point point);
    bool enter(const std::shared_ptr<Run>& run, ApplicationStatus changed, ApplicationState state,
               const std::string& reason = {});
    bool enter(const std::shared_ptr<Run>& run, ApplicationState state, const std::string& reason = {}) {
        return enter(run, status_of(run), state, reason);
    }
    static ApplicationStatus status_of(const std::shared_ptr<Run>& run);

    std::string why_it_awaits_start(const ApplicationStatus& status) const;
    Result<StartChoice> choose_start(const ApplicationRequest& request, const ProfileLibrary::Choice& model,
                                     const std::vector<Offer>& offers, const MayWait& may_wait) const;
    const ProfileLibrary::Choice& choice_for(const std::shared_ptr<Run>& run);
    void count_reservation(const Run& run);
    bool may_reserve(const std::shared_ptr<Run>& run) const;
    Duration latest_reserved_before(const Run& run) const;
    bool take_plan(const std::shared_ptr<Run>& run, StartChoice made);
    void record_promise(const std::shared_ptr<Run>& run, const PartId& id, Duration asked_at, const PartStatus& answer);
    void assess(const std::shared_ptr<Run>& run, const ZoneName& zone, const PartId& id,
                const Result<PartStatus>& answer);
    void penalise(const std::shared_ptr<Run>& run, const ZoneName& zone, const PartId& id, const std::string& words);
    void record_kept(const std::shared_ptr<Run>& run);
    void record_offers(const std::shared_ptr<Run>& run, const std::vector<Offer>& offers);
    void await_start(const std::shared_ptr<Run>& run);
    std::set<ZoneName> zones_in_backoff(const Run& run) const;
    bool may_start_early(const Run& run) const;
    Planned start_early(const std::shared_ptr<Run>& run, const std::vector<Offer>& offers, PassedOver& passed_over);
    void check_ready(const std::shared_ptr<Run>& run);
    bool take_turn(ApplicationStatus& status, ApplicationPart& part, const PartStatus& answer) const;
    static bool is_complete(const ApplicationPart& part, const PartStatus& answer);
    void await_turn(const std::shared_ptr<Run>& run);
    void ask_turn(const std::shared_ptr<Run>& run);
    void ask_elsewhere(const std::shared_ptr<Run>& run);
    void wait_on(const std::shared_ptr<Run>& run);
    void hold(const std::shared_ptr<Run>& run);
    void commit(const std::shared_ptr<Run>& run);
    void claim_files();
    Result<void> check_staging(const Caller& caller, const Staging& staging);
    bool is_staged(const std::shared_ptr<Run>& run) const;
    bool is_unwanted(const std::shared_ptr<Run>& run);
    void stage(const std::shared_ptr<Run>& run);
    bool takes_results(const std::shared_ptr<Run>& run);
    void bring_results(const std::shared_ptr<Run>& run);
    void start_coordinator(const std::shared_ptr<Run>& run);
    void await_coordinator(const std::shared_ptr<Run>& run);
    void launch_parts(const std::shared_ptr<Run>& run, const mpich::Options& options);
    struct PartLaunch;
    void launch_part(const std::shared_ptr<PartLaunch>& launch);
    void launch_answered(const std::shared_ptr<PartLaunch>& launch, const Result<PartStatus>& answer);
    static bool is_gated(const Run& run);
    void launcher_ended(const std::shared_ptr<Run>& run, const StepStatus& end);
    void await_proxies(const std::shared_ptr<Run>& run);
    ZoneName suspect(const Run& run) const;
    void launch_failed(const std::shared_ptr<Run>& run, const ZoneName& zone, const std::string& reason);
    void end_launch(const std::shared_ptr<Run>& run);
    void begin_to_run(const std::shared_ptr<Run>& run);
    void watch(const std::shared_ptr<Run>& run);
    void stop_at_output_limit(const std::shared_ptr<Run>& run);
    void stop_deserted_launcher(const std::shared_ptr<Run>& run);
    void poll_parts(const std::shared_ptr<Run>& run);
    void stop(const std::shared_ptr<Run>& run, const std::string& reason);
    void stop_everything(const std::shared_ptr<Run>& run);
    void stop_part(const std::shared_ptr<Run>& run, const ZoneName& zone, const PartId& id);
    void end_launcher(const std::shared_ptr<Run>& run);
    void ask_how_it_ended(const std::shared_ptr<Run>& run);
    std::optional<ProfileId> store_profile(const std::shared_ptr<Run>& run, ApplicationState end);
    void finish(const std::shared_ptr<Run>& run);
    void plan_again(const std::shared_ptr<Run>& run, const ZoneName& zone, const std::string& reason);
    void release(const std::shared_ptr<Run>& run);
    void release_later(const std::shared_ptr<Run>& run);

    const ApplicationPorts ports_;
    ProfileLibrary profiles_;
    Rng jitter_;
    ZoneBackoff backoff_;
    ZoneOffers zones_;
    std::map<ApplicationId, std::shared_ptr<Run>> runs_;  ///< those with something left to do
    std::set<ApplicationId> reserved_;                    ///< those that wait for a start
    std::map<std::string, int> unfinished_;               ///< by owner's URI
    /// By priority, the highest first, then by submission: who waits for a plan.
    using Turn = std::tuple<int, Time, ApplicationId>;
    static Turn turn_of(const Run& run);
    std::map<Turn, std::shared_ptr<Run>> waiting_;
    std::optional<Turn> asked_last_;     ///< of those that are asked about in turns
    std::optional<Duration> cycle_due_;  ///< steady time: a timer for it is set
    Duration rests_until_{};             ///< steady time: no cycle begins before
    bool is_asking_ = false;             ///< a cycle waits for the answers of zones
    int planning_ = 0;                   ///< applications whose zones have not answered all holds
    Duration admitted_at_{};             ///< steady time: the last of these
};

}  // namespace zbs
