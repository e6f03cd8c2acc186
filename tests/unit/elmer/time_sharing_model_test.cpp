#include "studies/models/time_sharing_model.hpp"

#include <gtest/gtest.h>

namespace zbs::elmer {
namespace {

using namespace std::chrono_literals;

constexpr BarrierTimes kProgram{.setup = 1s, .phases = 100, .phase_compute = 20ms, .phase_delay = 5ms};

TEST(TimeSharingModel, EquationsByHand) {
    EXPECT_EQ(alone(kProgram), 3500ms);                 // 5.1
    EXPECT_EQ(beside_equal(kProgram, 3ms), 6800ms);     // 5.2
    EXPECT_EQ(beside_equal_at_barrier(kProgram), 6s);   // 5.3
    EXPECT_EQ(above_computing(kProgram, 3ms), 3800ms);  // 5.4
    EXPECT_EQ(above_barrier(kProgram, 6, 10ms), 8s);    // 5.5
    EXPECT_EQ(above_barrier(kProgram, 1, 10ms), 3s);
}

double seconds(int version, std::int32_t processors) { return to_seconds(alone(barrier_times(version, processors))); }

TEST(TimeSharingModel, CalibrationMeetsWhatCanBeRead) {  // claim 21
    EXPECT_NEAR(seconds(1, 6), 31.4, 0.05);
    EXPECT_NEAR(seconds(2, 5), 37.7, 0.05);
    EXPECT_GT(seconds(3, 6), seconds(3, 5));
    for (const int version : {1, 2})
        for (std::int32_t p = 1; p < 6; ++p) EXPECT_GT(seconds(version, p), seconds(version, p + 1));
}

TEST(TimeSharingModel, CalibrationTable) {
    constexpr double kSeconds[3][6] = {
        {136, 69.7, 48.8, 39.2, 34.2, 31.4}, {136, 70.6, 50.6, 41.9, 37.7, 35.8}, {136, 73.2, 55.8, 49.8, 48.2, 48.9}};
    for (int version = 1; version <= 3; ++version)
        for (int p = 1; p <= 6; ++p) EXPECT_NEAR(seconds(version, p), kSeconds[version - 1][p - 1], 0.06);
    EXPECT_NEAR(to_seconds(barrier_times(1, 6).phase_compute), 0.0273, 5e-5);
    EXPECT_NEAR(to_seconds(barrier_times(3, 6).phase_compute), 0.0091, 5e-5);
}

TEST(TimeSharingModel, ComputeBoundProgramOnFiveHosts) {
    for (const auto& [preemptive, published_s] : {std::pair{false, 33.9}, {true, 31.5}}) {
        const ComputeTimes times = compute_times(5, preemptive);
        EXPECT_NEAR(to_seconds(times.start + times.compute), published_s, 0.05);
    }
    EXPECT_EQ(compute_times(1, true).start, Duration::zero());
}

TEST(TimeSharingModel, CostsOfTheFacility) {  // claim 36
    EXPECT_NEAR(start_cost_ms(1), 59, 0.5);
    EXPECT_NEAR(start_cost_ms(6), 103, 0.5);
    EXPECT_NEAR(end_cost_ms(1), 13, 0.5);
    EXPECT_NEAR(end_cost_ms(6), 57, 0.5);
    EXPECT_EQ(most_hosts(1000), 107);
    EXPECT_EQ(most_hosts(50), 0);
    EXPECT_LE(start_cost_ms(most_hosts(1000)), 1000);
    EXPECT_GT(start_cost_ms(most_hosts(1000) + 1), 1000);
}

}  // namespace
}  // namespace zbs::elmer
