#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iostream>
#include <string>
#include <string_view>

#include "algorithms/base/result.hpp"
#include "services/common/adapters/beast/service_loop.hpp"
#include "services/common/adapters/system/spd_log.hpp"
#include "services/common/failpoint/failpoint.hpp"
#include "services/zone_scheduler/adapters/slurm/command.hpp"
#include "services/zone_scheduler/config/settings_table.hpp"
#include "services/zone_scheduler/program/active_zone.hpp"
#include "services/zone_scheduler/program/credentials.hpp"
#include "services/zone_scheduler/program/edge.hpp"
#include "services/zone_scheduler/program/standby.hpp"
#include "services/zone_scheduler/program/take_over_checks.hpp"
#include "services/zone_scheduler/program/take_over_watch.hpp"
#include "services/zone_scheduler/program/zone_program.hpp"
#include "services/zone_scheduler/records/zone_config.hpp"

namespace zbs::zone_program {
namespace {

/// After all other settings, which partitions inherit. One that cannot be changed now stays as it is.
void reload_partitions(ZoneCore& zone, ZoneConfig& running, const ZoneConfig& read, Log& log) {
    const auto refresh = [&](const std::string& name) {
        auto done = zone.refresh(name);
        if (!done)
            log.warn("setting_not_reloaded", {{"key", "[[partition]] " + name}, {"reason", done.error().message}});
        return done.has_value();
    };
    refresh({});
    for (PartitionConfig& partition : running.partitions) {
        const auto wanted = std::ranges::find(read.partitions, partition.name, &PartitionConfig::name);
        PartitionConfig before = partition;
        if (wanted != read.partitions.end()) partition = *wanted;
        if (!refresh(partition.name)) partition = std::move(before);
    }
    if (!std::ranges::equal(running.partitions, read.partitions, {}, &PartitionConfig::name, &PartitionConfig::name))
        log.warn("setting_not_reloaded",
                 {{"key", "[[partition]]"},
                  {"reason", "tables came, went or changed places, which takes effect after a restart"}});
}

/// On the strand, as all that reads `running`.
void reload_settings(const std::string& config_path, ServiceHost& host, ZoneCore& zone, Edge& edge,
                     ZoneSettings& running, Log& log) {
    const Result<ZoneSettings> again = load_settings(config_path);
    if (!again)
        return log.warn("rules_not_reloaded", {{"place", again.error().pointer}, {"reason", again.error().message}});
    for (const std::string& key : keys_for_restart(running, *again)) {
        const std::string place = again->place_of(key);
        log.warn("setting_not_reloaded", {{"setting", key},
                                          {"reason", "changed in " + (place.empty() ? config_path : place) +
                                                         ", takes effect after a restart"}});
    }
    // On record before it is done: it changes who is accepted, as whom, and whose blocks count.
    if (auto kept =
            zone.audit().append(reload_entry(config_path, running, *again, host.clock.now()), AuditUrgency::kNow);
        !kept) {
        return log.warn("rules_not_reloaded", {{"place", "the audit log"}, {"reason", kept.error().message}});
    }
    if (auto named = name_grid_users(host.trust, running.grid_users, again->grid_users); !named)
        log.warn("grid_users_not_reloaded", {{"reason", named.error().message}});
    else
        running.grid_users = again->grid_users;
    const bool new_contact = running.zone.contact != again->zone.contact;
    const std::vector<std::string> offered = categories_of(running.zone);
    if (auto set = zone.set_queue(again->zone.queue); set) {
        running.zone.queue = again->zone.queue;
        running.zone.sharing = again->zone.sharing;
    } else
        log.warn("setting_not_reloaded", {{"key", "queue"}, {"reason", set.error().message}});
    running.zone.contact = again->zone.contact;
    running.zone.max_overcommit = again->zone.max_overcommit;
    running.zone.public_metrics = again->zone.public_metrics;
    running.zone.honour_blocks = again->zone.honour_blocks;
    running.zone.reuse_pool_accounts = again->zone.reuse_pool_accounts;
    running.zone.account_map_file = again->zone.account_map_file;
    running.zone.accounts = again->zone.accounts;
    running.zone.rules = again->zone.rules;
    running.zone.asks = again->zone.asks;
    running.zone.results_kept = again->zone.results_kept;
    running.rates = again->rates;
    reload_partitions(zone, running.zone, again->zone, log);
    if (new_contact || offered != categories_of(running.zone)) zone.sign_anew();
    edge.door.set_rates(again->rates);
    zone.set_accounts(again->zone.accounts);
    zone.set_rules(again->zone.rules);
    zone.set_asks(again->zone.asks);
    log.info("rules_reloaded", {{"rules", std::to_string(again->zone.rules.size())}});
}

/// What SIGHUP does: settings that can change while the zone runs (`settings_table`) and its certificate are read anew;
/// the log names those of the others that were changed, the audit log those that were taken (`reload_entry`). A file
/// with a fault, or an audit log that takes no entry, changes nothing; the log has it. `running` are the settings in
/// force. From any thread.
void reload(const std::string& config_path, ServiceHost& host, ZoneCore& zone, Edge& edge, ZoneSettings& running,
            Log& log) {
    boost::asio::post(host.strand, [&host, &zone, &edge, &running, &log, config_path] {
        reload_settings(config_path, host, zone, edge, running, log);
    });
    if (!host.keys || !host.reload_keys_and_log(log)) return;
    boost::asio::post(host.strand, [&zone] { zone.sign_anew(); });
}

namespace fs = std::filesystem;

/// A path of `library` that LD_PRELOAD can name. LD_PRELOAD separates its entries by blanks and colons; a path that
/// contains one gets a link in a folder of this account below /tmp, which every account can read. Empty for an empty
/// path. Errors: kUnavailable if the link cannot be made.
Result<std::string> preload_path(const std::string& library) {
    if (library.find_first_of(" :") == std::string::npos) return library;
    const auto cannot = [](const std::string& what, const std::string& path) {
        return Error{ErrorCode::kUnavailable,
                     "[mpi] 'profiler' needs a path without blanks and colons for LD_PRELOAD; cannot " + what + " " +
                         path + ": " + std::strerror(errno) + "; install the library elsewhere",
                     {}};
    };
    const std::string folder = "/tmp/zbs-preload-" + std::to_string(geteuid());
    struct stat found {};
    if (mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) return cannot("make", folder);
    // The folder must be ours alone: what it names is loaded into jobs.
    if (lstat(folder.c_str(), &found) != 0 || !S_ISDIR(found.st_mode) || found.st_uid != geteuid() ||
        (found.st_mode & 022) != 0) {
        errno = EPERM;
        return cannot("use", folder);
    }
    if (chmod(folder.c_str(), 0755) != 0) return cannot("open", folder);
    const std::string place = folder + "/" + std::to_string(std::hash<std::string>{}(library));
    if (mkdir(place.c_str(), 0755) != 0 && errno != EEXIST) return cannot("make", place);
    if (chmod(place.c_str(), 0755) != 0) return cannot("open", place);
    const std::string link = place + "/" + fs::path(library).filename().string();
    std::error_code fault;
    if (fs::read_symlink(link, fault) == library) return link;
    const std::string fresh = link + "." + std::to_string(getpid());
    unlink(fresh.c_str());
    if (symlink(library.c_str(), fresh.c_str()) != 0 || rename(fresh.c_str(), link.c_str()) != 0)
        return cannot("make", link);
    return link;
}

constexpr std::string_view kBlank = " \t\r\n";

bool is_version(std::string_view word) {
    constexpr std::string_view kBytes = "0123456789abcdefghijklmnopqrstuvwxyz.";
    return word.size() <= 32 && word[0] >= '0' && word[0] <= '9' && word.find('.') != std::string_view::npos &&
           word.find_first_not_of(kBytes) == std::string_view::npos;
}

/// The first word of "mpirun (Open MPI) 4.1.4" or "HYDRA build details:\n  Version: 4.0.2\n" that is a version.
std::string version_in(std::string_view text) {
    for (std::size_t at = 0; (at = text.find_first_not_of(kBlank, at)) != std::string_view::npos;) {
        const std::size_t end = std::min(text.find_first_of(kBlank, at), text.size());
        if (const std::string_view word = text.substr(at, end - at); is_version(word)) return std::string(word);
        at = end;
    }
    return {};
}

std::string version_of(const std::string& program) {
    if (program.empty()) return {};
    const Result<slurm::CommandOutput> printed = slurm::run({.program = program,
                                                             .arguments = {"--version"},
                                                             .environment = {{"PATH", "/usr/bin:/bin"}},
                                                             .deadline = std::chrono::seconds{5},
                                                             .max_output = 64 * 1024});
    return printed && printed->exit_code == 0 ? version_in(printed->out) : std::string();
}

/// Asks the launchers of the zone for their versions, each for at most 5 s. The version of one that is not there, or
/// prints none, stays empty.
void find_mpi_versions(ZoneConfig& zone) {
    zone.mpich_version = version_of(zone.mpiexec);
    zone.openmpi_version = version_of(zone.mpirun);
}

constexpr Duration kFarewell = std::chrono::milliseconds{300};
constexpr Duration kCertificateCheck = std::chrono::hours{1};
constexpr Duration kNote = std::chrono::seconds{1};  ///< how late a standby knows what was found at most

void drain(ServiceHost& host, Edge& edge, const std::unique_ptr<ActiveZone>& active) {
    edge.door.drain();
    boost::asio::post(host.strand, [&] {
        if (active) active->zone->leave();
        // The registry's answer comes back through this strand; then nothing is left to wait for.
        host.clock.after(active ? kFarewell : Duration{0}, [&host] {
            host.clock.cancel_all();
            host.io.stop();
        });
    });
}

void say_listening(const ZoneSettings& settings) {
    std::cout << "zbs-zone " << settings.zone.zone.name << " listening on " << settings.zone.url << std::endl;
    beast::report_status("serves on " + settings.zone.url);
}

/// A zone whose database is a file of its own: it is active from its start on, or does not start.
Result<void> start_alone(ServiceHost& host, ZoneSettings& settings, const StateFolder& state, Storage storage,
                         Edge& edge, std::unique_ptr<ActiveZone>& active, const std::string& config_path, Log& log) {
    auto made = ActiveZone::make(host, settings, state, std::move(storage), config_path, log);
    if (!made) return made.error();
    active = *std::move(made);
    Result<std::string> url = edge.open(settings, state);
    if (!url) return url.error();
    if (auto announced = Edge::announce(settings, state, *url); !announced) return announced;
    settings.zone.url = *std::move(url);
    if (auto begun = active->begin(host); !begun) return begun;
    edge.serve(*active->zone);
    return {};
}

/// The active one renews the certificate, which is in the folder that both share.
void read_certificate_again(ServiceHost& host, Log& log) {
    if (!host.keys) return;
    if (auto read = host.reload_keys(); !read) log.warn("certificate_not_read", {{"reason", read.error().message}});
}

void keep_noting(ServiceHost& host, TakeOverWatch& watch, Standby& standby, const std::unique_ptr<ActiveZone>& active) {
    if (active) return watch.end();
    standby.record(watch.found());
    host.clock.after(kNote, [&] { keep_noting(host, watch, standby, active); });
}

/// Not where the folder is out of order: reading might hang the strand with it.
void keep_certificate_fresh(ServiceHost& host, const TakeOverWatch& watch, const std::unique_ptr<ActiveZone>& active,
                            Log& log) {
    host.clock.after(kCertificateCheck, [&] {
        if (active) return;
        if (watch.found()) read_certificate_again(host, log);
        keep_certificate_fresh(host, watch, active, log);
    });
}

void reload_standby(ServiceHost& host, const TakeOverWatch& watch, Log& log) {
    if (const Result<void> good = watch.found(); good)
        read_certificate_again(host, log);
    else
        log.warn("certificate_not_read", {{"reason", good.error().message}});
    log.info("rules_not_reloaded", {{"reason", "a standby reads its settings when it takes over"}});
}

/// The storage of a zone whose database is a file of its own; none of one that stands by at first.
Result<std::optional<Storage>> open_at_start(const ZoneSettings& settings, const StateFolder& state, Log& log) {
    if (settings.database) {
        if (auto good = TakeOverChecks(settings, state).at_start(); !good) return good.error();
        return std::optional<Storage>{};
    }
    Result<Storage> opened = open_storage(settings, state, log);
    if (!opened) return opened.error();
    return std::optional<Storage>{*std::move(opened)};
}

/// What a zone's program has while it serves.
struct Serving {
    ServiceHost& host;
    ZoneSettings& settings;
    const StateFolder& state;
    const std::string& config_path;
    Log& log;
    Edge& edge;
    std::unique_ptr<ActiveZone>& active;
    std::unique_ptr<Standby>& standby;
    std::unique_ptr<TakeOverWatch>& watch;
};

/// Ends the process where it fails.
void become_active(const Serving& now, std::int64_t epoch) {
    auto taken = take_over(now.host, now.settings, now.state, {now.standby->lease(), epoch}, now.config_path, now.log);
    Result<void> begun = taken ? (*taken)->begin(now.host) : taken.error();
    if (begun) begun = Edge::announce(now.settings, now.state, now.settings.zone.url);
    if (!begun) {
        now.standby->release();
        std::_Exit(fail(begun.error()));
    }
    now.active = *std::move(taken);
    now.edge.door.set_rates(now.settings.rates);
    now.edge.serve(*now.active->zone);
    say_listening(now.settings);
}

/// A zone whose database several schedulers share: it stands by until its lease ends that of the active one.
Result<void> start_standing_by(const Serving& now) {
    Result<std::string> url = now.edge.open(now.settings, now.state);
    if (!url) return url.error();
    now.settings.zone.url = *std::move(url);
    auto made = Standby::make(now.settings, now.log);
    if (!made) return made.error();
    now.standby = *std::move(made);
    now.watch = std::make_unique<TakeOverWatch>(
        [checks = std::make_shared<TakeOverChecks>(now.settings, now.state)] { return checks->while_standing_by(); });
    boost::asio::post(now.host.strand, [now] {
        keep_noting(now.host, *now.watch, *now.standby, now.active);
        keep_certificate_fresh(now.host, *now.watch, now.active, now.log);
    });
    now.standby->start(
        [now](std::int64_t epoch) { boost::asio::post(now.host.strand, [now, epoch] { become_active(now, epoch); }); },
        [&watch = *now.watch] { return watch.found_now().has_value(); });
    return {};
}

void serve(const Serving& now) {
    now.host.run({.ready =
                      [&] {
                          if (!now.standby) return say_listening(now.settings);
                          std::cout << "zbs-zone " << now.settings.zone.zone.name << " standing by on "
                                    << now.settings.zone.url << std::endl;
                      },
                  .drain = [&] { drain(now.host, now.edge, now.active); },
                  .reload =
                      [&] {
                          boost::asio::post(now.host.strand, [&] {
                              if (now.active)
                                  return reload(now.config_path, now.host, *now.active->zone, now.edge, now.settings,
                                                now.log);
                              reload_standby(now.host, *now.watch, now.log);
                          });
                      }});
}

}  // namespace

int run(const std::string& config_path) {
    Result<ZoneSettings> settings = load_settings(config_path);
    if (!settings) return fail(settings.error());
    if (auto good = check_for_service(*settings, config_path); !good) return fail(good.error());
    // Of a folder that several schedulers share the checks of taking over see more.
    if (!settings->database) {
        if (auto good = check_keys(*settings, config_path); !good) return fail(good.error());
    }
    const auto failpoints = failpoint::from_environment(failpoint::Program::kZone);
    if (!failpoints) return fail(failpoints.error());
    const StateFolder state{settings->state_folder};
    Result<std::string> profiler = preload_path(settings->zone.profiler);
    if (!profiler) return fail(profiler.error());
    settings->zone.profiler = *std::move(profiler);
    find_mpi_versions(settings->zone);  // here, so that a standby takes over without it
    make_state_folder(*settings, state);
    const std::unique_ptr<Log> log = system::make_log("zbs-zone." + settings->zone.zone.name);
    Result<std::optional<Storage>> storage = open_at_start(*settings, state, *log);
    if (!storage) return fail(storage.error());
    failpoint::arm(*failpoints, *log);
    std::unique_ptr<Standby> standby;  // the storage's fence looks at its lease
    ServiceHost host;
    Result<std::string> local_token = load_credentials(host, state, *settings);
    if (!local_token) return fail(local_token.error());
    std::unique_ptr<TakeOverWatch> watch;  // of a standby
    if (!host.keys)
        log->warn("no_certificate",
                  {{"folder", state.identity()},
                   {"reason",
                    "the zone serves plain HTTP on loopback, alone; if it has keys elsewhere, correct 'state', "
                    "else 'zbs-zone init' makes them"}});
    std::unique_ptr<ActiveZone> active;
    const Caller self = settings->zone.self();
    Edge edge(host, *settings, *std::move(local_token),
              [&](const http::Call& call) { return standby->answer(call, to_string(host.ids.fresh(self))); });
    const Serving serving{host, *settings, state, config_path, *log, edge, active, standby, watch};
    const Result<void> started =
        *storage ? start_alone(host, *settings, state, **std::move(storage), edge, active, config_path, *log)
                 : start_standing_by(serving);
    if (!started) return fail(started.error());
    serve(serving);
    if (active) {
        if (auto kept = active->zone->commit(); !kept) return fail(kept.error());
    }
    if (watch) watch->end();  // the lease's thread may wait for it
    if (standby) standby->release();
    return 0;
}

}  // namespace zbs::zone_program
