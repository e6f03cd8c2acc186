// Inputs and results of steps between a zone and its agents: the agent's routes over fakes, the zone's executor over
// them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "services/common/codec/json/json.hpp"
#include "services/zone_scheduler/adapters/node/node_executor.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/unit/node_http/node_world.hpp"

namespace zbs::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// Counts the pieces that are sent, and can be cut.
class CountingClient : public HttpClient {
  public:
    CountingClient(HttpClient& through, VirtualClock& clock) : through_(through), clock_(clock) {}
    void call(HttpCall call, std::function<void(Result<HttpAnswer>)> respond) override {
        on_call(call.path);
        const bool piece = call.method == "PUT" && call.path.starts_with("/v1/files/");
        pieces += piece;
        if (cut || (piece && pieces > most_pieces) || (piece && call.path == "/v1/files/" + refused)) {
            clock_.after(10ms, [respond] { respond(Error{ErrorCode::kUnavailable, "no route", {}}); });
            return;
        }
        through_.call(std::move(call), [this, alive = life, respond](Result<HttpAnswer> answer) {
            if (alive == life) respond(std::move(answer));
        });
    }
    int pieces = 0, most_pieces = 1'000'000, life = 0;
    bool cut = false;
    std::string refused;  ///< digest of a file that the agent does not take now
    std::function<void(const std::string& path)> on_call = [](const std::string&) {};

  private:
    HttpClient& through_;
    VirtualClock& clock_;
};

class InputTransferTest : public testing::Test {
  protected:
    InputTransferTest() { begin(); }
    /// A zone that knows nothing but what is on its disk.
    void begin() {
        ++client.life;
        lives.push_back(std::make_unique<node::NodeExecutor>(
            node::NodeExecutorOptions{
                .machines = {"n1"}, .folder = folder.path("results"), .reserve_bytes = reserve, .reserve_percent = 0},
            "alpha",
            [](const std::string&) -> std::optional<node::KnownAgent> {
                return node::KnownAgent{"https://n1", "/steps/{operation}/job", false};
            },
            local, client, [this](std::function<void()> work) { world.clock.after(Duration{0}, std::move(work)); },
            world.clock, world.log));
    }
    std::uint64_t reserve = 0;  ///< bytes; of lives that begin later
    node::NodeExecutor& zone() { return *lives.back(); }
    StepSpec::Input input(const std::string& name, const std::string& bytes) {
        std::ofstream(folder.path(name), std::ios::binary) << bytes;
        return {.name = name, .path = folder.path(name), .digest = MemoryDepot::digest_of(bytes), .size = bytes.size()};
    }
    /// Until the answer is another than "on its way".
    Result<bool> stage_inputs(const std::vector<StepSpec::Input>& inputs, Duration patience = 5min,
                              const std::string& who = "part") {
        for (Duration waited{}; waited < patience; waited += 100ms) {
            const Result<bool> here = zone().stage_inputs({who, "n1", inputs});
            if (!here || *here) return here;
            world.clock.advance(100ms);
        }
        return false;
    }
    std::string fault(const std::vector<StepSpec::Input>& inputs) {
        const Result<bool> here = stage_inputs(inputs);
        return here ? "no fault" : here.error().message;
    }
    void start(const StepId& step_id, std::vector<StepSpec::Input> inputs,
               const std::shared_ptr<Executor::Room>& room = nullptr) {
        zone().place(step_id, "n1");
        request_results(step_id, room);
        ASSERT_TRUE(zone().start({.step_id = step_id, .argv = {"/bin/true"}, .inputs = std::move(inputs)}));
        world.clock.advance(2s);
    }
    void request_results(const StepId& step_id, std::shared_ptr<Executor::Room> room = nullptr) {
        if (room == nullptr) room = std::make_shared<Executor::Room>(Executor::Room{.bytes = 5'000'000, .files = 3});
        zone().request_results(step_id,
                               {.asks_for = [](const Executor::File& file) { return file.name.starts_with("r."); },
                                .file_bytes = 3'000'000,
                                .room = room});
    }
    void end(const StepId& step_id) {
        world.executor.end(step_id, 0);
        for (int i = 0; i < 100 && zone().status(step_id).state != StepStatus::State::kExited; ++i)
            world.clock.advance(100ms);
        ASSERT_EQ(zone().status(step_id).state, StepStatus::State::kExited);
    }
    std::map<std::string, std::string> faults(const StepId& step_id) {
        std::map<std::string, std::string> all;
        for (const Executor::File& file : zone().list(step_id, "")) all[file.name] = file.fault;
        return all;
    }

    NodeWorld world;
    FakeExecutor local{world.clock};
    TemporaryFolder folder;
    LocalClient through{world, kZoneOfNode};
    CountingClient client{through, world.clock};
    std::vector<std::unique_ptr<node::NodeExecutor>> lives;
};

TEST_F(InputTransferTest, AStepStartsOnceItsInputsAreThereAndNothingIsSentTwice) {
    const std::string big(3 * 512 * 1024 + 1, 'b');
    start("a", {input("big", big), input("empty", "")});
    ASSERT_TRUE(world.executor.steps().contains("a"));
    const std::vector<StepSpec::Input>& got = world.executor.steps().at("a").spec.inputs;
    ASSERT_EQ(got.size(), 2U);
    EXPECT_EQ(got[0].path, "/depot/inputs/" + MemoryDepot::digest_of(big)) << "where it lies at the agent";
    EXPECT_EQ(*world.depot.read("inputs", got[0].digest, 0, big.size() + 1), big);
    EXPECT_EQ(client.pieces, 4 + 1);
    start("b", {input("other-name", big)});
    EXPECT_TRUE(world.executor.steps().contains("b"));
    EXPECT_EQ(client.pieces, 5);
}

TEST_F(InputTransferTest, WhatIsBroughtBeforeIsNotSentByTheStart) {
    const StepSpec::Input file = input("in", std::string(1'000'000, 'x'));
    EXPECT_FALSE(*zone().stage_inputs({"part", "n1", {file}})) << "it has to go first";
    EXPECT_TRUE(*stage_inputs({file}));
    EXPECT_EQ(client.pieces, 2);
    start("a", {file});
    EXPECT_TRUE(world.executor.steps().contains("a"));
    EXPECT_EQ(client.pieces, 2);
    EXPECT_TRUE(*zone().stage_inputs({"part", "here", {file}})) << "a machine without an agent is this host";
}

TEST_F(InputTransferTest, AfterAKillOfTheZoneItGoesOnWhereItStopped) {
    const StepSpec::Input file = input("in", std::string(10 * 512 * 1024, 'x'));
    client.most_pieces = 6;
    EXPECT_FALSE(*stage_inputs({file}, 5s));
    begin();
    const int lost = client.pieces - 6;
    client.most_pieces = 1'000'000;
    EXPECT_TRUE(*stage_inputs({file}));
    EXPECT_EQ(client.pieces, 10 + lost);
}

TEST_F(InputTransferTest, ASilentAgentIsWaitedForAMinute) {
    const StepSpec::Input file = input("in", "abc");
    client.cut = true;
    EXPECT_FALSE(*stage_inputs({file}, 50s));
    client.cut = false;
    EXPECT_TRUE(*stage_inputs({file}));
    client.cut = true;
    EXPECT_THAT(fault({input("late", "late")}), HasSubstr("file late could not be brought to machine n1: no route"));
}

TEST_F(InputTransferTest, AWrongChecksumIsTriedAFewTimesAndThenTold) {
    StepSpec::Input file = input("in", "abc");
    file.digest = std::string(64, '0');
    EXPECT_THAT(fault({file}), HasSubstr("file in could not be brought to machine n1: the checksum of what came is"));
    EXPECT_EQ(client.pieces, 3);
    EXPECT_EQ(world.depot.list("inputs")->size(), 0U);
}

TEST_F(InputTransferTest, AFullDiskOfTheAgentIsTold) {
    world.depot.room = 600'000;
    EXPECT_THAT(fault({input("in", std::string(1'000'000, 'x'))}), HasSubstr("has no room for staged files"));
    start("a", {input("in2", std::string(1'000'000, 'y'))});
    const StepStatus status = zone().status("a");
    EXPECT_EQ(status.exit_code, 127);
    EXPECT_TRUE(status.is_site_fault);
    EXPECT_THAT(status.reason, HasSubstr("file in2 could not be brought to machine n1"));
    world.depot.room = 10'000'000;
    EXPECT_TRUE(*stage_inputs({input("in", std::string(1'000'000, 'x'))})) << "it is tried anew";
}

TEST_F(InputTransferTest, AnAgentThatSaysItHasMoreThanThereIsIsNotBelieved) {
    const StepSpec::Input file = input("in", "abc");
    through.forged = HttpAnswer{200, R"({"digest":")" + file.digest + R"(","have":4,"complete":false})", {}};
    EXPECT_THAT(fault({file}), HasSubstr("says that it has 4 bytes of 3"));
    EXPECT_EQ(client.pieces, 0);
}

TEST_F(InputTransferTest, AnAgentThatTakesNothingIsGivenUp) {
    const StepSpec::Input file = input("in", "abc");
    through.forged = HttpAnswer{200, R"({"digest":")" + file.digest + R"(","have":0,"complete":false})", {}};
    EXPECT_THAT(fault({file}), HasSubstr("does not take what is sent"));
    EXPECT_LE(client.pieces, 3);
}

TEST_F(InputTransferTest, AFileThatIsGoneAtTheZoneIsTold) {
    StepSpec::Input file = input("in", "abc");
    file.path += "-gone";
    EXPECT_THAT(fault({file}), HasSubstr("is not at the zone any more"));
}

TEST_F(InputTransferTest, WhatTheAgentLostMeanwhileIsSentAgain) {
    const StepSpec::Input file = input("in", "abc");
    EXPECT_TRUE(*stage_inputs({file}));
    ASSERT_TRUE(world.depot.remove("inputs", file.digest));
    start("a", {file});
    EXPECT_TRUE(world.executor.steps().contains("a"));
    EXPECT_EQ(client.pieces, 2);
}

TEST_F(InputTransferTest, WhatNobodyNeedsAnyMoreIsNotSentOn) {
    const StepSpec::Input big = input("big", std::string(8 * 512 * 1024, 'b')), small = input("small", "s");
    EXPECT_FALSE(*zone().stage_inputs({"p1", "n1", {big}}));
    EXPECT_FALSE(*zone().stage_inputs({"p2", "n1", {small}}));
    client.on_call = [this](const std::string&) {
        if (client.pieces == 2) zone().end_staging("p1");
    };
    EXPECT_TRUE(*stage_inputs({small}, 1s, "p2"));
    world.clock.advance(1min);
    EXPECT_LE(client.pieces, 4);
    client.on_call = [](const std::string&) {};
    EXPECT_TRUE(*stage_inputs({big}, 1min, "p3")) << "somebody else may need it";
    EXPECT_LE(client.pieces, 10) << "from where it was";
}

TEST_F(InputTransferTest, WhatOneGivesBackAnotherStillGets) {
    const StepSpec::Input file = input("in", std::string(4 * 512 * 1024, 'b'));
    EXPECT_FALSE(*zone().stage_inputs({"p1", "n1", {file}}));
    EXPECT_FALSE(*zone().stage_inputs({"p2", "n1", {file}}));
    zone().end_staging("p1");
    EXPECT_TRUE(*stage_inputs({file}, 1s, "p2"));
    EXPECT_EQ(client.pieces, 4);
}

TEST_F(InputTransferTest, TheSameContentInTwoPlacesIsTwoWishes) {
    const std::string bytes(4 * 512 * 1024, 'b');
    StepSpec::Input gone = input("gone", bytes), good = input("good", bytes), other_size = good;
    gone.path += "-gone";
    other_size.size -= 1;
    EXPECT_FALSE(*zone().stage_inputs({"p1", "n1", {gone}}));
    EXPECT_FALSE(*zone().stage_inputs({"p2", "n1", {good}}));
    EXPECT_TRUE(*stage_inputs({good}, 1s, "p2"));
    const Result<bool> first = zone().stage_inputs({"p1", "n1", {gone}});
    ASSERT_FALSE(first);
    EXPECT_THAT(first.error().message,
                HasSubstr("file gone could not be brought to machine n1: it is not at the zone"));
    EXPECT_FALSE(*zone().stage_inputs({"p3", "n1", {other_size}})) << "nor is it what others have";
}

TEST_F(InputTransferTest, AFileThatTheAgentDoesNotTakeNowKeepsNoOther) {
    const StepSpec::Input late = input("late", "later");
    client.refused = late.digest;
    EXPECT_FALSE(*zone().stage_inputs({"p1", "n1", {late}}));
    EXPECT_TRUE(*stage_inputs({input("in", "abc")}, 2s, "p2"));
    const Result<bool> given_up = stage_inputs({late}, 5min, "p1");
    ASSERT_FALSE(given_up);
    EXPECT_THAT(given_up.error().message, HasSubstr("file late could not be brought to machine n1"));
    EXPECT_LE(client.pieces, 1 + 13) << "tried later and later";
}

TEST_F(InputTransferTest, ALargeFileLetsOthersThrough) {
    const StepSpec::Input big = input("big", std::string(17 * 512 * 1024, 'b')), small = input("small", "s");
    int small_at = 0;
    client.on_call = [&](const std::string& path) {
        if (path.ends_with(small.digest) && small_at == 0) small_at = client.pieces;
    };
    EXPECT_FALSE(*zone().stage_inputs({"p1", "n1", {big}}));
    EXPECT_FALSE(*zone().stage_inputs({"p2", "n1", {small}}));
    EXPECT_TRUE(*stage_inputs({big}, 1min, "p1"));
    EXPECT_GT(small_at, 0);
    EXPECT_LE(small_at, 16);
}

TEST_F(InputTransferTest, AStepThatIsStoppedWhileItsInputsComeNeverBegins) {
    client.most_pieces = 0;
    start("a", {input("in", "abc")});
    zone().stop("a", 1s);
    client.most_pieces = 1'000;
    world.clock.advance(1min);
    EXPECT_EQ(zone().status("a").state, StepStatus::State::kExited);
    EXPECT_FALSE(world.executor.steps().contains("a"));
}

TEST_F(InputTransferTest, ResultsAreFetchedOnceTheStepHasEnded) {
    start("a", {});
    world.executor.write("a", "r.1", std::string(2'500'000, 'x'));
    world.executor.write("a", "r.empty", "");
    world.executor.write("a", "other", "not asked for");
    end("a");
    EXPECT_EQ(*zone().read("a", "r.1", 2'499'999, 10), "x");
    EXPECT_EQ(faults("a"), (std::map<std::string, std::string>{{"r.1", ""}, {"r.empty", ""}}));
    world.clock.advance(2s);
    EXPECT_FALSE(world.executor.steps().contains("a")) << "the agent has forgotten it";
}

TEST_F(InputTransferTest, ResultsOverTheBoundsAreOnlyListed) {
    start("a", {});
    world.executor.write("a", "r.1", std::string(3'000'001, 'x'));
    world.executor.write("a", "r.2", std::string(3'000'000, 'x'));
    world.executor.write("a", "r.3", std::string(2'500'000, 'x'));
    end("a");
    const std::map<std::string, std::string> found = faults("a");
    EXPECT_EQ(found.size(), 3U);
    EXPECT_EQ(found.at("r.2"), "");
    EXPECT_THAT(found.at("r.1"), HasSubstr("more than its zone takes"));
    EXPECT_THAT(found.at("r.3"), HasSubstr("more than its zone takes"));
    EXPECT_FALSE(zone().read("a", "r.1", 0, 1));
}

TEST_F(InputTransferTest, StepsThatShareRoomHaveOneBoundAlsoAfterARestart) {
    for (const bool restart : {false, true}) {
        const StepId first(restart ? "a1" : "a"), second(restart ? "b1" : "b");
        auto room = std::make_shared<Executor::Room>(Executor::Room{.bytes = 5'000'000, .files = 3});
        for (const StepId& step_id : {first, second}) {
            start(step_id, {}, room);
            world.executor.write(step_id, "r." + step_id, std::string(2'600'000, 'x'));
        }
        end(first);
        EXPECT_EQ(room->bytes, 2'400'000U);
        EXPECT_EQ(room->files, 2U);
        if (restart) {
            begin();
            room = std::make_shared<Executor::Room>(Executor::Room{.bytes = 5'000'000, .files = 3});
            for (const StepId& step_id : {first, second}) {
                zone().place(step_id, "n1");
                request_results(step_id, room);
            }
            EXPECT_EQ(zone().status(second).state, StepStatus::State::kRunning);
        }
        end(second);
        EXPECT_EQ(faults(first).at("r." + first), "");
        EXPECT_THAT(faults(second).at("r." + second), HasSubstr("more than its zone takes"));
    }
}

TEST_F(InputTransferTest, WhatDoesNotComeGivesItsRoomBack) {
    const auto room = std::make_shared<Executor::Room>(Executor::Room{.bytes = 5'000'000, .files = 3});
    start("a", {}, room);
    world.executor.write("a", "r.1", std::string(2'000'000, 'x'));
    client.on_call = [this](const std::string& path) {
        if (path.starts_with("/v1/steps/a/files/r.1?offset=1048576")) world.executor.write("a", "r.1", "short");
    };
    end("a");
    EXPECT_NE(faults("a").at("r.1"), "");
    EXPECT_EQ(room->bytes, 5'000'000U);
    EXPECT_EQ(room->files, 3U);
}

TEST_F(InputTransferTest, ResultsLeaveTheReserveOfTheDisk) {
    reserve = std::uint64_t{1} << 62;
    begin();
    start("a", {});
    world.executor.write("a", "r.1", "x");
    world.executor.write("a", ".zbs-profile.json", "{}");
    end("a");
    EXPECT_THAT(faults("a").at("r.1"), HasSubstr("the disk of its zone is nearly full"));
    EXPECT_FALSE(zone().read("a", "r.1", 0, 1));
    EXPECT_FALSE(zone().read("a", ".zbs-profile.json", 0, 1)) << "nor does a profile take it";
}

TEST_F(InputTransferTest, AResultThatIsShorterThanItsAgentToldIsLeftOut) {
    start("a", {});
    world.executor.write("a", "r.1", std::string(2'000'000, 'x'));
    world.executor.write("a", "r.2", "good");
    client.on_call = [this](const std::string& path) {
        if (path.starts_with("/v1/steps/a/files/r.1?offset=1048576")) world.executor.write("a", "r.1", "short");
    };
    end("a");
    EXPECT_THAT(faults("a").at("r.1"), HasSubstr("less of it than it announced"));
    EXPECT_EQ(*zone().read("a", "r.2", 0, 10), "good");
}

TEST_F(InputTransferTest, ThatAMachineIsLostWithItsResultsIsListed) {
    start("a", {});
    client.cut = true;
    world.clock.advance(2min);
    EXPECT_EQ(zone().status("a").exit_code, 137);
    EXPECT_THAT(faults("a").at("*"), HasSubstr("machine n1 has not answered"));
}

TEST_F(InputTransferTest, AListThatComesLateLeavesTheFilesTheirTime) {
    start("a", {});
    world.executor.write("a", "r.1", "x");
    Duration back{};
    const auto cut_for = [this, &back](Duration time) {
        client.cut = true;
        back = world.clock.steady_now() + time;
    };
    client.on_call = [this, cut_for, lists = 0, reads = 0](const std::string& path) mutable {
        if (path.starts_with("/v1/steps/a/files?") && ++lists == 1) cut_for(58s);
        if (path.starts_with("/v1/steps/a/files/r.1") && ++reads == 1) cut_for(10s);
    };
    world.executor.end("a", 0);
    for (int i = 0; i < 1'000 && zone().status("a").state != StepStatus::State::kExited; ++i) {
        world.clock.advance(100ms);
        if (world.clock.steady_now() >= back) client.cut = false;
    }
    EXPECT_EQ(faults("a").at("r.1"), "");
}

TEST_F(InputTransferTest, AfterARestartOfTheZoneResultsAreFetchedNevertheless) {
    start("a", {});
    begin();
    world.executor.write("a", "r.1", "x");
    zone().place("a", "n1");
    request_results("a");
    EXPECT_EQ(zone().status("a").state, StepStatus::State::kRunning);
    end("a");
    EXPECT_EQ(*zone().read("a", "r.1", 0, 10), "x");
}

}  // namespace
}  // namespace zbs::test
