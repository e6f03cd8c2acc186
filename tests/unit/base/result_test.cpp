#include "algorithms/base/result.hpp"

#include <gtest/gtest.h>

namespace zbs {
namespace {

TEST(Result, HoldsValueOrError) {
    const Result<int> good = 3;
    ASSERT_TRUE(good);
    EXPECT_EQ(*good, 3);
    const Result<int> bad = invalid("no", "/x");
    ASSERT_FALSE(bad);
    EXPECT_EQ(bad.error(), (Error{ErrorCode::kInvalidArgument, "no", "/x"}));
}

TEST(Result, ReadingTheWrongSideIsABrokenContract) {
    const Result<int> bad = invalid("no");
    EXPECT_DEATH(static_cast<void>(*bad), "contract broken");
}

}  // namespace
}  // namespace zbs
