// Parts of a zone whose machines belong to another scheduler of the site.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/zone_scheduler/peer/part_service.hpp"
#include "services/zone_scheduler/records/part_view.hpp"
#include "tests/support/fake_allocations.hpp"
#include "tests/support/federation_world.hpp"

namespace zbs::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

/// Answers that come after the end of the life that asked reach nobody.
class LifeAllocations : public Allocations {
  public:
    explicit LifeAllocations(FakeAllocations& slurm) : slurm_(slurm) {}
    void hold(AllocationSpec spec, Done done) override { slurm_.hold(std::move(spec), guard(std::move(done))); }
    void keep(AllocationKey key, Done done) override { slurm_.keep(std::move(key), guard(std::move(done))); }
    void release(AllocationKey key, Done done) override { slurm_.release(std::move(key), guard(std::move(done))); }
    void look(AllocationKey key, std::function<void(Result<AllocationView>)> done) override {
        slurm_.look(std::move(key), guard(std::move(done)));
    }
    Result<StepSpec> step_in(const AllocationKey& key, const AllocatedTasks& tasks, StepSpec step) override {
        return slurm_.step_in(key, tasks, std::move(step));
    }
    void machines(std::function<void(Result<std::vector<MachineUse>>)> done) override {
        slurm_.machines(guard(std::move(done)));
    }
    void end() { *alive_ = false; }

  private:
    template <class T>
    std::function<void(T)> guard(std::function<void(T)> done) {
        return [alive = alive_, done = std::move(done)](T answer) {
            if (*alive) done(std::move(answer));
        };
    }
    FakeAllocations& slurm_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

class AllocationTest : public testing::Test {
  protected:
    AllocationTest() {
        node.adjust = [this](DomainPorts& ports) {
            ports.allocations = lives.emplace_back(std::make_unique<LifeAllocations>(slurm)).get();
        };
        begin();
    }
    void begin() {
        world.restart("b");
        zone().start();
        clock.advance(slurm.takes);
    }
    void restart() {
        world.crash("b");
        lives.back()->end();
        begin();
    }
    PartService& zone() { return *node.parts; }
    PartRequest request(int ranks) {
        PartRequest r{.id = PartId{ids.fresh(home)},
                      .application = ApplicationId{ids.fresh(home)},
                      .user = {CallerKind::kUser, "org-b", "bo"},
                      .home = "b"};
        for (int i = 0; i < ranks; ++i) r.ranks.push_back(i);
        r.graph = *TaskGraph::make(std::vector<double>(static_cast<std::size_t>(ranks), 1.0), {});
        r.walltime = minutes{5};
        return r;
    }
    /// The answer to home for a hold, after the time that this takes.
    Result<PartStatus> hold(const PartRequest& wanted) {
        if (auto asked = zone().hold(home, wanted); !asked) return asked;
        std::optional<Result<PartStatus>> answer;
        zone().when_settled(home, wanted.id, [&](Result<PartStatus> status) { answer = std::move(status); });
        clock.advance(seconds{1});
        if (!answer) return Error{ErrorCode::kTimeout, "nothing was answered", {}};
        return *answer;
    }
    PartState state(const PartId& id) { return zone().status(home, id)->state; }
    /// `machines`: on which it has a proxy; default the first.
    PartStatus running(int ranks, std::vector<MachineName> machines = {}) {
        const auto held = hold(request(ranks));
        EXPECT_TRUE(held) << held.error();
        EXPECT_TRUE(zone().commit(home, held->id, held->token));
        clock.advance(seconds{1});
        if (machines.empty()) machines = {held->assignment[0].machine};
        LaunchRequest launch{.token = held->token,
                             .operation = launch_operation(held->id),
                             .options = {{"control-port", "127.0.0.1:9"}},
                             .proxies = {}};
        for (const MachineName& machine : machines)
            launch.proxies.push_back({static_cast<int>(launch.proxies.size()), machine});
        EXPECT_TRUE(zone().launch(home, held->id, launch));
        return *held;
    }
    StepId step_of(const PartStatus& part) { return StepId(launch_operation(part.id) + "-p0"); }

    const Caller home{CallerKind::kZone, "org-b", "b"};
    FederationWorld world{{}};
    FederationWorld::Node& node =
        world.add({.zone = {"b", {{"n1", 4, 1.0}, {"n2", 4, 1.0}}}, .organisation = "org-b", .contact = "operator"});
    ZoneConfig& config = node.config;
    VirtualClock& clock = world.clock;
    CountingIds& ids = world.ids;
    FakeAllocations slurm{clock};
    MemoryZoneStore& store = node.store;
    FakeExecutor& executor = *node.executor;
    std::vector<std::unique_ptr<LifeAllocations>> lives;
};

TEST_F(AllocationTest, AHoldIsToldOnceTheSchedulerHasGrantedJustItsProcessors) {
    const PartRequest wanted = request(6);
    ASSERT_TRUE(zone().hold(home, wanted));
    bool answer = false;
    zone().when_settled(home, wanted.id, [&](const Result<PartStatus>& status) { answer = status.has_value(); });
    clock.advance(slurm.takes - milliseconds{1});
    EXPECT_FALSE(answer);
    EXPECT_EQ(zone().commit(home, wanted.id, 1).error().code, ErrorCode::kUnavailable) << "nothing stands behind it";
    clock.advance(milliseconds{1});
    EXPECT_TRUE(answer);
    const FakeAllocations::Held* held = slurm.find(to_string(wanted.id));
    ASSERT_NE(held, nullptr);
    int processors = 0;
    for (const auto& share : held->spec.shares) processors += share.processors;
    EXPECT_EQ(processors, 6);
    EXPECT_GT(held->spec.expiry, config.hold_ttl);
    EXPECT_GT(held->spec.walltime, wanted.walltime + config.hold_ttl + config.launch_window);
    EXPECT_EQ(zone().table().free_processors(), 2);
}

TEST_F(AllocationTest, WhereFilesMayComeFirstTheirTimeIsAskedForToo) {
    const PartRequest without = request(2), with = request(2);
    ASSERT_TRUE(hold(without));
    config.staging.nodes_share_state = true;
    ASSERT_TRUE(hold(with));
    const Duration more =
        slurm.find(to_string(with.id))->spec.walltime - slurm.find(to_string(without.id))->spec.walltime;
    EXPECT_EQ(more, config.staging.window);
}

TEST_F(AllocationTest, NodesOfWhichNothingIsKnownMayBeOneHost) {
    config.has_slurm = true;
    config.staging.nodes_share_state = true;
    const auto segments = [&](const std::vector<MachineUse>& uses) {
        slurm.uses = uses;
        restart();
        const auto held = hold(request(6));
        EXPECT_TRUE(held && zone().commit(home, held->id, held->token));
        clock.advance(seconds{1});
        const auto launched = zone().launch(home, held->id,
                                            {.token = held->token,
                                             .operation = launch_operation(held->id),
                                             .options = {{"orte_hnp_uri", "7.0;tcp://127.0.0.1:9"}},
                                             .proxies = {{0, "n1"}, {1, "n2"}},
                                             .launcher = Launcher::kOpenMpi});
        EXPECT_TRUE(launched) << launched.error();
        const auto& environment = executor.steps().at(step_of(*held)).spec.environment;
        const bool own = std::ranges::count(environment, "OMPI_MCA_btl_vader_backing_directory",
                                            &std::pair<std::string, std::string>::first) > 0;
        EXPECT_TRUE(zone().release(home, held->id, "end"));
        clock.advance(seconds{20});
        return own;
    };
    EXPECT_TRUE(segments({}));
    EXPECT_TRUE(segments({{"n1", 0, "", 1, "head"}, {"n2", 0, "", 1, "head"}}));
    EXPECT_FALSE(segments({{"n1", 0, "", 1, "a"}, {"n2", 0, "", 1, "b"}}));
}

TEST_F(AllocationTest, WhatTheSchedulerRefusesIsRefusedAndLeavesNothing) {
    slurm.refusal = "Slurm would let it wait in its queue (Resources)";
    const PartRequest wanted = request(2);
    const auto answer = hold(wanted);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::kRejected);
    EXPECT_THAT(answer.error().message, HasSubstr("(Resources)"));
    EXPECT_EQ(state(wanted.id), PartState::kReleased);
    EXPECT_EQ(zone().table().free_processors(), 8);
    EXPECT_EQ(slurm.asked.back(), "release " + to_string(wanted.id));
}

TEST_F(AllocationTest, SrunStartsAllRanksOfTheProgramOnTheirMachines) {
    config.has_slurm = true;
    const auto held = hold(request(6));
    ASSERT_TRUE(held) << held.error();
    ASSERT_TRUE(zone().commit(home, held->id, held->token));
    clock.advance(seconds{1});
    LaunchRequest wanted{.token = held->token,
                         .operation = launch_operation(held->id),
                         .proxies = {{0, held->assignment[0].machine}},
                         .launcher = Launcher::kSrunPmix};
    wanted.program = {{"/opt/solver", "-v"}, "/data", {{"A", "b"}, {"PATH", "/mine"}}};
    EXPECT_EQ(zone().launch(home, held->id, wanted).error().pointer, "/launcher")
        << "nodes that see no folder of ranks";
    config.staging.nodes_share_state = true;
    const auto launched = zone().launch(home, held->id, wanted);
    ASSERT_TRUE(launched) << launched.error();
    const StepSpec& step = executor.steps().at(step_of(*held)).spec;
    std::vector<std::string> argv = {"run-in", to_string(held->id)};
    for (const RankPlace& place : held->assignment) argv.push_back(place.machine);
    argv.insert(argv.end(), {"pmix", executor.folder(step_of(*held)), "/opt/solver", "-v"});
    EXPECT_EQ(step.argv, argv);
    EXPECT_EQ(step.directory, "/data");
    EXPECT_THAT(step.environment, testing::Contains(testing::Pair("A", "b")));
    EXPECT_THAT(step.environment, testing::Contains(testing::Pair("PATH", "/mine")));
    EXPECT_EQ(std::ranges::count(step.environment, "PATH", &std::pair<std::string, std::string>::first), 1);
    EXPECT_FALSE(step.is_launcher) << "the ranks get the signal of a stop themselves";
}

TEST_F(AllocationTest, APartThatRunsIsKeptAndGivenBackOnlyAfterItsProcesses) {
    const PartStatus part = running(4);
    const std::string operation = to_string(part.id);
    EXPECT_TRUE(slurm.find(operation)->kept);
    EXPECT_THAT(executor.steps().at(step_of(part)).spec.argv[0], "run-in");
    EXPECT_THAT(executor.steps().at(step_of(part)).spec.argv[1], operation);
    EXPECT_TRUE(executor.steps().at(step_of(part)).spec.is_launcher) << "the signal of a stop is for its ranks";
    clock.advance(minutes{2});
    EXPECT_EQ(state(part.id), PartState::kRunning) << "kept: no expiry ended it";
    executor.end(step_of(part), 0);
    clock.advance(seconds{2});
    EXPECT_EQ(state(part.id), PartState::kCompleted);
    EXPECT_EQ(slurm.running(), 0);
    EXPECT_EQ(zone().table().free_processors(), 8);
}

TEST_F(AllocationTest, ASchedulerThatIsDownAtTheEndIsAskedUntilItHasTakenItsProcessorsBack) {
    const PartStatus part = running(4);
    slurm.fault = Error{ErrorCode::kUnavailable, "slurmctld is down", {}};
    executor.end(step_of(part), 0);
    clock.advance(minutes{5});
    EXPECT_EQ(state(part.id), PartState::kRunning);
    EXPECT_EQ(zone().table().free_processors(), 4) << "they may not be free";
    slurm.fault.reset();
    clock.advance(minutes{1});
    EXPECT_EQ(state(part.id), PartState::kCompleted);
    EXPECT_EQ(slurm.running(), 0);
}

TEST_F(AllocationTest, AReleaseAfterTheLastProcessChangesNothingOfTheEnd) {
    const PartStatus part = running(4);
    slurm.fault = Error{ErrorCode::kUnavailable, "slurmctld is down", {}};
    executor.end(step_of(part), 0);
    clock.advance(minutes{1});
    EXPECT_TRUE(zone().release(home, part.id, "cancelled"));
    slurm.fault.reset();
    clock.advance(minutes{1});
    EXPECT_EQ(state(part.id), PartState::kCompleted);
}

TEST_F(AllocationTest, AnAllocationThatEndsByItselfTellsWhy) {
    const PartStatus part = running(2);
    slurm.end(to_string(part.id), "a node of Slurm job 7 failed");
    executor.end(step_of(part), 0);  // srun ends politely
    clock.advance(seconds{2});
    EXPECT_EQ(state(part.id), PartState::kFailed);
    EXPECT_THAT(store.all_parts().at(0).status.reason, HasSubstr("taken back: a node of Slurm job 7 failed in zone b"));
    EXPECT_NE(*store.all_parts().at(0).status.exit_code, 0);
    EXPECT_EQ(outside_view(store.all_parts().at(0).status, false).reason, "processors were taken back by zone b")
        << "others learn that it was not their program";
}

TEST_F(AllocationTest, AnAllocationWhoseNodesEndOneAfterTheOtherIsTheReasonAndNotTheFirstProxy) {
    const PartStatus part = running(6, {"n1", "n2"});
    slurm.end(to_string(part.id), "Slurm job 7 was cancelled");
    executor.end(step_of(part), 143);
    clock.advance(seconds{2});  // the zone stops the other proxy
    EXPECT_EQ(state(part.id), PartState::kFailed);
    EXPECT_THAT(store.all_parts().at(0).status.reason, HasSubstr("taken back: Slurm job 7 was cancelled in zone b"));
}

TEST_F(AllocationTest, AProxyThatEndsWithACodeIsTheReasonWhereTheAllocationStays) {
    const PartStatus part = running(6, {"n1", "n2"});
    executor.end(step_of(part), 143);
    clock.advance(seconds{2});
    EXPECT_EQ(state(part.id), PartState::kFailed);
    EXPECT_THAT(store.all_parts().at(0).status.reason, HasSubstr("a proxy of zone b ended with code 143"));
}

TEST_F(AllocationTest, ACommittedPartWhoseProcessorsAreTakenAwayIsGivenUp) {
    const auto held = hold(request(2));
    ASSERT_TRUE(zone().commit(home, held->id, held->token));
    slurm.end(to_string(held->id), "Slurm job 7 was cancelled");
    clock.advance(seconds{15});
    EXPECT_EQ(state(held->id), PartState::kReleased);
    EXPECT_THAT(zone().status(home, held->id)->reason, HasSubstr("was cancelled"));
}

TEST_F(AllocationTest, AHoldThatIsGivenBackWhileTheSchedulerThinksLeavesNothing) {
    const PartRequest wanted = request(3);
    ASSERT_TRUE(zone().hold(home, wanted));
    std::optional<Result<PartStatus>> answer;
    zone().when_settled(home, wanted.id, [&](Result<PartStatus> status) { answer = std::move(status); });
    ASSERT_TRUE(zone().release(home, wanted.id, "plans changed"));
    ASSERT_TRUE(answer) << "whoever waits for it is answered";
    EXPECT_EQ(answer->error().code, ErrorCode::kRejected);
    clock.advance(seconds{5});
    EXPECT_EQ(slurm.running(), 0);
    EXPECT_EQ(zone().table().free_processors(), 8);
}

TEST_F(AllocationTest, AnUncommittedHoldIsGivenBackToTheScheduler) {
    const auto held = hold(request(3));
    ASSERT_TRUE(held);
    clock.advance(config.hold_ttl + seconds{2});
    EXPECT_EQ(state(held->id), PartState::kExpired);
    EXPECT_EQ(slurm.running(), 0);
}

TEST_F(AllocationTest, AReservedPartIsReadyOnceItsAllocationRuns) {
    PartRequest later = request(4);
    later.start_in = minutes{10};
    const auto held = hold(later);
    ASSERT_TRUE(held) << held.error();
    ASSERT_TRUE(zone().commit(home, held->id, held->token));
    clock.advance(minutes{9});
    EXPECT_FALSE(zone().status(home, held->id)->ready);
    clock.advance(minutes{1});
    EXPECT_TRUE(zone().status(home, held->id)->ready);
    EXPECT_EQ(state(held->id), PartState::kCommitted);
}

TEST_F(AllocationTest, AfterARestartTheSchedulerIsAskedWhatThereIs) {
    const PartStatus runs = running(2);
    const auto committed = hold(request(2));
    ASSERT_TRUE(zone().commit(home, committed->id, committed->token));
    const PartRequest asked = request(2);
    ASSERT_TRUE(zone().hold(home, asked));  // the zone dies before the answer
    restart();
    clock.advance(seconds{2});
    EXPECT_EQ(state(runs.id), PartState::kRunning);
    EXPECT_EQ(state(committed->id), PartState::kCommitted);
    EXPECT_TRUE(zone().status(home, committed->id)->ready);
    const auto again = hold(asked);  // home asks again
    ASSERT_TRUE(again) << again.error();
    EXPECT_EQ(again->state, PartState::kHeld);
    executor.end(step_of(runs), 0);
    clock.advance(seconds{2});
    EXPECT_EQ(state(runs.id), PartState::kCompleted);
}

TEST_F(AllocationTest, AZoneThatDiesWhileItGivesBackStillKnowsThatThePartEndedWell) {
    slurm.ending_takes = minutes{1};
    const PartStatus part = running(2);
    executor.end(step_of(part), 0);
    clock.advance(seconds{2});
    ASSERT_EQ(slurm.asked.back(), "release " + to_string(part.id));
    ASSERT_EQ(state(part.id), PartState::kRunning);
    restart();
    clock.advance(minutes{3});
    EXPECT_EQ(state(part.id), PartState::kCompleted);
}

TEST_F(AllocationTest, ACommittedPartIsStillOneWhileTheSchedulerIsAskedAfterARestart) {
    const auto held = hold(request(2));
    ASSERT_TRUE(zone().commit(home, held->id, held->token));
    clock.advance(seconds{1});
    slurm.fault = Error{ErrorCode::kUnavailable, "slurmctld is down", {}};
    restart();
    clock.advance(minutes{5});  // longer than the launch window
    EXPECT_TRUE(zone().commit(home, held->id, held->token));
    EXPECT_FALSE(zone().status(home, held->id)->ready);
    slurm.fault.reset();
    clock.advance(seconds{5});
    EXPECT_EQ(state(held->id), PartState::kCommitted);
    EXPECT_TRUE(zone().status(home, held->id)->ready);
}

TEST_F(AllocationTest, WhatTheSchedulerForgotWhileTheZoneWasDownIsGivenUp) {
    const auto held = hold(request(2));
    clock.advance(seconds{10});
    slurm.end(to_string(held->id), "Slurm job 7 was cancelled");
    restart();
    clock.advance(seconds{2});
    EXPECT_EQ(state(held->id), PartState::kReleased);
    EXPECT_EQ(zone().table().free_processors(), 8);
}

TEST_F(AllocationTest, WhatOthersHaveThereAndBrokenMachinesAreNotOffered) {
    const CapacityRequest question{.user = {CallerKind::kUser, "org-b", "bo"}, .processors = 8};
    ASSERT_TRUE(hold(request(2)));
    slurm.uses = {{"n1", 3, ""}, {"n2", 0, "drained: disk failing"}};  // of the three two are ours
    clock.advance(seconds{11});
    EXPECT_EQ(zone().capacity(home, question)->processors, 1);
    EXPECT_EQ(zone().hold(home, request(2)).error().code, ErrorCode::kRejected);
    slurm.uses = {{"n1", 2, ""}, {"n2", 0, ""}};
    clock.advance(seconds{11});
    EXPECT_EQ(zone().capacity(home, question)->processors, 6);
}

}  // namespace
}  // namespace zbs::test
