#include "studies/models/gang_workload.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace zbs {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Kind = TaskStep::Kind;

GangJob job(JobKind kind, std::int32_t processors, Duration work) {
    return {.id = JobId{1}, .processors = processors, .kind = kind, .work = work, .seed = 5, .script = nullptr};
}
std::vector<TaskStep> steps(const BurstOptions& bursts, const GangJob& of, std::int32_t task) {
    TaskProgram program(bursts, of, task);
    std::vector<TaskStep> list;
    for (TaskStep step = program.next(); step.kind != Kind::kEnd; step = program.next()) list.push_back(step);
    EXPECT_EQ(program.next().kind, Kind::kEnd);
    return list;
}
Duration total(const std::vector<TaskStep>& list) {
    Duration sum{};
    for (const TaskStep& step : list) sum += step.time;
    return sum;
}

TEST(TaskProgram, IoAlternatesAndAddsUpToTheWork) {
    const BurstOptions bursts;
    const GangJob source = job(JobKind::kIo, 2, seconds{500});
    const std::vector<TaskStep> list = steps(bursts, source, 0);
    EXPECT_EQ(total(list), seconds{500});
    for (std::size_t i = 0; i < list.size(); ++i) EXPECT_EQ(list[i].kind, i % 2 == 0 ? Kind::kCompute : Kind::kIo);
    // 5,000 bursts of mean 100 ms and as much deviation.
    EXPECT_NEAR(static_cast<double>(list.size()), 5000, 4 * 71);
    EXPECT_EQ(list, steps(bursts, source, 0));
    EXPECT_NE(list, steps(bursts, source, 1));
}

TEST(TaskProgram, SuperstepsAreTheSameForAllTasks) {
    const BurstOptions bursts;
    const GangJob source = job(JobKind::kBarriers, 3, seconds{50});
    const std::vector<TaskStep> list = steps(bursts, source, 0);
    EXPECT_EQ(total(list), seconds{50});
    EXPECT_EQ(list, steps(bursts, source, 2));
    for (std::size_t i = 0; i < list.size(); ++i) EXPECT_EQ(list[i].kind, i % 2 == 0 ? Kind::kCompute : Kind::kBarrier);
    EXPECT_EQ(list.size() % 2, 0u);  // the last superstep ends with a barrier, too
}

TEST(TaskProgram, EverySendHasItsReceiveAndEveryPairItsShare) {
    const BurstOptions bursts{.shape = BurstOptions::Shape::kConstant};
    for (const std::int32_t n : {2, 3, 4, 7, 8}) {
        SCOPED_TRACE(n);
        const GangJob source = job(JobKind::kMessages, n, seconds{40});  // 4,000 rounds
        std::map<std::pair<int, int>, std::vector<int>> sent, received;  // by sender and receiver: round numbers
        for (std::int32_t task = 0; task < n; ++task) {
            int computed = 0;
            for (const TaskStep& step : steps(bursts, source, task)) {
                if (step.kind == Kind::kCompute) ++computed;
                if (step.kind == Kind::kSend) sent[{task, step.peer}].push_back(computed);
                if (step.kind == Kind::kReceive) received[{step.peer, task}].push_back(computed);
            }
            EXPECT_EQ(computed, 4000);
        }
        EXPECT_EQ(sent, received);
        EXPECT_EQ(sent.size(), static_cast<std::size_t>(n) * static_cast<std::size_t>(n - 1));
        const double share = n == 2 ? 2000 : 4000.0 / n / 2;  // a pair meets where c = i + j, and either may send
        for (const auto& [pair, rounds] : sent)
            EXPECT_NEAR(static_cast<double>(rounds.size()), share, 5 * std::sqrt(share)) << pair.first << pair.second;
    }
}

TEST(TaskProgram, ShapesHaveTheMean) {
    for (const auto shape :
         {BurstOptions::Shape::kExponential, BurstOptions::Shape::kUniform, BurstOptions::Shape::kConstant}) {
        const BurstOptions bursts{.between_barriers = milliseconds{5}, .shape = shape};
        const std::vector<TaskStep> list = steps(bursts, job(JobKind::kBarriers, 2, seconds{50}), 0);
        EXPECT_NEAR(static_cast<double>(list.size() / 2), 10'000, 400);
    }
}

TEST(MakeGangWorkload, OneTaskHasNobodyToTalkTo) {
    Workload source{.name = "", .processors = 4, .jobs = {}};
    for (int i = 0; i < 40; ++i)
        source.jobs.push_back(
            {Job{.id = JobId{i}, .submit = Time{seconds{i}}, .walltime = seconds{9}, .processors = i % 2 == 0 ? 1 : 4},
             seconds{9}});
    const std::vector<JobKind> kinds{JobKind::kMessages, JobKind::kBarriers, JobKind::kIo};
    const GangWorkload workload = make_gang_workload(source, kinds, {}, 3).value();
    ASSERT_EQ(workload.jobs.size(), 40u);
    std::map<JobKind, int> wide;
    for (const GangJob& made : workload.jobs) {
        EXPECT_EQ(made.work, seconds{9});
        if (made.processors == 4) ++wide[made.kind];
        EXPECT_TRUE(made.processors == 4 || made.kind == JobKind::kIo || made.kind == JobKind::kCompute);
    }
    for (const JobKind kind : kinds) EXPECT_GT(wide[kind], 0) << kind;
    EXPECT_NE(make_gang_workload(source, {}, {}, 3).error().message.find("at least one kind"), std::string::npos);
    EXPECT_NE(make_gang_workload(source, kinds, {.io = Duration{0}}, 3).error().message.find("1 us"),
              std::string::npos);
}

}  // namespace
}  // namespace zbs
