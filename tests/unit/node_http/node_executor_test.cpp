// A zone's steps on a machine with an agent: the agent's routes over fakes, the zone's executor over them.
#include "services/zone_scheduler/adapters/node/node_executor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/support/temporary_folder.hpp"
#include "tests/unit/node_http/node_world.hpp"

namespace zbs::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// A network that can be cut, and that keeps nothing which outlives a life of the zone.
class CutClient : public HttpClient {
  public:
    explicit CutClient(HttpClient& through) : through_(through) {}
    void call(HttpCall call, std::function<void(Result<HttpAnswer>)> respond) override {
        if (!*alive_) return;
        const auto guarded = [alive = alive_, respond = std::move(respond)](Result<HttpAnswer> answer) {
            if (*alive) respond(std::move(answer));
        };
        if (cut)
            return clock->after(10ms, [guarded] { guarded(Error{ErrorCode::kUnavailable, "no route", {}}); }), void();
        through_.call(std::move(call), guarded);
    }
    void end() { *alive_ = false; }
    bool cut = false;
    VirtualClock* clock = nullptr;

  private:
    HttpClient& through_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

class NodeExecutorTest : public testing::Test {
  protected:
    NodeExecutorTest() { begin(); }
    void begin() {
        if (client != nullptr) client->end();
        clients.push_back(std::make_unique<CutClient>(through));
        client = clients.back().get();
        client->clock = &world.clock;
        lives.push_back(std::make_unique<node::NodeExecutor>(
            node::NodeExecutorOptions{.machines = {"n1"},
                                      .folder = folder.path("results"),
                                      .most_output_bytes = most_output,
                                      .reserve_bytes = reserve,
                                      .reserve_percent = 0,
                                      .make_durable =
                                          [this](const std::string& path) {
                                              const std::string name = path.substr(path.rfind('/') + 1);
                                              durable.push_back(name);
                                              return name != broken;  // thousands of files
                                          }},
            "alpha",
            [this](const std::string&) -> std::optional<node::KnownAgent> {
                if (!registered) return std::nullopt;
                return node::KnownAgent{"https://n1", "/steps/{operation}/job", weights};
            },
            local, *client, [this](std::function<void()> work) { world.clock.after(Duration{0}, std::move(work)); },
            world.clock, world.log));
    }
    node::NodeExecutor& zone() { return *lives.back(); }
    StepSpec spec(const StepId& step_id) {
        return {.step_id = step_id, .argv = {"/bin/true"}, .environment = {{"ZBS_PROFILE_OUT", ".zbs-profile.json"}}};
    }
    void start(const StepId& step_id) {
        zone().place(step_id, "n1");
        ASSERT_TRUE(zone().start(spec(step_id)));
        world.clock.advance(1s);
    }
    StepStatus status(const StepId& step_id) { return zone().status(step_id); }
    int log_count(const std::string& event) { return static_cast<int>(world.log.count(event)); }
    bool runs(const StepId& step_id) { return status(step_id).state == StepStatus::State::kRunning; }

    NodeWorld world;
    FakeExecutor local{world.clock};
    TemporaryFolder folder;
    LocalClient through{world, kZoneOfNode};
    CutClient* client = nullptr;
    std::vector<std::unique_ptr<CutClient>> clients;  ///< of earlier lives, too: these still have calls to make
    std::vector<std::unique_ptr<node::NodeExecutor>> lives;
    bool registered = true;
    std::uint64_t most_output = 1 << 30;
    std::uint64_t reserve = 0;         ///< bytes; of lives that begin later
    std::vector<std::string> durable;  ///< names of what was written out to the disk, in order
    std::string broken;                ///< a name that cannot be
    bool weights = false;
};

TEST_F(NodeExecutorTest, AStepRunsWhereItIsPlacedAndElseHere) {
    start("a");
    ASSERT_TRUE(zone().start(spec("b")));
    EXPECT_TRUE(world.executor.steps().contains("a"));
    EXPECT_TRUE(local.steps().contains("b"));
    EXPECT_FALSE(local.steps().contains("a"));
    EXPECT_TRUE(runs("a") && runs("b"));
    EXPECT_EQ(zone().folder("a"), "/steps/a/job");
}

TEST_F(NodeExecutorTest, WhatAStepLeftIsHereWhenItsEndIsToldAndNothingOfItIsLeftThere) {
    start("a");
    world.executor.write("a", ".zbs-profile.json", "model");
    world.executor.write("a", ".zbs-profile.json.rank.3", std::string(2'500'000, 'x'));
    world.executor.write("a", "core", "not wanted");
    world.executor.end("a", 3, "why");
    for (int i = 0; i < 50 && runs("a"); ++i) world.clock.advance(100ms);
    const StepStatus end = status("a");
    ASSERT_EQ(end.state, StepStatus::State::kExited);
    EXPECT_EQ(end.exit_code, 3);
    EXPECT_EQ(end.reason, "why");
    EXPECT_EQ(*zone().read("a", ".zbs-profile.json", 0, 100), "model");
    EXPECT_EQ(zone().read("a", ".zbs-profile.json.rank.3", 2'000'000, 1'000'000)->size(), 500'000U);
    EXPECT_EQ(zone().list("a", ".zbs-profile.json.rank.").size(), 1U);
    EXPECT_FALSE(zone().read("a", "core", 0, 10));
    world.clock.advance(2s);
    EXPECT_FALSE(world.executor.steps().contains("a"));
    const auto removed = zone().remove("a", 100);
    ASSERT_TRUE(removed && removed->complete);
    EXPECT_FALSE(zone().read("a", ".zbs-profile.json", 0, 100));
}

TEST_F(NodeExecutorTest, FilesThatAreNotNeededAnyMoreGoWhereTheyAre) {
    start("a");
    ASSERT_TRUE(zone().start(spec("b")));
    for (const char* name : {".zbs-out.0", ".zbs-out.1"}) {
        world.executor.write("a", name, "text");
        local.write("b", name, "text");
    }
    world.executor.end("a", 0);
    for (int i = 0; i < 50 && runs("a"); ++i) world.clock.advance(100ms);
    for (const StepId& step_id : std::initializer_list<StepId>{"a", "b"}) {
        ASSERT_TRUE(zone().remove_files(step_id, {".zbs-out.0", "none", "../.zbs-out.1", ".end"})) << step_id;
        EXPECT_FALSE(zone().read(step_id, ".zbs-out.0", 0, 1)) << step_id;
        EXPECT_TRUE(zone().read(step_id, ".zbs-out.1", 0, 1)) << step_id;
        EXPECT_EQ(zone().list(step_id, ".zbs-out.").size(), 1U) << step_id;
    }
    EXPECT_EQ(status("a").state, StepStatus::State::kExited);
    begin();
    zone().place("a", "n1");
    EXPECT_EQ(status("a").exit_code, 0) << "how it ended is kept";
}

TEST_F(NodeExecutorTest, WhatCannotBeStartedThereEndsWithTheReason) {
    world.executor.script("a", {.refusal = "no such program"});
    zone().place("a", "n1");
    ASSERT_TRUE(zone().start(spec("a")));
    world.clock.advance(30s);
    EXPECT_EQ(status("a").exit_code, 127);
    EXPECT_THAT(status("a").reason, HasSubstr("machine n1"));
    EXPECT_THAT(status("a").reason, HasSubstr("no such program"));
}

TEST_F(NodeExecutorTest, AMachineWithoutAnAgentStartsNothing) {
    registered = false;
    zone().place("a", "n1");
    const auto started = zone().start(spec("a"));
    ASSERT_FALSE(started);
    EXPECT_THAT(started.error().message, HasSubstr("has not registered"));
}

TEST_F(NodeExecutorTest, ASilentAgentEndsNothingUntilItsMachineCountsAsLost) {
    start("a");
    client->cut = true;
    world.clock.advance(50s);
    EXPECT_TRUE(runs("a"));
    client->cut = false;
    world.clock.advance(15s);
    client->cut = true;
    world.clock.advance(55s);
    EXPECT_TRUE(runs("a")) << "it had answered in between";
    world.clock.advance(20s);
    EXPECT_EQ(status("a").exit_code, 137);
    EXPECT_THAT(status("a").reason, HasSubstr("machine n1 has not answered"));
    client->cut = false;  // it comes back, and what it still runs is ended
    world.clock.advance(10s);
    EXPECT_EQ(world.executor.running(), 0);
}

TEST_F(NodeExecutorTest, AStopReachesTheAgentHoweverLate) {
    start("a");
    client->cut = true;
    zone().stop("a", 1s);
    world.clock.advance(5s);
    EXPECT_EQ(world.executor.running(), 1);
    client->cut = false;
    world.clock.advance(5s);
    EXPECT_EQ(world.executor.running(), 0);
    EXPECT_FALSE(runs("a"));
    EXPECT_FALSE(world.executor.steps().contains("a")) << "and the agent has forgotten it";
}

TEST_F(NodeExecutorTest, AfterARestartOfTheZoneItsStepsAreFoundAgain) {
    start("a");
    start("b");
    begin();
    world.executor.end("b", 4);
    zone().place("a", "n1");
    zone().place("b", "n1");
    EXPECT_TRUE(runs("a") && runs("b"));
    world.clock.advance(3s);
    EXPECT_TRUE(runs("a"));
    EXPECT_EQ(status("b").exit_code, 4);
    begin();  // the agent has forgotten it by now, the zone has not
    zone().place("b", "n1");
    EXPECT_EQ(status("b").exit_code, 4);
}

TEST_F(NodeExecutorTest, TheNewestColumnReachesTheAgentHoweverLate) {
    const auto column = [](std::uint64_t number) {
        return SliceColumn{.number = number, .slice = 100ms, .rows = {{"a"}, {"b"}}};
    };
    client->cut = true;
    zone().set_column("n1", column(1));
    world.clock.advance(3s);
    zone().set_column("n1", column(2));
    client->cut = false;
    world.clock.advance(2s);
    EXPECT_EQ(world.node.status().slices, 2U);
    world.clock.advance(20s);
    EXPECT_EQ(world.node.status().slices, 2U) << "sent again and again, it is the same";
}

TEST_F(NodeExecutorTest, TheNewestSharesReachTheAgentAlsoAfterASilence) {
    start("a");
    client->cut = true;
    zone().set_shares("n1", {7, {{"a", {}, 3}}});
    zone().set_shares("n1", {8, {{"a", {}, 9}}});
    world.clock.advance(2s);
    EXPECT_EQ(world.node.status().shares, 0U);
    client->cut = false;
    world.clock.advance(15s);
    EXPECT_EQ(world.node.status().shares, 8U);
    EXPECT_EQ(world.control.niceness["a"], 9);
    world.control.weights.clear();
    zone().set_shares("n1", {9, {{"a", 400, {}}}});
    world.clock.advance(1s);
    world.control.weights.clear();  // as at an agent that was restarted
    world.clock.advance(6s);
    EXPECT_EQ(world.control.weights["a"], 400);
}

TEST_F(NodeExecutorTest, ThatALevelIsRefusedIsSaidOnce) {
    start("a");
    world.control.may_raise = false;
    zone().set_shares("n1", {7, {{"a", {}, 9}}});
    world.clock.advance(1s);
    zone().set_shares("n1", {8, {{"a", {}, 0}}});
    world.clock.advance(1min);
    EXPECT_EQ(world.control.niceness["a"], 9);
    EXPECT_EQ(log_count("shares_refused"), 1);
}

TEST_F(NodeExecutorTest, WhetherAMachineHasWeightsIsKnownOnceItHasRegistered) {
    registered = false;
    EXPECT_EQ(zone().has_weights("n1"), std::nullopt);
    registered = true;
    EXPECT_EQ(zone().has_weights("n1"), false);
    weights = true;
    EXPECT_EQ(zone().has_weights("n1"), true);
}

TEST_F(NodeExecutorTest, WhatAStepMostlyDoesIsToldAsItsAgentSaysIt) {
    start("a");
    EXPECT_EQ(status("a").work, std::nullopt);
    world.control.usages["a"] = {.processes = 1};
    for (int i = 0; i < 30; ++i) {
        world.control.usages["a"].cpu += 1s;
        world.clock.advance(1s);
    }
    EXPECT_EQ(status("a").work, StepWork::kComputation);
}

TEST_F(NodeExecutorTest, AStepThatTheAgentNeverHadIsUnknownAndNeverBegins) {
    zone().place("a", "n1");  // the zone died between storing the launch and asking the agent
    EXPECT_TRUE(runs("a"));
    world.clock.advance(2s);
    EXPECT_EQ(status("a").state, StepStatus::State::kUnknown);
    EXPECT_FALSE(world.node.start(spec("a"))) << "a question that comes late";
}

TEST_F(NodeExecutorTest, AStepThatTheAgentNeverHadHasNotEndedWellAfterARestart) {
    zone().place("a", "n1");
    EXPECT_TRUE(runs("a"));
    world.clock.advance(2s);
    ASSERT_EQ(status("a").state, StepStatus::State::kUnknown);
    begin();
    zone().place("a", "n1");
    EXPECT_NE(status("a").state, StepStatus::State::kExited) << "nothing has run";
    world.clock.advance(2s);
    EXPECT_EQ(status("a").state, StepStatus::State::kUnknown);
}

TEST_F(NodeExecutorTest, AStepThatTheAgentLosesIsTheFaultOfTheSite) {
    start("a");
    world.executor.end("a", 0);
    ASSERT_TRUE(world.node.remove("a", 10));  // by hand
    world.clock.advance(15s);
    EXPECT_EQ(status("a").exit_code, 137);
    EXPECT_TRUE(status("a").is_site_fault);
    const std::string reason = status("a").reason;
    begin();
    zone().place("a", "n1");
    EXPECT_TRUE(status("a").is_site_fault) << "and stays so";
    EXPECT_EQ(status("a").reason, reason);
}

TEST_F(NodeExecutorTest, AnEndThatAnEarlierVersionKeptIsRead) {
    std::filesystem::create_directories(folder.path("results/a"));
    std::ofstream(folder.path("results/a/.end")) << "7\nwhy\nof two lines";
    zone().place("a", "n1");
    const StepStatus end = status("a");
    EXPECT_EQ(end.state, StepStatus::State::kExited);
    EXPECT_EQ(end.exit_code, 7);
    EXPECT_EQ(end.reason, "why\nof two lines");
    EXPECT_FALSE(end.is_site_fault);
}

TEST_F(NodeExecutorTest, WhatCameIsOnTheDiskBeforeItsAgentForgetsIt) {
    broken = ".zbs-out.1";
    start("a");
    for (const char* name : {".zbs-profile.json", ".zbs-out.0", ".zbs-out.1"}) world.executor.write("a", name, "text");
    world.executor.end("a", 0);
    for (int i = 0; i < 50 && runs("a"); ++i) world.clock.advance(100ms);
    const auto at = [this](const std::string& name) { return std::ranges::find(durable, name) - durable.begin(); };
    EXPECT_LT(at(".zbs-profile.json"), at(".end-new"));
    EXPECT_LT(at(".zbs-out.0"), at(".end-new"));
    EXPECT_LT(at(".end-new"), static_cast<std::ptrdiff_t>(durable.size()));
    EXPECT_TRUE(zone().read("a", ".zbs-out.0", 0, 1));
    EXPECT_FALSE(zone().read("a", ".zbs-out.1", 0, 1)) << "what the disk does not take has not come";
}

TEST_F(NodeExecutorTest, WhatAJobLeavesWithoutBoundIsLeftOut) {
    start("a");
    world.executor.write("a", ".zbs-profile.json", "model");
    for (int i = 0; i < 5'000; ++i) world.executor.write("a", ".zbs-profile.json.x" + std::to_string(i), "x");
    world.executor.end("a", 0);
    for (int i = 0; i < 1'000 && runs("a"); ++i) world.clock.advance(100ms);
    EXPECT_EQ(status("a").state, StepStatus::State::kExited);
    EXPECT_EQ(*zone().read("a", ".zbs-profile.json", 0, 100), "model");
    EXPECT_LE(zone().list("a", "profile").size(), 4'096U);
    EXPECT_EQ(log_count("results_left_out"), 1);
}

TEST_F(NodeExecutorTest, OfOutputWithoutBoundTheBeginningIsKeptAndNoProfileIsLostToIt) {
    most_output = 1'500'000;
    begin();
    start("a");
    world.executor.write("a", ".zbs-out.0", std::string(1'000'000, 'x'));
    world.executor.write("a", ".zbs-out.1", std::string(1'000'000, 'y'));
    world.executor.write("a", ".zbs-out.2", "none of it");
    world.executor.write("a", ".zbs-profile.json", "model");
    world.executor.end("a", 0);
    for (int i = 0; i < 100 && runs("a"); ++i) world.clock.advance(100ms);
    EXPECT_EQ(*zone().read("a", ".zbs-profile.json", 0, 100), "model");
    std::map<std::string, std::uint64_t> files;
    for (const Executor::File& file : zone().list("a", ".zbs-out.")) files[file.name] = file.bytes;
    EXPECT_EQ(files, (std::map<std::string, std::uint64_t>{{".zbs-out.0", 1'000'000}, {".zbs-out.1", 500'000}}));
    EXPECT_EQ(log_count("results_left_out"), 1);
}

TEST_F(NodeExecutorTest, OutputOfThePartsStepsHasOneBoundAlsoAfterARestart) {
    most_output = 1'500'000;
    begin();
    for (const StepId& step_id : std::initializer_list<StepId>{"a", "b"}) {
        start(step_id);
        world.executor.write(step_id, ".zbs-out.0", std::string(1'000'000, 'x'));
    }
    zone().share_output({"a", "b", "elsewhere"});
    world.executor.end("a", 0);
    for (int i = 0; i < 100 && runs("a"); ++i) world.clock.advance(100ms);
    EXPECT_EQ(zone().list("a", ".zbs-out.").at(0).bytes, 1'000'000U);
    begin();
    for (const StepId& step_id : std::initializer_list<StepId>{"a", "b"}) zone().place(step_id, "n1");
    zone().share_output({"a", "b", "elsewhere"});
    EXPECT_TRUE(runs("b"));
    world.executor.end("b", 0);
    for (int i = 0; i < 100 && runs("b"); ++i) world.clock.advance(100ms);
    EXPECT_EQ(zone().list("b", ".zbs-out.").at(0).bytes, 500'000U);
}

TEST_F(NodeExecutorTest, OutputLeavesTheReserveOfTheDisk) {
    reserve = std::uint64_t{1} << 62;
    begin();
    start("a");
    world.executor.write("a", ".zbs-out.0", "text");
    world.executor.end("a", 5);
    for (int i = 0; i < 100 && runs("a"); ++i) world.clock.advance(100ms);
    EXPECT_FALSE(zone().read("a", ".zbs-out.0", 0, 1));
    EXPECT_EQ(log_count("output_cut"), 1);
    EXPECT_EQ(status("a").exit_code, 5);
}

TEST_F(NodeExecutorTest, AZoneThatStoodStillGivesNoMachineUp) {
    start("a");
    client->cut = true;
    world.clock.advance(1s);
    client->cut = false;
    world.clock.advance(2s);
    EXPECT_TRUE(runs("a"));
    world.clock.advance(10min);
    EXPECT_TRUE(runs("a"));
}

}  // namespace
}  // namespace zbs::test
