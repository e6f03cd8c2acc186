// ApplicationService as a planner: the cycle over all that wait, in one order, by one look at the zones.
#include <algorithm>
#include <utility>

#include "services/zone_scheduler/home/application_service.hpp"

namespace zbs {
namespace {

/// Questions of one cycle; applications of one user with one walltime share theirs, unless they have a reserved start
/// or wait in a queue. Those of one user are asked in one call to each zone.
constexpr std::size_t kMaxQuestions = 48;
/// So many of them are about those that come behind all others, in turns, so that nobody is never asked about.
constexpr std::size_t kInTurns = 8;
/// So many of them are about those that wait in a queue.
constexpr std::size_t kElsewhere = 16;
/// Plans of one cycle: each becomes a hold in every zone that it uses.
constexpr std::size_t kMaxAdmitted = 32;
constexpr Duration kWaitForProcessors = std::chrono::seconds{1};
/// Calls of users wait no longer than a piece takes: the first of both bounds ends it.
constexpr Duration kLongestPiece = std::chrono::milliseconds{2};
constexpr int kStepsOfAPiece = 64;
/// One part in so many of the time may go by with cycles, so that thousands that wait cost others little.
constexpr int kCycleShare = 20;
/// A zone that is silent to a hold keeps others waiting for so long.
constexpr Duration kWaitForHolds = std::chrono::seconds{1};
/// What an earlier start must gain at least: less is not worth new holds everywhere.
constexpr Duration kWorthwhile = std::chrono::seconds{2};
constexpr Duration kChoiceKept = std::chrono::minutes{1};
constexpr const char* kFailedBefore = "did not start its part of this application";
constexpr const char* kDeniedBefore = "denied its part of this application, which other zones can hold";

/// What the answer to a question depends on.
bool is_same_question(const Application& a, const Application& b) {
    const ApplicationRequest &one = a.request, &other = b.request;
    return a.owner == b.owner && one.walltime == other.walltime && one.share == other.share &&
           one.partition == other.partition && one.grace == other.grace && one.overcommit == other.overcommit &&
           one.zones == other.zones && one.staging == other.staging &&
           needs_own_zone(one.launcher) == needs_own_zone(other.launcher);
}

/// What an offer leaves behind plans for `processors` of its zone. Precondition: it has a capacity.
void take(Offer& offer, int processors) {
    Capacity& capacity = *offer.capacity;
    const int left = std::max(0, capacity.processors - processors * offer.overcommit);
    if (capacity.processors > 0) capacity.speed_sum *= static_cast<double>(left) / capacity.processors;
    capacity.processors = left;
    capacity.largest_machine = std::min(capacity.largest_machine, left);
}

event::ZonesAnswered answers_of(const std::vector<Offer>& offers) {
    event::ZonesAnswered came{"capacity", {}};
    for (const Offer& offer : offers) {
        if (!offer.refusal.empty()) {
            came.answers.push_back({offer.zone, false, offer.refusal});
            continue;
        }
        const Capacity& c = *offer.capacity;
        came.answers.push_back({offer.zone, c.processors > 0,
                                c.total_processors == 0 ? "gives this user nothing"
                                                        : std::to_string(c.processors / offer.overcommit) + " of " +
                                                              std::to_string(c.total_processors / offer.overcommit) +
                                                              " processors are free"});
    }
    return came;
}

/// Zones that have offered an earlier start not long ago, and refused it.
std::set<ZoneName> zones_in_backoff(const ApplicationRun& run, Duration now) {
    std::set<ZoneName> zones;
    for (const auto& [zone, backoff] : run.backoffs)
        if (backoff.until > now) zones.insert(zone);
    return zones;
}

bool asks_elsewhere(const Phase& phase) { return std::holds_alternative<phase::AskingElsewhere>(phase); }

}  // namespace

struct ApplicationService::PlanningCycle {
    struct Question {
        std::shared_ptr<Run> about;  ///< the one of these that asks for most processors
        bool is_own = false;         ///< what this one has reserved counts as free
        std::vector<Offer> offers;
    };
    std::vector<Question> questions;
    std::map<Turn, std::pair<std::shared_ptr<Run>, std::size_t>> order;  ///< with the number of its question
    std::optional<Turn> last;                                            ///< the last one that was taken or decided on
    bool leaves_out = false;                                             ///< somebody whose question is one too many
    std::size_t pending = 0;                                             ///< questions
    std::map<ZoneName, int> taken;                                       ///< processors, by plans that are not held yet
    std::size_t admitted = 0;
    std::shared_ptr<Run> planned;  ///< the one whose plan is made in the background; then it waits for that
    std::shared_ptr<PlanMaker::InMaking> plan;  ///< of that one
    PassedOver passed_over{};
    bool is_due_again = false;  ///< something has come or ended since it began
    Duration spent{};           ///< time of the strand

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
    if (cycle_ && delay == Duration{0}) cycle_->is_due_again = true;
    if ((waiting_.empty() && reserved_.empty() && elsewhere_.empty()) || (cycle_due_ && *cycle_due_ <= at)) return;
    cycle_due_ = at;
    ports_.clock.after(at - now, [this, at] {
        if (cycle_due_ == at) run_cycle();
    });
}

/// In pieces, so that the strand is never held for long; one that waits for a plan goes on with `decide`.
void ApplicationService::run_cycle() {
    cycle_due_.reset();
    if (cycle_) return;  // it begins another one when it ends
    if (planning_ > 0 && ports_.clock.steady_now() - admitted_at_ < kWaitForHolds)
        return begin_cycle(admitted_at_ + kWaitForHolds - ports_.clock.steady_now());
    cycle_ = std::make_shared<PlanningCycle>();
    take_reserved();                                    // 1 who may start before the start that is reserved,
    in_pieces(&ApplicationService::take_next, [this] {  // 2 and who waits, in order
        ask_zones([this] {                              // 3 snapshot: what the zones have for each
            decide();                                   // 4 each in order: decide, plan, admit what can be held
        });
    });
}

void ApplicationService::decide() {
    in_pieces(&ApplicationService::decide_next, [this] {
        end_cycle();  // 5 rest, and when the next one begins
    });
}

/// Takes steps while there are more, then calls `then`. After each piece all else that is due comes first.
void ApplicationService::in_pieces(Progress (ApplicationService::*step)(), std::function<void()> then) {
    const Duration begun = ports_.clock.steady_now();
    Progress progress = Progress::kMore;
    for (int i = 0; progress == Progress::kMore; ++i) {
        if (i == kStepsOfAPiece || ports_.clock.steady_now() - begun >= kLongestPiece) break;
        progress = (this->*step)();
    }
    cycle_->spent += ports_.clock.steady_now() - begun;
    if (progress == Progress::kDone) return then();
    if (progress == Progress::kMore)
        ports_.clock.after(Duration{0}, [this, step, then = std::move(then)] { in_pieces(step, then); });
}

/// Those that have a start or a place in a queue, and may start before: what they have counts as free for them.
void ApplicationService::take_reserved() {
    for (const ApplicationId& id : std::set<ApplicationId>(elsewhere_)) {
        const auto run = runs_.find(id);
        if (run != runs_.end() && asks_elsewhere(run->second->phase) && cycle_->add(run->second, true, kElsewhere))
            continue;
        elsewhere_.erase(id);
        if (run != runs_.end()) stay_in_queue(std::shared_ptr<Run>(run->second));
    }
    for (const ApplicationId& id : reserved_)
        if (const auto run = runs_.find(id); run != runs_.end() && may_start_early(*run->second))
            cycle_->add(run->second, true, kMaxQuestions - kInTurns);
}

/// First in order, then in turns those whose questions are too many.
ApplicationService::Progress ApplicationService::take_next() {
    const auto next = cycle_->last ? waiting_.upper_bound(*cycle_->last) : waiting_.begin();
    if (next != waiting_.end()) {
        cycle_->last = next->first;
        cycle_->leaves_out |= !cycle_->add(next->second, false, kMaxQuestions - kInTurns);
        return Progress::kMore;
    }
    const auto in_turn = asked_last_ ? waiting_.upper_bound(*asked_last_) : waiting_.begin();
    if (!cycle_->leaves_out || in_turn == waiting_.end()) {
        asked_last_.reset();
        return Progress::kDone;
    }
    if (!cycle_->order.contains(in_turn->first) && !cycle_->add(in_turn->second, false, kMaxQuestions))
        return Progress::kDone;
    asked_last_ = in_turn->first;
    return Progress::kMore;
}

void ApplicationService::ask_zones(std::function<void()> then) {
    cycle_->last.reset();
    for (const auto& [id, run] : runs_)
        if (has_turn(run->phase))
            for (const ApplicationPart& part : run->app.status.parts)
                cycle_->taken[part.zone] += processors_for(part.ranks.size(), part.overcommit);
    std::vector<std::vector<std::size_t>> calls;  // numbers of questions
    std::vector<std::vector<ZoneOffers::Question>> asked;
    for (std::size_t i = 0; i < cycle_->questions.size(); ++i) {
        const Application& app = cycle_->questions[i].about->app;
        const ZoneOffers::Question question{app.owner, app.request,
                                            cycle_->questions[i].is_own ? std::optional(app.request.id) : std::nullopt};
        const auto call = std::ranges::find_if(
            asked, [&](const auto& known) { return ZoneOffers::go_together(known.front(), question); });
        const auto at = static_cast<std::size_t>(call - asked.begin());
        if (call == asked.end()) asked.emplace_back();
        calls.resize(asked.size());
        asked[at].push_back(question);
        calls[at].push_back(i);
    }
    cycle_->pending = calls.size();
    if (calls.empty()) return then();
    for (std::size_t i = 0; i < calls.size(); ++i)
        zones_.collect(asked[i], [this, call = calls[i], then](std::vector<std::vector<Offer>> offers) {
            for (std::size_t k = 0; k < call.size(); ++k) cycle_->questions[call[k]].offers = std::move(offers[k]);
            if (--cycle_->pending == 0) then();
        });
}

/// Who cannot start now has a later start reserved, or waits on; then the next one may have what it leaves. After a
/// plan that the zones have not answered yet nothing is reserved: what they have promised is not known any more.
ApplicationService::Progress ApplicationService::decide_next() {
    PlanningCycle& cycle = *cycle_;
    const auto next = cycle.last ? cycle.order.upper_bound(*cycle.last) : cycle.order.begin();
    if (next == cycle.order.end()) return Progress::kDone;
    cycle.last = next->first;
    const auto& [run, question] = next->second;
    const bool is_waiting = waiting_.contains(next->first), is_queued = elsewhere_.erase(run->app.request.id) > 0;
    if (!is_waiting && !is_queued && !may_start_early(*run)) return Progress::kMore;
    const std::vector<Offer> offers = offers_for(run, cycle.questions[question].offers);
    const MayWait may_wait = is_waiting ? may_wait_of(*run) : MayWait{};
    Result<StartOutline> start = choose_start(run->app.request, offers, may_wait);
    const bool is_impossible = is_waiting && !start && start.error().code != ErrorCode::kUnavailable;
    if (is_waiting && !start && !is_impossible && !cycle.taken.empty()) {
        apply(run, event::MayOvertake{false});
        return Progress::kDone;
    }
    if (start && !start->start_in && !start->queue && has_to_confirm(run, cycle.passed_over)) {
        cycle.passed_over.any = true;
        return Progress::kMore;
    }
    if (is_waiting || start) apply(run, answers_of(offers));
    if (!start) {
        if (is_queued) return stay_in_queue(run), Progress::kMore;
        if (is_impossible) waiting_.erase(next->first);
        apply(run, event::NoPlan{start.error().message, is_impossible});
        cycle.passed_over.any |= !is_impossible;
        return Progress::kMore;
    }
    const ProfileLibrary::Choice& model = choice_for(*run);
    if (is_quick_to_plan(run->app.request, model.model.get()))
        return admit(run, plans_.make_now(run->app.request, model, *start), model.model, 0);
    apply(run, event::PlanBegun{++plans_begun_});
    cycle.planned = run;
    cycle.plan = plans_.begin(run->app.request, model, *std::move(start),
                              [this, run, number = plans_begun_, model = model.model](Result<StartChoice> made) {
                                  cycle_->planned.reset();
                                  const bool is_last = admit(run, std::move(made), model, number) == Progress::kDone;
                                  is_last ? end_cycle() : decide();
                              });
    return Progress::kPaused;
}

/// Asks its zones to hold it. It may have been cancelled, or its reserved start may have come, since `made` was begun.
ApplicationService::Progress ApplicationService::admit(const std::shared_ptr<Run>& run, Result<StartChoice> made,
                                                       std::shared_ptr<const ApplicationModel> model,
                                                       std::uint64_t number) {
    const bool is_queued = asks_elsewhere(run->phase);
    if (is_queued && (!made || run->app.status.cancel_requested)) return stay_in_queue(run), Progress::kMore;
    if (!made) {
        apply(run, event::NoPlan{made.error().message});
        return Progress::kMore;
    }
    const bool is_waiting = waiting_.erase(turn_of(*run)) > 0;
    if (!is_waiting && !is_queued && !may_start_early(*run)) return Progress::kMore;
    const bool is_later = made->start_in.has_value();
    if (!take_plan(run, *std::move(made), std::move(model), number)) return Progress::kMore;
    admitted_at_ = ports_.clock.steady_now();
    for (const ApplicationPart& part : run->app.status.parts)
        cycle_->taken[part.zone] += processors_for(part.ranks.size(), part.overcommit);
    return !is_later && ++cycle_->admitted < kMaxAdmitted ? Progress::kMore : Progress::kDone;
}

/// No other zone can start it now. It asks again after the usual time and a random one.
void ApplicationService::stay_in_queue(const std::shared_ptr<Run>& run) {
    apply(run, event::NoneElsewhere{Duration{static_cast<std::int64_t>(jitter_.below(2'000'000))}});
}

/// Of what the zones offer, what is left for this one behind those that have been planned before it.
std::vector<Offer> ApplicationService::offers_for(const std::shared_ptr<Run>& run, std::vector<Offer> offers) {
    const Duration now = ports_.clock.steady_now();
    std::set<ZoneName> resting = zones_in_backoff(*run, now);
    if (asks_elsewhere(run->phase)) resting.insert(run->app.status.parts.front().zone);
    for (Offer& offer : offers)
        if (offer.capacity && run->launch_backoff.failures(offer.zone) > 0)
            offer.left_out = kFailedBefore;
        else if (offer.capacity && run->denied_by.contains(offer.zone))
            offer.left_out = kDeniedBefore;
    apply(run, event::OffersWeighed{!leave_out_failed(offers, run->app.request.ranks)});
    for (Offer& offer : offers) {
        const bool has_failed = run->launch_backoff.left(offer.zone, now).has_value();
        if (run->series.excluded.contains(offer.zone) || resting.contains(offer.zone) || has_failed)
            offer = {offer.zone, {}, has_failed ? kFailedBefore : kRefusedBefore, true};
        if (const auto taken = cycle_->taken.find(offer.zone); taken != cycle_->taken.end() && offer.capacity)
            take(offer, taken->second);
    }
    return offers;
}

void ApplicationService::end_cycle() {
    const std::shared_ptr<PlanningCycle> ended = std::move(cycle_);
    for (const auto& [turn, entry] : ended->order)  // one that was not decided on asks its own zone meanwhile
        if (elsewhere_.erase(entry.first->app.request.id) > 0) stay_in_queue(entry.first);
    rests_until_ = ports_.clock.steady_now() + ended->spent * kCycleShare;
    begin_cycle(ended->passed_over.to_confirm || ended->is_due_again ? Duration{0} : kWaitForProcessors);
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

/// The cycle goes on without one that has ended.
void ApplicationService::drop_plan(const std::shared_ptr<Run>& run) {
    if (cycle_ && cycle_->planned == run) plans_.drop(cycle_->plan);
}

MayWait ApplicationService::may_wait_of(const Run& run) const {
    MayWait may_wait{.queue = true};
    const bool may_reserve =
        std::cmp_less(reserved_.size(), ports_.config.max_reservations) || reserved_.contains(run.app.request.id);
    if (cycle_->taken.empty() && may_reserve)
        may_wait.reserve = StartRange{latest_reserved_before(run), ports_.config.reserve_ahead};
    return may_wait;
}

/// Whether a start now in place of the reserved one is worth new holds.
bool ApplicationService::may_start_early(const Run& run) const {
    return std::holds_alternative<phase::AwaitingStart>(run.phase) && !run.app.status.cancel_requested &&
           run.start - ports_.clock.steady_now() > kWorthwhile;
}

/// Whether its zones are asked to hold it: not where the plan cannot be stored now.
bool ApplicationService::take_plan(const std::shared_ptr<Run>& run, StartChoice made,
                                   std::shared_ptr<const ApplicationModel> model, std::uint64_t number) {
    const std::set<ZoneName> zones(made.plan.zone_of_rank.begin(), made.plan.zone_of_rank.end());
    std::vector<PartId> ids;
    while (ids.size() < zones.size()) ids.emplace_back(ports_.ids.fresh(zones_.own_address().who));
    apply(run, event::PlanMade{std::move(made), std::move(model), std::move(ids), number});
    return std::holds_alternative<phase::Holding>(run->phase);
}

/// Zones answer at different moments: what a later one could have may be what an earlier one waits for. So it starts
/// before that one only if the next cycle says the same.
bool ApplicationService::has_to_confirm(const std::shared_ptr<Run>& run, PassedOver& passed_over) {
    if (!passed_over.any || may_overtake(run->phase)) return false;
    apply(run, event::MayOvertake{});
    return passed_over.to_confirm = true;
}

/// Another zone may be able to start one that waits in a queue now: then it waits no more.
void ApplicationService::ask_elsewhere(const std::shared_ptr<Run>& run) {
    elsewhere_.insert(run->app.request.id);
    begin_cycle(kWaitForProcessors);  // with others
}

void ApplicationService::dry_run(const Caller& caller, const ApplicationRequest& request,
                                 Respond<ApplicationPlan> respond) {
    if (!caller.is_user_of(ports_.config.organisation))
        return respond(Error{
            ErrorCode::kDenied, "only users of organisation '" + ports_.config.organisation + "' may plan here", {}});
    if (auto known = check_plan_mapper(request.mapper); !known) return respond(known.error());
    if (auto good = zones_.check_zones(request); !good) return respond(good.error());
    ProfileLibrary::Choice choice = profiles_.choose(caller, request);
    zones_.collect({{caller, request}}, [this, request, choice = std::move(choice),
                                         respond = std::move(respond)](std::vector<std::vector<Offer>> answers) {
        std::vector<Offer>& offers = answers.front();
        leave_out_failed(offers, request.ranks);
        Result<StartOutline> start =
            choose_start(request, offers, {.reserve = StartRange{{}, ports_.config.reserve_ahead}, .queue = true});
        if (!start) return respond(start.error());
        plans_.make(request, choice, *std::move(start), [respond](Result<StartChoice> made) {
            if (!made) return respond(made.error());
            respond(std::move(made->plan));
        });
    });
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
