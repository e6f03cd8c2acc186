#include "services/common/messages/names/host_name.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>

namespace zbs {
void PrintTo(const HostPort& at, std::ostream* out) { *out << at.host << " and " << at.port; }

namespace {
using testing::HasSubstr;

TEST(HostPort, IsReadAndWrittenTheSame) {
    struct Case {
        const char* text;
        HostPort at;
    };
    for (const Case& c : {Case{"a:1", {"a", 1}}, Case{"zone_a.Example-1.org:65535", {"zone_a.Example-1.org", 65'535}},
                          Case{"10.0.0.7:7001", {"10.0.0.7", 7001}}, Case{"[2001:db8::7]:7001", {"2001:db8::7", 7001}},
                          Case{"[::ffff:10.0.0.7]:1", {"::ffff:10.0.0.7", 1}}}) {
        const auto at = HostPort::parse(c.text);
        ASSERT_TRUE(at) << c.text << ": " << at.error();
        EXPECT_EQ(*at, c.at) << c.text;
        EXPECT_EQ(at->text(), c.text);
    }
}

TEST(HostPort, HasThePortOfTheCallerIfItNamesNone) {
    EXPECT_EQ(HostPort::parse("a", 443).value(), (HostPort{"a", 443}));
    EXPECT_EQ(HostPort::parse("[::1]", 443).value(), (HostPort{"::1", 443}));
    EXPECT_EQ(HostPort::parse("a:1", 443).value(), (HostPort{"a", 1}));
    EXPECT_EQ(HostPort::parse("a:0", -1, 0).value(), (HostPort{"a", 0}));
}

TEST(HostPort, ThatIsNoneIsRefusedWithTheFault) {
    struct Case {
        std::string text;
        const char* fault;
    };
    for (const Case& bad : {Case{"", "the host is missing"},
                            Case{":1", "the host is missing"},
                            Case{"a", "the port is missing"},
                            Case{"[::1]", "the port is missing"},
                            Case{"a:", "missing behind the colon"},
                            Case{"[::1]:", "missing behind the colon"},
                            Case{"a:0", "the port must be 1 to 65535, and is '0'"},
                            Case{"a:65536", "is '65536'"},
                            Case{"a:99999999999", "is '99999999999'"},
                            Case{"a:+1", "is '+1'"},
                            Case{"a:-1", "is '-1'"},
                            Case{"a:1x", "is '1x'"},
                            Case{"a: 1", "is ' 1'"},
                            Case{"a:1:2", "brackets"},
                            Case{"host:1:2", "is '1:2'"},
                            Case{"::1", "stands in brackets"},
                            Case{"2001:db8::7:80", "stands in brackets"},
                            Case{"[::1", "is not closed"},
                            Case{"[::1]x", "only a port"},
                            Case{"[]:1", "no IPv6 address"},
                            Case{"[10.0.0.7]:1", "no IPv6 address"},
                            Case{"[a]:1", "no IPv6 address"},
                            Case{"[fe80::1%eth0]:1", "not valid on other hosts"},
                            Case{"a.:1", "'a.' ends with a dot"},
                            Case{"a b:1", "the host must be"},
                            Case{"a/b:1", "the host must be"},
                            Case{"u@a:1", "the host must be"},
                            Case{std::string("a\0b:1", 5), "the host must be"},
                            Case{"\xc3\xa4:1", "the host must be"},
                            Case{std::string(254, 'a') + ":1", "the host must be"}}) {
        const auto at = HostPort::parse(bad.text);
        ASSERT_FALSE(at) << bad.text;
        EXPECT_EQ(at.error().code, ErrorCode::kInvalidArgument) << bad.text;
        EXPECT_THAT(at.error().message, HasSubstr(bad.fault)) << bad.text;
        EXPECT_EQ(at.error().message.find('\n'), std::string::npos);
    }
}

}  // namespace
}  // namespace zbs
