#include "services/zone_scheduler/peer/part_offers.hpp"

#include <algorithm>

#include "services/zone_scheduler/peer/start_windows.hpp"
#include "services/zone_scheduler/peer/time_sharing.hpp"

namespace zbs {

/// What a zone is asked about.
struct PartOffers::Question {
    const Caller& caller;
    const CapacityRequest& request;
    std::set<PartId> without;  ///< count as free
};

/// The processors that the user may have from `start` (steady time) on for the walltime, as one aggregate. Counted for
/// everybody, given to those entitled: who gets nothing waits as long as who gets all.
StartWindow PartOffers::count_free(const Question& question, Duration start, bool by_estimate) const {
    const Duration now = clock_.steady_now(), start_in = start - now;
    const CapacityRequest& request = question.request;
    const ProcessorCalendar::Interval when = part::interval_of(config_, now, start_in, request.walltime, request.grace);
    const ProcessorLedger::Promised promised = table_.promised(when, question.without, by_estimate);
    const Entitlement entitlement = filter_.find(
        {question.caller, request.user, request.groups, request.walltime, request.partition,
         table_.usage_in(question.caller.organisation, when, question.without, by_estimate), start_in, &config_});
    const ProcessorSet usable = table_.ledger().free_on(entitlement.machines, promised);
    StartWindow window = table_.ledger().count_free(usable, promised,
                                                    {.processors = entitlement.processors,
                                                     .max_machines = config_.max_machines,
                                                     .share = share_of(config_, request.share, request.user)});
    window.after = window.expected = start_in;
    return window;
}

/// What could start later, where so many can start now. O(instants at which something changes x promised processors),
/// for a bounded number of them.
std::vector<StartWindow> PartOffers::find_windows(const Question& question, int free_now) const {
    const Duration now = clock_.steady_now();
    const CapacityRequest& request = question.request;
    const ProcessorCalendar::Interval sample =
        part::interval_of(config_, now, config_.hold_ttl, request.walltime, request.grace);
    const Duration length = sample.end - sample.begin;
    const auto look = [&](bool by_estimate) {
        std::vector<Duration> at = table_.queue().promised().changes(now, length, question.without, by_estimate);
        const Entitlement today = filter_.find(
            {question.caller, request.user, request.groups, request.walltime, request.partition, {}, {}, &config_});
        if (today.opens_in && *today.opens_in > Duration{0}) at.insert(at.begin() + 1, now + *today.opens_in);
        std::sort(at.begin(), at.end());
        std::erase_if(at, [&](Duration t) { return t - now > config_.reserve_ahead; });
        return probe_windows(at, now, free_now > 0,
                             [&](Duration start) { return count_free(question, start, by_estimate); });
    };
    std::vector<StartWindow> windows = merge_windows(look(false));
    if (table_.used_share() < 1) expect_from(look(true), windows);
    return windows;
}

/// Parts of a home for one application that have not started.
std::set<PartId> PartOffers::not_started(const Caller& home, const ApplicationId& application) const {
    std::set<PartId> own;
    for (const auto& [id, part] : table_.all()) {
        const PartRecord& record = part->record;
        if (record.home_caller == home && record.request.application == application &&
            (part::is_reserved(record) || part::is_queued(record)))
            own.insert(id);
    }
    return own;
}

Capacity PartOffers::find(const Caller& caller, const CapacityRequest& request) const {
    table_.promise_overruns();
    const Question question{caller, request,
                            request.without ? not_started(caller, *request.without) : std::set<PartId>{}};
    const StartWindow free = count_free(question, clock_.steady_now(), false);
    const Entitlement entitlement =
        filter_.find({caller, request.user, request.groups, request.walltime, request.partition, {}, {}, &config_});
    Capacity capacity{.processors = free.processors,
                      .total_processors = entitlement.total_processors,
                      .speed_sum = free.speed_sum,
                      .speed_mean = free.speed_mean,
                      .speed_variance = free.speed_variance,
                      .largest_machine = free.largest_machine,
                      .max_overcommit = entitlement.max_overcommit};
    const bool is_open = entitlement.opens_in && *entitlement.opens_in <= Duration{0};
    if (table_.free_processors() < request.processors || !is_open || !table_.queue().promised().promises().empty() ||
        table_.waiting_count() > 0)
        capacity.windows = find_windows(question, free.processors);
    if (!entitlement.given) capacity = {};
    return capacity;
}

}  // namespace zbs
