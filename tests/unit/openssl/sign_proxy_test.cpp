#include <gtest/gtest.h>

#include "services/common/adapters/openssl/pem.hpp"
#include "services/common/adapters/openssl/trust/proxy.hpp"
#include "tests/support/trust_world.hpp"

namespace zbs::test {
namespace {
using openssl::ProxyTerms;
using openssl::sign_proxy;
using std::chrono::hours;

constexpr const char* kApplication = "01J9Z3V7Q0ABCDEFGHJKMNPQRS";

/// What home holds: a fresh key, its request, and what the user signed for it.
struct Delegated {
    std::shared_ptr<EVP_PKEY> key = make_test_key("P-256");
    std::string request = request_pem_of(key.get());
    Result<std::string> chain = std::string();
};
Delegated delegate(const Holder& user, const ProxyTerms& terms, Time now = kToday) {
    Delegated made;
    made.chain = sign_proxy(key_pem_of(user), pem_of(user), made.request, terms, now);
    return made;
}
Holders holders(const std::string& pem, const std::shared_ptr<EVP_PKEY>& leaf_key) {
    Result<std::vector<openssl::Certificate>> read = openssl::read_certificates(pem, openssl::kChainLimits, "chain");
    ZBS_EXPECTS(read);
    Holders chain;
    for (openssl::Certificate& certificate : *read)
        chain.push_back({std::shared_ptr<X509>(certificate.release(), X509_free), chain.empty() ? leaf_key : nullptr});
    return chain;
}

TEST(SignProxy, MakesADelegationForOneApplication) {
    const TrustWorld w;
    const Delegated made = delegate(w.ana, {.application = kApplication});
    ASSERT_TRUE(made.chain) << made.chain.error();
    EXPECT_EQ(w.delegation_verdict(holders(*made.chain, made.key)),
              std::string("spiffe://org-a/user/ana for ") + kApplication);
}

TEST(SignProxy, EveryKindOfUserKeySigns) {
    TrustWorld w;
    for (const char* kind : {"P-256", "RSA2048", "ED25519"}) {
        Form form = user_form("org-a", "ana");
        form.key = kind;
        const Delegated made = delegate(make_certificate(form, &w.ca_a), {.application = kApplication});
        ASSERT_TRUE(made.chain) << kind << ": " << made.chain.error();
        EXPECT_EQ(w.delegation_verdict(holders(*made.chain, made.key)).find("refused"), std::string::npos) << kind;
    }
}

TEST(SignProxy, LastsNoLongerThanItsIssuer) {
    TrustWorld w;
    Form form = user_form("org-a", "ana");
    form.not_after = kToday + hours{2};
    const Holder ana = make_certificate(form, &w.ca_a);
    const Delegated made = delegate(ana, {.application = kApplication, .lifetime = hours{12}});
    ASSERT_TRUE(made.chain);
    const Result<DelegationInfo> info = w.trust.verify_delegation("zbs-part", w.proof(holders(*made.chain, made.key)));
    ASSERT_TRUE(info);
    EXPECT_EQ(info->not_after, kToday + hours{2});
}

TEST(SignProxy, RenewalSignsApplicationsForAWeek) {
    TrustWorld w;
    const Delegated renewal = delegate(w.ana, {.lifetime = hours{24 * 7}, .path_length = 1, .renewal = true});
    ASSERT_TRUE(renewal.chain) << renewal.chain.error();
    const Holders chain = holders(*renewal.chain, renewal.key);
    w.now = kToday + hours{24 * 6};
    Delegated part;
    part.chain = sign_proxy(key_pem_of(chain[0]), *renewal.chain, part.request, {.application = kApplication}, w.now);
    ASSERT_TRUE(part.chain) << part.chain.error();
    EXPECT_EQ(w.delegation_verdict(holders(*part.chain, part.key)).find("refused"), std::string::npos);
    w.now = kToday + hours{24 * 7};
    EXPECT_NE(w.delegation_verdict(holders(*part.chain, part.key)).find("it expired at"), std::string::npos);
}

TEST(SignProxy, RenewalSignsNoRenewal) {
    TrustWorld w;
    const ProxyTerms terms{.path_length = 1, .renewal = true};
    const Delegated first = delegate(w.ana, terms);
    ASSERT_TRUE(first.chain);
    const Holders chain = holders(*first.chain, first.key);
    const Delegated second;
    EXPECT_FALSE(sign_proxy(key_pem_of(chain[0]), *first.chain, second.request, terms, kToday));
}

TEST(SignProxy, BadInputIsToldAndMakesNothing) {
    TrustWorld w;
    const Holder limited = make_certificate(limited_form(w.ana), &w.ana);
    const std::string good = request_pem_of(make_test_key("P-256").get());
    const ProxyTerms terms{.application = kApplication};
    struct Case {
        const char* what;
        std::string key, chain, request;
        ProxyTerms terms;
        const char* reason;
        Time now = kToday;
    };
    const std::string key = key_pem_of(w.ana), chain = pem_of(w.ana);
    std::string broken = good;
    broken[broken.size() / 2] = broken[broken.size() / 2] == 'A' ? 'B' : 'A';
    const Case cases[] = {
        {"no id", key, chain, good, {}, "is no application id"},
        {"id of 25", key, chain, good, {.application = "01J9Z3V7Q0ABCDEFGHJKMNPQR"}, "is no application id"},
        {"13 hours", key, chain, good, {.application = kApplication, .lifetime = hours{13}}, "at most 12 h"},
        {"no time", key, chain, good, {.application = kApplication, .lifetime = {}}, "more than 0"},
        {"8 days", key, chain, good, {.lifetime = hours{192}, .renewal = true}, "at most 168 h"},
        {"path", key, chain, good, {.application = kApplication, .path_length = 1}, "it signs none"},
        {"renewal for one", key, chain, good, {.application = kApplication, .renewal = true}, "leave the id away"},
        {"weak key", key, chain, request_pem_of(make_test_key("RSA1024").get()), terms, "is too weak"},
        {"no proof", key, chain, broken, terms, "request"},
        {"no request", key, chain, chain, terms, "is no certificate request"},
        {"own key", key, chain, request_pem_of(w.ana.key.get()), terms, "a proxy needs a fresh one"},
        {"other key", key_pem_of(w.bob), chain, good, terms, "does not belong to the first certificate"},
        {"no key", chain, chain, good, terms, "holds no private key"},
        {"no chain", key, key, good, terms, "holds no certificate"},
        {"CA", key_pem_of(w.ca_a), pem_of(w.ca_a), good, terms, "only users sign proxies|a CA signs no proxies"},
        {"limited", key_pem_of(limited), pem_of({limited, w.ana}), good, terms, "may not delegate"},
        {"expired", key, chain, good, terms, "'zbs login --code'", kToday + hours{24 * 91}},
        {"too early", key, chain, good, terms, "compare the clocks", kToday - hours{24 * 2}},
    };
    for (const Case& c : cases) {
        SCOPED_TRACE(c.what);
        const Result<std::string> made = sign_proxy(c.key, c.chain, c.request, c.terms, c.now);
        ASSERT_FALSE(made);
        const std::string reason = c.reason;
        const std::size_t bar = reason.find('|');
        EXPECT_TRUE(
            made.error().message.find(reason.substr(0, bar)) != std::string::npos ||
            (bar != std::string::npos && made.error().message.find(reason.substr(bar + 1)) != std::string::npos))
            << made.error();
    }
}

}  // namespace
}  // namespace zbs::test
