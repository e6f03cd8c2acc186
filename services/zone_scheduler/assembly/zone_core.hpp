#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "services/common/http/decision_log.hpp"
#include "services/common/http/router.hpp"
#include "services/common/ports/storage/site_store.hpp"
#include "services/common/ports/trust.hpp"
#include "services/zone_scheduler/assembly/commit_barrier.hpp"
#include "services/zone_scheduler/assembly/metered.hpp"
#include "services/zone_scheduler/assembly/zone_domain.hpp"
#include "services/zone_scheduler/assembly/zone_metrics.hpp"
#include "services/zone_scheduler/http/event_feed.hpp"
#include "services/zone_scheduler/http/gate.hpp"
#include "services/zone_scheduler/http/zone_routes.hpp"
#include "services/zone_scheduler/records/retention.hpp"
#include "services/zone_scheduler/trust/trust_exchange.hpp"

namespace zbs {

/// What a zone stands on. All of it must outlive the zone.
struct ZonePorts {
    Clock& clock;
    BackgroundWork& background;
    IdSource& ids;
    ZoneStore& store;
    SiteStore& site;
    Journal& journal;  ///< of both stores
    Executor& executor;
    FileDepot& depot;
    Allocations* allocations = nullptr;  ///< of the site's own scheduler; null: the machines are the zone's own
    SliceSink* slices = nullptr;         ///< where parts take turns; null: they do not
    NodeLinkSensor::Ask probe_node{};    ///< how an agent is made to probe another; empty: machines have none
    HttpClient& client;
    std::function<void(std::function<void()>)> post;  ///< puts work on the domain's strand; from any thread
    TrustBundles& trust;
    const OwnKeys* keys;  ///< null: a zone without certificates, alone on loopback
    Secrets& secrets;
    AuditLog& audit;
    Log& log;
    /// The storage has failed: nothing gets out any more, and the process should end.
    std::function<void(const Error&)> storage_failed;
    /// By partition: receives all that happens to its queue; empty: nobody does.
    std::function<ZoneQueue::Observer(const std::string& partition)> queue_observer_of{};
    part::Observer part_observer{};              ///< receives all steps of parts; likewise
    ApplicationObserver application_observer{};  ///< and of applications
    /// Whether jobs may be made to connect to a host that another organisation names; empty: nobody looks.
    std::function<Result<void>(const std::string& host)> check_address{};
    ZoneResources resources{};
    std::function<void()> forget_registry_code{};  ///< called once the code to enrol with was used
    /// Whether jobs may run as an account of the host; empty: nobody looks.
    std::function<Result<void>(const AccountName&)> check_account{};
    ProfileLibrary::DigestOf program_digest{};  ///< of a program's file; empty: programs are known by their paths
};

/// A whole zone without its edges: the domain's services, wired to each other, and the routes to them. The program
/// gives it sockets, a disk and processes; the simulated world gives it others. Lives on the domain's strand.
class ZoneCore {
    /// Forwards each event to the metrics and to the log of events.
    struct Observers : ZoneObserver {
        Observers(ZoneMetrics& m, EventLog& e) : metrics(m), events(e) {}
        void application_entered(const Application& application) override {
            metrics.application_entered(application);
            events.application_entered(application);
        }
        void part_entered(const PartRecord& part) override {
            metrics.part_entered(part);
            events.part_entered(part);
        }
        void cycle_took(Cycle cycle, Duration took) override { metrics.cycle_took(cycle, took); }
        ZoneMetrics& metrics;
        EventLog& events;
    };

  public:
    /// `config` is looked at for as long as the zone lives. `contract`: text of the OpenAPI document.
    ZoneCore(const ZoneConfig& config, ZonePorts ports, std::string contract);

    /// Takes up what the stores hold. Errors: the stores'; then nothing may be served.
    Result<void> resume();
    /// Begins what the zone does by itself: registry, trust of others, decisions on record.
    void start();
    /// How much of a call's body is read before it is served; from any thread.
    std::optional<std::size_t> body_limit(const http::Call& head) const { return router_.body_limit(head); }
    /// Answers a call, once.
    void serve(http::Call call, http::Respond respond);
    /// Deregisters at the registry and stores the state that is kept back; an orderly stop.
    void leave();
    /// Makes durable what is not; for the end of an orderly stop.
    Result<void> commit();

    // What an operator changes while the zone runs, and where it is on record.
    AuditLog& audit() { return ports_.audit; }
    void set_rules(std::vector<AutomaticRule> rules) { domain_.peerings.set_rules(std::move(rules)); }
    void set_asks(std::vector<AskedOrganisation> asks) { domain_.peers.set_asks(std::move(asks)); }
    /// Another queue discipline from now on, as `ZoneConfig::queue`. Errors: `queue_discipline`'s.
    Result<void> set_queue(const std::string& discipline) { return domain_.parts.use_queue(discipline); }
    /// Takes what `config` says now of a partition; `Partitions::refresh`.
    Result<void> refresh(const std::string& partition) { return domain_.parts.refresh(partition); }
    void restate_queue(const std::string& partition) { domain_.parts.restate_queue(partition); }
    void restate_parts() const {
        domain_.parts.restate_parts();
        domain_.applications.restate_applications();
    }
    void set_accounts(std::optional<AccountMap> accounts) { domain_.filter.set_accounts(std::move(accounts)); }
    /// The certificate is another now.
    void sign_anew() { registry_.sign_anew(); }

    const ApplicationService& applications() const { return domain_.applications; }
    const PartService& parts() const { return domain_.parts.front(); }
    const NodeDirectory& nodes() const { return nodes_; }

  private:
    std::vector<ServiceAddress> known_zones() const;
    std::vector<NodeLinkSensor::Agent> live_agents() const;
    std::unique_ptr<ZoneTransport> make_transport();
    DomainPorts domain_ports();
    http::RouterHooks router_hooks();

    const ZoneConfig& config_;
    ZonePorts ports_;
    ZoneMetrics metrics_;
    MeteredJournal journal_;
    MeteredClient client_;
    CommitBarrier barrier_;
    EventLog events_;
    Observers observers_;
    EventFeed feed_;
    DurableExecutor executor_;
    std::optional<DurableAllocations> allocations_;
    http::TraceBook traces_;
    std::unique_ptr<ZoneTransport> transport_;
    FileLibrary files_;
    ZoneDomain domain_;
    RegistrySession registry_;
    TrustExchange exchange_;
    LinkSensor links_;
    NodeDirectory nodes_;
    NodeLinkSensor node_links_;
    ApplicationOutput output_;
    Retention retention_;
    ZoneServices services_;
    http::DecisionLog decisions_;
    ZoneGate gate_;
    http::Router router_;
};

}  // namespace zbs
