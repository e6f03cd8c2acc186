#include "algorithms/policy/scojo.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "algorithms/base/rng.hpp"
#include "algorithms/policy/registry.hpp"
#include "algorithms/sim/shared_machine.hpp"
#include "algorithms/sim/workload_simulation.hpp"
#include "tests/support/zones.hpp"

namespace zbs {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

Time at_second(double seconds) { return Time{seconds_to_duration(seconds)}; }

TEST(ScojoEstimator, EffectiveShareIsTheRequestTimesTheSlowdown) {
    EXPECT_EQ(Scojo::default_share(3), 33);
    EXPECT_DOUBLE_EQ(Scojo::effective_share(40, 1.2), 48);  // T1
}

TEST(ScojoEstimator, MeasuredPairs) {
    const CoschedulingModel model = CoschedulingModel::by_application();
    const auto program = [](std::string_view name) {
        const auto names = CoschedulingModel::application_names();
        return static_cast<std::int32_t>(std::ranges::find(names, name) - names.begin());
    };
    const auto slow = [&](const char* victim, const char* partner) {
        return model.slowdown(program(victim), std::vector<std::int32_t>{program(partner)});
    };
    EXPECT_EQ(slow("grid-1200", "central"), 1.1);  // T1
    EXPECT_EQ(slow("central", "grid-1200"), 1.7);
    EXPECT_EQ(slow("grid-1200", "grid-2400"), 1.4);
    EXPECT_EQ(slow("stream", "stream"), 0.8);
    EXPECT_EQ(slow("central", "grid-2400"), 3.1);
    EXPECT_EQ(slow("grid-2400", "central"), 1.0);
    EXPECT_EQ(slow("random", "stream"), 1.8);
    EXPECT_EQ(slow("stream", "random"), 0.9);
    EXPECT_EQ(model.worst(std::vector<std::int32_t>{program("central"), program("grid-2400")}), 3.1);
    EXPECT_EQ(model.slowdown(0, {}), 1);
}

TEST(ScojoEstimator, ByCount) {
    const CoschedulingModel model = CoschedulingModel::by_count({1.0, 1.2, 1.3});
    EXPECT_EQ(model.slowdown(-1, std::vector<std::int32_t>(0)), 1.0);
    EXPECT_EQ(model.slowdown(-1, std::vector<std::int32_t>(1)), 1.2);
    EXPECT_EQ(model.slowdown(-1, std::vector<std::int32_t>(2)), 1.3);
    EXPECT_EQ(model.slowdown(-1, std::vector<std::int32_t>(7)), 1.3);
}

TEST(SharedMachine, JobsRunAtTheirRates) {
    SharedMachine machine;
    machine.add(1, 10s);
    machine.add(2, 30s);
    machine.set_rates(at_second(0), std::vector<SharedMachine::Rate>{{1, 0.5}, {2, 0.25}});
    EXPECT_EQ(machine.next_end(), at_second(20));
    EXPECT_EQ(machine.pop_end(), 1u);
    machine.set_rates(at_second(20), std::vector<SharedMachine::Rate>{{2, 1}});
    EXPECT_EQ(machine.next_end(), at_second(45));  // 5 of 30 s done
    machine.set_rates(at_second(25), {});
    EXPECT_EQ(machine.next_end(), kNever);
}

// Example of the thesis [Huang2004, table 5-1]: seconds after the first submission minus 1 for it.
struct Row {
    int submit, runtime, least, most;
};
constexpr Row kTable51[] = {{0, 300, 40, 40},  {30, 60, 40, 40},  {60, 60, 20, 40},   {90, 10, 20, 20},
                            {120, 10, 20, 20}, {150, 10, 40, 40}, {180, 30, 20, 40},  {210, 10, 20, 40},
                            {240, 30, 20, 40}, {270, 10, 20, 40}, {850, 300, 40, 40}, {880, 60, 40, 40}};

Workload table_5_1() {
    Workload jobs{.name = "table 5-1", .processors = 12, .jobs = {}};
    for (const Row& row : kTable51) {
        Job job{.id = JobId{static_cast<std::int64_t>(jobs.jobs.size()) + 1},
                .submit = at_second(row.submit),
                .walltime = std::chrono::seconds{row.runtime},
                .processors = 12,
                .least_share = static_cast<std::int8_t>(row.least),
                .most_share = static_cast<std::int8_t>(row.most)};
        if (job.id.value == 11) job.start_at = at_second(861);
        jobs.jobs.push_back({job, std::chrono::seconds{row.runtime}});
    }
    return jobs;
}

std::vector<int> order_of_starts(const SimulationOutcome& outcome) {
    std::vector<int> order;
    for (std::size_t i = 0; i < outcome.start.size(); ++i) order.push_back(static_cast<int>(i) + 1);
    std::ranges::stable_sort(order, {}, [&](int job) { return outcome.start[static_cast<std::size_t>(job) - 1]; });
    return order;
}

TEST(ScojoTable51, StartsInThePublishedOrderAndNeverMoreThanThree) {  // T9
    const Workload jobs = table_5_1();
    const Result<SimulationOutcome> outcome = simulate(jobs, **make_policy("scojo"), {});
    ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
    EXPECT_THAT(order_of_starts(*outcome), ElementsAre(1, 2, 3, 4, 5, 6, 8, 10, 7, 9, 11, 12));
    for (const Time start : outcome->start) {
        int running = 0;
        for (std::size_t i = 0; i < jobs.jobs.size(); ++i)
            running += outcome->start[i] <= start && start < outcome->end[i] ? 1 : 0;
        EXPECT_LE(running, 3);
    }
    for (const int at_once : {1, 2, 3, 12})
        EXPECT_EQ(outcome->start[static_cast<std::size_t>(at_once) - 1],
                  jobs.jobs[static_cast<std::size_t>(at_once) - 1].job.submit)
            << "job " << at_once;
}

TEST(ScojoTable51, ReservedStartIsKept) {  // T10: the thesis comes 7 s late
    const Result<SimulationOutcome> outcome = simulate(table_5_1(), **make_policy("scojo"), {});
    ASSERT_TRUE(outcome.has_value());
    EXPECT_EQ(outcome->start[10], at_second(861));
}

/// The printed start times and shares under our rate law: how long the printed jobs take.
TEST(ScojoTable51, RateLawGivesThePrintedExecutionTimes) {  // T9
    struct Printed {
        std::uint32_t job;
        int start, finish;
        bool promoted;  ///< 20 % become 40 % when a senior job has left
    };
    // Jobs 1 and 9 do not follow the law in print; they hold their shares here while they are there.
    const std::vector<Printed> rows{
        {1, 1, 868, false},   {2, 31, 224, false}, {3, 61, 443, false}, {4, 224, 290, false}, {5, 290, 355, false},
        {6, 443, 476, false}, {7, 492, 603, true}, {8, 443, 492, true}, {9, 517, 746, true},  {10, 476, 517, true}};
    const CoschedulingModel model = CoschedulingModel::by_count({1.0, 1.2, 1.3});
    std::vector<double> work(13, 0);
    for (int t = 0; t < 868; ++t) {
        std::vector<const Printed*> running;
        for (const Printed& row : rows)
            if (row.start <= t && t < row.finish) running.push_back(&row);
        std::ranges::stable_sort(running, {}, [](const Printed* row) { return row->start; });
        for (std::size_t place = 0; place < running.size(); ++place) {
            const Row& asked = kTable51[running[place]->job - 1];
            double share = place == 2 || !running[place]->promoted ? asked.least : asked.most;
            if (running.size() == 1) share = 100;
            work[running[place]->job] +=
                share / 100 / model.slowdown(-1, std::vector<std::int32_t>(running.size() - 1, -1));
        }
    }
    for (const std::uint32_t job : {2u, 3u, 4u, 5u, 6u, 7u, 8u, 10u})
        EXPECT_NEAR(work[job], kTable51[job - 1].runtime, 0.4) << "job " << job;
    EXPECT_NEAR(work[9], 60.9, 0.3) << "twice the printed run time of 30 s: the known exception";
}

TEST(ScojoSchedule, JobAloneHasEverything) {
    Workload jobs = test::workload(4, {{0, 4, 100}, {50, 4, 100}});
    for (WorkloadJob& job : jobs.jobs) job.job.least_share = 40;
    const Result<SimulationOutcome> outcome = simulate(jobs, **make_policy("scojo", {{"level", "2"}}), {});
    ASSERT_TRUE(outcome.has_value());
    // 50 s alone; then 0.4 / 1.2 of a second each: job 1's other 50 s take 150 s; job 2 has 50 s left and is alone.
    EXPECT_EQ(outcome->end[0], at_second(200));
    EXPECT_EQ(outcome->end[1], at_second(250));
}

TEST(ScojoSchedule, ExpandingSharesOutWhatIsLeft) {
    Workload jobs = test::workload(4, {{0, 4, 60}, {0, 4, 60}});
    for (WorkloadJob& job : jobs.jobs) job.job.least_share = 40;
    const auto end = [&](const char* expand) {
        const auto outcome = simulate(jobs, **make_policy("scojo", {{"level", "2"}, {"expand", expand}}), {});
        return outcome->end[1];
    };
    EXPECT_EQ(end("alone"), at_second(180));  // 40 % / 1.2
    EXPECT_EQ(end("all"), at_second(144));    // 50 % / 1.2
}

TEST(ScojoSchedule, PartnersThatHurtAreNotCoscheduled) {
    Workload jobs = test::workload(4, {{0, 4, 100}, {0, 4, 100}});
    jobs.jobs[0].job.application = 3;  // central suffers 3.1 beside grid-2400
    jobs.jobs[1].job.application = 2;
    const SimulationOptions truth{.coscheduling = CoschedulingModel::by_application()};
    const auto start = [&](const char* worst) {
        const auto outcome = simulate(
            jobs, **make_policy("scojo", {{"level", "2"}, {"estimator", "application"}, {"worst-slowdown", worst}}),
            truth);
        return outcome->start[1];
    };
    EXPECT_EQ(start("2"), at_second(100));
    EXPECT_EQ(start("4"), at_second(0));
}

TEST(ScojoSchedule, JobsOfTheLowestClassAreKeptApartWhereAsked) {
    const Workload jobs = test::workload(4, {{0, 4, 100}, {0, 4, 100}, {1, 4, 10}});
    const auto starts = [&](const char* longest) {
        return simulate(jobs, **make_policy("scojo", {{"level", "2"}, {"longest-together", longest}}), {})->start;
    };
    EXPECT_THAT(starts("0"), ElementsAre(at_second(0), at_second(0), at_second(240)));
    // The short job takes the second place; the other long one starts when the first has ended.
    EXPECT_THAT(starts("1"), ElementsAre(at_second(0), at_second(114), at_second(1)));
}

TEST(ScojoSchedule, ShorterClassesGoFirstAndAgeLiftsTheOthers) {
    // A long job holds the machine alone; then a long job that came first and short ones that keep coming.
    Workload jobs = test::workload(4, {{0, 4, 100}, {1, 4, 200}});
    for (int i = 0; i < 30; ++i) {
        jobs.jobs.push_back(test::workload(4, {{90 + 8 * i, 4, 10}}).jobs[0]);
        jobs.jobs.back().job.id = JobId{i + 3};
    }
    const auto start = [&](const char* age) {
        const auto outcome = simulate(jobs, **make_policy("scojo", {{"level", "1"}, {"age", age}}), {});
        return outcome->start[1];
    };
    EXPECT_EQ(start("0"), at_second(400));
    EXPECT_LT(start("60s"), at_second(250));
}

TEST(ScojoReservations, AreKeptWhereJobsAreSlowedDownMoreThanExpected) {
    // Both jobs still run at 200 s, because they hurt each other three times as much as the estimator knows.
    Workload jobs = test::workload(4, {{0, 4, 80}, {0, 4, 80}, {1, 4, 10}});
    for (WorkloadJob& job : jobs.jobs) job.job.least_share = job.job.most_share = 40;
    jobs.jobs[2].job.start_at = at_second(200);
    const auto outcome =
        simulate(jobs, **make_policy("scojo", {{"level", "2"}, {"factors", "1"}, {"worst-slowdown", "1"}}),
                 {.coscheduling = CoschedulingModel::by_count({1, 3})});
    ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
    EXPECT_GT(outcome->end[1], at_second(200));
    EXPECT_EQ(outcome->start[2], at_second(200));
}

TEST(ScojoReservations, NoneThatWasPromisedIsMissed) {  // T10
    std::size_t kept = 0, as_wished = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE(seed);
        Rng rng(seed);
        Workload jobs = test::random_workload({.seed = seed, .jobs = 40, .longest = 60, .gap = 60});
        for (WorkloadJob& job : jobs.jobs) {
            job.job.least_share = static_cast<std::int8_t>(20 + 10 * rng.below(4));
            job.job.most_share = static_cast<std::int8_t>(job.job.least_share + 10 * static_cast<int>(rng.below(3)));
            if (rng.below(4) == 0) job.job.start_at = job.job.submit + std::chrono::seconds{rng.below(400)};
        }
        class Watch final : public Policy {
          public:
            using Policy::plan;
            void plan(const ZoneSnapshot& zone, Plan& plan) override {
                scojo.plan(zone, plan);
                for (const Reservation& made : plan.reservations) {
                    const auto [known, is_new] = promised.emplace(made.id, made.at);
                    EXPECT_TRUE(is_new || made.at <= known->second) << "job " << made.id << " moves back";
                    known->second = made.at;
                }
            }
            ZoneState::Sharing sharing() const override { return scojo.sharing(); }
            Scojo scojo{{.level = 3}};
            std::map<JobId, Time> promised;
        } watch;
        const Result<SimulationOutcome> outcome = simulate(jobs, watch, {});
        ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
        for (const auto& [id, promise] : watch.promised) {
            const std::size_t place = static_cast<std::size_t>(id.value);
            EXPECT_LE(outcome->start[place], promise) << "job " << jobs.jobs[place].job.id;
            ++kept;
            as_wished += outcome->start[place] == jobs.jobs[place].job.start_at ? 1u : 0u;
        }
        if (HasFailure()) return;
    }
    EXPECT_GT(kept, 1'000u);
    EXPECT_GT(as_wished, kept / 4) << "hardly any wish is met: the promises say nothing";
}

}  // namespace
}  // namespace zbs
