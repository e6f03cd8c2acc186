#include "algorithms/base/option_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>

namespace zbs {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::array<std::string_view, 2> kColours{"red", "green"};
constexpr std::array kTable{
    Option{.name = "depth", .kind = Option::Kind::kInteger, .default_value = "1", .meaning = "0 or more", .most = 1e19},
    Option{.name = "part", .kind = Option::Kind::kNumber, .default_value = "0.5", .meaning = "0 to 1", .most = 1},
    Option{.name = "age", .kind = Option::Kind::kDuration, .default_value = "5m", .meaning = "how long"},
    Option{.name = "bounds", .kind = Option::Kind::kDurations, .default_value = "1m,2m", .meaning = "ascending"},
    Option{.name = "colour",
           .kind = Option::Kind::kChoice,
           .default_value = "red",
           .meaning = "red or green",
           .choices = kColours},
    Option{.name = "fill", .kind = Option::Kind::kFlag, .default_value = "true", .meaning = "true or false"},
};

TEST(OptionReader, FallsBackToTheDefaultsOfTheTable) {
    const OptionValues none;
    OptionReader reader("thing x", kTable, none);
    EXPECT_EQ(reader.integer("depth"), 1);
    EXPECT_EQ(reader.number("part"), 0.5);
    EXPECT_EQ(reader.duration("age"), 5min);
    EXPECT_THAT(reader.durations("bounds"), ElementsAre(1min, 2min));
    EXPECT_EQ(reader.choice("colour"), 0u);
    EXPECT_TRUE(reader.flag("fill"));
    EXPECT_FALSE(reader.given("depth"));
    EXPECT_EQ(reader.fault(), nullptr);
}

TEST(OptionReader, TakesWhatIsGiven) {
    const OptionValues given{{"depth", "unlimited"}, {"colour", "green"}, {"bounds", "10s+20s"}, {"fill", "no"}};
    OptionReader reader("thing x", kTable, given);
    EXPECT_EQ(reader.integer("depth"), std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(reader.choice("colour"), 1u);
    EXPECT_THAT(reader.durations("bounds"), ElementsAre(10s, 20s));
    EXPECT_FALSE(reader.flag("fill"));
    EXPECT_TRUE(reader.given("depth"));
    EXPECT_EQ(reader.fault(), nullptr);
}

TEST(OptionReader, FirstFaultNamesOptionAndRemedy) {
    const auto fault = [](const OptionValues& given, auto read) {
        OptionReader reader("thing x", kTable, given);
        read(reader);
        reader.fail("depth", "comes too late");
        return reader.fault()->message;
    };
    EXPECT_THAT(fault({{"dept", "1"}}, [](auto&) {}),
                AllOf(HasSubstr("thing x has no option 'dept'"), HasSubstr("depth")));
    EXPECT_THAT(fault({{"fill", "1"}, {"fill", "0"}}, [](auto&) {}), HasSubstr("given twice"));
    EXPECT_THAT(fault({{"part", "1.5"}}, [](auto& r) { r.number("part"); }), HasSubstr("write 0 to 1"));
    EXPECT_THAT(fault({{"colour", "gren"}}, [](auto& r) { r.choice("colour"); }), HasSubstr("green"));
}

}  // namespace
}  // namespace zbs
