// The machine of an application as a judge of zones: what they have promised, and whether they deny it.
#include "services/zone_scheduler/home/application.hpp"

namespace zbs {
namespace {

/// Clocks run at different speeds: so much less is taken for sure of what a zone promises.
constexpr int kSureTenths = 9;
constexpr Duration kSureLess = std::chrono::milliseconds{500};
/// Where the wall clock has gone so much further than the steady one, this host may have been suspended: then zones
/// have waited longer than we know.
constexpr Duration kSuspended = std::chrono::seconds{1};

}  // namespace

bool denies(const Result<PartStatus>& answer) {
    if (answer) return answer->state == PartState::kExpired;
    return answer.error().code == ErrorCode::kNotFound || answer.error().code == ErrorCode::kConflict;
}

void record_promise(ApplicationRun& run, const PartId& id, Duration asked, const PartStatus& answer,
                    const Moment& now) {
    // A part that runs is owed until it has ended, and its end is still reported.
    const Duration until = answer.state == PartState::kRunning
                               ? Duration::max()
                               : asked + answer.expires_in * kSureTenths / 10 - kSureLess;
    if (answer.state == PartState::kCommitted && answer.expires_in > answer.starts_in)
        run.windows[id] = answer.expires_in - answer.starts_in;
    run.obligations[id] = {until, asked, now.wall - (now.steady - asked)};
}

std::optional<effect::Penalise> assess(ApplicationRun& run, const ZoneName& zone, const PartId& id,
                                       const Result<PartStatus>& answer, const Moment& now) {
    const ApplicationStatus& status = run.app.status;
    const bool ours_to_end = status.cancel_requested || !status.stop_reason.empty() || is_final(status.state);
    if (ours_to_end || !denies(answer)) return std::nullopt;
    const auto obligation = run.obligations.find(id);
    if (obligation == run.obligations.end() || now.steady >= obligation->second.until) return std::nullopt;
    const Duration by_wall = now.wall - obligation->second.asked_by_wall;
    const bool suspended = by_wall - (now.steady - obligation->second.asked) > kSuspended;
    run.obligations.erase(obligation);
    if (suspended) return std::nullopt;
    return effect::Penalise{zone, id, answer ? to_string(answer->state) : answer.error().message,
                            !answer && answer.error().code == ErrorCode::kConflict};
}

}  // namespace zbs
