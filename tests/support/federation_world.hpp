#pragma once
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "algorithms/base/expects.hpp"
#include "algorithms/base/rng.hpp"
#include "services/zone_scheduler/assembly/zone_domain.hpp"
#include "tests/support/fake_executor.hpp"
#include "tests/support/fake_trust.hpp"
#include "tests/support/memory_depot.hpp"
#include "tests/support/memory_store.hpp"
#include "tests/support/registry_fakes.hpp"
#include "tests/support/silent_log.hpp"
#include "tests/support/virtual_background.hpp"
#include "tests/support/virtual_clock.hpp"

namespace zbs::test {

/// FakeExecutor whose launcher prints one proxy command for each line of its host file, as mpiexec does, and waits for
/// these.
class MpiExecutor : public FakeExecutor {
  public:
    using FakeExecutor::FakeExecutor;
    /// How many proxies of an application have begun in all zones and were not stopped.
    std::function<std::size_t(const std::string& application)> proxies_of;
    bool is_launcher_silent = false;  ///< those that start now never print their proxies
    StepStatus status(const StepId& step_id) override {
        StepStatus status = FakeExecutor::status(step_id);
        const auto step = steps().find(step_id);
        if (step == steps().end() || step->second.spec.proxies == 0) return status;
        const std::string application = step_id.str().substr(4, step_id.str().find('-', 4) - 4);
        if (!connected_.contains(step_id) && proxies_of(application) >= step->second.spec.proxies)
            connected_.insert(step_id);
        status.proxies = connected_.contains(step_id) ? StepStatus::Proxies::kConnected : StepStatus::Proxies::kAwaited;
        return status;
    }
    Result<void> start(const StepSpec& spec) override {
        const bool known = steps().contains(spec.step_id);
        if (auto ok = FakeExecutor::start(spec);
            !ok || known || is_launcher_silent || !spec.step_id.str().starts_with("mpi-"))
            return ok;
        std::string text;
        for (const auto& [name, content] : spec.files) {
            for (const char c : content) {
                if (name == "hosts" && c == '\n')
                    text +=
                        "HYDRA_LAUNCH: /usr/bin/hydra_pmi_proxy --control-port 127.0.0.1:9 --launcher manual --pgid 0 "
                        "--proxy-id 0 \n";
            }
        }
        write(spec.step_id, ".zbs-stdout", text + "HYDRA_LAUNCH_END\n");
        return {};
    }

  private:
    std::set<StepId> connected_;  // launchers
};

/// Zones of one organisation each, in one thread on a virtual clock; messages go over a bus with delay, loss and cuts.
/// What a zone keeps (store, steps) survives `crash`; the services do not.
class FederationWorld {
  public:
    struct Node {
        ZoneConfig config;
        MemoryZoneStore store;
        MemorySiteStore site;
        FakeTrust trust;  ///< knows every zone's bundle
        std::unique_ptr<FakeKeys> keys;
        std::unique_ptr<MpiExecutor> executor;
        MemoryDepot depot;
        std::unique_ptr<FileLibrary> files;
        SilentLog log;
        ZoneQueue::Observer queue_observer;                                                  ///< from the next start on
        std::function<ZoneQueue::Observer(const std::string& partition)> queue_observer_of;  ///< likewise
        part::Observer part_observer;                                                        ///< likewise
        ApplicationObserver application_observer;                                            ///< likewise
        std::unique_ptr<Clock> clock;  ///< the common one, but timers of a crashed service never fire
        std::unique_ptr<VirtualBackground> background;
        std::unique_ptr<ZoneTransport> transport;
        CountingSecrets secrets;
        std::unique_ptr<ZoneDomain> domain;  ///< as the program builds it; the rooms below are its
        PeeringService* peerings = nullptr;
        AuthorizationFilter* filter = nullptr;
        PartService* parts = nullptr;
        PeerService* peers = nullptr;
        ApplicationService* applications = nullptr;
        std::function<bool()> drains = [] { return false; };
        std::function<void(DomainPorts&)> adjust;  ///< what else the domain stands on, from the next start on
        bool up = false;
        ZoneStanding standing = ZoneStanding::kActive;  ///< as the registry would list it
    };

    VirtualClock clock;
    CountingIds ids;
    Rng rng{1};
    bool has_registry = true;                           ///< false: zones are not listed any more
    double loss = 0;                                    ///< of each message, each way
    std::set<std::pair<std::string, std::string>> cut;  ///< from, to: nothing gets through
    std::function<void(const std::string& from, const std::string& to, const char* what)> on_message;
    /// Makes a liar of zone `from`: changes what it answers about a part, after it has done what it was asked.
    std::function<void(const std::string& from, const std::string& what, Result<PartStatus>& answer)> bend;
    /// How much longer an answer takes on its way back than others.
    std::function<Duration(const std::string& from, const std::string& what)> answer_delay;
    struct Conduct {
        OrganisationName organisation;
        TrustEvent what{};
        bool operator==(const Conduct&) const = default;
    };
    std::vector<Conduct> conduct;  ///< what homes have noted of others, in order

    /// The rule that accepts these organisations without limits.
    static AutomaticRule accept_all(std::vector<std::string> organisations);

    enum class Looking { kAll, kFirst };
    /// `homes`: whose users all zones take. `looking`: which zones look for others; with thousands, all would take
    /// long.
    explicit FederationWorld(std::vector<int> processors, std::vector<std::string> homes = {"org-a"},
                             Looking looking = Looking::kAll);
    ~FederationWorld();
    /// One that is not started yet, `restart` does; alone with those that are added so, without a registry.
    Node& add(ZoneConfig config);
    Node& node(const std::string& name) { return *nodes_.at(name); }
    /// As an operator of that zone does; an own user is revoked.
    void block(const std::string& zone, const Caller& subject) {
        ZBS_EXPECTS(node(zone).domain->membership.block(to_uri(subject), "in a test", {}).has_value());
    }
    void crash(const std::string& name);
    void restart(const std::string& name);
    /// `restart` where the stores may hold what cannot be. Errors: of `ZoneDomain::resume`.
    Result<void> try_restart(const std::string& name);
    void run(Duration time) { clock.advance(time); }
    /// Until `done`, which is looked at each second, at most `most`; and ten seconds more, so that messages that are on
    /// their way then arrive.
    template <class Done>
    void run_until(Duration most, Done done) {
        for (Duration ran{}; ran < most && !done(); ran += std::chrono::seconds{1}) run(std::chrono::seconds{1});
        run(std::chrono::seconds{10});
    }

    /// For hours in which zones need not find each other: half of the work of an idle zone.
    void look_rarely() {
        for (auto& [name, node] : nodes_) node->config.discover_every = std::chrono::hours{1};
    }

    static Caller user() { return {CallerKind::kUser, "org-a", "ana"}; }
    ApplicationRequest request(int ranks, const Caller& owner = user()) {
        ApplicationRequest r{
            .id = ApplicationId{ids.fresh(owner)}, .ranks = ranks, .argv = {"/bin/app"}, .directory = "/tmp"};
        r.walltime = std::chrono::minutes{10};
        return r;
    }
    ApplicationStatus status(const ApplicationId& id) {
        return node("a").applications->find(user(), id).value()->status;
    }
    int held() {
        int n = 0;
        for (auto& [name, node] : nodes_) {
            if (node->up)
                n += static_cast<int>(node->config.zone.processor_count()) - node->parts->table().free_processors();
        }
        return n;
    }
    int running_steps() {
        int n = 0;
        for (auto& [name, node] : nodes_) n += node->executor->running();
        return n;
    }

  private:
    class Bus;
    /// In place of the registry: all zones, again and again.
    void check_around(const std::string& name, int generation);
    class LifeClock;
    Looking looking_ = Looking::kAll;
    std::vector<std::shared_ptr<void>>
        graveyard_;  ///< services of crashed zones: unreachable, but timers hold their addresses
    std::map<std::string, std::unique_ptr<Node>> nodes_;
    std::map<std::string, int> generation_;
};

}  // namespace zbs::test
