#include <boost/asio/post.hpp>
#include <iostream>

#include "services/common/adapters/beast/service_loop.hpp"
#include "services/common/adapters/openssl/self_renewal.hpp"
#include "services/common/messages/host_name.hpp"
#include "services/zone_scheduler/program/edge.hpp"
#include "services/zone_scheduler/program/reload.hpp"
#include "services/zone_scheduler/program/zone_program.hpp"

namespace zbs::zone_program {
namespace {

constexpr Duration kFarewell = std::chrono::milliseconds{300};

/// Renews the zone's certificate, where it has one. Null where not.
std::unique_ptr<openssl::SelfRenewal> make_renewal(Engine& engine, ZoneParts& zone, Log& log,
                                                   const std::string& config_path) {
    const Credentials& own = engine.credentials;
    if (!own.keys) return nullptr;
    auto renewal = std::make_unique<openssl::SelfRenewal>(
        *own.keys, *own.server, engine.clock, log,
        "run 'zbs-zone renew --certificate FILE --config " + config_path + "' and send SIGHUP");
    renewal->on_renewed([&zone] { zone.registry.sign_anew(); });
    return renewal;
}

void drain(Engine& engine, ZoneParts& zone, Edge& edge) {
    edge.server.drain();
    boost::asio::post(engine.strand, [&] {
        zone.registry.leave();
        zone.peerings.flush();
        // The registry's answer comes back through this strand; then nothing is left to wait for.
        engine.clock.after(kFarewell, [&engine] {
            engine.clock.cancel_all();
            engine.io.stop();
        });
    });
}

}  // namespace

int run(const std::string& config_path) {
    Result<ZoneSettings> settings = load_settings(config_path);
    if (!settings) return fail(settings.error());
    const StateFolder state{settings->state_folder};
    Result<Storage> storage = open_storage(*settings, state);
    if (!storage) return fail(storage.error());
    Log& log = *storage->log;
    Engine engine;
    if (auto prepared = prepare(engine, state, *settings); !prepared) return fail(prepared.error());
    if (engine.credentials.server && is_wildcard_address(settings->advertised_host)) {
        return fail(
            invalid("'listen' takes all addresses of this machine, so others must be told by which one to call: "
                    "set 'advertise', e.g. advertise = \"zone-a.example.org\"",
                    config_path));
    }
    ZoneParts zone(engine, *storage, *settings, state);
    Edge edge(engine, *settings, zone.router);
    Result<std::string> url = edge.open(*settings, state);
    if (!url) return fail(url.error());
    settings->zone.url = *std::move(url);
    if (auto resumed = zone.resume(); !resumed) return fail(resumed.error());
    const auto renewal = make_renewal(engine, zone, log, config_path);
    boost::asio::post(engine.strand, [&] {
        if (renewal) renewal->start();
        zone.start();
    });
    std::cout << "zbs-zone " << settings->zone.zone.name << " listening on " << settings->zone.url << std::endl;
    beast::run_until_signalled(
        engine.io, 2, [&] { drain(engine, zone, edge); },
        [&] { reload(config_path, engine, zone, edge, *settings, log); });
    if (auto flushed = storage->audit->flush(); !flushed) return fail(flushed.error());
    return 0;
}

}  // namespace zbs::zone_program
