#include "services/zone_scheduler/trust/site_policy/peering_rights.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "algorithms/base/rng.hpp"
#include "services/zone_scheduler/trust/site_policy/rights_text.hpp"

namespace zbs {
namespace {
using namespace std::chrono_literals;
using testing::HasSubstr;

// Monday 5 January 1970 was the fifth day.
constexpr Time monday(Duration time_of_day) { return Time{96h + time_of_day}; }

RightsRange some_range() {
    return {.floor = {.processors = 2, .walltime = 1h, .concurrent_parts = 1},
            .ceiling = {.processors = 10,
                        .walltime = 24h,
                        .concurrent_parts = 4,
                        .hours = {{0, 360}, {1'320, 1'440}},
                        .weekdays = 0x1f,
                        .partitions = {"batch", "night"},
                        .share = 0.5,
                        .account_rule = "pool:guests"}};
}

TEST(EffectiveRights, MoveFromFloorToCeilingWithTrust) {
    const RightsRange range = some_range();
    const auto processors = [&](double trust) { return effective_rights(range, trust).processors; };
    EXPECT_EQ(processors(0), 2);
    EXPECT_EQ(processors(0.5), 6);
    EXPECT_EQ(processors(0.62), 6) << "2 + 8 x 0.62 = 6.96, rounded down";
    EXPECT_EQ(processors(1), 10);
    EXPECT_EQ(effective_rights(range, 0.5).walltime, 12h + 30min);
    EXPECT_EQ(effective_rights(range, 0.5).concurrent_parts, 2);
    EXPECT_EQ(effective_rights(range, 1), range.ceiling);
    PeeringRights rest = effective_rights(range, 0);
    EXPECT_EQ((RightsFloor{rest.processors, rest.walltime, rest.concurrent_parts}), range.floor);
    rest.processors = 10, rest.walltime = 24h, rest.concurrent_parts = 4;
    EXPECT_EQ(rest, range.ceiling) << "trust moves nothing else";
}

TEST(EffectiveRights, DecimalsDoNotRoundDownTwice) {
    RightsRange range;
    range.ceiling.processors = 100;
    for (int percent = 0; percent <= 100; ++percent)
        EXPECT_EQ(effective_rights(range, percent / 100.0).processors, percent);
}

TEST(EffectiveRightsProperty, StayInTheRangeAndGrowWithTrust) {
    for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
        SCOPED_TRACE(seed);
        Rng rng(seed);
        RightsRange range;
        range.floor.processors = static_cast<int>(rng.below(1'000));
        range.ceiling.processors = range.floor.processors + static_cast<int>(rng.below(999'000));
        range.floor.walltime = Duration{static_cast<std::int64_t>(rng.below(1ULL << 40))};
        range.ceiling.walltime = range.floor.walltime + Duration{static_cast<std::int64_t>(rng.below(1ULL << 44))};
        const double low = static_cast<double>(rng.below(1'001)) / 1'000, high = low + (1 - low) / 2;
        const PeeringRights less = effective_rights(range, low), more = effective_rights(range, high);
        ASSERT_LE(range.floor.processors, less.processors);
        ASSERT_LE(less.processors, more.processors);
        ASSERT_LE(more.processors, range.ceiling.processors);
        ASSERT_LE(range.floor.walltime, less.walltime);
        ASSERT_LE(less.walltime, more.walltime);
        ASSERT_LE(more.walltime, range.ceiling.walltime);
    }
}

TEST(AllowsStart, InTheWindowsOfTheDayOnAllowedDays) {
    const PeeringRights rights = some_range().ceiling;
    EXPECT_TRUE(allows_start(rights, monday(6h - 1us))) << "the last minute of the window";
    EXPECT_FALSE(allows_start(rights, monday(6h))) << "the end of the window";
    EXPECT_TRUE(allows_start(rights, monday(22h))) << "the night window";
    EXPECT_FALSE(allows_start(rights, monday(120h))) << "a Saturday";
}

TEST(FindAllowedStart, IsTheNextInstantInHoursAndWeekdays) {
    const PeeringRights rights = some_range().ceiling;  // 22 to 6, nights that begin Monday to Friday or end there
    EXPECT_EQ(find_allowed_start(rights, monday(3h)), monday(3h));
    EXPECT_EQ(find_allowed_start(rights, monday(6h)), monday(22h));
    EXPECT_EQ(find_allowed_start(rights, monday(119h)), monday(119h)) << "Friday 23:00";
    EXPECT_EQ(find_allowed_start(rights, monday(120h)), monday(168h)) << "Saturday: wait for Monday";
    EXPECT_EQ(find_allowed_start(rights, Time{-1us}), Time{-1us}) << "Wednesday before 1970, 23:59";

    PeeringRights weekly{.hours = {{600, 601}}, .weekdays = 1};
    EXPECT_EQ(find_allowed_start(weekly, monday(601min)), monday(168h + 10h)) << "a whole week on";
    weekly.weekdays = 0;
    EXPECT_EQ(find_allowed_start(weekly, monday(0h)), std::nullopt);
    EXPECT_FALSE(allows_start(weekly, monday(10h)));
}

TEST(FindAllowedStart, OfAWindowOverMidnightTheDayOfTheStartItselfCounts) {
    const PeeringRights mondays{.hours = *parse_hours("22:00-06:00"), .weekdays = *parse_weekdays("mon")};
    struct Start {
        Duration since_monday;
        bool allowed;
        const char* when;
    };
    const Start cases[] = {{-1h, false, "Sunday 23:00"},
                           {0h, true, "Monday 0:00, in the night from Sunday"},
                           {5h, true, "Monday 5:00"},
                           {6h, false, "Monday 6:00"},
                           {21h, false, "Monday 21:00"},
                           {22h, true, "Monday 22:00"},
                           {24h, false, "Tuesday 0:00, in the night from Monday"},
                           {29h, false, "Tuesday 5:00"}};
    for (const Start& c : cases) EXPECT_EQ(allows_start(mondays, monday(c.since_monday)), c.allowed) << c.when;
}

TEST(CheckRights, NamesTheFieldAndItsBounds) {
    ASSERT_TRUE(check_rights(some_range()));
    ASSERT_TRUE(check_rights({}));
    const auto pointer = [](const std::function<void(RightsRange&)>& change) {
        RightsRange range = some_range();
        change(range);
        const Result<void> checked = check_rights(range, "/rights");
        return checked ? std::string("accepted") : checked.error().pointer;
    };
    EXPECT_EQ(pointer([](auto& r) { r.floor.processors = 11; }), "/rights/floor/processors");
    EXPECT_EQ(pointer([](auto& r) { r.floor.walltime = -1us; }), "/rights/floor/walltime");
    EXPECT_EQ(pointer([](auto& r) { r.ceiling.walltime = 367 * 24h; }), "/rights/ceiling/walltime");
    EXPECT_EQ(pointer([](auto& r) { r.ceiling.concurrent_parts = 1'000'001; }), "/rights/ceiling/concurrent_parts");
    EXPECT_EQ(pointer([](auto& r) { r.ceiling.hours[1] = {600, 600}; }), "/rights/ceiling/hours/1");
    EXPECT_EQ(pointer([](auto& r) { r.ceiling.hours[0] = {0, 1'441}; }), "/rights/ceiling/hours/0");
    EXPECT_EQ(pointer([](auto& r) { r.ceiling.hours.resize(49); }), "/rights/ceiling/hours");
    EXPECT_EQ(pointer([](auto& r) { r.ceiling.weekdays = 0; }), "/rights/ceiling/weekdays");
    EXPECT_EQ(pointer([](auto& r) { r.ceiling.weekdays = 0x80; }), "/rights/ceiling/weekdays");
    EXPECT_EQ(pointer([](auto& r) { r.ceiling.partitions[1] = "A"; }), "/rights/ceiling/partitions/1");
    EXPECT_EQ(pointer([](auto& r) { r.ceiling.partitions.resize(65, "p"); }), "/rights/ceiling/partitions");
    EXPECT_EQ(pointer([](auto& r) { r.ceiling.share = 1.01; }), "/rights/ceiling/share");
    EXPECT_EQ(pointer([](auto& r) { r.ceiling.share = std::numeric_limits<double>::quiet_NaN(); }),
              "/rights/ceiling/share");
    EXPECT_EQ(pointer([](auto& r) { r.ceiling.account_rule = "account:root"; }), "/rights/ceiling/account_rule");
}

TEST(ParseAccountRule, ReadsThreeForms) {
    using Rule = AccountRule::Kind;
    EXPECT_EQ(*parse_account_rule("map"), (AccountRule{Rule::kMap, ""}));
    EXPECT_EQ(*parse_account_rule("account:ann"), (AccountRule{Rule::kAccount, "ann"}));
    EXPECT_EQ(*parse_account_rule("pool:guests"), (AccountRule{Rule::kPool, "guests"}));
    for (const char* bad : {"", "Map", "account:", "account:root", "pool:", "pool:a b", "guests"})
        EXPECT_FALSE(parse_account_rule(bad)) << bad;
}

TEST(MatchRule, TheFirstRuleThatFitsIsTaken) {
    std::vector<AutomaticRule> rules(2);
    rules[0].organisations = {"beta", "*.edu"};
    rules[1].organisations = {"*"};
    EXPECT_EQ(match_rule(rules, "mit.edu"), &rules[0]);
    EXPECT_EQ(match_rule(rules, "alpha"), &rules[1]);
    rules.pop_back();
    EXPECT_EQ(match_rule(rules, "alpha"), nullptr);
    EXPECT_EQ(match_rule({}, "alpha"), nullptr);
}

}  // namespace
}  // namespace zbs
