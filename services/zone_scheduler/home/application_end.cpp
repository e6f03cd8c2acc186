// How an application ended, from what launcher, zones and ranks left of it.
#include "services/zone_scheduler/home/application_end.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <iterator>
#include <optional>

#include "services/common/messages/steps/lost_machine.hpp"
#include "services/common/messages/steps/own_files.hpp"
#include "services/zone_scheduler/launch/launchers.hpp"
#include "services/zone_scheduler/records/part_view.hpp"

namespace zbs {
namespace {

constexpr int kNotExecuted = 127;  ///< as a shell ends that cannot execute a program
constexpr std::size_t kMaxOfLauncher = 4 * 1024 * 1024;
constexpr int kTerminated = 128 + SIGTERM;

bool names_zone(const std::string& reason, const ZoneName& zone) {
    const std::string name = "zone " + zone;
    const std::size_t at = reason.find(name);
    return at != std::string::npos && (at + name.size() == reason.size() || reason[at + name.size()] == ' ');
}

/// What the parts show of an end that one of them caused, or `rank`: the others do not know why they ended.
void explain_parts(std::vector<ApplicationPart>& parts, const std::string& reason, std::optional<TaskIndex> rank) {
    const bool is_loss = reason.starts_with("lost ");
    for (ApplicationPart& part : parts) {
        PartStatus& own = part.status;
        if (!is_final(own.state)) continue;
        const bool is_cause = rank ? std::ranges::binary_search(part.ranks, *rank) : names_zone(reason, part.zone);
        const bool knows = ends_application(own.reason) || own.reason.starts_with(kWalltimeReason) ||
                           (own.first_end && own.first_end->how != RankEndKind::kAborted);
        if (is_cause && (rank || is_loss)) {
            own.state = PartState::kFailed;
            own.reason = reason;
        } else if (!is_cause && !knows && own.state == PartState::kFailed) {
            own.reason = "ended because " +
                         std::string(is_loss                               ? "of a "
                                     : reason.starts_with(kWalltimeReason) ? "of the "
                                                                           : "") +
                         reason;
        }
    }
}

/// One reason of all parts that ended at the walltime: a peer names no length, and a zone that had to end its part
/// when the walltime of another one was over names no reason.
void describe_walltime(std::vector<ApplicationPart>& parts, const std::string& walltime_reached) {
    for (ApplicationPart& part : parts) {
        PartStatus& own = part.status;
        const bool is_over = own.reason.starts_with(kWalltimeReason);
        const bool is_open = own.reason.empty() || own.state == PartState::kReleased;
        if (own.state == PartState::kCompleted || (!is_over && !is_open)) continue;
        const std::size_t zone = is_over ? own.reason.find(" in zone ") : std::string::npos;
        own.reason = walltime_reached + (zone == std::string::npos ? " in zone " + part.zone : own.reason.substr(zone));
        if (own.state == PartState::kReleased) own.state = PartState::kFailed;
    }
}

/// What was lost of MPICH's launcher, whose processes end by a signal only where something kills them; else empty. A
/// proxy that loses the launcher ends with a code; behind a program that ends badly it does not.
std::string lost_of_launcher(const Application& app, int code, std::string_view errors, const ZoneName& home,
                             const std::set<PartId>& silent) {
    const auto lost = [](const std::string& what, const ZoneName& zone, int ended) {
        return "lost " + what + " in zone " + zone + " (signal " + std::to_string(ended - 128) + ")";
    };
    if (mpich::lost_a_proxy(errors)) {
        for (const ApplicationPart& part : app.status.parts)
            if (const int ended = part.status.exit_code.value_or(0); is_signal(ended))
                return lost("proxy of the MPI launcher", part.zone, ended);
        std::string zones;
        for (const ApplicationPart& part : app.status.parts)
            if (silent.contains(part.id)) zones += (zones.empty() ? "zone " : " or zone ") + part.zone;
        if (!zones.empty())
            return "lost " + zones + " (no answer from there, and the MPI launcher lost its connection to a proxy)";
        return "lost connection between the MPI launcher and a proxy";
    }
    const bool has_orphan = std::ranges::any_of(
        app.status.parts, [](const ApplicationPart& part) { return part.status.exit_code.value_or(0) != 0; });
    return is_signal(code) && has_orphan ? lost("MPI launcher", home, code) : "";
}

/// Of a signal that the launcher reports of a rank, and no zone. The supervisor of a rank leaves a record, so it was
/// the supervisor that got the signal, and the rank ended with it. `place`: ZONE.MACHINE, where the launcher says it.
std::string end_without_record(const ApplicationStatus& status, int signal, const std::string& place) {
    for (const ApplicationPart& part : status.parts) {
        if (signal != SIGKILL || !is_final(part.status.state)) continue;
        for (const RankPlace& one : part.status.assignment)
            if (part.zone + "." + one.machine == place)
                return std::string(kLostSupervisorReason) + " of a rank in zone " + part.zone + " on machine " +
                       one.machine + " (signal " + std::to_string(signal) + ")";
    }
    return "a rank was ended by signal " + std::to_string(signal);
}

/// Why a launcher ended that nobody here stopped, though ranks of it got a SIGTERM; else empty. `is_launcher`: the step
/// of the launcher was stopped. A SIGTERM to the launcher itself reaches all ranks.
std::string stopped_by_other(const ApplicationStatus& status, bool is_launcher, const ZoneName& home) {
    const auto is_stopped = [](const ApplicationPart& part) { return part.status.reason.starts_with(kStoppedReason); };
    if (is_launcher || std::ranges::all_of(status.parts, is_stopped))
        return "the MPI launcher was " + std::string(kStoppedReason) + " in zone " + home;
    const auto part = std::ranges::find_if(status.parts, is_stopped);
    return part == status.parts.end() ? "" : part->status.reason;
}

class EndFinder {
  public:
    EndFinder(const ZoneConfig& config, Executor& executor, const Application& app, const std::set<PartId>& silent)
        : executor_(executor),
          app_(app),
          silent_(silent),
          home_(config.name()),
          launcher_(executor.status(app.status.launcher_step)),
          walltime_reached_(std::string(kWalltimeReason) + " of " +
                            std::to_string(std::chrono::ceil<std::chrono::seconds>(app.request.walltime).count()) +
                            " s reached"),
          first_(first_end(app)) {
        end_.exit_code = launcher_.state == StepStatus::State::kExited ? launcher_.exit_code : 1;
        end_.parts = app.status.parts;
    }
    ApplicationEnd find(const EndedByHome& by_home);

  private:
    void find_limit();
    std::string why_first() const { return describe(*first_, place_of_rank(app_, first_->rank)); }
    int exit_code_of_stop(const std::string& reason) const;
    void describe_program_end();
    void describe_limit(const std::string& before_walltime);
    void add_loader_fault();
    std::string own_ranks_at_walltime() const;
    std::string read_launcher_file(std::string_view name) const {
        const Result<std::string> text =
            executor_.read(app_.status.launcher_step, std::string(name), 0, kMaxOfLauncher);
        return text ? *text : std::string{};
    }

    Executor& executor_;
    const Application& app_;
    const std::set<PartId>& silent_;
    const ZoneName home_;
    const StepStatus launcher_;
    /// One sentence, whichever zone was first: the launcher's own walltime is longer, and a peer names no length.
    const std::string walltime_reached_;
    std::optional<RankEnd> first_;
    std::string limit_;    // why it ended that is no end of the program
    std::string stopped_;  // the same, if somebody else stopped it
    ApplicationEnd end_;
};

/// Zones keep the walltime each for itself: where another one is first, the launcher may end with code 0.
void EndFinder::find_limit() {
    limit_ = launcher_.reason;
    if (limit_.starts_with(kWalltimeReason)) limit_ = walltime_reached_;
    if (limit_.starts_with(kLostSupervisorReason)) limit_ += " of the MPI launcher in zone " + home_;
    for (const ApplicationPart& part : app_.status.parts) {
        const std::string why = part.status.reason.substr(0, part.status.reason.find(kBeforeWalltimeReason));
        if (why.starts_with(kWalltimeReason))
            limit_ = walltime_reached_ + why.substr(std::min(why.find(" in zone "), why.size()));
        else if (ends_application(why))
            limit_ = why;
    }
    const bool is_walltime = limit_.starts_with(kWalltimeReason);
    const bool is_step_stopped = limit_.starts_with(kStepStoppedReason) && !is_srun(app_.request.launcher);
    if (!is_walltime && !ends_application(limit_) && !first_ && (is_step_stopped || end_.exit_code == 0))
        stopped_ = stopped_by_other(app_.status, is_step_stopped, home_);
    if (!stopped_.empty()) limit_ = stopped_;
}

ApplicationEnd EndFinder::find(const EndedByHome& by_home) {
    find_limit();
    const bool is_walltime = limit_.starts_with(kWalltimeReason);
    const bool is_cancelled = app_.status.cancel_requested;
    if (is_cancelled && !is_walltime) {
        end_.state = ApplicationState::kCancelled;
        end_.reason = by_home.cancelled;
        end_.exit_code = kTerminated;  // what its ranks got; the launcher's own code means nothing
    } else if (!is_cancelled && !by_home.stopped.empty()) {
        end_.reason = by_home.stopped;
        end_.exit_code = exit_code_of_stop(end_.reason);
    } else if (end_.exit_code == 0 && !first_ && !is_walltime && !ends_application(limit_) && stopped_.empty()) {
        end_.state = ApplicationState::kCompleted;
    } else {
        describe_program_end();
    }
    add_loader_fault();
    if (end_.state == ApplicationState::kFailed && end_.reason.starts_with(kWalltimeReason))
        describe_walltime(end_.parts, walltime_reached_);
    if (end_.state == ApplicationState::kFailed)
        explain_parts(end_.parts, end_.reason,
                      first_ && end_.reason.starts_with(why_first()) ? std::optional(first_->rank) : std::nullopt);
    return std::move(end_);
}

/// The launcher was stopped by us; its own code means nothing.
int EndFinder::exit_code_of_stop(const std::string& reason) const {
    if (first_ && reason == why_first()) return exit_code_of(*first_);
    if (reason.starts_with(kNotBegunReason)) return kNotExecuted;
    return reason.starts_with(kStoppedReason) ? kTerminated : 1;
}

void EndFinder::describe_program_end() {
    // The walltime of one zone ends peers of ranks in another one, and MPI aborts those.
    const std::string before_walltime =
        first_ && first_->how != RankEndKind::kAborted ? std::string(kBeforeWalltimeReason) + why_first() : "";
    const std::string errors = read_launcher_file(own_files::kStderr);
    const RanksEnd ranks_end =
        read_end(app_.request.launcher, end_.exit_code, read_launcher_file(own_files::kStdout), errors);
    end_.exit_code = ranks_end.exit_code;
    const int signal = ranks_end.signal;
    // Of an abort the supervisor of a rank of Open MPI sees only the exit.
    if ((!first_ || ranks_end.how == RankEndKind::kAborted) && ranks_end.rank >= 0 &&
        ranks_end.rank < app_.request.ranks) {
        first_ = {.rank = ranks_end.rank,
                  .how = signal > 0 ? RankEndKind::kSignalled : ranks_end.how,
                  .code = signal > 0 ? signal : ranks_end.exit_code,
                  .before_finalize = ranks_end.before_finalize};
    }
    std::string lost;
    if (app_.request.launcher == Launcher::kMpich && signal == 0)
        lost = lost_of_launcher(app_, launcher_.exit_code, errors, home_, silent_);
    // MPI aborts ranks whose peers are gone.
    const bool has_lost =
        !lost.empty() && (!first_ || (first_->how == RankEndKind::kAborted && !lost.starts_with("lost connection")));
    if (!limit_.empty()) {
        describe_limit(before_walltime);
    } else if (has_lost) {
        end_.exit_code = 1;  // those of the launcher and its proxies are not the program's
        end_.reason = lost;
    } else if (first_) {
        end_.exit_code = exit_code_of(*first_);
        end_.reason = why_first();
    } else if (signal > 0) {
        end_.exit_code = 128 + signal;
        end_.reason = end_without_record(app_.status, signal, ranks_end.place);
    } else if (const std::string own = mpich::own_fault(errors); !own.empty()) {
        end_.reason = "the MPI launcher ended with code " + std::to_string(end_.exit_code) + ": " + own;
    } else {
        end_.reason = "the program ended with exit code " + std::to_string(end_.exit_code);
    }
}

void EndFinder::describe_limit(const std::string& before_walltime) {
    end_.reason = limit_;
    if (limit_.starts_with(kWalltimeReason)) {
        end_.exit_code = kTerminated;  // as if the program had got its SIGTERM
        if (limit_.find(": ") == std::string::npos)
            if (const std::string own = own_ranks_at_walltime(); !own.empty())
                end_.reason += "; in zone " + home_ + own;
        end_.reason += before_walltime;
    }
    if (limit_.starts_with(kNotBegunReason)) end_.exit_code = kNotExecuted;
    if (limit_.starts_with(kLostSupervisorReason)) end_.exit_code = 1;
    // Of ranks that were stopped by their zone the launcher reports good ends.
    if (end_.exit_code == 0 || !stopped_.empty()) end_.exit_code = kTerminated;
}

/// A shell ends with the same code, and a loader that finds an old library with 1.
void EndFinder::add_loader_fault() {
    if (!first_ || first_->how != RankEndKind::kExited || (first_->code != kNotExecuted && first_->code != 1) ||
        end_.reason != why_first())
        return;
    const Result<std::string> errors =
        executor_.read(output_step(app_, first_->rank),
                       std::string(own_files::of_ranks(true)) + std::to_string(first_->rank), 0, kMaxOfErrors);
    const std::string why = errors ? loader_fault(*errors) : std::string{};
    const auto part = std::ranges::find_if(end_.parts, [rank = first_->rank](const ApplicationPart& one) {
        return std::ranges::binary_search(one.ranks, rank);
    });
    if (why.empty() || part == end_.parts.end()) return;
    end_.reason = is_loader_fault_of(app_.request.argv.front(), why)
                      ? std::string(kNotBegunReason) + " in zone " + part->zone + ": " + why
                      : end_.reason + ": " + why;  // of a program that the program runs
}

std::string EndFinder::own_ranks_at_walltime() const {
    std::vector<int> proxies;
    for (const LaunchProxy& proxy : launch_proxies(app_))
        if (proxy.zone == home_) proxies.push_back(proxy.id);
    std::size_t ranks = 0;
    std::vector<StepId> steps;
    for (const ApplicationPart& part : app_.status.parts) {
        if (part.zone != home_) continue;
        ranks += part.ranks.size();
        std::ranges::copy(step_ids(launch_operation(part.id), proxies), std::back_inserter(steps));
    }
    return ranks_at_walltime(executor_, steps, ranks);
}

}  // namespace

bool ends_application(std::string_view reason) {
    return std::ranges::any_of(
        std::array{kNotBegunReason, kLostMachineReason, kLostSupervisorReason, kTakenBackReason, kFolderReason},
        [reason](std::string_view beginning) { return reason.starts_with(beginning); });
}

bool is_signal(int exit_code) { return exit_code > 128 && exit_code < 128 + 65; }

ApplicationEnd find_end(const ZoneConfig& config, Executor& executor, const Application& app,
                        const std::set<PartId>& silent, const EndedByHome& by_home) {
    return EndFinder(config, executor, app, silent).find(by_home);
}

}  // namespace zbs
