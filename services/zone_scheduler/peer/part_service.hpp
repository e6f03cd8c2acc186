#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/queue/zone_queue.hpp"
#include "services/common/ports/clock.hpp"
#include "services/common/ports/executor.hpp"
#include "services/common/ports/log.hpp"
#include "services/common/ports/slice_sink.hpp"
#include "services/common/ports/storage/zone_store.hpp"
#include "services/zone_scheduler/peer/part_allocations.hpp"
#include "services/zone_scheduler/peer/part_results.hpp"
#include "services/zone_scheduler/peer/part_staging.hpp"
#include "services/zone_scheduler/peer/processor_ledger.hpp"
#include "services/zone_scheduler/peer/time_sharing.hpp"
#include "services/zone_scheduler/records/file_library.hpp"
#include "services/zone_scheduler/records/zone_config.hpp"
#include "services/zone_scheduler/records/zone_observer.hpp"
#include "services/zone_scheduler/trust/authorization_filter.hpp"
#include "services/zone_scheduler/trust/peering_service.hpp"

namespace zbs {

/// The zone as a peer: says what it can give, holds processors for a part, commits, launches, watches and releases it.
/// Owns the processors: no processor is promised twice. Lives on the domain's strand; every answer is stored first.
///
/// States: `kPartTransitions` (services/common/messages/states.hpp). A hold expires by itself; a committed part that is
/// not launched within the launch window is released; a running part ends with its processes or at its walltime, never
/// because its home is silent.
///
/// A part starts as soon as its home wishes, or is reserved for a later start. Either way its processors are promised
/// from its start to the last instant at which it can end: latest launch, walltime, grace, and what it takes to stop.
///
/// Or it waits in the zone's queue, where there is one: held and committed, but without processors, until the queue
/// discipline gives it some. Then its home has as long to commit or to launch as for a hold at once.
class PartService {
  public:
    /// Turns the text of a model file into a model (the domain knows no JSON).
    using DecodeModel = std::function<Result<ApplicationModel>(std::string_view)>;

    PartService(const ZoneConfig& config, Clock& clock, ZoneStore& store, Executor& executor, PeeringService& peerings,
                AuthorizationFilter& filter, Log& log, DecodeModel decode);
    /// How the delegation that comes with another organisation's part is judged, and whether one must come; without
    /// this none is needed.
    using CheckDelegation = std::function<Result<void>(const PartRequest&, bool required)>;
    void require_delegations(CheckDelegation check) { check_delegation_ = std::move(check); }
    /// Whether processes here may be made to connect to a host that a zone of another organisation names; default yes.
    void use_address_check(std::function<Result<void>(const std::string& host)> check) {
        check_address_ = std::move(check);
    }
    /// The link to another zone as capacities announce it; default the declared or assumed one of the configuration.
    void use_links(std::function<Link(const ZoneName& zone)> link_to) { link_to_ = std::move(link_to); }
    /// Between machines of the zone; without it what the configuration says.
    void use_link_within(std::function<Link()> link_within) { link_within_ = std::move(link_within); }
    /// Whose work is stopped and refused; default nobody's.
    void use_blocks(std::function<bool(const Caller&)> is_blocked) { is_blocked_ = std::move(is_blocked); }
    /// While it returns true, no new part is held, and the capacity is that of a zone without a free processor.
    void use_drain(std::function<bool()> drains) { drains_ = std::move(drains); }
    /// The site's own scheduler, that is asked for the processors of each part; without this they are the zone's own.
    /// Before `resume`.
    void use_allocations(Allocations& source);
    /// Where files of users are; without this the zone takes none.
    void use_files(FileLibrary& files);
    /// How to see, again and again, what the machines have for parts; without this they are as configured.
    void use_machines(MachineUsageSource look, Duration every) {
        machine_usage_ = std::move(look);
        check_interval_ = every;
    }
    /// How parts share processors now: by "turns", "nice levels" or "weights"; empty where each has its own.
    std::string sharing_mode() const { return sharing_.mode(); }
    /// Receives the slices of the machines, in a zone of several slots.
    void use_slices(SliceSink& slices) { sharing_.use(slices); }
    /// Receives events of parts and decisions of the queue; default nobody.
    void use_observer(ZoneObserver& observer) { observer_ = &observer; }
    /// Takes up what the store holds: holds get their full time again, running parts are found again. Errors: the
    /// store's.
    Result<void> resume();
    /// The discipline of the queue from now on, as `queue_discipline` reads it; empty: nobody can wait here. Those who
    /// wait stay in any case. Errors, nothing changed: `queue_discipline`'s.
    Result<void> use_queue(const std::string& discipline);
    /// `observer` receives all that happens to the queue from now on. To be set before `use_queue` and `resume`.
    void observe_queue(ZoneQueue::Observer observer) { queue_.observe(std::move(observer)); }
    void restate_queue() const { queue_.restate(); }

    /// Errors: kDenied for a zone whose organisation is not accepted, or that asks for another organisation's user.
    Result<Capacity> capacity(const Caller& caller, const CapacityRequest& request);
    /// Errors: kDenied; kInvalidArgument for an id that is not the caller's; kIdReused; kRejected where it does not fit
    /// now: one answer for all reasons, except toward zones of the own organisation; kInvalidArgument for a start too
    /// far ahead; kConflict for a part to replace that runs.
    Result<PartStatus> hold(const Caller& caller, const PartRequest& request);
    using Respond = std::function<void(Result<PartStatus>)>;
    /// Answers once it is settled whether a hold is one: at once, or when the site's scheduler has granted its
    /// processors or not (then `hold`'s kRejected). Only then may the hold be reported to a home.
    void when_settled(const Caller& caller, const PartId& id, Respond respond);
    /// Begins what it does by itself.
    void start();
    Result<PartStatus> commit(const Caller& caller, const PartId& id, std::uint64_t token);
    Result<PartStatus> launch(const Caller& caller, const PartId& id, const LaunchRequest& request);
    Result<PartStatus> status(const Caller& caller, const PartId& id) const;
    Result<PartStatus> release(const Caller& caller, const PartId& id, const std::string& reason);
    /// The model that rank 0 left here, else what the ranks of this part left. kNotFound where there is none.
    Result<ApplicationModel> profile(const Caller& caller, const PartId& id) const;

    /// Files that a committed part gets before its launch; home says it again while it sends, and each time the launch
    /// window begins anew, for `StagingConfig::window` at most. Errors: kConflict (token, state, other files than
    /// before); kRejected, kTooLarge where this zone does not take them.
    Result<StagingStatus> stage(const Caller& caller, const PartId& id, const StagingRequest& request);
    /// A piece of one of them. Errors: as `stage`; kInvalidArgument for a file that was not announced;
    /// `FileLibrary::put`'s.
    Result<FilePresence> put_file(const Caller& caller, const PartId& id, const std::string& digest,
                                  const FileChunk& chunk);
    /// What a part that has ended left of what its patterns ask for: regular files of the job's own. The first question
    /// makes the zone lay it aside, a piece at a time; until then it is not complete.
    Result<StagedResults> results(const Caller& caller, const PartId& id);
    Result<FileChunk> result(const Caller& caller, const PartId& id, const std::string& name, std::uint64_t offset);

    /// The zone that holds the part, or held it; none where there is none. Errors: the store's.
    Result<std::optional<Caller>> home_of(const PartId& id) const;
    int free_processors() const { return ledger_.free_processors(queue_.calendar(), clock_.steady_now()); }
    /// What the organisation has held, committed or running here.
    PeeringUsage usage_of(const OrganisationName& organisation) const;
    using NodeView = ProcessorLedger::NodeView;
    std::vector<NodeView> nodes() const { return ledger_.nodes(queue_.calendar(), clock_.steady_now()); }
    using Use = ProcessorLedger::Use;
    Use use() const;                                             ///< cost: in proportion to processors and parts
    std::size_t waiting_parts() const { return queue_.size(); }  ///< in the queue, without processors
    std::vector<const PartRecord*> parts() const;                ///< those not ended; valid until the strand is left
    /// Those that were launched here and ended after `time`, the last one first.
    /// Errors: the store's.
    Result<std::vector<PartRecord>> ended_since(Time time, std::size_t limit) const;
    /// The outlook of a part that waits in the queue, as this zone's own users receive it; none of others.
    std::optional<QueueOutlook> outlook_inside(const PartRecord& part) const;
    /// Row of the slice matrix that the part lies in, 0 to `slice_count()` - 1. None where processors are not shared,
    /// or it has none yet.
    std::optional<int> slice_of(const PartRecord& part) const;
    int slice_count() const { return config_.slots; }  ///< rows of the matrix; 1: processors are not shared
    /// When its processors are promised to a part that has not ended, in steady time.
    ProcessorCalendar::Interval promise_of(const PartId& id) const;

  private:
    struct ActivePart {
        PartRecord record;
        Duration deadline{};               ///< steady time: end of hold or of launch window
        Duration start{};                  ///< steady time: of a reservation, or of what runs
        std::optional<Outlook> outlook{};  ///< of what waits in the queue
        bool stopping = false;             ///< final once all processes are gone
        bool not_started = false;          ///< by a fault of this zone
        bool stop_asked = false;           ///< by home; else it stops because it failed
        Duration grace{};                  ///< that its stop gives
        std::string stop_reason;
        std::vector<Respond> waiting;             ///< for the site's scheduler
        bool judging = false;                     ///< that one is asked why its processes have ended
        bool finishing = false;                   ///< it is being given back
        bool finished = false;                    ///< nothing of it is left there
        bool has_inputs = false;                  ///< its machines with agents have them
        std::optional<Duration> staging_since{};  ///< steady time of the first word about files, or of the start
    };

    Result<std::shared_ptr<ActivePart>> find_to_stage(const Caller& caller, const PartId& id, std::uint64_t token);
    Error refuse_files(const Caller& caller, const Error& error) const;
    void renew_window(ActivePart& part);
    Duration latest_launch(const ActivePart& part, Duration wanted) const;
    bool is_blocked(const PartRecord& record) const {
        return is_blocked_(record.request.user) || is_blocked_(record.home_caller);
    }
    void stop_blocked(ActivePart& part);
    std::string why_not_begun(const PartRecord& record) const;
    static bool is_reserved(const PartRecord& record);
    /// It waits for processors.
    static bool is_queued(const PartRecord& record);
    void enqueue(const ActivePart& part);
    void run_queue();
    void give_up_hopeless();
    UsableProcessors usable_by_waiting();
    ProcessorSet usable_by(const PartRecord& record);
    bool give_processors(ActivePart& part, Duration decided);
    QueueOutlook outlook_of(const ActivePart& part) const;
    QueueOutlook whole_outlook(const ActivePart& part) const;
    bool is_ready(const ActivePart& part) const;
    /// Of a part that would be held now: all that it may need.
    ProcessorCalendar::Interval interval_of(Duration start_in, Duration walltime, Duration grace) const;
    Duration grace_of(Duration asked) const;  ///< as far as the zone gives it
    /// From its launch to the last instant at which it can end.
    Duration longest_run(const PartRecord& record) const;
    ProcessorCalendar::Promise promise(const ActivePart& part) const;
    void promise_anew(const ActivePart& part);
    ProcessorLedger::Promised promised(const ProcessorCalendar::Interval& when, std::set<PartId> without,
                                       bool by_estimate = false) const;
    Result<ProcessorLedger::Placement> place(const PartRequest& request, const ProcessorSet& usable) const;
    std::optional<StepWork> work_of(const PartRecord& record) const;
    std::vector<const PartRecord*> running_parts() const;
    void ask_allocation(ActivePart& part);
    void take_grant(const PartId& id, const Result<void>& granted);
    void end_if_lost(ActivePart& part);
    bool is_finished(ActivePart& part);
    void refresh_machines();
    void check_again();
    Error refusal(const Caller& home, const std::string& why) const;
    void promise_overruns();
    void learn(const ActivePart& part);
    PeeringUsage usage_in(const OrganisationName& organisation, const ProcessorCalendar::Interval& when,
                          const std::set<PartId>& without, bool by_estimate) const;
    struct Question;
    StartWindow count_free(const Question& question, Duration start, bool by_estimate) const;
    std::vector<StartWindow> find_windows(const Question& question, int free_now) const;
    std::set<PartId> parts_of(const Caller& home, const std::optional<ApplicationId>& application) const;
    Result<std::shared_ptr<ActivePart>> find_replaced(const Caller& caller, const PartRequest& request);
    Result<void> check_caller(const Caller& caller, const Caller& user) const;
    /// What has ended comes from the store, and a change of it changes nothing. Errors: kNotFound; the store's.
    Result<std::shared_ptr<ActivePart>> find(const Caller& caller, const PartId& id) const;
    Result<std::shared_ptr<ActivePart>> find(const PartId& id) const;  ///< null where there is none
    /// As its home may see it: `outside_view` for other organisations.
    PartStatus view(const ActivePart& part) const;
    /// An error as the caller may see it: causes inside of the zone go to the log only.
    Error redact_for(const Caller& caller, const Error& error) const;
    Result<void> save(ActivePart& part, PartRecord changed, PartState state, const std::string& reason);
    void record_end(const ActivePart& part, PartState was);
    void give_back(const ActivePart& part);
    void stop_steps(ActivePart& part, const std::string& reason, Duration grace);
    Result<void> check_launcher(const Caller& caller, const LaunchRequest& request);
    Result<StepSpec> proxy_step(const PartRecord& record, const LaunchRequest& request, std::size_t i,
                                std::vector<std::string> command);
    std::vector<StepId> steps_of(const PartRecord& record) const;
    std::map<MachineName, StepId> profile_steps(const PartRecord& record) const;
    std::string where_ranks_are(const ActivePart& part) const;
    void place_steps(const PartRecord& record);
    void watch();
    void check_deadlines();
    Result<void> end_if_over(ActivePart& part);
    void check_running(ActivePart& part);
    std::optional<RankEnd> first_end(const PartRecord& record) const;

    const ZoneConfig& config_;
    Clock& clock_;
    ZoneStore& store_;
    Executor& executor_;
    PeeringService& peerings_;
    AuthorizationFilter& filter_;
    Log& log_;
    DecodeModel decode_;
    ZoneObserver* observer_ = &no_observer();
    CheckDelegation check_delegation_;
    std::function<Result<void>(const std::string&)> check_address_ = [](const std::string&) { return Result<void>{}; };
    std::function<Link(const ZoneName&)> link_to_;
    std::function<Link()> link_within_ = [this] { return config_.zone.within_zone; };
    std::function<bool(const Caller&)> is_blocked_ = [](const Caller&) { return false; };
    std::function<bool()> drains_ = [] { return false; };
    std::map<PartId, std::shared_ptr<ActivePart>> parts_;  ///< those that have not ended
    ZoneQueue queue_;                                      ///< what is promised to them, and who waits
    ProcessorLedger ledger_;                               ///< which of them are free, and where a part lies
    TimeSharing sharing_;
    PartAllocations allocations_;
    PartStaging staging_;
    PartResults results_;
    bool is_checking_ = false;  ///< at the machines
    MachineUsageSource machine_usage_;
    Duration check_interval_{};
    bool has_queue_ = false;
    bool queue_changed_ = false;  ///< since the last decision
    Duration decided_{};          ///< steady time of the last decision
    Duration rest_{};             ///< until the next one
    double used_share_ = 1;       ///< of their walltime, that parts ran lately; 1 = nothing is known
    bool watching_ = false;
};

}  // namespace zbs
