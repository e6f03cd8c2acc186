#include "services/common/adapters/beast/port_rights.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zbs::beast {
namespace {
using testing::HasSubstr;

const ListenSetting kSetting{"'listen'", "'listen'", "zone.toml:5"};

TEST(PortRights, PortsBelowTheFirstForAllNeedTheRight) {
    const PortRights nobody{}, service{.may_bind_below = true}, container{.first_for_all = 0};
    for (const int port : {0, 1024, 8001, 65535}) EXPECT_TRUE(check_port_right(port, nobody, kSetting)) << port;
    for (const int port : {1, 443, 1023}) {
        const auto refused = check_port_right(port, nobody, kSetting);
        ASSERT_FALSE(refused) << port;
        EXPECT_EQ(refused.error().pointer, "zone.toml:5");
        EXPECT_THAT(refused.error().message, HasSubstr("port " + std::to_string(port) + " is below 1024"));
        EXPECT_THAT(refused.error().message, HasSubstr("set 'listen' to a port from 1024 on"));
        EXPECT_THAT(refused.error().message, HasSubstr("CAP_NET_BIND_SERVICE"));
        EXPECT_TRUE(check_port_right(port, service, kSetting)) << port;
        EXPECT_TRUE(check_port_right(port, container, kSetting)) << port;
    }
    EXPECT_THAT(check_port_right(80, {.first_for_all = 81}, kSetting).error().message, HasSubstr("a port from 81 on"));
}

TEST(PortRights, WhatOnlyThisProcessMayDoIsNoted) {
    EXPECT_THAT(port_note(443, {.may_bind_below = true}), HasSubstr("AmbientCapabilities=CAP_NET_BIND_SERVICE"));
    EXPECT_EQ(port_note(8001, {.may_bind_below = true}), "");
    EXPECT_EQ(port_note(443, {.first_for_all = 0, .may_bind_below = true}), "");
    EXPECT_EQ(port_note(443, {}), "") << "that is a fault";
}

}  // namespace
}  // namespace zbs::beast
