#include "algorithms/policy/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zbs {
namespace {

using testing::HasSubstr;

std::string refusal(const std::string& name, const PolicyOptions& options) {
    const Result<std::unique_ptr<Policy>> policy = make_policy(name, options);
    EXPECT_FALSE(policy.has_value());
    if (policy) return {};
    EXPECT_EQ(policy.error().code, ErrorCode::kInvalidArgument);
    return policy.error().message;
}

TEST(PolicyRegistry, EveryPolicyIsMadeFromItsDefaults) {
    for (const PolicyInfo& policy : policies()) {
        EXPECT_TRUE(make_policy(policy.name).has_value()) << policy.name;
        EXPECT_EQ(find_policy(policy.name), &policy);
        EXPECT_FALSE(policy.summary.empty());
        EXPECT_FALSE(policy.starvation.empty());
    }
}

TEST(PolicyRegistry, EveryDefaultCanBeWrittenOut) {
    for (const PolicyInfo& policy : policies()) {
        PolicyOptions options;
        for (const PolicyOption& option : policy.options) options.emplace_back(option.name, option.default_value);
        const Result<std::unique_ptr<Policy>> made = make_policy(policy.name, options);
        EXPECT_TRUE(made.has_value()) << policy.name << ": " << (made ? "" : made.error().message);
    }
}

TEST(PolicyRegistry, EveryOptionRefusesNonsense) {
    for (const PolicyInfo& policy : policies())
        for (const PolicyOption& option : policy.options)
            for (const std::string value : {"", "nonsense", "-1", "1e999", "nan", "1,,2", "99999999999999999999999"})
                EXPECT_THAT(refusal(std::string(policy.name), {{std::string(option.name), value}}),
                            HasSubstr(std::string(option.name)))
                    << policy.name << " " << option.name << "=" << value;
}

TEST(PolicyRegistry, UnknownPolicyNamesTheNearest) {
    EXPECT_THAT(refusal("esay", {}), AllOf(HasSubstr("'esay'"), HasSubstr("easy")));
    EXPECT_THAT(refusal("conservativ", {}), HasSubstr("conservative"));
}

TEST(PolicyRegistry, UnknownOptionNamesTheNearest) {
    EXPECT_THAT(refusal("easy", {{"ordr", "arrival"}}), AllOf(HasSubstr("'ordr'"), HasSubstr("order")));
    EXPECT_THAT(refusal("fcfs", {{"depth", "1"}}), HasSubstr("it has none"));
}

TEST(PolicyRegistry, UnknownChoiceNamesTheNearest) {
    EXPECT_THAT(refusal("easy", {{"order", "prioritty"}}), HasSubstr("priority"));
}

TEST(PolicyRegistry, ScojoSaysWhatItsNumbersMustBe) {
    EXPECT_THAT(refusal("scojo", {{"share", "120"}}), HasSubstr("0 to 99 per cent"));
    EXPECT_THAT(refusal("scojo", {{"level", "0"}}), HasSubstr("1 to 16"));
    EXPECT_THAT(refusal("scojo", {{"factors", "1,3,1.5"}}), HasSubstr("must not fall"));
}

TEST(PolicyRegistry, OptionGivenTwiceIsRefused) {
    EXPECT_THAT(refusal("backfill", {{"depth", "1"}, {"depth", "2"}}), HasSubstr("given twice"));
}

TEST(PolicyRegistry, QueuesNeedAShareEach) {
    EXPECT_THAT(refusal("multiqueue", {{"bounds", "1h"}, {"shares", "1,1,1"}}), HasSubstr("1 bounds make 2"));
    EXPECT_THAT(refusal("multiqueue", {{"bounds", "2h,1h"}}), HasSubstr("ascend"));
    EXPECT_THAT(refusal("multiqueue", {{"bounds", "1h,1h"}}), HasSubstr("ascend"));
}

TEST(PolicyRegistry, PatienceIsThreePositiveDurations) {
    EXPECT_THAT(refusal("lazy-gang", {{"patience", "1s,2s"}}), HasSubstr("three"));
    EXPECT_THAT(refusal("lazy-gang", {{"patience", "999ms,2s,3s"}}), HasSubstr("without end"));
}

TEST(PolicyRegistry, TellsWhoseJobsTakeTurns) {
    for (const PolicyInfo& policy : policies())
        EXPECT_EQ((*make_policy(policy.name))->sharing() == ZoneState::Sharing::kTime, policy.takes_turns)
            << policy.name;
}

}  // namespace
}  // namespace zbs
