#include "services/zone_scheduler/launch/launchers.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "algorithms/base/text.hpp"
#include "services/common/messages/steps/own_files.hpp"
#include "services/common/messages/text/printable.hpp"
#include "services/zone_scheduler/launch/open_mpi.hpp"
#include "services/zone_scheduler/records/part_view.hpp"

namespace zbs {
namespace {

constexpr int kMaxSignal = 31;  ///< the others have no names of their own

std::vector<mpich::ZoneMachine> places_of(const Application& application) {
    std::vector<mpich::ZoneMachine> places(static_cast<std::size_t>(application.request.ranks));
    for (const ApplicationPart& part : application.status.parts) {
        for (const RankPlace& place : part.status.assignment)
            places[static_cast<std::size_t>(place.rank)] = {part.zone, place.machine};
    }
    return places;
}

mpich::CoordinatorSpec coordinator_of(const ApplicationRequest& request) {
    return {.mpiexec = {},
            .interface = {},
            .directory = request.directory,
            .ranks = request.ranks,
            .argv = request.argv,
            .is_staged = !request.staging.empty(),
            .staged_program = request.staging.program};
}

/// Of launchers that work in one zone only.
StepId step_of_proxy(const Application& application, int proxy) {
    if (application.status.parts.empty()) return {};
    return step_ids(launch_operation(application.status.parts.front().id), {proxy}).front();
}

/// Of "task 2"; -1 of several.
TaskIndex rank_in(std::string_view words) {
    constexpr std::string_view kOne = "task ";
    if (!words.starts_with(kOne)) return -1;
    return parse_number<TaskIndex>(words.substr(kOne.size())).value_or(-1);
}

/// srun ends with the highest code of its tasks, which is that of those it ended itself after the first had failed. Of
/// that one it says "srun: error: NODE: task 2: Exited with exit code 9", or the name of a signal.
RanksEnd read_end_of_srun(int exit_code, std::string_view err) {
    constexpr std::string_view kBegin = "srun: error: ", kExit = "Exited with exit code ";
    for (std::size_t at = err.find(kBegin); at != std::string_view::npos; at = err.find(kBegin, at + 1)) {
        std::string_view line = err.substr(at, err.find('\n', at) - at);
        const std::size_t task = line.find(": task");
        const std::size_t what = task == std::string_view::npos ? task : line.find(": ", task + 2);
        if (what == std::string_view::npos) continue;
        const TaskIndex rank = rank_in(line.substr(task + 2, what - task - 2));
        line.remove_prefix(what + 2);
        if (line.starts_with(kExit)) {
            int code = 0;
            std::from_chars(line.data() + kExit.size(), line.data() + line.size(), code);
            if (code > 0 && code < 256) return {code, 0, rank};
        }
        for (int signal = 1; signal <= kMaxSignal; ++signal)
            if (line.starts_with(strsignal(signal))) return {128 + signal, signal, rank};
    }
    return {exit_code, 0};
}

constexpr std::size_t kMaxShown = 512;

/// Of glibc, of musl, and of glibc if a library is too old.
bool is_of_loader(std::string_view line) {
    const auto has = [line](std::string_view words) { return line.find(words) != std::string_view::npos; };
    return has(": error while loading shared libraries: ") || line.starts_with("Error loading shared library ") ||
           (has(": version `") && has("' not found (required by "));
}

}  // namespace

std::vector<LaunchProxy> launch_proxies(const Application& application) {
    std::vector<LaunchProxy> proxies;
    const std::vector<mpich::ZoneMachine> places = places_of(application);
    const Launcher launcher = application.request.launcher;
    if (launcher == Launcher::kMpich) {
        for (const mpich::ProxyPlan& plan : mpich::plan_proxies(places))
            proxies.push_back({plan.id, plan.zone, plan.machine});
    } else if (launcher == Launcher::kOpenMpi) {
        for (const mpich::ZoneMachine& place : open_mpi::plan_daemons(places))
            proxies.push_back({static_cast<int>(proxies.size()), place.zone, place.machine});
    } else {
        proxies.push_back({0, places.front().zone, places.front().machine});
    }
    return proxies;
}

std::string why_no_launcher(const ZoneConfig& config, Launcher launcher) {
    if (launcher == Launcher::kOpenMpi && (config.mpirun.empty() || config.orted.empty()))
        return "zone " + config.zone.name + " has no Open MPI ('mpirun' and 'orted' in [mpi] of its file)";
    if (is_srun(launcher) && !config.has_slurm)
        return "zone " + config.zone.name + " is not in front of Slurm, so srun starts nothing there";
    if (needs_own_zone(launcher) && config.has_slurm && !config.staging.nodes_share_state)
        return "the nodes of zone " + config.zone.name +
               " do not see its state folder, where ranks would write their output ('nodes_share_state' in [staging] "
               "of its file says that they do)";
    return {};
}

StepId launcher_step_id(const Application& application) {
    if (is_srun(application.request.launcher)) return step_of_proxy(application, 0);
    const std::string first = "mpi-" + to_string(application.request.id);
    const std::string& last = application.status.launcher_step;
    if (last.empty()) return StepId(first);
    int launches = 1;
    if (last.size() > first.size() + 1)
        std::from_chars(last.data() + first.size() + 1, last.data() + last.size(), launches);
    return StepId(first + "-" + std::to_string(launches + 1));
}

StepSpec launcher_step(const ZoneConfig& config, const Application& application) {
    const ApplicationRequest& request = application.request;
    const std::vector<mpich::ZoneMachine> places = places_of(application);
    mpich::CoordinatorSpec spec = coordinator_of(request);
    spec.mpiexec = config.mpiexec;
    spec.interface = config.mpi_interface;
    const auto shares = [](const ApplicationPart& part) { return part.overcommit > 1; };
    spec.share_processors = std::ranges::any_of(application.status.parts, shares);
    StepSpec step{.step_id = application.status.launcher_step,
                  .walltime = request.walltime + request.grace + kEndSlack};
    if (request.launcher == Launcher::kOpenMpi) {
        spec.mpiexec = config.mpirun;
        spec.environment = request.environment;
        step.argv = open_mpi::launcher_argv(spec);
        step.environment = open_mpi::launcher_environment(request.environment);
        step.files = {{open_mpi::kHostFile, open_mpi::host_file(places)},
                      {open_mpi::kRankFile, open_mpi::rank_file(places)},
                      {open_mpi::kAgentFile, open_mpi::agent_script()}};
    } else {
        spec.environment = mpich::rank_environment(request.environment);
        step.argv = mpich::coordinator_argv(spec);
        step.environment = mpich::carried_environment(spec.environment);
        const std::vector<mpich::ProxyPlan> proxies = mpich::plan_proxies(places);
        step.files = {{mpich::kHostFile, mpich::host_file(proxies)}};
        step.proxies = proxies.size();
    }
    return step;
}

LaunchRequest::Program program_of_ranks(const ApplicationRequest& request) {
    const mpich::CoordinatorSpec spec = coordinator_of(request);
    return {mpich::rank_argv(spec), mpich::start_directory(spec), mpich::rank_environment(request.environment)};
}

std::string launcher_commands(Launcher launcher) {
    return launcher == Launcher::kOpenMpi ? open_mpi::kCommandFile : std::string(own_files::kStdout);
}

Result<mpich::LaunchLines> read_launcher(const Application& application, std::string_view text) {
    const std::size_t proxies = launch_proxies(application).size();
    if (application.request.launcher == Launcher::kOpenMpi) return open_mpi::read_launch_lines(text, proxies);
    Result<mpich::LaunchLines> lines = mpich::read_launch_lines(text);
    if (lines && lines->done && static_cast<std::size_t>(lines->proxies) != proxies) {
        return Error{ErrorCode::kInternal,
                     "the MPI launcher asks for " + std::to_string(lines->proxies) + " proxies where " +
                         std::to_string(proxies) + " were planned",
                     {}};
    }
    return lines;
}

Result<std::vector<std::string>> proxy_command(const ZoneConfig& config, const LaunchRequest& request, int id) {
    if (request.launcher == Launcher::kMpich) return mpich::proxy_argv(config.mpi_proxy, request.options, id);
    if (request.launcher == Launcher::kOpenMpi) return open_mpi::daemon_argv(config.orted, request.options, id);
    ZBS_EXPECTS(request.program.has_value());
    return request.program->argv;
}

StepId output_step(const Application& application, int rank) {
    if (application.request.launcher != Launcher::kOpenMpi) return application.status.launcher_step;
    const std::vector<mpich::ZoneMachine> places = places_of(application);
    const std::vector<mpich::ZoneMachine> daemons = open_mpi::plan_daemons(places);
    const auto at = std::find(daemons.begin(), daemons.end(), places.at(static_cast<std::size_t>(rank)));
    return step_of_proxy(application, static_cast<int>(at - daemons.begin()));
}

std::vector<StepId> output_steps(const Application& application) {
    if (application.request.launcher != Launcher::kOpenMpi) return {application.status.launcher_step};
    std::vector<StepId> steps;
    for (const LaunchProxy& proxy : launch_proxies(application)) steps.push_back(step_of_proxy(application, proxy.id));
    return steps;
}

std::string place_of_rank(const Application& application, TaskIndex rank) {
    for (const ApplicationPart& part : application.status.parts)
        for (const RankPlace& place : part.status.assignment)
            if (place.rank == rank) return part.zone + "." + place.machine;
    return {};
}

std::optional<RankEnd> first_end(const Application& application) {
    std::optional<RankEnd> first;
    for (const ApplicationPart& part : application.status.parts) {
        const std::optional<RankEnd>& end = part.status.first_end;
        if (end && std::ranges::find(part.ranks, end->rank) != part.ranks.end() &&
            (!first || comes_before(*end, *first)))
            first = end;
    }
    return first;
}

RanksEnd read_end(Launcher launcher, int exit_code, std::string_view out, std::string_view err) {
    if (launcher == Launcher::kMpich)
        return {.exit_code = exit_code, .signal = mpich::read_fatal_signal(out), .place = mpich::read_fatal_place(out)};
    if (launcher == Launcher::kOpenMpi) {
        if (const std::optional<RankEnd> end = open_mpi::read_improper_end(err))
            return {end->code, 0, end->rank, end->how, end->before_finalize};
        return {exit_code, open_mpi::read_fatal_signal(err), open_mpi::read_first_rank(err)};
    }
    return read_end_of_srun(exit_code, err);
}

std::string loader_fault(std::string_view errors) {
    while (!errors.empty()) {
        const std::string_view line = errors.substr(0, errors.find('\n'));
        if (is_of_loader(line)) return printable_text(line, kMaxShown);
        errors.remove_prefix(std::min(line.size() + 1, errors.size()));
    }
    return {};
}

bool is_loader_fault_of(std::string_view program, std::string_view line) {
    const auto last_name = [](std::string_view path) { return path.substr(path.rfind('/') + 1); };
    const std::string_view name = last_name(program);
    return last_name(line.substr(0, line.find(": "))) == name || last_name(line) == std::string(name) + ")";
}

}  // namespace zbs
