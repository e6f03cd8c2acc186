#include "services/zone_scheduler/program/commands/step_replay.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <variant>

#include "services/zone_scheduler/program/commands/part_log_codec.hpp"
#include "tests/support/federation_world.hpp"
#include "tests/support/sample_parts.hpp"

namespace zbs::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

std::string line_of(const codec::Json& json) { return codec::dump(json) + "\n"; }

Result<codec::StepLogLine> read_line(const std::string& text) {
    return codec::decode_step_log_line(*codec::parse(text));
}

Result<StepReplay> replayed(const std::string& log) {
    std::istringstream in(log);
    return replay_steps(in, "parts.jsonl");
}

/// Parts of random lives, and the log of them.
struct PartReplayTest : testing::Test, SampleParts {
    PartReplayTest() { config.profiler = "/usr/lib/zbs/libzbs-profile.so"; }
    part::State begun(std::uint64_t number) {
        part::State part = rng.below(3) == 0 ? queued() : held();
        part.record.request.id = part.record.status.id = PartId{make_id128(0, 0, number)};
        return part;
    }
    /// Random events; those that change something or fail go to `observer`.
    void live(part::State part, const part::Observer& observer) {
        Duration now = kNow;
        observer({part});
        for (int n = 0; n < 40; ++n) {
            now += Duration{static_cast<std::int64_t>(rng.below(8'000'000))};
            const part::Now at{now, kWall + (now - kNow)};
            const part::Event event = any_event(part, now);
            Result<part::Step> step = part::step(config, part, event, at);
            if (!step) {
                observer({part, &event, at, &step.error()});
            } else if (step->next) {
                part = *std::move(step->next);
                observer({part, &event, at});
            }
        }
    }
    std::string log(std::uint64_t parts) {
        std::string text = line_of(codec::encode_step_settings(config));
        for (std::uint64_t number = 1; number <= parts; ++number)
            live(begun(number), [&](const part::Trace& trace) { text += line_of(codec::encode(trace)); });
        return text;
    }
};

TEST_F(PartReplayTest, LinesAreReadAsTheyWereWritten) {
    std::set<std::size_t> events, phases;
    const auto check = [&](const part::Trace& trace) {
        const std::string text = codec::dump(codec::encode(trace));
        const auto line = read_line(text);
        ASSERT_TRUE(line) << line.error() << "\n" << text;
        EXPECT_EQ(codec::dump(codec::encode(*line)), text);
        // A state in any phase is a line, too: a new file starts from the parts that there are.
        const auto state = read_line(codec::dump(codec::encode(part::Trace{trace.state})));
        ASSERT_TRUE(state) << state.error();
        EXPECT_EQ(std::get<part::State>(*state), trace.state);
        if (trace.event != nullptr) events.insert(trace.event->index());
        phases.insert(trace.state.phase.index());
    };
    for (std::uint64_t number = 1; number <= 800; ++number) live(begun(number), check);
    EXPECT_EQ(events.size(), std::variant_size_v<part::Event>);
    EXPECT_EQ(phases.size(), std::variant_size_v<part::Phase>);
    const auto settings = read_line(codec::dump(codec::encode_step_settings(config)));
    ASSERT_TRUE(settings) << settings.error();
    EXPECT_EQ(codec::encode(*settings), codec::encode_step_settings(config));
    EXPECT_FALSE(std::get<ZoneConfig>(*settings).profiler.empty());
}

TEST_F(PartReplayTest, EachStepEndsInTheSameState) {
    const auto done = replayed(log(300));
    ASSERT_TRUE(done) << done.error();
    EXPECT_FALSE(done->first_difference) << "line " << done->first_difference->line;
    EXPECT_EQ(done->parts, 300U);
    EXPECT_GT(done->events, 500U);
    EXPECT_FALSE(done->is_cut);
}

TEST_F(PartReplayTest, OneOtherValueIsNoticedAtItsLine) {
    const part::State part = held();
    const part::Now at{kNow, kWall};
    const part::Event commit = part::Commit{};
    const part::State committed = *part::step(config, part, commit, at)->next;
    const std::string head = line_of(codec::encode_step_settings(config)) + line_of(codec::encode(part::Trace{part}));
    const std::string good = line_of(codec::encode(part::Trace{committed, &commit, at}));
    ASSERT_FALSE(replayed(head + good)->first_difference);
    for (const auto& [old, other] : {std::pair("\"commit\"", "\"block\""), std::pair("100000000", "100000001"),
                                     std::pair("\"committed\"", "\"running\"")}) {
        std::string bad = good;
        ASSERT_NE(bad.find(old), std::string::npos) << old << " in " << bad;
        bad.replace(bad.find(old), std::string(old).size(), other);
        const auto done = replayed(head + bad + good);
        ASSERT_TRUE(done) << done.error();
        ASSERT_TRUE(done->first_difference) << other;
        EXPECT_EQ(done->first_difference->line, 3U);
        EXPECT_EQ(done->events, 1U);
    }
}

TEST_F(PartReplayTest, LineThatCannotBeIsRefusedWithItsPlace) {
    const std::string settings = line_of(codec::encode_step_settings(config));
    const std::string part = line_of(codec::encode(part::Trace{held()}));
    const part::Event commit = part::Commit{};
    const std::string step = line_of(codec::encode(part::Trace{held(), &commit, {kNow, kWall}}));
    std::string unknown = step, unfit = part;
    unknown.replace(unknown.find("commit"), 6, "comet");
    unfit.replace(unfit.find("\"phase\":\"held\""), 14, "\"phase\":\"committed\",\"has_inputs\":false");
    for (const auto& [log, place, message] : {std::tuple(settings + "[1]\n", "parts.jsonl:2", "object"),
                                              std::tuple(settings + "{\n", "parts.jsonl:2", "line 1"),
                                              std::tuple(part, "parts.jsonl:1", "settings of its zone"),
                                              std::tuple(settings + step, "parts.jsonl:2", "no line before"),
                                              std::tuple(settings + part + settings + step, "parts.jsonl:4", "no line"),
                                              std::tuple(settings + part + unknown, "parts.jsonl:3", "/event"),
                                              std::tuple(settings + unfit, "parts.jsonl:2", "/phase")}) {
        const auto done = replayed(log);
        ASSERT_FALSE(done) << message;
        EXPECT_EQ(done.error().pointer, place);
        EXPECT_THAT(done.error().message, HasSubstr(message));
    }
}

TEST_F(PartReplayTest, LogIsReadUpToAnUnfinishedLine) {
    std::string text = log(3);
    const auto whole = replayed(text);
    ASSERT_TRUE(whole && whole->events > 0) << "nothing to cut";
    text.resize(text.size() - 10);
    const auto cut = replayed(text);
    ASSERT_TRUE(cut) << cut.error();
    EXPECT_TRUE(cut->is_cut);
    EXPECT_EQ(cut->events, whole->events - 1);
}

/// Only a launch that the zone allows is a step: the log of another program must not end this one.
TEST(StepReplay, ALineWithoutEndIsRefusedBeforeItFillsTheMemory) {
    std::istringstream in(std::string((std::size_t{64} << 20) + 1, ' '));
    const Result<StepReplay> done = replay_steps(in, "parts.jsonl");
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::kTooLarge);
    EXPECT_EQ(done.error().pointer, "parts.jsonl:1");
}

TEST_F(PartReplayTest, LaunchThatIsNotAllowedIsADifference) {
    const part::Event event = launch();
    const part::State part = held();
    const auto done =
        replayed(line_of(codec::encode_step_settings(config)) + line_of(codec::encode(part::Trace{part})) +
                 line_of(codec::encode(part::Trace{part, &event, {kNow, kWall}})));
    ASSERT_TRUE(done && done->first_difference);
    EXPECT_THAT(done->first_difference->replayed.error, HasSubstr("not committed"));
}

TEST_F(PartReplayTest, LogWithoutAStepComparesNothing) {
    for (const std::string& log :
         {std::string("{"), line_of(codec::encode_step_settings(config)),
          line_of(codec::encode_step_settings(config)) + line_of(codec::encode(part::Trace{held()}))}) {
        const auto done = replayed(log);
        ASSERT_TRUE(done) << done.error();
        EXPECT_EQ(done->events, 0U);
        EXPECT_EQ(codec::encode(*done)["same"], false);
    }
}

/// As the zone writes them.
void write(const ApplicationTrace& trace, std::string& log) {
    const ApplicationId id = trace.run.app.request.id;
    const codec::Json json = trace.event == nullptr
                                 ? codec::encode_application(trace.run)
                                 : codec::encode(codec::LoggedApplicationStep{
                                       id, *trace.event, trace.now, trace.is_stored, codec::outcome_of(trace.run)});
    log += line_of(json);
}

TEST(FederationReplay, LogOfEachZoneEndsInTheSameStates) {
    FederationWorld world({4, 4, 4});
    std::map<std::string, std::string> logs;
    for (const char* name : {"a", "b", "c"}) {
        FederationWorld::Node& node = world.node(name);
        node.part_observer = [&log = logs[name]](const part::Trace& trace) { log += line_of(codec::encode(trace)); };
        node.application_observer = [&log = logs[name]](const ApplicationTrace& trace) { write(trace, log); };
        world.crash(name);
        logs[name] += line_of(codec::encode_step_settings(node.config));
        world.restart(name);
        node.executor->script("run-", {.runtime = 20s});
    }
    world.run(30s);
    for (int i = 0; i < 12; ++i) {
        const ApplicationRequest request = world.request(3 + i % 6);
        EXPECT_TRUE(world.node("a").applications->submit(world.user(), request));
        world.run(10s);
        if (i % 4 == 1) static_cast<void>(world.node("a").applications->cancel(world.user(), request.id));
        if (i == 3) {  // a new file has to start from the parts that there are
            logs["c"] = line_of(codec::encode_step_settings(world.node("c").config));
            world.node("c").parts->restate_parts();
            EXPECT_THAT(logs["c"], HasSubstr("\"phase\":\"running\""));
            logs["a"] = line_of(codec::encode_step_settings(world.node("a").config));
            world.node("a").parts->restate_parts();
            world.node("a").applications->restate_applications();
            EXPECT_THAT(logs["a"], HasSubstr("\"phase\":\"watching\""));
        }
        if (i != 6 && i != 9) continue;
        const char* name = i == 6 ? "b" : "a";
        world.crash(name);
        world.run(5s);
        logs[name] += line_of(codec::encode_step_settings(world.node(name).config));
        world.restart(name);
    }
    world.run(10min);
    for (const auto& [name, log] : logs) {
        const auto done = replayed(log);
        ASSERT_TRUE(done) << done.error();
        EXPECT_GT(done->parts, 3U) << name;
        EXPECT_GT(done->events, 2 * done->parts) << name;
        EXPECT_EQ(done->applications > 3, name == "a");
        EXPECT_FALSE(done->first_difference) << name << ", line " << done->first_difference->line << ", "
                                             << done->first_difference->kind << ", " << done->first_difference->event;
    }
}

}  // namespace
}  // namespace zbs::test
