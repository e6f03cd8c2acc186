// zbs-zone doctor: what may keep a zone from working, and what to do about it. Changes nothing, also while the zone
// runs.
#include "services/zone_scheduler/program/commands/doctor_command.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <iostream>

#include "algorithms/base/duration_text.hpp"
#include "services/common/adapters/beast/port_rights.hpp"
#include "services/common/adapters/beast/server.hpp"
#include "services/common/adapters/command_line/check.hpp"
#include "services/common/adapters/command_line/check_codec.hpp"
#include "services/common/adapters/command_line/output.hpp"
#include "services/common/adapters/command_line/terminal.hpp"
#include "services/common/adapters/openssl/own_keys.hpp"
#include "services/common/adapters/process/account.hpp"
#include "services/common/adapters/sqlite/audit_log.hpp"
#include "services/common/adapters/sqlite/database.hpp"
#include "services/common/adapters/sqlite/zone_store.hpp"
#include "services/common/adapters/system/network_interface.hpp"
#include "services/common/adapters/system/wall_clock.hpp"
#include "services/common/codec/peering_codec.hpp"
#include "services/common/messages/names/host_name.hpp"
#include "services/common/messages/registry.hpp"
#include "services/zone_scheduler/adapters/postgresql/lease.hpp"
#include "services/zone_scheduler/adapters/postgresql/zone_store.hpp"
#include "services/zone_scheduler/program/commands/operator_client.hpp"
#include "services/zone_scheduler/program/commands/ready_command.hpp"
#include "services/zone_scheduler/program/commands/registry_check.hpp"
#include "services/zone_scheduler/program/slurm.hpp"
#include "services/zone_scheduler/program/storage.hpp"
#include "services/zone_scheduler/program/take_over_checks.hpp"
#include "services/zone_scheduler/program/take_over_watch.hpp"

namespace zbs::zone_program {
namespace {

using command_line::Check;
using command_line::CheckResult;
using command_line::Output;
using Checks = std::vector<Check>;

constexpr std::uint64_t kLittleDisk = std::uint64_t{2} << 30;
constexpr std::uint64_t kNoDisk = std::uint64_t{64} << 20;
constexpr const char* kAsOwner = "run this as the user that the zone runs as, e.g. 'sudo -u zbs zbs-zone doctor'";

void check_state_folder(const StateFolder& state, Checks& checks) {
    struct stat info {};
    if (stat(state.path.c_str(), &info) != 0)
        return checks.push_back({"state folder", CheckResult::kFail, state.path + " is not there",
                                 "make the zone's keys, which makes it: 'zbs-zone init --config FILE'"});
    if (!S_ISDIR(info.st_mode))
        return checks.push_back({"state folder", CheckResult::kFail, state.path + " is no folder",
                                 "name a folder with 'state', or move what is there away"});
    if (access(state.path.c_str(), R_OK | W_OK | X_OK) != 0)
        return checks.push_back(
            {"state folder", CheckResult::kFail, state.path + " cannot be written by this user", kAsOwner});
    if ((info.st_mode & 0077 & ~0011) != 0)
        return checks.push_back({"state folder", CheckResult::kFail,
                                 state.path + " can be read by others; keys are in it", "chmod 700 " + state.path});
    std::error_code fault;
    const std::uintmax_t left = std::filesystem::space(state.path, fault).available;
    const std::string room = state.path + ", " + std::to_string(left >> 20) + " MiB left on its disk";
    if (fault || left >= kLittleDisk) return checks.push_back({"state folder", CheckResult::kOk, room, {}});
    checks.push_back({"state folder", left < kNoDisk ? CheckResult::kFail : CheckResult::kWarn, room,
                      "make room, or shorten [retention] results_days; a zone whose disk is full stops"});
}

/// What to do where the keys in `folder` cannot be used: only what is missing or damaged is put back.
std::string remedy_of(const Error& fault, const std::string& folder, const std::string& renewal) {
    if (fault.code == ErrorCode::kUnauthenticated) return renewal;
    if (fault.code == ErrorCode::kNotFound || fault.code == ErrorCode::kInvalidArgument)
        return "put back what a backup of " + folder + " has";
    return "what it says; the keys are there, nothing is to be put back";
}

/// Whether the running zone can be asked, with the operator's keys where it has some.
bool check_own_keys(const ZoneSettings& settings, const StateFolder& state, Checks& checks) {
    std::error_code fault;
    if (!std::filesystem::exists(state.identity(), fault)) {
        // ENOTDIR: the state folder is no folder, which was reported.
        if (fault && fault != std::errc::not_a_directory) {
            checks.push_back(
                {"keys", CheckResult::kFail, state.identity() + " cannot be looked at: " + fault.message(), kAsOwner});
            return false;
        }
        checks.push_back({"keys", settings.listen_address == "127.0.0.1" ? CheckResult::kWarn : CheckResult::kFail,
                          "none; the zone serves plain HTTP on loopback only",
                          "'zbs-zone init --config FILE', for other machines and organisations"});
        return true;
    }
    bool can_ask = true;
    for (const auto& [name, folder] : {std::pair{"zone's certificate", state.identity()},
                                       std::pair{"operator's certificate", state.operator_identity()}}) {
        const auto keys = openssl::KeyFolder::open(folder, system::wall_clock);
        const bool is_operator = folder != state.identity();
        const std::string remedy = is_operator ? "'zbs-zone operator --config FILE' makes a new one"
                                               : "'zbs-zone renew --certificate FILE --config FILE'; a zone that holds "
                                                 "the CA key renews by itself while it runs";
        if (!keys) {
            can_ask = can_ask && !is_operator;
            checks.push_back(
                {name, CheckResult::kFail, text_with_pointer(keys.error()), remedy_of(keys.error(), folder, remedy)});
            continue;
        }
        if (const Result<void> own = is_operator ? Result<void>{} : check_name((*keys)->name(), settings); !own) {
            checks.push_back({name, CheckResult::kFail, text_with_pointer(own.error()),
                              "'name' and 'organisation' in the configuration, or 'state', which names the folder"});
            continue;
        }
        const Duration left = (*keys)->not_after() - system::wall_clock();
        const std::string name_and_end =
            to_uri((*keys)->name()) + (left > Duration{0} ? ", ends in " + format_duration(left) : ", has ended");
        const bool is_due = (*keys)->is_due(system::wall_clock());
        checks.push_back({name,
                          left <= Duration{0} ? CheckResult::kFail
                          : is_due            ? CheckResult::kWarn
                                              : CheckResult::kOk,
                          name_and_end, is_due || left <= Duration{0} ? remedy : std::string{}});
    }
    return can_ask;
}

void check_audit_log(const Result<AuditSummary>& verified, Checks& checks) {
    if (verified && verified->latest_loss > 0)
        return checks.push_back({"audit log", CheckResult::kWarn,
                                 "entry " + std::to_string(verified->latest_loss) +
                                     " records that entries were lost before it; those that are there are whole",
                                 "'zbs-zone audit list' shows the detail of the entry; compare the log with a backup"});
    if (verified)
        return checks.push_back(
            {"audit log", CheckResult::kOk, "whole, " + std::to_string(verified->head.entries) + " entries", {}});
    checks.push_back(
        {"audit log", CheckResult::kFail, text_with_pointer(verified.error()),
         "keep a copy of the log, and compare it with a backup; 'zbs-zone audit verify' checks each entry again"});
}

/// As the start of the zone checks it. The note is read first, because the log of a running zone grows.
Result<AuditSummary> verify_with_note(const StateFolder& state) {
    Result<std::unique_ptr<sqlite::Database>> zone = sqlite::Database::open_read_only(state.database());
    if (!zone) return zone.error();
    const Result<std::optional<AuditHead>> noted = sql::AuditOutbox(*std::move(zone)).noted();
    if (!noted) return noted.error();
    return sqlite::verify_audit_log(state.audit(), *noted);
}

/// The database in PostgreSQL, and who is active.
void check_server(const ZoneSettings& settings, Checks& checks) {
    const postgresql::Address address = database_address(settings);
    const auto version = postgresql::examine_zone_database(address);
    if (version) {
        checks.push_back(
            {"database", CheckResult::kOk, "PostgreSQL, of schema version " + std::to_string(*version), {}});
        check_audit_log(postgresql::verify_audit_log(address), checks);
    } else if (version.error().code == ErrorCode::kNotFound) {
        checks.push_back({"database", CheckResult::kOk, "none yet; the first start makes it", {}});
    } else {
        checks.push_back({"database", CheckResult::kFail, text_with_pointer(version.error()),
                          "'url' of [database], or what it says"});
    }
    const auto lease = postgresql::ask_lease(address);
    if (!lease) {
        if (version) checks.push_back({"active", CheckResult::kFail, text_with_pointer(lease.error()), "what it says"});
        return;
    }
    if (lease->left > Duration{0})
        checks.push_back({"active", CheckResult::kOk, to_string(*lease), {}});
    else
        checks.push_back(
            {"active", CheckResult::kWarn, "no scheduler of this zone is active", "start one: 'zbs-zone run'"});
}

void check_database(const ZoneSettings& settings, const StateFolder& state, Checks& checks) {
    if (settings.database) return check_server(settings, checks);
    if (auto kept = sqlite::check_database_kept(sqlite::zone_backups(), zone_files(settings, state), {state.steps()});
        !kept) {
        return checks.push_back({"database", CheckResult::kFail, text_with_pointer(kept.error()),
                                 "'zbs-zone restore FILE', or a new, empty 'state' folder"});
    }
    if (access(state.database().c_str(), R_OK) != 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            return checks.push_back({"database", CheckResult::kOk, "none yet; the first start makes it", {}});
        return checks.push_back({"database", CheckResult::kFail,
                                 state.database() + " cannot be read by this user: " + std::strerror(errno), kAsOwner});
    }
    const auto version = sqlite::examine_zone_database(state.database());
    if (!version)
        return checks.push_back(
            {"database", CheckResult::kFail, text_with_pointer(version.error()),
             "install the program that made it, where that is newer; for a damaged one 'zbs-zone restore FILE'"});
    checks.push_back({"database", CheckResult::kOk, "whole, of schema version " + std::to_string(*version), {}});
    check_audit_log(verify_with_note(state), checks);
}

/// Can a zone that does not run listen where it is to?
void check_port(const ZoneSettings& settings, Checks& checks) {
    const std::string where = HostPort{settings.listen_address, settings.listen_port}.text();
    boost::asio::io_context io;
    boost::system::error_code fault;
    const auto address = boost::asio::ip::make_address(settings.listen_address, fault);
    const boost::asio::ip::tcp::endpoint endpoint(address, static_cast<unsigned short>(settings.listen_port));
    boost::asio::ip::tcp::acceptor acceptor(io);
    if (!fault) acceptor.open(endpoint.protocol(), fault);
    if (!fault) acceptor.set_option(boost::asio::socket_base::reuse_address(true), fault);
    if (!fault) acceptor.bind(endpoint, fault);
    if (!fault) return checks.push_back({"port", CheckResult::kOk, where + " is free", {}});
    const std::string place = settings.place_of("listen");
    checks.push_back({"port", CheckResult::kFail, (place.empty() ? "" : place + ": ") + where + ": " + fault.message(),
                      beast::listen_remedy(fault, {"'listen'", "'listen'"})});
}

/// Could this host take over, where several share the zone? kTimeout where the shared folder does not answer: whoever
/// else looked into it would hang.
Result<void> check_take_over(const ZoneSettings& settings, const StateFolder& state, Checks& checks) {
    if (!settings.database) return {};
    TakeOverWatch watch([own = TakeOverChecks(settings, state)] { return own.while_standing_by(); });
    const Result<void> good = watch.found_now();
    checks.push_back({"take-over", good ? CheckResult::kOk : CheckResult::kFail,
                      good ? state.path + " goes with the database" : text_with_pointer(good.error()),
                      good ? "" : "what it says; until then this host does not take over"});
    return good;
}

/// Whether this host's scheduler runs, and what it says. False where it does not. `first`: the check that is to be
/// mended before it can be asked; empty: none.
bool check_own_service(const std::string& config_path, const ZoneSettings& settings, const std::string& first,
                       Checks& checks) {
    const Result<OwnScheduler> own = check_own_scheduler(config_path);
    if (!own && !first.empty()) {
        checks.push_back({"service", CheckResult::kWarn, "cannot be asked: " + text_with_pointer(own.error()),
                          "first what '" + first + "' says: whoever asks needs the state folder and its keys"});
    } else if (!own) {
        checks.push_back({"service", CheckResult::kWarn,
                          "does not run, or does not answer: " + text_with_pointer(own.error()),
                          "start it: 'systemctl start zbs-zone' or 'zbs-zone run --config FILE'"});
        check_port(settings, checks);
    } else if (own->not_ready) {
        checks.push_back({"service", CheckResult::kWarn,
                          "runs, and is not ready: " + text_with_pointer(*own->not_ready),
                          "'zbs-zone undrain' ends a drain; else look at the zone's log"});
    } else if (!own->fault.empty()) {
        checks.push_back({"service", CheckResult::kFail, "stands by, and could not take over: " + own->fault,
                          "mend that; it takes its turn by itself then"});
    } else {
        checks.push_back(
            {"service", CheckResult::kOk, own->is_active ? "runs and takes calls" : "stands by; could take over", {}});
    }
    return own.has_value();
}

/// Of the answer to GET /v1/peerings: each peer that takes no work as things are, or whose clock differs.
void check_peers_of_zone(const codec::Json& peerings, Checks& checks) {
    const std::vector<codec::PeerView> peers = codec::decode_peerings_view(peerings).peers;
    checks.push_back({"peers", !peers.empty() ? CheckResult::kOk : CheckResult::kWarn,
                      std::to_string(peers.size()) + " other zones are known",
                      !peers.empty()
                          ? std::string{}
                          : "join a registry ('zbs-zone enrol'), and ask for peering ('zbs-zone peer request')"});
    for (const codec::PeerView& peer : peers) {
        const std::string& reason = peer.reason;
        const std::string state = peer.state.empty() ? "unknown" : peer.state;
        if (reason.empty() && (state == "up" || state == "unknown")) continue;
        const std::string age = format_duration(std::chrono::seconds{std::llround(peer.age_s.value_or(0.0))});
        checks.push_back({"peer " + peer.zone, state == "clock" ? CheckResult::kFail : CheckResult::kWarn,
                          state + ", as of " + age + " ago" + (reason.empty() ? "" : ": " + reason),
                          "'zbs-zone peer show " + peer.organisation + "' has the details"});
    }
}

/// Whether it runs; what it says of the registry, peers and machines.
void check_service(const std::string& config_path, const ZoneSettings& settings, const std::string& first,
                   Checks& checks) {
    if (!check_own_service(config_path, settings, first, checks)) return;
    const auto client = OperatorClient::connect(config_path);
    if (!client) return;  // nobody has been active yet
    const auto peers = (*client)->call("GET", "/v1/peerings");
    if (!peers)
        return checks.push_back(
            {"peers", CheckResult::kFail, text_with_pointer(peers.error()), "look at the zone's log"});
    if (std::optional<Check> registry = check_registry(*peers)) checks.push_back(*std::move(registry));
    check_peers_of_zone(*peers, checks);
}

void check_programs(const ZoneSettings& settings, Checks& checks) {
    const ZoneConfig& zone = settings.zone;
    for (const auto& [name, path, needed] :
         {std::tuple{"mpiexec", zone.mpiexec, true}, std::tuple{"MPI proxy", zone.mpi_proxy, zone.agents.empty()},
          std::tuple{"zbs-step", settings.step_supervisor, true}}) {
        if (access(path.c_str(), X_OK) == 0)
            checks.push_back({name, CheckResult::kOk, path, {}});
        else if (needed)
            checks.push_back({name, CheckResult::kFail, path + " cannot be run: " + std::strerror(errno),
                              "install it (Debian: mpich, zbs-node), or name it in [mpi] or 'step_supervisor'"});
    }
    if (zone.profiler.empty())
        checks.push_back({"profiler", CheckResult::kWarn, "none; runs leave no profile to plan with",
                          "install libzbs-profile, or name it in [mpi] profiler"});
    else
        checks.push_back({"profiler", CheckResult::kOk, zone.profiler, {}});
    const auto interface = system::resolve_interface(zone.mpi_interface);
    if (!interface)
        checks.push_back(
            {"MPI interface", CheckResult::kFail, text_with_pointer(interface.error()), "set [mpi] interface"});
    else if (!std::filesystem::exists("/sys/class/net/" + *interface))
        checks.push_back({"MPI interface", CheckResult::kFail, "this host has no interface " + *interface,
                          "set [mpi] interface to one of 'ip -br link', or to a network as 10.1.0.0/16"});
    else
        checks.push_back({"MPI interface", CheckResult::kOk, *interface, {}});
}

void check_slurm(ZoneSettings settings, Checks& checks) {
    if (!settings.slurm) return;
    const auto opened = open_slurm(settings, [](const std::function<void()>&) {});
    if (!opened)
        return checks.push_back({"Slurm", CheckResult::kFail, text_with_pointer(opened.error()),
                                 "'scontrol ping', munge, [slurm] in the zone's file"});
    checks.push_back({"Slurm", CheckResult::kOk, std::to_string(settings.zone.zone.machines.size()) + " nodes", {}});
}

/// As `config check`: what root may do says nothing of what the service may. A shared folder that hangs is left alone.
/// False where this account cannot look as the owner.
bool check_as_owner(const ZoneSettings& settings, Checks& checks) {
    const StateFolder state{settings.state_folder};
    if (settings.database) {
        const Result<void> found = TakeOverWatch([state] { return check_shared_folder(state); }).found_now();
        if (!found && found.error().code == ErrorCode::kTimeout) return true;
    }
    const std::string as_whom = process::check_as_owner(state.path);
    if (as_whom.empty()) return true;
    const bool is_owner = process::check_as_owner(state.path).empty();  // by now
    checks.push_back({"account", is_owner ? CheckResult::kOk : CheckResult::kWarn, as_whom, is_owner ? "" : kAsOwner});
    return is_owner;
}

/// Would `run` refuse the settings?
void check_own_settings(const std::string& config_path, ZoneSettings settings, bool is_owner, Checks& checks) {
    // The unit of the service may give it a right to the port that this account lacks; `check_port` tries it.
    if (beast::own_port_rights().needs_right(settings.listen_port)) settings.listen_port = 0;
    if (const Result<void> good = check_for_service(settings, config_path); !good)
        return checks.push_back(
            {"settings", CheckResult::kFail, text_with_pointer(good.error()),
             is_owner ? "correct that setting; until then 'zbs-zone run' does not start" : kAsOwner});
    checks.push_back({"settings", CheckResult::kOk, config_path + ", zone " + settings.zone.zone.name, {}});
}

Checks examine(const std::string& config_path) {
    Checks checks{command_line::check_clock_of_host()};
    Result<ZoneSettings> settings = load_settings(config_path);
    bool is_owner = true;
    if (settings) {
        is_owner = check_as_owner(*settings, checks);
        settings = load_settings(config_path);  // may this account read the files, too?
    }
    if (!settings) {
        checks.push_back({"settings", CheckResult::kFail, text_with_pointer(settings.error()),
                          "mend the file; nothing else was checked"});
        return checks;
    }
    const StateFolder state{settings->state_folder};
    const Result<void> could_take_over = check_take_over(*settings, state, checks);
    if (could_take_over || could_take_over.error().code != ErrorCode::kTimeout) {
        check_own_settings(config_path, *settings, is_owner, checks);
        check_state_folder(state, checks);
        const bool can_ask = check_own_keys(*settings, state, checks);
        check_service(config_path, *settings,
                      !could_take_over ? "take-over"
                      : !can_ask       ? checks.back().name
                                       : std::string{},
                      checks);
    }
    check_database(*settings, state, checks);
    check_programs(*settings, checks);
    check_slurm(*settings, checks);
    return checks;
}

void print(const OperatorCommand& shared, const Output& output, const Checks& checks) {
    if (output.for_people() && !output.has_choice())
        std::cout << command_line::text_of(checks, command_line::wants_colour(1));
    else
        shared.print(output, command_line::listing_of(checks), command_line::document_of(checks));
}

}  // namespace

void add_doctor_command(CLI::App& cli, std::string& config_path, int& exit_code) {
    CLI::App* const doctor = cli.add_subcommand(
        "doctor",
        "look for what may keep the zone from working: clock, settings, disk, certificates, database, audit log, "
        "port, peers, MPI, Slurm; with remedies. Changes nothing; exit code 1 where something fails\n\nExample: "
        "zbs-zone doctor --config zone.toml");
    const auto output = std::make_shared<Output>(Output::Kind::kList);
    output->add_to(*doctor, command_line::listing_of({}));
    const OperatorCommand shared{&config_path, &exit_code};
    doctor->callback([shared, output] {
        if (!shared.can_begin(*output)) return;
        const Checks checks = examine(*shared.service);
        print(shared, *output, checks);
        if (*shared.exit_code == 0 && worst_of(checks) == CheckResult::kFail) *shared.exit_code = 1;
    });
}

}  // namespace zbs::zone_program
