#include "services/zone_scheduler/home/home_launcher.hpp"

#include <algorithm>

#include "services/common/failpoint/failpoint.hpp"
#include "services/common/messages/steps/lost_machine.hpp"
#include "services/common/messages/steps/own_files.hpp"
#include "services/zone_scheduler/home/application_end.hpp"
#include "services/zone_scheduler/launch/launchers.hpp"

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

event::LauncherSeen::Proxies seen_proxies(StepStatus::Proxies proxies) {
    using Seen = event::LauncherSeen::Proxies;
    if (proxies == StepStatus::Proxies::kConnected) return Seen::kConnected;
    return proxies == StepStatus::Proxies::kAwaited ? Seen::kAwaited : Seen::kNone;
}

}  // namespace

void HomeLauncher::start(const std::shared_ptr<ApplicationRun>& run) {
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

void HomeLauncher::check(const std::shared_ptr<ApplicationRun>& run) {
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
    seen.proxies = seen_proxies(status.proxies);
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

void HomeLauncher::remove(const std::shared_ptr<ApplicationRun>& run) {
    static_cast<void>(ports_.executor.remove(run->app.status.launcher_step, kMaxLauncherFiles));
    apply_(run, event::LauncherRemoved{});
}

}  // namespace zbs
