#include <gtest/gtest.h>

#include "studies/experiments/measured_studies.hpp"

namespace zbs::claims {
namespace {

// That it is measured, not how long it takes.
TEST(AllocationTime, IsMeasured) {
    const Part part = turner_allocation_time(Effort::quick());
    ASSERT_EQ(part.claims.size(), 1u);
    EXPECT_GT(std::stod(part.claims[0].ours), 0);
    EXPECT_NE(part.claims[0].verdict, Verdict::kFails);
}

}  // namespace
}  // namespace zbs::claims
