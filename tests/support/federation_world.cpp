#include "tests/support/federation_world.hpp"

namespace zbs::test {
namespace {

/// a to z, then a1 to z1, ...
std::string name_of(std::size_t zone) {
    return static_cast<char>('a' + zone % 26) + (zone < 26 ? "" : std::to_string(zone / 26));
}

}  // namespace

/// ZoneTransport of one zone. Answers come later, on the clock; lost messages and dead zones answer by a time-out.
class FederationWorld::Bus : public ZoneTransport {
  public:
    Bus(FederationWorld& world, std::string self)
        : world_(world), self_(std::move(self)), generation_(world.generation_[self_]) {}

    void probe(const ServiceAddress& to, ProbeSize size, Respond<std::size_t> r) override {
        send<std::size_t>("probe", to, r,
                          [size](Node&) -> Result<std::size_t> { return size == ProbeSize::kSmall ? 20 : 200'000; });
    }
    void ask_capacity(const ServiceAddress& to, const CapacityRequest& q, Respond<Capacity> r) override {
        send<Capacity>("capacity", to, r, [this, q](Node& n) -> Result<Capacity> {
            const bool is_own = caller().organisation == n.config.organisation;
            if (!is_own && n.peerings->state_of(caller().organisation) != PeeringState::kAccepted)  // as the routes do
                return Error{ErrorCode::kDenied, "only accepted zones may ask capacity", {}};
            return n.domain->parts.capacity(caller(), q);
        });
    }
    void hold_part(const ServiceAddress& to, const PartRequest& q, Respond<PartStatus> r) override {
        send<PartStatus>("hold", to, r, [this, q](Node& n) { return n.domain->parts.hold(caller(), q); });
    }
    void commit_part(const ServiceAddress& to, const PartId& id, std::uint64_t token, Respond<PartStatus> r) override {
        send<PartStatus>("commit", to, r,
                         [this, id, token](Node& n) { return n.domain->parts.of(id).commit(caller(), id, token); });
    }
    void launch_part(const ServiceAddress& to, const PartId& id, const LaunchRequest& q,
                     Respond<PartStatus> r) override {
        send<PartStatus>("launch", to, r,
                         [this, id, q](Node& n) { return n.domain->parts.of(id).launch(caller(), id, q); });
    }
    void part_status(const ServiceAddress& to, const PartId& id, Respond<PartStatus> r) override {
        send<PartStatus>("status", to, r, [this, id](Node& n) { return n.domain->parts.of(id).status(caller(), id); });
    }
    void release_part(const ServiceAddress& to, const PartId& id, const std::string& reason,
                      Respond<PartStatus> r) override {
        send<PartStatus>("release", to, r,
                         [this, id, reason](Node& n) { return n.domain->parts.of(id).release(caller(), id, reason); });
    }
    void part_profile(const ServiceAddress& to, const PartId& id, Respond<ApplicationModel> r) override {
        send<ApplicationModel>("profile", to, r,
                               [this, id](Node& n) { return n.domain->parts.of(id).profile(caller(), id); });
    }
    void stage_part(const ServiceAddress& to, const PartId& id, const StagingRequest& q,
                    Respond<StagingStatus> r) override {
        send<StagingStatus>("stage", to, r,
                            [this, id, q](Node& n) { return n.domain->parts.of(id).stage(caller(), id, q); });
    }
    void put_part_file(const ServiceAddress& to, const PartId& id, const std::string& digest, const FileChunk& chunk,
                       Respond<FilePresence> r) override {
        send<FilePresence>("file", to, r, [this, id, digest, chunk](Node& n) {
            return n.domain->parts.of(id).put_file(caller(), id, digest, chunk);
        });
    }
    void part_results(const ServiceAddress& to, const PartId& id, Respond<StagedResults> r) override {
        send<StagedResults>("results", to, r,
                            [this, id](Node& n) { return n.domain->parts.of(id).results(caller(), id); });
    }
    void part_result(const ServiceAddress& to, const PartId& id, const std::string& name, std::uint64_t offset,
                     Respond<FileChunk> r) override {
        send<FileChunk>("result", to, r, [this, id, name, offset](Node& n) {
            return n.domain->parts.of(id).result(caller(), id, name, offset);
        });
    }
    void request_peering(const ServiceAddress& to, const PeeringRequest& q, Respond<PeeringAnswer> r) override {
        send<PeeringAnswer>("peering", to, r, [this, q](Node& n) { return n.peerings->request(caller(), q); });
    }
    void fetch_trust(const ServiceAddress& to, Respond<TrustStatement> r) override {
        send<TrustStatement>("trust", to, r, [](Node& n) {
            return Result<TrustStatement>(
                TrustStatement{.organisation = n.config.organisation, .blocked = std::vector<std::string>{}});
        });
    }
    // This world has no registry: each zone receives all others at its start.
    void enrol(const ServiceAddress&, const std::string&, const SignedText&, Respond<ZoneLease> r) override {
        no_registry(r);
    }
    void publish(const ServiceAddress&, const SignedText&, Respond<ZoneLease> r) override { no_registry(r); }
    void renew(const ServiceAddress&, const ZoneName&, Respond<ZoneLease> r) override { no_registry(r); }
    void leave(const ServiceAddress&, const ZoneName&, Respond<ZoneLease> r) override { no_registry(r); }
    void list_zones(const ServiceAddress&, const ZoneQuery&, Respond<ZonePage> r) override { no_registry(r); }

  private:
    static constexpr Duration kTimeout = std::chrono::seconds{5};

    Caller caller() const { return {CallerKind::kZone, OrganisationName("org-" + self_), self_}; }
    bool alive() const { return world_.nodes_.at(self_)->up && world_.generation_[self_] == generation_; }
    /// Runs `work` after a short random delay, unless this zone is gone by then.
    void later(std::function<void()> work, Duration extra = {}) {
        world_.clock.after(extra + Duration{static_cast<std::int64_t>(500 + world_.rng.below(5'000))},
                           [world = &world_, self = self_, generation = generation_, work = std::move(work)] {
                               if (world->nodes_.at(self)->up && world->generation_[self] == generation) work();
                           });
    }
    template <class T>
    void no_registry(const Respond<T>& respond) {
        later([respond] { respond(Error{ErrorCode::kUnavailable, "there is no registry", {}}); });
    }
    bool lost(const std::string& from, const std::string& to) {
        return world_.cut.contains({from, to}) || world_.rng.uniform() < world_.loss;
    }

    template <class T>
    void send(const char* what, const ServiceAddress& address, Respond<T> respond,
              std::function<Result<T>(Node&)> act) {
        const std::string to = address.url;
        const auto time_out = [this, respond] {
            later([respond] { respond(Error{ErrorCode::kTimeout, "no answer", {}}); }, kTimeout);
        };
        if (world_.on_message) world_.on_message(self_, to, what);
        if (!alive()) return;
        if (lost(self_, to)) return time_out();
        FederationWorld* world = &world_;
        const Duration delay{static_cast<std::int64_t>(500 + world_.rng.below(5'000))};
        const bool answer_lost = lost(to, self_);
        // The message acts at the other zone even if the sender dies meanwhile; `act` only needs the caller's name.
        world_.clock.after(delay, [this, world, to, what, respond, act, answer_lost, self = self_,
                                   generation = generation_, time_out] {
            Node& target = *world->nodes_.at(to);
            const bool here = world->nodes_.at(self)->up && world->generation_[self] == generation;
            if (!target.up) {
                if (here) time_out();
                return;
            }
            if (!here) return;  // with the sender's memory gone, so is this closure's bus
            Result<T> result = act(target);
            if constexpr (std::is_same_v<T, PartStatus>) {
                if (world->bend) world->bend(to, what, result);
            }
            if (answer_lost) return time_out();
            later([respond, result] { respond(result); },
                  world->answer_delay ? world->answer_delay(to, what) : Duration{0});
        });
    }

    FederationWorld& world_;
    std::string self_;
    int generation_;
};

/// The world's clock for one life of one zone.
class FederationWorld::LifeClock : public Clock {
  public:
    LifeClock(FederationWorld& world, std::string self)
        : world_(world), self_(std::move(self)), generation_(world.generation_[self_]) {}
    Time now() const override { return world_.clock.now(); }
    Duration steady_now() const override { return world_.clock.steady_now(); }
    TimerId after(Duration delay, std::function<void()> wake) override {
        return world_.clock.after(delay,
                                  [world = &world_, self = self_, generation = generation_, wake = std::move(wake)] {
                                      if (world->nodes_.at(self)->up && world->generation_[self] == generation) wake();
                                  });
    }
    void cancel(TimerId timer) override { world_.clock.cancel(timer); }

  private:
    FederationWorld& world_;
    std::string self_;
    int generation_;
};

FederationWorld::FederationWorld(std::vector<int> processors, std::vector<std::string> homes, Looking looking)
    : looking_(looking) {
    for (std::size_t i = 0; i < processors.size(); ++i) {
        const std::string name = name_of(i);
        ZoneConfig config;
        config.zone = {name, {{"m0", processors[i], 1.0}}};
        config.organisation = OrganisationName("org-" + name);
        config.contact = "operator of " + name;
        config.url = name;  // the bus routes by name
        config.registry.url = "registry";
        config.rules = {accept_all(homes)};
        Node& made = add(std::move(config));
        for (std::size_t other = 0; other < processors.size(); ++other) {
            const OrganisationName organisation("org-" + name_of(other));
            ZBS_EXPECTS(made.trust.pin(organisation, "BUNDLE " + organisation).has_value());
        }
    }
    has_registry = true;
    for (auto& [name, made] : nodes_) restart(name);
    run(std::chrono::seconds{2});  // they find each other
}

FederationWorld::Node& FederationWorld::add(ZoneConfig config) {
    has_registry = false;
    auto made = std::make_unique<Node>();
    made->config = std::move(config);
    const OrganisationName& organisation = made->config.organisation;
    made->keys = std::make_unique<FakeKeys>(Caller{CallerKind::kZone, organisation, made->config.zone.name},
                                            "BUNDLE " + organisation);
    made->executor = std::make_unique<MpiExecutor>(clock);
    made->executor->proxies_of = [this](const std::string& application) {
        std::size_t proxies = 0;
        for (const auto& [other, there] : nodes_)
            for (const auto& [operation, step] : there->executor->steps())
                proxies += step.reason != "stopped" &&
                           std::ranges::count(step.spec.environment,
                                              std::pair<std::string, std::string>{"ZBS_APPLICATION", application});
        return proxies;
    };
    const std::string name = made->config.zone.name;
    const auto [at, is_new] = nodes_.emplace(name, std::move(made));
    ZBS_EXPECTS(is_new);
    return *at->second;
}

AutomaticRule FederationWorld::accept_all(std::vector<std::string> organisations) {
    AutomaticRule rule{.organisations = std::move(organisations), .trust_on_first_use = true};
    rule.rights.ceiling = {.processors = 1'000,
                           .walltime = std::chrono::hours{24},
                           .concurrent_parts = 1'000,
                           .account_rule = "account:guest",
                           .require_delegation = false};
    rule.rights.floor = {1'000, std::chrono::hours{24}, 1'000};
    return rule;
}

FederationWorld::~FederationWorld() {
    for (auto& [name, made] : nodes_) made->up = false;
}

void FederationWorld::crash(const std::string& name) {
    Node& gone = node(name);
    gone.up = false;
    ++generation_[name];
}

void FederationWorld::restart(const std::string& name) { ZBS_EXPECTS(try_restart(name).has_value()); }

Result<void> FederationWorld::try_restart(const std::string& name) {
    Node& fresh = node(name);
    if (fresh.domain) {
        graveyard_.emplace_back(std::shared_ptr<ZoneDomain>(std::move(fresh.domain)));
        graveyard_.emplace_back(std::shared_ptr<FileLibrary>(std::move(fresh.files)));
        graveyard_.emplace_back(std::shared_ptr<ZoneTransport>(std::move(fresh.transport)));
        graveyard_.emplace_back(std::shared_ptr<VirtualBackground>(std::move(fresh.background)));
        graveyard_.emplace_back(std::shared_ptr<Clock>(std::move(fresh.clock)));
    }
    fresh.up = true;
    fresh.clock = std::make_unique<LifeClock>(*this, name);
    fresh.background = std::make_unique<VirtualBackground>(*fresh.clock);
    fresh.transport = std::make_unique<Bus>(*this, name);
    fresh.files = std::make_unique<FileLibrary>(fresh.config, fresh.depot);
    DomainPorts ports{.config = fresh.config,
                      .clock = *fresh.clock,
                      .background = *fresh.background,
                      .ids = ids,
                      .store = fresh.store,
                      .site = fresh.site,
                      .executor = *fresh.executor,
                      .transport = *fresh.transport,
                      .trust = fresh.trust,
                      .keys = fresh.keys.get(),
                      .secrets = fresh.secrets,
                      .log = fresh.log,
                      .files = *fresh.files,
                      .drains = [&fresh] { return fresh.drains(); },
                      .queue_observer = fresh.queue_observer,
                      .queue_observer_of = fresh.queue_observer_of,
                      .part_observer = fresh.part_observer,
                      .application_observer = fresh.application_observer,
                      .conduct_noted =
                          [this](const OrganisationName& organisation, TrustEvent what) {
                              conduct.push_back({organisation, what});
                          }};
    if (fresh.adjust) fresh.adjust(ports);
    fresh.domain = std::make_unique<ZoneDomain>(std::move(ports));
    fresh.peerings = &fresh.domain->peerings;
    fresh.filter = &fresh.domain->filter;
    fresh.parts = &fresh.domain->parts.front();
    fresh.peers = &fresh.domain->peers;
    fresh.applications = &fresh.domain->applications;
    if (auto resumed = fresh.domain->resume(); !resumed) return resumed;
    check_around(name, generation_[name]);
    return {};
}

void FederationWorld::check_around(const std::string& name, int generation) {
    if (!node(name).up || generation_[name] != generation) return;
    if (looking_ == Looking::kFirst && name != nodes_.begin()->first) return;
    std::vector<ZoneEntry> entries;
    for (const auto& [zone, other] : nodes_)
        entries.push_back({.name = ZoneName(zone),
                           .organisation = other->config.organisation,
                           .url = other->config.url,
                           .standing = other->standing});
    if (has_registry) node(name).peers->found(entries);
    clock.after(node(name).config.discover_every, [this, name, generation] { check_around(name, generation); });
}

}  // namespace zbs::test
