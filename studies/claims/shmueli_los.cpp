#include "studies/claims/shmueli_los.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

#include "algorithms/metrics/schedule_metrics.hpp"
#include "algorithms/policy/backfill/depth_backfill.hpp"
#include "algorithms/policy/backfill/los.hpp"
#include "algorithms/policy/registry.hpp"
#include "algorithms/sim/workload_generators.hpp"
#include "algorithms/sim/workload_simulation.hpp"
#include "studies/claims/samples.hpp"

namespace zbs::claims {
namespace {

using std::chrono::seconds;

constexpr const char* kExample = "tests/golden/ShmueliFeitelson2005/lookahead_example_test.cpp#LookaheadExample.";
constexpr const char* kPromises =
    "tests/property/policy/promise_property_test.cpp#PromiseProperty.NoJobStartsAfterItsPromise";

// -- Example ---------------------------------------------------------------------------------------------------------

/// 10 processors, 5 of them busy for 3 s more at t = 25. The source does not print the size of the last job, only that
/// it adds nothing.
constexpr std::array kSizes{7, 3, 1, 2, 2};

Claim exact(const char* id, const char* claim, std::string published, std::string ours, const char* test) {
    return {.id = id,
            .source = "ShmueliFeitelson2005, section 3 (slides)",
            .claim = claim,
            .published = std::move(published),
            .ours = std::move(ours),
            .spread = "exact",
            .see = std::string(kExample) + test};
}

Claim table_cells() {
    std::vector<LookaheadJob> queue;
    for (const int size : kSizes) queue.push_back({.processors = size});
    const LookaheadTable table(queue, 5);
    struct Cell {
        std::size_t job;
        std::int32_t capacity, util;
        bool selected;
    };
    // The cells that the source speaks of.
    std::vector<Cell> cells;
    for (std::int32_t j = 0; j <= 5; ++j) cells.push_back({1, j, 0, false});
    for (std::int32_t j = 3; j <= 5; ++j) cells.push_back({2, j, 3, true});
    for (const Cell& cell : {Cell{3, 1, 1, true}, Cell{3, 2, 1, true}, Cell{3, 3, 3, false}, Cell{3, 4, 4, true},
                             Cell{3, 5, 4, true}, Cell{4, 2, 2, true}, Cell{4, 5, 5, true}})
        cells.push_back(cell);
    for (std::int32_t j = 0; j <= 5; ++j) cells.push_back({5, j, table.util(4, j), false});
    const auto equal = std::ranges::count_if(cells, [&](const Cell& cell) {
        return table.util(cell.job, cell.capacity) == cell.util &&
               table.selected(cell.job, cell.capacity) == cell.selected;
    });
    return judged(exact("LOS-1", "the table of the dynamic program: cells named in the source",
                        std::to_string(cells.size()) + " cells", std::to_string(equal) + " of them equal",
                        "TableIsTheSourcesCellByCell"),
                  equal == std::ssize(cells));
}

/// What a policy decides in the example.
Plan example_plan(Policy& policy) {
    const Time t{seconds{25}};
    ZoneState zone({.processors = 10});
    const auto apply = [&](const ZoneEvent& event) { ZBS_EXPECTS(zone.apply(t, event).has_value()); };
    apply(JobSubmitted{{.id = JobId{9}, .submit = t, .walltime = seconds{3}, .processors = 5}});
    apply(JobStarted{JobId{9}});
    for (std::size_t i = 0; i < kSizes.size(); ++i)
        apply(JobSubmitted{{.id = JobId{static_cast<std::int64_t>(i) + 1},
                            .submit = t,
                            .walltime = seconds{3},
                            .processors = kSizes[i]}});
    return policy.plan(zone.snapshot());
}

std::string started(const Plan& plan) {
    std::string jobs;
    int processors = 0;
    for (const JobId id : plan.starts) {
        jobs += (jobs.empty() ? "" : " ") + std::to_string(id.value);
        processors += kSizes[static_cast<std::size_t>(id.value) - 1];
    }
    return "jobs " + jobs + ": " + std::to_string(processors) + " processors";
}

// -- Policies on generated workloads ---------------------------------------------------------------------------------

/// Passes everything on and remembers the first promise to each job.
class Watched final : public Policy {
  public:
    explicit Watched(std::unique_ptr<Policy> policy) : policy_(std::move(policy)) {}
    using Policy::plan;
    void plan(const ZoneSnapshot& zone, Plan& plan) override {
        policy_->plan(zone, plan);
        for (const Reservation& promise : plan.reservations) first_promise_.try_emplace(promise.id.value, promise.at);
    }
    Result<void> serves(std::int32_t processors) const override { return policy_->serves(processors); }
    const std::unordered_map<std::int64_t, Time>& first_promises() const { return first_promise_; }

  private:
    std::unique_ptr<Policy> policy_;
    std::unordered_map<std::int64_t, Time> first_promise_;
};

struct Found {
    Samples wait_s, slowdown, utilization, short_wait_s;
    double promised = 0, late = 0, most_late_s = 0;  ///< over all seeds; jobs that start after their first promise
    double overtaken = 0;                            ///< jobs that start before one that came earlier
    double unwaited = 0, jobs = 0;                   ///< jobs that start at once, and all, over all seeds
};

struct Named {
    const char* name;
    const char* policy;
    PolicyOptions options;
};
const std::vector<Named>& policies_compared() {
    static const std::vector<Named> named{{"FCFS", "fcfs", {}},
                                          {"EASY", "easy", {}},
                                          {"conservative", "conservative", {}},
                                          {"LOS", "los", {}},
                                          {"LOS, all jobs", "los", {{"lookahead", "100000"}}},
                                          {"dynamic", "dynamic", {}},
                                          {"slack", "slack", {}},
                                          {"selective", "selective", {}},
                                          {"multiple queues", "multiqueue", {}}};
    return named;
}

void enter(const Workload& workload, const Named& named, Found& found) {
    Watched policy(make_policy(named.policy, named.options).value());
    const SimulationOutcome outcome = simulate(workload, policy, {}).value();
    const ScheduleMetrics metrics =
        schedule_metrics(workload, {.start = outcome.start, .end = outcome.end, .processors = outcome.processors});
    found.wait_s.push_back(metrics.all.wait_s.mean);
    found.slowdown.push_back(metrics.all.bounded_slowdown.mean);
    found.utilization.push_back(100 * metrics.utilization);
    double short_wait = 0, short_jobs = 0;
    Time latest{};
    for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
        ++found.jobs;
        found.unwaited += outcome.start[i] == workload.jobs[i].job.submit ? 1 : 0;
        found.overtaken += outcome.start[i] < latest ? 1 : 0;
        latest = std::max(latest, outcome.start[i]);
        if (workload.jobs[i].runtime <= std::chrono::hours{1}) {
            short_wait += to_seconds(outcome.start[i] - workload.jobs[i].job.submit);
            ++short_jobs;
        }
        const auto promise = policy.first_promises().find(static_cast<std::int64_t>(i));
        if (promise == policy.first_promises().end()) continue;
        ++found.promised;
        const double late_s = to_seconds(outcome.start[i] - promise->second);
        found.late += late_s > 0 ? 1 : 0;
        found.most_late_s = std::max(found.most_late_s, late_s);
    }
    found.short_wait_s.push_back(short_wait / std::max(1.0, short_jobs));
}

using AllFound = std::map<std::string, Found>;

AllFound compare(const Effort& effort) {
    AllFound found;
    for (int seed = 1; seed <= effort.seeds; ++seed) {
        const Workload workload = generate(LublinWorkload{.common = {.jobs = effort.scaled(3000, 200),
                                                                     .processors = 128,
                                                                     .seed = static_cast<std::uint64_t>(seed)}})
                                      .value();
        for (const Named& named : policies_compared()) enter(workload, named, found[named.name]);
    }
    return found;
}

Claim drawn(const char* id, const char* claim, std::string published, std::string ours, std::string spread,
            const char* see = "") {
    return {.id = id,
            .source = "ShmueliFeitelson2005, section 2 (slides)",
            .claim = claim,
            .published = std::move(published),
            .ours = std::move(ours),
            .spread = std::move(spread),
            .see = see};
}

/// "name mean" for each, and the deviations.
std::pair<std::string, std::string> listed(const AllFound& found, Samples Found::*of,
                                           std::initializer_list<const char*> names, int decimals = 1) {
    std::string means, deviations;
    for (const char* name : names) {
        means += std::string(means.empty() ? "" : ", ") + name + " " + number(mean(found.at(name).*of), decimals);
        deviations += std::string(deviations.empty() ? "" : ", ") + number(deviation(found.at(name).*of), decimals);
    }
    return {means, deviations};
}

std::string lateness(const AllFound& found, std::initializer_list<const char*> names) {
    std::string text;
    for (const char* name : names) {
        const Found& of = found.at(name);
        text +=
            std::string(text.empty() ? "" : "; ") + name + " " + number(of.late, 0) + " of " + number(of.promised, 0);
        if (of.late > 0) text += ", at most " + number(of.most_late_s, 0) + " s";
    }
    return text;
}

}  // namespace

Part shmueli_example(const Effort&) {
    Los los({.lookahead = 50});
    DepthBackfill in_order(0, BackfillOrder::kArrival);
    const Plan with_reservation = example_plan(los);
    const std::string ours = started(with_reservation), scan = started(example_plan(in_order));
    const bool reserved = with_reservation.reservations == std::vector<Reservation>{{JobId{1}, Time{seconds{28}}}};
    Part part;
    part.claims = {
        table_cells(),
        judged(exact("LOS-2", "the set that LOS starts, and the one that backfilling in order of arrival starts",
                     "jobs 2 4: 5 processors; jobs 2 3: 4 processors", ours + "; " + scan, "PicksJobs2And4"),
               {ours == "jobs 2 4: 5 processors", scan == "jobs 2 3: 4 processors"}),
        judged(exact("LOS-3", "shadow time of the head (7 processors), and the set that is safe beside it",
                     "28; jobs 2 4", (reserved ? "28" : "another reservation") + std::string("; ") + ours,
                     "ShadowIs28AndTheFullestSetIsSafe"),
               {reserved, ours == "jobs 2 4: 5 processors"})};
    return part;
}

Part shmueli_policies(const Effort& effort) {
    const AllFound found = compare(effort);
    const Found &fcfs = found.at("FCFS"), &easy = found.at("EASY"), &los = found.at("LOS");
    Part part;
    const auto add = [&part](Claim claim, const Conditions& conditions, std::string_view remark = {},
                             const Reason& reason = {}) {
        part.claims.push_back(judged(std::move(claim), conditions, remark, reason));
    };

    add(drawn("LOS-4", "FCFS keeps the strict order: jobs that overtake", "none",
              number(fcfs.overtaken, 0) + " under FCFS, " + number(easy.overtaken, 0) + " under EASY", "0"),
        {fcfs.overtaken == 0, easy.overtaken > 0});
    const auto used = listed(found, &Found::utilization, {"FCFS", "EASY", "conservative", "LOS"});
    add(drawn("LOS-5", "FCFS: poor utilization (per cent, of the same jobs)", "poor", used.first, used.second),
        {clearly_more(easy.utilization, fcfs.utilization), clearly_more(los.utilization, fcfs.utilization)});
    add(drawn("LOS-6", "a reservation is never passed: jobs that start after their first promise",
              "none (EASY: heads; conservative: all jobs; LOS: heads)",
              lateness(found, {"EASY", "conservative", "LOS", "selective"}), "0", kPromises),
        {easy.late == 0, found.at("conservative").late == 0, los.late == 0, found.at("selective").late == 0});
    add(drawn("LOS-7", "conservative backfilling: a reservation for every queued job", "every job",
              number(found.at("conservative").promised, 0) + " first promises, EASY " + number(easy.promised, 0), "0"),
        found.at("conservative").promised > easy.promised, "jobs that start at once need none; EASY's heads only");
    add(drawn("LOS-8", "dynamic and slack-based: a job is delayed within its bound only",
              "within 10 min; within the slack of one walltime", lateness(found, {"dynamic", "slack"}), "0", kPromises),
        found.at("dynamic").most_late_s <= 600,
        "dynamic: the bound is checked here; slack: by the property test, for it differs from job to job");
    const auto waits = listed(found, &Found::wait_s, {"EASY", "dynamic"}, 0);
    add(drawn("LOS-9", "dynamic: a slight delay of the head improves utilization considerably (mean wait, s)",
              "improves",
              waits.first + "; utilization " + listed(found, &Found::utilization, {"EASY", "dynamic"}).first,
              waits.second),
        clearly_more(easy.wait_s, found.at("dynamic").wait_s), "in wait; the makespan follows the last arrivals");
    const auto slowdowns = listed(found, &Found::slowdown, {"EASY", "LOS", "LOS, all jobs"}, 2);
    add(drawn("LOS-10", "LOS packs better than EASY (mean bounded slowdown; mean wait, s)", "better",
              slowdowns.first + "; " + listed(found, &Found::wait_s, {"EASY", "LOS"}, 0).first, slowdowns.second),
        clearly_more(easy.slowdown, los.slowdown) || clearly_more(easy.wait_s, los.wait_s));
    const Samples limited = ratio(los.slowdown, found.at("LOS, all jobs").slowdown);
    add(drawn("LOS-11", "a lookahead of 50 jobs gives almost all of the gain (slowdown over that with all jobs)",
              "about 1", number(mean(limited), 3), number(deviation(limited), 3)),
        mean(limited) <= 1.05, "within 5 %");
    const auto short_waits = listed(found, &Found::short_wait_s, {"FCFS", "multiple queues"}, 0);
    add(drawn("LOS-12", "multiple queues: short jobs do not queue behind long ones (wait of jobs up to 1 h, s)",
              "shorter than under FCFS", short_waits.first, short_waits.second),
        clearly_more(fcfs.short_wait_s, found.at("multiple queues").short_wait_s));
    add(drawn("LOS-13", "selective: slowdown = (wait + run) / wait", "(wait + run) / wait",
              number(easy.unwaited, 0) + " of " + number(easy.jobs, 0) +
                  " jobs under EASY do not wait: theirs is infinite",
              "exact", "tests/unit/policy/schedule_test.cpp#SelectiveSchedule.WideJobGetsItsReservationAfterAWhile"),
        easy.unwaited == 0, "",
        {.name = "jobs that do not wait",
         .statement = "a slip of the slides: the standard form, and ours, is (wait + run) / run",
         .evaluate =
             [&] {
                 return Evidence{number(easy.unwaited, 0) + " quotients by 0", easy.unwaited > 0};
             },
         .verdict = Verdict::kContested});
    return part;
}

}  // namespace zbs::claims
