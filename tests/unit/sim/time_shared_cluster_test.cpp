#include "studies/models/time_shared_cluster.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "algorithms/base/rng.hpp"
#include "studies/models/cluster_programs.hpp"

namespace zbs {
namespace {

using namespace std::chrono_literals;
using Kind = ProcessStep::Kind;
using Rule = HostScheduling::Rule;
using testing::ElementsAre;
using testing::HasSubstr;

ProcessStep compute(Duration time) { return {.kind = Kind::kCompute, .time = time}; }
ProcessStep send(std::int32_t peer, Duration latency) { return {.kind = Kind::kSend, .time = latency, .peer = peer}; }
ProcessStep receive() { return {.kind = Kind::kReceive}; }

/// A job of one process that computes on host 0.
ClusterJob computing(Duration time, std::int32_t level, Time start = {}) {
    return {.level = level, .start = start, .processes = {{.first = {compute(time)}}}};
}
/// A job of two processes: the one on host 0 waits for a message until `wait`, then computes.
ClusterJob waiting(Duration wait, Duration time, std::int32_t level) {
    return {.level = level,
            .processes = {{.host = 0, .first = {receive(), compute(time)}}, {.host = 1, .first = {send(0, wait)}}}};
}

std::vector<Duration> ends(const std::vector<ClusterJob>& jobs, const HostScheduling& scheduling,
                           std::int32_t hosts = 2) {
    const Result<ClusterOutcome> outcome = run_time_shared_cluster(hosts, jobs, scheduling);
    EXPECT_TRUE(outcome.has_value()) << outcome.error().message;
    std::vector<Duration> result;
    for (const Time end : outcome->end) result.push_back(end.time_since_epoch());
    return result;
}

const HostScheduling kFifo{.rule = Rule::kFifo};
const HostScheduling kRoundRobin{.rule = Rule::kRoundRobin, .quantum = 10ms};
const HostScheduling kFeedback{.rule = Rule::kFeedback, .quantum = 10ms};

TEST(TimeSharedCluster, FifoLetsTheFirstOfALevelEnd) {
    EXPECT_THAT(ends({computing(30ms, 0), computing(20ms, 0)}, kFifo), ElementsAre(30ms, 50ms));
}

TEST(TimeSharedCluster, RoundRobinTakesTurnsWithinALevel) {
    // 1: 0-10, 20-30, 40-50; 2: 10-20, 30-40.
    EXPECT_THAT(ends({computing(30ms, 0), computing(20ms, 0)}, kRoundRobin), ElementsAre(50ms, 40ms));
    EXPECT_THAT(ends({computing(30ms, 0), computing(20ms, 1)}, kRoundRobin), ElementsAre(30ms, 50ms));
}

TEST(TimeSharedCluster, HigherLevelTakesTheProcessorAtOnceUnlessFeedback) {
    const std::vector<ClusterJob> jobs{waiting(13ms, 5ms, 0), computing(40ms, 1)};
    EXPECT_THAT(ends(jobs, kFifo), ElementsAre(18ms, 45ms));
    EXPECT_THAT(ends(jobs, kRoundRobin), ElementsAre(18ms, 45ms));
    // The low one's second quantum ends at 20 ms.
    EXPECT_THAT(ends(jobs, kFeedback), ElementsAre(25ms, 45ms));
}

TEST(TimeSharedCluster, QuantaBeginWhenAProcessGetsTheProcessor) {
    // The low one starts at 3 ms, so its quanta end at 13 and 23 ms.
    const std::vector<ClusterJob> jobs{waiting(14ms, 5ms, 0), computing(40ms, 1, Time{3ms})};
    EXPECT_THAT(ends(jobs, kFeedback), ElementsAre(28ms, 48ms));
}

TEST(TimeSharedCluster, PreemptedProcessGoesOnBeforeOthersOfItsLevel) {
    EXPECT_THAT(ends({waiting(5ms, 5ms, 0), computing(10ms, 1), computing(10ms, 1)}, kFifo),
                ElementsAre(10ms, 15ms, 25ms));
}

TEST(TimeSharedCluster, LongComputingDriftsDownAndSharesWithTheLevelBelow) {
    const std::vector<ClusterJob> jobs{computing(60ms, 0), computing(60ms, 1)};
    EXPECT_THAT(ends(jobs, kFeedback), ElementsAre(60ms, 120ms));
    HostScheduling drifting = kFeedback;
    drifting.drift = 20ms;
    // Alone for 20 ms, then by turns: 1 needs 40 ms more, and 2 begins.
    EXPECT_THAT(ends(jobs, drifting), ElementsAre(100ms, 120ms));
    drifting.lowest_level = 0;
    EXPECT_THAT(ends(jobs, drifting), ElementsAre(60ms, 120ms)) << "no level to drift to";
}

TEST(TimeSharedCluster, BlockingBringsBackTheLevel) {
    HostScheduling drifting = kFeedback;
    drifting.drift = 20ms;
    // Two phases of 20 ms with a wait between: it never sinks, and waits for at most the rest of a quantum.
    const ClusterJob phases{.level = 0,
                            .processes = {{.host = 0, .first = {compute(20ms), receive(), compute(20ms)}},
                                          {.host = 1, .first = {compute(20ms), send(0, 5ms)}}}};
    EXPECT_THAT(ends({phases, computing(60ms, 1)}, drifting), ElementsAre(50ms, 100ms));
}

TEST(TimeSharedCluster, ReceiveThatYieldsLetsTheOtherInThoughItsMessageIsThere) {
    const ClusterJob reader{.level = 0,
                            .processes = {{.host = 0, .first = {compute(20ms), receive(), compute(20ms)}},
                                          {.host = 1, .first = {send(0, 5ms)}}}};
    const std::vector<ClusterJob> jobs{reader, computing(30ms, 1)};
    EXPECT_THAT(ends(jobs, kFeedback), ElementsAre(40ms, 70ms));
    HostScheduling yielding = kFeedback;
    yielding.receive_yields = true;
    EXPECT_THAT(ends(jobs, yielding), ElementsAre(50ms, 70ms));
}

TEST(TimeSharedCluster, SwitchesCostWhatTheyAreSaidTo) {
    HostScheduling costly = kRoundRobin;
    costly.context_switch = 1ms;
    // Quanta of 10 ms begin with a switch: 1, 2, 1, 2 with 9 ms each, then 1 and 2 with what is left.
    const Result<ClusterOutcome> outcome =
        run_time_shared_cluster(1, std::vector{computing(20ms, 0), computing(20ms, 0)}, costly);
    ASSERT_TRUE(outcome.has_value());
    EXPECT_EQ(outcome->end[0], Time{43ms});
    EXPECT_EQ(outcome->end[1], Time{46ms});
    EXPECT_EQ(outcome->switches, 6);
    EXPECT_THAT(outcome->busy, ElementsAre(46ms));
    EXPECT_THAT(outcome->computed, ElementsAre(20ms, 20ms));
}

TEST(TimeSharedCluster, MeasuredSharesFollowTheProcessorTimeGot) {
    // Host 0 is busy for the whole measurement but for 10 of 40 ms; so it gets a fifth of the work.
    ClusterJob balanced{.level = 1, .processes = {{.host = 0}, {.host = 1}}};
    for (ClusterProcess& process : balanced.processes)
        process.first = {{.kind = Kind::kMeasure, .time = 40ms}, {.kind = Kind::kShare, .time = 100ms}};
    balanced.processes[0].first.insert(balanced.processes[0].first.begin() + 1, receive());
    balanced.processes[1].first.insert(balanced.processes[1].first.begin() + 1, send(0, 1ms));
    EXPECT_THAT(ends({computing(30ms, 0), balanced}, kFifo), ElementsAre(30ms, 120ms));
}

TEST(TimeSharedCluster, PoolIsSharedAsProcessesHaveTime) {
    ClusterJob pooled{.level = 1, .processes = {{.host = 0}, {.host = 1}}, .pool = 100ms};
    for (ClusterProcess& process : pooled.processes) process.first = {{.kind = Kind::kTake, .time = 10ms}};
    EXPECT_THAT(ends({computing(30ms, 0), pooled}, kFifo), ElementsAre(30ms, 70ms));
}

TEST(TimeSharedCluster, DaemonsPassMessagesOnWhenTheyGetTheProcessor) {  // claim 28
    ClusterJob job = waiting(5ms, 5ms, 1);
    job.daemons = MessageDaemons{.level = 0, .relay = 2ms};
    EXPECT_THAT(ends({job}, kFifo), ElementsAre(12ms));
    job.daemons->level = 3;
    EXPECT_THAT(ends({job}, kFifo), ElementsAre(12ms)) << "nobody else wants the processor";
    EXPECT_THAT(ends({job, computing(40ms, 2)}, kFifo), ElementsAre(47ms, 40ms));
    job.processes[1].host = 0;
    EXPECT_THAT(ends({job}, kFifo), ElementsAre(10ms)) << "no daemon between processes of a host";
}

TEST(TimeSharedCluster, EqualArgumentsGiveEqualOutcomes) {
    const std::vector<ClusterJob> jobs{
        barrier_job(elmer::barrier_times(3, 6), layout_hosts(SharedLayout::kE3, 6).high, 0),
        barrier_job(elmer::barrier_times(2, 6), layout_hosts(SharedLayout::kE3, 6).low, 1)};
    EXPECT_EQ(*run_time_shared_cluster(6, jobs, kFeedback), *run_time_shared_cluster(6, jobs, kFeedback));
}

TEST(TimeSharedCluster, NoWorkIsLostUnderAnyRule) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        SCOPED_TRACE(seed);
        Rng rng(seed);
        std::vector<ClusterJob> jobs;
        std::vector<Duration> work(3);
        for (std::size_t j = 0; j < work.size(); ++j) {
            const elmer::BarrierTimes times{.setup = Duration{static_cast<std::int64_t>(rng.below(5000))},
                                            .phases = static_cast<std::int64_t>(1 + rng.below(30)),
                                            .phase_compute = Duration{static_cast<std::int64_t>(rng.below(30'000))},
                                            .phase_delay = Duration{200 + static_cast<std::int64_t>(rng.below(9'000))}};
            std::vector<std::int32_t> hosts{0, 1, 2, 3};
            rng.shuffle(hosts);
            hosts.resize(1 + rng.below(4));
            jobs.push_back(barrier_job(times, hosts, static_cast<std::int32_t>(rng.below(3))));
            for (const ClusterProcess& process : jobs.back().processes) {
                work[j] += times.setup;
                for (const ProcessStep& step : process.phase)
                    if (step.kind == Kind::kCompute) work[j] += times.phases * step.time;
            }
        }
        for (const Rule rule : {Rule::kFifo, Rule::kRoundRobin, Rule::kFeedback}) {
            const Result<ClusterOutcome> outcome = run_time_shared_cluster(
                4, jobs, {.rule = rule, .quantum = 3ms, .drift = 20ms, .receive_yields = rng.below(2) == 0});
            ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
            ASSERT_EQ(outcome->computed, work);
            Duration busy{};
            for (const Duration each : outcome->busy) busy += each;
            ASSERT_EQ(busy, work[0] + work[1] + work[2]);
        }
    }
}

TEST(TimeSharedCluster, TellsWhoWaitsForEver) {
    const ClusterJob lonely{.processes = {{.host = 1, .first = {receive()}}}};
    const Result<ClusterOutcome> outcome = run_time_shared_cluster(2, std::vector{lonely}, kFifo);
    ASSERT_FALSE(outcome.has_value());
    EXPECT_EQ(outcome.error().code, ErrorCode::kConflict);
    EXPECT_THAT(outcome.error().message, HasSubstr("host 1"));
}

TEST(TimeSharedCluster, RefusesWhatIsOutOfRange) {
    const auto refused = [](const ClusterJob& job, const HostScheduling& scheduling = {}) {
        const Result<ClusterOutcome> outcome = run_time_shared_cluster(1, std::vector{job}, scheduling);
        return !outcome && outcome.error().code == ErrorCode::kInvalidArgument;
    };
    const ClusterJob good = computing(1ms, 0);
    EXPECT_FALSE(refused(good));
    EXPECT_TRUE(refused(good, {.quantum = 0us}));
    EXPECT_TRUE(refused(good, {.drift = -1us}));
    EXPECT_TRUE(refused(good, {.context_switch = -1us}));
    EXPECT_TRUE(refused(good, {.quantum = 61min}));
    EXPECT_TRUE(refused(good, {.context_switch = 61min}));
    EXPECT_TRUE(refused(ClusterJob{}));
    EXPECT_TRUE(refused({.start = Time::max(), .processes = {{.host = 0}}, .pool = Duration::max()}));
    EXPECT_TRUE(refused({.processes = {{.first = {{.kind = Kind::kTake}}}}, .pool = 1ms}));
    EXPECT_TRUE(
        refused({.processes = {{.first = {send(0, 1ms)}}}, .daemons = MessageDaemons{.relay = Duration::max()}}));
    EXPECT_TRUE(refused(computing(-1ms, 0)));
    EXPECT_TRUE(refused(computing(1ms, -1)));
    EXPECT_TRUE(refused(computing(1ms, 0, Time{-1s})));
    EXPECT_TRUE(refused({.processes = {{.host = 1}}}));
    EXPECT_TRUE(refused({.processes = {{.first = {send(1, 1ms)}}}}));
    EXPECT_TRUE(refused({.processes = {{.phases = -1}}}));
    EXPECT_TRUE(refused({.processes = {{.phase = {compute(1h)}, .phases = 1'000'000'000}}}));
    EXPECT_TRUE(refused({.processes = {{.host = 0}}, .pool = -1ms}));
    EXPECT_TRUE(refused({.processes = {{.host = 0}}, .daemons = MessageDaemons{.relay = 0us}}));
}

TEST(ClusterPrograms, BarrierAloneTakesWhatItsEquationSays) {  // claim 21
    for (const Rule rule : {Rule::kFifo, Rule::kRoundRobin, Rule::kFeedback})
        for (int version = 1; version <= 3; ++version)
            for (std::int32_t processors = 1; processors <= 6; ++processors) {
                const elmer::BarrierTimes times = elmer::barrier_times(version, processors);
                const ClusterJob job = barrier_job(times, layout_hosts(SharedLayout::kE1, processors).high, 0);
                EXPECT_THAT(ends({job}, {.rule = rule}, 6), ElementsAre(alone(times)));
            }
}

TEST(ClusterPrograms, ComputingAloneTakesStartAndAnEvenPart) {
    for (const Balance balance : {Balance::kMeasured, Balance::kKept})
        for (std::int32_t processors = 1; processors <= 6; ++processors) {
            const elmer::ComputeTimes times = elmer::compute_times(processors, true);
            const ClusterJob job = compute_job(times, layout_hosts(SharedLayout::kE1, processors).high, 0, balance);
            EXPECT_NEAR(to_seconds(ends({job}, kFifo, 6)[0]), to_seconds(times.start + times.compute), 0.011);
        }
}

TEST(ClusterPrograms, LayoutsOfSixHosts) {
    const auto low = [](SharedLayout layout, std::int32_t p) { return layout_hosts(layout, p).low; };
    EXPECT_THAT(low(SharedLayout::kE2, 6), ElementsAre(0, 1, 2, 3, 4, 5));
    EXPECT_THAT(low(SharedLayout::kE3, 6), ElementsAre(5, 0, 1, 2, 3, 4));
    EXPECT_THAT(layout_hosts(SharedLayout::kE4, 5).high, ElementsAre(0, 1, 2, 3, 4));
    EXPECT_THAT(low(SharedLayout::kE4, 5), ElementsAre(5, 1, 2, 3, 4));
    EXPECT_THAT(low(SharedLayout::kE4, 1), ElementsAre(0));
    EXPECT_THAT(layout_hosts(SharedLayout::kE5, 2).high, ElementsAre(0, 1, 2, 3, 4, 5));
    EXPECT_THAT(low(SharedLayout::kE5, 2), ElementsAre(1, 2));
}

}  // namespace
}  // namespace zbs
