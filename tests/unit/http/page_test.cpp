#include "services/common/http/page.hpp"

#include <gtest/gtest.h>

namespace zbs::http {
namespace {

TEST(HtmlText, NoByteIsMarkup) {
    EXPECT_EQ(html_text("<a href='x'>\"&amp;\"</a>"), "&lt;a href=&#39;x&#39;&gt;&quot;&amp;amp;&quot;&lt;/a&gt;");
    EXPECT_EQ(html_text(std::string_view("a\0b\n\x7f", 5)),
              "a\xEF\xBF\xBD"
              "b\xEF\xBF\xBD\xEF\xBF\xBD");
    EXPECT_EQ(html_text("z\xC3\xBCrich"), "z\xC3\xBCrich");
}

TEST(ComesFromElsewhere, OnlyTheOwnSiteAndNoSiteAtAllAreHere) {
    const auto comes = [](const char* origin, const char* host) {
        Call call;
        call.origin = origin;
        call.host = host;
        return comes_from_elsewhere(call);
    };
    EXPECT_FALSE(comes("", "zone.example:8001"));
    EXPECT_FALSE(comes("https://zone.example:8001", "zone.example:8001"));
    EXPECT_TRUE(comes("https://zone.example", "zone.example:8001"));
    EXPECT_TRUE(comes("https://evil.example", "zone.example:8001"));
    EXPECT_TRUE(comes("null", "zone.example:8001"));
    EXPECT_TRUE(comes("null", ""));
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
