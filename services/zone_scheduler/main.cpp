// zbs-zone: the scheduler of one zone, home for its own users and peer for other zones. See
// services/zone_scheduler/README.md.
#include <utility>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <iostream>

#include "schemas/contract.hpp"
#include "services/common/adapters/beast/server.hpp"
#include "services/common/adapters/beast/service_loop.hpp"
#include "services/common/adapters/cpprest/zone_transport.hpp"
#include "services/common/adapters/process/folder_lock.hpp"
#include "services/common/adapters/process/step_executor.hpp"
#include "services/common/adapters/sqlite/zone_store.hpp"
#include "services/common/adapters/system/asio_clock.hpp"
#include "services/common/adapters/system/spd_log.hpp"
#include "services/common/codec/model_codec.hpp"
#include "services/common/messages/limits.hpp"
#include "services/zone_scheduler/config/zone_config_file.hpp"
#include "services/zone_scheduler/http/zone_routes.hpp"

namespace {

int fail(const zbs::Error& error) {
    std::cerr << "zbs-zone: " << (error.pointer.empty() ? "" : error.pointer + ": ") << error.message << "\n";
    return 1;
}

zbs::Result<zbs::ApplicationModel> decode_model_text(std::string_view text) {
    const auto json = zbs::codec::parse(text);
    if (!json) return json.error();
    return zbs::codec::decode_model(*json);
}

int run(int argc, char** argv) {
    CLI::App cli{"Scheduler of one zone.\n\nExample: zbs-zone --config /etc/zbs/zone.toml"};
    std::string config_path;
    cli.add_option("--config", config_path, "TOML file; services/zone_scheduler/README.md lists its settings")
        ->required();
    CLI11_PARSE(cli, argc, argv);

    const std::string folder = std::filesystem::canonical("/proc/self/exe").parent_path().string();
    zbs::Result<zbs::ZoneSettings> settings = zbs::read_zone_settings(config_path, folder);
    if (!settings) return fail(settings.error());
    zbs::ZoneConfig& config = settings->zone;
    std::error_code fault;
    std::filesystem::create_directories(settings->state_folder, fault);
    const std::string state = std::filesystem::absolute(settings->state_folder).string();
    const auto lock = zbs::process::FolderLock::take(state);
    if (!lock) return fail(lock.error());
    const auto log = zbs::system::make_log("zbs-zone." + config.zone.name);
    auto store = zbs::sqlite::open_zone_store(state + "/zone.db");
    if (!store) return fail(store.error());
    auto executor =
        zbs::process::make_step_executor({.folder = state + "/steps", .supervisor = settings->step_supervisor});
    if (!executor) return fail(executor.error());

    boost::asio::io_context io;
    auto strand = boost::asio::make_strand(io);
    zbs::system::AsioClock clock(strand);
    zbs::system::SystemIds ids;
    const auto transport = zbs::cpprest::make_zone_transport(
        {zbs::CallerKind::kZone, config.organisation, config.zone.name},
        [strand](std::function<void()> work) { boost::asio::post(strand, std::move(work)); });
    zbs::PartService parts(config, clock, **store, **executor, *log, decode_model_text);
    zbs::PeerService peers(config, clock, **store, *transport, *log);
    zbs::ApplicationService applications(config, clock, ids, **store, **executor, *transport, peers, *log);
    zbs::ZoneServices services{config, applications, parts, peers, **store, zbs::zone_contract()};
    zbs::http::Router router = zbs::make_zone_routes(services);
    router.on_exception([&log](const std::string& what) { log->warn("handler_threw", {{"what", what}}); });

    zbs::beast::Server server(
        io,
        {.address = settings->listen_address,
         .port = static_cast<unsigned short>(settings->listen_port),
         .max_connections = zbs::limits::kMaxConnections,
         .max_header_bytes = zbs::limits::kMaxHeaderBytes,
         .max_body_bytes = zbs::limits::kMaxBodyBytes},
        [&](zbs::http::Call call, zbs::http::Respond respond) {
            boost::asio::post(strand, [&router, call = std::move(call), respond = std::move(respond)]() mutable {
                router.dispatch(std::move(call), std::move(respond));
            });
        });
    if (auto started = server.start(); !started) return fail(started.error());
    config.url = "http://" + settings->listen_address + ":" + std::to_string(server.port());
    if (auto resumed = parts.resume(); !resumed) return fail(resumed.error());
    if (auto resumed = peers.resume(); !resumed) return fail(resumed.error());
    if (auto resumed = applications.resume(); !resumed) return fail(resumed.error());
    std::cout << "zbs-zone " << config.zone.name << " listening on " << config.url << std::endl;
    zbs::beast::run_until_signalled(io, 2, [&] {
        server.drain();
        boost::asio::post(strand, [&] {
            peers.leave();
            // The registry's answer comes back through this strand; then nothing is left to wait for.
            clock.after(std::chrono::milliseconds{300}, [&clock, &io] {
                clock.cancel_all();
                io.stop();
            });
        });
    });
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& fault) {
        std::cerr << "zbs-zone: " << fault.what() << "\n";
        return 1;
    }
}
