#include "algorithms/metrics/schedule_metrics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "algorithms/base/rng.hpp"

namespace zbs {
namespace {

using std::chrono::seconds;

TEST(DistributionOf, NothingIsZero) { EXPECT_EQ(distribution_of({}), Distribution{}); }

TEST(DistributionOf, OneValueIsAllOfIt) { EXPECT_EQ(distribution_of({3}), (Distribution{3, 3, 3, 3})); }

TEST(DistributionOf, HasTheMeanOfTheTwoInTheMiddleAsMedian) {
    EXPECT_EQ(distribution_of({4, 1}), (Distribution{2.5, 2.5, 4, 4}));
    EXPECT_EQ(distribution_of({5, 1, 3}), (Distribution{3, 3, 5, 5}));
    std::vector<double> hundred(100);
    std::iota(hundred.begin(), hundred.end(), 0.0);
    EXPECT_EQ(distribution_of(hundred), (Distribution{49.5, 49.5, 95, 99}));
    hundred.pop_back();  // 0.95 * 99 = 94.05
    EXPECT_EQ(distribution_of(hundred), (Distribution{49, 49, 94, 98}));
}

TEST(DistributionOf, IsThatOfTheSortedValues) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE(seed);
        Rng rng(seed);
        std::vector<double> values(1 + rng.below(seed < 250 ? 60 : 3000));
        for (double& value : values) value = static_cast<double>(rng.below(50));
        std::vector<double> sorted = values;
        std::ranges::sort(sorted);
        const Distribution found = distribution_of(values);
        const std::size_t n = sorted.size();
        EXPECT_EQ(found.median, (sorted[n / 2] + sorted[(n - 1) / 2]) / 2);
        EXPECT_EQ(found.p95, sorted[sorted.size() * 95 / 100]);
        EXPECT_EQ(found.max, sorted.back());
        EXPECT_DOUBLE_EQ(found.mean,
                         std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size()));
    }
}

struct Run {
    std::int64_t submit, start, runtime;
    std::int32_t processors;
};
struct World {
    Workload workload;
    std::vector<Time> start, end;
    Schedule schedule(std::int32_t processors = 10) const { return {start, end, processors}; }
};
World world(std::initializer_list<Run> runs) {
    World made;
    for (const Run& run : runs) {
        made.workload.jobs.push_back({{.id = JobId{std::ssize(made.workload.jobs)},
                                       .submit = Time{seconds{run.submit}},
                                       .walltime = seconds{run.runtime},
                                       .processors = run.processors},
                                      seconds{run.runtime}});
        made.start.push_back(Time{seconds{run.start}});
        made.end.push_back(Time{seconds{run.start + run.runtime}});
    }
    return made;
}

TEST(ScheduleMetrics, AreThoseOfAHandMadeSchedule) {
    // Waits 0, 20, 5; responses 100, 30, 7; run times 100, 10, 2.
    const World made = world({{100, 100, 100, 4}, {110, 130, 10, 6}, {120, 125, 2, 1}});
    const ScheduleMetrics found = schedule_metrics(made.workload, made.schedule());
    EXPECT_DOUBLE_EQ(found.makespan_s, 100);
    EXPECT_DOUBLE_EQ(found.utilization, (400 + 60 + 2) / 1000.0);
    EXPECT_EQ(found.all.jobs, 3U);
    EXPECT_DOUBLE_EQ(found.all.processor_seconds, 462);
    EXPECT_EQ(found.all.wait_s, (Distribution{25.0 / 3, 5, 20, 20}));
    EXPECT_EQ(found.all.response_s, (Distribution{137.0 / 3, 30, 100, 100}));
    EXPECT_EQ(found.all.slowdown, (Distribution{(1 + 3 + 3.5) / 3, 3, 3.5, 3.5}));
    // 7 s of response for 2 s of run time count as 7 / 10, and so as 1.
    EXPECT_EQ(found.all.bounded_slowdown, (Distribution{5.0 / 3, 1, 3, 3}));
}

TEST(ScheduleMetrics, TauIsTheLeastRunTimeThatCounts) {
    const World made = world({{0, 20, 10, 1}});
    const auto bounded = [&](std::int64_t tau) {
        return schedule_metrics(made.workload, made.schedule(), seconds{tau}).all.bounded_slowdown.mean;
    };
    EXPECT_DOUBLE_EQ(bounded(1), 3);
    EXPECT_DOUBLE_EQ(bounded(10), 3);
    EXPECT_DOUBLE_EQ(bounded(15), 2);
    EXPECT_DOUBLE_EQ(bounded(100), 1);
}

TEST(ScheduleMetrics, TimePreemptedCountsAsDelay) {
    World made = world({{0, 0, 10, 1}});
    made.end[0] = Time{seconds{40}};
    const ScheduleMetrics found = schedule_metrics(made.workload, made.schedule());
    EXPECT_DOUBLE_EQ(found.all.wait_s.mean, 0);
    EXPECT_DOUBLE_EQ(found.all.slowdown.mean, 4);
}

TEST(ScheduleMetrics, WhatJobsUsedCountsWhereItIsTold) {
    // Both ask for 8 of 10 for 10 s, one after the other; the second did its work on 4 in 16 s.
    World made = world({{0, 0, 10, 8}, {0, 10, 10, 8}});
    made.end[1] = Time{seconds{26}};
    Schedule schedule = made.schedule();
    EXPECT_DOUBLE_EQ(schedule_metrics(made.workload, schedule).utilization, 160 / 260.0);
    const double used[] = {80, 64};
    schedule.processor_seconds = used;
    const ScheduleMetrics found = schedule_metrics(made.workload, schedule);
    EXPECT_DOUBLE_EQ(found.utilization, 144 / 260.0);
    EXPECT_DOUBLE_EQ(metrics_by_size(made.workload, schedule)[3].jobs.processor_seconds, 144);
}

TEST(ScheduleMetrics, AWindowCountsJobsBySubmissionAndUtilizationByTime) {
    // On 10 processors: 4 from 0 to 100, 6 from 30 to 40, 1 from 125 to 127.
    const World made = world({{0, 0, 100, 4}, {20, 30, 10, 6}, {120, 125, 2, 1}});
    Schedule schedule = made.schedule();
    const ScheduleMetrics all = schedule_metrics(made.workload, schedule);
    EXPECT_DOUBLE_EQ(all.utilization, 462 / 1270.0);
    schedule.from = Time{seconds{20}}, schedule.until = Time{seconds{70}};
    const ScheduleMetrics found = schedule_metrics(made.workload, schedule);
    EXPECT_EQ(found.all.jobs, 1U);
    EXPECT_DOUBLE_EQ(found.all.wait_s.mean, 10);
    EXPECT_DOUBLE_EQ(found.utilization, (4 * 50 + 60) / 500.0);
    EXPECT_DOUBLE_EQ(found.makespan_s, all.makespan_s);
    EXPECT_EQ(metrics_by_size(made.workload, schedule)[2].jobs.jobs, 1U);
    EXPECT_EQ(metrics_by_size(made.workload, schedule)[0].jobs.jobs, 0U);
    schedule.from = Time{seconds{120}}, schedule.until = Time::max();  // a warm-up: to the end of the schedule
    EXPECT_DOUBLE_EQ(schedule_metrics(made.workload, schedule).utilization, 2 / 70.0);
    schedule.from = Time{seconds{20}}, schedule.until = Time{seconds{120}};  // submissions before the end only
    EXPECT_EQ(schedule_metrics(made.workload, schedule).all.jobs, 1U);
}

TEST(ScheduleMetrics, OfNoJobsAreZero) { EXPECT_EQ(schedule_metrics({}, world({}).schedule()), ScheduleMetrics{}); }

TEST(MetricsBySize, ClassesArePowersOfTwo) {
    const World made = world({{0, 1, 10, 1}, {0, 2, 10, 2}, {0, 3, 10, 3}, {0, 4, 10, 8}, {0, 5, 10, 10}});
    const std::vector<ClassMetrics> found = metrics_by_size(made.workload, made.schedule());
    ASSERT_EQ(found.size(), 4U);
    const char* names[] = {"1 processor", "2-3 processors", "4-7 processors", "8-15 processors"};
    const std::size_t jobs[] = {1, 2, 0, 2};
    const double waits[] = {1, 2.5, 0, 4.5};
    for (std::size_t c = 0; c < 4; ++c) {
        EXPECT_EQ(found[c].name, names[c]);
        EXPECT_EQ(found[c].jobs.jobs, jobs[c]);
        EXPECT_DOUBLE_EQ(found[c].jobs.wait_s.mean, waits[c]);
    }
}

TEST(MetricsByRuntime, BoundsBelongToTheLongerClass) {
    const World made =
        world({{0, 0, 59, 1}, {0, 0, 60, 1}, {0, 0, 3600, 1}, {0, 0, 43'199, 1}, {0, 0, 43'200, 1}, {0, 0, 90'000, 1}});
    const std::vector<ClassMetrics> found = metrics_by_runtime(made.workload, made.schedule());
    ASSERT_EQ(found.size(), 6U);
    const std::size_t jobs[] = {1, 1, 0, 1, 1, 2};
    for (std::size_t c = 0; c < 6; ++c) EXPECT_EQ(found[c].jobs.jobs, jobs[c]) << found[c].name;
}

TEST(MetricsByClass, HoldEveryJobOnce) {
    Rng rng(3);
    World made;
    for (int i = 0; i < 500; ++i) {
        const World one = world(
            {{static_cast<std::int64_t>(rng.below(100)), 100 + static_cast<std::int64_t>(rng.below(9)),
              1 + static_cast<std::int64_t>(rng.below(100'000)), 1 + static_cast<std::int32_t>(rng.below(1000))}});
        made.workload.jobs.push_back(one.workload.jobs[0]);
        made.start.push_back(one.start[0]);
        made.end.push_back(one.end[0]);
    }
    const ScheduleMetrics all = schedule_metrics(made.workload, made.schedule());
    for (const auto& classes :
         {metrics_by_size(made.workload, made.schedule()), metrics_by_runtime(made.workload, made.schedule())}) {
        std::size_t jobs = 0;
        double area = 0, wait = 0;
        for (const ClassMetrics& found : classes) {
            jobs += found.jobs.jobs;
            area += found.jobs.processor_seconds;
            wait += found.jobs.wait_s.mean * static_cast<double>(found.jobs.jobs);
        }
        EXPECT_EQ(jobs, 500U);
        EXPECT_DOUBLE_EQ(area, all.all.processor_seconds);
        EXPECT_NEAR(wait / 500, all.all.wait_s.mean, 1e-9);
    }
}

}  // namespace
}  // namespace zbs
