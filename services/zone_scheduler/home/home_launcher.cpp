#include "services/zone_scheduler/home/home_launcher.hpp"

#include <algorithm>

#include "services/common/failpoint/failpoint.hpp"
#include "services/common/messages/steps/lost_machine.hpp"
#include "services/common/messages/steps/own_files.hpp"
#include "services/zone_scheduler/home/application_end.hpp"
#include "services/zone_scheduler/launch/launchers.hpp"
#include "services/zone_scheduler/records/part_view.hpp"

namespace zbs {
namespace {

constexpr std::size_t kMaxLauncherOutput = 4 * 1024 * 1024;
constexpr std::size_t kMaxLauncherFiles = 1'000;  ///< of a launcher that has started nothing; it leaves a handful

/// The first line that says something, for a reason that fits on one line.
std::string first_line(const std::string& text) {
    std::size_t begin = text.find_first_not_of(" \n=");
    if (begin == std::string::npos) return {};
    return text.substr(begin, std::min(text.find('\n', begin), begin + 200) - begin);
}

}  // namespace

void HomeLauncher::perform(const Run& run, const effect::StartLauncher&) {
    StepSpec step = launcher_step(ports_.config, run->app);
    if (ports_.account_of) {
        Result<AccountName> account = ports_.account_of(run->app.owner);
        if (!account) return apply_(run, event::LauncherFailed{account.error().message});
        step.account = *std::move(account);
    }
    Result<void> started = ports_.executor.start(step);
    if (started) started = failpoint::reach(failpoint::Point::kHomeLauncherStarted);
    if (!started)
        apply_(run, event::LauncherFailed{"the MPI launcher could not be started: " + started.error().message});
}

void HomeLauncher::perform(const Run& run, const effect::CheckLauncher& check) {
    if (check.after > Duration{0})
        return static_cast<void>(
            ports_.clock.after(check.after, [this, run] { perform(run, effect::CheckLauncher{}); }));
    const StepId& id = run->app.status.launcher_step;
    event::LauncherSeen seen;
    if (std::holds_alternative<phase::AwaitingLauncher>(run->phase)) {
        const Result<std::string> text =
            ports_.executor.read(id, launcher_commands(run->app.request.launcher), 0, kMaxLauncherOutput);
        Result<mpich::LaunchLines> lines = read_launcher(run->app, text ? std::string_view(*text) : std::string_view{});
        if (!lines) return apply_(run, event::LauncherFailed{lines.error().message});
        if (lines->done) seen.asked = std::move(lines->options);
    }
    const StepStatus status = ports_.executor.status(id);
    seen.runs = status.state == StepStatus::State::kRunning;
    seen.proxies = status.proxies;
    seen.was_stopped = status.reason.starts_with(kStepStoppedReason);
    if (!seen.runs) seen.end = why_it_ended(id);
    apply_(run, seen);
}

std::string HomeLauncher::why_it_ended(const StepId& step) const {
    const StepStatus end = ports_.executor.status(step);
    const Result<std::string> fault = ports_.executor.read(step, std::string(own_files::kStderr), 0, kMaxOfErrors);
    std::string words = fault ? mpich::own_fault(*fault) : std::string{};
    if (words.empty() && fault) words = first_line(*fault);
    if (words.empty()) words = end.reason;
    return "the MPI launcher ended with " +
           (is_signal(end.exit_code) ? "signal " + std::to_string(end.exit_code - 128)
                                     : "code " + std::to_string(end.exit_code)) +
           (words.empty() ? "" : ": " + words);
}

void HomeLauncher::perform(const Run& run, const effect::StopLauncher& stop) {
    const StepId& step = run->app.status.launcher_step;
    if (ports_.executor.status(step).state != StepStatus::State::kExited) ports_.executor.stop(step, stop.grace);
}

void HomeLauncher::perform(const Run& run, const effect::RemoveLauncher&) {
    static_cast<void>(ports_.executor.remove(run->app.status.launcher_step, kMaxLauncherFiles));
    apply_(run, event::LauncherRemoved{});
}

void HomeLauncher::perform(const Run& run, const effect::Watch& watch) {
    if (is_final(run->app.status.state)) return;
    apply_(run, event::OwnerChecked{});  // where it cannot be stored now, the next look does
    const StepStatus step = ports_.executor.status(run->app.status.launcher_step);
    const bool is_clean = step.state == StepStatus::State::kExited && step.exit_code == 0;
    apply_(run, event::Watched{step.state == StepStatus::State::kRunning, is_clean});
    if (std::holds_alternative<phase::Watching>(run->phase))
        ports_.clock.after(ports_.config.poll_every, [this, run, watch] { perform(run, watch); });
}

void HomeLauncher::perform(const Run& run, const effect::AwaitLauncher& end) {
    ports_.clock.after(end.after, [this, run, end] {
        if (ports_.executor.status(run->app.status.launcher_step).state == StepStatus::State::kRunning)
            apply_(run, event::LauncherOutlives{end.zone, end.reason});
    });
}

void HomeLauncher::perform(const Run& run, const effect::MeasureOutput&) {
    const Duration begun = ports_.clock.steady_now();
    std::uint64_t bytes = 0;
    for (const StepId& step : output_steps(run->app)) {
        for (const Executor::File& file : ports_.executor.list(step, {}))
            if (file.name.starts_with(own_files::kOut) || file.name.starts_with(own_files::kErr)) bytes += file.bytes;
    }
    apply_(run, event::OutputMeasured{bytes, ports_.clock.steady_now() - begun});
}

void HomeLauncher::perform(const Run& run, const effect::FindEnd& find) {
    apply_(run, event::EndFound{find_end(ports_.config, ports_.executor, run->app, run->silent, find.by_home)});
}

}  // namespace zbs
