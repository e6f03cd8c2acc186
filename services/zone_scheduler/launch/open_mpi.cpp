#include "services/zone_scheduler/launch/open_mpi.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "algorithms/base/text.hpp"
#include "services/common/messages/steps/own_files.hpp"

namespace zbs::open_mpi {
namespace {

constexpr std::string_view kHostPrefix = "zbs";
constexpr std::string_view kLinePrefix = "ZBS_DAEMON ";

/// MCA parameters that mpirun gives its daemons and a zone hands on; all others, also those that the user has set, stay
/// at home: one could name a program to run.
constexpr std::array<std::string_view, 6> kKnown = {"ess_base_jobid", "ess_base_num_procs", "orte_node_regex",
                                                    "orte_hnp_uri",   "oob_tcp_if_include", "pmix"};
/// What a zone sets itself. A daemon never starts another one.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kFixed = {
    {{"ess", "env"}, {"plm", "rsh"}, {"plm_rsh_agent", "/bin/false"}, {"plm_rsh_no_tree_spawn", "1"}}};

constexpr const char* kShell = "SHELL";

/// mpirun reads these, and passes them on by itself.
bool is_own(std::string_view name) { return name.starts_with("OMPI_"); }

Options without_own(Options environment) {
    std::erase_if(environment, [](const auto& variable) { return is_own(variable.first); });
    return environment;
}

bool is_known(std::string_view name) { return std::find(kKnown.begin(), kKnown.end(), name) != kKnown.end(); }

bool is_value(std::string_view value) {
    return !value.empty() &&
           value.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.:_,-;/[]()@^") ==
               std::string_view::npos;
}

/// The words of a line as mpirun quotes them for a shell: by spaces, with double quotes around some.
std::vector<std::string> words_of(std::string_view line) {
    std::vector<std::string> words;
    std::string word;
    bool quoted = false, begun = false;
    for (const char c : line) {
        if (c == '"') {
            quoted = !quoted;
            begun = true;
        } else if (c == ' ' && !quoted) {
            if (begun) words.push_back(std::exchange(word, {}));
            begun = false;
        } else {
            word += c;
            begun = true;
        }
    }
    if (begun) words.push_back(word);
    return words;
}

std::optional<int> number_of(std::string_view text) {
    const std::optional<int> number = parse_number<int>(text);
    return number && *number >= 0 ? number : std::nullopt;
}

struct Command {
    int daemon = 0;
    Options options;
};

std::optional<Command> read_command(std::string_view line) {
    if (!line.starts_with(kLinePrefix)) return std::nullopt;
    const std::vector<std::string> words = words_of(line.substr(kLinePrefix.size()));
    if (words.size() < 2 || !words[0].starts_with(kHostPrefix)) return std::nullopt;
    const std::optional<int> daemon = number_of(std::string_view(words[0]).substr(kHostPrefix.size()));
    if (!daemon) return std::nullopt;
    Command command{*daemon, {}};
    std::optional<int> vpid;
    for (std::size_t i = 2; i < words.size(); ++i) {
        if ((words[i] != "-mca" && words[i] != "--mca") || i + 2 >= words.size()) continue;
        const std::string &name = words[i + 1], &value = words[i + 2];
        if (name == "ess_base_vpid") vpid = number_of(value);
        if (is_known(name) && !is_value(value)) return std::nullopt;
        if (is_known(name)) command.options.emplace_back(name, value);
        i += 2;
    }
    // mpirun numbers its daemons from 1 on, in the order of the host file.
    if (vpid != command.daemon + 1) return std::nullopt;
    return command;
}

std::vector<std::size_t> daemon_of_rank(const std::vector<ZoneMachine>& place_of_rank,
                                        std::vector<ZoneMachine>& daemons) {
    std::map<std::pair<std::string, std::string>, std::size_t> known;
    std::vector<std::size_t> numbers;
    for (const ZoneMachine& place : place_of_rank) {
        const auto [at, is_new] = known.emplace(std::pair(place.zone, place.machine), daemons.size());
        if (is_new) daemons.push_back(place);
        numbers.push_back(at->second);
    }
    return numbers;
}

}  // namespace

std::vector<ZoneMachine> plan_daemons(const std::vector<ZoneMachine>& place_of_rank) {
    std::vector<ZoneMachine> daemons;
    daemon_of_rank(place_of_rank, daemons);
    return daemons;
}

std::string host_file(const std::vector<ZoneMachine>& place_of_rank) {
    std::vector<ZoneMachine> daemons;
    const std::vector<std::size_t> numbers = daemon_of_rank(place_of_rank, daemons);
    std::vector<std::size_t> ranks(daemons.size());
    for (const std::size_t daemon : numbers) ++ranks[daemon];
    std::string text;
    for (std::size_t d = 0; d < daemons.size(); ++d)
        text += std::string(kHostPrefix) + std::to_string(d) + " slots=" + std::to_string(ranks[d]) + "\n";
    return text;
}

std::string rank_file(const std::vector<ZoneMachine>& place_of_rank) {
    std::vector<ZoneMachine> daemons;
    const std::vector<std::size_t> numbers = daemon_of_rank(place_of_rank, daemons);
    std::string text;
    for (std::size_t rank = 0; rank < numbers.size(); ++rank)
        text += "rank " + std::to_string(rank) + "=" + std::string(kHostPrefix) + std::to_string(numbers[rank]) +
                " slot=*\n";
    return text;
}

std::string agent_script() { return "printf '%s\\n' \"" + std::string(kLinePrefix) + "$*\" >>" + kCommandFile + "\n"; }

std::vector<std::string> launcher_argv(const mpich::CoordinatorSpec& spec) {
    std::vector<std::string> argv = {spec.mpiexec};
    const auto set = [&argv](const std::string& name, const std::string& value) {
        argv.insert(argv.end(), {"--mca", name, value});
    };
    set("plm", "rsh");
    set("plm_rsh_agent", std::string("/bin/sh ") + kAgentFile);
    set("plm_rsh_no_tree_spawn", "1");
    if (!spec.interface.empty()) {
        set("oob_tcp_if_include", spec.interface);
        set("btl_tcp_if_include", spec.interface);
    }
    if (spec.share_processors) set("mpi_yield_when_idle", "1");  // the host file has slots enough, so it would poll
    argv.insert(argv.end(), {"--stdin", "none", "--hostfile", kHostFile, "--rankfile", kRankFile});
    for (const auto& [name, value] : launcher_environment(spec.environment)) {
        if (!is_own(name) && name != kShell) argv.insert(argv.end(), {"-x", name});  // own ones go by themselves
    }
    const std::string folder = "\"$" + std::string(kOutputVariable) + "/", rank = "$OMPI_COMM_WORLD_RANK\"";
    argv.insert(argv.end(), {"-wdir", "/", "-n", std::to_string(spec.ranks), "/bin/sh", "-c",
                             "exec \"$0\" \"$@\" >" + folder + std::string(own_files::kOut) + rank + " 2>" + folder +
                                 std::string(own_files::kErr) + rank});
    mpich::CoordinatorSpec carried = spec;
    carried.environment = without_own(mpich::program_environment(spec.environment));
    const std::vector<std::string> program = mpich::watched_argv(carried);
    argv.insert(argv.end(), program.begin(), program.end());
    return argv;
}

Options launcher_environment(const Options& environment) {
    const Options all = mpich::program_environment(environment);
    Options kept = mpich::carried_environment(without_own(all));
    for (const auto& [name, value] : all)
        if (is_own(name) && !name.starts_with("OMPI_ALLOW_RUN_AS_ROOT")) kept.emplace_back(name, value);
    // It warns on the job's stderr if it knows neither the account's shell, as nologin, nor this one.
    kept.emplace_back(kShell, "/bin/bash");
    kept.emplace_back("OMPI_ALLOW_RUN_AS_ROOT", "1");
    kept.emplace_back("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    return kept;
}

Result<mpich::LaunchLines> read_launch_lines(std::string_view text, std::size_t daemons) {
    mpich::LaunchLines lines;
    std::vector<bool> seen(daemons);
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        if (end == std::string_view::npos) break;  // a line still being written
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(end + 1);
        std::optional<Command> command = read_command(line);
        if (!command || static_cast<std::size_t>(command->daemon) >= daemons)
            return Error{ErrorCode::kInternal,
                         "mpirun asked for a daemon in a way that is not understood: " +
                             std::string(line.substr(0, std::min<std::size_t>(line.size(), 300))),
                         {}};
        lines.options = std::move(command->options);
        if (!seen[static_cast<std::size_t>(command->daemon)]) ++lines.proxies;
        seen[static_cast<std::size_t>(command->daemon)] = true;
    }
    lines.done = static_cast<std::size_t>(lines.proxies) == daemons;
    return lines;
}

Result<std::vector<std::string>> daemon_argv(const std::string& program, const Options& options, int id) {
    std::vector<std::string> argv = {program};
    for (const auto& [name, value] : kFixed) argv.insert(argv.end(), {"-mca", std::string(name), std::string(value)});
    argv.insert(argv.end(), {"-mca", "ess_base_vpid", std::to_string(id + 1)});
    for (const auto& [name, value] : options) {
        if (!is_known(name)) return invalid("'" + name + "' is no option of a daemon that this zone knows", {});
        if (!is_value(value)) return invalid("'" + value + "' is no value for '" + name + "'", {});
        argv.insert(argv.end(), {"-mca", name, value});
    }
    return argv;
}

Options daemon_environment(const std::string& output, const std::string& own) {
    Options environment = {
        {kOutputVariable, output}, {"OMPI_ALLOW_RUN_AS_ROOT", "1"}, {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}};
    if (!own.empty()) {
        environment.emplace_back("OMPI_MCA_btl_vader_backing_directory", own);
        environment.emplace_back("OMPI_MCA_orte_tmpdir_base", own);
    }
    return environment;
}

int read_first_rank(std::string_view text) {
    constexpr std::string_view kSignalled = " noticed that process rank ", kExited = "Process name: [[";
    int rank = -1;
    if (const std::size_t at = text.rfind(kSignalled); at != std::string_view::npos) {
        std::from_chars(text.data() + at + kSignalled.size(), text.data() + text.size(), rank);
    } else if (const std::size_t name = text.rfind(kExited); name != std::string_view::npos) {
        // "[[24575,1],3]": job family, job, rank
        const std::size_t comma = text.find("],", name);
        if (comma != std::string_view::npos && comma < text.find('\n', name))
            std::from_chars(text.data() + comma + 2, text.data() + text.size(), rank);
    }
    return rank;
}

std::optional<RankEnd> read_improper_end(std::string_view text) {
    constexpr std::string_view kAbort = "MPI_ABORT was invoked on rank ", kWorld = " in communicator MPI_COMM_WORLD\n",
                               kCode = "with errorcode ", kLeft = " has exited due to process rank ";
    RankEnd end;
    const auto number_at = [text](std::size_t at, int& number) {
        const auto [last, fault] = std::from_chars(text.data() + at, text.data() + text.size(), number);
        return fault == std::errc{} ? text.substr(static_cast<std::size_t>(last - text.data())) : std::string_view{};
    };
    if (const std::size_t at = text.find(kAbort); at != std::string_view::npos) {
        std::string_view rest = number_at(at + kAbort.size(), end.rank);
        if (!rest.starts_with(kWorld) || !rest.substr(kWorld.size()).starts_with(kCode)) return std::nullopt;
        rest.remove_prefix(kWorld.size() + kCode.size());
        end.how = RankEndKind::kAborted;
        if (number_at(static_cast<std::size_t>(rest.data() - text.data()), end.code).empty()) return std::nullopt;
        return end;
    }
    const std::size_t at = text.find(kLeft);
    if (at == std::string_view::npos || number_at(at + kLeft.size(), end.rank).empty()) return std::nullopt;
    end.before_finalize = true;
    return end;
}

int read_fatal_signal(std::string_view text) {
    constexpr std::string_view kReport = "exited on signal ";
    const std::size_t at = text.rfind(kReport);
    if (at == std::string_view::npos) return 0;
    int number = 0;
    std::from_chars(text.data() + at + kReport.size(), text.data() + text.size(), number);
    return number > 0 && number < 65 ? number : 0;
}

}  // namespace zbs::open_mpi
