// ApplicationService as a judge of zones: what they have promised, and whether they deny it.
#include "services/zone_scheduler/home/application_run.hpp"

namespace zbs {
namespace {

/// Clocks run at different speeds: so much less is taken for sure of what a zone promises.
constexpr int kSureTenths = 9;
constexpr Duration kSureLess = std::chrono::milliseconds{500};
/// Where the wall clock has gone so much further than the steady one, this host may have been suspended: then zones
/// have waited longer than we know.
constexpr Duration kSuspended = std::chrono::seconds{1};

/// Whether the answer denies a part, or says that its time is over. A right that was taken back answers kDenied, a zone
/// in trouble kUnavailable, and a part that its zone's operator ended is `released`: those are reasons.
bool denies(const Result<PartStatus>& answer) {
    if (answer) return answer->state == PartState::kExpired;
    return answer.error().code == ErrorCode::kNotFound || answer.error().code == ErrorCode::kConflict;
}

}  // namespace

/// Remembers how long the zone owes the part: counted from when it was asked, so that its own count ends later. Nothing
/// of it survives a restart: then nobody is judged.
void ApplicationService::record_promise(const std::shared_ptr<Run>& run, const PartId& id, Duration asked_at,
                                        const PartStatus& answer) {
    // A part that runs is owed until it has ended, and its end is still reported.
    const Duration until = answer.state == PartState::kRunning
                               ? Duration::max()
                               : asked_at + answer.expires_in * kSureTenths / 10 - kSureLess;
    if (answer.state == PartState::kCommitted && answer.expires_in > answer.starts_in)
        run->windows[id] = answer.expires_in - answer.starts_in;
    run->obligations[id] = {until, asked_at, ports_.clock.now() - (ports_.clock.steady_now() - asked_at)};
}

/// An honest zone cannot deny an obligation: it has stored each promise before it made it, and it reports the reason of
/// whatever ends a part early. A conflict has no reason: the part's state is requested.
void ApplicationService::assess(const std::shared_ptr<Run>& run, const ZoneName& zone, const PartId& id,
                                const Result<PartStatus>& answer) {
    const bool ours_to_end =
        run->app.status.cancel_requested || !run->app.status.stop_reason.empty() || is_final(run->app.status.state);
    if (ours_to_end || !denies(answer)) return;
    const auto obligation = run->obligations.find(id);
    if (obligation == run->obligations.end() || ports_.clock.steady_now() >= obligation->second.until) return;
    const Duration by_wall = ports_.clock.now() - obligation->second.asked_by_wall;
    const bool suspended = by_wall - (ports_.clock.steady_now() - obligation->second.asked) > kSuspended;
    run->obligations.erase(obligation);
    if (suspended) return;
    const std::string words = answer ? to_string(answer->state) : answer.error().message;
    if (answer || answer.error().code != ErrorCode::kConflict) return penalise(run, zone, id, words);
    ports_.transport.part_status(
        zones_.address_of(zone), id, [this, run, zone, id, words](const Result<PartStatus>& now) {
            const bool has_reason = now ? is_final(now->state) && now->state != PartState::kExpired : !denies(now);
            if (!has_reason) penalise(run, zone, id, words);
        });
}

void ApplicationService::penalise(const std::shared_ptr<Run>& run, const ZoneName& zone, const PartId& id,
                                  const std::string& words) {
    const ServiceAddress address = zones_.address_of(zone);
    ports_.log.warn("word_broken", {{"application", to_string(run->app.request.id)},
                                    {"part", to_string(id)},
                                    {"zone", to_uri(address.who)},
                                    {"reason", words}});
    ports_.record_reputation(address.who.organisation, TrustEvent::kBrokenWord);
}

/// A program that has ended well has run in every part: no zone can pretend that.
void ApplicationService::record_kept(const std::shared_ptr<Run>& run) {
    for (const ApplicationPart& part : run->app.status.parts) {
        backoff_.record_success(part.zone);
        ports_.record_reputation(zones_.address_of(part.zone).who.organisation, TrustEvent::kHoldKept);
    }
}

}  // namespace zbs
