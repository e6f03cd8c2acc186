#pragma once
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "algorithms/base/rng.hpp"
#include "services/common/failpoint/points.hpp"
#include "services/common/ports/clock.hpp"
#include "services/common/ports/executor.hpp"
#include "services/common/ports/log.hpp"
#include "services/common/ports/zone_store.hpp"
#include "services/common/ports/zone_transport.hpp"
#include "services/zone_scheduler/domain/mpich.hpp"
#include "services/zone_scheduler/domain/planner.hpp"
#include "services/zone_scheduler/domain/zone_config.hpp"

namespace zbs {

class PeerService;
class DelegationService;

/// The zone as home: takes applications of its own users from `accepted` to an end state. Every change of state is
/// stored before the next outside step, so that a restart goes on where it stopped. Lives on the domain's strand.
///
///   accepted -> planned -> held -> committed -> launching -> running -> completed | failed | cancelled
///        ^________________________| a zone refuses, times out or lets a hold go: release, plan again without it
///
/// All or nothing: unless every part holds, commits and starts, every part is given back.
class ApplicationService {
  public:
    ApplicationService(const ZoneConfig& config, Clock& clock, IdSource& ids, ZoneStore& store, Executor& executor,
                       ZoneTransport& transport, PeerService& peers, Log& log);
    /// Takes up what the store holds. Errors: the store's.
    Result<void> resume();

    /// Same id and request again: the same application. Errors: kUnauthenticated/kDenied for others than own users;
    /// kIdReused; kInvalidArgument (unknown mapper); kTooManyRequests.
    Result<Application> submit(const Caller& caller, const ApplicationRequest& request);
    /// The plan that `submit` would start with; changes nothing.
    void dry_run(const Caller& caller, const ApplicationRequest& request, Respond<ApplicationPlan> respond);
    /// kNotFound also for other users' applications.
    /// Valid until the strand is left.
    Result<const Application*> find(const Caller& caller, const ApplicationId& id) const;
    std::vector<const Application*> list(const Caller& caller) const;  ///< newest first; valid until the strand is left
    /// Whose it is; none where there is none.
    std::optional<Caller> owner_of(const ApplicationId& id) const;
    Result<Application> cancel(const Caller& caller, const ApplicationId& id);

    /// A piece of one rank's output. `rank` -1 is the launcher's own. Errors: kNotFound.
    struct LogChunk {
        std::string bytes;
        bool complete = false;  ///< nothing will follow
    };
    Result<LogChunk> log(const Caller& caller, const ApplicationId& id, int rank, bool error_stream,
                         std::uint64_t offset, std::size_t limit) const;

    /// What output there is: only streams that hold something, by rank; `rank` -1 is the launcher.
    struct LogFile {
        int rank = 0;
        bool error_stream = false;
        std::uint64_t bytes = 0;
    };
    struct LogIndex {
        std::vector<LogFile> files;
        bool complete = false;  ///< nothing will follow
    };
    Result<LogIndex> logs(const Caller& caller, const ApplicationId& id) const;

    /// Where users' delegations are, to show them to zones of other organisations; without it none is shown.
    void use_delegations(DelegationService& delegations) { delegations_ = &delegations; }
    /// What to tell other zones of a user's groups; default none.
    void use_groups(std::function<std::vector<std::string>(const Caller&)> groups_of) {
        groups_of_ = std::move(groups_of);
    }

    /// Whose applications end; default nobody's.
    void use_blocks(std::function<bool(const Caller&)> is_blocked) { is_blocked_ = std::move(is_blocked); }

    /// The local account that a user's launcher runs as; without it the zone's own.
    using AccountOf = std::function<Result<std::string>(const Caller&)>;
    void use_accounts(AccountOf account_of) { account_of_ = std::move(account_of); }

  private:
    struct Run;
    using Step = void (ApplicationService::*)(const std::shared_ptr<Run>&);

    void advance(const std::shared_ptr<Run>& run);
    bool cancel_if_blocked(const std::shared_ptr<Run>& run);
    std::string why_cancelled(const std::shared_ptr<Run>& run) const;
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

    struct ModelChoice {
        std::optional<ApplicationModel> model;
        std::string source = "none";
    };
    ModelChoice choose_model(const Caller& owner, const ApplicationRequest& request);
    void collect_offers(const Caller& owner, const ApplicationRequest& request, const std::set<std::string>& excluded,
                        std::function<void(std::vector<Offer>)> done);
    void plan(const std::shared_ptr<Run>& run);
    void hold(const std::shared_ptr<Run>& run);
    void commit(const std::shared_ptr<Run>& run);
    void start_coordinator(const std::shared_ptr<Run>& run);
    void await_coordinator(const std::shared_ptr<Run>& run);
    void launch_parts(const std::shared_ptr<Run>& run, const mpich::Options& options);
    void watch(const std::shared_ptr<Run>& run);
    void stop_deserted_launcher(const std::shared_ptr<Run>& run);
    void poll_parts(const std::shared_ptr<Run>& run);
    void stop(const std::shared_ptr<Run>& run, const std::string& reason);
    void stop_everything(const std::shared_ptr<Run>& run);
    void collect_profile(const std::shared_ptr<Run>& run);
    void finish(const std::shared_ptr<Run>& run);
    void plan_again(const std::shared_ptr<Run>& run, const std::string& zone, const std::string& reason);
    void release(const std::shared_ptr<Run>& run);
    ServiceAddress own_address() const;
    ServiceAddress address_of(const std::string& zone) const;
    std::vector<mpich::ProxyPlan> proxies_of(const Application& application) const;

    const ZoneConfig& config_;
    Clock& clock_;
    IdSource& ids_;
    ZoneStore& store_;
    Executor& executor_;
    ZoneTransport& transport_;
    PeerService& peers_;
    DelegationService* delegations_ = nullptr;
    AccountOf account_of_;
    std::function<bool(const Caller&)> is_blocked_ = [](const Caller&) { return false; };
    std::function<std::vector<std::string>(const Caller&)> groups_of_ = [](const Caller&) {
        return std::vector<std::string>{};
    };
    Log& log_;
    Rng jitter_;
    std::map<ApplicationId, std::shared_ptr<Run>> runs_;
};

}  // namespace zbs
