#include <sys/stat.h>

#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>

#include "schemas/contract.hpp"
#include "services/common/adapters/command_line/operator_command.hpp"
#include "services/common/adapters/cpprest/http_caller.hpp"
#include "services/common/adapters/openssl/issuing/self_renewal.hpp"
#include "services/common/adapters/openssl/own_keys.hpp"
#include "services/common/adapters/openssl/tls.hpp"
#include "services/common/adapters/process/folder_lock.hpp"
#include "services/common/adapters/process/process_tree.hpp"
#include "services/common/adapters/sqlite/audit_log.hpp"
#include "services/common/adapters/sqlite/database.hpp"
#include "services/common/adapters/sqlite/registry_store.hpp"
#include "services/common/adapters/system/absolute_path.hpp"
#include "services/common/adapters/system/spd_log.hpp"
#include "services/common/codec/json/signed_entry.hpp"
#include "services/common/codec/service_codec.hpp"
#include "services/common/failpoint/failpoint.hpp"
#include "services/common/host/service_host.hpp"
#include "services/common/messages/names/host_name.hpp"
#include "services/common/ports/address_prover.hpp"
#include "services/registry/http/registry_metrics.hpp"
#include "services/registry/http/registry_routes.hpp"
#include "services/registry/program/registry_program.hpp"

namespace zbs::registry_program {
namespace {

constexpr std::chrono::milliseconds kDeadline{5'000};
constexpr std::size_t kMaxReplyBytes = 4'096;

class TlsProver : public AddressProver {
  public:
    TlsProver(const openssl::KeyFolder& keys, openssl::Now now, bool allow_private,
              std::function<void(std::function<void()>)> post)
        : keys_(keys), now_(std::move(now)), allow_private_(allow_private), post_(std::move(post)) {}

    void prove(const ZoneEntry& entry, std::function<void(Result<SchedulerRole>)> respond) override {
        // Believes this one organisation, for this one call.
        auto trust = std::make_shared<openssl::TrustStore>(now_);
        if (auto pinned = trust->pin(entry.organisation, entry.bundle); !pinned)
            return post_([respond, error = pinned.error()] { respond(error); });
        auto tls = std::make_shared<openssl::TlsClient>(keys_, *trust);
        tls->require_newest();
        auto caller = std::make_shared<cpprest::HttpCaller>(
            cpprest::HttpCallerOptions{.self = {},
                                       .local_token = {},
                                       .tls = tls,
                                       .max_reply_bytes = kMaxReplyBytes,
                                       .allow_private_addresses = allow_private_});
        const ServiceAddress zone{entry.url, {CallerKind::kZone, entry.organisation, entry.name}};
        caller->call({zone, "GET", "/livez", {}, kDeadline}, [post = post_, respond, trust, caller,
                                                              url = entry.url](const Result<HttpAnswer>& answer) {
            Result<SchedulerRole> proved = SchedulerRole::kActive;
            if (answer) {
                const Result<codec::Json> health = codec::parse(answer->body);
                if (health && codec::decode_health(*health).status == codec::Health::kStandby)
                    proved = SchedulerRole::kStandby;
            } else {
                // Of the entry, not of the caller that publishes it.
                const bool is_another = answer.error().code == ErrorCode::kUnauthenticated;
                proved = Error{
                    is_another ? ErrorCode::kDenied : answer.error().code,
                    "the address " + url + " could not be proved to be this zone's: " + answer.error().message, "/url"};
            }
            // The caller ends on the strand, not on its own thread.
            post([respond, proved, trust, caller] { respond(proved); });
        });
    }

  private:
    const openssl::KeyFolder& keys_;
    openssl::Now now_;
    bool allow_private_;
    std::function<void(std::function<void()>)> post_;
};

/// AddressProver by a TLS connection to the entry's address: the handshake proves the key, the entry's bundle the name.
/// The address is resolved once and called by number. `keys` must outlive it.
std::unique_ptr<AddressProver> make_tls_prover(const openssl::KeyFolder& keys, openssl::Now now,
                                               bool allow_private_addresses,
                                               std::function<void(std::function<void()>)> post) {
    return std::make_unique<TlsProver>(keys, std::move(now), allow_private_addresses, std::move(post));
}

constexpr const char* kAddressOption =
    "'--listen-address' of 'zbs-registry run' (as a service: ZBS_REGISTRY_OPTIONS in /etc/default/zbs-registry)";
constexpr const char* kPortOption =
    "'--listen-port' of 'zbs-registry run' (as a service: ZBS_REGISTRY_OPTIONS in /etc/default/zbs-registry)";

}  // namespace

int fail(const Error& error) { return command_line::fail("zbs-registry", error); }

namespace {

Result<void> open_keys(ServiceHost& host, const StateFolder& state) {
    const auto is_of_registry = [&state](const Caller& name) -> Result<void> {
        if (name.kind == CallerKind::kRegistry) return {};
        return invalid("the certificate is of " + to_uri(name) + ", not of a registry", state.identity());
    };
    return host.open_keys(state.identity(), is_of_registry);
}

/// Checks, names and records the calls that the router gets.
http::RouterHooks make_hooks(const RegistryServices& services, http::DecisionLog& decisions, RegistryMetrics& figures,
                             ServiceHost& host, Log& log) {
    return {.guard = [&](Action action,
                         const http::Call& call) { return check_registry_call(services, decisions, action, call); },
            .watch =
                [&](Action action, const http::Call& call, int status) {
                    decisions.done(action, call, status);
                    figures.answered(action, status);
                },
            .fresh_id = [&ids = host.ids, self = host.keys->name()] { return to_string(ids.fresh(self)); },
            .on_exception =
                [&log](const std::string& what) {
                    log.warn("handler_threw", {{"what", what}});
                }};
}

/// Until the process is to end. `advertised`: the host of the registry's address.
int serve(const Options& options, const StateFolder& state, const std::string& advertised, RegistryStore& store,
          Log& log) {
    ServiceHost host;
    if (auto opened = open_keys(host, state); !opened) return fail(opened.error());
    const Caller self = host.keys->name();
    const ServiceHost::Post post = host.post();
    auto audit = sqlite::open_audit_log(state.audit(), {to_uri(self), host.clock.now()});
    if (!audit) return fail(audit.error());
    if (const auto verified = sqlite::verify_audit_log(state.audit()); !verified)
        log.warn("audit_log_changed", {{"reason", verified.error().message},
                                       {"remedy", "keep a copy, then run 'zbs-registry audit verify'"}});

    RegistryConfig config{self.organisation, self.name, {}, host.keys->bundle()};
    const auto prover = make_tls_prover(*host.keys, host.now(), options.allow_private_addresses, post);
    Registry registry(
        config, host.clock, store, host.trust, host.secrets, *prover,
        [&trust = host.trust](const SignedText& text) { return codec::verify_entry(trust, text); }, log);
    RegistryMetrics figures(config, host.clock,
                            {.store_bytes = [database = state.database()] { return sqlite::database_bytes(database); },
                             .certificate_until = [&host] { return host.keys->not_after(); }});
    RegistryServices services{
        .config = config,
        .registry = registry,
        .trust = host.trust,
        .audit = **audit,
        .contract = registry_contract(),
        .metrics_text = [&](metrics::TextFormat format) { return figures.text(format, registry); },
        .has_public_metrics = options.public_metrics};
    http::DecisionLog decisions(host.clock, **audit, log, to_uri(self));
    http::Router router = make_registry_routes(services, make_hooks(services, decisions, figures, host, log));

    ServiceDoor door(host,
                     {.address = options.address,
                      .port = options.port,
                      .setting = {kAddressOption, kPortOption},
                      .rates = options.rates},
                     router);
    if (auto opened = door.open(); !opened) return fail(opened.error());
    config.url = "https://" + HostPort{advertised, door.port()}.text();
    if (!process::write_file(state.address(), config.url + "\n"))
        return fail({ErrorCode::kUnavailable, "cannot write the address of this registry", state.address()});
    if (auto resumed = registry.resume(); !resumed) return fail(resumed.error());
    host.keys->serve_as(serving_hosts(options.advertised, options.address));
    openssl::SelfRenewal renewal(
        *host.keys, *host.tls_server, host.clock, log,
        "run 'zbs-registry renew --certificate FILE --state " + options.state + "' and send SIGHUP");
    post([&renewal] { renewal.start(); });
    host.run({.ready = [&] { std::cout << "zbs-registry listening on " << config.url << std::endl; },
              .drain =
                  [&] {
                      door.drain();
                      post([&host] { host.clock.cancel_all(); });
                  },
              .reload = [&] { static_cast<void>(host.reload_keys_and_log(log)); }});
    if (auto flushed = (*audit)->flush(); !flushed) return fail(flushed.error());
    return 0;
}

}  // namespace

int run(const Options& options) {
    const std::string& advertised = options.advertised.empty() ? options.address : options.advertised;
    if (auto good = check_advertised_host(advertised); !good)
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
    return serve(options, state, advertised, **store, *log);
}

}  // namespace zbs::registry_program
