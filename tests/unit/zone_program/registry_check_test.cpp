#include "services/zone_scheduler/program/commands/registry_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zbs::zone_program {
namespace {

using command_line::CheckResult;
using testing::HasSubstr;
using testing::Not;

codec::Json refused(const std::string& reason, double ahead_s = 0) {
    codec::Json answer = {{"registry", {{"url", "https://r:1"}, {"enrolled", false}, {"reason", reason}}}};
    if (ahead_s != 0) answer["registry"]["clock_ahead_s"] = ahead_s;
    return answer;
}

TEST(CheckRegistry, OnlyARefusedCodeNeedsAnotherCode) {
    const auto code = check_registry(refused("this code does not work here: it was used"));
    ASSERT_TRUE(code);
    EXPECT_EQ(code->verdict, CheckResult::kFail);
    EXPECT_THAT(code->remedy, HasSubstr("another code"));
    for (const char* reason :
         {"PUT https://r:1/v1/zones failed: cannot connect to r:1: connection refused",
          "the certificate of the registry has expired", "the URL is not reachable (status code 502)"}) {
        const auto other = check_registry(refused(reason));
        ASSERT_TRUE(other);
        EXPECT_EQ(other->found, std::string("not enrolled at https://r:1: ") + reason);
        EXPECT_THAT(other->remedy, Not(HasSubstr("code"))) << reason;
    }
    const auto clock = check_registry(refused("the certificate is not valid yet", 3'600));
    ASSERT_TRUE(clock);
    EXPECT_THAT(clock->remedy, HasSubstr("date -u"));
    EXPECT_THAT(clock->remedy, Not(HasSubstr("code")));
}

TEST(CheckRegistry, TheSettingIsNamedAndNotTheFieldOfTheMessage) {
    const auto url = check_registry(refused("at /url: address 127.0.0.1 is not called"));
    ASSERT_TRUE(url);
    EXPECT_THAT(url->found, HasSubstr("'advertise' of this zone: address 127.0.0.1 is not called"));
}

TEST(CheckRegistry, AZoneWithoutOneHasNoState) { EXPECT_FALSE(check_registry(codec::Json::object())); }

}  // namespace
}  // namespace zbs::zone_program
