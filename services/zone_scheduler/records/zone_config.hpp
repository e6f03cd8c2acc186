#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "algorithms/base/time.hpp"
#include "algorithms/model/resource_graph.hpp"
#include "algorithms/model/zone_state.hpp"
#include "services/common/messages/capacity.hpp"
#include "services/common/messages/registry.hpp"
#include "services/zone_scheduler/trust/site_policy/account_map.hpp"
#include "services/zone_scheduler/trust/site_policy/peering_rights.hpp"

namespace zbs {

/// An organisation whose zones are to be asked to take the own users, and how it is known: by its bundle, by the
/// bundle's fingerprint, or by both.
struct AskedOrganisation {
    OrganisationName organisation;
    std::string fingerprint;
    std::string bundle;  ///< PEM; empty: the one that the registry shows, if it has the fingerprint
    bool operator==(const AskedOrganisation&) const = default;
};

/// Bounds of files that come with applications and go back: each of one application, in and out.
struct StagingConfig {
    std::uint64_t file_bytes = 256ULL << 20;   ///< of one file
    std::uint64_t job_bytes = 1024ULL << 20;   ///< of all inputs of one application, and of all its results; 0: none
    std::uint64_t user_bytes = 4096ULL << 20;  ///< of one user, kept for further applications
    /// Longest that a committed part waits for its files, and home for results of a silent zone: processors wait, too.
    Duration window = std::chrono::minutes{10};
    std::string shared_file_system;  ///< zones that name the same one need nothing sent; empty: none
    bool nodes_share_state = false;  ///< the machines see the zone's state folder under the same path
    bool operator==(const StagingConfig&) const = default;
};

/// A `[[partition]]`: the machines of this partition have a queue of their own. What is left out is as in the zone.
struct PartitionConfig {
    std::string name;
    std::optional<std::string> queue, mapper;
    std::optional<Duration> slice, max_walltime;
    std::optional<bool> concurrent_gang;
    int slots = 1;  ///< as the policy of its queue has it, also where that is the zone's; likewise the next
    ZoneState::Sharing sharing = ZoneState::Sharing::kSpace;
    bool operator==(const PartitionConfig&) const = default;
};

/// What an operator settles for a zone. Read at start; what `settings_table` says of SIGHUP changes on the strand.
struct ZoneConfig {
    ZoneName name() const { return ZoneName(zone.name); }
    Caller self() const { return {CallerKind::kZone, organisation, zone.name}; }  ///< as it names itself in calls

    Zone zone;                          ///< name, machines, links inside
    bool declares_within_zone = false;  ///< the operator has said what `zone.within_zone` is; else it may be measured
    OrganisationName organisation;
    std::string contact;
    std::string url;                ///< where others reach this zone
    std::vector<LinkToZone> links;  ///< declared links to other zones
    Link default_link = ResourceGraph::kDefaultZoneLink;
    std::set<MachineName, std::less<>>
        agents;                               ///< machines whose own agents run the steps there; others: this host does
    std::vector<std::string> partition_of;    ///< by machine; "main" where it says nothing
    std::vector<PartitionConfig> partitions;  ///< those with a queue of their own, in the order of the file
    /// Processors x slots of the whole zone, where this is the configuration of a partition; 0 in the zone's own.
    int processors_of_zone = 0;
    std::string account_map_file;                 ///< where `accounts` comes from; empty where there are none
    bool reuse_pool_accounts = false;             ///< the site cleans an account of a pool before its next user
    std::optional<AccountMap> accounts;           ///< none: own users run as the zone, others as their peering says
    std::vector<AutomaticRule> rules;             ///< accept organisations without the operator; default: nobody
    std::vector<AskedOrganisation> asks;          ///< whom the zone asks by itself
    std::vector<OrganisationName> honour_blocks;  ///< organisations whose blocks of others' subjects count here, too
    std::string registry_code;                    ///< to enrol with; empty once that is done
    ServiceAddress registry;                      ///< empty url = none

    std::string level_two_mapper = "global";
    int max_overcommit = 1;  ///< most ranks of one part on a processor
    /// The queue discipline, as `queue_discipline` reads it; empty: nobody can wait in this zone's queue, and whose
    /// part does not fit now asks again.
    std::string queue;
    /// Most parts of a processor, and how they share it, both as the policy in `queue` has it. More than one only where
    /// all machines have agents.
    int slots = 1;
    ZoneState::Sharing sharing = ZoneState::Sharing::kSpace;
    bool concurrent_gang = false;  ///< where parts take turns, others run in slots whose part waits or is missing
    Duration slice = std::chrono::milliseconds{200};  ///< length of a turn; where parts have shares, of the period
    /// True: jobs run as the accounts that users are mapped to (the zone must be root). False: as the zone's own user,
    /// whatever account the map says.
    bool run_as_accounts = false;
    std::string mpiexec = "/usr/bin/mpiexec.mpich";
    std::string mpi_proxy = "/usr/bin/hydra_pmi_proxy";
    std::string mpirun = "/usr/bin/mpirun.openmpi";  ///< of Open MPI; empty: none here
    std::string orted = "/usr/bin/orted";            ///< its daemon
    std::string mpich_version, openmpi_version;      ///< as the programs print them; empty: not known
    /// Output of all ranks of one application, bytes: whose is more is stopped. 0: no limit.
    std::uint64_t max_output_bytes = std::uint64_t{10} << 30;
    std::optional<Duration> max_walltime;  ///< of a part, by the site's own scheduler; none: only rights bound it
    int max_machines = 0;                  ///< of one part, likewise; 0: no limit
    bool has_slurm = false;                ///< the machines are those of Slurm
    std::string mpi_interface = "lo";      ///< name of the interface over which proxies reach the coordinator
    std::string profiler;                  ///< path of libzbs-profile.so; empty = runs are not profiled

    bool public_metrics = false;  ///< anybody who reaches the zone may read its figures

    Duration hold_ttl = std::chrono::seconds{30};  ///< an uncommitted hold lives this long
    Duration launch_window =
        std::chrono::seconds{30};  ///< a committed part that nobody launches is given back after this
    /// Most time that a job here has between SIGTERM and SIGKILL; who asks for more has this.
    Duration max_grace = std::chrono::minutes{5};
    Duration reserve_ahead = std::chrono::hours{24};  ///< no start is promised for later than this
    /// Waiting applications with a reserved start at a time, of this home; the others wait for what is left.
    int max_reservations = 16;
    StagingConfig staging;
    Duration lease = std::chrono::seconds{40};
    Duration renew_every = std::chrono::seconds{10};
    Duration discover_every = std::chrono::seconds{5};
    Duration exchange_every = std::chrono::seconds{15};  ///< looks at others' revocations and blocks
    Duration probe_every = std::chrono::minutes{1};      ///< delay and bandwidth are measured; 0: never
    Duration poll_every = std::chrono::milliseconds{200};
    Duration results_kept = std::chrono::hours{30 * 24};  ///< output and records of what has ended
};

/// How much longer the site's own scheduler is asked for processors, because files may come first.
inline Duration window_for_files(const ZoneConfig& config) {
    return config.staging.nodes_share_state ? config.staging.window : Duration{0};
}

/// What the operator has declared of the link to another zone; null where nothing is.
const LinkToZone* declared_link(const ZoneConfig& config, const ZoneName& zone);

/// The yellow pages of the zone: kMpiCategory, and what it offers, as `ZoneOffer` has it.
std::vector<std::string> categories_of(const ZoneConfig& config);

/// The partitions that machines are in, sorted; "main" where the zone has none yet.
std::vector<std::string> partitions_of(const ZoneConfig& config);

/// The configuration of the machines that share one queue: of a partition of `config.partitions`; null: of all machines
/// that are in none of these, which may be none.
ZoneConfig config_of(const ZoneConfig& config, const PartitionConfig* partition);

/// Processors x slots of all queues of the zone, of which its shares are fractions.
int processors_with_slots(const ZoneConfig& config);

}  // namespace zbs
