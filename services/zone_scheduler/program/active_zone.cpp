#include "services/zone_scheduler/program/active_zone.hpp"

#include <boost/asio/post.hpp>
#include <cstdlib>
#include <utility>

#include "schemas/contract.hpp"
#include "services/common/adapters/cpprest/address_rules.hpp"
#include "services/common/adapters/sqlite/database.hpp"
#include "services/common/adapters/system/program_digest.hpp"
#include "services/common/codec/records/queue_log_codec.hpp"
#include "services/common/messages/names/host_name.hpp"
#include "services/zone_scheduler/program/commands/line_log_file.hpp"
#include "services/zone_scheduler/program/commands/part_log_codec.hpp"
#include "services/zone_scheduler/program/slurm.hpp"

namespace zbs::zone_program {
namespace {

/// Renews the zone's certificate, where it has one. Null where not.
std::unique_ptr<openssl::SelfRenewal> make_renewal(ServiceHost& host, const ZoneSettings& settings, ZoneCore& zone,
                                                   Log& log, const std::string& config_path) {
    if (!host.keys) return nullptr;
    host.keys->serve_as(serving_hosts(settings.advertised_host, settings.listen_address));
    auto renewal = std::make_unique<openssl::SelfRenewal>(
        *host.keys, *host.tls_server, host.clock, log,
        "run 'zbs-zone renew --certificate FILE --config " + config_path + "' and send SIGHUP");
    renewal->on_renewed([&zone] { zone.sign_anew(); });
    return renewal;
}

/// For the figures of the zone.
ZoneResources resources_of(const StateFolder& state, bool is_shared, const openssl::KeyFolder* keys) {
    ZoneResources resources;
    if (!is_shared) {
        resources.store_bytes = [database = state.database()] { return sqlite::database_bytes(database); };
    }
    if (keys != nullptr) resources.certificate_until = [keys] { return std::optional(keys->not_after()); };
    return resources;
}

/// Null where there is none.
Result<std::shared_ptr<LineLogFile>> open_log(const LineLogKind& kind, const std::string& path,
                                              const ZoneSettings& settings, Log& log) {
    if (path.empty()) return std::shared_ptr<LineLogFile>{};
    Result<std::shared_ptr<LineLogFile>> file = LineLogFile::open(kind, path, log);
    if (file || !settings.database || file.error().code != ErrorCode::kConflict) return file;
    // Whoever was active before may stand still; the lease is what says who acts.
    log.warn((std::string(kind.setting) + "_left_out").c_str(),
             {{"reason", file.error().message},
              {"what_now",
               "the zone goes on without it; to have it again, end the scheduler that was active before, and start "
               "this one again"}});
    return std::shared_ptr<LineLogFile>{};
}

/// The logs that can be replayed; null where there is none.
struct Logs {
    std::map<std::string, std::shared_ptr<LineLogFile>> queues;  ///< by partition
    std::shared_ptr<LineLogFile> parts;

    ZoneQueue::Observer queue_observer(const std::string& partition) const {
        const auto queue = queues.find(partition);
        if (queue == queues.end()) return {};
        return [file = queue->second](const QueueEvent& event) {
            // Only between two decisions the events so far give the whole state of the queue.
            file->write(codec::encode(event), std::holds_alternative<Decided>(event));
        };
    }
    /// Writes the settings, from which each life of the zone starts.
    part::Observer part_observer(const ZoneConfig& config) const {
        if (!parts) return {};
        parts->write(codec::encode_step_settings(config), false);
        return [file = parts](const part::Trace& trace) { file->write(codec::encode(trace), trace.event != nullptr); };
    }
    /// Of steps that change something; each comes after `part_observer` has written the settings.
    ApplicationObserver application_observer() const {
        if (!parts) return {};
        return [file = parts, last = std::map<ApplicationId, std::string>{}](const ApplicationTrace& trace) mutable {
            const ApplicationId id = trace.run.app.request.id;
            if (trace.event == nullptr) return file->write(codec::encode_application(trace.run), false);
            codec::LoggedApplicationStep step{id, *trace.event, trace.now, trace.is_stored,
                                              codec::outcome_of(trace.run)};
            if (std::exchange(last[id], step.outcome.sha256) == step.outcome.sha256) return;
            if (!is_open(trace.run.app.status)) last.erase(id);
            file->write(codec::encode(step), true);
        };
    }
    void begin_anew_with(ZoneCore& zone, const ZoneConfig& config) const {
        for (const auto& [partition, queue] : queues)
            queue->on_full([&zone, name = partition] { zone.restate_queue(name); });
        if (!parts) return;
        parts->on_full([&zone, &config, file = parts.get()] {
            file->write(codec::encode_step_settings(config), false);
            zone.restate_parts();
        });
    }
};

Result<Logs> open_logs(const ZoneSettings& settings, Log& log) {
    Logs logs;
    std::vector<std::string> queues{""};  // of the machines that are in no partition of their own
    for (const PartitionConfig& partition : settings.zone.partitions) queues.push_back(partition.name);
    for (const std::string& name : queues) {
        const std::string path = settings.queue_log + (settings.queue_log.empty() || name.empty() ? "" : "." + name);
        Result<std::shared_ptr<LineLogFile>> queue = open_log(kQueueLog, path, settings, log);
        if (!queue) return queue.error();
        if (*queue) logs.queues.emplace(name, *std::move(queue));
    }
    Result<std::shared_ptr<LineLogFile>> parts = open_log(kPartLog, settings.part_log, settings, log);
    if (!parts) return parts.error();
    logs.parts = *std::move(parts);
    return logs;
}

/// Agents as they have registered at the zone; none before there is one.
node::NodeExecutor::Directory directory_of(const std::unique_ptr<ZoneCore>& zone) {
    return [&zone](const MachineName& machine) -> std::optional<node::KnownAgent> {
        const NodeRegistration* known = zone ? zone->nodes().find(machine) : nullptr;
        if (known == nullptr) return std::nullopt;
        return node::KnownAgent{known->url, known->description.step_folder, known->description.weights};
    };
}

/// Whether jobs may run as an account of this host; empty where all run as the zone.
std::function<Result<void>(const AccountName&)> host_accounts(const ZoneSettings& settings) {
    if (!settings.zone.run_as_accounts) return {};
    return [minimum_uid = settings.minimum_uid](const AccountName& account) {
        return check_account(account, minimum_uid);
    };
}

}  // namespace

[[noreturn]] void end_at_once(Log& log, const Error& error, bool is_shared) {
    log.warn(
        "storage_failed",
        {{"reason", error.message},
         {"what_now", is_shared ? "the zone scheduler ends now; started again it stands by, and takes over when it "
                                  "can: check PostgreSQL and the way to it, or see who is active ('zbs-zone doctor')"
                                : "check the disk of the state folder (full? failing?); the zone ends now, and "
                                  "goes on where it stopped when it is started again"}});
    std::_Exit(kStorageFailed);
}

ActiveZone::~ActiveZone() {
    if (client) client->close();
    if (nodes) nodes->caller->close();
}

Result<std::unique_ptr<ActiveZone>> ActiveZone::make(ServiceHost& host, ZoneSettings& settings,
                                                     const StateFolder& state, Storage storage,
                                                     const std::string& config_path, Log& log) {
    auto made = std::make_unique<ActiveZone>();
    made->storage = std::move(storage);
    const ServiceHost::Post post = host.post();
    Result<std::unique_ptr<Allocations>> allocations = open_slurm(settings, post);
    if (!allocations) return allocations.error();
    made->allocations = *std::move(allocations);
    made->client = make_client(host, settings);
    const auto lost = [&log, is_shared = settings.database.has_value()](const Error& error) {
        end_at_once(log, error, is_shared);
    };
    made->nodes = make_nodes(host, settings, state, made->storage, directory_of(made->zone), post, lost, log);
    const Result<Logs> logs = open_logs(settings, log);
    if (!logs) return logs.error();
    made->zone = std::make_unique<ZoneCore>(
        settings.zone,
        ZonePorts{.clock = host.clock,
                  .background = made->background.emplace(host.strand),
                  .ids = host.ids,
                  .store = *made->storage.database.zone,
                  .site = *made->storage.database.site,
                  .journal = *made->storage.database.journal,
                  .executor = made->nodes ? static_cast<Executor&>(*made->nodes->executor) : *made->storage.executor,
                  .depot = *made->storage.depot,
                  .allocations = made->allocations.get(),
                  .slices = made->nodes ? made->nodes->executor.get() : nullptr,
                  .probe_node = made->nodes ? made->nodes->probe(settings.zone.organisation, post) : nullptr,
                  .client = *made->client,
                  .post = post,
                  .trust = host.trust,
                  .keys = host.keys.get(),
                  .secrets = host.secrets,
                  .audit = *made->storage.audit,
                  .log = log,
                  .storage_failed = lost,
                  .queue_observer_of = [logs = *logs](const std::string& name) { return logs.queue_observer(name); },
                  .part_observer = logs->part_observer(settings.zone),
                  .application_observer = logs->application_observer(),
                  .check_address = settings.allow_private_addresses ? nullptr : cpprest::check_public_address,
                  .resources = resources_of(state, settings.database.has_value(), host.keys.get()),
                  .forget_registry_code = [&state] { forget_registry_code(state); },
                  .check_account = host_accounts(settings),
                  .program_digest = [digests = std::make_shared<system::ProgramDigests>()](
                                        const std::string& path) { return digests->of(path); }},
        zone_contract());
    ZoneCore& zone = *made->zone;
    logs->begin_anew_with(zone, settings.zone);
    made->renewal = make_renewal(host, settings, zone, log, config_path);
    return made;
}

Result<void> ActiveZone::begin(ServiceHost& host) {
    if (auto resumed = zone->resume(); !resumed) return resumed;
    boost::asio::post(host.strand, [this] {
        if (renewal) renewal->start();
        zone->start();
    });
    return {};
}

NodeLinkSensor::Ask Nodes::probe(const OrganisationName& organisation, node::NodeExecutor::Post post) const {
    return [client = client.get(), organisation, post = std::move(post)](
               const NodeLinkSensor::Agent& from, const ProbeRequest& to,
               std::function<void(Result<ProbeReport>)> respond) {
        const Caller who{CallerKind::kNode, organisation, from.name};
        http::NodeClient(*client, {from.url, who}, post).probe(to, std::move(respond));
    };
}

std::optional<Nodes> make_nodes(ServiceHost& host, const ZoneSettings& settings, const StateFolder& state,
                                const Storage& storage, node::NodeExecutor::Directory directory,
                                node::NodeExecutor::Post post, std::function<void(const Error&)> lost, Log& log) {
    if (settings.zone.agents.empty()) return std::nullopt;
    ZoneSettings inside = settings;
    inside.allow_private_addresses = true;
    Nodes nodes{.caller = make_client(host, inside),
                .client = nullptr,
                .reader = std::make_unique<node::PieceReader>(post),
                .executor = nullptr};
    nodes.client =
        std::make_unique<LeasedClient>(*nodes.caller, *storage.database.journal, storage.turn, std::move(lost));
    nodes.executor = std::make_unique<node::NodeExecutor>(
        node::NodeExecutorOptions{
            .machines = settings.zone.agents,
            .folder = state.path + "/results",
            .most_output_bytes = settings.zone.max_output_bytes == 0 ? UINT64_MAX : settings.zone.max_output_bytes,
            .read = [reader = nodes.reader.get()](node::FilePiece piece,
                                                  auto answer) { reader->read(std::move(piece), std::move(answer)); }},
        settings.zone.organisation, std::move(directory), *storage.executor, *nodes.client, std::move(post), host.clock,
        log);
    return nodes;
}

}  // namespace zbs::zone_program
