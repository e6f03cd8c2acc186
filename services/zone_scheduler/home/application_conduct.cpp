// The machine of an application as a judge of zones: what they have promised, and whether they deny it.
#include "services/zone_scheduler/home/application_steps.hpp"

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

/// Remembers how long the zone owes the part: counted from when it was asked, so that its own count ends later. Nothing
/// of it survives a restart: then nobody is judged.
void Steps::promise(const ApplicationPart& part, Duration asked, const PartStatus& answer) {
    // A part that runs is owed until it has ended, and its end is still reported.
    const Duration until = answer.state == PartState::kRunning
                               ? Duration::max()
                               : asked + answer.expires_in * kSureTenths / 10 - kSureLess;
    if (answer.state == PartState::kCommitted && answer.expires_in > answer.starts_in)
        run_.windows[part.id] = answer.expires_in - answer.starts_in;
    run_.obligations[part.id] = {until, asked, now_.wall - (now_.steady - asked)};
}

/// What an answer about a part means for the conduct of its zone. An honest zone cannot deny an obligation: it has
/// stored each promise before it made it, and it reports the reason of whatever ends a part early. A conflict has no
/// reason: the part's state is requested.
void Steps::judge(const ApplicationPart& part, const Result<PartStatus>& answer) {
    const bool ours_to_end = status_.cancel_requested || !status_.stop_reason.empty() || is_final(status_.state);
    if (ours_to_end || !denies(answer)) return;
    const auto obligation = run_.obligations.find(part.id);
    if (obligation == run_.obligations.end() || now_.steady >= obligation->second.until) return;
    const Duration by_wall = now_.wall - obligation->second.asked_by_wall;
    const bool suspended = by_wall - (now_.steady - obligation->second.asked) > kSuspended;
    run_.obligations.erase(obligation);
    if (suspended) return;
    add(effect::Penalise{part.zone, part.id, answer ? to_string(answer->state) : answer.error().message,
                         !answer && answer.error().code == ErrorCode::kConflict});
}

/// For the reason of an end: the launcher's own connections say whether machines are lost, silence does not.
void Steps::record_silence(const ApplicationPart& part, const Result<PartStatus>& answer) {
    if (!answer && is_passing(answer.error()))
        run_.silent.insert(part.id);
    else
        run_.silent.erase(part.id);
}

}  // namespace zbs
