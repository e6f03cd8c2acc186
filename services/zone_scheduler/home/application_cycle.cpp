// ApplicationService as a planner: the cycle over all that wait, in one order, by one look at the zones.
#include <algorithm>
#include <utility>

#include "services/zone_scheduler/home/application_service.hpp"

namespace zbs {
namespace {

/// Questions of one cycle; applications of one user with one walltime share theirs, unless they have a reserved start.
constexpr std::size_t kMaxQuestions = 48;
/// So many of them are about those that come behind all others, in turns, so that nobody is never asked about.
constexpr std::size_t kInTurns = 8;
/// Plans of one cycle: each becomes a hold in every zone that it uses, and calls of users wait while plans are made.
constexpr std::size_t kMaxAdmitted = 32;
constexpr Duration kWaitForProcessors = std::chrono::seconds{1};
/// One part in so many of the time may go by with cycles, so that thousands that wait cost others little.
constexpr int kCycleShare = 20;
/// A zone that is silent to a hold keeps others waiting for so long.
constexpr Duration kWaitForHolds = std::chrono::seconds{1};
/// What an earlier start must gain at least: less is not worth new holds everywhere.
constexpr Duration kWorthwhile = std::chrono::seconds{2};
constexpr Duration kChoiceKept = std::chrono::minutes{1};
constexpr const char* kFailedBefore = "did not start its part of this application";

/// What the answer to a question depends on.
bool is_same_question(const Application& a, const Application& b) {
    const ApplicationRequest &one = a.request, &other = b.request;
    return a.owner == b.owner && one.walltime == other.walltime && one.share == other.share &&
           one.grace == other.grace && one.zones == other.zones && one.staging == other.staging &&
           needs_own_zone(one.launcher) == needs_own_zone(other.launcher);
}

/// Of a zone that offers `capacity`, what is left behind plans for `processors` of them.
void take(Capacity& capacity, int processors) {
    const int left = std::max(0, capacity.processors - processors);
    if (capacity.processors > 0) capacity.speed_sum *= static_cast<double>(left) / capacity.processors;
    capacity.processors = left;
    capacity.largest_machine = std::min(capacity.largest_machine, left);
}

void record_offers(ApplicationRun& run, Time now, const std::vector<Offer>& offers) {
    for (const Offer& offer : offers) {
        if (!offer.refusal.empty()) {
            record_answer(run, now, offer.zone, "capacity", false, offer.refusal);
            continue;
        }
        const Capacity& c = *offer.capacity;
        record_answer(run, now, offer.zone, "capacity", c.processors > 0,
                      c.total_processors == 0 ? "gives this user nothing"
                                              : std::to_string(c.processors) + " of " +
                                                    std::to_string(c.total_processors) + " processors are free");
    }
}

/// Zones that have offered an earlier start not long ago, and refused it.
std::set<ZoneName> zones_in_backoff(const ApplicationRun& run, Duration now) {
    std::set<ZoneName> zones;
    for (const auto& [zone, backoff] : run.backoffs)
        if (backoff.until > now) zones.insert(zone);
    return zones;
}

bool* may_overtake(Phase& phase) {
    if (auto* waiting = std::get_if<phase::Waiting>(&phase)) return &waiting->may_overtake;
    auto* awaiting = std::get_if<phase::AwaitingStart>(&phase);
    return awaiting == nullptr ? nullptr : &awaiting->may_overtake;
}

}  // namespace

struct ApplicationService::PlanningCycle {
    struct Question {
        std::shared_ptr<Run> about;  ///< the one of these that asks for most processors
        bool is_own = false;         ///< what this one has reserved counts as free
        std::vector<Offer> offers;
    };
    std::vector<Question> questions;
    std::map<Turn, std::pair<std::shared_ptr<Run>, std::size_t>> order;  ///< with the number of its question
    std::size_t pending = 0;                                             ///< questions
    std::map<ZoneName, int> taken;                                       ///< processors, by plans that are not held yet
    Duration spent{};                                                    ///< on the questions

    /// False where that would be more questions than `most`.
    bool add(const std::shared_ptr<Run>& run, bool is_own, std::size_t most) {
        const auto question = std::ranges::find_if(questions, [&](const Question& known) {
            return !is_own && !known.is_own && is_same_question(known.about->app, run->app);
        });
        if (question == questions.end() && questions.size() >= most) return false;
        order[turn_of(*run)] = {run, static_cast<std::size_t>(question - questions.begin())};
        if (question == questions.end())
            questions.push_back({run, is_own, {}});
        else if (question->about->app.request.ranks < run->app.request.ranks)
            question->about = run;
        return true;
    }
};

/// The higher priority, then who came first.
ApplicationService::Turn ApplicationService::turn_of(const Run& run) {
    return {-run.app.request.priority, run.app.status.history.front().at, run.app.request.id};
}

void ApplicationService::await_planning(const std::shared_ptr<Run>& run) {
    if (waiting_.emplace(turn_of(*run), run).second) begin_cycle(Duration{0});
}

/// At once, or after `delay` unless one is due before; but not before the rest after the last one is over.
void ApplicationService::begin_cycle(Duration delay) {
    const Duration now = ports_.clock.steady_now();
    const Duration at = std::max(now + delay, rests_until_);
    if ((waiting_.empty() && reserved_.empty()) || (cycle_due_ && *cycle_due_ <= at)) return;
    cycle_due_ = at;
    ports_.clock.after(at - now, [this, at] {
        if (cycle_due_ == at) run_cycle();
    });
}

/// 1 take, in order  2 ask the zones  3 decide, in order  4 admit: `decide` does the last two once the answers are
/// here.
void ApplicationService::run_cycle() {
    cycle_due_.reset();
    if (is_asking_) return;  // it begins another one when it ends
    if (planning_ > 0 && ports_.clock.steady_now() - admitted_at_ < kWaitForHolds)
        return begin_cycle(admitted_at_ + kWaitForHolds - ports_.clock.steady_now());
    auto cycle = std::make_shared<PlanningCycle>();
    const Duration begun = ports_.clock.steady_now();
    for (const ApplicationId& id : reserved_)
        if (const auto run = runs_.find(id); run != runs_.end() && may_start_early(*run->second))
            cycle->add(run->second, true, kMaxQuestions - kInTurns);
    for (const auto& [turn, run] : waiting_) cycle->add(run, false, kMaxQuestions - kInTurns);
    auto next = asked_last_ ? waiting_.upper_bound(*asked_last_) : waiting_.begin();
    for (; next != waiting_.end(); asked_last_ = next->first, ++next)
        if (!cycle->order.contains(next->first) && !cycle->add(next->second, false, kMaxQuestions)) break;
    if (next == waiting_.end()) asked_last_.reset();
    for (const auto& [id, run] : runs_)
        if (has_turn(run->phase))
            for (const ApplicationPart& part : run->app.status.parts)
                cycle->taken[part.zone] += static_cast<int>(part.ranks.size());
    cycle->pending = cycle->questions.size();
    is_asking_ = cycle->pending > 0;
    cycle->spent = ports_.clock.steady_now() - begun;
    for (PlanningCycle::Question& question : cycle->questions) {
        const Application& app = question.about->app;
        const auto own = question.is_own ? std::optional(app.request.id) : std::nullopt;
        zones_.collect({app.owner, app.request, {}, own}, [this, cycle, &question](std::vector<Offer> offers) {
            question.offers = std::move(offers);
            if (--cycle->pending == 0) decide(*cycle);
        });
    }
}

/// Who cannot start now has a later start reserved, or waits on; then the next one may have what it leaves. After a
/// plan that the zones have not answered yet nothing is reserved: what they have promised is not known any more.
void ApplicationService::decide(PlanningCycle& cycle) {
    is_asking_ = false;
    const Duration begun = ports_.clock.steady_now();
    std::size_t admitted = 0;
    PassedOver passed_over{};
    for (const auto& [turn, entry] : cycle.order) {
        const auto& [run, question] = entry;
        const bool is_waiting = waiting_.contains(turn);
        if (!is_waiting && !may_start_early(*run)) continue;
        std::vector<Offer> offers = cycle.questions[question].offers;
        const std::set<ZoneName> resting = zones_in_backoff(*run, begun);
        for (Offer& offer : offers)
            if (offer.capacity && run->launch_backoff.failures(offer.zone) > 0) offer.left_out = kFailedBefore;
        run->needs_all = !leave_out_failed(offers, run->app.request.ranks);
        for (Offer& offer : offers) {
            const bool has_failed = run->launch_backoff.left(offer.zone, begun).has_value();
            if (run->series.excluded.contains(offer.zone) || resting.contains(offer.zone) || has_failed)
                offer = {offer.zone, {}, has_failed ? kFailedBefore : kRefusedBefore, true};
            if (const auto taken = cycle.taken.find(offer.zone); taken != cycle.taken.end() && offer.capacity)
                take(*offer.capacity, taken->second);
        }
        const bool is_first = cycle.taken.empty();
        const Planned planned =
            is_waiting ? plan(run, offers, is_first, passed_over) : start_early(run, offers, passed_over);
        if (planned == Planned::kNot) passed_over.any = true;
        if (planned == Planned::kNot || planned == Planned::kEnded) continue;
        if (planned == Planned::kNotYet) break;
        admitted_at_ = ports_.clock.steady_now();
        for (const ApplicationPart& part : run->app.status.parts)
            cycle.taken[part.zone] += static_cast<int>(part.ranks.size());
        if (planned == Planned::kForLater || ++admitted >= kMaxAdmitted) break;
    }
    const Duration now = ports_.clock.steady_now();
    rests_until_ = now + (cycle.spent + now - begun) * kCycleShare;
    begin_cycle(passed_over.to_confirm ? Duration{0} : kWaitForProcessors);
}

/// How long until the last start that is reserved for who comes before it: a gap before that is theirs, and whoever can
/// start at once may have it.
Duration ApplicationService::latest_reserved_before(const Run& run) const {
    Duration latest{};
    const Duration now = ports_.clock.steady_now();
    for (const ApplicationId& id : reserved_)
        if (const auto other = runs_.find(id); other != runs_.end() && turn_of(*other->second) < turn_of(run))
            latest = std::max(latest, other->second->start - now);
    return latest;
}

/// Plans one application by these offers and asks its zones to hold it. `may_reserve`: a later start, too.
ApplicationService::Planned ApplicationService::plan(const std::shared_ptr<Run>& run, const std::vector<Offer>& offers,
                                                     bool may_reserve_now, PassedOver& passed_over) {
    const ProfileLibrary::Choice& choice = choice_for(*run);
    const bool may_reserve =
        std::cmp_less(reserved_.size(), ports_.config.max_reservations) || reserved_.contains(run->app.request.id);
    Result<StartChoice> made = choose_start(
        run->app.request, choice, offers,
        {.reserve = may_reserve_now && may_reserve
                        ? std::optional(StartRange{latest_reserved_before(*run), ports_.config.reserve_ahead})
                        : std::nullopt,
         .queue = true});
    const bool is_possible = made || made.error().code != ErrorCode::kUnavailable;
    if (!is_possible && !may_reserve_now) {
        *may_overtake(run->phase) = false;
        return Planned::kNotYet;
    }
    if (made && !made->start_in && !made->plan.queued && has_to_confirm(*run, passed_over)) return Planned::kNot;
    record_offers(*run, ports_.clock.now(), offers);
    if (!made) {
        if (is_possible) waiting_.erase(turn_of(*run));
        apply(run, event::NoPlan{made.error().message, is_possible});
        return is_possible ? Planned::kEnded : Planned::kNot;
    }
    const bool is_later = made->start_in.has_value();
    waiting_.erase(turn_of(*run));
    if (!take_plan(run, *std::move(made), choice.model)) return Planned::kEnded;
    return is_later ? Planned::kForLater : Planned::kNow;
}

/// Whether a start now in place of the reserved one is worth new holds.
bool ApplicationService::may_start_early(const Run& run) const {
    return std::holds_alternative<phase::AwaitingStart>(run.phase) && !run.app.status.cancel_requested &&
           run.start - ports_.clock.steady_now() > kWorthwhile;
}

/// Starts it now in place of later, where these offers allow it; what it has reserved counts as free in them. Whether
/// its zones are asked to hold it. An earlier start that is not now would cost holds and gain nothing: it comes up
/// again.
ApplicationService::Planned ApplicationService::start_early(const std::shared_ptr<Run>& run,
                                                            const std::vector<Offer>& offers, PassedOver& passed_over) {
    const ProfileLibrary::Choice& choice = choice_for(*run);
    Result<StartChoice> made = choose_start(run->app.request, choice, offers, {});
    if (!made) {
        apply(run, event::NoPlan{made.error().message});
        return Planned::kNot;
    }
    if (has_to_confirm(*run, passed_over)) return Planned::kNot;
    record_offers(*run, ports_.clock.now(), offers);
    return take_plan(run, *std::move(made), choice.model) ? Planned::kNow : Planned::kEnded;
}

/// Whether its zones are asked to hold it: not where the plan cannot be stored now.
bool ApplicationService::take_plan(const std::shared_ptr<Run>& run, StartChoice made,
                                   const std::optional<ApplicationModel>& model) {
    const std::set<ZoneName> zones(made.plan.zone_of_rank.begin(), made.plan.zone_of_rank.end());
    std::vector<PartId> ids;
    while (ids.size() < zones.size()) ids.emplace_back(ports_.ids.fresh(zones_.own_address().who));
    apply(run, event::PlanMade{std::move(made), model, std::move(ids)});
    return std::holds_alternative<phase::Holding>(run->phase);
}

/// Zones answer at different moments: what a later one could have may be what an earlier one waits for. So it starts
/// before that one only if the next cycle says the same.
bool ApplicationService::has_to_confirm(Run& run, PassedOver& passed_over) {
    bool* const overtakes = may_overtake(run.phase);
    if (!passed_over.any || overtakes == nullptr || *overtakes) return false;
    return *overtakes = passed_over.to_confirm = true;
}

/// Another zone may be able to start one that waits in a queue now: then it waits no more.
void ApplicationService::ask_elsewhere(const std::shared_ptr<Run>& run) {
    const Duration rest{static_cast<std::int64_t>(jitter_.below(2'000'000))};
    std::set<ZoneName> avoided = zones_in_backoff(*run, ports_.clock.steady_now());
    avoided.insert(run->app.status.parts.front().zone);
    zones_.collect({run->app.owner, run->app.request, std::move(avoided), run->app.request.id},
                   [this, run, rest, choice = choice_for(*run)](std::vector<Offer> offers) {
                       leave_out_failed(offers, run->app.request.ranks);
                       Result<StartChoice> made = choose_start(run->app.request, choice, offers, {});
                       if (run->app.status.cancel_requested || !made || made->start_in)
                           return apply(run, event::NoneElsewhere{rest});
                       record_offers(*run, ports_.clock.now(), offers);
                       static_cast<void>(take_plan(run, *std::move(made), choice.model));
                   });
}

void ApplicationService::dry_run(const Caller& caller, const ApplicationRequest& request,
                                 Respond<ApplicationPlan> respond) {
    if (!caller.is_user_of(ports_.config.organisation))
        return respond(Error{
            ErrorCode::kDenied, "only users of organisation '" + ports_.config.organisation + "' may plan here", {}});
    if (auto known = check_plan_mapper(request.mapper); !known) return respond(known.error());
    if (auto good = zones_.check_zones(request); !good) return respond(good.error());
    ProfileLibrary::Choice choice = profiles_.choose(caller, request);
    zones_.collect({caller, request}, [this, request, choice = std::move(choice),
                                       respond = std::move(respond)](std::vector<Offer> offers) {
        leave_out_failed(offers, request.ranks);
        Result<StartChoice> made = choose_start(
            request, choice, offers, {.reserve = StartRange{{}, ports_.config.reserve_ahead}, .queue = true});
        if (!made) return respond(made.error());
        respond(std::move(made->plan));
    });
}

Result<StartChoice> ApplicationService::choose_start(const ApplicationRequest& request,
                                                     const ProfileLibrary::Choice& model,
                                                     const std::vector<Offer>& offers, const MayWait& may_wait) const {
    const CycleTimer timer(ports_.observer, ports_.clock, Cycle::kPlan);
    return zbs::choose_start(request, model, offers, may_wait);
}

/// What is learnt of its program. Kept for a minute: making it anew can take as long as merging several runs does, and
/// who waits looks every second.
const ProfileLibrary::Choice& ApplicationService::choice_for(const Run& run) {
    const Duration now = ports_.clock.steady_now();
    Learned& learned = learned_[run.app.request.id];
    if (!learned.choice || now - learned.at > kChoiceKept)
        learned = {profiles_.choose(run.app.owner, run.app.request), now};
    return *learned.choice;
}

}  // namespace zbs
