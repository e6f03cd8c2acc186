#include "services/zone_scheduler/trust/site_policy/account_map.hpp"

#include <gtest/gtest.h>

namespace zbs {
namespace {
using std::chrono::hours;

constexpr Duration kDay = hours{24};
const Time kNow{Duration{kDay * 1'000}};
const std::vector<AccountName> kPool = {"p1", "p2", "p3"};

Caller user(std::string name) { return {CallerKind::kUser, "alpha", std::move(name)}; }
PoolLease lease(AccountName account, std::string name, int idle_days, bool busy = false) {
    return {std::move(account), user(std::move(name)), kNow - idle_days * kDay, busy};
}

struct PoolCase {
    const char* name;
    std::vector<PoolLease> leases;
    std::optional<PoolChoice> expected;
};
class PoolAccount : public testing::TestWithParam<PoolCase> {};
INSTANTIATE_TEST_SUITE_P(
    , PoolAccount,
    testing::Values(
        PoolCase{"FirstOfAnEmptyPool", {}, PoolChoice{"p1", {}}},
        PoolCase{"FirstThatIsFree", {lease("p1", "bob", 99)}, PoolChoice{"p2", {}}},
        PoolCase{"TheOneTheUserHad", {lease("p3", "ann", 900), lease("p1", "bob", 1)}, PoolChoice{"p3", {}}},
        PoolCase{"LongestIdleOfAFullPool",
                 {lease("p1", "bob", 31), lease("p2", "cyd", 40), lease("p3", "dan", 30)},
                 PoolChoice{"p2", user("cyd")}},
        PoolCase{"ExactlyTheIdleTimeIsEnough",
                 {lease("p1", "bob", 1), lease("p2", "cyd", 29), lease("p3", "dan", 30)},
                 PoolChoice{"p3", user("dan")}},
        PoolCase{"NobodyIdleLongEnough", {lease("p1", "bob", 1), lease("p2", "cyd", 29), lease("p3", "dan", 29)}, {}},
        PoolCase{"BusyIsNotIdle",
                 {lease("p1", "bob", 99, true), lease("p2", "cyd", 1), lease("p3", "dan", 50)},
                 PoolChoice{"p3", user("dan")}},
        PoolCase{"AClockSetBackTakesNothing", {lease("p1", "b", -1), lease("p2", "c", -50), lease("p3", "d", -99)}, {}},
        PoolCase{"AnAccountOutsideThePoolDoesNotCount", {lease("old", "ann", 1)}, PoolChoice{"p1", {}}},
        PoolCase{"AnAccountOfTwoIsNobodys",
                 {lease("p1", "ann", 1), lease("p1", "bob", 99), lease("p2", "cyd", 99)},
                 PoolChoice{"p3", {}}}),
    [](const auto& param_info) { return param_info.param.name; });

TEST_P(PoolAccount, IsThisOne) {
    EXPECT_EQ(choose_pool_account(kPool, GetParam().leases, user("ann"), kNow), GetParam().expected);
}

TEST(ChoosePoolAccount, TheSameNameElsewhereIsSomebodyElse) {
    const std::vector leases = {PoolLease{"p1", {CallerKind::kUser, "beta", "ann"}, kNow, false, false}};
    EXPECT_EQ(choose_pool_account(kPool, leases, user("ann"), kNow), (PoolChoice{"p2", {}}));
}

TEST(ChoosePoolAccount, AnEmptyPoolGivesNothing) {
    EXPECT_EQ(choose_pool_account({}, {}, user("ann"), kNow), std::nullopt);
}

}  // namespace
}  // namespace zbs
