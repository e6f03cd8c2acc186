#include <boost/asio/post.hpp>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "schemas/contract.hpp"
#include "services/common/adapters/beast/service_loop.hpp"
#include "services/common/adapters/cpprest/address_rules.hpp"
#include "services/common/adapters/openssl/self_renewal.hpp"
#include "services/common/adapters/system/network_interface.hpp"
#include "services/common/adapters/system/program_digest.hpp"
#include "services/common/failpoint/failpoint.hpp"
#include "services/common/messages/host_name.hpp"
#include "services/zone_scheduler/program/edge.hpp"
#include "services/zone_scheduler/program/nodes.hpp"
#include "services/zone_scheduler/program/queue_log_file.hpp"
#include "services/zone_scheduler/program/reload.hpp"
#include "services/zone_scheduler/program/slurm.hpp"
#include "services/zone_scheduler/program/storage.hpp"
#include "services/zone_scheduler/program/zone_program.hpp"

namespace zbs::zone_program {
namespace {

constexpr int kStorageFailed = 74;  ///< exit code, as of sysexits' EX_IOERR
constexpr Duration kFarewell = std::chrono::milliseconds{300};

/// Renews the zone's certificate, where it has one. Null where not.
std::unique_ptr<openssl::SelfRenewal> make_renewal(Engine& engine, ZoneCore& zone, Log& log,
                                                   const std::string& config_path) {
    const Credentials& own = engine.credentials;
    if (!own.keys) return nullptr;
    auto renewal = std::make_unique<openssl::SelfRenewal>(
        *own.keys, *own.server, engine.clock, log,
        "run 'zbs-zone renew --certificate FILE --config " + config_path + "' and send SIGHUP");
    renewal->on_renewed([&zone] { zone.sign_anew(); });
    return renewal;
}

/// For the figures of the zone.
ZoneResources resources_of(const StateFolder& state, const openssl::KeyFolder* keys) {
    ZoneResources resources;
    resources.store_bytes = [database = state.database()] {
        std::uint64_t bytes = 0;
        for (const char* suffix : {"", "-wal"}) {
            std::error_code none;
            const auto size = std::filesystem::file_size(database + suffix, none);
            if (!none) bytes += size;
        }
        return bytes;
    };
    if (keys != nullptr) resources.certificate_until = [keys] { return std::optional(keys->not_after()); };
    return resources;
}

void drain(Engine& engine, ZoneCore& zone, Edge& edge) {
    edge.server.drain();
    boost::asio::post(engine.strand, [&] {
        zone.leave();
        // The registry's answer comes back through this strand; then nothing is left to wait for.
        engine.clock.after(kFarewell, [&engine] {
            engine.clock.cancel_all();
            engine.io.stop();
        });
    });
}

/// The storage has failed: what is on the disk is what was good before, and nobody has been told of more. Starting
/// again takes up from there; going on, or trying once more, could not.
[[noreturn]] void end_at_once(Log& log, const Error& error) {
    log.warn("storage_failed", {{"reason", error.message},
                                {"what_now",
                                 "check the disk of the state folder (full? failing?); the zone ends now, and "
                                 "goes on where it stopped when it is started again"}});
    std::_Exit(kStorageFailed);
}

}  // namespace

int run(const std::string& config_path) {
    Result<ZoneSettings> settings = load_settings(config_path);
    if (!settings) return fail(settings.error());
    const auto failpoints = failpoint::from_environment(failpoint::Program::kZone);
    if (!failpoints) return fail(failpoints.error());
    if (const auto found = system::resolve_interface(settings->zone.mpi_interface); !found)
        return fail({found.error().code, "[mpi] interface: " + found.error().message, config_path});
    const StateFolder state{settings->state_folder};
    Result<Storage> storage = open_storage(*settings, state);
    if (!storage) return fail(storage.error());
    Log& log = *storage->log;
    failpoint::arm(*failpoints, log);
    Engine engine;
    if (auto prepared = prepare(engine, state, *settings); !prepared) return fail(prepared.error());
    if (engine.credentials.server && is_wildcard_address(settings->advertised_host)) {
        return fail(
            invalid("'listen' takes all addresses of this machine, so others must be told by which one to call: "
                    "set 'advertise', e.g. advertise = \"zone-a.example.org\"",
                    config_path));
    }
    const auto post = [strand = engine.strand](std::function<void()> work) {
        boost::asio::post(strand, std::move(work));
    };
    const Result<std::unique_ptr<Allocations>> allocations = open_slurm(*settings, post);
    if (!allocations) return fail(allocations.error());
    const std::unique_ptr<HttpClient> client = make_client(engine, *settings);
    std::optional<Nodes> nodes = make_nodes(engine, *settings, state, *storage->executor, post, log);
    const auto zone = std::make_unique<ZoneCore>(
        settings->zone,
        ZonePorts{.clock = engine.clock,
                  .ids = engine.ids,
                  .store = *storage->database.zone,
                  .site = *storage->database.site,
                  .journal = *storage->database.journal,
                  .executor = nodes ? static_cast<Executor&>(*nodes->executor) : *storage->executor,
                  .depot = *storage->depot,
                  .allocations = allocations->get(),
                  .slices = nodes ? nodes->executor.get() : nullptr,
                  .client = *client,
                  .post = post,
                  .trust = engine.trust,
                  .keys = engine.credentials.keys.get(),
                  .secrets = engine.secrets,
                  .audit = *storage->audit,
                  .log = log,
                  .storage_failed = [&log](const Error& error) { end_at_once(log, error); },
                  .resources = resources_of(state, engine.credentials.keys.get())},
        zone_contract());
    if (nodes) nodes->use(zone->nodes());
    zone->on_enrolled([&state] { forget_registry_code(state); });
    if (!settings->allow_private_addresses) zone->use_address_check(cpprest::check_public_address);
    if (settings->zone.run_as_accounts) {
        zone->use_host_accounts([minimum_uid = settings->minimum_uid](const std::string& account) {
            return check_account(account, minimum_uid);
        });
    }
    zone->use_program_digests(
        [digests = std::make_shared<system::ProgramDigests>()](const std::string& path) { return digests->of(path); });
    Edge edge(engine, *settings, *zone);
    Result<std::string> url = edge.open(*settings, state);
    if (!url) return fail(url.error());
    settings->zone.url = *std::move(url);
    if (!settings->queue_log.empty()) {
        Result<std::shared_ptr<QueueLogFile>> file = QueueLogFile::open(settings->queue_log, log);
        if (!file) return fail(file.error());
        (*file)->on_full([&zone = *zone] { zone.tell_queue_again(); });
        zone->observe_queue([file = *std::move(file)](const QueueEvent& event) { file->write(event); });
    }
    if (auto resumed = zone->resume(); !resumed) return fail(resumed.error());
    const auto renewal = make_renewal(engine, *zone, log, config_path);
    boost::asio::post(engine.strand, [&] {
        if (renewal) renewal->start();
        zone->start();
    });
    std::cout << "zbs-zone " << settings->zone.zone.name << " listening on " << settings->zone.url << std::endl;
    beast::run_until_signalled(
        engine.io, 2, [&] { drain(engine, *zone, edge); },
        [&] { reload(config_path, engine, *zone, edge, *settings, log); });
    if (auto kept = zone->commit(); !kept) return fail(kept.error());
    return 0;
}

}  // namespace zbs::zone_program
