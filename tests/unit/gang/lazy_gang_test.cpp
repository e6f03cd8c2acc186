#include "algorithms/gang/lazy_gang.hpp"

#include <gtest/gtest.h>

namespace zbs::gang {
namespace {

using std::chrono::seconds;
using LazyJobs = std::vector<LazyJob>;

Time at(int s) { return Time{seconds{s}}; }
LazyJob job(int id, int processors, int since, PatienceClass patience = PatienceClass::kBatch, int priority = 0,
            int memory = 0) {
    return {JobId{id}, processors, memory, priority, patience, at(since)};
}
std::vector<JobId> ids(std::initializer_list<int> numbers) {
    std::vector<JobId> list;
    for (const int n : numbers) list.push_back(JobId{n});
    return list;
}
const LazyOptions kOptions{.patience = {seconds{10}, seconds{100}, seconds{1000}},
                           .undisturbed_per_memory = seconds{1}};
constexpr PatienceClass kInteractive = PatienceClass::kInteractive;

TEST(LazyGang, NothingIsPreemptedWhileThereIsPatience) {
    const LazyPlan plan =
        plan_lazy_gang(at(5), 4, LazyJobs{job(1, 4, 0)}, LazyJobs{job(2, 1, 0, kInteractive)}, kOptions);
    EXPECT_EQ(plan, (LazyPlan{{}, {}, at(10)}));
}

TEST(LazyGang, OverdueJobPreemptsTheLowestPriorityAndNoMoreThanNeeded) {
    const LazyJobs running{job(1, 1, 0, PatienceClass::kBatch, 1), job(2, 2, 0, PatienceClass::kBatch, 2),
                           job(3, 1, 0, PatienceClass::kBatch, 3)};
    const LazyJobs waiting{job(4, 2, 0, kInteractive)};
    // In order of priority 1 then 2 go; with 2 gone 1 was not needed. Job 2 will be overdue itself at 1010.
    EXPECT_EQ(plan_lazy_gang(at(10), 4, running, waiting, kOptions), (LazyPlan{ids({2}), ids({4}), at(1010)}));
}

TEST(LazyGang, MemoryBuysUndisturbedTime) {
    const LazyJobs running{job(1, 4, 0, PatienceClass::kBatch, 0, 30)};
    const LazyJobs waiting{job(2, 1, 0, kInteractive)};
    EXPECT_EQ(plan_lazy_gang(at(29), 4, running, waiting, kOptions), (LazyPlan{{}, {}, at(30)}));
    EXPECT_EQ(plan_lazy_gang(at(30), 4, running, waiting, kOptions).preemptions, ids({1}));
}

TEST(LazyGang, MuchMemoryBuysMuchTime) {
    const LazyJobs running{{JobId{1}, 4, std::int64_t{1} << 50, 0, PatienceClass::kBatch, at(0)}};
    const LazyJobs waiting{job(2, 1, 0, kInteractive)};
    for (const int days : {1, 3, 200, 366}) {
        LazyOptions options = kOptions;
        options.undisturbed_per_memory = std::chrono::hours{24 * days};
        EXPECT_TRUE(plan_lazy_gang(at(1'000'000), 4, running, waiting, options).preemptions.empty()) << days;
    }
}

TEST(LazyGang, LongestOverdueGoesFirstAndNobodyPassesIt) {
    const LazyJobs running{job(1, 2, 0, PatienceClass::kBatch, 0, 1000)};
    const LazyJobs waiting{job(2, 1, 20, kInteractive), job(3, 3, 0, kInteractive), job(4, 1, 0)};
    EXPECT_TRUE(plan_lazy_gang(at(50), 4, running, waiting, kOptions).starts.empty());
    const LazyJobs smaller{job(2, 1, 20, kInteractive), job(3, 2, 0, kInteractive), job(4, 1, 0)};
    EXPECT_EQ(plan_lazy_gang(at(50), 4, running, smaller, kOptions).starts, ids({3}));
}

TEST(LazyGang, PatientJobsTakeWhatIsFreeByPriority) {
    const LazyJobs waiting{job(2, 3, 0), job(3, 1, 0), job(4, 1, 0, PatienceClass::kBatch, 5)};
    EXPECT_EQ(plan_lazy_gang(at(1), 4, {}, waiting, kOptions).starts, ids({4, 2}));
}

}  // namespace
}  // namespace zbs::gang
