#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "services/common/ports/clock.hpp"
#include "services/common/ports/executor.hpp"
#include "services/common/ports/log.hpp"
#include "services/common/ports/slice_sink.hpp"
#include "services/common/ports/storage/part_store.hpp"
#include "services/zone_scheduler/peer/part_allocations.hpp"
#include "services/zone_scheduler/peer/part_offers.hpp"
#include "services/zone_scheduler/peer/part_queue.hpp"
#include "services/zone_scheduler/peer/part_results.hpp"
#include "services/zone_scheduler/peer/part_runner.hpp"
#include "services/zone_scheduler/peer/part_staging.hpp"
#include "services/zone_scheduler/peer/part_table.hpp"
#include "services/zone_scheduler/peer/time_sharing.hpp"
#include "services/zone_scheduler/records/file_library.hpp"
#include "services/zone_scheduler/records/zone_config.hpp"
#include "services/zone_scheduler/records/zone_observer.hpp"
#include "services/zone_scheduler/trust/authorization_filter.hpp"
#include "services/zone_scheduler/trust/peering_service.hpp"

namespace zbs {

class PartService;

/// What a zone works with as a peer; all must outlive it. What is left out: as where there is nothing of the kind.
struct PartPorts {
    std::reference_wrapper<const ZoneConfig> config;
    Clock& clock;
    PartStore& store;
    Executor& executor;
    PeeringService& peerings;
    AuthorizationFilter& filter;
    Log& log;
    PartRunner::DecodeModel decode;
    ZoneObserver& observer = no_observer();  ///< receives events of parts and decisions of the queue
    ZoneQueue::Observer queue_observer{};    ///< receives all that happens to the queue
    /// In place of it where partitions have their own: by partition.
    std::function<ZoneQueue::Observer(const std::string& partition)> queue_observer_of{};
    part::Observer part_observer{};  ///< receives each new part, and each step that changes one or fails
    FileLibrary* files = nullptr;    ///< where files of users are; null: the zone takes none
    /// The site's own scheduler, that is asked for the processors of each part; null: they are the zone's own.
    Allocations* allocations = nullptr;
    SliceSink* slices = nullptr;  ///< receives the slices of the machines, in a zone of several slots
    /// What the machines have for parts, asked for again and again; empty: as configured, or as `allocations` says.
    MachineUsageSource machines{};
    Duration machines_every{};
    /// How the delegation that comes with another organisation's part is judged, and whether one must come.
    std::function<Result<void>(const PartRequest&, bool required)> check_delegation = [](const PartRequest&, bool) {
        return Result<void>{};
    };
    /// Whether processes here may be made to connect to a host that a zone of another organisation names.
    std::function<Result<void>(const std::string& host)> check_address = [](const std::string&) {
        return Result<void>{};
    };
    /// The link to another zone as capacities announce it; empty: the declared or assumed one of the configuration.
    std::function<Link(const ZoneName& zone)> link_to{};
    std::function<Link()> link_within{};  ///< between machines of the zone; empty: what the configuration says
    std::function<bool(const Caller&)> is_blocked = [](const Caller&) { return false; };  ///< their work is stopped
    /// While it returns true, no new part is held, and the capacity is that of a zone without a free processor.
    std::function<bool()> drains = [] { return false; };
    std::string partition{};                          ///< the one of `config`, as `PartRecord::partition`
    std::vector<const PartTable*>* tables = nullptr;  ///< of all partitions; null: there is one
    /// Whether a stored part is in this partition; empty: all are.
    std::function<bool(const PartRecord&)> is_here{};
    /// The service that has a part of this zone that has not ended; null where none has. Empty: this one may.
    std::function<PartService*(const PartId&)> owner{};
};

/// The zone as a peer: says what it can give, holds processors for a part, commits, launches, watches and releases it.
/// The shell around the machine `part::step`: it finds the part, checks the caller and its token, stores what a step
/// changes, then performs the effects. Lives on the domain's strand; every answer is stored first.
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
    explicit PartService(PartPorts ports);
    /// Takes up what the store holds: holds get their full time again, running parts are found again. Errors: the
    /// store's.
    Result<void> resume();
    /// Begins what it does by itself.
    void start();
    /// The discipline of the queue from now on; `PartQueue::use`.
    Result<void> use_queue(const std::string& discipline) { return queue_.use(discipline); }
    void restate_queue() { table_.queue().restate(); }
    /// Mapper and slices from now on, as the configuration has them.
    void take_settings() {
        table_.ledger().use_mapper(config_.level_two_mapper);
        sharing_.note_change();
    }
    void restate_parts() const;  ///< to the observer of parts: all that there are now

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
    Result<PartStatus> commit(const Caller& caller, const PartId& id, std::uint64_t token);
    Result<PartStatus> launch(const Caller& caller, const PartId& id, const LaunchRequest& request);
    Result<PartStatus> status(const Caller& caller, const PartId& id) const;
    Result<PartStatus> release(const Caller& caller, const PartId& id, const std::string& reason);
    /// `PartRunner::profile`.
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
    /// Those that were launched here and ended after `time`, the last one first.
    /// Errors: the store's.
    Result<std::vector<PartRecord>> ended_since(Time time, std::size_t limit) const;
    /// The outlook of a part that waits in the queue, as this zone's own users receive it; none of others.
    std::optional<QueueOutlook> outlook_inside(const PartRecord& part) const;
    /// How parts share processors now: by "turns", "nice levels" or "weights"; empty where each has its own.
    std::string sharing_mode() const { return sharing_.mode(); }
    const PartTable& table() const { return table_; }  ///< parts and processors, as they are

  private:
    using Shared = PartTable::Shared;

    /// What has ended comes from the store, and a change of it changes nothing. Errors: kNotFound; the store's.
    Result<Shared> find(const Caller& caller, const PartId& id) const;
    Result<Shared> find(const PartId& id) const;  ///< null where there is none
    /// For what only who holds the part may do now. Errors: kConflict for another token, kDenied for who is blocked.
    Result<Shared> find_to_change(const Caller& caller, const PartId& id, std::uint64_t token);
    Result<Shared> find_to_stage(const Caller& caller, const PartId& id, std::uint64_t token);
    /// The service that has a part that has not ended; this one where none has.
    PartService& owner_of(const PartId& id);
    Result<Shared> find_replaced(const Caller& caller, const PartRequest& request);
    Result<void> check_caller(const Caller& caller, const Caller& user) const;
    Result<void> check_delegation(const Caller& caller, const PartRequest& request);
    Result<void> check_hold(const Caller& caller, const PartRequest& request);
    Result<void> check_launcher(const Caller& caller, const LaunchRequest& request);
    Result<void> check_machines(const PartRecord& record) const;
    bool is_blocked(const PartRecord& record) const;
    bool is_ready(const part::State& part) const;

    /// As its home may see it: `outside_view` for other organisations.
    PartStatus view(const part::State& part) const;
    PartStatus view_failed_launch(const part::State& part) const;
    /// An error as the caller may see it: causes inside of the zone go to the log only.
    Error redact_for(const Caller& caller, const Error& error) const;
    Error refuse_files(const Caller& caller, const Error& error) const;
    Error refusal(const Caller& home, const std::string& why) const;

    part::Now now() const { return {clock_.steady_now(), clock_.now()}; }
    Result<void> apply(const Shared& part, const part::Event& event);
    Result<void> carry_out(const Shared& part, const part::Event* event, part::Now at, part::Step step);
    void try_apply(const Shared& part, const part::Event& event);
    Result<void> perform(const Shared& part, const part::Effect& effect);
    void start_steps(const Shared& part, const LaunchRequest& request);
    void give_back(const Shared& part);
    void look_at(const Shared& part);
    void watch();
    void check_parts();

    Result<ProcessorLedger::Placement> find_place(const PartRequest& request, const Entitlement& entitlement,
                                                  const ProcessorCalendar::Interval& when,
                                                  const std::set<PartId>& without) const;
    Result<void> check_queue(const Caller& caller, const PartRequest& request, const Entitlement& entitlement,
                             bool replaces) const;
    Result<ProcessorLedger::Placement> place(const PartRequest& request, const ProcessorSet& usable,
                                             bool in_slots = false) const;
    bool give_processors(const Shared& part, const ProcessorSet& usable);
    Result<Shared> enter(PartRecord record, const Shared& replaced);

    void ask_allocation(const part::State& part);
    void take_grant(const PartId& id, const Result<void>& granted);
    void end_if_lost(const Shared& part);
    void ask_verdict(const PartId& id);
    void take_verdict(const PartId& id, const std::string& verdict);
    void check_again();
    void refresh_machines();

    const PartPorts ports_;
    const ZoneConfig& config_;
    Clock& clock_;
    PartStore& store_;
    Log& log_;
    PartTable table_;
    TimeSharing sharing_;
    PartAllocations allocations_;
    PartStaging staging_;
    PartResults results_;
    PartRunner runner_;
    PartOffers offers_;
    PartQueue queue_;
    std::map<PartId, std::vector<Respond>> unsettled_;  ///< until the site's scheduler has answered
    bool is_checking_ = false;                          ///< at the machines
    bool watching_ = false;
};

}  // namespace zbs
