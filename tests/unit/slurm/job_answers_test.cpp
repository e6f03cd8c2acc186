#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "services/common/messages/limits.hpp"
#include "services/zone_scheduler/adapters/slurm/answers.hpp"
#include "tests/unit/slurm/recorded.hpp"

namespace zbs::slurm {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// The last one of this name that Slurm lists with this state.
JobLine job(const std::vector<JobLine>& jobs, const std::string& name, const std::string& state) {
    const auto found =
        std::find_if(jobs.rbegin(), jobs.rend(), [&](const JobLine& j) { return j.name == name && j.state == state; });
    EXPECT_NE(found, jobs.rend()) << name;
    return found == jobs.rend() ? JobLine{} : *found;
}

TEST(JobAnswers, RecordedJobsAreUnderstood) {
    const auto jobs = parse_jobs(recorded("jobs.txt"));
    ASSERT_TRUE(jobs) << jobs.error();
    ASSERT_EQ(jobs->size(), 12U);
    const Time start = time_from_microseconds(1'795'393'715'000'000);
    EXPECT_EQ(job(*jobs, "zbs-op-1", "RUNNING"), (JobLine{"zbs-op-1",
                                                          27,
                                                          "RUNNING",
                                                          "None",
                                                          "games",
                                                          "main",
                                                          "",
                                                          "zbs:held",
                                                          start,
                                                          start + std::chrono::minutes{5},
                                                          {"n1", "n2"}}));
    EXPECT_EQ(job(*jobs, "zbs-op-2", "PENDING").reason, "Resources");
    EXPECT_EQ(job(*jobs, "zbs-op-3", "PENDING").reason, "PartitionTimeLimit");
    EXPECT_EQ(job(*jobs, "zbs-op-4", "PENDING").reservation, "zbs-op-4");
    EXPECT_EQ(job(*jobs, "zbs-op-4", "PENDING").start, std::nullopt);
    EXPECT_EQ(job(*jobs, "zbs-op-5", "CANCELLED").comment, "a | b");
    EXPECT_EQ(job(*jobs, "zbs-op-6", "PENDING").reason, "ReqNodeNotAvail, UnavailableNodes:n4");
}

TEST(JobAnswers, StatesSayHowFarAJobIs) {
    const std::vector<std::pair<const char*, Phase>> cases = {
        {"PENDING", Phase::kWaiting}, {"CONFIGURING", Phase::kWaiting}, {"REQUEUE_HOLD", Phase::kWaiting},
        {"RUNNING", Phase::kRunning}, {"SUSPENDED", Phase::kRunning},   {"COMPLETING", Phase::kEnding},
        {"COMPLETED", Phase::kEnded}, {"CANCELLED", Phase::kEnded},     {"FAILED", Phase::kEnded},
        {"TIMEOUT", Phase::kEnded},   {"NODE_FAIL", Phase::kEnded},     {"PREEMPTED", Phase::kEnded},
        {"BOOT_FAIL", Phase::kEnded}, {"OUT_OF_MEMORY", Phase::kEnded}};
    for (const auto& [state, phase] : cases) EXPECT_EQ(*phase_of(state), phase) << state;
    for (const char* state : {"", "running", "RUNNING ", "NEW_WORD"}) EXPECT_FALSE(phase_of(state)) << state;
}

TEST(JobAnswers, LinesThatAreNotUnderstoodAreRefusedWithTheirNumber) {
    const std::string good = "1|RUNNING|u|p|10|20|n1|zbs-a|(null)|None|\n";
    EXPECT_TRUE(parse_jobs(good));
    for (const char* line :
         {"x", "1|RUNNING|u|p|10|20|n1|zbs-a|(null)|None", "x|RUNNING|u|p|10|20|n1|zbs-a|(null)|None|",
          "-1|RUNNING|u|p|10|20|n1|zbs-a|(null)|None|", "4294967296|RUNNING|u|p|10|20|n1|zbs-a|(null)|None|",
          "1|NEW_WORD|u|p|10|20|n1|zbs-a|(null)|None|", "1|RUNNING|u|p|2026-11-23T00:00:00|20|n1|zbs-a|(null)|None|",
          "1|RUNNING|u|p|10|999999999999999|n1|zbs-a|(null)|None|", "1|RUNNING|u|p|10|20|n[|zbs-a|(null)|None|",
          "slurm_load_jobs error: Invalid job id specified"}) {
        const auto jobs = parse_jobs(good + line + "\n");
        ASSERT_FALSE(jobs) << line;
        EXPECT_EQ(jobs.error().pointer, "squeue:2") << line;
    }
    EXPECT_TRUE(parse_jobs("")->empty());
}

TEST(JobAnswers, ProcessorsPerNodeOfARunningJob) {
    EXPECT_THAT(*parse_shares(recorded("job_details.txt"), "zbs-op-1"),
                ElementsAre(NodeShare{"n1", 4}, NodeShare{"n2", 2}));
    EXPECT_THAT(*parse_shares(recorded("job_waiting.txt"), "zbs-op-2"), IsEmpty());
    EXPECT_THAT(*parse_shares("JobId=1 JobName=zbs-a UserId=u(1) NumNodes=3 JOB_GRES=(null)   Nodes=n[1-2] "
                              "CPU_IDs=0-3,8-11 Mem=0 GRES=   "
                              "Nodes=n7 CPU_IDs=5 Mem=0 GRES= MinCPUsNode=1",
                              "zbs-a"),
                ElementsAre(NodeShare{"n1", 8}, NodeShare{"n2", 8}, NodeShare{"n7", 1}));
}

TEST(JobAnswers, OwnerOfAJobCannotMakeProcessorsUpInItsTexts) {
    std::string text = recorded("job_details.txt");
    text.replace(text.find("Comment=zbs:held"), 16, "Comment=x Nodes=n9 CPU_IDs=0-63 Mem=0");
    EXPECT_THAT(*parse_shares(text, "zbs-op-1"), ElementsAre(NodeShare{"n1", 4}, NodeShare{"n2", 2}));
    text.replace(text.find("JobName=zbs-op-1"), 16, "JobName=zbs-op-1 Nodes=n9 CPU_IDs=0-63 Mem=0");
    EXPECT_FALSE(parse_shares(text, "zbs-op-1"));
    EXPECT_FALSE(parse_shares(recorded("job_details.txt"), "zbs-op-2"));
}

TEST(JobAnswers, ImpossibleProcessorsAreRefused) {
    for (const char* numbers : {"", "a", "3-1", "1,", "0-65537", "0-99999999999999999999", "1--2"})
        EXPECT_FALSE(parse_shares(
            "JobId=1 JobName=zbs-a UserId=u(1)   Nodes=n1 CPU_IDs=" + std::string(numbers) + " Mem=0", "zbs-a"))
            << numbers;
}

TEST(JobAnswers, NumberOfASubmittedJob) {
    EXPECT_EQ(*parse_submitted("7\n"), 7U);
    EXPECT_EQ(*parse_submitted("7;cluster\n"), 7U);
    for (const char* text : {"", "0", "Submitted batch job 7", "7 8", "-7", "99999999999"})
        EXPECT_FALSE(parse_submitted(text)) << text;
}

}  // namespace
}  // namespace zbs::slurm
