#include "services/common/messages/names/join_token.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zbs {
namespace {

const std::string kCode = "abcdefghijklmnopqrstuvwxyz";
const std::string kFingerprint = "sha256:" + std::string(64, 'f');

JoinToken some_token(JoinToken::Kind kind = JoinToken::Kind::kUser) {
    return {kind, "ana", kCode, kFingerprint, {CallerKind::kZone, "org-a", "alpha"}, "https://alpha.example:8443"};
}

TEST(JoinToken, ComesBackEqual) {
    for (const JoinToken::Kind kind : {JoinToken::Kind::kUser, JoinToken::Kind::kZone}) {
        for (const char* url : {"https://a", "https://[::1]:8443", "https://127.0.0.1:1"}) {
            JoinToken token = some_token(kind);
            token.url = url;
            const Result<JoinToken> read = parse_join_token(to_text(token));
            ASSERT_TRUE(read) << read.error();
            EXPECT_EQ(*read, token);
        }
    }
}

TEST(JoinToken, IsOneWordForOnePaste) {
    EXPECT_EQ(to_text(some_token()).find_first_of(" \t\n'\"\\$&;|<>()*?!`"), std::string::npos);
}

TEST(JoinToken, DamagedPartsAreToldWithoutTheCode) {
    struct Case {
        const char* what;
        std::function<void(std::string&)> spoil;
        const char* reason;
    };
    const auto replace = [](const std::string& from, const std::string& to) {
        return [from, to](std::string& text) { text.replace(text.find(from), from.size(), to); };
    };
    const Case cases[] = {
        {"empty", [](std::string& text) { text.clear(); }, "no whole token"},
        {"cut", [](std::string& text) { text.resize(40); }, "no whole token"},
        {"newer", replace("zbs-login-1", "zbs-login-2"), "no token of a version"},
        {"name", replace("+ana+", "+Ana+"), "name"},
        {"no name", replace("+ana+", "++"), "name"},
        {"short code", replace(kCode, kCode.substr(1)), "code is damaged"},
        {"code", replace(kCode, kCode.substr(1) + "1"), "code is damaged"},
        {"fingerprint", replace("fff+", "ffg+"), "fingerprint is damaged"},
        {"other hash", replace("sha256:", "sha512:"), "fingerprint is damaged"},
        {"service", replace("spiffe://org-a/zone/alpha", "spiffe://org-a/cave/alpha"), "names no service"},
        {"anonymous", replace("spiffe://org-a/zone/alpha", "anonymous"), "names no service"},
        {"plain", replace("https:", "http:"), "https://"},
        {"no host", replace("alpha.example:8443", ""), "https://host:port"},
        {"user", replace("alpha.example", "ana@alpha.example"), "https://host:port"},
        {"path", replace("8443", "8443/x"), "https://host:port"},
        {"escape sequence", replace("8443", "8443\x1b[2J"), "https://host:port"},
        {"line feed", replace("8443", "8443\n"), "https://host:port"},
        {"long", [](std::string& text) { text += std::string(3'000, 'a'); }, "not that long"},
    };
    for (const Case& c : cases) {
        std::string text = to_text(some_token());
        c.spoil(text);
        const Result<JoinToken> read = parse_join_token(text);
        ASSERT_FALSE(read) << c.what;
        EXPECT_THAT(read.error().message, testing::HasSubstr(c.reason)) << c.what;
        EXPECT_THAT(read.error().message, testing::Not(testing::HasSubstr(kCode.substr(1)))) << c.what;
    }
}

}  // namespace
}  // namespace zbs
