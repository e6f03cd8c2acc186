#include "services/zone_scheduler/trust/site_policy/rights_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zbs {
namespace {

TEST(Hours, NightBecomesTwoWindowsAndIsWrittenBack) {
    EXPECT_EQ(*parse_hours("08:00-18:30"), (std::vector<DayWindow>{{480, 1110}}));
    EXPECT_EQ(*parse_hours("18:00-08:00"), (std::vector<DayWindow>{{1080, 1440}, {0, 480}}));
    EXPECT_EQ(*parse_hours("18:00-24:00,00:00-06:00"), (std::vector<DayWindow>{{1080, 1440}, {0, 360}}));
    EXPECT_EQ(*parse_hours("20:00-00:00"), (std::vector<DayWindow>{{1200, 1440}}));
    EXPECT_EQ(hours_text(*parse_hours("18:00-08:00")), "18:00-24:00,00:00-08:00");
    EXPECT_EQ(hours_text({}), "all day");
}

TEST(Hours, OtherFormsAreRefused) {
    for (const char* bad : {"", "8-18", "08:00", "08:00-", "08:60-09:00", "24:01-03:00", "08:00-08:00", "24:00-01:00",
                            "08:00-18:00,", "aa:bb-cc:dd", "-1:00-02:00"})
        EXPECT_FALSE(parse_hours(bad)) << bad;
    std::string many = "00:00-00:01";
    for (int i = 0; i < 48; ++i) many += ",00:00-00:01";
    EXPECT_FALSE(parse_hours(many));
}

TEST(Weekdays, SpansMayGoOverSunday) {
    EXPECT_EQ(*parse_weekdays("mon-fri"), 0x1f);
    EXPECT_EQ(*parse_weekdays("sat,sun"), 0x60);
    EXPECT_EQ(*parse_weekdays("sun-mon"), 0x41);
    EXPECT_EQ(weekdays_text(*parse_weekdays("mon,wed")), "mon,wed");
    EXPECT_EQ(weekdays_text(kEveryWeekday), "every day");
    for (const char* bad : {"", "monday", "mon-", "-fri", "mon,,tue", "MON"}) EXPECT_FALSE(parse_weekdays(bad)) << bad;
}

TEST(RightsChange, FloorFollowsACeilingThatIsNamedUnlessItIsNamedItself) {
    const RightsRange whole = default_rights(64);
    EXPECT_EQ(whole.ceiling.processors, 64);
    EXPECT_EQ(whole.floor.processors, 7);  // a tenth, rounded up
    EXPECT_EQ(whole.floor.walltime, std::chrono::minutes{144});
    const RightsRange less = apply(whole, {.processors = 20, .floor_walltime = std::chrono::hours{1}});
    EXPECT_EQ(less.ceiling.processors, 20);
    EXPECT_EQ(less.floor.processors, 2);
    EXPECT_EQ(less.floor.walltime, std::chrono::hours{1});
    EXPECT_EQ(less.ceiling.walltime, whole.ceiling.walltime);
    EXPECT_EQ(apply(whole, {}), whole);
}

}  // namespace
}  // namespace zbs
