#include "services/zone_scheduler/config/zone_config_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <tuple>
#include <utility>

#include "algorithms/mapping/mapper.hpp"
#include "algorithms/queue/discipline.hpp"
#include "services/common/adapters/system/config_file.hpp"
#include "services/common/adapters/system/network_interface.hpp"
#include "services/common/messages/limits.hpp"
#include "services/common/messages/names/host_name.hpp"
#include "services/common/messages/names/identity.hpp"
#include "services/zone_scheduler/config/peering_rules_file.hpp"

namespace zbs {
namespace {

std::string own_host_name() {
    std::array<char, 256> name{};
    return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

bool printable(const std::string& text) {
    return std::ranges::all_of(text, [](unsigned char c) { return c >= ' ' && c != 127; });
}

std::string first_existing(std::initializer_list<std::string> paths) {
    for (const std::string& path : paths) {
        if (std::filesystem::exists(path)) return std::filesystem::canonical(path).string();
    }
    return {};
}

void read_listen(system::ConfigFile& file, ZoneSettings& settings) {
    std::tie(settings.listen_address, settings.listen_port) = file.address("listen", "127.0.0.1:0", 8001);
}

Duration seconds_of(system::ConfigFile& file, const char* key, Duration fallback) {
    return seconds_to_duration(file.number(key, to_seconds(fallback), 0.05, 86'400));
}

http::Rate rate_of(system::ConfigFile& file, const std::string& prefix, const http::Rate& fallback) {
    return {file.number(prefix + "_per_s", fallback.per_second, 0, 100'000), fallback.burst};
}

Link link_of(system::ConfigFile& file, const std::string& prefix, const Link& fallback) {
    return {file.number(prefix + "delay_s", fallback.delay_s, 0, 60),
            file.number(prefix + "bandwidth_Bps", fallback.bandwidth_Bps, 1, 1e15)};
}

/// Where the file has a table [slurm].
void read_slurm(system::ConfigFile& file, ZoneSettings& settings) {
    if (!file.has("slurm")) return;
    SlurmSettings slurm{.partition = file.text("slurm.partition", ""),
                        .account = file.text("slurm.account", ""),
                        .configuration = file.text("slurm.configuration", ""),
                        .folders = file.texts("slurm.folders"),
                        .submit_options = file.texts("slurm.submit_options")};
    for (const std::string& folder : slurm.folders)
        if (!folder.starts_with('/')) file.fail("slurm.folders", "'folders' of [slurm] must be absolute paths");
    if (file.table_count("partition") > 0)
        file.fail("partition",
                  "Slurm has the queues of this zone's machines, and policies that share processors take node agents: "
                  "leave [[partition]] out, or [slurm]");
    if (file.table_count("machine") > 0)
        file.fail("machine", "Slurm's nodes are the machines of this zone: leave [[machine]] out, or [slurm]");
    if (!file.text("queue", "").empty())
        file.fail("queue", "Slurm has the queue of this zone's machines: leave 'queue' out, or [slurm]");
    settings.slurm = std::move(slurm);
}

constexpr std::size_t kLongestSchema = 63;  ///< PostgreSQL would cut a longer name

/// [database] and [high_availability]; the zone's name stands.
void read_database(system::ConfigFile& file, ZoneSettings& settings) {
    if (!file.has("database")) {
        if (file.has("high_availability"))
            file.fail("high_availability",
                      "several schedulers of one zone need a database that all reach: set 'url' of [database]");
        return;
    }
    DatabaseSettings database{.url = file.required_text("database.url"),
                              .schema = file.text("database.schema", settings.zone.zone.name),
                              .node = file.text("high_availability.node", own_host_name())};
    if (!database.url.empty() && !database.url.starts_with("postgresql://") && !database.url.starts_with("postgres://"))
        file.fail("database.url", "'url' of [database] must begin with postgresql://");
    if (!is_valid_name(database.schema) || database.schema.size() > kLongestSchema)
        file.fail("database.schema",
                  "'schema' of [database] must be 1 to 63 of a-z 0-9 . _ -, starting with a letter or digit");
    if (database.node.empty() || database.node.size() > 255 || !printable(database.node))
        file.fail("high_availability.node", "'node' of [high_availability] must be 1 to 255 printable characters");
    settings.database = std::move(database);
}

/// Where the settings of a queue are in the file.
struct QueueKeys {
    std::string queue, concurrent_gang;
    std::vector<std::string> sharing;  ///< those that only policies whose jobs share processors have
    std::string partition;             ///< empty: the zone's own
    std::string partition_name;        ///< where it is called so
};

/// What the policy of a queue makes of its machines. To be called after both are read.
void check_queue(system::ConfigFile& file, const QueueKeys& keys, const ZoneConfig& machines, int& slots,
                 ZoneState::Sharing& sharing) {
    const std::string of = keys.partition.empty() ? "" : "[[partition]] '" + keys.partition + "': ";
    const auto count = static_cast<std::int32_t>(std::max<std::size_t>(machines.zone.processor_count(), 1));
    const Result<Discipline> made = queue_discipline(machines.queue.empty() ? "fcfs" : machines.queue, count);
    if (!made) return file.fail(keys.queue, of + made.error().message);
    const bool inherits = !keys.partition.empty() && !file.has(keys.queue);
    if (!made->needs_agents()) {
        const char* const remedy =
            keys.partition.empty() ? "[time_sharing]" : "'slice_s' and 'concurrent_gang' of the partition";
        for (const std::string& key : keys.sharing)
            if (file.has(key))
                file.fail(key, of + "jobs have their processors alone here: leave " + remedy +
                                   " out, or write a policy whose jobs share them, such as queue = \"gang:slices=2\"");
        return;
    }
    // A zone all of whose machines are in partitions of their own has a policy for these to take over.
    const bool is_empty = machines.zone.machines.empty() && machines.processors_of_zone > 0;
    if (!is_empty && (machines.agents.size() < machines.zone.machines.size() || machines.agents.empty()))
        file.fail(inherits ? keys.partition_name : keys.queue,
                  of + "parts of this policy share processors by node agents, also not in front of Slurm: each "
                       "[[machine]] needs agent = true, or 'queue' a policy such as easy or conservative");
    if (file.has(keys.concurrent_gang) && machines.concurrent_gang && made->sharing != ZoneState::Sharing::kTime)
        file.fail(keys.concurrent_gang,
                  of + "jobs do not take turns under the policy in 'queue': leave 'concurrent_gang' out, or write gang "
                       "or adaptive-scojo there");
    slots = made->rows;
    sharing = made->sharing;
}

void read_staging(system::ConfigFile& file, ZoneConfig& zone) {
    StagingConfig& staging = zone.staging;
    const auto bytes_of = [&file](const char* key, std::uint64_t fallback, std::int64_t least) {
        const auto mib = static_cast<std::int64_t>(fallback >> 20);
        return static_cast<std::uint64_t>(file.integer(key, mib, least, limits::kMaxStagedMiB)) << 20;
    };
    // What is not in the file follows what is.
    staging.file_bytes = bytes_of("staging.file_MiB", staging.file_bytes, 1);
    staging.job_bytes = bytes_of("staging.job_MiB", std::max(staging.job_bytes, staging.file_bytes), 0);
    staging.user_bytes = bytes_of("staging.user_MiB", std::max(staging.user_bytes, staging.job_bytes), 1);
    if (!file.has("staging.job_MiB") && !file.has("staging.file_MiB"))
        staging.job_bytes = std::min(staging.job_bytes, staging.user_bytes);
    if (!file.has("staging.file_MiB") && staging.job_bytes > 0)
        staging.file_bytes = std::min(staging.file_bytes, staging.job_bytes);
    if (staging.job_bytes > 0 && staging.file_bytes > staging.job_bytes)
        file.fail("staging.file_MiB",
                  "'file_MiB' must not be more than 'job_MiB', what one job may bring: lower it, or raise 'job_MiB'");
    if (staging.user_bytes < staging.job_bytes)
        file.fail("staging.user_MiB",
                  "'user_MiB' must not be less than 'job_MiB', what one job may bring: raise it, or lower 'job_MiB'");
    staging.shared_file_system = file.text("staging.shared_file_system", "");
    if (!staging.shared_file_system.empty() && !is_valid_name(staging.shared_file_system))
        file.fail("staging.shared_file_system",
                  "'shared_file_system' must be 1 to 64 of a-z 0-9 . _ -, starting with "
                  "a letter or digit: the name by which all its zones call it");
    staging.nodes_share_state = file.boolean("staging.nodes_share_state", false);
}

std::string name_of(system::ConfigFile& file, const std::string& key) {
    std::string name = file.required_text(key);
    if (!is_valid_name(name))
        file.fail(key, "'" + key + "' must be 1 to 64 of a-z 0-9 . _ -, starting with a letter or digit");
    return name;
}

void read_machines(system::ConfigFile& file, ZoneConfig& zone) {
    std::map<std::string, std::string> places;  // of names
    for (std::size_t i = 0; i < file.table_count("machine"); ++i) {
        const std::string at = "machine." + std::to_string(i) + ".";
        zone.zone.machines.push_back({name_of(file, at + "name"),
                                      static_cast<int>(file.integer(at + "processors", 1, 1, 1'000'000)),
                                      file.number(at + "speed", 1, 1e-6, 1e6)});
        const std::string& name = zone.zone.machines.back().name;
        const auto [first, is_new] = places.try_emplace(name, file.place(at + "name"));
        if (!is_new)
            file.fail(at + "name", "a [[machine]] is called '" + name + "' already, in " + first->second +
                                       ": give this one another name, or leave one of them out");
        zone.partition_of.push_back(file.text(at + "partition", "main"));
        if (file.boolean(at + "agent", false)) zone.agents.emplace(name);
        if (!is_valid_name(zone.partition_of.back()))
            file.fail(at + "partition",
                      "'partition' must be 1 to 64 of a-z 0-9 . _ -, starting with a letter or digit");
    }
}

void read_names(system::ConfigFile& file, ZoneSettings& settings) {
    ZoneConfig& zone = settings.zone;
    zone.zone.name = name_of(file, "name");
    zone.organisation = OrganisationName(name_of(file, "organisation"));
    zone.contact = file.text("contact", "the operator of zone " + zone.zone.name);
    settings.state_folder = file.required_text("state");
    read_listen(file, settings);
    settings.advertised_host = file.text("advertise", settings.listen_address);
    if (file.has("advertise")) {
        if (auto good = check_advertised_host(settings.advertised_host); !good)
            file.fail("advertise", "'advertise': " + good.error().message);
    }
}

void read_isolation(system::ConfigFile& file, ZoneSettings& settings) {
    const std::string run_as = file.text("run_as", geteuid() == 0 ? "accounts" : "self");
    if (run_as != "accounts" && run_as != "self") file.fail("run_as", "'run_as' must be accounts or self");
    settings.zone.run_as_accounts = run_as == "accounts";
    settings.hidden_paths = file.texts("hidden_paths");
    settings.default_account = AccountName(file.text("default_account", ""));
    settings.minimum_uid = static_cast<int>(file.integer("minimum_uid", 1'000, 1, 2'000'000'000));
    settings.require_isolation = file.boolean("require_isolation", false);
    if (file.has("shared_memory")) settings.shared_memory = file.boolean("shared_memory", false);
    settings.allow_private_addresses = file.boolean("allow_private_addresses", false);
}

void read_links(system::ConfigFile& file, ZoneConfig& zone) {
    zone.zone.within_machine = link_of(file, "network.machine_", zone.zone.within_machine);
    zone.zone.within_zone = link_of(file, "network.zone_", zone.zone.within_zone);
    zone.declares_within_zone = file.has("network.zone_delay_s") || file.has("network.zone_bandwidth_Bps");
    zone.default_link = link_of(file, "network.other_", zone.default_link);
    for (std::size_t i = 0; i < file.table_count("link"); ++i) {
        const std::string at = "link." + std::to_string(i) + ".";
        zone.links.push_back({ZoneName(name_of(file, at + "zone")), link_of(file, at, zone.default_link)});
    }
}

std::string mapper_of(system::ConfigFile& file, const std::string& key, const std::string& usual) {
    std::string mapper = file.text(key, usual);
    if (find_mapper(mapper) != nullptr) return mapper;
    std::string names;
    for (const auto& name : mapper_names()) names += " " + std::string(name);
    file.fail(key, "'mapper' must be one of" + names);
    return usual;
}

/// The queues of the zone and of its partitions; all that these may leave out is read.
void read_partitions(system::ConfigFile& file, ZoneConfig& zone) {
    const std::size_t count = std::min<std::size_t>(file.table_count("partition"), limits::kMaxPeeringPartitions);
    if (count < file.table_count("partition"))
        file.fail("partition", "more than " + std::to_string(count) + " [[partition]] tables; leave some out");
    for (std::size_t i = 0; i < count; ++i) {
        const std::string at = "partition." + std::to_string(i) + ".";
        PartitionConfig partition{.name = name_of(file, at + "name")};
        if (std::ranges::find(zone.partitions, partition.name, &PartitionConfig::name) != zone.partitions.end())
            file.fail(at + "name", "a [[partition]] is called '" + partition.name +
                                       "' already: give this one another name, or leave one of them out");
        if (file.has(at + "queue")) partition.queue = file.text(at + "queue", "");
        if (file.has(at + "mapper")) partition.mapper = mapper_of(file, at + "mapper", zone.level_two_mapper);
        if (file.has(at + "slice_s"))
            partition.slice = seconds_to_duration(file.number(at + "slice_s", to_seconds(zone.slice), 0.05, 60));
        if (file.has(at + "concurrent_gang")) partition.concurrent_gang = file.boolean(at + "concurrent_gang", false);
        if (file.has(at + "max_walltime_s"))
            partition.max_walltime = seconds_to_duration(
                file.number(at + "max_walltime_s", 0, 1, static_cast<double>(limits::kMaxWalltimeSeconds)));
        zone.partitions.push_back(std::move(partition));
    }
    bool shares = false;
    for (std::size_t i = 0; i < count; ++i) {
        PartitionConfig& partition = zone.partitions[i];
        const std::string at = "partition." + std::to_string(i) + ".";
        const ZoneConfig machines = config_of(zone, &partition);
        if (machines.zone.machines.empty())
            file.fail(at + "name", "[[partition]] '" + partition.name + "' has no machines: set partition = \"" +
                                       partition.name + "\" in a [[machine]], or leave the table out");
        else
            check_queue(file,
                        {at + "queue",
                         at + "concurrent_gang",
                         {at + "slice_s", at + "concurrent_gang"},
                         partition.name,
                         at + "name"},
                        machines, partition.slots, partition.sharing);
        shares = shares || partition.sharing != ZoneState::Sharing::kSpace;
    }
    const ZoneConfig others = zone.partitions.empty() ? zone : config_of(zone, nullptr);
    std::vector<std::string> sharing;
    if (!shares) sharing = {"time_sharing"};  // else it is what the partitions inherit
    check_queue(file, {"queue", "time_sharing.concurrent_gang", sharing, {}, {}}, others, zone.slots, zone.sharing);
}

void read_planning(system::ConfigFile& file, ZoneConfig& zone) {
    zone.level_two_mapper = mapper_of(file, "mapper", zone.level_two_mapper);
    zone.max_overcommit = static_cast<int>(file.integer("max_overcommit", 1, 1, limits::kMaxOvercommit));
    zone.queue = file.text("queue", zone.queue);
    if (file.has("time_sharing")) {
        zone.slice = seconds_to_duration(file.number("time_sharing.slice_s", to_seconds(zone.slice), 0.05, 60));
        zone.concurrent_gang = file.boolean("time_sharing.concurrent_gang", false);
    }
    read_partitions(file, zone);
}

void read_mpi(system::ConfigFile& file, const std::string& program_folder, ZoneConfig& zone) {
    zone.mpiexec = file.text("mpi.mpiexec", zone.mpiexec);
    zone.mpi_proxy = file.text("mpi.proxy", zone.mpi_proxy);
    zone.mpirun = file.text("mpi.mpirun", zone.mpirun);
    zone.orted = file.text("mpi.orted", zone.orted);
    zone.max_output_bytes = static_cast<std::uint64_t>(file.integer("mpi.output_MiB", 10'240, 0, 1 << 30)) << 20;
    zone.mpi_interface = file.text("mpi.interface", zone.mpi_interface);
    const Result<std::string> interface = system::resolve_interface(zone.mpi_interface);
    if (interface)
        zone.mpi_interface = *interface;
    else if (interface.error().code == ErrorCode::kInvalidArgument)  // else the zone's start says it, not each command
        file.fail("mpi.interface", interface.error().message);
    zone.profiler =
        file.text("mpi.profiler",
                  first_existing({program_folder + "/../lib/libzbs-profile.so", "/usr/lib/zbs/libzbs-profile.so"}));
}

void read_timing(system::ConfigFile& file, ZoneConfig& zone) {
    zone.hold_ttl = seconds_of(file, "timing.hold_ttl_s", zone.hold_ttl);
    zone.launch_window = seconds_of(file, "timing.launch_window_s", zone.launch_window);
    zone.max_grace =
        seconds_to_duration(file.number("timing.max_grace_s", to_seconds(zone.max_grace), 0, limits::kMaxGraceSeconds));
    zone.reserve_ahead = seconds_of(file, "timing.reserve_ahead_s", zone.reserve_ahead);
    zone.max_reservations = static_cast<int>(file.integer("reservations", zone.max_reservations, 0, 10'000));
    zone.probe_every = seconds_to_duration(file.number("sensors.probe_s", to_seconds(zone.probe_every), 0, 86'400));
    zone.public_metrics = file.boolean("metrics.public", false);
    zone.lease = seconds_of(file, "timing.lease_s", zone.lease);
    zone.renew_every = seconds_of(file, "timing.renew_s", zone.renew_every);
    zone.discover_every = seconds_of(file, "timing.discover_s", zone.discover_every);
    zone.results_kept = seconds_to_duration(86'400 * file.number("retention.results_days", 30, 0.01, 36'500));
}

void read_rates(system::ConfigFile& file, ZoneSettings& settings) {
    settings.rates.user = rate_of(file, "rates.user", settings.rates.user);
    settings.rates.zone = rate_of(file, "rates.zone", settings.rates.zone);
    settings.rates.anonymous = rate_of(file, "rates.anonymous", settings.rates.anonymous);
    settings.rates.connection = rate_of(file, "rates.connection", settings.rates.connection);
}

}  // namespace

Result<ZoneSettings> read_zone_settings(const std::string& path, const std::string& program_folder,
                                        const ConfigChecks& checks, const ReadMore& read_more) {
    Result<system::ConfigFile> read = system::ConfigFile::read(path);
    if (!read) return read.error();
    system::ConfigFile& file = *read;
    ZoneSettings settings;
    ZoneConfig& zone = settings.zone;
    read_names(file, settings);
    zone.honour_blocks = to_names<OrganisationName>(file.texts("honour_blocks"));
    read_isolation(file, settings);
    read_slurm(file, settings);
    read_database(file, settings);
    read_machines(file, zone);
    read_staging(file, zone);
    if (zone.zone.machines.empty() && !settings.slurm)
        file.fail("machine", "at least one [[machine]] is needed, or [slurm]");
    read_account_map(file, zone);
    SiteNames site{partitions_of(zone), zone.accounts ? &*zone.accounts : nullptr, zone.account_map_file, {}};
    if (zone.run_as_accounts && checks.check_account) {
        site.check_account = [&](const AccountName& account) {
            return checks.check_account(account, settings.minimum_uid);
        };
    }
    read_peering_rules(file, {site, checks.trust}, zone);
    read_asks(file, checks.trust, zone);
    zone.reuse_pool_accounts = file.boolean("reuse_pool_accounts", false);
    settings.grid_users = read_grid_mapfiles(file, zone.organisation);
    read_links(file, zone);
    read_planning(file, zone);
    settings.queue_log = file.text("queue_log", "");
    settings.part_log = file.text("part_log", "");
    read_mpi(file, program_folder, zone);
    settings.step_supervisor = file.text("step_supervisor", program_folder + "/zbs-step");
    read_timing(file, zone);
    read_rates(file, settings);
    if (read_more) read_more(file, zone);
    if (auto ok = file.finish(); !ok) return ok.error();
    settings.values = file.values();
    settings.files = file.files();
    zone.has_slurm = settings.slurm.has_value();
    if (settings.slurm) return settings;  // its machines are checked once Slurm has reported them
    if (auto checked = ResourceGraph::make({zone.zone}, {}); !checked) return invalid(checked.error().message, path);
    return settings;
}

}  // namespace zbs
