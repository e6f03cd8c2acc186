#include "tests/simulation/world.hpp"

#include <array>

#include "algorithms/base/expects.hpp"
#include "tests/simulation/checks.hpp"
#include "tests/simulation/storm.hpp"

namespace zbs::simulation {
namespace {

OrganisationName organisation_of(const std::string& zone) { return OrganisationName("org-" + zone); }

ZoneConfig make_config(const std::string& name, Rng& rng, const ServiceAddress& registry, std::string code) {
    ZoneConfig config = open_zone(name, organisation_of(name), registry, std::move(code));
    const std::uint64_t machines = 1 + rng.below(3);
    for (std::uint64_t m = 0; m < machines; ++m)
        config.zone.machines.push_back({"m" + std::to_string(m), static_cast<int>(2 + rng.below(5)), 1.0});
    if (rng.below(3) == 0)
        for (const Machine& machine : config.zone.machines) config.agents.emplace(machine.name);
    // Less idle talk than in life: it costs most of the time and shows nothing.
    constexpr std::array kQueues = {"", "fcfs", "easy", "conservative", "los"};
    config.queue = kQueues[rng.below(kQueues.size())];
    config.poll_every = std::chrono::seconds{2};
    config.probe_every = std::chrono::minutes{20};
    config.discover_every = std::chrono::seconds{120};
    config.exchange_every = std::chrono::seconds{300};
    config.lease = std::chrono::seconds{150};
    config.renew_every = std::chrono::seconds{60};
    return config;
}

/// What became of reserved starts: between `committed` and `launching` time passes only before one.
void count_starts(const ApplicationStatus& status, Outcome& outcome) {
    for (std::size_t i = 0; i + 1 < status.history.size(); ++i) {
        const StateChange& change = status.history[i];
        const StateChange& next = status.history[i + 1];
        if (change.state != ApplicationState::kCommitted) continue;
        outcome.earlier += next.state == ApplicationState::kPlanned;
        outcome.slipped += next.state == ApplicationState::kAccepted;
        outcome.reserved += next.state != ApplicationState::kLaunching || next.at > change.at;
    }
}

}  // namespace

Outcome run_world(const WorldOptions& options) {
    Rng rng(options.seed);
    Timeline time;
    Chronicle chronicle(time);
    chronicle.keep(options.chronicle);
    std::map<std::string, Disk> disks;
    install_disks(disks);
    Network network(time, chronicle, Rng(rng.next()));
    Jobs jobs(time, chronicle, Rng(rng.next()));
    jobs.endless = 0.03;
    jobs.unbrought = 0.02;
    jobs.longest_way = std::chrono::seconds{20};
    jobs.lingering = 0.3;
    jobs.longest_linger = std::chrono::seconds{60};
    Surroundings around{time, chronicle, network, jobs, disks, {"grid"}, options.fault};
    Checks checks(time, jobs);
    network.on_served = [&checks](const std::string& host, const http::Call& call, const http::Reply& reply) {
        checks.served(host, call, reply);
    };

    const auto most = static_cast<std::uint64_t>(options.storm.zones_most - options.storm.zones_least + 1);
    const std::uint64_t zones =
        static_cast<std::uint64_t>(options.storm.zones_least) +
        std::min(rng.below(most), rng.below(most));  // large ones are rarer: they cost the square
    std::vector<std::string> names;
    for (std::uint64_t z = 0; z < zones; ++z) names.emplace_back(1, static_cast<char>('a' + z));
    for (const std::string& name : names) around.organisations.push_back(organisation_of(name));
    for (const std::string& name : names) disks[name];
    RegistryNode registry(around);
    ZBS_EXPECTS(registry.boot().has_value());
    std::vector<std::unique_ptr<ZoneNode>> nodes;
    std::vector<std::unique_ptr<User>> users;
    for (const std::string& name : names) {
        const std::string code = registry.invite(organisation_of(name));
        nodes.push_back(
            std::make_unique<ZoneNode>(around, make_config(name, rng, registry.address(), code), 100 + nodes.size()));
        if (auto booted = nodes.back()->boot(); !booted) checks.cannot_boot(name, booted.error());
        users.push_back(
            std::make_unique<User>(time, network, Rng(rng.next()), organisation_of(name), name, 1'000 + users.size()));
    }

    Storm storm(options.storm, time, chronicle, network, jobs, Rng(rng.next()), checks);
    chronicle.on_event = [&](const std::string& where, const std::string& event, const Log::Fields& fields) {
        if (event != "word_broken") return;
        for (const auto& [field, zone] : fields)
            if (std::string_view(field) == "zone")
                checks.judged(where, zone.substr(zone.rfind('/') + 1), storm.liars());
    };
    storm.add(registry);
    for (const auto& node : nodes) storm.add(*node);
    const Duration start = time.now();
    const Duration calm = start + options.storm.storm;
    storm.rage();
    // Work for all of the storm and into the calm, so that every fault meets some; now and then from all at once, so
    // that homes compete.
    const Duration last = calm + options.storm.calm / 8;
    for (const auto& user : users) {
        time.at(start + std::chrono::seconds{30}, [&user = *user, last] { user.glance_until(last); });
        Duration when = start + std::chrono::seconds{20};
        while (when < last) {
            time.at(when, [&user = *user, ranks = static_cast<int>(1 + rng.below(16))] { user.submit(ranks); });
            if (rng.below(8) == 0)
                time.at(when + Duration{static_cast<std::int64_t>(rng.below(60'000'000))},
                        [&user = *user] { user.cancel_one(); });
            when += std::chrono::seconds{150} + Duration{static_cast<std::int64_t>(rng.below(1'500'000'000))};
        }
        for (int burst = 0; burst < 4; ++burst)
            time.at(start + (last - start) * (burst + 1) / 4 - std::chrono::seconds{30},
                    [&user = *user, ranks = static_cast<int>(4 + rng.below(12))] { user.submit(ranks); });
    }
    storm.on_burst = [&](int applications) {
        for (const auto& user : users)
            for (int i = 0; i < applications; ++i) user->submit(static_cast<int>(1 + rng.below(16)));
    };
    std::map<std::string, const ZoneNode*> homes;
    for (const auto& node : nodes) homes.emplace(node->name(), node.get());

    Checks::Users owners;
    for (std::size_t i = 0; i < nodes.size(); ++i) owners.emplace(nodes[i]->name(), users[i].get());
    storm.on_loss = [&](const std::string& zone) { checks.lost(zone, homes, owners); };

    time.at(calm, [&jobs] { jobs.unbrought = 0; });
    std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> seen;  // life and syncs of each zone
    std::uint64_t looks = 0;
    time.run_until(calm + options.storm.calm, [&] {
        for (const auto& node : nodes) {
            auto& [life, syncs] = seen[node->name()];
            const bool changed = life != node->host().life() || syncs != node->disk().syncs();
            life = node->host().life();
            syncs = node->disk().syncs();
            if (changed && node->host().is_up()) checks.look(*node);
        }
        // Messages of the storm may still arrive for a while.
        if (++looks % 100 == 0 && storm.calm_since() && time.now() > *storm.calm_since() + std::chrono::minutes{1})
            for (const auto& node : nodes) checks.look_for_forgotten(*node, homes);
        if (looks % 1'000 == 0) {
            for (const auto& node : nodes) checks.look(*node);
            for (std::size_t i = 0; i < nodes.size(); ++i) {
                checks.complaints(*users[i]);
                checks.look_at_starts(*nodes[i], *users[i]);
            }
        }
        if (looks % 50 == 0) checks.look_at_losses(homes, owners, storm.troubled_until());
        if (looks % 50 == 0)
            for (std::size_t i = 0; i < nodes.size(); ++i)
                checks.look_for_half_started(*nodes[i], *users[i], homes, storm.liars());
        return !checks.violation();
    });

    Outcome outcome{.zones = static_cast<int>(zones)};
    if (!checks.violation()) {
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            checks.at_rest(*nodes[i], *users[i], storm.calm_since().value_or(calm));
            if (!storm.is_lost(nodes[i]->name())) checks.at_rest(*nodes[i]);
            checks.complaints(*users[i]);
        }
        checks.jobs_at_rest();
    }
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        for (const auto& [id, mine] : users[i]->known()) {
            outcome.applications += mine.accepted;
            outcome.observed += mine.observed.answers();
            if (mine.accepted) ++outcome.ends[mine.state];
            if (!mine.accepted || nodes[i]->core() == nullptr) continue;
            if (const auto found = nodes[i]->core()->applications().find(users[i]->self(), id))
                count_starts((*found)->status, outcome);
        }
    }
    outcome.violation = checks.violation();
    outcome.brought = jobs.brought();
    outcome.crashes = storm.crashes();
    outcome.partitions = storm.partitions();
    outcome.messages = network.messages();
    outcome.events = time.events();
    outcome.digest = chronicle.digest();
    outcome.chronicle = chronicle.lines();
    return outcome;
}

}  // namespace zbs::simulation
