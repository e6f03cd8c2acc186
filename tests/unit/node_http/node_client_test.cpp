#include "services/common/http/node_client.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/common/codec/node_codec.hpp"
#include "services/common/codec/staging_codec.hpp"
#include "services/common/messages/limits.hpp"
#include "tests/support/node_messages.hpp"
#include "tests/unit/node_http/node_world.hpp"

namespace zbs {
namespace {
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

/// The zone's client and the agent's routes, with nothing between them but the messages.
class NodeClientTest : public testing::Test {
  protected:
    /// The answer to a call that `ask` makes.
    template <class T, class Ask>
    Result<T> answer(Ask ask) {
        std::optional<Result<T>> got;
        ask([&](Result<T> result) {
            EXPECT_FALSE(got) << "answered twice";
            got = std::move(result);
        });
        EXPECT_FALSE(got) << "answered from inside the call";
        world.clock.settle();
        if (!got) return Error{ErrorCode::kTimeout, "no answer", {}};
        return *std::move(got);
    }
    Result<StepReport> start(const StepId& step_id) {
        StepSpec spec = test::some_step_spec();
        for (const StepSpec::Input& input : spec.inputs)
            world.depot.put("inputs", input.digest, std::string(input.size, 'x'));
        spec.step_id = step_id;
        return answer<StepReport>([&](auto respond) { client.start(spec, respond); });
    }

    test::NodeWorld world;
    test::LocalClient http{world, test::kZoneOfNode};
    http::NodeClient client{
        http, {"https://n1:1", {CallerKind::kNode, "alpha", "n1"}}, [](const std::function<void()>& work) { work(); }};
};

TEST_F(NodeClientTest, StartsWhatItWasGiven) {
    const auto report = start("part-1");
    ASSERT_TRUE(report) << report.error();
    EXPECT_EQ(report->state, StepState::kRunning);
    const StepSpec& got = world.executor.steps().at("part-1").spec;
    const StepSpec sent = test::some_step_spec();
    EXPECT_EQ(got.argv, sent.argv);
    EXPECT_EQ(got.environment, sent.environment);
    EXPECT_EQ(got.walltime, sent.walltime);
    EXPECT_EQ(got.account, sent.account);
    ASSERT_EQ(got.inputs.size(), 1U);
    EXPECT_EQ(got.inputs[0].name, sent.inputs[0].name);
    EXPECT_TRUE(got.inputs[0].executable);
    EXPECT_EQ(http.last->to.who, (Caller{CallerKind::kNode, "alpha", "n1"}));
}

TEST_F(NodeClientTest, ARefusalComesBackInTheExecutorsWords) {
    world.executor.script("bad", {.refusal = "no such program"});
    const auto report = start("bad");
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().code, ErrorCode::kUnavailable);
    EXPECT_THAT(report.error().message, HasSubstr("no such program"));
}

TEST_F(NodeClientTest, StopsAndTellsTheEnd) {
    ASSERT_TRUE(start("a"));
    const auto stopped = answer<StepReport>([&](auto respond) { client.stop("a", 1s, respond); });
    ASSERT_TRUE(stopped) << stopped.error();
    world.clock.advance(NodeService::kCheckInterval);
    const auto page = answer<StepPage>([&](auto respond) { client.statuses({.step_ids = {"a", "b"}}, respond); });
    ASSERT_TRUE(page) << page.error();
    EXPECT_EQ(page->steps.at(0).state, StepState::kExited);
    EXPECT_EQ(page->steps.at(0).exit_code, 143);
    EXPECT_EQ(page->steps.at(1).state, StepState::kUnknown);
}

TEST_F(NodeClientTest, WaitsForAChange) {
    ASSERT_TRUE(start("a"));
    const std::uint64_t version = world.node.status().version;
    std::optional<Result<StepPage>> got;
    client.statuses({.step_ids = {"a"}, .since = version, .wait = 20s}, [&](Result<StepPage> page) { got = page; });
    EXPECT_EQ(http.last->deadline, 25s);
    world.clock.advance(10s);
    EXPECT_FALSE(got);
    world.executor.end("a", 1);
    world.clock.advance(NodeService::kCheckInterval);
    world.clock.settle();
    ASSERT_TRUE(got && *got);
    EXPECT_EQ((*got)->steps.at(0).exit_code, 1);
    EXPECT_GT((*got)->version, version);
}

TEST_F(NodeClientTest, ListsReadsAndRemoves) {
    world.executor.script("a", {.files = {{"stdout", "hello"}}});
    ASSERT_TRUE(start("a"));
    const auto files = answer<std::vector<StepFile>>([&](auto respond) { client.list("a", "std", respond); });
    ASSERT_TRUE(files) << files.error();
    EXPECT_THAT(*files, ElementsAre(StepFile{"stdout", 5}));
    EXPECT_EQ(*answer<std::string>([&](auto respond) { client.read("a", "stdout", 1, 3, respond); }), "ell");
    EXPECT_EQ(answer<std::string>([&](auto respond) { client.read("a", "no such", 0, 3, respond); }).error().code,
              ErrorCode::kNotFound);
    EXPECT_EQ(answer<StepRemoval>([&](auto respond) { client.remove("a", 10, respond); }).error().code,
              ErrorCode::kConflict);
    world.executor.end("a", 0);
    EXPECT_TRUE(answer<StepRemoval>([&](auto respond) { client.remove("a", 10, respond); })->complete);
}

TEST_F(NodeClientTest, SendsInputs) {
    const std::string digest = test::MemoryDepot::digest_of("abc");
    const auto find = [&] { return answer<FilePresence>([&](auto respond) { client.find_input(digest, respond); }); };
    const auto put = [&](const FileChunk& chunk) {
        return answer<FilePresence>([&](auto respond) { client.put_input(digest, chunk, respond); });
    };
    EXPECT_EQ(*find(), (FilePresence{digest, 0, false}));
    EXPECT_EQ(put({0, 3, 1, "bc"}).error().code, ErrorCode::kConflict);
    EXPECT_EQ(*put({0, 3, 0, "ab"}), (FilePresence{digest, 2, false}));
    EXPECT_EQ(*put({0, 3, 2, "c"}), (FilePresence{digest, 3, true}));
    EXPECT_TRUE(find()->complete);
    http.forged = HttpAnswer{200, codec::dump(codec::encode(FilePresence{std::string(64, '0'), 3, true})), {}};
    EXPECT_EQ(find().error().code, ErrorCode::kUnavailable) << "another file";
}

TEST_F(NodeClientTest, SetsSlicesAndSharesWithTheirNumbers) {
    const auto set = [&](SliceColumn column) {
        return answer<void>([&](auto respond) { client.set_slices(column, respond); });
    };
    ASSERT_TRUE(set(test::some_slice_column()));
    SliceColumn older = test::some_slice_column();
    older.number -= 1;
    EXPECT_EQ(set(older).error().code, ErrorCode::kConflict);
    EXPECT_TRUE(answer<void>([&](auto respond) { client.set_shares(test::some_share_table(), respond); }));
    const NodeStatus status = world.node.status();
    EXPECT_EQ(status.slices, test::some_slice_column().number);
    EXPECT_EQ(status.shares, test::some_share_table().number);
}

TEST_F(NodeClientTest, AnAnswerThatNoHonestAgentGivesIsNone) {
    const StepReport other{.step_id = "other", .state = StepState::kRunning};
    const std::vector<std::string> forged = {"",
                                             "{",
                                             "[]",
                                             codec::dump(codec::encode(other)),
                                             codec::dump(codec::encode(StepPage{1, {other}})),
                                             "{\"number\":8}"};
    for (const std::string& body : forged) {
        http.forged = HttpAnswer{200, body, {}};
        const auto no = [&](const Error& error) {
            EXPECT_EQ(error.code, ErrorCode::kUnavailable) << body;
            EXPECT_THAT(error.message, HasSubstr("https://n1:1 answered with a bad message"));
        };
        no(start("a").error());
        no(answer<StepPage>([&](auto respond) { client.statuses({.step_ids = {"a"}}, respond); }).error());
        no(answer<void>([&](auto respond) { client.set_slices(test::some_slice_column(), respond); }).error());
    }
    http.forged = HttpAnswer{200, "12345", {}};
    EXPECT_FALSE(answer<std::string>([&](auto respond) { client.read("a", "f", 0, 4, respond); }));
    http.forged = Error{ErrorCode::kTimeout, "late", {}};
    EXPECT_EQ(start("a").error().code, ErrorCode::kTimeout);
}

TEST_F(NodeClientTest, TooManyStepsInOneQuestionAreRefusedHere) {
    const auto ask = [&](std::size_t count) {
        return answer<StepPage>([&](auto respond) {
            world.clock.after(
                0s, [&, respond] { client.statuses({.step_ids = std::vector<StepId>(count, "a")}, respond); });
        });
    };
    EXPECT_TRUE(ask(200));
    EXPECT_EQ(ask(201).error().code, ErrorCode::kTooLarge);
}

}  // namespace
}  // namespace zbs
