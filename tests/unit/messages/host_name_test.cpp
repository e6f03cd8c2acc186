#include "services/common/messages/names/host_name.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zbs {
namespace {
using testing::HasSubstr;

TEST(AdvertisedHost, NamesAndLiteralAddressesAreGood) {
    for (const char* host : {"zone-a.example.org", "localhost", "zone_a", "A", "10.1.2.3", "127.0.0.1", "2001:db8::7",
                             "::1", "7.example", "xn--bcher-kva.example"})
        EXPECT_TRUE(check_advertised_host(host)) << host;
    EXPECT_TRUE(check_advertised_host(std::string(63, 'a') + ".org"));
}

TEST(AdvertisedHost, WhatNobodyCouldCallIsRefusedWithWhatToWrite) {
    struct Case {
        std::string host;
        const char* message;
    };
    for (const Case& bad : {Case{"", "must name a host"},
                            {"https://zone-a.example.org", "leave out scheme"},
                            {"https://zone-a.example.org:7001", "leave out scheme"},
                            {"zone-a.example.org/x", "leave out scheme"},
                            {"ops@zone-a", "leave out scheme"},
                            {"zone-a.example.org:7001", "write zone-a.example.org, without"},
                            {"10.1.2.3:7001", "write 10.1.2.3, without"},
                            {"zone-a.example.org:70010", "names a port"},
                            {"[2001:db8::7]", "write 2001:db8::7, without"},
                            {"[2001:db8::7]:7001", "write 2001:db8::7, without brackets and port"},
                            {"[::1]:1", "write ::1, without"},
                            {"[::]:7001", "'::' stands for all addresses"},
                            {"0.0.0.0:7001", "'0.0.0.0' stands for all addresses"},
                            {"[2001:db8::7]:x", "without them and without a port"},
                            {"[10.1.2.3]", "without them"},
                            {"0.0.0.0", "all addresses"},
                            {"::", "all addresses"},
                            {"0:0::0", "all addresses"},
                            {"::ffff:0.0.0.0", "all addresses"},
                            {"*", "all addresses"},
                            {"0", "all addresses"},
                            {"fe80::1%eth0", "not valid on other hosts"},
                            {"zone-a.example.org.", "ends with a dot; write zone-a.example.org"},
                            {"127.1", "neither"},
                            {"0x7f000001", "neither"},
                            {"1.2.3.4.5", "neither"},
                            {"256.1.1.1", "neither"},
                            {"a..b", "neither"},
                            {".a", "neither"},
                            {"-a", "neither"},
                            {"a b", "neither"},
                            {"a\nb", "neither"},
                            {"b\xc3\xbc"
                             "cher",
                             "neither"},
                            {std::string(64, 'a'), "neither"},
                            {std::string(254, 'a'), "longer"}}) {
        const auto refused = check_advertised_host(bad.host);
        ASSERT_FALSE(refused) << bad.host;
        EXPECT_THAT(refused.error().message, HasSubstr(bad.message)) << bad.host;
        EXPECT_EQ(refused.error().message.find('\n'), std::string::npos);
    }
}

TEST(ServingHosts, AreWhatOthersCallAndWhereItListensOnceEach) {
    using Hosts = std::vector<std::string>;
    EXPECT_EQ(serving_hosts("zone-a.example.org", "10.0.0.7"), (Hosts{"zone-a.example.org", "10.0.0.7"}));
    EXPECT_EQ(serving_hosts("zone-a.example.org", "0.0.0.0"), Hosts{"zone-a.example.org"});
    EXPECT_EQ(serving_hosts("127.0.0.1", "127.0.0.1"), Hosts{"127.0.0.1"});
    EXPECT_EQ(serving_hosts("2001:DB8:0::7", "2001:db8::0007"), Hosts{"2001:db8::7"});
    EXPECT_EQ(serving_hosts("", "::"), Hosts{});
}

TEST(AddressText, IsOfFourOrSixteenBytes) {
    EXPECT_EQ(address_text(std::string("\x0a\x00\x00\x07", 4)), "10.0.0.7");
    EXPECT_EQ(address_text(std::string(15, '\0') + "\x01"), "::1");
    EXPECT_EQ(address_text("abc"), "");
}

}  // namespace
}  // namespace zbs
