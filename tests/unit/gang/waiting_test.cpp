#include "studies/models/waiting.hpp"

#include <gtest/gtest.h>

namespace zbs::gang {
namespace {

using std::chrono::microseconds;

TEST(NetworkCost, BaselineIsARequestAndItsAnswer) {
    EXPECT_EQ(baseline_spin({}), microseconds{55});
    EXPECT_EQ(baseline_spin({.latency_ns = 1, .overhead_ns = 0}), microseconds{1});  // rounded up
    EXPECT_EQ(message_overhead({}), microseconds{9});
    EXPECT_EQ(message_latency({}), microseconds{10});
}

// [DaSilva2000, section 8.3]: all eight combinations; only when everything holds does the task give way.
TEST(SpinControl, GivesWayOnlyWhereAnIoTaskCanUseTheTime) {
    const Duration worthwhile = 4 * microseconds{200};
    for (int bits = 0; bits < 8; ++bits) {
        const SpinSituation situation{.io_task_here = (bits & 1) != 0,
                                      .io_task_ready = (bits & 2) != 0,
                                      .slice_after_baseline = microseconds{(bits & 4) != 0 ? 800 : 799}};
        EXPECT_EQ(spin_control(situation, worthwhile), bits == 7 ? WaitMode::kSpinThenBlock : WaitMode::kSpin) << bits;
    }
}

}  // namespace
}  // namespace zbs::gang
