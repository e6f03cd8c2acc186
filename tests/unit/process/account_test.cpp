#include "services/common/adapters/process/account.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace zbs::process {
namespace {
using testing::HasSubstr;

struct Refusal {
    const char* name;
    AccountName account;
    uid_t minimum_uid;
    const char* words;
};

class RefusedAccount : public testing::TestWithParam<Refusal> {};

TEST_P(RefusedAccount, IsNamedWithTheReason) {
    const auto account = find_account(GetParam().account, GetParam().minimum_uid);
    ASSERT_FALSE(account);
    EXPECT_EQ(account.error().code, ErrorCode::kRejected);
    EXPECT_THAT(account.error().message, HasSubstr(GetParam().words));
}

INSTANTIATE_TEST_SUITE_P(, RefusedAccount,
                         testing::Values(Refusal{"Unknown", "zbs-no-such-account", 0, "no such account"},
                                         Refusal{"Empty", "", 0, "no name"},
                                         Refusal{"Long", AccountName(std::string(10'000, 'a')), 0, "no name"},
                                         Refusal{"WithNul", AccountName(std::string("nobody\0x", 8)), 0, "no name"},
                                         Refusal{"Root", "root", 0, "it is root"},
                                         Refusal{"BelowTheSmallestUid", "nobody", 65'535, "below the smallest"}),
                         [](const auto& param_info) { return param_info.param.name; });

TEST(FindAccount, HasUidGidAndGroups) {
    const auto account = find_account("nobody", 1);
    ASSERT_TRUE(account) << account.error();
    EXPECT_NE(account->uid, 0U);
    EXPECT_THAT(account->groups, testing::Contains(account->gid));
    EXPECT_EQ(user_name(account->uid), "nobody");
}

TEST(UserName, IsTheNumberWhereThereIsNone) { EXPECT_EQ(user_name(3'999'999'999U), "3999999999"); }

}  // namespace
}  // namespace zbs::process
