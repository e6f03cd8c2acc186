// What a zone gives to a part: how much there is for a user, and which processors a hold takes.
#include <algorithm>
#include <utility>

#include "algorithms/mapping/mapper.hpp"
#include "services/common/failpoint/failpoint.hpp"
#include "services/common/messages/limits.hpp"
#include "services/common/messages/names/owned_id.hpp"
#include "services/zone_scheduler/peer/part_promised.hpp"

namespace zbs {
namespace {

constexpr std::size_t kMaxProbes = 512;

/// At most `kMaxStartWindows`: windows between two that are sent count as the worst among them, so that nothing is
/// promised that is not there.
std::vector<StartWindow> merge_windows(std::vector<StartWindow> windows) {
    const auto same = [](const StartWindow& a, const StartWindow& b) {
        return a.processors == b.processors && a.speed_sum == b.speed_sum && a.largest_machine == b.largest_machine;
    };
    windows.erase(std::unique(windows.begin(), windows.end(), same), windows.end());
    if (windows.size() <= limits::kMaxStartWindows) return windows;
    const std::size_t stride = (windows.size() + limits::kMaxStartWindows - 2) / (limits::kMaxStartWindows - 1);
    std::vector<StartWindow> merged;
    for (std::size_t i = 0; i + 1 < windows.size(); i += stride) {
        const std::size_t end = std::min(i + stride, windows.size() - 1);
        StartWindow worst = *std::min_element(
            windows.begin() + static_cast<std::ptrdiff_t>(i), windows.begin() + static_cast<std::ptrdiff_t>(end),
            [](const StartWindow& a, const StartWindow& b) { return a.processors < b.processors; });
        worst.after = windows[i].after;
        worst.expected = windows[i].expected;
        merged.push_back(worst);
    }
    merged.push_back(windows.back());
    return merged;
}

}  // namespace

/// What a zone is asked about.
struct PartService::Question {
    const Caller& caller;
    const CapacityRequest& request;
    std::set<PartId> without;  ///< count as free
};

/// The processors that the user may have from `start` (steady time) on for the walltime, as one aggregate. Where she
/// may have fewer than are free, machines with most free ones count first. Counted for everybody, given to those
/// entitled: who gets nothing waits as long as who gets all.
StartWindow PartService::count_free(const Question& question, Duration start, bool by_estimate) const {
    const Duration start_in = start - clock_.steady_now();
    const ProcessorCalendar::Interval when = interval_of(start_in, question.request.walltime, question.request.grace);
    const std::vector<bool> busy = busy_in(when, question.without, by_estimate);
    const OrganisationName& organisation = question.caller.organisation;
    const Entitlement entitlement =
        filter_.find({question.caller, question.request.user, question.request.groups, question.request.walltime,
                      usage_in(organisation, when, question.without, by_estimate), start_in});
    StartWindow best{.after = start_in, .expected = start_in};
    const std::vector<double> speeds =
        row_speeds({when, question.without, by_estimate}, question.request.share, question.request.user);
    for (std::size_t r = 0; r < row_count(); ++r) {
        if (speeds[r] <= 0) continue;
        const StartWindow window = count_free_in_row(entitlement, busy, r, speeds[r]);
        if (window.processors < best.processors || (window.processors == best.processors && r > 0)) continue;
        best = window;
        best.after = best.expected = start_in;
    }
    return best;
}

/// All that is known of one row, of whose processors a part would have `speed_left` of their speed.
StartWindow PartService::count_free_in_row(const Entitlement& entitlement, const std::vector<bool>& busy,
                                           std::size_t row, double speed_left) const {
    std::vector<std::pair<int, std::size_t>> machines;  // free, index
    for (std::size_t m = 0; m < config_.zone.machines.size(); ++m) {
        int free = 0;
        for (int p = 0; p < config_.zone.machines[m].processors; ++p)
            free += !busy[row * physical_count() + static_cast<std::size_t>(first_of_[m] + p)];
        machines.emplace_back(entitlement.machines[m] ? free : 0, m);
    }
    std::stable_sort(machines.begin(), machines.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    if (config_.max_machines > 0)
        machines.resize(std::min(machines.size(), static_cast<std::size_t>(config_.max_machines)));
    StartWindow window;
    double squares = 0;
    for (const auto& [free, m] : machines) {
        const int counted = std::min(free, entitlement.processors - window.processors);
        const double speed = speed_[m] * speed_left;
        window.processors += counted;
        window.speed_sum += counted * speed;
        squares += counted * speed * speed;
        window.largest_machine = std::max(window.largest_machine, counted);
    }
    if (window.processors > 0) {
        window.speed_mean = window.speed_sum / window.processors;
        window.speed_variance = std::max(0.0, squares / window.processors - window.speed_mean * window.speed_mean);
    }
    return window;
}

/// What could start later, where so many can start now. O(instants at which something changes x promised processors),
/// at most `kMaxProbes` instants.
std::vector<StartWindow> PartService::find_windows(const Question& question, int free_now) const {
    const Duration now = clock_.steady_now();
    const ProcessorCalendar::Interval sample =
        interval_of(config_.hold_ttl, question.request.walltime, question.request.grace);
    const Duration length = sample.end - sample.begin;
    const auto look = [&](bool by_estimate) {
        std::vector<Duration> at = queue_.promised().changes(now, length, question.without, by_estimate);
        const Entitlement today = filter_.find(
            {question.caller, question.request.user, question.request.groups, question.request.walltime, {}, {}});
        if (today.opens_in && *today.opens_in > Duration{0}) at.insert(at.begin() + 1, now + *today.opens_in);
        std::sort(at.begin(), at.end());
        std::erase_if(at, [&](Duration t) { return t - now > config_.reserve_ahead; });
        std::vector<StartWindow> windows;
        for (std::size_t i = 1; i < at.size() && i < kMaxProbes; ++i) {
            StartWindow window = count_free(question, at[i], by_estimate);
            // That nothing is free goes without saying only as long as nothing was.
            if (window.processors > 0 || free_now > 0 || !windows.empty()) windows.push_back(window);
        }
        // The answer describes nothing behind the last moment examined but the state from the very end on.
        if (at.size() > kMaxProbes) {
            windows.push_back({.after = at[kMaxProbes] - now, .expected = at[kMaxProbes] - now});
            if (at.back() > at[kMaxProbes]) windows.push_back(count_free(question, at.back(), by_estimate));
        }
        return windows;
    };
    std::vector<StartWindow> windows = merge_windows(look(false));
    if (used_share_ >= 1) return windows;
    const std::vector<StartWindow> hoped = look(true);
    for (StartWindow& window : windows) {
        const auto first = std::find_if(hoped.begin(), hoped.end(),
                                        [&](const StartWindow& h) { return h.processors >= window.processors; });
        if (first != hoped.end()) window.expected = std::min(window.after, first->after);
    }
    return windows;
}

std::set<PartId> PartService::parts_of(const Caller& home, const std::optional<ApplicationId>& application) const {
    std::set<PartId> own;
    if (!application) return own;
    for (const auto& [id, part] : parts_) {
        const PartRecord& record = part->record;
        if (record.home_caller == home && record.request.application == *application &&
            (is_reserved(record) || is_queued(record)))
            own.insert(id);
    }
    return own;
}

Result<Capacity> PartService::capacity(const Caller& caller, const CapacityRequest& request) {
    if (auto ok = check_caller(caller, request.user); !ok) return ok.error();
    if (auto takes = check_need(caller, request.staging); !takes) return takes.error();
    promise_overruns();
    const Question question{caller, request, parts_of(caller, request.without)};
    const Duration now = clock_.steady_now();
    const StartWindow free = count_free(question, now, false);
    const Entitlement entitlement = filter_.find({caller, request.user, request.groups, request.walltime, {}, {}});
    Capacity capacity{.processors = free.processors,
                      .total_processors = entitlement.total_processors,
                      .speed_sum = free.speed_sum,
                      .speed_mean = free.speed_mean,
                      .speed_variance = free.speed_variance,
                      .largest_machine = free.largest_machine};
    // Whether later starts are looked for does not depend on the user: nobody learns from the time it takes.
    const bool is_open = entitlement.opens_in && *entitlement.opens_in <= Duration{0};
    if (free_processors() < request.processors || !is_open || !queue_.promised().promises().empty() ||
        queue_.size() > 0)
        capacity.windows = find_windows(question, free.processors);
    if (!entitlement.given) capacity = {};
    capacity.zone = config_.name();
    capacity.queues = has_queue_;
    if (drains_()) give_nothing_now(capacity);
    capacity.within_zone = link_within_();
    for (const ZoneName& zone : request.zones) {
        if (zone == config_.zone.name) continue;
        capacity.links.push_back({zone, link_to_(zone)});
    }
    return capacity;
}

/// The part that a request wants to replace; null where there is none any more. Errors: kConflict for one that runs or
/// is of another application.
Result<std::shared_ptr<PartService::ActivePart>> PartService::find_replaced(const Caller& caller,
                                                                            const PartRequest& request) {
    const auto at = request.replaces ? parts_.find(*request.replaces) : parts_.end();
    if (at == parts_.end() || at->second->record.home_caller != caller) return std::shared_ptr<ActivePart>{};
    const std::shared_ptr<ActivePart>& old = at->second;
    if (old->record.request.application != request.application || old->record.status.state == PartState::kRunning) {
        return Error{
            ErrorCode::kConflict,
            "part " + to_string(*request.replaces) + " runs or is of another application; nothing takes its place",
            "/replaces"};
    }
    return old;
}

Result<PartService::Placement> PartService::place(const PartRequest& request, const std::vector<bool>& usable) const {
    if (row_count() > 1 && !takes_turns()) return place_beside_fewest(request, usable);
    const std::vector<std::size_t> rows = rows_with_room(usable, request.ranks.size());
    return place_in_row(request, usable, rows.empty() ? 0 : rows.front());
}

/// The machines that one part may lie on: those with most usable processors, where the site's scheduler bounds their
/// number; else all.
std::set<std::size_t> PartService::machines_for_one(const std::vector<bool>& usable, std::size_t row) const {
    std::vector<std::pair<std::ptrdiff_t, std::size_t>> machines;  // less those usable, index
    for (std::size_t m = 0; m < config_.zone.machines.size(); ++m) {
        const auto first = usable.begin() + static_cast<std::ptrdiff_t>(row * physical_count()) + first_of_[m];
        machines.emplace_back(-std::count(first, first + config_.zone.machines[m].processors, true), m);
    }
    std::ranges::sort(machines);
    if (config_.max_machines > 0)
        machines.resize(std::min(machines.size(), static_cast<std::size_t>(config_.max_machines)));
    std::set<std::size_t> kept;
    for (const auto& [room, m] : machines) kept.insert(m);
    return kept;
}

/// The free processors of a row as a zone of their own, and the part mapped onto it.
Result<PartService::Placement> PartService::place_in_row(const PartRequest& request, const std::vector<bool>& usable,
                                                         std::size_t row) const {
    Zone free_zone{config_.zone.name, {}, config_.zone.within_machine, link_within_()};
    std::vector<std::int32_t> number;  // leads back to ours
    for (const std::size_t m : machines_for_one(usable, row)) {
        Machine machine = config_.zone.machines[m];
        machine.processors = 0;
        machine.speed = speed_[m];
        for (int p = 0; p < config_.zone.machines[m].processors; ++p) {
            const auto processor = static_cast<std::int32_t>(row * physical_count()) + first_of_[m] + p;
            if (!usable[static_cast<std::size_t>(processor)]) continue;
            ++machine.processors;
            number.push_back(processor);
        }
        if (machine.processors > 0) free_zone.machines.push_back(machine);
    }
    if (number.size() < request.ranks.size())
        return Error{
            ErrorCode::kRejected,
            std::to_string(request.ranks.size()) + " processors wanted, " + std::to_string(number.size()) + " free",
            {}};
    const Result<ResourceGraph> resources = ResourceGraph::make({std::move(free_zone)}, {});
    ZBS_EXPECTS(resources.has_value());
    const Mapper* mapper = find_mapper(config_.level_two_mapper);
    ZBS_EXPECTS(mapper != nullptr);
    const Result<Mapping> mapping =
        mapper->map(request.graph, *resources, MapOptions{.seed = request.seed, .max_tasks_per_processor = 1});
    if (!mapping) return mapping.error();
    Placement placement;
    for (std::size_t task = 0; task < request.ranks.size(); ++task) {
        const std::int32_t processor = number[static_cast<std::size_t>(mapping->processor_of[task])];
        const auto machine = static_cast<std::size_t>(machine_of_[static_cast<std::size_t>(processor)]);
        placement.processors.push_back(processor);
        placement.assignment.push_back(
            {request.ranks[task], MachineName(config_.zone.machines[machine].name),
             static_cast<std::int32_t>(static_cast<std::size_t>(processor) % physical_count()) - first_of_[machine]});
    }
    return placement;
}

Result<PartStatus> PartService::hold(const Caller& caller, const PartRequest& request) {
    if (auto ok = check_caller(caller, request.user); !ok) return ok.error();
    if (auto own = check_mark(request.id.value, caller); !own) return own.error();
    if (caller.organisation != config_.organisation && check_delegation_) {
        const std::optional<PeeringRights> rights = peerings_.rights_now(caller.organisation);
        if (auto good = check_delegation_(request, !rights || rights->require_delegation); !good) {
            if (request.delegation) peerings_.record(caller.organisation, TrustEvent::kFailedCheck);
            return good.error();
        }
    }
    const Result<std::shared_ptr<ActivePart>> known = find(request.id);
    if (!known) return redact_for(caller, known.error());
    if (*known != nullptr) {
        if ((*known)->record.home_caller == caller && (*known)->record.request == request) return view(**known);
        return Error{ErrorCode::kIdReused, "part " + to_string(request.id) + " was held with another request", "/id"};
    }
    const Result<bool> removed = store_.was_removed(request.id);
    if (!removed) return redact_for(caller, removed.error());
    if (*removed)
        return Error{ErrorCode::kIdReused, "part " + to_string(request.id) + " has ended long ago and was removed",
                     "/id"};

    if (drains_())
        return Error{ErrorCode::kRejected, "zone " + config_.zone.name + " takes no new work; plan without it", {}};
    if (auto takes = check_need(caller, request.staging); !takes) return takes.error();
    if (request.start_in > config_.reserve_ahead)
        return invalid("is more than the " + std::to_string(to_seconds(config_.reserve_ahead)) + " s for which zone " +
                           config_.zone.name + " promises starts",
                       "/start_in_s");
    const Result<std::shared_ptr<ActivePart>> replaced = find_replaced(caller, request);
    if (!replaced) return replaced.error();
    promise_overruns();
    std::set<PartId> without;
    if (*replaced != nullptr) without.insert((*replaced)->record.request.id);
    const ProcessorCalendar::Interval when = interval_of(request.start_in, request.walltime, request.grace);
    const std::vector<bool> busy = busy_in(when, without);
    const Entitlement entitlement =
        filter_.find({caller, request.user, request.groups, request.walltime,
                      usage_in(caller.organisation, when, without, false), request.start_in});
    const auto not_enough = [&](const std::string& why) {
        log_.info("part_refused", {{"home", to_uri(caller)}, {"user", to_uri(request.user)}, {"reason", why}});
        const bool own = caller.organisation == config_.organisation;
        return Error{ErrorCode::kRejected,
                     "zone " + config_.zone.name + " has not enough for this user now" + (own ? " (" + why + ")" : "") +
                         "; plan again",
                     {}};
    };
    if (!entitlement.given) return not_enough(entitlement.why);
    Placement placement;
    if (request.queued) {
        if (!has_queue_) return not_enough("it has no queue to wait in");
        if (queue_.size() >= limits::kMaxPartsInQueue) return not_enough("its queue is full");
        const std::optional<PeeringRights> rights = peerings_.rights_now(caller.organisation);
        const int parts = usage_of(caller.organisation).parts - (*replaced != nullptr ? 1 : 0);
        if (caller.organisation != config_.organisation && (!rights || parts >= rights->concurrent_parts))
            return not_enough("its organisation has as many parts here, waiting ones included, as it may");
        if (std::cmp_greater(request.ranks.size(), entitlement.total_processors))
            return not_enough("it asks for more than this user may ever have here");
    } else {
        std::vector<bool> usable(busy.size());
        for (std::size_t p = 0; p < busy.size(); ++p)
            usable[p] = !busy[p] && entitlement.machines[static_cast<std::size_t>(machine_of_[p])];
        if (std::cmp_greater(request.ranks.size(), entitlement.processors))
            return not_enough(std::to_string(request.ranks.size()) + " processors wanted, " +
                              std::to_string(entitlement.processors) + " allowed" +
                              (entitlement.why.empty() ? "" : ": " + entitlement.why));
        if (auto left = leave_out_full_rows(usable, {when, without, false}, request); !left)
            return not_enough(left.error().message);
        Result<Placement> placed = place(request, usable);
        if (!placed) return not_enough(placed.error().message);
        placement = *std::move(placed);
    }

    const Result<AccountName> account = filter_.take_account(entitlement, request.user);
    if (!account)
        return account.error().code == ErrorCode::kRejected ? not_enough(account.error().message)
                                                            : redact_for(caller, account.error());
    const Result<std::uint64_t> token = store_.next_token();
    if (!token) return redact_for(caller, token.error());
    ActivePart part{.record = {.home_caller = caller, .request = request},
                    .deadline = clock_.steady_now() + config_.hold_ttl,
                    .start = when.begin};
    if (request.start_in > Duration{0}) part.record.starts_at = clock_.now() + request.start_in;
    part.record.request.delegation.reset();  // has done its work
    part.record.account = *account;
    PartStatus& status = part.record.status;
    status = {.id = request.id,
              .zone = config_.name(),
              .state = PartState::kHeld,
              .token = *token,
              .can_profile = !config_.profiler.empty()};
    part.record.processors = std::move(placement.processors);
    status.assignment = std::move(placement.assignment);
    if (auto reached = failpoint::reach(failpoint::Point::kPeerHoldDecided); !reached)
        return redact_for(caller, reached.error());
    // The old part goes first: a fault between the two must not leave both.
    if (*replaced != nullptr) {
        ActivePart& old = **replaced;
        const std::string why = "part " + to_string(request.id) + " takes its place";
        if (auto ok = save(old, old.record, PartState::kReleased, why); !ok) return redact_for(caller, ok.error());
    }
    if (auto ok = store_.save(part.record); !ok) return redact_for(caller, ok.error());
    filter_.begin_use(part.record.account);
    log_.info("part_held", {{"part", to_string(request.id)},
                            {"application", to_string(request.application)},
                            {"home", request.home},
                            {"ranks", std::to_string(request.ranks.size())},
                            {"start_in_s", std::to_string(to_seconds(request.start_in))},
                            {"token", std::to_string(*token)}});
    observer_->part_entered(part.record);
    const auto live = std::make_shared<ActivePart>(std::move(part));
    parts_.emplace(request.id, live);
    if (request.queued) {
        enqueue(*live);
        run_queue();
    } else {
        promise_anew(*live);
        ask_allocation(*live);
    }
    const PartStatus answer = view(*live);
    watch();
    if (auto reached = failpoint::reach(failpoint::Point::kPeerHoldStored); !reached)
        return redact_for(caller, reached.error());
    return answer;
}

}  // namespace zbs
