#include "services/zone_scheduler/trust/site_policy/site_names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zbs::test {
namespace {
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

AccountMap map_of(const std::string& text) {
    auto map = AccountMap::parse(text, "accounts.map");
    EXPECT_TRUE(map) << map.error();
    return map ? *std::move(map) : AccountMap{};
}

/// A zone with two partitions and a pool, on a host that knows the account `guest`.
struct Site {
    AccountMap map = map_of(
        "pool physics = phys[01-03]\nalpha mallory * -> deny\nalpha * * -> pool:physics\n"
        "gamma * * -> deny\n");
    SiteNames names{{"batch", "main"}, &map, "/etc/zbs/accounts.map", [](const std::string& account) -> Result<void> {
                        if (account == "guest") return {};
                        return invalid("this host has no such account");
                    }};
};

std::string fault(const PeeringRights& rights, const SiteNames& names) {
    const Result<void> good = check_names(rights, names, "/rights");
    return good ? "" : good.error().pointer + " " + good.error().message;
}

TEST(SiteNames, WhatIsThereMayBeNamed) {
    const Site site;
    for (const PeeringRights& rights :
         {PeeringRights{}, PeeringRights{.partitions = {"main", "batch"}},
          PeeringRights{.account_rule = "pool:physics"}, PeeringRights{.account_rule = "account:guest"}})
        EXPECT_EQ(fault(rights, site.names), "");
}

TEST(SiteNames, WhatIsNotThereIsRefusedWithWhatIs) {
    const Site site;
    EXPECT_THAT(fault({.partitions = {"main", "gpu"}}, site.names),
                AllOf(HasSubstr("/rights/partitions/1 "), HasSubstr("'gpu'"), HasSubstr("batch, main")));
    EXPECT_THAT(fault({.account_rule = "pool:chemistry"}, site.names),
                AllOf(HasSubstr("/rights/account_rule "), HasSubstr("'chemistry'"), HasSubstr("physics"),
                      HasSubstr("/etc/zbs/accounts.map"), HasSubstr("'pool chemistry = ACCOUNT...'")));
    EXPECT_THAT(fault({.account_rule = "account:nobody7"}, site.names), HasSubstr("no such account"));
    SiteNames without = site.names;
    without.accounts = nullptr;
    EXPECT_THAT(fault({.account_rule = "pool:physics"}, without), HasSubstr("account_map in its configuration"));
    without.check_account = nullptr;  // jobs run as the zone itself, whatever the account is called
    EXPECT_EQ(fault({.account_rule = "account:nobody7"}, without), "");
}

TEST(SiteNames, WhoGetsNoAccountIsToldTheLineAndTheFile) {
    const Site site;
    EXPECT_THAT(find_account_gap("alpha", {}, site.names), IsEmpty());
    EXPECT_THAT(find_account_gap("beta", {.account_rule = "account:guest"}, site.names), IsEmpty());
    EXPECT_THAT(find_account_gap("beta", {.account_rule = "pool:physics"}, site.names), IsEmpty());
    EXPECT_THAT(find_account_gap("beta", {}, site.names),
                AllOf(HasSubstr("'beta * * -> ACCOUNT'"), HasSubstr("/etc/zbs/accounts.map"), HasSubstr("SIGHUP")));
    EXPECT_THAT(find_account_gap("gamma", {}, site.names), HasSubstr("'gamma * * -> ACCOUNT'"));  // denials only
    EXPECT_THAT(find_account_gap("beta", {.account_rule = "pool:gone"}, site.names), HasSubstr("'gone'"));
    SiteNames without = site.names;
    without.accounts = nullptr;
    EXPECT_THAT(find_account_gap("beta", {}, without), AllOf(HasSubstr("no account map"), HasSubstr("account_map")));
}

TEST(SiteNames, PoolsAreThoseOfTheRuleOrOfTheMapsLines) {
    const AccountMap map = *AccountMap::parse(
        "pool p = p[1-2]\npool q = q[1-2]\nalpha x * -> deny\nalpha * * -> pool:q\n* ann * -> pool:p\n", "map");
    const SiteNames site{.accounts = &map};
    EXPECT_THAT(find_pools("alpha", {}, site), testing::ElementsAre("p", "q"));
    EXPECT_THAT(find_pools("beta", {}, site), testing::ElementsAre("p"));
    EXPECT_THAT(find_pools("alpha", {.account_rule = "pool:p"}, site), testing::ElementsAre("p"));
    EXPECT_THAT(find_pools("alpha", {.account_rule = "account:guest"}, site), IsEmpty());
    EXPECT_THAT(find_pools("alpha", {}, {}), IsEmpty()) << "no map";
}

}  // namespace
}  // namespace zbs::test
