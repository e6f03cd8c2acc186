#include "client/api/application_answer.hpp"

#include <gtest/gtest.h>

namespace zbs::client {
namespace {

using codec::Json;
using std::chrono::seconds;

Json parsed(const char* text) { return Json::parse(text); }

TEST(ApplicationAnswer, HasAllThatCommandsShow) {
    const ApplicationView view = decode_application_view(parsed(R"({"id": "i", "name": "n", "owner": "o",
        "state": "failed", "reason": "r", "program": "/p", "directory": "/d", "waits_for": "turn", "profile": "f",
        "argv": ["/p", "x y"], "zones": ["a", "b"], "result_notes": ["left"], "ranks": 3, "exit_code": 7,
        "cancel_requested": true, "results_left_out": 2, "submitted_us": 1, "started_us": 2, "ended_us": 3,
        "expected_start_us": 4, "start_us": 5, "grace_s": 30, "plan": {"profile": "none"},
        "parts": [{"zone": "a", "state": "held", "reason": "q", "work": "io", "ranks": [0, 2], "grace_s": 1.5,
                   "queue": {"place": 4, "start_in_s": 60, "promised_in_s": 90, "waits_for": "right"}},
                  {"zone": "b"}]})"));
    EXPECT_EQ(view.id + view.name + view.owner + view.reason + view.program + view.directory, "inor/p/d");
    EXPECT_EQ(view.state, "failed");
    EXPECT_EQ(view.waits_for, "turn");
    EXPECT_EQ(view.profile, "f");
    EXPECT_EQ(view.argv, (std::vector<std::string>{"/p", "x y"}));
    EXPECT_EQ(view.zones, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(view.result_notes, std::vector<std::string>{"left"});
    EXPECT_EQ(view.ranks, 3);
    EXPECT_EQ(view.exit_code, 7);
    EXPECT_TRUE(view.cancel_requested);
    EXPECT_EQ(view.results_left_out, 2U);
    EXPECT_EQ(view.submitted, time_from_microseconds(1));
    EXPECT_EQ(view.started, time_from_microseconds(2));
    EXPECT_EQ(view.ended, time_from_microseconds(3));
    EXPECT_EQ(view.expected_start, time_from_microseconds(4));
    EXPECT_EQ(view.reserved_start, time_from_microseconds(5));
    EXPECT_EQ(view.grace, seconds{30});
    EXPECT_EQ(view.plan, parsed(R"({"profile": "none"})"));
    ASSERT_EQ(view.parts.size(), 2U);
    const PartView& part = view.parts[0];
    EXPECT_EQ(part.zone + part.state + part.reason + part.work, "aheldqio");
    EXPECT_EQ(part.ranks, (std::vector<TaskIndex>{0, 2}));
    EXPECT_EQ(part.grace, std::chrono::milliseconds{1500});
    ASSERT_TRUE(part.queue);
    EXPECT_EQ(part.queue->place, 4);
    EXPECT_EQ(part.queue->start_in, seconds{60});
    EXPECT_EQ(part.queue->promised_in, seconds{90});
    EXPECT_EQ(part.queue->waits_for, "right");
    EXPECT_FALSE(view.parts[1].queue);
    EXPECT_FALSE(view.parts[1].grace);
}

TEST(ApplicationAnswer, ThePlanThatCountsIsTheLastThatWasNotGivenUp) {
    EXPECT_EQ(decode_application_view(parsed(R"({"history": [{"state": "planned", "at_us": 1},
        {"state": "committed", "at_us": 2}, {"state": "planned", "at_us": 3}, {"state": "held", "at_us": 4}]})"))
                  .planned,
              time_from_microseconds(3));
    EXPECT_EQ(decode_application_view(parsed(R"({"history": [{"state": "planned", "at_us": 1}, {"state": "held"},
        {"state": "planned", "at_us": 3}, {"state": "committed", "at_us": 4}]})"))
                  .planned,
              time_from_microseconds(1));
}

TEST(ApplicationAnswer, ListsAndLogs) {
    const ApplicationListView list =
        decode_application_list(parsed(R"({"applications": [{"id": "a"}, {"id": "b"}], "next": "n"})"));
    ASSERT_EQ(list.applications.size(), 2U);
    EXPECT_EQ(list.applications[1].id, "b");
    EXPECT_EQ(list.next, "n");
    const LogIndexView index =
        decode_log_index(parsed(R"({"files": [{"rank": "0", "stream": "stdout", "bytes": 5}], "complete": true})"));
    ASSERT_EQ(index.files.size(), 1U);
    EXPECT_EQ(index.files[0].rank + index.files[0].stream, "0stdout");
    EXPECT_EQ(index.files[0].bytes, 5U);
    EXPECT_TRUE(index.complete);
    EXPECT_EQ(decode_profile_ids(parsed(R"({"profiles": [{"id": "p"}, {"id": "q"}]})")),
              (std::vector<std::string>{"p", "q"}));
}

TEST(ApplicationAnswer, TakesAnswersOfOtherReleases) {
    for (const char* text :
         {"null", "7", "{}", R"({"ranks": "x", "parts": [1, {"ranks": [-1, 1e99, "a", 4294967296], "queue": 3}],
             "history": [null, {"state": "planned"}], "exit_code": "7", "started_us": "now", "grace_s": []})"}) {
        const ApplicationView view = decode_application_view(parsed(text));
        EXPECT_EQ(view.ranks, 0) << text;
        EXPECT_FALSE(view.exit_code || view.started || view.grace || view.planned) << text;
        EXPECT_TRUE(view.plan.is_null()) << text;
        for (const PartView& part : view.parts) EXPECT_TRUE(part.ranks.empty()) << text;
        EXPECT_TRUE(decode_application_list(parsed(text)).applications.empty()) << text;
        EXPECT_TRUE(decode_log_index(parsed(text)).files.empty()) << text;
        EXPECT_TRUE(decode_profile_ids(parsed(text)).empty()) << text;
    }
}

}  // namespace
}  // namespace zbs::client
