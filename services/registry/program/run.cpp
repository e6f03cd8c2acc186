#include <sys/stat.h>

#include <boost/asio/dispatch.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <filesystem>
#include <iostream>

#include "schemas/contract.hpp"
#include "services/common/adapters/beast/server.hpp"
#include "services/common/adapters/beast/server_tls.hpp"
#include "services/common/adapters/beast/service_loop.hpp"
#include "services/common/adapters/command_line/exit_codes.hpp"
#include "services/common/adapters/openssl/issuing/self_renewal.hpp"
#include "services/common/adapters/openssl/random_secrets.hpp"
#include "services/common/adapters/openssl/tls.hpp"
#include "services/common/adapters/process/folder_lock.hpp"
#include "services/common/adapters/process/process_tree.hpp"
#include "services/common/adapters/sqlite/audit_log.hpp"
#include "services/common/adapters/sqlite/database_size.hpp"
#include "services/common/adapters/sqlite/registry_backup.hpp"
#include "services/common/adapters/sqlite/registry_store.hpp"
#include "services/common/adapters/system/absolute_path.hpp"
#include "services/common/adapters/system/asio_clock.hpp"
#include "services/common/adapters/system/spd_log.hpp"
#include "services/common/codec/json/signed_entry.hpp"
#include "services/common/failpoint/failpoint.hpp"
#include "services/common/http/rate_limit.hpp"
#include "services/common/messages/limits.hpp"
#include "services/common/messages/names/host_name.hpp"
#include "services/common/messages/names/host_port.hpp"
#include "services/registry/http/registry_metrics.hpp"
#include "services/registry/http/registry_routes.hpp"
#include "services/registry/program/registry_program.hpp"
#include "services/registry/program/tls_prover.hpp"

namespace zbs::registry_program {

namespace {

constexpr const char* kAddressOption =
    "'--listen-address' of 'zbs-registry run' (as a service: ZBS_REGISTRY_OPTIONS in /etc/default/zbs-registry)";
constexpr const char* kPortOption =
    "'--listen-port' of 'zbs-registry run' (as a service: ZBS_REGISTRY_OPTIONS in /etc/default/zbs-registry)";

}  // namespace

int fail(const Error& error) {
    std::cerr << "zbs-registry: " << (error.pointer.empty() ? "" : error.pointer + ": ") << error.message << "\n";
    return command_line::exit_code_of(error);
}

int run(const Options& options) {
    const std::string& host = options.advertised.empty() ? options.address : options.advertised;
    if (auto good = check_advertised_host(host); !good)
        return fail(invalid(good.error().message,
                            options.advertised.empty() ? "--listen-address without --advertise" : "--advertise"));
    const auto failpoints = failpoint::from_environment(failpoint::Program::kRegistry);
    if (!failpoints) return fail(failpoints.error());
    const StateFolder state{system::absolute_path(options.state)};
    if (!std::filesystem::exists(state.identity())) {
        return fail(invalid("a registry needs keys; make them with 'zbs-registry init --state " + options.state +
                                " --organisation NAME'",
                            state.identity()));
    }
    chmod(state.path.c_str(), 0700);
    const auto lock = process::FolderLock::take(state.path);
    if (!lock) return fail(lock.error());
    const auto log = system::make_log("zbs-registry");
    failpoint::arm(*failpoints, *log);
    if (sqlite::is_half_restored({state.database(), state.audit(), {}}))
        return fail(sqlite::half_restored(sqlite::registry_backups()));
    if (auto kept = sqlite::check_database_kept(sqlite::registry_backups(), {state.database(), state.audit(), {}}, {});
        !kept)
        return fail(kept.error());
    auto store = sqlite::open_registry_store(state.database());
    if (!store) return fail(store.error());

    boost::asio::io_context io;
    auto strand = boost::asio::make_strand(io);
    const auto post = [strand](std::function<void()> work) { boost::asio::post(strand, std::move(work)); };
    system::AsioClock clock(strand);
    system::SystemIds ids;
    openssl::RandomSecrets secrets;
    const openssl::Now now = [&clock] { return clock.now(); };
    openssl::TrustStore trust(now);
    const auto keys = openssl::KeyFolder::open(state.identity(), now);
    if (!keys) return fail(keys.error());
    if ((*keys)->name().kind != CallerKind::kRegistry)
        return fail(
            invalid("the certificate is of " + to_uri((*keys)->name()) + ", not of a registry", state.identity()));
    auto audit = sqlite::open_audit_log(state.audit(), {to_uri((*keys)->name()), clock.now()});
    if (!audit) return fail(audit.error());
    if (const auto verified = sqlite::verify_audit_log(state.audit()); !verified)
        log->warn("audit_log_changed", {{"reason", verified.error().message},
                                        {"remedy", "keep a copy, then run 'zbs-registry audit verify'"}});
    auto tls = openssl::TlsServer::make(**keys, trust);
    if (!tls) return fail(tls.error());

    RegistryConfig config{(*keys)->name().organisation, (*keys)->name().name, {}, (*keys)->bundle()};
    const auto prover = make_tls_prover(**keys, now, options.allow_private_addresses, post);
    Registry registry(
        config, clock, **store, trust, secrets, *prover,
        [&trust](const SignedText& text) { return codec::verify_entry(trust, text); }, *log);
    RegistryMetrics figures(config, clock,
                            {.store_bytes = [database = state.database()] { return sqlite::database_bytes(database); },
                             .certificate_until = [&keys] { return (*keys)->not_after(); }});
    RegistryServices services{
        .config = config,
        .registry = registry,
        .trust = trust,
        .audit = **audit,
        .contract = registry_contract(),
        .metrics_text = [&](metrics::TextFormat format) { return figures.text(format, registry); },
        .has_public_metrics = options.public_metrics};
    http::DecisionLog decisions(clock, **audit, *log, to_uri((*keys)->name()));
    http::Router router = make_registry_routes(services);
    router.on_exception([&log](const std::string& what) { log->warn("handler_threw", {{"what", what}}); });
    router.guard(
        [&](Action action, const http::Call& call) { return check_registry_call(services, decisions, action, call); });
    router.watch([&](Action action, const http::Call& call, int status) {
        decisions.done(action, call, status);
        figures.answered(action, status);
    });
    router.name_calls([&ids, self = (*keys)->name()] { return to_string(ids.fresh(self)); });

    http::RateLimiter limiter(options.rates);
    beast::Server server(io,
                         {.address = options.address,
                          .port = options.port,
                          .setting = {kAddressOption, kPortOption},
                          .max_connections = limits::kMaxConnections,
                          .max_header_bytes = limits::kMaxHeaderBytes,
                          .max_body_bytes = limits::kMaxBodyBytes,
                          .body_limit = [&router](const http::Call& head) { return router.body_limit(head); },
                          .admit =
                              [&](const std::string& address) {
                                  return !limiter.take_connection(address, clock.steady_now()).has_value();
                              },
                          .tls = std::make_shared<beast::ServerTls>(*tls)},
                         [&](http::Call call, http::Respond respond) {
                             if (const auto wait = limiter.take(call.peer, call.address, clock.steady_now()))
                                 return respond(http::too_many_requests(call.peer, *wait));
                             // At once where nothing else is under way, without a change of threads.
                             boost::asio::dispatch(
                                 strand, [&router, call = std::move(call), respond = std::move(respond)]() mutable {
                                     router.dispatch(std::move(call), std::move(respond));
                                 });
                         });
    if (auto started = server.start(); !started) return fail(started.error());
    config.url = "https://" + HostPort{host, server.port()}.text();
    if (!process::write_file(state.address(), config.url + "\n"))
        return fail({ErrorCode::kUnavailable, "cannot write the address of this registry", state.address()});
    if (auto resumed = registry.resume(); !resumed) return fail(resumed.error());
    (*keys)->serve_as(serving_hosts(options.advertised, options.address));
    openssl::SelfRenewal renewal(
        **keys, **tls, clock, *log,
        "run 'zbs-registry renew --certificate FILE --state " + options.state + "' and send SIGHUP");
    post([&renewal] { renewal.start(); });
    const auto ready = [&] { std::cout << "zbs-registry listening on " << config.url << std::endl; };
    const auto drain = [&] {
        server.drain();
        post([&clock] { clock.cancel_all(); });
    };
    const auto reload = [&] {
        const Result<void> read = (*keys)->reload();
        const Result<void> done = read ? (*tls)->reload() : read;
        if (!done) return log->warn("certificates_not_reloaded", {{"reason", done.error().message}});
        log->info("certificates_reloaded", {});
    };
    beast::run_until_signalled(io, 2, {.ready = ready, .drain = drain, .reload = reload, .post = post});
    if (auto flushed = (*audit)->flush(); !flushed) return fail(flushed.error());
    return 0;
}

}  // namespace zbs::registry_program
