// ApplicationService from `accepted` to `committed`: offers, plan, hold, commit, and giving back.
#include <algorithm>

#include "algorithms/base/deliberate_bug.hpp"
#include "services/zone_scheduler/domain/application_run.hpp"
#include "services/zone_scheduler/domain/delegation_service.hpp"
#include "services/zone_scheduler/domain/peer_service.hpp"

namespace zbs {
namespace {

constexpr Duration kReleaseRetryMax = std::chrono::seconds{30};

}  // namespace

ApplicationService::ModelChoice ApplicationService::choose_model(const Caller& owner,
                                                                 const ApplicationRequest& request) {
    if (request.model) return {request.model, "request"};
    if (!request.use_profile) return {};
    Result<std::optional<Profile>> stored = store_.find_profile(owner, request.argv[0], request.ranks);
    if (!stored) {
        log_.warn("profile_unreadable", {{"program", request.argv[0]}, {"reason", stored.error().message}});
        return {};
    }
    if (!*stored) return {};
    return {(*stored)->model, to_string((*stored)->id)};
}

void ApplicationService::collect_offers(const Caller& owner, const ApplicationRequest& request,
                                        const std::set<std::string>& excluded,
                                        std::function<void(std::vector<Offer>)> done) {
    struct Collection {
        std::vector<Offer> offers;
        std::size_t pending = 1;
        std::function<void(std::vector<Offer>)> done;
    };
    auto collection = std::make_shared<Collection>();
    collection->done = std::move(done);
    const auto wanted = [&](const std::string& zone) {
        return request.zones.empty() ||
               std::find(request.zones.begin(), request.zones.end(), zone) != request.zones.end();
    };
    std::vector<ServiceAddress> ask = {own_address()};
    std::vector<std::string> names = {config_.zone.name};
    for (const Peer& peer : peers_.peers()) {
        names.push_back(peer.zone);
        if (!peers_.takes_work(peer.zone))
            collection->offers.push_back({peer.zone, {}, "takes no new work now (it drains or has left)", false});
        else if (peer.they_accept_us == PeeringState::kAccepted)
            ask.push_back(zbs::address_of(peer));
        else if (wanted(peer.zone))
            collection->offers.push_back(
                {peer.zone,
                 {},
                 std::string("has not accepted this organisation (") +
                     (peer.they_accept_us ? to_string(*peer.they_accept_us) : "not asked yet") + ")" +
                     (peer.reason.empty() ? "" : ": " + peer.reason),
                 false});
    }
    for (const std::string& zone : request.zones) {
        if (std::find(names.begin(), names.end(), zone) == names.end())
            collection->offers.push_back({zone, {}, "no such zone is known here", false});
    }
    CapacityRequest question{.user = owner, .processors = request.ranks, .walltime = request.walltime};
    question.groups = groups_of_(owner);
    for (const ServiceAddress& address : ask) question.zones.push_back(address.who.name);
    const auto finish_one = [collection] {
        if (--collection->pending > 0) return;
        std::sort(collection->offers.begin(), collection->offers.end(),
                  [](const Offer& a, const Offer& b) { return a.zone < b.zone; });
        collection->done(std::move(collection->offers));
    };
    for (const ServiceAddress& address : ask) {
        const std::string& zone = address.who.name;
        if (!wanted(zone)) {
            collection->offers.push_back({zone, {}, "not among the zones asked for", false});
        } else if (excluded.contains(zone)) {
            collection->offers.push_back({zone, {}, "refused or did not answer in an earlier round", true});
        } else {
            ++collection->pending;
            transport_.ask_capacity(
                address, question, [collection, finish_one, name = zone](Result<Capacity> capacity) {
                    if (!capacity)
                        collection->offers.push_back(
                            {name, {}, capacity.error().message, is_passing(capacity.error())});
                    else if (capacity->zone != name)
                        collection->offers.push_back({name, {}, "another zone answered at its address", true});
                    else
                        collection->offers.push_back({name, *std::move(capacity), {}, false});
                    finish_one();
                });
        }
    }
    // Answers never come from inside the asking; the last count is ours, so that an empty list ends too.
    clock_.after(Duration{0}, finish_one);
}

void ApplicationService::dry_run(const Caller& caller, const ApplicationRequest& request,
                                 Respond<ApplicationPlan> respond) {
    if (!caller.is_user_of(config_.organisation))
        return respond(
            Error{ErrorCode::kDenied, "only users of organisation '" + config_.organisation + "' may plan here", {}});
    if (!is_plan_mapper(request.mapper))
        return respond(invalid("must be one of hier, block, round_robin, random", "/mapper"));
    ModelChoice choice = choose_model(caller, request);
    collect_offers(
        caller, request, {},
        [request, choice = std::move(choice), respond = std::move(respond)](const std::vector<Offer>& offers) {
            respond(make_plan(request, choice.model, choice.source, offers));
        });
}

void ApplicationService::plan(const std::shared_ptr<Run>& run) {
    run->busy = true;
    ModelChoice choice = choose_model(run->app.owner, run->app.request);
    run->model = std::move(choice.model);
    collect_offers(run->app.owner, run->app.request, run->excluded,
                   [this, run, source = choice.source](const std::vector<Offer>& offers) {
                       run->busy = false;
                       end_turn(run);
                       if (is_final(run->app.status.state)) return;
                       Result<ApplicationPlan> made = make_plan(run->app.request, run->model, source, offers);
                       if (!made && made.error().code == ErrorCode::kUnavailable) {
                           run->excluded.clear();  // who refused before may have room by then
                           if (run->app.status.reason != made.error().message) {
                               ApplicationStatus changed = run->app.status;
                               changed.reason = made.error().message;
                               if (!save(run, std::move(changed))) return;
                           }
                           return later(run, wait_for_processors(), &ApplicationService::advance);
                       }
                       if (!made) {
                           enter(run, ApplicationState::kRejected, made.error().message);
                           return release(run);
                       }
                       ApplicationStatus changed = run->app.status;
                       made->round = run->round;
                       changed.parts.clear();
                       std::map<std::string, ApplicationPart> parts;
                       for (std::size_t rank = 0; rank < made->zone_of_rank.size(); ++rank)
                           parts[made->zone_of_rank[rank]].ranks.push_back(static_cast<TaskIndex>(rank));
                       for (auto& [zone, part] : parts) {
                           part.zone = zone;
                           part.id = PartId{ids_.fresh()};
                           part.status.id = part.id;
                           changed.parts.push_back(std::move(part));
                       }
                       changed.plan = *std::move(made);
                       if (enter(run, std::move(changed), ApplicationState::kPlanned)) advance(run);
                   });
}

ServiceAddress ApplicationService::own_address() const {
    return {config_.url, {CallerKind::kZone, config_.organisation, config_.zone.name}};
}

ServiceAddress ApplicationService::address_of(const std::string& zone) const {
    if (zone == config_.zone.name) return own_address();
    for (const Peer& peer : peers_.peers()) {
        if (peer.zone == zone) return zbs::address_of(peer);
    }
    return {};
}

void ApplicationService::hold(const std::shared_ptr<Run>& run) {
    ZBS_EXPECTS(!run->app.status.parts.empty());  // entering `planned` stores them in the same write
    run->busy = true;
    run->failed_zone.clear();
    run->pending = static_cast<int>(run->app.status.parts.size());
    for (std::size_t i = 0; i < run->app.status.parts.size(); ++i) {
        const ApplicationPart& part = run->app.status.parts[i];
        const ServiceAddress zone = address_of(part.zone);
        PartRequest request = make_part(run->app, run->model, part, config_.zone.name);
        request.groups = groups_of_(run->app.owner);
        if (delegations_ != nullptr && zone.who.organisation != config_.organisation)
            request.delegation = delegations_->prove(request, zone.who);
        transport_.hold_part(zone, request, [this, run, i](const Result<PartStatus>& answer) {
            ApplicationPart& held = run->app.status.parts[i];
            const auto complete = [&] {  // a peer is attacker-controlled: exactly our ranks, in order
                return std::equal(held.ranks.begin(), held.ranks.end(), answer->assignment.begin(),
                                  answer->assignment.end(),
                                  [](TaskIndex rank, const RankPlace& place) { return rank == place.rank; });
            };
            if (!answer || answer->id != held.id || answer->state != PartState::kHeld || !complete()) {
                run->failed_zone = held.zone;
                run->failed_reason = !answer ? answer.error().message : "its hold does not fit the request";
            } else {
                held.status = *answer;
            }
            if (--run->pending > 0) return;
            run->busy = false;
            if (run->app.status.cancel_requested) return advance(run);
            if (!run->failed_zone.empty()) return plan_again(run, run->failed_zone, run->failed_reason);
            if (enter(run, ApplicationState::kHeld)) advance(run);
        });
    }
}

void ApplicationService::plan_again(const std::shared_ptr<Run>& run, const std::string& zone,
                                    const std::string& reason) {
    ApplicationStatus changed = run->app.status;
    if (!has_bug(DeliberateBug::kKeepRefusedHolds))
        changed.releasing.insert(changed.releasing.end(), changed.parts.begin(), changed.parts.end());
    changed.parts.clear();
    const std::string what = (zone.empty() ? "" : "zone " + zone + ": ") + reason;
    if (run->round >= config_.max_rounds) {
        if (enter(run, std::move(changed), ApplicationState::kRejected,
                  "no plan held in " + std::to_string(config_.max_rounds) + " rounds; the last one failed because " +
                      what)) {
            release(run);
        }
        return;
    }
    if (!enter(run, std::move(changed), ApplicationState::kAccepted, "planning again: " + what)) return;
    ++run->round;
    if (!zone.empty()) run->excluded.insert(zone);
    release(run);
    // Jitter, so that two homes that took from each other do not meet again.
    later(run,
          Duration{static_cast<std::int64_t>(50'000 + jitter_.below(200'000) * static_cast<std::uint64_t>(run->round))},
          &ApplicationService::advance);
}

void ApplicationService::commit(const std::shared_ptr<Run>& run) {
    ZBS_EXPECTS(!run->app.status.parts.empty());  // entering `planned` stores them in the same write
    run->busy = true;
    run->failed_zone.clear();
    run->pending = static_cast<int>(run->app.status.parts.size());
    for (std::size_t i = 0; i < run->app.status.parts.size(); ++i) {
        const ApplicationPart& part = run->app.status.parts[i];
        transport_.commit_part(
            address_of(part.zone), part.id, part.status.token, [this, run, i](const Result<PartStatus>& answer) {
                ApplicationPart& committed = run->app.status.parts[i];
                if (!answer || answer->state != PartState::kCommitted) {
                    run->failed_zone = committed.zone;
                    run->failed_reason = !answer ? answer.error().message : "it let the hold go: " + answer->reason;
                } else {
                    committed.status.state = answer->state;
                    committed.status.expires_in = Duration{0};
                }
                if (--run->pending > 0) return;
                run->busy = false;
                if (run->app.status.cancel_requested) return advance(run);
                if (!run->failed_zone.empty()) return plan_again(run, run->failed_zone, run->failed_reason);
                if (enter(run, ApplicationState::kCommitted)) advance(run);
            });
    }
}

/// Gives back what this application does not need any more, for as long as it takes: a zone that is away keeps its part
/// until it hears of it or until the part ends by itself.
void ApplicationService::release(const std::shared_ptr<Run>& run) {
    if (run->releasing || run->app.status.releasing.empty()) return;
    run->releasing = true;
    auto pending = std::make_shared<std::size_t>(run->app.status.releasing.size());
    auto gone = std::make_shared<std::set<PartId>>();
    for (const ApplicationPart& part : run->app.status.releasing) {
        transport_.release_part(
            address_of(part.zone), part.id, run->app.status.reason.substr(0, kMaxReason),
            [this, run, pending, gone, id = part.id](const Result<PartStatus>& answer) {
                const bool unknown = !answer && answer.error().code == ErrorCode::kNotFound;
                if (unknown || (answer && is_final(answer->state))) gone->insert(id);
                for (ApplicationPart& shown : run->app.status.parts) {
                    if (shown.id == id && answer)
                        shown.status.state = answer->state;  // stored with the next change below
                }
                if (--*pending > 0) return;
                run->releasing = false;
                ApplicationStatus changed = run->app.status;
                std::erase_if(changed.releasing, [&](const ApplicationPart& p) { return gone->contains(p.id); });
                run->release_retry = gone->empty() ? std::min(run->release_retry * 2, kReleaseRetryMax) : kReleaseRetry;
                if (!gone->empty() && !save(run, std::move(changed))) return;
                if (!run->app.status.releasing.empty()) later(run, run->release_retry, &ApplicationService::release);
            });
    }
}

}  // namespace zbs
