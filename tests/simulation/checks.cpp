#include "tests/simulation/checks.hpp"

#include <algorithm>
#include <utility>

#include "services/common/codec/message_codec.hpp"

namespace zbs::simulation {
namespace {

/// What a hold may outlive its lease by: the zone looks at its deadlines every so often, and may be stopped or at work
/// when it should.
constexpr Duration kLeaseSlack = std::chrono::seconds{5};

/// How much before its start a reserved part may run: clocks run at different speeds.
constexpr Duration kEarly = std::chrono::seconds{2};

/// What a lie may still bring about later.
constexpr Duration kLieRemembered = std::chrono::minutes{15};

/// How long after the storm its late messages are still on their way.
constexpr Duration kAfterwards = std::chrono::minutes{1};

/// Within which a running application ends with its zone, and from then on its last processes elsewhere.
constexpr Duration kLossNoticed = std::chrono::minutes{1};
constexpr Duration kLossCleared = std::chrono::minutes{1};

constexpr Duration kForgetting = std::chrono::seconds{5};

}  // namespace

void Checks::look(const ZoneNode& zone) {
    if (zone.core() == nullptr) return;
    const Parts parts = zone.core()->parts().table().records();
    check_processors(zone, parts);
    check_leases(zone, parts);
    check_starts(zone, parts);
    check_processes(zone, parts);
}

/// Two parts may have a processor one after the other, as they were promised; they never run on it together, and what
/// may start at any time shares it with nothing.
void Checks::check_processors(const ZoneNode& zone, const Parts& parts) {
    const PartService& service = zone.core()->parts();
    const std::uint64_t life = const_cast<ZoneNode&>(zone).host().life();
    std::map<std::int32_t, std::vector<const PartRecord*>> owners;
    const auto waits = [](const PartRecord& part) {
        return part.status.state != PartState::kRunning && part.starts_at;
    };
    for (const PartRecord* part : parts) {
        // After a restart starts are counted anew, by the wall clock: what was promised before may have come to
        // overlap, and is distinguished at the launch.
        const auto [made, fresh] = made_in_.try_emplace(part->request.id, life);
        for (const std::int32_t processor : part->processors) {
            for (const PartRecord* other : owners[processor]) {
                const bool same_life = made->second == life && made_in_.at(other->request.id) == life;
                const bool apart =
                    !service.table().promise_of(part->request.id).meets(service.table().promise_of(other->request.id));
                const bool one_waits = waits(*part) || waits(*other);
                if (one_waits && (apart || !fresh || !same_life)) continue;
                fail("zone " + zone.config().zone.name + " gives processor " + std::to_string(processor) +
                     " to the parts " + to_string(other->request.id) + " and " + to_string(part->request.id));
            }
            owners[processor].push_back(part);
        }
    }
}

void Checks::check_leases(const ZoneNode& zone, const Parts& parts) {
    const Host& host = const_cast<ZoneNode&>(zone).host();
    for (const PartRecord* part : parts) {
        if (part->status.state != PartState::kHeld) continue;
        Hold& hold = holds_.try_emplace(part->request.id, Hold{host.life(), time_.now()}).first->second;
        if (hold.life != host.life()) hold = {host.life(), time_.now()};
        const Duration held = time_.now() - hold.since - host.lost_since(hold.since);
        if (held > zone.config().hold_ttl + zone.config().poll_every + kLeaseSlack)
            fail("zone " + zone.config().zone.name + " still holds part " + to_string(part->request.id) + " after " +
                 std::to_string(to_seconds(held)) + " s, its lease was " +
                 std::to_string(to_seconds(zone.config().hold_ttl)) + " s");
    }
}

/// What was promised for later stays where it is while it waits, and does not run before.
void Checks::check_starts(const ZoneNode& zone, const Parts& parts) {
    const std::uint64_t life = const_cast<ZoneNode&>(zone).host().life();
    for (const PartRecord* part : parts) {
        if (!part->starts_at || part->status.state == PartState::kRunning) continue;
        const PartId& id = part->request.id;
        const Duration when = zone.core()->parts().table().promise_of(id).begin;
        const auto [known, fresh] = starts_.try_emplace(id, Start{life, when});
        if (!fresh && known->second.life == life && known->second.when != when)
            fail("zone " + zone.config().zone.name + " moves the reserved start of part " + to_string(id) + " by " +
                 std::to_string(to_seconds(when - known->second.when)) + " s");
        known->second = {life, when};
    }
}

void Checks::look_at_starts(const ZoneNode& home, const User& user) {
    if (home.core() == nullptr) return;
    for (const auto& [id, mine] : user.known()) {
        if (mine.ended()) continue;
        const auto found = home.core()->applications().find(user.self(), id);
        if (!found) continue;
        const ApplicationStatus& status = (*found)->status;
        if (status.state != ApplicationState::kCommitted || !status.start) continue;
        const Time start = start_of_.try_emplace(status.parts.front().id, *status.start).first->second;
        if (start != *status.start) fail("the start of application " + to_string(id) + " moves, its parts stay");
    }
}

void Checks::look_for_forgotten(const ZoneNode& zone, const Zones& homes) {
    if (zone.core() == nullptr) return;
    for (const PartRecord* part : zone.core()->parts().table().records()) {
        const auto home = homes.find(part->request.home);
        if (home == homes.end() || home->second->core() == nullptr) continue;
        const auto found = home->second->core()->applications().find(part->request.user, part->request.application);
        const auto names = [&](const std::vector<ApplicationPart>& known) {
            return std::any_of(known.begin(), known.end(),
                               [&](const ApplicationPart& other) { return other.id == part->request.id; });
        };
        if (found && (names((*found)->status.parts) || names((*found)->status.releasing))) {
            forgotten_.erase(part->request.id);
            continue;
        }
        const Duration since = forgotten_.try_emplace(part->request.id, time_.now()).first->second;
        if (time_.now() - since > kForgetting)
            fail("zone " + zone.config().zone.name + " keeps part " + to_string(part->request.id) + " (" +
                 to_string(part->status.state) + "), which its home " + part->request.home + " has forgotten");
    }
}

/// Processes that run here belong to a part that is running, and to its only launch.
void Checks::check_processes(const ZoneNode& zone, const Parts& parts) {
    std::map<std::string, const PartRecord*> running;
    for (const PartRecord* part : parts)
        if (!part->operation.empty()) running.emplace("run-" + to_string(part->request.id), part);
    for (const auto& [step_id, process] : jobs_.live(zone.config().zone.name)) {
        if (!step_id.str().starts_with("run-")) continue;
        if (!running.contains(step_id.str().substr(0, step_id.str().rfind("-p"))))
            fail("process " + step_id + " runs in zone " + zone.config().zone.name + ", which has no part for it");
        const auto part = running.find(step_id.str().substr(0, step_id.str().rfind("-p")));
        const auto start = part == running.end() ? starts_.end() : starts_.find(part->second->request.id);
        if (start != starts_.end() && process->started + kEarly < start->second.when)
            fail("process " + step_id + " started " +
                 std::to_string(to_seconds(start->second.when - process->started)) + " s before its reserved start");
    }
}

void Checks::served(const std::string& host, const http::Call& call, const http::Reply& reply) {
    if (call.method != "POST" || !call.path.starts_with("/v1/parts") || reply.status < 200 || reply.status > 299)
        return;
    const auto answer = codec::parse(reply.body);
    if (!answer) return fail("zone " + host + " answered with no JSON");
    const Result<PartStatus> status = codec::decode_part_status(*answer);
    if (!status) return fail("zone " + host + " answered with no part");
    const std::string id = to_string(status->id);
    if (call.path == "/v1/parts") {
        const auto [token, first] = token_of_.emplace(std::pair{host, id}, status->token);
        if (!first && token->second != status->token)
            return fail("part " + id + " of zone " + host + " has had two tokens");
        const auto [part, fresh] = part_of_.emplace(std::pair{host, status->token}, id);
        if (!fresh && part->second != id)
            fail("zone " + host + " gave token " + std::to_string(status->token) + " to the parts " + part->second +
                 " and " + id);
        return;
    }
    const auto body = codec::parse(call.body);
    if (!body || !body->contains("token")) return fail("zone " + host + " took a call without a token");
    const auto known = token_of_.find({host, id});
    if (known != token_of_.end() && body->at("token").get<std::uint64_t>() != known->second)
        fail("zone " + host + " took token " + body->at("token").dump() + " for part " + id + ", whose hold has " +
             std::to_string(known->second));
}

void Checks::judged(const std::string& home, const std::string& zone, const Liars& liars) {
    const auto lied = [&](const std::string& name) {
        const auto last = liars.find(name);
        return last != liars.end() && time_.now() - last->second < kLieRemembered;
    };
    if (!lied(home) && !lied(zone))
        fail("zone " + home + " thinks that " + zone + ", which has not lied, has broken its word");
}

/// An application that runs has all of its parts started, unless a zone lied about it.
void Checks::look_for_half_started(const ZoneNode& home, const User& user, const Zones& zones, const Liars& liars) {
    if (home.core() == nullptr) return;
    for (const auto& [id, mine] : user.known()) {
        if (mine.ended()) continue;
        const auto found = home.core()->applications().find(user.self(), id);
        if (!found || (*found)->status.state != ApplicationState::kRunning) continue;
        for (const ApplicationPart& part : (*found)->status.parts) {
            const auto zone = zones.find(part.zone);
            if (zone == zones.end() || zone->second->core() == nullptr || liars.contains(part.zone)) continue;
            for (const PartRecord* there : zone->second->core()->parts().table().records())
                if (there->request.id == part.id && there->operation.empty())
                    fail("application " + to_string(id) + " runs, but its part in zone " + part.zone + " is " +
                         to_string(there->status.state));
        }
    }
}

void Checks::lost(const std::string& zone, const Zones& homes, const Users& users) {
    lost_.insert(zone);
    processors_left_ = 0;
    for (const auto& [name, other] : homes)
        for (const Machine& machine : other->config().zone.machines)
            processors_left_ += lost_.contains(name) ? 0 : machine.processors;
    for (const auto& [home, user] : users) {
        const ZoneNode& node = *homes.at(home);
        if (home == zone || node.core() == nullptr) continue;
        for (const auto& [id, mine] : user->known()) {
            const auto found = node.core()->applications().find(user->self(), id);
            if (!found || is_final((*found)->status.state)) continue;
            const ApplicationStatus& status = (*found)->status;
            if (std::ranges::none_of(status.parts, [&](const ApplicationPart& part) { return part.zone == zone; }))
                continue;
            if (status.state == ApplicationState::kRunning) {
                const auto launcher = jobs_.processes().find(status.launcher_step);
                const bool runs = launcher != jobs_.processes().end() && launcher->second.runs(time_.now());
                if (runs && status.stop_reason.empty() && !status.cancel_requested)
                    losses_.push_back({zone, home, id, time_.now(), mine.request.grace});
            } else if (status.state != ApplicationState::kLaunching) {
                unbegun_[id] = zone;
            }
        }
    }
}

void Checks::look_at_losses(const Zones& zones, const Users& users, Duration troubled_until) {
    std::erase_if(losses_, [&](Loss& loss) {
        if (troubled_until > loss.since) loss.since = troubled_until;
        const Duration noticed = loss.since + kLossNoticed;
        if (time_.now() < noticed) return false;
        const ZoneNode& home = *zones.at(loss.home);
        if (home.core() == nullptr) return true;  // lost, too
        const auto found = home.core()->applications().find(users.at(loss.home)->self(), loss.id);
        if (!found) return true;  // reported as lost at the end
        if (!std::exchange(loss.is_end_checked, true)) check_end(loss, (*found)->status);
        if (time_.now() < noticed + kLossCleared + loss.grace) return false;
        check_rest(loss, (*found)->status, zones);
        return true;
    });
}

void Checks::check_end(const Loss& loss, const ApplicationStatus& status) {
    const std::string what =
        "application " + to_string(loss.id) + " had a part in zone " + loss.zone + ", whose host was lost, and ";
    if (!is_final(status.state)) return fail(what + "is still " + to_string(status.state));
    if (status.state == ApplicationState::kCompleted) return fail(what + "completed");
    const bool is_other_end = status.cancel_requested || status.reason.starts_with(kWalltimeReason);
    if (!is_other_end && status.reason.find("zone " + loss.zone) == std::string::npos)
        fail(what + "ended for another reason: " + status.reason);
}

void Checks::check_rest(const Loss& loss, const ApplicationStatus& status, const Zones& zones) {
    const std::string of_lost = " of application " + to_string(loss.id) + ", which ended with zone " + loss.zone;
    for (const auto& [name, zone] : zones) {
        for (const auto& [step_id, process] : jobs_.live(name)) {
            const bool is_part = std::ranges::any_of(status.parts, [&step = step_id](const ApplicationPart& part) {
                return step.str().starts_with("run-" + to_string(part.id));
            });
            if (is_part || step_id == status.launcher_step)
                fail("process " + step_id + " in zone " + name + " is left" + of_lost);
        }
        if (zone->core() == nullptr) continue;
        for (const PartRecord* part : zone->core()->parts().table().records())
            if (part->request.application == loss.id && !part->processors.empty())
                fail("zone " + name + " still keeps processors for part " + to_string(part->request.id) + of_lost);
    }
}

/// It had not begun: others take the place of the zone that was lost, where they can.
void Checks::check_unbegun(const ApplicationId& id, const ApplicationStatus& status, int ranks) {
    const auto at = unbegun_.find(id);
    if (at == unbegun_.end() || ranks > processors_left_) return;
    const bool is_bad = status.state == ApplicationState::kFailed || status.state == ApplicationState::kRejected;
    if (is_bad && status.reason.find("zone " + at->second) != std::string::npos)
        fail("application " + to_string(id) + " had not begun when zone " + at->second +
             " was lost, and was not planned again: " + status.reason);
}

void Checks::complaints(const User& user) {
    for (const auto& [id, mine] : user.known())
        if (!mine.complaint.empty()) fail("application " + to_string(id) + ": " + mine.complaint);
}

void Checks::at_rest(const ZoneNode& zone) {
    if (zone.core() == nullptr) return fail("zone " + zone.config().zone.name + " is down after the storm");
    for (const PartRecord* part : zone.core()->parts().table().records())
        fail("zone " + zone.config().zone.name + " still has part " + to_string(part->request.id) + " of application " +
             to_string(part->request.application) + " (" + to_string(part->status.state) + ")");
}

void Checks::at_rest(const ZoneNode& home, const User& user, Duration calm_since) {
    if (home.core() == nullptr) return;
    const Caller& owner = user.self();
    for (const auto& [id, mine] : user.known()) {
        if (!mine.accepted && !mine.refused) fail("application " + to_string(id) + " was never answered");
        if (!mine.accepted) continue;
        const Result<std::shared_ptr<const Application>> found = home.core()->applications().find(owner, id);
        if (!found) {
            fail("application " + to_string(id) + " was accepted and is lost");
            continue;
        }
        const ApplicationStatus& status = (*found)->status;
        if (!is_final(status.state)) {
            // Home does not know that a silent zone never returns.
            const bool waits = status.state == ApplicationState::kAccepted && mine.request.ranks > processors_left_;
            if (!waits)
                fail("application " + to_string(id) + " is still " + to_string(status.state) + ": " + status.reason);
            continue;
        }
        int ends = 0;
        for (const StateChange& change : status.history) ends += is_final(change.state);
        if (ends != 1) fail("application " + to_string(id) + " has " + std::to_string(ends) + " ends");
        if (mine.cancelled && status.state == ApplicationState::kFailed &&
            status.reason.find("cancel") != std::string::npos)
            fail("application " + to_string(id) + " was cancelled and counts as failed");
        if (status.state == ApplicationState::kCompleted) check_completed(id, status);
        check_unbegun(id, status, mine.request.ranks);
        if (mine.sent > calm_since + kAfterwards) check_calm(id, status);
    }
}

/// Without a fault nothing fails but what computes on beyond its walltime, and homes that compete all get their turn.
void Checks::check_calm(const ApplicationId& id, const ApplicationStatus& status) {
    if (status.state == ApplicationState::kRejected && status.reason.starts_with("no plan held"))
        fail("application " + to_string(id) + " was submitted after the storm and rejected: " + status.reason);
    if (status.state != ApplicationState::kFailed || status.reason.starts_with(kWalltimeReason)) return;
    fail("application " + to_string(id) + " was submitted after the storm and failed: " + status.reason);
}

/// A job that completed ran as a whole: every part had its processes, and all of them ended with 0.
void Checks::check_completed(const ApplicationId& id, const ApplicationStatus& status) {
    for (const ApplicationPart& part : status.parts) {
        bool any = false;
        for (const auto& [step_id, process] : jobs_.processes()) {
            if (!step_id.str().starts_with("run-" + to_string(part.id))) continue;
            any = true;
            if (process.exit_code != 0)
                fail("application " + to_string(id) + " completed, but " + step_id + " ended with " +
                     std::to_string(process.exit_code));
        }
        if (!any) fail("application " + to_string(id) + " completed without its part in zone " + part.zone);
    }
}

void Checks::jobs_at_rest() {
    for (const auto& [step_id, process] : jobs_.processes())
        if (process.runs(time_.now())) fail("process " + step_id + " still runs on " + process.host);
    for (const auto& [step_id, count] : jobs_.starts())
        if (count > 1) fail("process " + step_id + " was started " + std::to_string(count) + " times");
    for (const auto& [host, needs] : jobs_.needs())
        if (!needs.empty()) fail("files are still brought to machines of " + host + " for part " + *needs.begin());
}

}  // namespace zbs::simulation
