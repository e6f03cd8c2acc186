#include "services/zone_scheduler/launch/mpich.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "services/common/messages/names/host_name.hpp"
#include "services/common/messages/steps/job_limits.hpp"
#include "services/common/messages/steps/own_files.hpp"
#include "services/common/messages/steps/rank_end.hpp"

namespace zbs::mpich {
namespace {

// Options that Hydra 4.0 gives its proxies. Anything else is refused: a proxy option could name a program to run.
constexpr std::array<std::string_view, 14> kKnownOptions = {
    "control-port", "rmk",      "launcher",      "demux", "iface",        "pgid",    "retries",
    "usize",        "pmi-port", "gpus-per-proc", "debug", "auto-cleanup", "topolib", "binding"};
// Of these the value is a word with this one meaning; no proxy starts anything by another launcher.
constexpr std::string_view kLauncher = "manual";

/// One launcher starts all ranks alike, but each zone has a folder of its own for staged files. Arguments: the program
/// and the working directory for zones that were sent nothing, the program for the others, then the user's: none of
/// them is read as shell text, and no variable of the user is set. A folder that cannot be entered becomes the program,
/// with a '/' behind it: zbs-step reports it then.
constexpr const char* kEnterFolder =
    "if [ -n \"$ZBS_STAGED\" ]; then shift; cd -P -- \"$ZBS_STAGED\" || set -- \"$ZBS_STAGED/\"; "
    "elif cd -P -- \"$1\"; then shift 2; set -- \"$0\" \"$@\"; else set -- \"$1/\"; fi 2>/dev/null; unset OLDPWD; ";
constexpr const char* kExecute = "exec \"$@\"";
/// By the supervisor of ranks, if the zone of a rank has one for it.
constexpr const char* kWatch =
    "[ -n \"$ZBS_RANK_ENDS\" ] && [ -x \"$ZBS_RANK_PROGRAM\" ] && exec \"$ZBS_RANK_PROGRAM\" rank \"$@\"; ";

/// Without the supervisor of ranks: the user's variables get their names, in place of those that the launcher ran with.
std::string take_environment(const Options& environment) {
    std::string text;
    for (const auto& [name, value] : environment)
        text += "export " + name + "=\"$" + kRankEnvironmentPrefix + name + "\"; unset " + kRankEnvironmentPrefix +
                name + "; ";
    return text;
}

/// Before each line that Hydra prints about itself.
constexpr std::array<std::string_view, 2> kOwnLines = {"[mpiexec@", "[proxy:"};

/// Takes one '=' from the front of each argument that has one (`masked`). Launchers that read ':' as the end of a
/// program would split the arguments there.
constexpr const char* kUnmask =
    "for w do shift; case $w in =*) w=${w#=};; esac; set -- \"$@\" \"$w\"; done; exec \"$0\" \"$@\"";

std::string masked(const std::string& word) { return word == ":" || word.starts_with('=') ? "=" + word : word; }

bool is_plain(std::string_view value) {
    return !value.empty() &&
           value.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.:_,-") ==
               std::string_view::npos;
}

std::vector<std::string> split_words(std::string_view line) {
    std::vector<std::string> words;
    while (!line.empty()) {
        const std::size_t begin = line.find_first_not_of(' ');
        if (begin == std::string_view::npos) break;
        const std::size_t end = std::min(line.find(' ', begin), line.size());
        words.emplace_back(line.substr(begin, end - begin));
        line.remove_prefix(end);
    }
    return words;
}

Result<void> check_option(const std::string& name, const std::string& value) {
    if (std::find(kKnownOptions.begin(), kKnownOptions.end(), name) == kKnownOptions.end()) {
        return Error{ErrorCode::kInvalidArgument, "'" + name + "' is no proxy option that this zone knows", {}};
    }
    if (!is_plain(value) || (name == "launcher" && value != kLauncher)) {
        return Error{ErrorCode::kInvalidArgument, "'" + value + "' is no value for proxy option '" + name + "'", {}};
    }
    return {};
}

std::vector<std::string> entered(const CoordinatorSpec& spec, const std::string& execute) {
    const std::string staged = spec.staged_program.empty() ? spec.argv.at(0) : "./" + spec.staged_program;
    std::vector<std::string> argv = {"/bin/sh", "-c", kEnterFolder + execute, spec.argv.at(0), spec.directory, staged};
    argv.insert(argv.end(), spec.argv.begin() + 1, spec.argv.end());
    return argv;
}

std::vector<std::string> without_separators(std::vector<std::string> argv) {
    if (std::ranges::find(argv, ":") == argv.end()) return argv;
    std::transform(argv.begin() + 1, argv.end(), argv.begin() + 1, masked);
    argv.insert(argv.begin(), {"/bin/sh", "-c", kUnmask});
    return argv;
}

}  // namespace

std::string start_directory(const CoordinatorSpec& spec) { return spec.is_staged ? "/" : spec.directory; }

std::vector<std::string> rank_argv(const CoordinatorSpec& spec) {
    return without_separators(spec.is_staged ? entered(spec, kExecute) : spec.argv);
}

std::vector<std::string> watched_argv(const CoordinatorSpec& spec) {
    return without_separators(entered(spec, kWatch + take_environment(spec.environment) + kExecute));
}

Options carried_environment(const Options& environment) {
    Options carried;
    for (const auto& [name, value] : environment) carried.emplace_back(kRankEnvironmentPrefix + name, value);
    return carried;
}

std::vector<std::string> coordinator_argv(const CoordinatorSpec& spec) {
    std::vector<std::string> argv = {spec.mpiexec, "-launcher", "manual", "-rmk", "user", "-f", kHostFile};
    if (!spec.interface.empty()) argv.insert(argv.end(), {"-iface", spec.interface});
    argv.insert(argv.end(), {"-outfile-pattern", std::string(own_files::kOut) + "%r", "-errfile-pattern",
                             std::string(own_files::kErr) + "%r", "-wdir", "/", "-n", std::to_string(spec.ranks)});
    const std::vector<std::string> program = watched_argv(spec);
    argv.insert(argv.end(), program.begin(), program.end());
    return argv;
}

Options program_environment(const Options& environment) {
    constexpr std::string_view kProfiler = "libzbs-profile.so";
    Options kept;
    for (const auto& [name, value] : environment) {
        // Every zone preloads its own profiler; one that came with the environment would take its place.
        if (!is_set_by_zones(name) && !(name == "LD_PRELOAD" && value.find(kProfiler) != std::string::npos))
            kept.emplace_back(name, value);
    }
    return kept;
}

Options rank_environment(const Options& environment) {
    constexpr const char* kNoLocal = "MPIR_CVAR_NOLOCAL";
    Options kept = program_environment(environment);
    if (std::ranges::find(kept, kNoLocal, &Options::value_type::first) == kept.end()) kept.emplace_back(kNoLocal, "1");
    return kept;
}

std::vector<ProxyPlan> plan_proxies(const std::vector<ZoneMachine>& place_of_rank) {
    std::vector<ProxyPlan> proxies;
    for (std::size_t rank = 0; rank < place_of_rank.size(); ++rank) {
        const ZoneMachine& place = place_of_rank[rank];
        if (proxies.empty() || proxies.back().zone != place.zone || proxies.back().machine != place.machine) {
            proxies.push_back(
                {static_cast<int>(proxies.size()), place.zone, place.machine, static_cast<TaskIndex>(rank), 0});
        }
        proxies.back().end = static_cast<TaskIndex>(rank + 1);
    }
    return proxies;
}

std::string host_file(const std::vector<ProxyPlan>& proxies) {
    std::string text;
    for (const ProxyPlan& proxy : proxies)
        text += proxy.zone + "." + proxy.machine + ":" + std::to_string(proxy.end - proxy.begin) + "\n";
    return text;
}

Result<LaunchLines> read_launch_lines(std::string_view text) {
    constexpr std::string_view kPrefix = "HYDRA_LAUNCH: ";
    LaunchLines lines;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        if (end == std::string_view::npos) break;  // a line still being written
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(end + 1);
        if (line == "HYDRA_LAUNCH_END") {
            lines.done = true;
            break;
        }
        if (!line.starts_with(kPrefix)) continue;
        const std::vector<std::string> words = split_words(line.substr(kPrefix.size()));
        Options options;
        for (std::size_t i = 1; i + 1 < words.size(); i += 2) {
            if (!words[i].starts_with("--"))
                return Error{ErrorCode::kInternal,
                             "mpiexec printed a proxy command that is not understood: " + std::string(line),
                             {}};
            const std::string name = words[i].substr(2);
            if (name == "proxy-id") continue;
            if (auto good = check_option(name, words[i + 1]); !good)
                return Error{ErrorCode::kInternal, "mpiexec: " + good.error().message, {}};
            options.emplace_back(name, words[i + 1]);
        }
        if (words.size() % 2 == 0)
            return Error{
                ErrorCode::kInternal, "mpiexec printed a proxy option without value: " + std::string(line), {}};
        lines.options = std::move(options);
        ++lines.proxies;
    }
    return lines;
}

bool lost_a_proxy(std::string_view text) {
    const std::size_t at = text.find("] control_cb (");
    const std::string_view line = at == std::string_view::npos ? "" : text.substr(at, text.find('\n', at) - at);
    return line.ends_with("assert (!closed) failed") || line.ends_with("unable to read command from proxy");
}

std::string without_own_lines(std::string_view text) {
    std::string kept;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        const bool is_whole = end != std::string_view::npos;
        const std::string_view line = text.substr(0, end);
        const bool is_own = std::ranges::any_of(kOwnLines, [&](std::string_view begin) {
            return line.starts_with(is_whole ? begin : begin.substr(0, line.size()));
        });
        const std::string_view whole = text.substr(0, is_whole ? end + 1 : end);
        if (!is_own) kept += whole;
        text.remove_prefix(whole.size());
    }
    return kept;
}

std::string own_fault(std::string_view text) {
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        if (std::ranges::none_of(kOwnLines, [&](std::string_view begin) { return line.starts_with(begin); })) continue;
        // "[mpiexec@HOST] FUNCTION (FILE:LINE): SENTENCE"
        const std::size_t place = line.find("): ");
        const std::string_view sentence =
            line.substr(place == std::string_view::npos ? std::min(line.find(']'), line.size() - 1) + 1 : place + 3);
        const std::size_t begin = sentence.find_first_not_of(' ');
        if (begin != std::string_view::npos) return std::string(sentence.substr(begin));
    }
    return {};
}

int read_fatal_signal(std::string_view text) {
    constexpr std::string_view kReport = "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: ";
    constexpr std::string_view kSignal = "(signal ";
    const std::size_t report = text.rfind(kReport);
    if (report == std::string_view::npos) return 0;
    const std::string_view line = text.substr(report, text.find('\n', report) - report);
    const std::size_t at = line.find(kSignal);
    if (at == std::string_view::npos) return 0;
    int number = 0;
    std::from_chars(line.data() + at + kSignal.size(), line.data() + line.size(), number);
    return number > 0 && number < 65 ? number : 0;
}

std::string read_fatal_place(std::string_view text) {
    constexpr std::string_view kReport = "BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n=   PID ";
    constexpr std::string_view kPlace = " RUNNING AT ";
    const std::size_t report = text.rfind(kReport);
    if (report == std::string_view::npos) return {};
    text.remove_prefix(report + kReport.size());
    const std::string_view line = text.substr(0, text.find('\n'));
    const std::size_t at = line.find(kPlace);
    return at == std::string_view::npos ? "" : std::string(line.substr(at + kPlace.size()));
}

Result<std::vector<std::string>> proxy_argv(const std::string& program, const Options& options, int id) {
    std::vector<std::string> argv = {program};
    for (const auto& [name, value] : options) {
        if (auto good = check_option(name, value); !good) return good.error();
        argv.push_back("--" + name);
        argv.push_back(value);
    }
    argv.push_back("--proxy-id");
    argv.push_back(std::to_string(id));
    return argv;
}

Result<std::string> coordinator_host(const Options& options) {
    const auto option = std::find_if(options.begin(), options.end(),
                                     [](const auto& known) { return known.first == kKnownOptions.front(); });
    if (option == options.end()) return invalid("the option 'control-port' is missing: where is the launcher?", {});
    auto at = HostPort::parse(option->second);
    if (!at) return invalid("'" + option->second + "' is no value for 'control-port': " + at.error().message, {});
    return std::move(at->host);
}

}  // namespace zbs::mpich
