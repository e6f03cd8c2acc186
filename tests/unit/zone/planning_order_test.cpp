// A home plans the applications that wait in one order, and asks the zones once for all of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/federation_world.hpp"

namespace zbs::test {
namespace {

using namespace std::chrono_literals;

struct PlanningOrderTest : testing::Test {
    FederationWorld world{{4, 4, 4}};
    int questions = 0, holds = 0;

    PlanningOrderTest() {
        world.look_rarely();
        for (const char* zone : {"a", "b", "c"}) world.node(zone).executor->script("", {.runtime = 5s});
        world.on_message = [this](const std::string& from, const std::string&, const char* what) {
            questions += from == "a" && what == std::string("capacity");
            holds += from == "a" && what == std::string("hold");
        };
    }
    ApplicationId submit(int ranks, int priority = kUsualPriority) {
        ApplicationRequest request = world.request(ranks);
        request.priority = priority;
        EXPECT_TRUE(world.node("a").applications->submit(world.user(), request));
        return request.id;
    }
    Time start_of(const ApplicationId& id) {
        for (const StateChange& change : world.status(id).history)
            if (change.state == ApplicationState::kRunning) return change.at;
        return Time::max();
    }
};

TEST_F(PlanningOrderTest, ManyThatWaitStartInTheOrderOfSubmissionAndNoneIsRejected) {
    std::vector<ApplicationId> ids;
    for (int i = 0; i < 20; ++i) ids.push_back(submit(12));  // all there is
    world.run_until(3h, [&] { return is_final(world.status(ids.back()).state); });
    std::vector<Time> starts;
    for (const ApplicationId& id : ids) {
        EXPECT_EQ(world.status(id).state, ApplicationState::kCompleted) << world.status(id).reason;
        starts.push_back(start_of(id));
    }
    EXPECT_TRUE(std::ranges::is_sorted(starts));
    EXPECT_LE(holds, 20 * 3 * 2) << "one for its reservation and one for its start";
}

TEST_F(PlanningOrderTest, AZoneThatAnswersLateDelaysOnePlanAndNotTheNext) {
    bool is_late = true;
    world.answer_delay = [&](const std::string& from, const std::string& what) {
        if (what != "capacity" || !is_late) return Duration{0s};
        return from == "c" ? Duration{7s} : from == "b" ? Duration{700ms} : Duration{0s};  // b is far, and in time
    };
    const auto waits = [&](int ranks) {
        const Time begin = world.clock.now();
        const ApplicationId id = submit(ranks);
        world.run_until(1min, [&] { return is_final(world.status(id).state); });
        return start_of(id) - begin;
    };
    EXPECT_GE(waits(2), Duration{5s});
    EXPECT_LT(waits(2), Duration{2s});
    EXPECT_LT(waits(2), Duration{2s});
    is_late = false;
    EXPECT_LT(waits(12), Duration{10s}) << "all there is: it takes part again";
}

TEST_F(PlanningOrderTest, TheHigherPriorityGoesFirst) {
    submit(12);
    world.run(2s);
    std::vector<ApplicationId> low, high;
    world.node("a").config.max_reservations = 0;
    for (int i = 0; i < 5; ++i) {
        low.push_back(submit(12, 3));
        high.push_back(submit(12, 8));
    }
    world.run_until(10min, [&] { return is_final(world.status(low.back()).state); });
    Time latest_high{};
    for (const ApplicationId& id : high) latest_high = std::max(latest_high, start_of(id));
    for (const ApplicationId& id : low) EXPECT_GT(start_of(id), latest_high);
}

TEST_F(PlanningOrderTest, ASmallOneStartsBehindALargeOneThatWaitsAndDelaysItNot) {
    const ApplicationId first = submit(8);
    world.run(2s);
    const ApplicationId large = submit(12), small = submit(2);
    world.run(3s);
    EXPECT_EQ(world.status(first).state, ApplicationState::kRunning);
    EXPECT_LT(world.status(large).state, ApplicationState::kRunning);
    EXPECT_NE(world.status(small).state, ApplicationState::kRejected);
    world.run_until(10min, [&] { return is_final(world.status(large).state) && is_final(world.status(small).state); });
    for (const ApplicationId& id : {first, large, small})
        EXPECT_EQ(world.status(id).state, ApplicationState::kCompleted) << world.status(id).reason;
}

TEST_F(PlanningOrderTest, WaitingAsksOnceForAll) {
    const ApplicationId runs = submit(12);
    world.node("a").executor->script("mpi-", {.runtime = 1h});
    world.node("a").config.max_reservations = 0;
    for (int i = 0; i < 200; ++i) submit(12);
    world.run(5s);
    const int before = questions;
    world.run(10s);
    EXPECT_LE(questions - before, 12 * 3) << "one question a second to each zone, however many wait";
    EXPECT_EQ(world.status(runs).state, ApplicationState::kRunning);
}

TEST_F(PlanningOrderTest, ThoseThatAskDifferentlyAreAskedAboutInOneCall) {
    for (const char* zone : {"a", "b", "c"}) world.node(zone).executor->script("", {.runtime = 9min});
    submit(12);
    world.run(2s);
    world.node("a").config.max_reservations = 4;
    for (int i = 0; i < 40; ++i) {
        ApplicationRequest request = world.request(12);
        request.walltime = 600s + i * 1s;
        EXPECT_TRUE(world.node("a").applications->submit(world.user(), request));
    }
    world.run(30s);
    const int before = questions;
    world.run(10s);
    EXPECT_LE(questions - before, 12 * 3) << "one call a second to each zone";
}

TEST_F(PlanningOrderTest, WhoComesBehindManyOthersThatAskDifferentlyStartsToo) {
    world.node("a").config.max_reservations = 0;
    for (const char* zone : {"a", "b", "c"}) world.node(zone).executor->script("", {.runtime = 9min});
    submit(8);
    world.run(2s);
    const auto with_walltime = [&](int ranks, Duration walltime) {
        ApplicationRequest request = world.request(ranks);
        request.walltime = walltime;
        EXPECT_TRUE(world.node("a").applications->submit(world.user(), request));
        return request.id;
    };
    for (int i = 0; i < 90; ++i) with_walltime(12, 600s + i * 1s);  // none of them has room
    const ApplicationId small = with_walltime(2, 300s);
    world.run(60s);
    EXPECT_EQ(world.status(small).state, ApplicationState::kRunning) << world.status(small).reason;
}

TEST_F(PlanningOrderTest, ZonesThatBrokeTheirWordAreUsedLast) {
    for (int i = 0; i < 4; ++i) world.node("a").peerings->record("org-b", TrustEvent::kBrokenWord);
    const ApplicationId small = submit(8);
    world.run(2s);
    for (const ApplicationPart& part : world.status(small).parts) EXPECT_NE(part.zone, "b");
    const ApplicationId more = submit(4);  // only zone b is left
    world.run(2s);
    ASSERT_EQ(world.status(more).parts.size(), 1U) << world.status(more).reason;
    EXPECT_EQ(world.status(more).parts.front().zone, "b");
    world.run(60s);
}

TEST_F(PlanningOrderTest, AZoneThatIsSilentForLongDelaysNobodyElse) {
    world.answer_delay = [](const std::string& from, const std::string& what) {
        return from == "c" && what == "capacity" ? Duration{20s} : Duration{0};
    };
    const ApplicationId first = submit(4), second = submit(4);
    world.run(7s);
    EXPECT_GE(world.status(first).state, ApplicationState::kRunning) << world.status(first).reason;
    EXPECT_GE(world.status(second).state, ApplicationState::kRunning) << world.status(second).reason;
    world.run(30s);
}

TEST_F(PlanningOrderTest, ACycleOverManyLetsOthersInBetween) {
    world.node("a").executor->script("mpi-", {.runtime = 1h});
    world.node("a").config.max_reservations = 0;
    submit(12);
    world.run(2s);
    for (int i = 0; i < 300; ++i) submit(12);
    int together = 0, most = 0;
    world.node("a").store.on_write = [&] {  // each that waits gets a reason
        most = std::max(most, ++together);
        world.clock.after(0s, [&] { together = 0; });
    };
    world.run(3s);
    world.node("a").store.on_write = nullptr;
    EXPECT_GT(most, 10);
    EXPECT_LE(most, 64);
}

/// Applications whose plans are made in the background: many ranks in a row.
struct BackgroundPlanTest : testing::Test {
    FederationWorld world{{60, 60}};

    ApplicationRequest request(int ranks) {
        ApplicationRequest request = world.request(ranks);
        std::vector<TaskEdge> edges;
        for (TaskIndex rank = 0; rank + 1 < ranks; ++rank) edges.push_back({rank, rank + 1, 1e6, 10});
        request.model = ApplicationModel{
            "/bin/app", true, *TaskGraph::make(std::vector<double>(static_cast<std::size_t>(ranks), 1), edges)};
        return request;
    }
    ApplicationId submit(int ranks) {
        const ApplicationRequest request = this->request(ranks);
        EXPECT_TRUE(world.node("a").applications->submit(world.user(), request));
        return request.id;
    }
    VirtualBackground& background() { return *world.node("a").background; }
    void work() {
        for (VirtualBackground::Held& one : std::exchange(background().held, {})) {
            one.work();
            one.done();
        }
    }
};

TEST_F(BackgroundPlanTest, ALargePlanIsMadeInTheBackgroundAndTheNextOneWaitsForIt) {
    background().is_held = true;
    const ApplicationId large = submit(70), small = submit(4);
    world.run(2s);
    ASSERT_EQ(background().held.size(), 1U);
    EXPECT_EQ(world.status(large).reason, "its plan is being made");
    EXPECT_EQ(world.status(small).state, ApplicationState::kAccepted);
    work();
    world.run(5s);
    EXPECT_EQ(world.status(large).state, ApplicationState::kRunning) << world.status(large).reason;
    EXPECT_EQ(world.status(small).state, ApplicationState::kRunning) << world.status(small).reason;
    EXPECT_GT(world.status(large).plan->clusters.size(), 1U);
}

TEST_F(BackgroundPlanTest, ACancelledOneDropsItsPlanAndTheNextOneIsPlanned) {
    background().is_held = true;
    const ApplicationId large = submit(70), small = submit(4);
    world.run(2s);
    EXPECT_TRUE(world.node("a").applications->cancel(world.user(), large));
    world.run(5s);
    EXPECT_EQ(world.status(large).state, ApplicationState::kCancelled);
    EXPECT_EQ(world.status(small).state, ApplicationState::kRunning) << world.status(small).reason;
    work();
    world.run(5s);
    EXPECT_EQ(world.status(large).state, ApplicationState::kCancelled);
}

TEST_F(BackgroundPlanTest, APlanThatTakesTooLongGoesInBlocks) {
    background().is_held = true;
    const ApplicationId large = submit(70);
    world.run(9s);
    EXPECT_EQ(world.status(large).state, ApplicationState::kAccepted);
    world.run(5s);
    EXPECT_EQ(world.status(large).state, ApplicationState::kRunning) << world.status(large).reason;
    const ApplicationPlan plan = *world.status(large).plan;
    EXPECT_TRUE(std::ranges::is_sorted(plan.zone_of_rank));
    EXPECT_EQ(plan.clusters.size(), 2U);
    work();
    world.run(5s);
    EXPECT_EQ(*world.status(large).plan, plan);
}

TEST_F(BackgroundPlanTest, ADryRunIsAnsweredOnceItsPlanIsThere) {
    background().is_held = true;
    int answers = 0;
    world.node("a").applications->dry_run(world.user(), request(70), [&](const Result<ApplicationPlan>& plan) {
        ++answers;
        EXPECT_TRUE(plan);
    });
    world.run(2s);
    EXPECT_EQ(answers, 0);
    work();
    EXPECT_EQ(answers, 1);
}

}  // namespace
}  // namespace zbs::test
