#include "studies/models/gang_machine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace zbs {
namespace {

using std::chrono::microseconds;
using Steps = std::vector<TaskStep>;
using Lines = std::vector<std::string>;

Time at(std::int64_t us) { return Time{microseconds{us}}; }
TaskStep compute(int us) { return {TaskStep::Kind::kCompute, -1, microseconds{us}}; }
TaskStep io(int us) { return {TaskStep::Kind::kIo, -1, microseconds{us}}; }
TaskStep send(int to) { return {TaskStep::Kind::kSend, to, {}}; }
TaskStep receive(int from) { return {TaskStep::Kind::kReceive, from, {}}; }
TaskStep barrier() { return {TaskStep::Kind::kBarrier, -1, {}}; }

GangJob job(int id, std::vector<Steps> tasks, int arrival_us = 0) {
    const auto processors = static_cast<std::int32_t>(tasks.size());
    return {.id = JobId{id},
            .arrival = at(arrival_us),
            .processors = processors,
            .script = std::make_shared<const std::vector<Steps>>(std::move(tasks))};
}

/// Slices of 100 us, no cost of switching, messages that take 10 us and no processor: a baseline of 20 us.
GangScheduling plain(GangScheduling how) {
    how.slice = microseconds{100};
    how.context_switch = microseconds{0};
    how.network = {.latency_ns = 10'000, .overhead_ns = 0};
    how.packing.choice = gang::ProcessorChoice::kLowest;
    return how;
}

GangOutcome run(std::int32_t processors, std::vector<GangJob> jobs, const GangScheduling& how) {
    const GangWorkload workload{.processors = processors, .bursts = {}, .jobs = std::move(jobs)};
    const Result<GangOutcome> outcome = run_gang_machine(workload, how, {.checkpoints = {}, .record_spans = true});
    EXPECT_TRUE(outcome) << (outcome ? "" : outcome.error().message);
    return *outcome;
}

/// What one processor did, in order.
Lines story(const GangOutcome& outcome, std::int32_t processor) {
    std::vector<ProcessorSpan> spans;
    for (const ProcessorSpan& span : outcome.spans)
        if (span.processor == processor) spans.push_back(span);
    std::ranges::sort(spans, {}, &ProcessorSpan::begin);
    Lines lines;
    for (const ProcessorSpan& span : spans) {
        std::ostringstream text;
        text << span;
        lines.push_back(text.str().substr(text.str().find(' ') + 1));
    }
    return lines;
}

TEST(GangMachine, JobsTakeTurnsAndSwitchesCost) {
    GangScheduling how = plain(pure_gang());
    how.context_switch = microseconds{10};
    const GangOutcome outcome = run(1, {job(1, {{compute(150)}}), job(2, {{compute(100)}})}, how);
    EXPECT_EQ(story(outcome, 0), (Lines{"0-10 switches to 1", "10-100 computes 1", "100-110 switches to 2",
                                        "110-200 computes 2", "200-210 switches to 1", "210-270 computes 1",
                                        "270-300 idle", "300-310 switches to 2", "310-320 computes 2"}));
    EXPECT_EQ(outcome.jobs[0].end, at(270));
    EXPECT_EQ(outcome.jobs[1].end, at(320));
    EXPECT_EQ(outcome.front_end_activations, 4);  // two arrivals, two ends
    EXPECT_EQ(outcome.slices, 4);
}

TEST(GangMachine, JobsOfOneRowRunSideBySide) {
    const GangOutcome outcome =
        run(3, {job(1, {{compute(50)}, {compute(120)}}), job(2, {{compute(70)}}, 30)}, plain(pure_gang()));
    EXPECT_EQ(story(outcome, 0), (Lines{"0-50 computes 1", "50-120 blocked", "120-170 idle"}));
    EXPECT_EQ(story(outcome, 1), (Lines{"0-120 computes 1", "120-170 idle"}));
    // Placed at 30, served from the next clock signal on.
    EXPECT_EQ(story(outcome, 2), (Lines{"0-100 idle", "100-170 computes 2"}));
    EXPECT_EQ(outcome.jobs[1].placed, at(30));
}

TEST(GangMachine, PureGangLeavesItsSlotIdleAfterIo) {
    const std::vector<GangJob> jobs{job(1, {{compute(30), io(40), compute(30)}})};
    GangScheduling how = plain(pure_gang());
    EXPECT_EQ(story(run(1, jobs, how), 0), (Lines{"0-30 computes 1", "30-100 blocked", "100-130 computes 1"}));
    how.resume_in_slice = true;
    EXPECT_EQ(story(run(1, jobs, how), 0), (Lines{"0-30 computes 1", "30-70 blocked", "70-100 computes 1"}));
}

TEST(GangMachine, OtherTasksFillWhileTheGangDoesIo) {
    const std::vector<GangJob> jobs{job(1, {{compute(30), io(40), compute(30)}}), job(2, {{compute(200)}})};
    GangScheduling how = plain(concurrent_gang_priority());
    EXPECT_EQ(story(run(1, jobs, how), 0),
              (Lines{"0-30 computes 1", "30-70 computes 2 filling", "70-100 computes 1", "100-260 computes 2"}));
    how.resume_in_slice = false;
    EXPECT_EQ(story(run(1, jobs, how), 0), (Lines{"0-30 computes 1", "30-100 computes 2 filling", "100-200 computes 2",
                                                  "200-230 computes 1", "230-260 computes 2 filling"}));
}

TEST(GangMachine, DiskServesOneAtATimeFirstComeFirstServed) {
    const std::vector<GangJob> jobs{job(1, {{io(50), compute(10)}}), job(2, {{io(50), compute(10)}})};
    // Both ask at once when their turn comes: 2 fills at 0, as soon as 1 is at the disk.
    EXPECT_EQ(story(run(1, jobs, plain(concurrent_gang_round_robin())), 0),
              (Lines{"0-50 blocked", "50-60 computes 1", "60-100 idle", "100-110 computes 2"}));
}

TEST(GangMachine, ReceiverSpinsUntilTheMessageIsThere) {
    GangScheduling how = plain(pure_gang());
    how.network = {};  // L = 10 us, o = 8.75 us, of which the processor sees whole microseconds
    const GangOutcome outcome = run(2, {job(1, {{compute(20), send(1)}, {receive(0), compute(5)}})}, how);
    EXPECT_EQ(story(outcome, 0), (Lines{"0-29 computes 1", "29-53 blocked"}));
    EXPECT_EQ(story(outcome, 1), (Lines{"0-39 spins 1", "39-53 computes 1"}));
}

TEST(GangMachine, MessageThatIsThereIsTakenWithoutWaiting) {
    const GangOutcome outcome =
        run(2, {job(1, {{send(1), send(1)}, {compute(50), receive(0), receive(0), compute(5)}})}, plain(pure_gang()));
    EXPECT_EQ(story(outcome, 1), (Lines{"0-55 computes 1"}));
}

TEST(GangMachine, MessageUnderWayIsWaitedFor) {
    const GangOutcome outcome = run(2, {job(1, {{send(1)}, {compute(4), receive(0), compute(5)}})}, plain(pure_gang()));
    EXPECT_EQ(story(outcome, 1), (Lines{"0-4 computes 1", "4-10 spins 1", "10-15 computes 1"}));
}

TEST(GangMachine, BarrierLetsGoABaselineAfterTheLast) {
    const GangOutcome outcome = run(
        2, {job(1, {{compute(10), barrier(), compute(5)}, {compute(30), barrier(), compute(5)}})}, plain(pure_gang()));
    EXPECT_EQ(story(outcome, 0), (Lines{"0-10 computes 1", "10-50 spins 1", "50-55 computes 1"}));
    EXPECT_EQ(story(outcome, 1), (Lines{"0-30 computes 1", "30-50 spins 1", "50-55 computes 1"}));
}

TEST(GangMachine, SpinnerGivesWayAfterTheBaseline) {
    const std::vector<GangJob> jobs{job(1, {{compute(10), send(1)}, {receive(0), compute(5)}}),
                                    job(2, {{compute(100)}, {compute(100)}})};
    GangScheduling how = plain(concurrent_gang_round_robin());
    how.network.latency_ns = 30'000;  // the message is there at 40, the baseline is 60
    EXPECT_EQ(story(run(2, jobs, how), 1),
              (Lines{"0-40 spins 1", "40-45 computes 1", "45-100 computes 2 filling", "100-145 computes 2"}));
    how.network.latency_ns = 15'000;  // now the baseline is 30 and the message is there at 55
    const std::vector<GangJob> later{job(1, {{compute(40), send(1)}, {receive(0), compute(5)}}), jobs[1]};
    EXPECT_EQ(story(run(2, later, how), 1),
              (Lines{"0-30 spins 1", "30-55 computes 2 filling", "55-60 computes 1", "60-100 computes 2 filling",
                     "100-135 computes 2", "135-140 blocked"}));
    how.wait = GangScheduling::Wait::kBlock;
    EXPECT_EQ(story(run(2, later, how), 1),
              (Lines{"0-55 computes 2 filling", "55-60 computes 1", "60-100 computes 2 filling", "100-105 computes 2",
                     "105-140 blocked"}));
}

TEST(GangMachine, SpinControlGivesWayToReadyIoTasksOnly) {
    // Job 1 waits for 80 us in its slot. Job 2 is known to do I/O after its first slot; job 3 computes.
    const Steps waits{receive(1), compute(300)};
    const Steps sends{compute(280), send(0), compute(300)};
    const auto jobs = [&](const Steps& other) { return std::vector{job(1, {waits, sends}), job(2, {other})}; };
    GangScheduling how = plain(modified_gang());
    how.packing.choice = gang::ProcessorChoice::kLowest;
    // Slices of job 1: 0-100, 200-300; the message comes at 290 (280 of computing needs 180 of the second slice).
    const Lines io_story = story(run(2, jobs({compute(10), io(20), compute(500)}), how), 0);
    EXPECT_EQ(io_story[0], "0-100 spins 1");
    EXPECT_EQ(io_story[1], "100-110 computes 2");
    // From 200 on it spins for the baseline, then job 2, ready and seen to do I/O, fills the slot.
    EXPECT_THAT(io_story, testing::Contains("200-220 spins 1"));
    EXPECT_THAT(io_story, testing::Contains("220-290 computes 2 filling"));
    const Lines compute_story = story(run(2, jobs({compute(500)}), how), 0);
    EXPECT_THAT(compute_story, testing::Contains("200-290 spins 1"));
}

TEST(GangMachine, ProcessorWithTooFewTasksAboveTheFloorStaysIdle) {
    // One task ends early; the other job's tasks have shown that they communicate, so none of them fills the slot.
    Steps talk;
    for (int i = 0; i < 20; ++i) talk.insert(talk.end(), {compute(10), barrier()});
    const std::vector<GangJob> jobs{job(1, {{compute(60), io(500), compute(1)}}), job(2, {talk, talk})};
    const GangOutcome outcome = run(2, jobs, plain(modified_gang()));
    // Before its first own slot nothing is known of job 2 and it fills; afterwards it does not.
    EXPECT_THAT(story(outcome, 0), testing::Contains("60-70 computes 2 filling"));
    EXPECT_THAT(story(outcome, 0), testing::Contains("200-300 blocked"));
}

// [DaSilva2000, figure 6.9]: round robin lets one task of a synchronising job run alone; then it is blocked at a
// barrier when its own slice comes, and the slice is lost. Priorities run it only with its gang.
TEST(GangMachine, LoneRunOfASynchronisingTaskLosesItsSlice) {
    Steps steps;
    for (int i = 0; i < 10; ++i) steps.insert(steps.end(), {compute(40), barrier()});
    const Steps computes{compute(900)};
    const std::vector<GangJob> jobs{job(3, {steps, steps, steps, steps}),
                                    job(1, {computes, computes, computes, computes}),
                                    job(2, {computes, computes, computes})};
    GangScheduling round_robin = plain(concurrent_gang_round_robin());
    round_robin.network = {.latency_ns = 0, .overhead_ns = 0};
    round_robin.resume_in_slice = false;
    const GangOutcome lost = run(4, jobs, round_robin);
    // Slices: 3 at 0, 1 at 100, 2 at 200, which leaves processor 3 idle. There job 3 runs alone up to its third
    // barrier. In its own slice at 300 it is still waiting, so job 1 goes on in its place; the others let it pass that
    // barrier at 320, and wait in vain at the fourth from 360 on.
    EXPECT_THAT(story(lost, 3), testing::Contains("200-220 computes 3 filling"));
    EXPECT_THAT(story(lost, 3), testing::Contains("220-400 computes 1 filling"));
    EXPECT_THAT(story(lost, 0), testing::Contains("300-360 computes 3"));
    EXPECT_THAT(story(lost, 0), testing::Contains("360-400 computes 1 filling"));

    GangScheduling priority = plain(concurrent_gang_priority());
    priority.network = round_robin.network;
    priority.resume_in_slice = false;
    const GangOutcome kept = run(4, jobs, priority);
    EXPECT_THAT(story(kept, 3), testing::Contains("200-300 computes 1 filling"));
    for (int p = 0; p < 4; ++p) EXPECT_THAT(story(kept, p), testing::Contains("300-400 computes 3")) << p;
    for (const ProcessorSpan& span : kept.spans)  // while there is anything else to run
        EXPECT_FALSE(span.end <= at(1000) && span.filling && span.job == JobId{3}) << span;
    EXPECT_LT(kept.jobs[0].end, lost.jobs[0].end);
}

TEST(GangMachine, AdmissionCapKeepsJobsWaiting) {
    GangScheduling how = plain(pure_gang());
    how.packing.max_tasks_per_node = 2;
    std::vector<GangJob> jobs;
    for (int id = 0; id < 5; ++id) jobs.push_back(job(id, {{compute(100)}}));
    const GangOutcome outcome = run(1, jobs, how);
    EXPECT_EQ(outcome.most_tasks_on_processor, 2);
    EXPECT_EQ(outcome.jobs[2].placed, outcome.jobs[0].end);
}

// [DaSilva2000, section 8.4]: left-over slots go to I/O jobs before communicating ones, to both as whole gangs.
TEST(GangMachine, RuntimeAlternativesPreferIoJobs) {
    Steps talk, reads;
    for (int i = 0; i < 40; ++i) talk.insert(talk.end(), {compute(30), barrier()});
    for (int i = 0; i < 40; ++i) reads.insert(reads.end(), {compute(7), io(3)});
    const Steps computes{compute(2000)};
    GangScheduling how = plain(hierarchical_control_runtime());
    how.network.latency_ns = 0;
    // Computing jobs on the left half, 6 (talking) and 7 (reading) on the right one, which has nobody in slice three.
    const GangOutcome both = run(4,
                                 {job(2, {computes, computes}), job(6, {talk, talk}), job(3, {computes, computes}),
                                  job(7, {reads, reads}), job(4, {computes, computes})},
                                 how);
    EXPECT_THAT(story(both, 2), testing::Contains("0-100 computes 6"));
    EXPECT_THAT(story(both, 0), testing::Contains("200-300 computes 4"));
    EXPECT_THAT(story(both, 2), testing::Contains("200-207 computes 7"));
    EXPECT_THAT(story(both, 2), testing::Contains("207-210 blocked"));  // 6 is below the floor
    // Without 7 the slots go to 6, on both processors at once.
    const GangOutcome talking =
        run(4, {job(2, {computes, computes}), job(6, {talk, talk}), job(3, {computes, computes})}, how);
    for (const int p : {2, 3}) EXPECT_THAT(story(talking, p)[0], testing::EndsWith("computes 6")) << p;
    EXPECT_EQ(talking.last.time.filled, Duration{0});
    EXPECT_EQ(talking.jobs[1].end, at(1200));  // never a slice without it
}

TEST(GangMachine, LocalSchedulingRunsWhateverIsReady) {
    GangScheduling how = plain(local_scheduling());
    how.turns = GangScheduling::Turns::kLocalInOrder;
    // Job 1 had the processor when it came, so it is the other's turn.
    const GangOutcome outcome = run(1, {job(1, {{compute(150)}}), job(2, {{compute(100)}})}, how);
    EXPECT_EQ(story(outcome, 0), (Lines{"0-100 computes 2", "100-250 computes 1"}));
}

TEST(GangMachine, CheckpointsSplitTheRun) {
    const GangWorkload workload{.processors = 2, .bursts = {}, .jobs = {job(1, {{compute(150)}})}};
    const Result<GangOutcome> outcome =
        run_gang_machine(workload, plain(pure_gang()), {.horizon = at(400), .checkpoints = {at(60), at(200)}});
    ASSERT_TRUE(outcome);
    ASSERT_EQ(outcome->checkpoints.size(), 1u);  // all jobs have ended before the second
    EXPECT_EQ(outcome->checkpoints[0].time.computing, microseconds{60});
    EXPECT_EQ(outcome->last.completed, 1);
    EXPECT_EQ(outcome->last.time.total(), 2 * microseconds{400});
}

TEST(GangMachine, BadInputIsNamed) {
    const auto message = [](GangWorkload workload, const GangScheduling& how, const GangRun& run = {}) {
        const Result<GangOutcome> outcome = run_gang_machine(workload, how, run);
        return outcome ? std::string() : outcome.error().message;
    };
    const GangWorkload good{.processors = 2, .bursts = {}, .jobs = {job(1, {{compute(5)}})}};
    EXPECT_EQ(message(good, pure_gang()), "");
    GangWorkload bad = good;
    bad.jobs[0].processors = 3;
    EXPECT_EQ(message(bad, pure_gang()), "job 1 asks for 3 of 2 processors");
    bad = good;
    bad.jobs.push_back(bad.jobs[0]);
    EXPECT_NE(message(bad, pure_gang()).find("there twice"), std::string::npos);
    bad = good;
    bad.jobs[0].arrival = at(-1);
    EXPECT_NE(message(bad, pure_gang()).find("sort jobs"), std::string::npos);
    GangScheduling how = pure_gang();
    how.slice = Duration{0};
    EXPECT_NE(message(good, how).find("slice"), std::string::npos);
    bad = good;
    bad.processors = 3;
    EXPECT_NE(message(bad, hierarchical_control()).find("power of two"), std::string::npos);
    EXPECT_NE(message(good, pure_gang(), {.horizon = at(5), .checkpoints = {at(5)}}).find("checkpoints"),
              std::string::npos);
    bad = good;
    bad.jobs = {job(1, {{receive(1)}, {compute(1)}})};
    EXPECT_NE(message(bad, pure_gang()).find("never come"), std::string::npos);
}

}  // namespace
}  // namespace zbs
