#include "services/common/http/reply.hpp"

#include <gtest/gtest.h>

namespace zbs::http {
namespace {

TEST(ComesFromElsewhere, OnlyTheOwnSiteAndNoSiteAtAllAreHere) {
    const auto comes = [](const char* origin, const char* host) {
        Call call;
        call.origin = origin;
        call.host = host;
        return comes_from_elsewhere(call);
    };
    EXPECT_FALSE(comes("", "zone.example:8001"));
    EXPECT_FALSE(comes("https://zone.example:8001", "zone.example:8001"));
    EXPECT_FALSE(comes("https://zone.example", "zone.example:443"));
    EXPECT_FALSE(comes("https://[2001:db8::7]:8001", "[2001:db8::7]:8001"));
    EXPECT_TRUE(comes("https://zone.example", "zone.example:8001"));
    EXPECT_TRUE(comes("http://zone.example:8001", "zone.example:8001")) << "a page without TLS";
    EXPECT_TRUE(comes("http://zone.example", "zone.example"));
    EXPECT_TRUE(comes("https://zone.example:80", "zone.example"));
    EXPECT_TRUE(comes("https://ana@zone.example:8001", "zone.example:8001"));
    EXPECT_TRUE(comes("https://evil.example", "zone.example:8001"));
    EXPECT_TRUE(comes("null", "zone.example:8001"));
    EXPECT_TRUE(comes("null", ""));
}

TEST(ComesFromElsewhere, APageWithoutTlsIsHereForAServiceWithoutTls) {
    const auto comes = [](const char* origin) {
        return comes_from_elsewhere({.method = "POST", .scheme = "http", .host = "127.0.0.1:8001", .origin = origin});
    };
    EXPECT_FALSE(comes("http://127.0.0.1:8001"));
    EXPECT_TRUE(comes("https://127.0.0.1:8001"));
}

TEST(ComesFromElsewhere, WhatChangesSomethingIsJudgedByTheRankOfItsSiteToo) {
    const auto comes = [](const char* method, const char* site) {
        return comes_from_elsewhere({.method = method, .fetch_site = site});
    };
    for (const char* method : {"POST", "PUT", "PATCH", "DELETE"}) {
        for (const char* site : {"cross-site", "same-site", "?", "Same-Origin"})
            EXPECT_TRUE(comes(method, site)) << site;
        for (const char* site : {"same-origin", "none", ""}) EXPECT_FALSE(comes(method, site)) << site;
    }
    for (const char* method : {"GET", "HEAD"}) EXPECT_FALSE(comes(method, "cross-site")) << "a link to our page";
}

}  // namespace
}  // namespace zbs::http
