#include "tests/support/printed_values.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "algorithms/base/ids.hpp"
#include "algorithms/base/result.hpp"
#include "algorithms/base/time.hpp"

namespace zbs {
namespace {

enum class Plain { kNone = 0, kSome = 7 };
struct Inner {
    Plain plain;
    std::optional<std::string> text;
};
struct Outer {
    std::vector<Inner> inner;
    ErrorCode code;
};

struct Wide {
    int a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q;
    std::string r;
};

TEST(PrintedValues, AreValuesAndNoBytes) {
    EXPECT_EQ(testing::PrintToString(ErrorCode::kNotFound), "not_found");
    EXPECT_EQ(testing::PrintToString(Plain::kSome), "7");
    EXPECT_EQ(testing::PrintToString(time_from_microseconds(1'500)), "1500 us");
    EXPECT_EQ(testing::PrintToString(Id128{}), std::string(26, '0'));
    EXPECT_EQ(testing::PrintToString(Outer{{{Plain::kSome, "a"}, {Plain::kNone, {}}}, ErrorCode::kNotFound}),
              "{{ {7, (\"a\")}, {0, (nullopt)} }, not_found}");
    EXPECT_EQ(testing::PrintToString(Wide{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, "end"}),
              "{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, \"end\"}");
}

}  // namespace
}  // namespace zbs
