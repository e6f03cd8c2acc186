#include "services/common/adapters/openssl/signature.hpp"

#include <gtest/gtest.h>

#include "tests/support/trust_world.hpp"

namespace zbs::test {
namespace {

/// The signer's name, or "refused: " and the reason.
std::string signer(const TrustWorld& w, const SignedText& text, const std::string& purpose = "zbs-part",
                   std::optional<std::string_view> bundle = std::nullopt) {
    const Result<CertificateInfo> info = w.trust.verify_text(purpose, text, bundle);
    return info ? to_uri(info->name) : "refused: " + info.error().message;
}

TEST(SignedText, NamesItsSigner) {
    TrustWorld w;
    EXPECT_EQ(signer(w, w.proof({w.alpha})), "spiffe://org-a/zone/alpha");
    EXPECT_EQ(signer(w, w.proof({w.oscar})), "spiffe://org-a/operator/oscar");
    for (const char* kind : {"RSA2048", "ED25519", "P-384"}) {
        Form form = user_form("org-a", "ana");
        form.key = kind;
        EXPECT_EQ(signer(w, w.proof({make_certificate(form, &w.ca_a)})), "spiffe://org-a/user/ana") << kind;
    }
}

TEST(SignedText, TellsTheSerialAndTheTimeOfItsSigner) {
    TrustWorld w;
    const Result<CertificateInfo> info = w.trust.verify_text("zbs-part", w.proof({w.alpha}));
    ASSERT_TRUE(info);
    EXPECT_EQ(info->serial, w.identify({w.alpha}).serial());
    EXPECT_EQ(info->serial.size(), 24U);
    EXPECT_EQ(info->not_after, kToday + std::chrono::hours{24 * 90});
}

TEST(SignedText, CountsForItsPurposeOnly) {
    TrustWorld w;
    EXPECT_NE(signer(w, w.proof({w.alpha}, "zbs-entry"), "zbs-part").find("does not fit the text"), std::string::npos);
    // The line between purpose and text cannot be moved.
    EXPECT_NE(signer(w, w.proof({w.alpha}, "zbs", "part\nx"), "zbs-part").find("refused"), std::string::npos);
}

TEST(SignedText, AnyChangedByteIsRefused) {
    TrustWorld w;
    const SignedText good = w.proof({w.alpha});
    for (std::string SignedText::*field : {&SignedText::text, &SignedText::signature}) {
        for (std::size_t i = 0; i < (good.*field).size(); ++i) {
            SignedText bad = good;
            (bad.*field)[i] = (bad.*field)[i] == 'x' ? 'y' : 'x';
            EXPECT_NE(signer(w, bad).find("refused"), std::string::npos) << "byte " << i;
        }
    }
}

TEST(SignedText, SignatureHasOneSpelling) {
    TrustWorld w;
    for (const char* added : {"\n", " ", "=", "AAAA", "===="}) {
        SignedText bad = w.proof({w.alpha});
        bad.signature += added;
        EXPECT_NE(signer(w, bad).find("does not fit"), std::string::npos) << added;
    }
    SignedText none = w.proof({w.alpha});
    none.signature.clear();
    EXPECT_NE(signer(w, none).find("does not fit"), std::string::npos);
}

TEST(SignedText, ProxySignsNoText) {
    TrustWorld w;
    const Holder proxy = make_certificate(proxy_form(w.ana), &w.ana);
    EXPECT_NE(signer(w, w.proof({proxy, w.ana})).find("signed by a proxy"), std::string::npos);
}

TEST(SignedText, GridCertificateSignsNoText) {
    TrustWorld w;
    EXPECT_NE(signer(w, w.proof({w.gil})).find("it has no URI alternative name"), std::string::npos);
}

TEST(SignedText, ChainOfAnotherOrganisationIsRefused) {
    TrustWorld w;
    EXPECT_NE(signer(w, w.proof({make_member("org-b", "zone", "beta", w.ca_a)})).find("was not issued by a CA"),
              std::string::npos);
}

TEST(SignedText, KeyOfSomebodyElseIsRefused) {
    TrustWorld w;
    SignedText stolen = w.proof({w.bob});
    stolen.chain = pem_of(w.alpha);
    EXPECT_NE(signer(w, stolen).find("does not fit the text"), std::string::npos);
}

TEST(SignedText, OfAnUnknownOrganisationIsReadWithItsOwnBundle) {
    TrustWorld w;
    const SignedText text = w.proof({make_member("org-x", "zone", "xi", w.ca_unknown)});
    EXPECT_NE(signer(w, text).find("organisation 'org-x' is not known"), std::string::npos);
    EXPECT_EQ(signer(w, text, "zbs-part", pem_of(w.ca_unknown)), "spiffe://org-x/zone/xi");
    EXPECT_NE(signer(w, text, "zbs-part", pem_of(w.ca_b)).find("was not issued"), std::string::npos);
    EXPECT_FALSE(w.trust.bundle("org-x"));
}

TEST(SignedText, RevokedSignerIsRefusedAlsoWithABundle) {
    TrustWorld w;
    ASSERT_TRUE(w.trust.set_revocations("org-a", list_pem({.revoked = {w.alpha}}, w.ca_a)));
    EXPECT_NE(signer(w, w.proof({w.alpha})).find("was revoked"), std::string::npos);
    EXPECT_NE(signer(w, w.proof({w.alpha}), "zbs-part", pem_of(w.ca_a)).find("was revoked"), std::string::npos);
}

TEST(Delegation, IsProvedByTheKeyOfTheProxy) {
    TrustWorld w;
    const Holders chain{make_certificate(application_form(w.ana), &w.ana), w.ana};
    const Result<DelegationInfo> granted = w.trust.verify_delegation("zbs-part", w.proof(chain));
    ASSERT_TRUE(granted);
    EXPECT_EQ(granted->not_after, kToday + std::chrono::hours{12});
    EXPECT_EQ(granted->serial, w.identify({w.ana}).serial());

    SignedText copied = w.proof({w.ana});  // with the user's key: home has only the proxy's
    copied.chain = pem_of(chain);
    EXPECT_FALSE(w.trust.verify_delegation("zbs-part", copied));
    EXPECT_FALSE(w.trust.verify_delegation("zbs-other", w.proof(chain)));
}

}  // namespace
}  // namespace zbs::test
