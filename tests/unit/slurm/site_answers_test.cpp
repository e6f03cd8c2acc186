#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/common/messages/limits.hpp"
#include "services/zone_scheduler/adapters/slurm/answers.hpp"
#include "tests/unit/slurm/recorded.hpp"

namespace zbs::slurm {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(SiteAnswers, RecordedClusterIsUnderstood) {
    const auto version = parse_version(recorded("version.txt"));
    const auto settings = parse_settings(recorded("config.txt"));
    const auto partitions = parse_partitions(recorded("partitions.txt"));
    ASSERT_TRUE(version && settings && partitions);
    EXPECT_EQ(*version, (Version{22, 5}));
    EXPECT_EQ(*settings, (ClusterSettings{"zbs", 300s, 2s}));
    EXPECT_THAT(*partitions, ElementsAre(Partition{"main", true, "", 3'600s, 4, {"n1", "n2", "n3", "n4"}},
                                         Partition{"short", false, "", 120s, 1, {"n1", "n2"}}));
}

TEST(SiteAnswers, NodesAsJsonAndAsTextAreTheSameToUs) {
    const auto text = parse_nodes(recorded("nodes.txt"));
    const auto json = parse_nodes_json(recorded("nodes.json"));
    ASSERT_TRUE(text) << text.error();
    ASSERT_TRUE(json) << json.error();
    EXPECT_THAT(*json, ElementsAre(Node{"n1", 4, "", 4, "head"}, Node{"n2", 4, "", 2, "head"},
                                   Node{"n3", 4, "down, NOT_RESPONDING: Not responding", 0, "head"},
                                   Node{"n4", 4, "DRAIN: disk | failing = 3", 0, "head"}));
    EXPECT_THAT(*text, ElementsAre(Node{"n1", 4, "", 4}, Node{"n2", 4, "", 2},
                                   Node{"n3", 4, "down, not_responding: Not responding"},
                                   Node{"n4", 4, "drained: disk | failing = 3"}));
}

/// Written by hand from SchedMD's description of 23.11: no such release is here.
TEST(SiteAnswers, LaterReleasesWriteStatesAsListsAndNumbersAsObjects) {
    const auto nodes = parse_nodes_json(
        R"({"nodes": [{"name": "a", "cpus": {"set": true, "infinite": false, "number": 8}, "alloc_cpus": 2, "state": ["IDLE"], "reason": ""},
                      {"name": "b", "cpus": 8, "alloc_cpus": 0, "state": ["IDLE", "DRAIN"], "reason": "fan"},
                      {"name": "c", "cpus": 8, "alloc_cpus": 0, "state": ["IDLE", "SOMETHING_NEW"]}]})");
    ASSERT_TRUE(nodes) << nodes.error();
    EXPECT_THAT(*nodes, ElementsAre(Node{"a", 8, "", 2}, Node{"b", 8, "DRAIN: fan"},
                                    Node{"c", 8, "SOMETHING_NEW (not a known state)"}));
}

TEST(SiteAnswers, StatesSayWhetherANodeTakesJobs) {
    for (const char* state :
         {"idle", "mixed", "allocated", "completing", "planned", "reserved", "idle~", "mixed#", "idle-", "blocked"})
        EXPECT_EQ((*parse_nodes(std::string("n|2|") + state + "|0/2/0/2|none"))[0].fault, "") << state;
    for (const char* state : {"down", "down*", "idle*", "drained", "draining", "drained$", "maint", "fail", "unknown",
                              "future", "inval", "idle%", "idle@", "idle^", "new_word"})
        EXPECT_NE((*parse_nodes(std::string("n|2|") + state + "|0/2/0/2|none"))[0].fault, "") << state;
}

TEST(SiteAnswers, TimeLimits) {
    const auto of = [](std::string_view text) { return parse_time_limit(text); };
    EXPECT_EQ(*of("UNLIMITED"), std::nullopt);
    EXPECT_EQ(**of("30"), 30min);
    EXPECT_EQ(**of("02:30"), 150s);
    EXPECT_EQ(**of("1:00:00"), 1h);
    EXPECT_EQ(**of("7-12:00:01"), 180h + 1s);
    for (const char* text :
         {"", "-", "1-", "1-2", "1-2:3", "1:2:3:4", "a", "1:", ":1", "-1", "1 day", "99999999999999999999"})
        EXPECT_FALSE(of(text)) << text;
}

TEST(SiteAnswers, UnlimitedAndClosedPartitions) {
    const std::string line = "PartitionName=p Default=NO MaxNodes=UNLIMITED MaxTime=UNLIMITED Nodes=(null) State=DRAIN";
    const auto partitions = parse_partitions(line + "\n");
    ASSERT_TRUE(partitions) << partitions.error();
    EXPECT_THAT(*partitions, ElementsAre(Partition{"p", false, "state DRAIN", {}, {}, {}}));
    EXPECT_TRUE(parse_partitions("No partitions in the system\n")->empty());
}

TEST(SiteAnswers, WhatIsNotUnderstoodIsRefusedWithItsLine) {
    const std::string good = recorded("partitions.txt");
    const auto partitions = parse_partitions(good + "PartitionName=x State=UP\n");
    ASSERT_FALSE(partitions);
    EXPECT_EQ(partitions.error().pointer, "scontrol show partition:3");
    EXPECT_THAT(partitions.error().message, HasSubstr("PartitionName=x State=UP"));
    EXPECT_EQ(parse_nodes(recorded("nodes.txt") + "n5|x|idle|0/1/0/1|none\n").error().pointer, "sinfo:7");
    EXPECT_FALSE(parse_nodes("n1|4|idle|0/4/0/4\n"));
    EXPECT_FALSE(parse_nodes("n1|4|idle|x/4/0/4|none\n"));
    EXPECT_FALSE(parse_nodes("n1|99999999|idle|0/1/0/1|none\n"));
    EXPECT_FALSE(parse_nodes("--help|4|idle|0/1/0/1|none\n"));
    EXPECT_FALSE(parse_settings("ClusterName = a\nMinJobAge = 300 sec\n"));
    EXPECT_FALSE(parse_settings("ClusterName = a\nMinJobAge = x\nKillWait = 1 sec\n"));
    EXPECT_FALSE(parse_version("bash: sinfo: not found"));
    for (const char* json : {"", "[]", "{}", R"({"nodes": 1})", R"({"nodes": [1]})", R"({"nodes": [{"name": "a"}]})",
                             R"({"nodes": [{"name": "a b", "cpus": 1, "alloc_cpus": 0, "state": "idle"}]})",
                             R"({"nodes": [{"name": "a", "cpus": -1, "alloc_cpus": 0, "state": "idle"}]})",
                             R"({"nodes": [{"name": "a", "cpus": 1, "alloc_cpus": 0, "state": [1]}]})",
                             R"({"nodes": [{"name": "a", "cpus": 1, "alloc_cpus": 0, "state": []}]})",
                             R"({"nodes": [{"name": "a", "cpus": 1, "state": "idle"}]})",
                             R"({"nodes": [{"name": "a", "cpus": 1, "alloc_cpus": -1, "state": "idle"}]})",
                             R"({"nodes": [{"name": "a", "cpus": 1e3, "alloc_cpus": 0, "state": "idle"}]})"})
        EXPECT_FALSE(parse_nodes_json(json)) << json;
    EXPECT_FALSE(parse_nodes_json(
        R"({"nodes": [{"name": "a", "cpus": 1, "alloc_cpus": 0, "state": "idle"}, {"name": "a", "cpus": 1, "alloc_cpus": 0, "state": "idle"}]})"));
}

TEST(SiteAnswers, ClusterOverTheLimitIsRefusedNotCut) {
    std::string text;
    for (std::size_t i = 0; i < limits::kMaxSlurmNodes; ++i) text += "n" + std::to_string(i) + "|1|idle|0/1/0/1|none\n";
    EXPECT_EQ(parse_nodes(text)->size(), limits::kMaxSlurmNodes);
    EXPECT_EQ(parse_nodes(text + "m|1|idle|0/1/0/1|none\n").error().code, ErrorCode::kTooLarge);
    std::string many;
    for (std::size_t i = 0; i <= limits::kMaxSlurmPartitions; ++i)
        many += "PartitionName=p Default=NO MaxNodes=1 MaxTime=1 Nodes=n State=UP\n";
    EXPECT_EQ(parse_partitions(many).error().code, ErrorCode::kTooLarge);
}

}  // namespace
}  // namespace zbs::slurm
