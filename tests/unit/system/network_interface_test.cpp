#include <gtest/gtest.h>

#include "services/common/adapters/system/network_interface.hpp"

namespace zbs::system {
namespace {

TEST(NetworkInterface, NameStaysWhatItIs) {
    EXPECT_EQ(resolve_interface("eth7").value(), "eth7");
    EXPECT_EQ(resolve_interface("").value(), "");
}

TEST(NetworkInterface, NetworkIsTheInterfaceWithAnAddressInIt) {
    EXPECT_EQ(resolve_interface("127.0.0.0/8").value(), "lo");
    EXPECT_EQ(resolve_interface("127.0.0.0/24").value(), "lo");
    EXPECT_EQ(resolve_interface("127.0.0.77/8").value(), "lo") << "any address of the network names it";
}

TEST(NetworkInterface, NetworkThatNobodyIsInIsRefused) {
    const auto none = resolve_interface("203.0.113.0/24");  // for documentation only, RFC 5737
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code, ErrorCode::kUnavailable);
    EXPECT_NE(none.error().message.find("203.0.113.0/24"), std::string::npos);
    EXPECT_FALSE(resolve_interface("2001:db8::/32"));
    EXPECT_FALSE(resolve_interface("128.0.0.0/8")) << "127.0.0.1 is not in it";
}

TEST(NetworkInterface, WhatIsNoNetworkIsRefused) {
    for (const char* text :
         {"/", "127.0.0.1/", "127.0.0.1/33", "10.0.0/8", "x/8", "::1/129", "127.0.0.1/-1", "1/2/3"}) {
        const auto wrong = resolve_interface(text);
        ASSERT_FALSE(wrong) << text;
        EXPECT_EQ(wrong.error().code, ErrorCode::kInvalidArgument) << text;
    }
}

}  // namespace
}  // namespace zbs::system
