#include "services/common/adapters/cpprest/address_rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zbs::cpprest {
namespace {

TEST(ServiceUrl, IsSchemeHostAndPort) {
    struct Case {
        const char* text;
        ServiceUrl parsed;
    };
    for (const Case& c :
         {Case{"https://a", {"https", {"a", 443}}}, Case{"http://a", {"http", {"a", 80}}},
          Case{"https://A.Example:1", {"https", {"A.Example", 1}}},
          Case{"https://127.0.0.1:65535", {"https", {"127.0.0.1", 65535}}},
          Case{"https://[::1]:8443", {"https", {"::1", 8443}}}, Case{"https://[::]", {"https", {"::", 443}}},
          Case{"https://zone_a", {"https", {"zone_a", 443}}}}) {
        const auto url = parse_service_url(c.text);
        ASSERT_TRUE(url) << c.text << ": " << url.error();
        EXPECT_EQ(url->scheme, c.parsed.scheme) << c.text;
        EXPECT_EQ(url->at, c.parsed.at) << c.text;
    }
}

TEST(ServiceUrl, EverythingElseIsRefused) {
    for (const char* text : {"",
                             "a",
                             "a:1",
                             "//a",
                             "ftp://a",
                             "HTTPS://a",
                             "https:/a",
                             "https://",
                             "https://:1",
                             "https://a:",
                             "https://a:0",
                             "https://a:65536",
                             "https://a:99999999999",
                             "https://a:-1",
                             "https://a:+1",
                             "https://a:1x",
                             "https://a: 1",
                             "https://a:0x50",
                             "https://a:1:2",
                             "https://a/",
                             "https://a/x",
                             "https://a?x",
                             "https://a#x",
                             "https://u@a",
                             "https://u:p@a",
                             "https://a@b",
                             "https://a\\b",
                             "https://a b",
                             "https://a\n",
                             "https://a\r\nX: 1",
                             "https://%61",
                             "https://a%00",
                             "https://[::1",
                             "https://::1",
                             "https://[::1]x",
                             "https://[::1]:",
                             "https://[fe80::1%eth0]",
                             "https://[a]",
                             "https://[]",
                             "https://[127.0.0.1]",
                             "https://[[::1]]",
                             "https://\xc3\xa4",
                             "https://a,b"}) {
        const auto url = parse_service_url(text);
        ASSERT_FALSE(url) << text << " is taken as " << url->text();
        EXPECT_EQ(url.error().code, ErrorCode::kInvalidArgument) << text;
    }
    EXPECT_FALSE(parse_service_url("https://" + std::string(254, 'a')));
    EXPECT_TRUE(parse_service_url("https://" + std::string(253, 'a')));
    EXPECT_FALSE(parse_service_url(std::string("https://a\0b", 11)));
}

TEST(ServiceUrl, FaultsSayWhatToWrite) {
    const auto message = [](const char* text) {
        const auto url = parse_service_url(text);
        return url ? std::string{} : url.error().message;
    };
    EXPECT_THAT(message("https://a:8001/v1?x"), testing::HasSubstr("write https://a:8001"));
    EXPECT_THAT(message("https://[::1]:8001/"), testing::HasSubstr("write https://[::1]:8001"));
    EXPECT_THAT(message("https://u:p@a:1"), testing::HasSubstr("write https://a:1"));
    for (const char* six : {"https://::1:8001", "https://2001:db8::7", "http://::1", "https://fe80::1%eth0:1"})
        EXPECT_THAT(message(six), testing::HasSubstr("an IPv6 address stands in brackets")) << six;
    EXPECT_THAT(message("https://[fe80::1%eth0]:1"), testing::HasSubstr("not valid on other hosts"));
    EXPECT_THAT(message("https://a.example.:1"), testing::HasSubstr("'a.example.' ends with a dot; write a.example"));
    EXPECT_THAT(message("a:1"), testing::HasSubstr("e.g. https://"));
    EXPECT_THAT(message("ftp://a"), testing::HasSubstr("not with ftp://"));
    EXPECT_THAT(message("https://:1"), testing::HasSubstr("the host is missing"));
    EXPECT_THAT(message("https://a:0"), testing::HasSubstr("1 to 65535, and is '0'"));
    EXPECT_THAT(message("https://a:"), testing::HasSubstr("the port is missing behind the colon"));
}

TEST(ServiceUrl, FaultsNeverShowAPassword) {
    for (const char* text :
         {"https://ana:s3cret@a:1", "https://ana:s3cret@a/x", "https://ana:s3cret/@a", "https://ana:?s3cret#@a",
          "ana:s3cret@a:1", "ftp://ana:s3cret@a", "s3cret://x@a", "https://ana:s3,cret@a,https://b:1",
          "https://a,https://ana:s3cret@a", "https://ana:x@s3cret@a", "HTTPS://ana:s3cret@a"}) {
        const auto url = parse_service_url(text);
        ASSERT_FALSE(url) << text;
        EXPECT_THAT(url.error().message, testing::Not(testing::HasSubstr("cret"))) << text;
        EXPECT_THAT(url.error().message, testing::HasSubstr("@a")) << text;
    }
}

TEST(PublicAddress, WhatIsNotReachableFromAnywhereIsRefused) {
    for (const char* literal : {"0.0.0.0",
                                "0.1.2.3",
                                "10.0.0.0",
                                "10.255.255.255",
                                "100.64.0.1",
                                "100.127.255.255",
                                "127.0.0.1",
                                "127.255.255.255",
                                "169.254.169.254",
                                "172.16.0.1",
                                "172.31.255.255",
                                "192.0.0.1",
                                "192.0.2.1",
                                "192.88.99.1",
                                "192.168.0.1",
                                "198.18.0.1",
                                "198.19.255.255",
                                "198.51.100.1",
                                "203.0.113.1",
                                "224.0.0.1",
                                "239.255.255.255",
                                "240.0.0.1",
                                "255.255.255.255",
                                "::",
                                "::1",
                                "::127.0.0.1",
                                "::ffff:127.0.0.1",
                                "::ffff:7f00:1",
                                "::ffff:10.0.0.1",
                                "::ffff:0:127.0.0.1",
                                "64:ff9b::7f00:1",
                                "64:ff9b::127.0.0.1",
                                "64:ff9b:1::1",
                                "64:ff9b:1:7f00:0:100::",
                                "64:ff9b:1::808:808",
                                "2002:7f00:1::",
                                "2002:a00:1::",
                                "2001:0:808:808::80ff:fffe",
                                "100::1",
                                "2001:db8::1",
                                "2001:2::1",
                                "3fff::1",
                                "5f00::1",
                                "fc00::1",
                                "fd00::1",
                                "fe80::1",
                                "fe80::1%lo",
                                "febf::1",
                                "fec0::1",
                                "ff02::1"}) {
        const auto allowed = check_public_address(literal);
        ASSERT_FALSE(allowed) << literal;
        EXPECT_EQ(allowed.error().code, ErrorCode::kDenied) << literal;
        EXPECT_THAT(allowed.error().message, testing::HasSubstr(literal));
    }
}

TEST(PublicAddress, TheNeighboursOfRefusedRangesAreCalled) {
    for (const char* literal :
         {"1.0.0.0",         "9.255.255.255",    "11.0.0.0",        "100.63.255.255",  "100.128.0.0",
          "126.255.255.255", "128.0.0.0",        "169.253.255.255", "169.255.0.0",     "172.15.255.255",
          "172.32.0.0",      "192.0.1.0",        "192.0.3.0",       "192.167.255.255", "192.169.0.0",
          "198.17.255.255",  "198.20.0.0",       "223.255.255.255", "8.8.8.8",         "2001:4860:4860::8888",
          "2a00::1",         "64:ff9b::808:808", "2002:808:808::1", "::ffff:8.8.8.8",  "2001:db7::1",
          "2001:db9::1"}) {
        EXPECT_TRUE(check_public_address(literal)) << literal;
    }
}

TEST(PublicAddress, OnlyOneWayOfWritingIsALiteral) {
    for (const char* text : {"", "2130706433", "0x7f.1", "0x7f000001", "017700000001", "0177.0.0.1", "127.1",
                             "127.0.0.1.", "localhost", "[::1]", "1.2.3", "1.2.3.4.5", "256.0.0.1", "::g"}) {
        const auto allowed = check_public_address(text);
        ASSERT_FALSE(allowed) << text;
        EXPECT_EQ(allowed.error().code, ErrorCode::kInvalidArgument) << text;
    }
}

/// The resolver knows forms that are no literals; what they lead to is checked, whatever the form.
TEST(ResolveService, NumbersInDisguiseLeadNowhereInside) {
    for (const char* host : {"127.0.0.1", "localhost", "2130706433", "0x7f.1", "0x7f000001", "017700000001", "127.1",
                             "0", "::1", "::ffff:127.0.0.1", "10.1", "localhost."}) {
        const auto addresses = resolve_service({"https", host, 443}, false);
        ASSERT_FALSE(addresses) << host << " leads to " << addresses->front();
        EXPECT_THAT(addresses.error().code, testing::AnyOf(ErrorCode::kDenied, ErrorCode::kUnavailable)) << host;
    }
    EXPECT_THAT(*resolve_service({"https", "127.0.0.1", 443}, true), testing::Contains("127.0.0.1"));
    EXPECT_THAT(*resolve_service({"https", "8.8.8.8", 443}, false), testing::Contains("8.8.8.8"));
}

}  // namespace
}  // namespace zbs::cpprest
