#include "algorithms/sim/workload_simulation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "algorithms/allocation/registry.hpp"
#include "algorithms/policy/fcfs.hpp"
#include "algorithms/policy/registry.hpp"
#include "algorithms/sim/workload_generators.hpp"
#include "tests/support/zones.hpp"

namespace zbs {
namespace {

using test::workload;
using testing::HasSubstr;

Time at(int seconds) { return Time{std::chrono::seconds{seconds}}; }
std::unique_ptr<Policy> policy(const std::string& name) { return std::move(*make_policy(name)); }

void expect_refused(const Workload& jobs, const SimulationOptions& options, ErrorCode code, const std::string& part) {
    Fcfs fcfs;
    const Result<SimulationOutcome> outcome = simulate(jobs, fcfs, options);
    ASSERT_FALSE(outcome.has_value());
    EXPECT_EQ(outcome.error().code, code);
    EXPECT_THAT(outcome.error().message, HasSubstr(part));
}

TEST(Simulate, JobsStartAndEndWhenTheyShould) {
    const Workload jobs = workload(4, {{0, 3, 10, 4}, {1, 2, 5}, {2, 1, 1}});
    Fcfs fcfs;
    const Result<SimulationOutcome> outcome = simulate(jobs, fcfs, {});
    ASSERT_TRUE(outcome.has_value());
    EXPECT_THAT(outcome->start, testing::ElementsAre(at(0), at(4), at(4)));
    EXPECT_THAT(outcome->end, testing::ElementsAre(at(4), at(9), at(5)));
    EXPECT_EQ(outcome->processors, 4);
    EXPECT_EQ(outcome->events, 6u);
}

TEST(SimulateStream, JobsThatComeOneByOneHaveTheTimesOfAWorkload) {
    for (const char* const name : {"fcfs", "easy", "conservative", "los"})
        for (const EventRules rules : {EventRules::kBatched, EventRules::kReference})
            for (std::uint64_t seed = 1; seed <= 10; ++seed) {
                SCOPED_TRACE(std::string(name) + ", seed " + std::to_string(seed));
                UniformWorkload model{.most_runtime_s = 100, .mean_gap_s = 20};
                model.common = {.jobs = 500, .processors = 32, .most_overestimate = 3, .seed = seed};
                const Workload jobs = generate(model).value();
                const SimulationOptions options{.processors = 32, .rules = rules};
                const Result<SimulationOutcome> whole = simulate(jobs, *policy(name), options);
                std::vector<WorkloadJob> ended;
                std::vector<Time> start, end;
                const Result<SimulationOutcome> stream = simulate(
                    [&](const AddJob& add) {
                        for (const WorkloadJob& entry : jobs.jobs)
                            if (Result<void> done = add(entry); !done) return done;
                        return Result<void>{};
                    },
                    "log", *policy(name), options,
                    [&](const WorkloadJob& entry, Time from, Time until) {
                        ended.push_back(entry);
                        start.push_back(from);
                        end.push_back(until);
                    });
                ASSERT_TRUE(whole && stream);
                EXPECT_EQ(ended, jobs.jobs);
                EXPECT_EQ(start, whole->start);
                EXPECT_EQ(end, whole->end);
                EXPECT_EQ(stream->events, whole->events);
                EXPECT_EQ(stream->plans, whole->plans);
            }
}

TEST(SimulateStream, JobsAreHandedOverAsSoonAsAllBeforeThemHaveEnded) {
    WorkloadJob entry = workload(4, {{0, 1, 100, 5}}).jobs[0];
    std::size_t ended = 0;
    std::vector<std::size_t> ended_at_submission;
    const Result<SimulationOutcome> outcome = simulate(
        [&](const AddJob& add) {
            for (int i = 0; i < 1000; ++i) {
                entry.job.submit = at(2 * i);
                entry.runtime = std::chrono::seconds{i == 0 ? 101 : 1};
                entry.job.walltime = entry.runtime;
                if (Result<void> done = add(entry); !done) return done;
                ended_at_submission.push_back(ended);
            }
            return Result<void>{};
        },
        "log", *policy("fcfs"), {.processors = 4}, [&](const WorkloadJob&, Time, Time) { ++ended; });
    ASSERT_TRUE(outcome.has_value());
    EXPECT_EQ(ended, 1000U);
    EXPECT_EQ(ended_at_submission[50], 0U);  // the first one runs until 101
    EXPECT_EQ(ended_at_submission[51], 51U);
    EXPECT_EQ(ended_at_submission[999], 999U);
}

TEST(SimulateStream, ErrorsNameTheJobAndEndTheStream) {
    Workload jobs = workload(4, {{5, 3, 10, 4}, {4, 2, 5}, {6, 1, 1}});
    std::size_t given = 0;
    const Result<SimulationOutcome> outcome = simulate(
        [&](const AddJob& add) {
            for (const WorkloadJob& entry : jobs.jobs) {
                ++given;
                if (Result<void> done = add(entry); !done) return done;
            }
            return Result<void>{};
        },
        "log", *policy("easy"), {.processors = 4}, [](const WorkloadJob&, Time, Time) {});
    ASSERT_FALSE(outcome.has_value());
    EXPECT_EQ(given, 2U);
    EXPECT_THAT(outcome.error().message, HasSubstr("of log is submitted before the job ahead of it"));
}

TEST(Simulate, BatchedRulesSeeAnInstantWhole) {
    // At 10 job 1 ends and job 3 comes. One by one, submissions come first, and job 1, past its walltime, counts as
    // gone: either way job 2 starts, but under batched rules in one plan with job 3.
    const Workload jobs = workload(4, {{0, 4, 10}, {1, 2, 5}, {10, 2, 5}});
    Fcfs fcfs;
    const Result<SimulationOutcome> batched = simulate(jobs, fcfs, {.rules = EventRules::kBatched});
    const Result<SimulationOutcome> reference = simulate(jobs, fcfs, {.rules = EventRules::kReference});
    ASSERT_TRUE(batched.has_value() && reference.has_value());
    EXPECT_EQ(batched->start, reference->start);
    EXPECT_LT(batched->plans, reference->plans);
}

/// Gives every job the first processors of a row of its own when it comes, and changes the matrix at no end. All jobs
/// have to come before any ends.
class RowEach final : public Policy {
  public:
    explicit RowEach(bool places = true) : places_(places) {}
    void plan(const ZoneSnapshot& zone, Plan& plan) override {
        plan.clear();
        auto diagram = std::make_shared<TraceDiagram>(*zone.diagram);
        zone.waiting.visit([&](const WaitingJob& job) {
            plan.starts.push_back(zone.record(job.handle).job.id);
            std::vector<std::int32_t> processors;
            for (std::int32_t p = 0; p < job.processors; ++p) processors.push_back(p);
            diagram->place(diagram->add_row(), plan.starts.back(), processors);
            return true;
        });
        if (places_ && !plan.starts.empty()) plan.diagram = diagram;
    }
    ZoneState::Sharing sharing() const override { return ZoneState::Sharing::kPriority; }

  private:
    bool places_;
};

TEST(SimulateRanks, JobRunsWhileNobodyIsAboveItOnAnyProcessor) {
    // Job 2 waits for job 1 on processors 0 and 1, job 3 for both; none of the ends changes the matrix.
    const Workload jobs = workload(4, {{0, 2, 10}, {3, 4, 20}, {5, 1, 7}});
    RowEach rows;
    const Result<SimulationOutcome> outcome = simulate(jobs, rows, {});
    ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
    EXPECT_THAT(outcome->start, testing::ElementsAre(at(0), at(3), at(5)));
    EXPECT_THAT(outcome->end, testing::ElementsAre(at(10), at(30), at(37)));
}

TEST(SimulateRanks, FirstServiceIsWhenAJobIsOnTop) {
    const Workload jobs = workload(4, {{0, 2, 10}, {3, 4, 20}, {5, 1, 7}});
    RowEach rows;
    const Result<SimulationOutcome> outcome = simulate(jobs, rows, {.record_places = true});
    ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
    EXPECT_THAT(outcome->first_service, testing::ElementsAre(at(0), at(10), at(30)));
    EXPECT_EQ(outcome->rows, 3);
    EXPECT_THAT(outcome->placements,
                testing::ElementsAre(PlacementChange{at(0), 0, {{0, 0, 1}}}, PlacementChange{at(3), 1, {{1, 0, 3}}},
                                     PlacementChange{at(5), 2, {{2, 0, 0}}}));
}

TEST(SimulateTurns, FirstServiceIsTheFirstSlice) {
    const Workload jobs = workload(1, {{0, 1, 7200}, {0, 1, 7200}, {0, 1, 7200}});
    const Result<SimulationOutcome> outcome =
        simulate(jobs, *policy("gang"), {.slice = std::chrono::hours{1}, .record_places = true});
    ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
    EXPECT_THAT(outcome->start, testing::ElementsAre(at(0), at(0), at(0)));
    EXPECT_THAT(outcome->first_service, testing::ElementsAre(at(0), at(3600), at(7200)));
    // When job 1 has ended, the others move down a row.
    ASSERT_EQ(outcome->placements.size(), 6u);
    EXPECT_EQ(outcome->placements[3], (PlacementChange{at(14400), 1, {{0, 0, 0}}}));
}

TEST(SimulateRanks, JobWithoutAPlaceIsTheFaultOfThePolicy) {
    RowEach rows(/*places=*/false);
    const Result<SimulationOutcome> outcome = simulate(workload(4, {{0, 2, 10}}), rows, {});
    ASSERT_FALSE(outcome.has_value());
    EXPECT_EQ(outcome.error().code, ErrorCode::kInternal);
    EXPECT_THAT(outcome.error().message, HasSubstr("without a place"));
}

/// Gives the only job these sizes, the first when it starts, and the next every 10 s.
class Sizes final : public Policy {
  public:
    explicit Sizes(std::vector<std::int32_t> sizes) : sizes_(std::move(sizes)) {}
    void plan(const ZoneSnapshot& zone, Plan& plan) override {
        plan.clear();
        if (given_ == sizes_.size() || (zone.waiting.empty() && zone.running.empty())) return;
        const JobId job{0};
        if (given_ == 0) plan.starts.push_back(job);
        plan.resizes.push_back({job, sizes_[given_]});
        auto diagram = std::make_shared<TraceDiagram>(*zone.diagram);
        diagram->remove(job);
        std::vector<std::int32_t> processors;
        for (std::int32_t p = 0; p < sizes_[given_]; ++p) processors.push_back(p);
        diagram->place(diagram->row_count() == 0 ? diagram->add_row() : 0, job, processors);
        plan.diagram = diagram;
        plan.wake_at = zone.now + std::chrono::seconds{10};
        ++given_;
    }
    ZoneState::Sharing sharing() const override { return ZoneState::Sharing::kTime; }

  private:
    std::vector<std::int32_t> sizes_;
    std::size_t given_ = 0;
};

TEST(SimulateSizes, AreToldAtTheStartAndAtEveryChange) {
    // Asks for 8 of 16 for 26 s: speedups 3.2 on 4, 5.2 on 8, 8 on 16. On 4 that takes 42.25 s; 32.25 s of them are
    // left at 10 and become 12.9 s on 16; 2.9 s of those are left at 20.
    Workload jobs = workload(16, {{0, 8, 26}});
    jobs.jobs[0].job.flexibility = Flexibility::kMalleable;
    Sizes sizes({4, 16, 8});
    const Result<SimulationOutcome> outcome = simulate(jobs, sizes, {});
    ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
    EXPECT_THAT(outcome->started_on, testing::ElementsAre(4));
    EXPECT_THAT(outcome->size_changes, testing::ElementsAre(SizeChange{at(10), 0, 16}, SizeChange{at(20), 0, 8}));
    const double last_s = 2.9 * 8 / 5.2;
    EXPECT_NEAR(to_seconds(outcome->end[0].time_since_epoch()), 20 + last_s, 1e-5);
    EXPECT_NEAR(outcome->processor_seconds[0], 4 * 10 + 16 * 10 + 8 * last_s, 1e-4);
}

TEST(SimulateSizes, AreNotToldWhereAllGetWhatTheyAskFor) {
    const Result<SimulationOutcome> outcome =
        simulate(workload(4, {{0, 4, 25}, {0, 4, 15}}), *policy("adaptive-scojo"), {});
    ASSERT_TRUE(outcome.has_value());
    EXPECT_TRUE(outcome->started_on.empty());
    EXPECT_TRUE(outcome->size_changes.empty());
}

TEST(SimulateShares, JobsUseTheirPartsForAsLongAsTheyHaveThem) {
    // Alone until 10; then half each at 0.5 / 2: job 1 needs 40 s more, of which its half counts; job 2 has 10 s left.
    const Workload jobs = workload(8, {{0, 8, 20}, {10, 4, 20}});
    const auto scojo = std::move(*make_policy("scojo", {{"level", "2"}}));
    const Result<SimulationOutcome> outcome =
        simulate(jobs, *scojo, {.coscheduling = CoschedulingModel::by_count({1, 2})});
    ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
    EXPECT_THAT(outcome->end, testing::ElementsAre(at(50), at(60)));
    EXPECT_THAT(outcome->processor_seconds, testing::ElementsAre(8 * (10 + 20), 4 * (20 + 10)));
}

TEST(SimulateWithAllocator, ARefusedJobWaitsAndNobodyOfThePlanPassesIt) {
    const Workload jobs = workload(8, {{0, 2, 10}, {0, 4, 30}, {0, 2, 20}, {1, 3, 5}, {2, 1, 5}});
    const auto allocator = make_allocator("contiguous", 8);
    const Result<SimulationOutcome> plain = simulate(jobs, *policy("fcfs"), {});
    const Result<SimulationOutcome> placed = simulate(jobs, *policy("fcfs"), {.allocator = allocator->get()});
    ASSERT_TRUE(plain.has_value() && placed.has_value());
    EXPECT_THAT(plain->start, testing::ElementsAre(at(0), at(0), at(0), at(20), at(20)));
    // At 20 processors 0, 1, 6 and 7 are free, which are no range of three; job 5 would fit.
    EXPECT_THAT(placed->start, testing::ElementsAre(at(0), at(0), at(0), at(30), at(30)));
    EXPECT_EQ(placed->refused_starts, 1u);
}

TEST(SimulateWithAllocator, JobsThatEndBeforeAPlaceComesFreeMayPass) {
    // At 10 processors 0, 1, 4 and 5 of 6 are free, which are no range of four; job 2 ends at 30. Job 6 would end
    // at 31.
    const Workload jobs = workload(6, {{0, 2, 10}, {0, 2, 30}, {0, 2, 10}, {5, 4, 10}, {6, 2, 5}, {7, 1, 21}});
    const auto allocator = make_allocator("contiguous", 6);
    for (const char* name : {"fcfs", "easy", "conservative"}) {
        const Result<SimulationOutcome> placed =
            simulate(jobs, *policy(name), {.allocator = allocator->get(), .pass_refused = true, .record_places = true});
        ASSERT_TRUE(placed.has_value()) << placed.error();
        EXPECT_EQ(placed->start[3], at(30)) << name;
        EXPECT_EQ(placed->start[4], at(10)) << name;
        EXPECT_GE(placed->start[5], at(30)) << name;
        EXPECT_EQ(placed->placements[3], (PlacementChange{at(10), 4, {{0, 0, 1}}})) << name;
    }
}

TEST(SimulateWithAllocator, FaultsNameTheJobOrTheCombination) {
    const Workload jobs = workload(8, {{0, 2, 10}, {1, 9, 30}});
    const auto eight = make_allocator("contiguous", 8), four = make_allocator("contiguous", 4);
    expect_refused(jobs, {.allocator = eight->get()}, ErrorCode::kInvalidArgument,
                   "job 2 of hand-made can never be placed");
    expect_refused(jobs, {.allocator = four->get()}, ErrorCode::kInvalidArgument,
                   "made for 4 processors, the machine has 8");
    const auto gang = simulate(workload(8, {{0, 2, 10}}), *policy("gang"), {.allocator = eight->get()});
    ASSERT_FALSE(gang.has_value());
    EXPECT_THAT(gang.error().message, HasSubstr("take turns"));
}

TEST(SimulateWithAllocator, JobsWithoutAPlaceOnAnEmptyMachineAreNotTheFaultOfThePolicy) {
    // Pairwise coalescing leaves the free nodes in pieces.
    const auto allocator = make_allocator("afl", 64, {{"coalescing", "pairwise"}});
    const Result<Workload> jobs = generate(LublinWorkload{.common = {.jobs = 80, .processors = 64}});
    const Result<SimulationOutcome> outcome = simulate(*jobs, *policy("fcfs"), {.allocator = allocator->get()});
    ASSERT_FALSE(outcome.has_value());
    EXPECT_EQ(outcome.error().code, ErrorCode::kRejected);
    EXPECT_THAT(outcome.error().message, HasSubstr("the allocator has no place"));
    EXPECT_THAT(outcome.error().message, testing::Not(HasSubstr("policy")));
}

TEST(Simulate, RulesCanChangeTheSchedule) {
    // At 10 jobs 1 and 2 end together. One by one, the first end lets the narrow job 4 start beside the head's shadow.
    const Workload jobs = workload(4, {{0, 2, 20, 10}, {0, 2, 12, 10}, {1, 4, 10}, {2, 2, 2}});
    const auto start_of_4 = [&](EventRules rules) {
        const Result<SimulationOutcome> outcome = simulate(jobs, *policy("easy"), {.rules = rules});
        return outcome->start[3];
    };
    EXPECT_EQ(start_of_4(EventRules::kBatched), at(20));
    EXPECT_EQ(start_of_4(EventRules::kReference), at(10));
}

TEST(Simulate, TellsItsProgress) {
    Workload jobs = workload(1, {});
    for (int i = 0; i < 10'000; ++i) {
        jobs.jobs.push_back(workload(1, {{i, 1, 1}}).jobs[0]);
        jobs.jobs.back().job.id = JobId{i};
    }
    std::vector<std::size_t> progress;
    Fcfs fcfs;
    ASSERT_TRUE(simulate(jobs, fcfs, {.progress = [&](std::size_t ended) { progress.push_back(ended); }}).has_value());
    EXPECT_THAT(progress, testing::ElementsAre(4096, 8192));
}

TEST(Simulate, EmptyWorkloadIsOverAtOnce) {
    Fcfs fcfs;
    const Result<SimulationOutcome> outcome = simulate(workload(4, {}), fcfs, {});
    ASSERT_TRUE(outcome.has_value());
    EXPECT_TRUE(outcome->start.empty());
}

TEST(Simulate, RefusesWorkloadsThatCannotBe) {
    const auto invalid = ErrorCode::kInvalidArgument;
    expect_refused(workload(4, {{0, 5, 1}}), {}, invalid, "job 1 of hand-made: job 0: it asks for 5 processors");
    expect_refused(workload(4, {{3, 1, 1}, {2, 1, 1}}), {}, invalid, "job 2");
    expect_refused(workload(4, {{0, 1, 1, 2}}), {.rules = EventRules::kReference}, invalid, "runs longer");
    expect_refused(workload(0, {{0, 1, 1}}), {}, invalid, "how many processors");
    expect_refused(workload(4, {{-1, 1, 1}}), {}, invalid, "submit time");
}

TEST(Simulate, AJobPastItsWalltimeKeepsItsProcessors) {
    // Expected to end at 5, job 1 ends at 9; whoever needs its processors starts then, under every such policy.
    const Workload jobs = workload(4, {{0, 3, 5, 9}, {1, 2, 5}, {2, 1, 20}});
    for (const PolicyInfo& each : policies()) {
        const std::unique_ptr<Policy> made = policy(std::string(each.name));
        const Result<SimulationOutcome> outcome = simulate(jobs, *made, {.rules = EventRules::kBatched});
        if (made->sharing() != ZoneState::Sharing::kSpace) {
            EXPECT_FALSE(outcome.has_value()) << each.name;
            continue;
        }
        ASSERT_TRUE(outcome) << each.name << ": " << outcome.error();
        EXPECT_EQ(outcome->end[0], at(9)) << each.name;
        EXPECT_GE(outcome->start[1], at(9)) << each.name;
    }
}

TEST(Simulate, RefusesWalltimesBeyondAllTime) {
    Workload jobs = workload(4, {{0, 4, 1}, {0, 4, 1}, {0, 4, 1}});
    for (WorkloadJob& job : jobs.jobs) job.job.walltime = std::chrono::hours{24 * 365 * 8'000};
    expect_refused(jobs, {}, ErrorCode::kInvalidArgument,
                   "job 3 of hand-made: the walltimes of the 3 jobs that run or wait");
    // One after the other they end at once, and the sum is of those that are there.
    for (int i = 0; i < 3; ++i) jobs.jobs[static_cast<std::size_t>(i)].job.submit = at(10 * i);
    for (const char* name : {"fcfs", "conservative"}) {
        const Result<SimulationOutcome> outcome = simulate(jobs, *policy(name), {});
        ASSERT_TRUE(outcome) << outcome.error();
        EXPECT_THAT(outcome->start, testing::ElementsAre(at(0), at(10), at(20)));
    }
    jobs.jobs.pop_back();
    for (const PolicyInfo& each : policies())
        EXPECT_TRUE(simulate(jobs, *policy(std::string(each.name)), {}).has_value()) << each.name;
}

/// Starts nothing.
class IdlePolicy final : public Policy {
  public:
    void plan(const ZoneSnapshot&, Plan& plan) override { plan.clear(); }
};
/// Starts the head even where it does not fit.
class RecklessPolicy final : public Policy {
  public:
    void plan(const ZoneSnapshot& zone, Plan& plan) override {
        plan.clear();
        if (!zone.waiting.empty()) plan.starts.push_back(zone.record(zone.waiting.front().handle).job.id);
    }
};
/// Wants to plan again at once, for ever.
class RestlessPolicy final : public Policy {
  public:
    void plan(const ZoneSnapshot& zone, Plan& plan) override {
        plan.clear();
        plan.wake_at = zone.now;
    }
};

TEST(Simulate, PoliciesThatBreakTheContractAreStopped) {
    const Workload jobs = workload(4, {{0, 3, 5}, {1, 3, 5}});
    const auto error_of = [&](Policy&& bad) { return simulate(jobs, bad, {}).error(); };
    EXPECT_EQ(error_of(IdlePolicy{}).code, ErrorCode::kRejected);
    EXPECT_THAT(error_of(IdlePolicy{}).message, HasSubstr("never started 2 jobs, the first of them job 1"));
    EXPECT_EQ(error_of(RecklessPolicy{}).code, ErrorCode::kInternal);
    EXPECT_THAT(error_of(RecklessPolicy{}).message, HasSubstr("job 2"));
    EXPECT_THAT(error_of(RestlessPolicy{}).message, HasSubstr("woken"));
}

}  // namespace
}  // namespace zbs
