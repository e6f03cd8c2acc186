#include "services/common/adapters/openssl/trust/trust_store.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "services/common/adapters/openssl/issuing/issuing.hpp"
#include "services/common/adapters/openssl/pem.hpp"
#include "services/common/adapters/openssl/trust/certificate_view.hpp"
#include "services/common/messages/limits.hpp"
#include "tests/support/trust_world.hpp"

namespace zbs::test {
namespace {

std::string why(const Result<void>& result) { return result ? "" : result.error().message; }

TEST(TrustStore, FingerprintDoesNotDependOnTheOrderOfABundle) {
    const TrustWorld w;
    const Result<std::string> one = w.trust.fingerprint(pem_of({w.ca_a, w.ca_b}));
    const Result<std::string> other = w.trust.fingerprint(pem_of({w.ca_b, w.ca_a, w.ca_b}));
    ASSERT_TRUE(one && other);
    EXPECT_EQ(*one, *other);
    EXPECT_EQ(one->size(), std::string("sha256:").size() + 64);
    EXPECT_NE(*one, *w.trust.fingerprint(pem_of(w.ca_a)));
}

TEST(TrustStore, BundleHoldsGoodCaCertificatesOnly) {
    TrustWorld w;
    Form weak = authority_form("org-a");
    weak.key = "RSA1024";
    struct Case {
        const char* what;
        std::string pem;
        const char* reason;
    };
    const std::string good = pem_of(w.ca_a);
    const Case cases[] = {
        {"empty", "", "holds no certificate"},
        {"no PEM", "hello", "holds no certificate"},
        {"cut", good.substr(0, good.size() / 2), "is damaged"},
        {"user", pem_of(w.ana), "is no CA certificate"},
        {"CA and user", pem_of({w.ca_a, w.ana}), "is no CA certificate"},
        {"weak key", pem_of(make_certificate(weak, nullptr)), "1024 bits is too weak"},
        {"17 certificates", pem_of(Holders(limits::kMaxBundleCertificates + 1, w.ca_a)), "more than 16 certificates"},
        {"64 KiB and a byte", std::string(limits::kMaxBundleBytes + 1, ' '), "is over 65536 bytes"},
    };
    for (const Case& c : cases) {
        SCOPED_TRACE(c.what);
        EXPECT_NE(why(w.trust.pin("org-a", c.pem)).find(c.reason), std::string::npos)
            << why(w.trust.pin("org-a", c.pem));
        EXPECT_EQ(w.trust.bundle("org-a"), good) << "a refused bundle changed what is believed";
    }
    EXPECT_TRUE(w.trust.pin("org-a", pem_of(Holders(limits::kMaxBundleCertificates, w.ca_a))));
}

TEST(TrustStore, BundleTellsWhoseItIsByTheNamesItsCasMayVouchFor) {
    const TrustWorld w;
    const auto ca = [](const char* constraints) {
        Form form = authority_form("anybody");
        form.more = {{NID_name_constraints, constraints}};
        return make_certificate(form, nullptr);
    };
    const openssl::Validity validity{kToday, kToday + std::chrono::hours{1}};
    const openssl::Key key = openssl::make_key();
    const std::string made_by_us = openssl::write_pem(openssl::make_authority(key.get(), "org-x", validity).get());
    struct Case {
        const char* what;
        std::string pem;
        std::vector<std::string> organisations;
        std::size_t unbound;
    };
    const Case cases[] = {
        {"our own CA", made_by_us, {"org-x"}, 0},
        {"no constraint", pem_of(w.ca_a), {}, 1},
        {"constraint on other names only", pem_of(ca("critical,permitted;DNS:org-a")), {}, 1},
        {"excluded is not permitted", pem_of(ca("critical,excluded;URI:org-a")), {}, 1},
        {"two names, large letters",
         pem_of(ca("critical,permitted;URI:Org-B,permitted;URI:org-a")),
         {"org-a", "org-b"},
         0},
        {"all that end so", pem_of(ca("critical,permitted;URI:.grid.org")), {".grid.org"}, 0},
        {"ours and one of somewhere", made_by_us + pem_of(w.ca_b), {"org-x"}, 1},
    };
    for (const Case& c : cases) {
        const Result<BundleNames> names = w.trust.names_in(c.pem);
        ASSERT_TRUE(names) << c.what << names.error();
        EXPECT_EQ(names->organisations, c.organisations) << c.what;
        EXPECT_EQ(names->unbound.size(), c.unbound) << c.what;
    }
    EXPECT_FALSE(w.trust.names_in("hello"));
}

TEST(BundleNames, BoundBundleMayBeOfItsOrganisationsOnly) {
    const BundleNames bound{{".grid.org", "org-a"}, {}};
    for (const char* name : {"org-a", "lyon.grid.org"}) EXPECT_TRUE(bound.may_be_of(name)) << name;
    for (const char* name : {"org-b", "org-ab", "grid.org", ""}) EXPECT_FALSE(bound.may_be_of(name)) << name;
    EXPECT_TRUE(BundleNames{}.may_be_of("anybody"));
}

TEST(TrustStore, OnlyNamesArePinned) {
    TrustWorld w;
    for (const char* name : {"", "Org", "a/b", "a b", "../x"})
        EXPECT_FALSE(w.trust.pin(OrganisationName(name), pem_of(w.ca_a))) << name;
    EXPECT_EQ(w.trust.organisations(), (std::vector<OrganisationName>{"org-a", "org-b", "org-g", "org-s1", "org-s2"}));
}

TEST(TrustStore, PinAndUnpinCountAtOnce) {
    TrustWorld w;
    w.trust.unpin("org-a");
    EXPECT_NE(w.verdict({w.ana}).find("organisation 'org-a' is not known here"), std::string::npos);
    ASSERT_TRUE(w.trust.pin("org-a", pem_of(w.ca_a)));
    EXPECT_EQ(w.verdict({w.ana}), "spiffe://org-a/user/ana");
    ASSERT_TRUE(w.trust.pin("org-a", pem_of(w.ca_unknown)));
    EXPECT_NE(w.verdict({w.ana}).find("was not issued by a CA"), std::string::npos);
}

TEST(TrustStore, RevokesSerialsOfTheListOnly) {
    TrustWorld w;
    const Holder bea = make_member("org-a", "user", "bea", w.ca_a);
    ASSERT_TRUE(w.trust.set_revocations("org-a", list_pem({.revoked = {bea}}, w.ca_a)));
    EXPECT_FALSE(w.trust.is_revoked("org-a", w.identify({w.ana}).serial()));
    EXPECT_EQ(w.verdict({w.ana}), "spiffe://org-a/user/ana");
    EXPECT_NE(w.verdict({bea}).find("was revoked"), std::string::npos);
}

TEST(TrustStore, RefusesListsThatWouldForget) {
    TrustWorld w;
    const std::string third = list_pem({.revoked = {w.ana}, .number = 3}, w.ca_a);
    ASSERT_TRUE(w.trust.set_revocations("org-a", third));
    struct Case {
        const char* what;
        std::string pem;
        const char* reason;
    };
    const Case cases[] = {
        {"older number", list_pem({.number = 2}, w.ca_a), "is older than the one known"},
        {"same number, other content", list_pem({.number = 3}, w.ca_a), "is older than the one known"},
        {"no number, older", list_pem({.number = {}, .made = kToday - std::chrono::hours{1}}, w.ca_a), "is older"},
        {"of another CA", list_pem({.number = 4}, w.ca_b), "is not signed"},
        {"of a user", list_pem({.number = 4}, w.ana), "is not signed"},
        {"SHA-1", list_pem({.number = 4, .digest = "SHA1"}, w.ca_a), "is not signed (SHA-256 or better)"},
        {"delta", list_pem({.number = 4, .critical_extension = true}, w.ca_a), "is only a part of one"},
        {"no list", pem_of(w.ca_a), "is no revocation list"},
        {"4 MiB and a byte", std::string(limits::kMaxRevocationBytes + 1, ' '), "is over"},
    };
    for (const Case& c : cases) {
        SCOPED_TRACE(c.what);
        const std::string reason = why(w.trust.set_revocations("org-a", c.pem));
        EXPECT_NE(reason.find(c.reason), std::string::npos) << reason;
        EXPECT_NE(w.verdict({w.ana}).find("was revoked"), std::string::npos);
    }
    EXPECT_TRUE(w.trust.set_revocations("org-a", third)) << "the same list again is no error";
    EXPECT_TRUE(w.trust.set_revocations("org-a", list_pem({.number = 4}, w.ca_a)));
    EXPECT_EQ(w.verdict({w.ana}), "spiffe://org-a/user/ana");
    EXPECT_EQ(w.trust.set_revocations("org-x", third).error().code, ErrorCode::kNotFound);
}

TEST(TrustStore, RevocationOutlivesARenewedCaCertificate) {
    TrustWorld w;
    ASSERT_TRUE(w.trust.set_revocations("org-a", list_pem({.revoked = {w.ana}}, w.ca_a)));
    const Holder renewed = make_certificate(authority_form("org-a"), nullptr, w.ca_a.key);
    ASSERT_TRUE(w.trust.pin("org-a", pem_of(renewed)));
    EXPECT_NE(w.verdict({w.ana}).find("was revoked"), std::string::npos);
}

TEST(TrustStore, RevocationsOfOneOrganisationMeanNothingForAnother) {
    TrustWorld w;
    ASSERT_TRUE(w.trust.set_revocations("org-b", list_pem({.revoked = {w.ana}}, w.ca_b)));
    EXPECT_EQ(w.verdict({w.ana}), "spiffe://org-a/user/ana");
}

TEST(TrustStore, SubjectMapNamesUsersOnly) {
    TrustWorld w;
    EXPECT_NE(why(w.trust.set_subject_map("org-g", {{"CN=Gil", "../gil"}})).find("is no user name"), std::string::npos);
    EXPECT_FALSE(w.trust.set_subject_map("Org", {}));
    EXPECT_EQ(w.verdict({w.gil}), "spiffe://org-g/user/gil") << "a refused map changed what is believed";
}

TEST(TrustStore, AnotherThatPinsTheGridsCaShutsNobodyOut) {
    TrustWorld w;
    const std::string theirs = pem_of(w.ca_unknown) + pem_of(w.ca_grid);
    ASSERT_TRUE(w.trust.pin("org-x", theirs));
    EXPECT_EQ(w.verdict({w.gil}), "spiffe://org-g/user/gil");
    ASSERT_TRUE(w.trust.set_subject_map("org-x", {{"CN=Gil,O=grid,C=BR", "gilberto"}}));
    EXPECT_NE(w.verdict({w.gil}).find("of 'org-g' and 'org-x' both have"), std::string::npos) << w.verdict({w.gil});
    w.trust.unpin("org-x");
    EXPECT_EQ(w.verdict({w.gil}), "spiffe://org-g/user/gil");
}

TEST(SubjectLine, IsNotGivenWhereAnAttributeHoldsASlash) {
    const auto line = [](const char* subject) {
        return openssl::subject_line(make_certificate({.subject = subject}, nullptr).certificate.get());
    };
    EXPECT_EQ(line("/C=BR/O=grid/CN=Lia"), "/C=BR/O=grid/CN=Lia");
    EXPECT_EQ(line("/C=BR/O=grid|CN=Lia"), std::nullopt);  // "grid/CN=Lia" is the organisation
}

TEST(TrustStore, IdentifiesWhileBundlesChange) {
    TrustWorld w;
    std::atomic<bool> stop = false;
    std::thread changes([&] {
        for (std::uint64_t number = 1; number <= 40; ++number) {
            ASSERT_TRUE(w.trust.pin("org-b", pem_of(w.ca_b)));
            ASSERT_TRUE(w.trust.set_revocations("org-a", list_pem({.revoked = {w.bob}, .number = number}, w.ca_a)));
            w.trust.unpin("org-b");
        }
        stop = true;
    });
    int looked = 0;
    for (; !stop || looked == 0; ++looked) EXPECT_EQ(w.verdict({w.ana}), "spiffe://org-a/user/ana");
    changes.join();
    EXPECT_GT(looked, 0);
}

}  // namespace
}  // namespace zbs::test
