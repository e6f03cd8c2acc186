#include "algorithms/sim/replay.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/support/graphs.hpp"

namespace zbs {
namespace {

using testing::HasSubstr;

/// Two zones of two machines of one processor: 1 s and 1 B/s inside a zone, 10 s and 0.5 B/s between.
ResourceGraph slow_zones() { return test::flat_zones({2, 2}, {10, 0.5}, {1, 1}); }
Mapping on(std::vector<ProcessorIndex> processors) { return {std::move(processors)}; }

TEST(Replay, MessageArrivesAfterDelayAndTransfer) {
    TraceBuilder t(2);
    t.compute(0, 2);
    t.send(0, 1, 3);
    t.receive(1, 0);
    t.compute(1, 1);
    const ReplayReport report = replay(std::move(t).finish(), slow_zones(), on({0, 1})).value();
    EXPECT_EQ(report.run_time_s, 2 + 1 + 3 + 1);
    EXPECT_EQ(report.ranks[0], (RankTimes{2, 0, 2}));
    EXPECT_EQ(report.ranks[1], (RankTimes{1, 6, 7}));
    EXPECT_EQ(report.within_zone, (LinkTraffic{1, 3}));
    EXPECT_EQ(report.events, 4U);
}

TEST(Replay, LinkOfTheTwoProcessorsCounts) {
    const auto run_time = [](std::vector<ProcessorIndex> processors) {
        TraceBuilder t(2);
        t.send(0, 1, 3);
        t.receive(1, 0);
        return replay(std::move(t).finish(), slow_zones(), {std::move(processors)}).value().run_time_s;
    };
    EXPECT_EQ(run_time({0, 0}), 0);
    EXPECT_EQ(run_time({0, 1}), 1 + 3);
    EXPECT_EQ(run_time({0, 2}), 10 + 6);
    EXPECT_EQ(run_time({3, 1}), 10 + 6);
}

TEST(Replay, SpeedAndSharingStretchComputing) {
    const ResourceGraph resources =
        ResourceGraph::make({{.name = "z", .machines = {{"m", 1, 4}, {"n", 2, 1}}}}, {}).value();
    TraceBuilder t(3);
    for (int r = 0; r < 3; ++r) t.compute(r, 8);
    const Trace trace = std::move(t).finish();
    EXPECT_EQ(replay(trace, resources, on({0, 1, 2})).value().ranks[0].compute_s, 2);
    EXPECT_EQ(replay(trace, resources, on({0, 1, 2})).value().run_time_s, 8);
    EXPECT_EQ(replay(trace, resources, on({0, 0, 2})).value().ranks[0].compute_s, 4);
    EXPECT_EQ(replay(trace, resources, on({1, 1, 1})).value().run_time_s, 24);
}

TEST(Replay, WaitOfAPostedReceiveOverlapsWithComputing) {
    TraceBuilder t(2);
    t.send(0, 1, 3);  // arrives at 4
    const std::uint32_t first = t.post(1, 0);
    t.compute(1, 3);
    t.wait(1, first);
    const ReplayReport report = replay(std::move(t).finish(), slow_zones(), on({0, 1})).value();
    EXPECT_EQ(report.ranks[1], (RankTimes{3, 1, 4}));
}

TEST(Replay, PostedReceivesTakeMessagesInTheOrderOfPosting) {
    TraceBuilder t(2);
    t.send(0, 1, 3);  // arrives at 4
    t.compute(0, 10);
    t.send(0, 1, 0);  // arrives at 11
    const std::uint32_t first = t.post(1, 0), second = t.post(1, 0);
    t.wait(1, second);
    t.wait(1, first);
    EXPECT_EQ(replay(std::move(t).finish(), slow_zones(), on({0, 1})).value().run_time_s, 11);
}

TEST(Replay, LaterMessageOfAChannelDoesNotOvertake) {
    TraceBuilder t(2);
    t.send(0, 1, 100);
    t.send(0, 1, 0);
    const std::uint32_t first = t.post(1, 0), second = t.post(1, 0);
    t.wait(1, second);
    t.wait(1, first);
    EXPECT_EQ(replay(std::move(t).finish(), slow_zones(), on({0, 1})).value().run_time_s, 101);
}

TEST(Replay, TagsAreChannelsOfTheirOwn) {
    TraceBuilder t(2);
    t.send(0, 1, 100, 1);
    t.send(0, 1, 0, 2);
    t.receive(1, 0, 2);
    EXPECT_EQ(replay(std::move(t).finish(), slow_zones(), on({0, 1})).value().run_time_s, 1);
}

TEST(Replay, ReceiveFromAnyTakesTheFirstToArrive) {
    // Rank 1 computes long and is near, rank 2 sends at once from afar: 12 arrives after 5 + 1.
    TraceBuilder t(3);
    t.compute(1, 5);
    t.send(1, 0, 0, 7);
    t.send(2, 0, 1, 7);
    t.receive(0, TraceChannel::kAny, 7);
    t.compute(0, 100);
    t.receive(0, TraceChannel::kAny, TraceChannel::kAny);
    t.send(0, 1, 0);  // 1 hears of it
    t.receive(1, 0);
    const ReplayReport report = replay(std::move(t).finish(), slow_zones(), on({0, 1, 2})).value();
    EXPECT_EQ(report.ranks[0].blocked_s, 6);
    EXPECT_EQ(report.run_time_s, 107);
    EXPECT_EQ(report.unreceived_messages, 0);
}

TEST(Replay, ReceiveFromAnyWaitsForWhatOthersStillHaveToDo) {
    // A chain of two anys: rank 1's match decides what rank 0 gets; rank 2's late message must not win early.
    TraceBuilder t(3);
    t.send(2, 1, 0);  // at 10 in rank 1
    t.compute(2, 40);
    t.send(2, 0, 0);  // at 50 in rank 0
    t.receive(1, TraceChannel::kAny);
    t.send(1, 0, 0);  // at 11 in rank 0
    t.receive(0, TraceChannel::kAny);
    t.compute(0, 1);
    const ReplayReport report = replay(std::move(t).finish(), slow_zones(), on({0, 1, 2})).value();
    EXPECT_EQ(report.ranks[0].end_s, 12);
    EXPECT_EQ(report.unreceived_messages, 1);
}

TEST(Replay, DeadlockSaysWhoWaitsForWhom) {
    TraceBuilder t(3);
    t.receive(0, 1, 5);
    t.send(0, 1, 1);
    t.receive(1, 0);
    t.send(1, 0, 1, 5);
    const Result<ReplayReport> report = replay(std::move(t).finish(), slow_zones(), on({0, 1, 2}));
    ASSERT_FALSE(report);
    EXPECT_THAT(report.error().message, HasSubstr("2 of 3 ranks"));
    EXPECT_THAT(report.error().message, HasSubstr("rank 0 waits for rank 1 (event 0, tag 5)"));
    EXPECT_THAT(report.error().message, HasSubstr("rank 1 waits for rank 0 (event 0, tag 0)"));
}

TEST(Replay, ReceiveOfWhatNobodySendsIsAnError) {
    TraceBuilder t(2);
    t.wait(0, t.post(0, 1));
    t.receive(1, TraceChannel::kAny);
    const Result<ReplayReport> report = replay(std::move(t).finish(), slow_zones(), on({0, 1}));
    ASSERT_FALSE(report);
    EXPECT_THAT(report.error().message, HasSubstr("rank 1 waits for any rank"));
    TraceBuilder ended(2);
    ended.receive(0, 1);
    EXPECT_THAT(replay(std::move(ended).finish(), slow_zones(), on({0, 1})).error().message,
                HasSubstr("which has ended"));
}

TEST(Replay, TraceThatWasCutEndsWhereItWasCut) {
    TraceBuilder t(2);
    t.compute(0, 3);
    t.receive(1, 0);
    t.set_incomplete();
    const ReplayReport report = replay(std::move(t).finish(), slow_zones(), on({0, 1})).value();
    EXPECT_FALSE(report.complete);
    EXPECT_EQ(report.run_time_s, 3);
}

TEST(Replay, TrafficIsCountedByKindOfLink) {
    const ResourceGraph resources =
        ResourceGraph::make(
            {{.name = "a", .machines = {{"m", 2, 1}, {"n", 1, 1}}}, {.name = "b", .machines = {{"m", 1, 1}}}}, {})
            .value();
    TraceBuilder t(5);
    const Mapping mapping = on({0, 0, 1, 2, 3});
    for (int to = 1; to < 5; ++to) {
        t.send(0, to, 10 * to);
        t.receive(to, 0);
    }
    t.send(4, 0, 1);
    const ReplayReport report = replay(std::move(t).finish(), resources, mapping).value();
    EXPECT_EQ(report.same_processor, (LinkTraffic{1, 10}));
    EXPECT_EQ(report.within_machine, (LinkTraffic{1, 20}));
    EXPECT_EQ(report.within_zone, (LinkTraffic{1, 30}));
    EXPECT_EQ(report.between_zones[1], (LinkTraffic{2, 41}));
    EXPECT_EQ(report.unreceived_messages, 1);
}

TEST(Replay, RefusesWhatDoesNotFit) {
    TraceBuilder t(2);
    t.send(0, 1, 1);
    const Trace trace = std::move(t).finish();
    EXPECT_THAT(replay(trace, slow_zones(), on({0})).error().message, HasSubstr("places 1 tasks"));
    EXPECT_THAT(replay(trace, slow_zones(), on({0, 4})).error().message, HasSubstr("processor 4"));
    EXPECT_THAT(replay(Trace{}, slow_zones(), on({})).error().message, HasSubstr("no ranks"));
    const auto broken = [&](TraceEvent event) {
        Trace bad = trace;
        bad.ranks[0].push_back(event);
        const auto report = replay(bad, slow_zones(), on({0, 1}));
        return report ? std::string("accepted") : report.error().message;
    };
    EXPECT_THAT(broken({1, 9, TraceEvent::Kind::kSend}), HasSubstr("event 1 of rank 0"));
    EXPECT_THAT(broken({-1, 0, TraceEvent::Kind::kCompute}), HasSubstr("negative"));
    EXPECT_THAT(broken({0, 0, TraceEvent::Kind::kReceive}), HasSubstr("does not end here"));
    EXPECT_THAT(broken({0, 0, TraceEvent::Kind::kWait}), HasSubstr("not been posted"));
}

TEST(Replay, ObserverSeesEveryIntervalOnceInOrder) {
    struct Collector final : ReplayObserver {
        std::map<std::int32_t, double> at, compute, blocked_for;
        void take(std::int32_t rank, double begin, double end) {
            EXPECT_GE(begin, at[rank]);
            EXPECT_GE(end, begin);
            at[rank] = end;
        }
        void computed(std::int32_t rank, double begin, double end) override {
            take(rank, begin, end);
            compute[rank] += end - begin;
        }
        void blocked(std::int32_t rank, double begin, double end) override {
            take(rank, begin, end);
            blocked_for[rank] += end - begin;
        }
    } seen;
    TraceBuilder t(2);
    for (int i = 0; i < 10; ++i) {
        t.compute(0, 1);
        t.send(0, 1, 2);
        t.receive(1, 0);
        t.compute(1, 0.5);
        t.send(1, 0, 1);
        t.receive(0, 1);
    }
    const Trace trace = std::move(t).finish();
    const ReplayReport report = replay(trace, slow_zones(), on({0, 2}), &seen).value();
    EXPECT_EQ(report, replay(trace, slow_zones(), on({0, 2})).value());
    for (std::int32_t r = 0; r < 2; ++r) {
        const RankTimes& times = report.ranks[static_cast<std::size_t>(r)];
        EXPECT_DOUBLE_EQ(seen.compute[r], times.compute_s);
        EXPECT_DOUBLE_EQ(seen.blocked_for[r], times.blocked_s);
        EXPECT_DOUBLE_EQ(seen.at[r], times.end_s);
        EXPECT_DOUBLE_EQ(times.compute_s + times.blocked_s, times.end_s);
    }
}

TEST(TaskGraphOf, SumsBothDirectionsAndAllTags) {
    TraceBuilder t(3);
    t.compute(0, 2);
    t.compute(0, 4);
    t.send(0, 1, 10);
    t.send(0, 1, 5, 9);
    t.send(1, 0, 1);
    t.send(2, 2, 100);
    t.receive(1, 0);
    EXPECT_EQ(task_graph_of(std::move(t).finish()), *TaskGraph::make({3, 0, 0}, {{0, 1, 16, 3}}));
}

}  // namespace
}  // namespace zbs
