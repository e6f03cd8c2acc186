// zbs-registry: discovery of zones. See services/registry/README.md.
#include <utility>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <iostream>

#include "schemas/contract.hpp"
#include "services/common/adapters/beast/server.hpp"
#include "services/common/adapters/beast/service_loop.hpp"
#include "services/common/adapters/process/folder_lock.hpp"
#include "services/common/adapters/sqlite/zone_store.hpp"
#include "services/common/adapters/system/asio_clock.hpp"
#include "services/common/adapters/system/spd_log.hpp"
#include "services/registry/http/registry_routes.hpp"

namespace {

int fail(const zbs::Error& error) {
    std::cerr << "zbs-registry: " << (error.pointer.empty() ? "" : error.pointer + ": ") << error.message << "\n";
    return 1;
}

int run(int argc, char** argv) {
    CLI::App cli{
        "Discovery of zones: white, yellow and green pages with leases.\n\nExample: zbs-registry --listen-port 8000 "
        "--state /var/lib/zbs-registry"};
    std::string address = "127.0.0.1", state;
    unsigned short port = 0;
    cli.add_option("--listen-address", address, "loopback address to listen on")->capture_default_str();
    cli.add_option("--listen-port", port, "port; 0 = any free one, printed at start")->capture_default_str();
    cli.add_option("--state", state, "folder of the database; made if missing")->required();
    CLI11_PARSE(cli, argc, argv);

    std::error_code fault;
    std::filesystem::create_directories(state, fault);
    const auto lock = zbs::process::FolderLock::take(state);
    if (!lock) return fail(lock.error());
    const auto log = zbs::system::make_log("zbs-registry");
    auto store = zbs::sqlite::open_registry_store(state + "/registry.db");
    if (!store) return fail(store.error());

    boost::asio::io_context io;
    auto strand = boost::asio::make_strand(io);
    zbs::system::AsioClock clock(strand);
    zbs::Registry registry(clock, **store, *log);
    zbs::http::Router router = zbs::make_registry_routes(registry, zbs::registry_contract());
    router.on_exception([&log](const std::string& what) { log->warn("handler_threw", {{"what", what}}); });
    zbs::beast::Server server(
        io, {.address = address, .port = port}, [&](zbs::http::Call call, zbs::http::Respond respond) {
            boost::asio::post(strand, [&router, call = std::move(call), respond = std::move(respond)]() mutable {
                router.dispatch(std::move(call), std::move(respond));
            });
        });
    if (auto started = server.start(); !started) return fail(started.error());
    if (auto resumed = registry.resume(); !resumed) return fail(resumed.error());
    std::cout << "zbs-registry listening on http://" << address << ":" << server.port() << std::endl;
    zbs::beast::run_until_signalled(io, 2, [&] {
        server.drain();
        boost::asio::post(strand, [&clock] { clock.cancel_all(); });
    });
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& fault) {
        std::cerr << "zbs-registry: " << fault.what() << "\n";
        return 1;
    }
}
