#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <thread>

#include "algorithms/base/utf8.hpp"
#include "client/cli/context.hpp"
#include "client/cli/output_file.hpp"
#include "client/cli/quickstart/quickstart_federation.hpp"
#include "client/cli/zones/loopback_port.hpp"
#include "services/common/adapters/command_line/values.hpp"
#include "services/common/adapters/process/folder_lock.hpp"
#include "services/common/adapters/process/process_tree.hpp"
#include "services/common/adapters/system/absolute_path.hpp"
#include "services/common/adapters/system/thread_runner.hpp"
#include "services/common/messages/text/printable.hpp"

namespace zbs::cli {
namespace {

namespace fs = std::filesystem;
using SteadyClock = std::chrono::steady_clock;

std::atomic<bool> stop_wanted{false};
void on_stop(int) { stop_wanted = true; }

struct QuickstartOptions {
    std::string folder;
    std::string environment_file;
    std::string user;  ///< empty: `choose_account` chooses
    int processors = 4;
    int first_port = 0;
    std::string slurm_configuration;  ///< not empty: a fourth zone in front of this Slurm
};

/// One service of the federation, started again when it dies, as systemd would.
struct Service {
    std::string name;
    std::vector<std::string> argv;
    std::string log;
    pid_t pid = 0;
    SteadyClock::time_point started{};
    int endings = 0;
};

void start(Service& service) {
    const pid_t parent = getpid();
    service.started = SteadyClock::now();
    service.pid = fork();
    if (service.pid != 0) return;
    // In the child: die with this command, even if it is killed.
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(127);
    setpgid(0, 0);  // an interrupt from the terminal goes to this command, which then stops the services in order
    const int log = open(service.log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (log < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0) _exit(127);
    std::vector<char*> argv;
    for (std::string& word : service.argv) argv.push_back(word.data());
    argv.push_back(nullptr);
    execv(argv[0], argv.data());
    _exit(127);
}

void stop_all(std::vector<Service>& services, const std::string& folder) {
    for (auto service = services.rbegin(); service != services.rend(); ++service) {
        if (service->pid > 0) kill(service->pid, SIGTERM);
    }
    const auto kill_at = SteadyClock::now() + std::chrono::seconds(5);
    for (Service& service : services) {
        while (service.pid > 0 && waitpid(service.pid, nullptr, WNOHANG) == 0) {
            if (SteadyClock::now() > kill_at) kill(service.pid, SIGKILL);
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
    }
    // Jobs outlive their zones by design; here nobody is left to own them.
    std::error_code fault;
    const auto closed = fs::directory_options::skip_permission_denied;  // folders of a job
    for (fs::recursive_directory_iterator at(folder, closed, fault), end; !fault && at != end; at.increment(fault)) {
        if (at->path().filename() != "supervisor") continue;
        const auto text = process::read_file(at->path().string());
        process::ProcessRef step;
        unsigned long long start_time = 0;
        if (text && std::sscanf(text->c_str(), "%d %llu", &step.pid, &start_time) == 2) {
            step.start_time = start_time;
            process::send_signal(step, SIGTERM);
        }
    }
}

/// Under the folder for temporary files, where others can make folders too.
std::string default_folder(const QuickstartAccount& account) {
    return (fs::temp_directory_path() / ("zbs-quickstart-" + std::to_string(account.uid))).string();
}

/// Makes the state folder for `account` alone. The default folder, and the folder of an account that is not the
/// caller's, must belong to `account`.
Result<void> make_state_folder(const std::string& folder, const QuickstartAccount& account) {
    std::error_code fault;
    fs::create_directories(fs::path(folder).parent_path(), fault);
    const auto cannot = [&folder](const std::string& what) {
        return Error{ErrorCode::kUnavailable, "cannot " + what + ": " + std::strerror(errno), folder};
    };
    if (mkdir(folder.c_str(), 0700) == 0) {
        if (account.uid == geteuid() || chown(folder.c_str(), account.uid, account.gid) == 0) return {};
        return cannot("give the folder to the account '" + account.name + "'");
    }
    if (errno != EEXIST) return cannot("make the folder");
    struct stat found {};
    const bool is_default = folder == system::absolute_path(default_folder(account));
    if ((is_default || account.uid != geteuid()) &&
        (lstat(folder.c_str(), &found) != 0 || found.st_uid != account.uid)) {
        return Error{ErrorCode::kDenied,
                     "this folder belongs to another user than '" + account.name + "'; give another one with --folder",
                     folder};
    }
    if (!fs::is_directory(folder, fault)) return Error{ErrorCode::kUnavailable, "is no folder", folder};
    return {};
}

/// What the account that all services run as can use: the programs, and the state folder.
Result<void> check_reach(const std::string& programs, const std::string& folder, const QuickstartAccount& account) {
    const std::string others = "; or name another account with --user ('--user root' runs all jobs as root)";
    for (const char* name : {"zbs-zone", "zbs-registry", "zbs-step"}) {
        const std::string program = programs + "/" + name;
        if (faccessat(AT_FDCWD, program.c_str(), X_OK, AT_EACCESS) != 0)
            return Error{ErrorCode::kDenied,
                         "the account '" + account.name + "' cannot run it: " + std::strerror(errno) +
                             "; install the programs in a folder that it can enter" + others,
                         program};
    }
    if (faccessat(AT_FDCWD, folder.c_str(), R_OK | W_OK | X_OK, AT_EACCESS) == 0) return {};
    return Error{ErrorCode::kDenied,
                 "the account '" + account.name + "' cannot use the folder: " + std::strerror(errno) +
                     "; give one that it can enter with --folder" + others,
                 folder};
}

/// Makes the state folder and goes on as `account`.
Result<void> begin_as(const QuickstartAccount& account, const std::string& programs, const std::string& folder) {
    std::error_code fault;
    const bool is_new = !fs::exists(folder, fault);
    if (auto made = make_state_folder(folder, account); !made) return made.error();
    Result<void> done = change_to(account);
    if (done) done = check_reach(programs, folder, account);
    if (!done && is_new) {
        const auto remove = [&folder]() -> Result<void> {
            rmdir(folder.c_str());
            return {};
        };
        if (auto removed = with_own_rights(account, remove); !removed) return removed.error();
    }
    return done;
}

/// What the user of a quickstart has to know before others use it.
std::string protection_text(const QuickstartAccount& account) {
    if (account.uid == 0)
        return "Not protected: the jobs of all organisations run as root. A job can read and change everything on this "
               "machine.\n";
    return "Not protected: the services and the jobs of all organisations run as one account, '" + account.name +
           "'.\nA job can read the keys of each zone and stop each service.\n";
}

/// Empty where each processor of the zones can have a core of its own.
std::string shared_cores_text(int offered, int cores) {
    if (offered <= cores) return {};
    return "The zones offer " + counted(static_cast<std::uint64_t>(offered), "processor") + ", but this machine has " +
           counted(static_cast<std::uint64_t>(cores), "core") +
           ": more ranks than cores share them, and take longer.\n";
}

/// The last line of a log, at most 4 KiB; empty where it has none.
std::string last_line(const std::string& path) {
    std::ifstream log(path, std::ios::binary | std::ios::ate);
    if (!log) return {};
    constexpr std::streamoff kMax = 4'096;
    log.seekg(std::max<std::streamoff>(std::streamoff{log.tellg()} - kMax, 0));
    std::string line, last;
    while (std::getline(log, line))
        if (!line.empty()) last = line;
    return last;
}

/// Starts again what has ended, at most once a second each.
void revive(std::vector<Service>& services) {
    for (Service& service : services) {
        int status = 0;
        if (service.pid > 0 && waitpid(service.pid, &status, WNOHANG) == service.pid) {
            const std::string last = last_line(service.log);
            std::cerr << "zbs: " << service.name
                      << (WIFSIGNALED(status) ? " was ended by signal " + std::to_string(WTERMSIG(status))
                                              : " ended with code " + std::to_string(WEXITSTATUS(status)))
                      << (last.empty() ? "" : " (last line of its log: " + harmless_line(last) + ")")
                      << "; starting it again\n";
            service.pid = 0;
            ++service.endings;
        }
        if (service.pid <= 0 && SteadyClock::now() - service.started > std::chrono::seconds(1)) start(service);
    }
}

/// Services of a quickstart that was killed are given a few seconds to let go of their folders and ports: who ends
/// oftener than this before all is up will not come up.
constexpr int kEndingsToGiveUp = 5;

Result<void> check_endings(const std::vector<Service>& services) {
    for (const Service& service : services)
        if (service.endings >= kEndingsToGiveUp)
            return Error{ErrorCode::kUnavailable,
                         service.name + " does not stay up: " + last_line(service.log) + " (all of it is in " +
                             service.log + ")",
                         {}};
    return {};
}

/// Of the registry and then of each zone; those that are taken here are held by `kept`.
Result<std::vector<int>> choose_ports(int first_port, std::size_t zones, std::vector<LoopbackPort>& kept) {
    std::vector<int> ports;
    for (std::size_t i = 0; i <= zones; ++i) {
        if (first_port > 0) {
            ports.push_back(first_port + static_cast<int>(i));
            continue;
        }
        Result<LoopbackPort> port = LoopbackPort::take();
        if (!port) return port.error();
        ports.push_back(port->number());
        kept.push_back(std::move(*port));
    }
    return ports;
}

/// `settings`: what a shell needs for the commands.
void print_instructions(const FederationPlan& plan, const QuickstartAccount& account, const std::string& settings) {
    std::cout << "A registry and three zones (a, b, c) with "
              << counted(static_cast<std::uint64_t>(plan.processors), "processor")
              << " each are running, of three organisations that trust each other"
              << (plan.slurm_zone.empty() ? "" : "; so is zone d of a fourth, in front of Slurm") << "; logs in "
              << plan.folder << ".\n"
              << shared_cores_text(3 * plan.processors, system::usable_processors()) << protection_text(account)
              << "In another terminal:\n\n"
              << settings << "zbs run -n " << std::min(6, 3 * plan.processors) << " -- PROGRAM ARGS...\n"
              << "zbs dashboard --open\n\n"
              << "The last opens the pages of your zone, a, in a browser, as you. What a zone shows to anybody "
                 "(browsers warn\nof certificates that they do not know):\n\n";
    for (std::size_t i = 0; i < plan.zones.size(); ++i)
        std::cout << "zone " << plan.zones[i] << "  " << zone_url(plan, i) << "\n";
    std::cout << "\nStop with Ctrl-C." << std::endl;
}

/// Starts the services of a plan that is prepared, and keeps them until the user stops them.
void serve(Context& context, const QuickstartOptions& options, QuickstartAccount& account, const FederationPlan& plan) {
    struct sigaction action {};
    action.sa_handler = on_stop;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    std::vector<Service> services = {Service{"registry", registry_command(plan), plan.folder + "/registry.log"}};
    start(services[0]);
    const auto deadline = SteadyClock::now() + std::chrono::seconds(30);
    const auto give_up = [&](const Error& error) {
        const Result<void> up = check_endings(services);
        stop_all(services, plan.folder);
        if (!stop_wanted) context.fail(up ? error : up.error());
    };
    /// Tries until it works, the time is up or somebody wants to stop.
    const auto until = [&](const std::function<Result<void>()>& attempt) -> Result<void> {
        for (;;) {
            Result<void> done = attempt();
            if (done || stop_wanted || SteadyClock::now() > deadline) return done;
            if (!check_endings(services)) return done;
            revive(services);  // those of a quickstart that was killed may hold their folders for a moment more
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        }
    };
    if (auto enrolled = until([&] { return enrol_zones(plan); }); !enrolled) return give_up(enrolled.error());
    for (const std::string& zone : plan.zones) {
        services.push_back({"zone " + zone, zone_command(plan, zone), plan.folder + "/" + zone + ".log"});
        start(services.back());
    }
    const std::string credentials = plan.folder + "/credentials";
    const auto as_owner = [&](const std::function<Result<void>()>& act) {
        return account.owns_credentials ? act() : with_own_rights(account, act);
    };
    if (auto in = until([&] { return log_in(plan, credentials, as_owner); }); !in) return give_up(in.error());
    const auto meet = [&] { return check_met(plan, credentials); };
    if (auto met = until([&] { return as_owner(meet); }); !met)
        return give_up({ErrorCode::kUnavailable,
                        "the zones did not find each other within 30 s (" + met.error().message +
                            "); their logs are in " + plan.folder,
                        {}});
    const std::string settings = "export ZBS_CREDENTIALS=" + shell_word(credentials) + "\n";
    if (!options.environment_file.empty()) {
        const auto write = [&] { return write_file(options.environment_file, settings); };
        if (auto kept = with_own_rights(account, write); !kept) return give_up(kept.error());
    }
    if (auto kept = keep_account(account); !kept) return give_up(kept.error());
    print_instructions(plan, account, settings);
    while (!stop_wanted) {
        revive(services);
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    stop_all(services, plan.folder);
}

void quickstart(Context& context, const QuickstartOptions& options) {
    const fs::path programs = fs::canonical("/proc/self/exe").parent_path();
    Result<QuickstartAccount> account = choose_account(options.user);
    if (!account) return context.fail(account.error());
    const std::string folder =
        system::absolute_path(options.folder.empty() ? default_folder(*account) : options.folder);
    if (!is_utf8(folder))
        return context.fail(
            invalid("'" + ascii(folder) + "' is not UTF-8, which files of settings must be", "--folder"));
    if (auto begun = begin_as(*account, programs.string(), folder); !begun) return context.fail(begun.error());
    const auto lock = process::FolderLock::take(folder);
    if (!lock) return context.fail(lock.error());
    const bool with_slurm = !options.slurm_configuration.empty();
    std::vector<std::string> zones = {"a", "b", "c"};
    if (with_slurm) zones.emplace_back("d");
    std::vector<LoopbackPort> kept_ports;
    const Result<std::vector<int>> ports = choose_ports(options.first_port, zones.size(), kept_ports);
    if (!ports) return context.fail(ports.error());
    const FederationPlan plan{
        .folder = folder,
        .programs = programs.string(),
        .zones = zones,
        .ports = *ports,
        .processors = options.processors,
        .slurm_zone = with_slurm ? "d" : "",
        .slurm_configuration = with_slurm ? system::absolute_path(options.slurm_configuration) : ""};
    if (auto made = prepare_federation(plan); !made) return context.fail(made.error());
    serve(context, options, *account, plan);
}

}  // namespace

void add_quickstart_command(CLI::App& app, Context& context) {
    auto options = std::make_shared<QuickstartOptions>();
    CLI::App* command = app.add_subcommand(
        "quickstart", "a registry and three zones on this machine, in the foreground\n\nExample: zbs quickstart");
    command->add_option("--folder", options->folder,
                        "state and logs; default: zbs-quickstart-UID in the folder for temporary files");
    command->add_option("--user", options->user,
                        "account of the services and of all jobs; default: your own, and for root the account that "
                        "called sudo, or nobody");
    command->add_option("--processors", options->processors, "processors that each zone offers")
        ->check(command_line::whole_number_in(1, 1'000))
        ->capture_default_str();
    command
        ->add_option("--first-port", options->first_port,
                     "four ports from here on, five with --slurm; 0 = any free ones")
        ->check(command_line::whole_number_in(0, 65'000));
    command
        ->add_option(
            "--slurm", options->slurm_configuration,
            "a fourth zone, d, in front of the Slurm of this slurm.conf; jobs there run as whoever started this")
        ->check(command_line::existing_file());
    command->add_option("--environment-file", options->environment_file,
                        "write the settings for clients here once all is up");
    command->callback([&context, options] { quickstart(context, *options); });
}

}  // namespace zbs::cli
