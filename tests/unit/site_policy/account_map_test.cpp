#include "services/zone_scheduler/trust/site_policy/account_map.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/common/messages/limits.hpp"

namespace zbs {
namespace {
using testing::ElementsAre;
using testing::HasSubstr;
using Kind = AccountDecision::Kind;

constexpr const char* kMap = R"(# who may run here
pool physics = phys[08-11] guest   # five
alpha  mallory *        -> deny
alpha  *       physics* -> pool:physics
alpha  a*      *        -> alphas
beta   ann     *        -> annb
*.edu  *       staff    -> edu
)";

Caller user(OrganisationName organisation, std::string name) {
    return {CallerKind::kUser, std::move(organisation), std::move(name)};
}
AccountMap map_of(std::string_view text) {
    Result<AccountMap> map = AccountMap::parse(text, "map");
    EXPECT_TRUE(map) << map.error();
    return map ? *std::move(map) : AccountMap{};
}

struct Case {
    const char* name;
    Caller user;
    std::vector<std::string> groups;
    AccountDecision expected;
};
class AccountMapFind : public testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(
    , AccountMapFind,
    testing::Values(
        Case{"DenialBeforeTheGeneralLine", user("alpha", "mallory"), {"physics"}, {Kind::kDeny, "", 3}},
        Case{"GroupPatternGivesThePool", user("alpha", "ann"), {"x", "physics2"}, {Kind::kPool, "physics", 4}},
        Case{"UserPatternWithoutGroups", user("alpha", "ann"), {}, {Kind::kAccount, "alphas", 5}},
        Case{"SameNameOfAnotherOrganisation", user("beta", "ann"), {}, {Kind::kAccount, "annb", 6}},
        Case{"NoLineNoAccount", user("alpha", "bob"), {"chemistry"}, {}},
        Case{"OrganisationPattern", user("a.edu", "x"), {"staff"}, {Kind::kAccount, "edu", 7}},
        Case{"AGroupLineNeedsAGroup", user("a.edu", "x"), {}, {}},
        Case{"ZonesHaveNoAccount", {CallerKind::kZone, "beta", "ann"}, {}, {}},
        Case{"OperatorsHaveNoAccount", {CallerKind::kOperator, "beta", "ann"}, {}, {}}),
    [](const auto& param_info) { return param_info.param.name; });

TEST_P(AccountMapFind, FirstLineThatFitsDecides) {
    const AccountDecision found = map_of(kMap).find(GetParam().user, GetParam().groups);
    EXPECT_EQ(found, GetParam().expected) << found.name << " line " << found.line;
    EXPECT_EQ(found.gives_account(), !GetParam().expected.name.empty());
}

TEST(AccountMap, RangesCountWithTheirZeros) {
    EXPECT_THAT(map_of(kMap).pool("physics"), ElementsAre("phys08", "phys09", "phys10", "phys11", "guest"));
    EXPECT_THAT(map_of("pool p = a-[9-11]").pool("p"), ElementsAre("a-9", "a-10", "a-11"));
    EXPECT_THAT(map_of(kMap).pool("chemistry"), testing::IsEmpty());
}

TEST(AccountMap, ReadsWhatEditorsLeaveBehind) {
    const AccountMap map = map_of("\r\n\t # nothing\r\n\talpha\t*\t*\t->\tacc\r\n* * * -> pool:p\npool p = q");
    EXPECT_EQ(map.line_count(), 2U);
    EXPECT_EQ(map.find(user("alpha", "x"), {}), (AccountDecision{Kind::kAccount, "acc", 3}));
    EXPECT_EQ(map.find(user("beta", "x"), {}), (AccountDecision{Kind::kPool, "p", 4})) << "made after its use";
    EXPECT_EQ(map_of("pool * * -> acc").find(user("pool", "x"), {}).name, "acc") << "an organisation named pool";
}

struct Bad {
    const char* name;
    const char* text;
    const char* pointer;
    const char* message;
};
class AccountMapRefuses : public testing::TestWithParam<Bad> {};
INSTANTIATE_TEST_SUITE_P(
    , AccountMapRefuses,
    testing::Values(Bad{"ALineOfAnotherForm", "\nalpha ann -> acc", "map:2", "write: ORGANISATION USER GROUP ->"},
                    Bad{"TwoTargets", "alpha ann * -> acc acd", "map:1", "write: ORGANISATION"},
                    Bad{"NoArrow", "alpha ann * = acc", "map:1", "write: ORGANISATION"},
                    Bad{"AnUpperCaseOrganisation", "Alpha ann * -> acc", "map:1", "organisation 'Alpha' must be"},
                    Bad{"ARegularExpression", "alpha [ab] * -> acc", "map:1", "user '[ab]' must be"},
                    Bad{"AGroupWithEscapeCodes", "alpha a \x1b[2J -> acc", "map:1", "group '\\x1b[2J' must be"},
                    Bad{"Root", "alpha ann * -> root", "map:1", "administrator"},
                    Bad{"RootInARange", "pool p = root[0-2]", "map:1", "account 'root0'"},
                    Bad{"AnAccountWithASlash", "alpha ann * -> ../acc", "map:1", "account '../acc' must be"},
                    Bad{"APoolThatIsNowhere", "pool physics = a\n* * * -> pool:phisics", "map:2",
                        "did you mean 'physics'"},
                    Bad{"APoolInAMapWithoutPools", "* * * -> pool:p", "map:1", "make it: pool p ="},
                    Bad{"APoolTwice", "pool p = a\npool p = b", "map:2", "one line"},
                    Bad{"AnEmptyPool", "pool p =", "map:1", "write: pool NAME ="},
                    Bad{"AnAccountInTwoPools", "pool p = a1\npool q = a[1-2]", "map:2", "in pool 'p' already"},
                    Bad{"AnAccountInAPoolAndALine", "pool p = a1\n\n* ann * -> a1", "map:3", "two users would meet"},
                    Bad{"ARangeBackwards", "pool p = a[20-01]", "map:1", "FIRST <= LAST"},
                    Bad{"ARangeWithUnequalZeros", "pool p = a[01-100]", "map:1", "both as long"},
                    Bad{"AnOpenRange", "pool p = a[1-", "map:1", "NAME[FIRST-LAST]"},
                    Bad{"ARangeOfOne", "pool p = a[1]", "map:1", "NAME[FIRST-LAST]"},
                    Bad{"ALoneBracket", "pool p = [", "map:1", "NAME[FIRST-LAST]"},
                    Bad{"ARangeWithATail", "pool p = a[1-2]b", "map:1", "NAME[FIRST-LAST]"},
                    Bad{"APoolNameWithAStar", "pool p* = a", "map:1", "pool name 'p*' must be"}),
    [](const auto& param_info) { return param_info.param.name; });

TEST_P(AccountMapRefuses, NamingPlaceAndRemedy) {
    const Result<AccountMap> map = AccountMap::parse(GetParam().text, "map");
    ASSERT_FALSE(map);
    EXPECT_EQ(map.error().code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(map.error().pointer, GetParam().pointer);
    EXPECT_THAT(map.error().message, HasSubstr(GetParam().message));
}

TEST(AccountMap, HoldsItsLimits) {
    const auto fails = [](const std::string& text, const char* pointer) {
        const Result<AccountMap> map = AccountMap::parse(text, "map");
        ASSERT_FALSE(map);
        EXPECT_EQ(map.error().code, ErrorCode::kTooLarge) << map.error();
        EXPECT_EQ(map.error().pointer, pointer);
    };
    EXPECT_EQ(map_of("pool p = a[1-10000]").pool("p").size(), limits::kMaxPoolAccounts);
    fails("pool p = a[0-10000]", "map:1");
    fails("pool p = a[1-10000] b", "map:1");

    std::string lines;
    for (std::size_t i = 0; i < limits::kMaxAccountMapLines; ++i) lines += "a b c -> d\n";
    EXPECT_EQ(map_of(lines).line_count(), limits::kMaxAccountMapLines);
    fails(lines + "a b c -> d", "map:20001");
    fails(std::string(limits::kMaxAccountMapBytes + 1, '\n'), "map:1");

    std::string pools;
    for (std::size_t i = 0; i < limits::kMaxAccountPools; ++i)
        pools += "pool p" + std::to_string(i) + " = a" + std::to_string(i) + "\n";
    map_of(pools);
    fails(pools + "pool p = a", "map:1001");

    const std::string name(64, 'n');
    map_of(name + " " + name + " " + name + " -> " + std::string(32, 'a'));
    EXPECT_FALSE(AccountMap::parse(name + "n * * -> a", "map"));
    EXPECT_FALSE(AccountMap::parse("* * * -> " + std::string(33, 'a'), "map"));
}

TEST(IsValidAccount, RefusesWhatSoundsLikeTheAdministrator) {
    for (const char* good : {"a", "_x", "ann", "zbs-guest_1", "rooter", "troot", "uidzero"})
        EXPECT_TRUE(is_valid_account(good)) << good;
    for (const char* bad : {"", "root", "root2", "_root_", "root-0", "toor", "superuser", "uid0", "Ann", "1a", "-a",
                            "a.b", "a b", "a/b", "a\n", "\xc3\xa4"})
        EXPECT_FALSE(is_valid_account(bad)) << bad;
}

}  // namespace
}  // namespace zbs
