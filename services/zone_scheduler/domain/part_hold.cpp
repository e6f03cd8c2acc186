// What a zone gives to a part: how much there is for a user, and which processors a hold takes.
#include <algorithm>
#include <utility>

#include "algorithms/mapping/mapper.hpp"
#include "services/zone_scheduler/domain/part_service.hpp"

namespace zbs {

/// The free processors that the user may have, as one aggregate. Where she may have fewer than are free, machines with
/// most free ones count first.
Capacity PartService::count_free(const Entitlement& entitlement) const {
    std::vector<std::pair<int, std::size_t>> machines;  // free, index
    for (std::size_t m = 0; m < config_.zone.machines.size(); ++m) {
        int free = 0;
        for (int p = 0; p < config_.zone.machines[m].processors; ++p)
            free += !busy_[static_cast<std::size_t>(first_of_[m] + p)];
        machines.emplace_back(entitlement.machines[m] ? free : 0, m);
    }
    std::stable_sort(machines.begin(), machines.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    Capacity capacity{.total_processors = entitlement.total_processors};
    double squares = 0;
    for (const auto& [free, m] : machines) {
        const int counted = std::min(free, entitlement.processors - capacity.processors);
        const double speed = config_.zone.machines[m].speed;
        capacity.processors += counted;
        capacity.speed_sum += counted * speed;
        squares += counted * speed * speed;
        capacity.largest_machine = std::max(capacity.largest_machine, counted);
    }
    if (capacity.processors > 0) {
        capacity.speed_mean = capacity.speed_sum / capacity.processors;
        capacity.speed_variance =
            std::max(0.0, squares / capacity.processors - capacity.speed_mean * capacity.speed_mean);
    }
    return capacity;
}

Result<Capacity> PartService::capacity(const Caller& caller, const CapacityRequest& request) const {
    if (auto ok = check_caller(caller, request.user); !ok) return ok.error();
    const Entitlement entitlement =
        filter_.find({caller, request.user, request.groups, request.walltime, usage_of(caller.organisation)});
    // Counted for everybody, given to those entitled: who gets nothing waits as long as who gets all.
    Capacity capacity = count_free(entitlement);
    if (!entitlement.given) capacity = {};
    capacity.zone = config_.zone.name;
    capacity.within_zone = config_.zone.within_zone;
    for (const std::string& zone : request.zones) {
        if (zone == config_.zone.name) continue;
        const auto declared = std::find_if(config_.links.begin(), config_.links.end(),
                                           [&](const LinkToZone& l) { return l.zone == zone; });
        capacity.links.push_back({zone, declared == config_.links.end() ? config_.default_link : declared->link});
    }
    return capacity;
}

Result<PartStatus> PartService::hold(const Caller& caller, const PartRequest& request) {
    if (auto ok = check_caller(caller, request.user); !ok) return ok.error();
    if (caller.organisation != config_.organisation && check_delegation_) {
        const std::optional<PeeringRights> rights = peerings_.rights_now(caller.organisation);
        if (auto good = check_delegation_(request, !rights || rights->require_delegation); !good) {
            if (request.delegation) peerings_.note(caller.organisation, TrustEvent::kFailedCheck);
            return good.error();
        }
    }
    const Result<std::shared_ptr<Live>> known = find(request.id);
    if (!known) return outward(caller, known.error());
    if (*known != nullptr) {
        if ((*known)->record.home_caller == caller && (*known)->record.request == request) return view(**known);
        return Error{ErrorCode::kIdReused, "part " + to_string(request.id) + " was held with another request", "/id"};
    }
    const Result<bool> removed = store_.was_removed(request.id);
    if (!removed) return outward(caller, removed.error());
    if (*removed)
        return Error{ErrorCode::kIdReused, "part " + to_string(request.id) + " has ended long ago and was removed",
                     "/id"};

    const Entitlement entitlement =
        filter_.find({caller, request.user, request.groups, request.walltime, usage_of(caller.organisation)});
    const auto not_enough = [&](const std::string& why) {
        log_.info("part_refused", {{"home", to_uri(caller)}, {"user", to_uri(request.user)}, {"reason", why}});
        const bool own = caller.organisation == config_.organisation;
        return Error{ErrorCode::kRejected,
                     "zone " + config_.zone.name + " has not enough for this user now" + (own ? " (" + why + ")" : "") +
                         "; plan again",
                     {}};
    };
    // The free processors as a zone of their own; `number` leads back to ours.
    Zone free_zone{config_.zone.name, {}, config_.zone.within_machine, config_.zone.within_zone};
    std::vector<std::int32_t> number;
    for (std::size_t m = 0; m < config_.zone.machines.size(); ++m) {
        Machine machine = config_.zone.machines[m];
        machine.processors = 0;
        for (int p = 0; p < config_.zone.machines[m].processors; ++p) {
            const std::int32_t processor = first_of_[m] + p;
            if (busy_[static_cast<std::size_t>(processor)] || !entitlement.machines[m]) continue;
            ++machine.processors;
            number.push_back(processor);
        }
        if (machine.processors > 0) free_zone.machines.push_back(machine);
    }
    if (!entitlement.given) return not_enough(entitlement.why);
    if (std::cmp_greater(request.ranks.size(),
                         std::min<std::size_t>(number.size(), static_cast<std::size_t>(entitlement.processors)))) {
        return not_enough(std::to_string(request.ranks.size()) + " processors wanted, " +
                          std::to_string(number.size()) + " free, " + std::to_string(entitlement.processors) +
                          " allowed" + (entitlement.why.empty() ? "" : ": " + entitlement.why));
    }
    const Result<ResourceGraph> resources = ResourceGraph::make({std::move(free_zone)}, {});
    ZBS_EXPECTS(resources.has_value());
    const Mapper* mapper = find_mapper(config_.level_two_mapper);
    ZBS_EXPECTS(mapper != nullptr);
    const Result<Mapping> mapping =
        mapper->map(request.graph, *resources, MapOptions{.seed = request.seed, .max_tasks_per_processor = 1});
    if (!mapping) return not_enough(mapping.error().message);

    const Result<std::string> account = filter_.take_account(entitlement, request.user);
    if (!account)
        return account.error().code == ErrorCode::kRejected ? not_enough(account.error().message)
                                                            : outward(caller, account.error());
    const Result<std::uint64_t> token = store_.next_token();
    if (!token) return outward(caller, token.error());
    Live part{.record = {.home_caller = caller, .request = request},
              .deadline = clock_.steady_now() + config_.hold_ttl};
    part.record.request.delegation.reset();  // has done its work
    part.record.account = *account;
    PartStatus& status = part.record.status;
    status = {.id = request.id,
              .zone = config_.zone.name,
              .state = PartState::kHeld,
              .token = *token,
              .can_profile = !config_.profiler.empty()};
    for (std::size_t task = 0; task < request.ranks.size(); ++task) {
        const std::int32_t processor = number[static_cast<std::size_t>(mapping->processor_of[task])];
        const auto machine = static_cast<std::size_t>(machine_of_[static_cast<std::size_t>(processor)]);
        part.record.processors.push_back(processor);
        status.assignment.push_back(
            {request.ranks[task], config_.zone.machines[machine].name, processor - first_of_[machine]});
    }
    if (auto ok = store_.save(part.record); !ok) return outward(caller, ok.error());
    filter_.begin_use(part.record.account);
    for (const std::int32_t p : part.record.processors) busy_[static_cast<std::size_t>(p)] = true;
    log_.info("part_held", {{"part", to_string(request.id)},
                            {"application", to_string(request.application)},
                            {"home", request.home},
                            {"ranks", std::to_string(request.ranks.size())},
                            {"token", std::to_string(*token)}});
    const auto live = std::make_shared<Live>(std::move(part));
    parts_.emplace(request.id, live);
    const PartStatus answer = view(*live);
    watch();
    return answer;
}

}  // namespace zbs
