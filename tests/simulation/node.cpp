#include "tests/simulation/node.hpp"

#include "algorithms/base/expects.hpp"
#include "services/common/adapters/sqlite/registry_store.hpp"
#include "services/common/adapters/sqlite/zone_store.hpp"
#include "services/common/codec/json/json.hpp"
#include "services/common/codec/json/signed_entry.hpp"
#include "services/common/codec/node_codec.hpp"
#include "services/common/messages/names/join_token.hpp"
#include "tests/support/fake_trust.hpp"
#include "tests/support/memory_audit_log.hpp"
#include "tests/support/registry_fakes.hpp"
#include "tests/support/virtual_background.hpp"

namespace zbs::simulation {
namespace {

constexpr const char* kRegistry = "registry";
constexpr Duration kRegisterEvery = std::chrono::seconds{30};  ///< within `NodeDirectory::kLease`

std::string bundle_of(const OrganisationName& organisation) { return "BUNDLE " + organisation; }

/// Everybody knows everybody's bundle: who may be believed is not what is simulated here.
void know_all(test::FakeTrust& trust, const std::vector<OrganisationName>& organisations) {
    for (const OrganisationName& organisation : organisations)
        ZBS_EXPECTS(trust.pin(organisation, bundle_of(organisation)).has_value());
}

}  // namespace

ZoneConfig open_zone(const std::string& name, const OrganisationName& organisation, const ServiceAddress& registry,
                     std::string code) {
    AutomaticRule all{.organisations = {"org-*"}, .trust_on_first_use = true};
    all.rights.ceiling = {.processors = 1'000,
                          .walltime = std::chrono::hours{24},
                          .concurrent_parts = 1'000,
                          .account_rule = "account:guest",
                          .require_delegation = false};
    all.rights.floor = {1'000, std::chrono::hours{24}, 1'000};
    ZoneConfig config;
    config.zone.name = name;
    config.organisation = organisation;
    config.contact = "operator of " + name;
    config.rules = {std::move(all)};
    config.registry = registry;
    config.registry_code = std::move(code);
    return config;
}

/// A host answers where its name says, if it is up.
class HostProver : public AddressProver {
  public:
    explicit HostProver(Host& host) : host_(host) {}
    void prove(const ZoneEntry&, std::function<void(Result<SchedulerRole>)> respond) override {
        host_.after(std::chrono::milliseconds{50}, [respond = std::move(respond)] { respond(SchedulerRole::kActive); });
    }

  private:
    Host& host_;
};

struct ZoneNode::Life {
    HostClock clock;
    test::VirtualBackground background{clock};
    ChronicleLog log;
    test::FakeTrust trust;
    test::FakeKeys keys;
    test::CountingSecrets secrets;
    test::MemoryAuditLog audit;
    sqlite::ZoneDatabase database;
    std::unique_ptr<Executor> executor;
    std::unique_ptr<HttpClient> client;
    std::unique_ptr<ZoneCore> core;

    Life(ZoneNode& node, sqlite::ZoneDatabase opened)
        : clock(node.host_),
          log(node.world_.chronicle, node.name()),
          keys(node.self(), bundle_of(node.config_.organisation)),
          database(std::move(opened)),
          executor(node.world_.jobs.executor(node.host_)) {
        know_all(trust, node.world_.organisations);
        client = node.world_.network.client(node.host_, node.self());
        if (node.world_.fault == PlantedFault::kKeepRefusedHolds)
            client = without_releases(node.host_, std::move(client));
        core = std::make_unique<ZoneCore>(
            node.config_,
            ZonePorts{
                .clock = clock,
                .background = background,
                .ids = node.ids_,
                .store = *database.zone,
                .site = *database.site,
                .journal = *database.journal,
                .executor = *executor,
                .depot = node.depot_,
                .client = *client,
                .post = [&host = node.host_](std::function<void()> work) { host.after(Duration{0}, std::move(work)); },
                .trust = trust,
                .keys = &keys,
                .secrets = secrets,
                .audit = audit,
                .log = log,
                .storage_failed =
                    [&node](const Error&) {
                        node.host_.crash();
                        node.ended_();
                    },
                .forget_registry_code = [&node] { node.config_.registry_code.clear(); }},
            std::string{});
    }
};

ZoneNode::ZoneNode(Surroundings& world, ZoneConfig config, std::uint64_t id_stream)
    : Node(world, config.zone.name), config_(std::move(config)), ids_(host_, id_stream) {
    config_.url = "https://" + name();
    depot_.now = [this] { return host_.wall_now(); };
    world.network.attach(host_, [this](http::Call call, http::Respond respond) {
        if (world_.fault == PlantedFault::kNoFencing) accept_any_token(call, life_->core->parts());
        life_->core->serve(std::move(call), std::move(respond));
    });
}
ZoneNode::~ZoneNode() = default;

Result<void> ZoneNode::boot() {
    Result<sqlite::ZoneDatabase> opened =
        sqlite::open_zone_database("/disk/" + name() + "/zone.db", sqlite::Durability::kBatches);
    if (!opened) return opened.error();
    host_.boot();
    life_ = std::make_unique<Life>(*this, *std::move(opened));
    if (auto resumed = life_->core->resume(); !resumed) return resumed;
    host_.after(Duration{0}, [this] {
        life_->core->start();
        if (!config_.agents.empty()) register_agents();
    });
    return {};
}

/// As the agents of its machines do: what they run and bring is the executor's.
void ZoneNode::register_agents() {
    for (const Machine& machine : config_.zone.machines) {
        if (!config_.agents.contains(machine.name)) continue;
        NodeRegistration registration{
            .url = "https://" + machine.name,
            .description = {.name = MachineName(machine.name), .processors = machine.processors},
            .load = {}};
        registration.description.step_folder = "/steps/{operation}/job";
        registration.load.cpu_available = machine.processors;
        registration.load.at = host_.wall_now();
        Result<http::Call> call =
            http::read_call({{}, "PUT", "/v1/nodes/" + machine.name, codec::dump(codec::encode(registration))},
                            {CallerKind::kNode, config_.organisation, machine.name});
        ZBS_EXPECTS(call.has_value());
        life_->core->serve(*std::move(call), [](const http::Reply& reply) { ZBS_EXPECTS(reply.status < 500); });
    }
    host_.after(kRegisterEvery, [this] { register_agents(); });
}

void ZoneNode::stop() { life_.reset(); }
const ZoneCore* ZoneNode::core() const { return life_ == nullptr ? nullptr : life_->core.get(); }

struct RegistryNode::Life {
    HostClock clock;
    ChronicleLog log;
    test::FakeTrust trust;
    test::CountingSecrets secrets;
    test::MemoryAuditLog audit;
    HostProver prover;
    std::unique_ptr<RegistryStore> store;
    Registry registry;
    RegistryServices services;
    http::DecisionLog decisions;
    http::Router router;

    Life(RegistryNode& node, std::unique_ptr<RegistryStore> opened)
        : clock(node.host_),
          log(node.world_.chronicle, kRegistry),
          prover(node.host_),
          store(std::move(opened)),
          registry(
              node.config_, clock, *store, trust, secrets, prover,
              [this](const SignedText& text) { return codec::verify_entry(trust, text); }, log),
          services{.config = node.config_, .registry = registry, .trust = trust, .audit = audit},
          decisions(clock, audit, log, to_uri({CallerKind::kRegistry, node.config_.organisation, node.config_.name})),
          router(make_registry_routes(services, hooks(node))) {
        know_all(trust, node.world_.organisations);
    }
    http::RouterHooks hooks(RegistryNode& node) {
        return {
            .guard = [this](Action action,
                            const http::Call& call) { return check_registry_call(services, decisions, action, call); },
            .watch = [this](Action action, const http::Call& call,
                            int status) { decisions.done(action, call, status); },
            .fresh_id =
                [&node] {
                    return to_string(
                        node.ids_.fresh({CallerKind::kRegistry, node.config_.organisation, node.config_.name}));
                }};
    }
};

RegistryNode::RegistryNode(Surroundings& world)
    : Node(world, kRegistry),
      config_{"grid", kRegistry, std::string("https://") + kRegistry, bundle_of("grid")},
      ids_(host_, 1) {
    world.network.attach(host_, [this](http::Call call, http::Respond respond) {
        life_->router.dispatch(std::move(call), std::move(respond));
    });
}
RegistryNode::~RegistryNode() = default;

Result<void> RegistryNode::boot() {
    auto store = sqlite::open_registry_store("/disk/registry/registry.db");
    if (!store) return store.error();
    host_.boot();
    life_ = std::make_unique<Life>(*this, *std::move(store));
    return life_->registry.resume();
}
void RegistryNode::stop() { life_.reset(); }

ServiceAddress RegistryNode::address() const {
    return {config_.url, {CallerKind::kRegistry, config_.organisation, config_.name}};
}

std::string RegistryNode::invite(const OrganisationName& organisation) {
    const auto invitation = life_->registry.invite(organisation, std::chrono::hours{24});
    ZBS_EXPECTS(invitation.has_value());
    const Result<JoinToken> token = parse_join_token(invitation->token);
    ZBS_EXPECTS(token.has_value());
    return token->code;
}

}  // namespace zbs::simulation
