#include "algorithms/policy/adaptive_scojo.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "algorithms/policy/registry.hpp"
#include "algorithms/sim/workload_generators.hpp"
#include "algorithms/sim/workload_simulation.hpp"
#include "tests/support/diagram_text.hpp"
#include "tests/support/zones.hpp"

namespace zbs {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr SizeRange kRange{8, 16, 32};  // of a job that asks for 16 of 64

TEST(Speedup, KnotsAndStraightLinesBetween) {  // T2
    EXPECT_DOUBLE_EQ(speedup(kRange, 8), 6.4);
    EXPECT_DOUBLE_EQ(speedup(kRange, 12), 8.4);
    EXPECT_DOUBLE_EQ(speedup(kRange, 16), 10.4);
    EXPECT_DOUBLE_EQ(speedup(kRange, 24), 13.2);
    EXPECT_DOUBLE_EQ(speedup(kRange, 32), 16);
    EXPECT_NEAR(1 / relative_speed(kRange, 12), 1.238, 5e-4);
}

TEST(AdaptiveScojoSizes, NewJobsStartOneStepFromTheBestSize) {  // T3
    EXPECT_EQ(target_size(kRange, Load::kHigh), 12);
    EXPECT_EQ(target_size(kRange, Load::kNormal), 16);
    EXPECT_EQ(target_size(kRange, Load::kLow), 24);
    for (const Load load : {Load::kLow, Load::kNormal, Load::kHigh}) EXPECT_EQ(target_size({16, 16, 16}, load), 16);
}

TEST(AdaptiveScojoSizes, StepsReachTheEnds) {  // T3
    std::vector<std::int32_t> down{16}, up{16};
    for (int step = 0; step < 6; ++step) {
        down.push_back(shrunk(kRange, down.back()));
        up.push_back(expanded(kRange, up.back()));
    }
    EXPECT_THAT(down, ElementsAre(16, 12, 10, 9, 8, 8, 8));
    EXPECT_THAT(up, ElementsAre(16, 24, 28, 30, 31, 32, 32));
}

TEST(AdaptiveScojoLoad, NeedsBeyondAllRowsAreHighAndBelowOneRowLow) {  // T4
    EXPECT_EQ(classify_load({.needed = 129}, 64, 2), Load::kHigh);
    EXPECT_EQ(classify_load({.needed = 128}, 64, 2), Load::kNormal);
    EXPECT_EQ(classify_load({.needed = 40, .growth = 23}, 64, 2), Load::kLow);
    EXPECT_EQ(classify_load({.needed = 40, .growth = 24}, 64, 2), Load::kNormal);
}

TEST(AdaptiveScojoFill, MoldableNewcomersFirstThenMalleableOnesThatAreNotLong) {
    std::vector<Newcomer> jobs{{Flexibility::kRigid, false, {4, 4, 4}, 4},
                               {Flexibility::kMalleable, true, {4, 8, 16}, 6},
                               {Flexibility::kMalleable, false, {4, 8, 16}, 6},
                               {Flexibility::kMoldable, false, {2, 4, 8}, 3}};
    EXPECT_EQ(fill_row(jobs, 10), 0);
    EXPECT_THAT((std::vector{jobs[0].size, jobs[1].size, jobs[2].size, jobs[3].size}), ElementsAre(4, 6, 11, 8));
    EXPECT_EQ(fill_row(jobs, 10), 5);
}

TEST(AdaptiveScojoSlices, PeriodIsTheSameForAnyNumberOfRows) {  // T6
    const auto length = [](int rows) { return to_seconds(AdaptiveScojo::slice_length(2s, 5, rows)); };
    EXPECT_EQ(length(5), 2);
    EXPECT_EQ(length(4), 2.5);
    EXPECT_NEAR(length(3), 3.333333, 1e-6);
    EXPECT_EQ(length(2), 5);
    EXPECT_EQ(length(1), 10);
}

/// A zone whose plans are carried out at once.
class Desk {
  public:
    Desk(std::int32_t processors, const PolicyOptions& options)
        : policy_(std::move(*make_policy("adaptive-scojo", options))),
          zone_({.processors = processors, .sharing = ZoneState::Sharing::kTime}) {}

    Desk& submit(int id, std::int32_t processors, Duration walltime, Flexibility flexibility = Flexibility::kRigid) {
        take(JobSubmitted{
            {.id = JobId{id}, .walltime = walltime, .processors = processors, .flexibility = flexibility}});
        return *this;
    }
    Desk& end(int id) {
        take(JobEnded{JobId{id}});
        return *this;
    }
    Desk& at(Duration since_begin) {
        now_ = Time{} + since_begin;
        return *this;
    }
    /// Plans, and carries it out.
    Plan act() {
        take(ClockAdvanced{});
        Plan plan = policy_->plan(zone_.snapshot());
        zone_.changes_planned();
        for (const Resize& resize : plan.resizes) take(JobResized{resize.id, resize.processors});
        for (const JobId id : plan.starts) take(JobStarted{id});
        if (plan.diagram) take(DiagramChanged{plan.diagram});
        if (plan.load) take(LoadFound{*plan.load});
        return plan;
    }
    std::string matrix() const { return test::text(*zone_.snapshot().diagram); }
    std::int32_t size(int id) const { return zone_.find(JobId{id})->allocated; }

  private:
    void take(const ZoneEvent& event) {
        const Result<void> taken = zone_.apply(now_, event);
        ASSERT_TRUE(taken.has_value()) << taken.error().message;
    }

    std::unique_ptr<Policy> policy_;
    ZoneState zone_;
    Time now_{};
};
const PolicyOptions kGang{{"strategy", "pri-eb"}};

TEST(AdaptiveScojoMatrix, JobIsNeverSplitOverRows) {  // T5, figure 6-2
    Desk desk(10, kGang);
    desk.submit(0, 8, 1h).submit(1, 4, 1h).act();
    EXPECT_EQ(desk.matrix(), "0 0 0 0 0 0 0 0 . .\n1 1 1 1 . . . . . .\n");
}

TEST(AdaptiveScojoMatrix, JobTakesSlotsThatAreNotNextToEachOther) {  // T5, figure 6-9
    Desk desk(10, {{"strategy", "pri-eb"}, {"level", "2"}});
    desk.submit(0, 6, 1h).submit(1, 4, 1h).submit(2, 2, 1h).submit(3, 6, 1h).act();
    EXPECT_EQ(desk.matrix(), "0 0 0 0 0 0 1 1 1 1\n2 2 3 3 3 3 3 3 . .\n");
    desk.end(2).submit(4, 4, 1h).act();
    EXPECT_EQ(desk.matrix(), "0 0 0 0 0 0 1 1 1 1\n4 4 3 3 3 3 3 3 4 4\n");
}

TEST(AdaptiveScojoMatrix, IdleSlotsAreFragmentation) {  // T5, figure 6-10
    Desk desk(5, kGang);
    desk.submit(0, 2, 1h).submit(1, 2, 1h).submit(2, 3, 1h).submit(3, 4, 1h);
    const Plan plan = desk.act();
    EXPECT_EQ(desk.matrix(), "0 0 1 1 .\n2 2 2 . .\n3 3 3 3 .\n");
    EXPECT_EQ(plan.diagram->idle_slots(), 4);
    EXPECT_EQ(plan.diagram->slot_count(), 15);
    EXPECT_NEAR(to_seconds(plan.slice), 10.0 / 3, 1e-6);
}

TEST(AdaptiveScojoMatrix, RowThatIsEmptyGoes) {
    Desk desk(4, kGang);
    desk.submit(0, 4, 1h).submit(1, 4, 1h).act();
    EXPECT_EQ(desk.end(0).act().slice, 10s);
    EXPECT_EQ(desk.matrix(), "1 1 1 1\n");
}

TEST(AdaptiveScojo, MalleableJobGrowsWhileLoadIsLowAtMostOnceInFiveMinutes) {
    Desk desk(64, {{"fill", "false"}});
    EXPECT_EQ(desk.submit(1, 16, 2h, Flexibility::kMalleable).act().load, Load::kLow);
    EXPECT_EQ(desk.size(1), 24);
    EXPECT_EQ(desk.at(299s).act().load, std::nullopt);
    EXPECT_EQ(desk.size(1), 24);
    EXPECT_EQ(desk.at(300s).act().load, Load::kLow);
    EXPECT_EQ(desk.size(1), 28);
}

TEST(AdaptiveScojo, MalleableJobShrinksWhileLoadIsHighAndOthersDoNot) {
    Desk desk(32, {{"fill", "false"}, {"level", "1"}});
    desk.submit(1, 16, 2h, Flexibility::kMalleable).submit(2, 8, 2h, Flexibility::kMoldable).submit(3, 8, 2h);
    EXPECT_EQ(desk.act().load, Load::kNormal);
    desk.submit(4, 32, 2h);
    EXPECT_EQ(desk.at(5min).act().load, Load::kHigh);
    EXPECT_THAT((std::vector{desk.size(1), desk.size(2), desk.size(3)}), ElementsAre(12, 8, 8));
    EXPECT_EQ(desk.matrix(), "1 1 1 1 1 1 1 1 1 1 1 1 . . . . 2 2 2 2 2 2 2 2 3 3 3 3 3 3 3 3\n");
}

TEST(AdaptiveScojo, VeryShortJobsDoNotCountInTheLoad) {  // T4
    Desk desk(32, {{"level", "1"}});
    desk.submit(1, 32, 299s).submit(2, 32, 299s).submit(3, 32, 299s);
    EXPECT_EQ(desk.act().load, Load::kLow);
}

TEST(AdaptiveScojo, ExpansionTakesWhatIsIdleInTheRow) {
    Desk desk(32, {{"fill", "false"}, {"level", "1"}});
    desk.submit(1, 8, 2h, Flexibility::kMalleable).submit(2, 18, 200s).act();
    EXPECT_EQ(desk.size(1), 12);  // low load: 8 is the best size, 16 the most
    desk.at(5min).act();
    EXPECT_EQ(desk.size(1), 14);
}

TEST(AdaptiveScojoBackfill, ConservativeDelaysNobodyAheadAndAggressiveAsksNobody) {
    // 6 of 10 are held for an hour; job 2 could start then. Job 3 would hold 4 of its 8 too long, job 4 not.
    const auto starts = [](const std::string& backfill) {
        Desk desk(10, {{"level", "1"}, {"adapt", "false"}, {"backfill", backfill}, {"order", "fcfs"}});
        desk.submit(1, 6, 1h).act();
        return desk.submit(2, 8, 1h).submit(3, 4, 2h).submit(4, 2, 2h).submit(5, 2, 30min).act().starts;
    };
    EXPECT_THAT(starts("none"), ElementsAre());
    EXPECT_THAT(starts("conservative"), ElementsAre(JobId{4}, JobId{5}));
    EXPECT_THAT(starts("easy"), ElementsAre(JobId{4}, JobId{5}));
    EXPECT_THAT(starts("aggressive"), ElementsAre(JobId{3}));
}

TEST(AdaptiveScojoBackfill, ConservativeMindsAllAheadAndEasyTheFirst) {
    // Jobs 1 and 2 leave after 1 and 2 h. Job 3 starts then, job 4 at 1 h on the 7 of then, if job 5 lets it.
    const auto starts = [](const std::string& backfill) {
        Desk desk(10, {{"level", "1"}, {"adapt", "false"}, {"backfill", backfill}, {"order", "fcfs"}});
        desk.submit(1, 4, 1h).submit(2, 3, 2h).act();
        return desk.submit(3, 8, 1h).submit(4, 5, 1h).submit(5, 3, 90min).act().starts;
    };
    EXPECT_THAT(starts("conservative"), ElementsAre());
    EXPECT_THAT(starts("easy"), ElementsAre(JobId{5}));
}

TEST(AdaptiveScojoBackfill, LookaheadIsHowManyAreProtected) {
    const auto starts = [](const std::string& lookahead) {
        Desk desk(10, {{"level", "1"}, {"adapt", "false"}, {"order", "fcfs"}, {"lookahead", lookahead}});
        desk.submit(1, 4, 1h).submit(2, 3, 2h).act();
        return desk.submit(3, 8, 1h).submit(4, 5, 1h).submit(5, 3, 90min).submit(6, 3, 9h).act().starts;
    };
    EXPECT_THAT(starts("2"), ElementsAre());          // nobody may delay job 4 (job 6 would)
    EXPECT_THAT(starts("1"), ElementsAre(JobId{5}));  // job 5 delays job 4, but not job 3
    EXPECT_THAT(starts("50"), ElementsAre());
    EXPECT_THAT(starts("0"), ElementsAre(JobId{5}));  // in the order of the queue
}

TEST(AdaptiveScojoBackfill, WorkOfAPlanGrowsWithTheSquareOfPromisesAndElseWithTheQueue) {  // T25
    const auto work = [](AdaptiveScojo::Backfill backfill, std::size_t lookahead, int jobs) {
        AdaptiveScojo policy({.backfill = backfill, .level = 1, .lookahead = lookahead});
        ZoneState zone({.processors = 10, .sharing = ZoneState::Sharing::kTime});
        const auto submit = [&zone](int id, std::int32_t processors, Duration walltime) {
            const Job job{.id = JobId{id}, .walltime = walltime, .processors = processors};
            ASSERT_TRUE(zone.apply(Time{}, JobSubmitted{job}).has_value());
        };
        submit(0, 9, 30s);  // of the first class; nobody else fits
        for (int id = 1; id <= jobs; ++id) submit(id, 2 + id % 9, 1min + std::chrono::seconds{37 * id % 1000});
        policy.Policy::plan(zone.snapshot());
        return policy.work();
    };
    using enum AdaptiveScojo::Backfill;
    EXPECT_EQ(work(kAggressive, 50, 100).jobs, 101u);
    EXPECT_EQ(work(kAggressive, 50, 100).steps, 0u);
    EXPECT_GT(work(kConservative, 1000, 400).steps, 8 * work(kConservative, 1000, 100).steps);
    EXPECT_LT(work(kConservative, 10, 400).steps, 5 * work(kConservative, 10, 100).steps);
}

TEST(AdaptiveScojoOrder, ShorterClassesFirstUnlessALongerOneHasAged) {
    const auto first = [](const PolicyOptions& options) {
        Desk desk(4, options);
        desk.submit(1, 4, 2h).act();
        desk.submit(2, 4, 1h).at(90min).submit(3, 4, 1min);
        return desk.end(1).act().starts;
    };
    const PolicyOptions one{{"level", "1"}, {"backfill", "none"}};
    PolicyOptions aged = one;
    aged.emplace_back("age", "30m");
    EXPECT_THAT(first(one), ElementsAre(JobId{3}));
    EXPECT_THAT(first(aged), ElementsAre(JobId{2}));
}

/// Notes when running jobs change their sizes, and holds every size against the rules.
class SizeWatch final : public Policy {
  public:
    explicit SizeWatch(const PolicyOptions& options) : watched_(std::move(*make_policy("adaptive-scojo", options))) {}
    void plan(const ZoneSnapshot& zone, Plan& plan) override {
        watched_->plan(zone, plan);
        std::map<JobId, const JobRecord*> jobs;
        zone.waiting.visit([&](const WaitingJob& job) {
            return jobs[zone.record(job.handle).job.id] = &zone.record(job.handle), true;
        });
        zone.running.visit([&](const RunningJob& job) {
            return jobs[zone.record(job.handle).job.id] = &zone.record(job.handle), true;
        });
        for (const auto& [id, processors] : plan.resizes) {
            const JobRecord& record = *jobs.at(id);
            const SizeRange range = size_range(record.job, zone.processors);
            ASSERT_NE(record.job.flexibility, Flexibility::kRigid);
            ASSERT_GE(processors, range.least);
            ASSERT_LE(processors, range.most);
            if (record.phase == JobPhase::kWaiting) continue;
            ASSERT_EQ(record.job.flexibility, Flexibility::kMalleable);
            const auto [last, first] = changed_.try_emplace(id, zone.now);
            ASSERT_TRUE(first || zone.now - last->second >= 5min) << "job " << id;
            last->second = zone.now;
            ++changes_;
        }
    }
    ZoneState::Sharing sharing() const override { return watched_->sharing(); }
    int changes() const { return changes_; }

  private:
    std::unique_ptr<Policy> watched_;
    std::map<JobId, Time> changed_;
    int changes_ = 0;
};

TEST(AdaptiveScojoRules, SizesStayInRangeAndChangeAtMostOnceInFiveMinutes) {  // T7
    for (const AdaptiveScojo::Strategy& strategy : AdaptiveScojo::strategies()) {
        SCOPED_TRACE(strategy.name);
        int changes = 0;
        for (const double gap_s : {100.0, 600.0}) {  // a queue that grows, and a machine that idles
            const Workload jobs =
                *generate(ScojoWorkload{.common = {.jobs = 300, .processors = 64, .seed = 3}, .mean_gap_s = gap_s});
            SizeWatch policy({{"strategy", std::string(strategy.name)}});
            const Result<SimulationOutcome> outcome = simulate(jobs, policy, {});
            ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
            changes += policy.changes();
        }
        EXPECT_EQ(changes > 0, strategy.adapt);
    }
}

TEST(AdaptiveScojoRules, EveryMixedWorkloadEndsUnderEveryStrategy) {
    for (const AdaptiveScojo::Strategy& strategy : AdaptiveScojo::strategies())
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            SCOPED_TRACE(testing::Message() << strategy.name << " seed " << seed);
            Workload jobs = test::random_workload({.seed = seed, .gap = 6});
            for (std::size_t i = 0; i < jobs.jobs.size(); ++i)
                jobs.jobs[i].job.flexibility = static_cast<Flexibility>(i % 3);
            const auto policy =
                make_policy("adaptive-scojo",
                            {{"strategy", std::string(strategy.name)}, {"reconfigure", "20s"}, {"classes", "20s,60s"}});
            const Result<SimulationOutcome> outcome = simulate(jobs, **policy, {});
            ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
        }
}

TEST(AdaptiveScojoAccounts, ProcessorSecondsAreWorkOverSpeedAndRowsAddUpToTheMakespan) {
    const Workload jobs =
        *generate(ScojoWorkload{.common = {.jobs = 300, .processors = 64, .seed = 3}, .mean_gap_s = 166});
    const Result<SimulationOutcome> outcome = simulate(jobs, **make_policy("adaptive-scojo"), {});
    ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
    for (std::size_t i = 0; i < jobs.jobs.size(); ++i) {
        const auto& [job, runtime] = jobs.jobs[i];
        const double asked = job.processors * to_seconds(runtime);
        if (job.flexibility == Flexibility::kRigid) {
            ASSERT_NEAR(outcome->processor_seconds[i], asked, 1e-6);
        } else {  // efficiency is 0.8 on the least size, 0.5 on the most, 0.65 on what is asked for
            ASSERT_GE(outcome->processor_seconds[i], asked * 0.65 / 0.8 - 1);
            ASSERT_LE(outcome->processor_seconds[i], asked * 0.65 / 0.5 + 1);
        }
    }
    Duration sum{};
    for (const Duration time : outcome->time_with_rows) sum += time;
    EXPECT_EQ(Time{} + sum, *std::ranges::max_element(outcome->end));
    EXPECT_GT(outcome->resizes, 0u);
    EXPECT_GE(outcome->resized_processors, outcome->resizes);
}

TEST(AdaptiveScojoAccounts, ResizingCostsWhatTheMachineSays) {
    // Alone, on 24 of 64 (low load), and after 300 s on 28: job 2 makes an event then.
    Workload jobs{
        .name = "two",
        .processors = 64,
        .jobs = {{{.id = JobId{1}, .walltime = 1h, .processors = 16, .flexibility = Flexibility::kMalleable}, 1h},
                 {{.id = JobId{2}, .submit = Time{300s}, .walltime = 1s}, 1s}}};
    const auto end = [&jobs](Duration cost) {
        return simulate(jobs, **make_policy("adaptive-scojo", {{"fill", "false"}}), {.resize_cost = cost})->end[0];
    };
    EXPECT_EQ(end(100us) - end(0s), 400us);
}

std::string refusal(const PolicyOptions& options) {
    const auto policy = make_policy("adaptive-scojo", options);
    return policy ? "accepted" : policy.error().message;
}

TEST(AdaptiveScojoOptions, UnknownStrategyNamesTheNearest) {
    EXPECT_THAT(refusal({{"strategy", "pri-b-wa-af"}}), AllOf(HasSubstr("strategy"), HasSubstr("pri-b-wa-fa")));
}

TEST(AdaptiveScojoOptions, StrategyAndOptionMustNotContradict) {
    EXPECT_THAT(refusal({{"strategy", "fcfs-b"}, {"order", "priority"}}),
                AllOf(HasSubstr("order"), HasSubstr("strategy=fcfs-b"), HasSubstr("order=fcfs"), HasSubstr("leave")));
    EXPECT_THAT(refusal({{"fill", "true"}, {"strategy", "pri-b-wa"}}), HasSubstr("fill=false"));
    EXPECT_EQ(refusal({{"strategy", "fcfs-b"}, {"order", "fcfs"}, {"level", "3"}}), "accepted");
}

TEST(AdaptiveScojoOptions, LevelsFromOneToSixtyFour) {
    EXPECT_THAT(refusal({{"level", "0"}}), AllOf(HasSubstr("level"), HasSubstr("1 to 64")));
    EXPECT_THAT(refusal({{"level", "65"}}), HasSubstr("1 to 64"));
    EXPECT_THAT(refusal({{"classes", "1h,1m"}}), HasSubstr("ascend"));
    EXPECT_THAT(refusal({{"slice", "0"}}), HasSubstr("1 ms"));
    EXPECT_THAT(refusal({{"slice", "2d"}}), HasSubstr("1 d"));
}

TEST(AdaptiveScojoOptions, LookaheadIsOfConservativeBackfilling) {
    EXPECT_EQ(refusal({{"strategy", "pri-b"}, {"lookahead", "100000"}}), "accepted");
    EXPECT_THAT(refusal({{"lookahead", "100001"}}), AllOf(HasSubstr("lookahead"), HasSubstr("0 to 100000")));
    EXPECT_THAT(refusal({{"strategy", "pri-eb"}, {"lookahead", "9"}}),
                AllOf(HasSubstr("lookahead"), HasSubstr("backfill=aggressive"), HasSubstr("leave it out")));
}

TEST(AdaptiveScojoOptions, RegistryNamesAllStrategies) {
    for (const AdaptiveScojo::Strategy& strategy : AdaptiveScojo::strategies())
        EXPECT_EQ(refusal({{"strategy", std::string(strategy.name)}}), "accepted");
    const PolicyOption& option = find_policy("adaptive-scojo")->options[0];
    EXPECT_EQ(option.choices.size(), AdaptiveScojo::strategies().size() + 1);
}

}  // namespace
}  // namespace zbs
