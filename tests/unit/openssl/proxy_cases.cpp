#include <openssl/x509v3.h>

#include "services/common/adapters/openssl/trust/proxy_rules.hpp"
#include "tests/unit/openssl/corpus.hpp"

// Proxies: of Ana of org-a, one fault each.
namespace zbs::test {
namespace {
using std::chrono::hours;
using std::chrono::minutes;

/// One full proxy below Ana with one thing changed.
template <class Change>
std::function<Holders(TrustWorld&)> proxy_but(Change change) {
    return [change](TrustWorld& w) {
        Form form = proxy_form(w.ana);
        change(form);
        return Holders{make_certificate(form, &w.ana), w.ana};
    };
}

/// What `next` makes of the last proxy becomes the leaf.
Holders below(Holders chain, Form (*next)(const Holder&)) {
    chain.insert(chain.begin(), make_certificate(next(chain.front()), &chain.front()));
    return chain;
}
Form full_form(const Holder& issuer) { return proxy_form(issuer); }
Form bound_form(const Holder& issuer) { return application_form(issuer); }

/// A proxy of a grid user of the CA that org-s1 and org-s2 pinned.
std::function<Holders(TrustWorld&)> below_shared(const std::string& name, Form (*next)(const Holder&)) {
    return [name, next](TrustWorld& w) {
        return below({make_certificate({.subject = "/O=shared/CN=" + name}, &w.ca_shared)}, next);
    };
}

template <class... Next>
std::function<Holders(TrustWorld&)> steps(Next... next) {
    return [next...](TrustWorld& w) {
        Holders chain{w.ana};
        ((chain = below(std::move(chain), next)), ...);
        return chain;
    };
}
std::function<Holders(TrustWorld&)> levels(int count) {
    return [count](TrustWorld& w) {
        Holders chain{w.ana};
        for (int i = 0; i < count; ++i) chain = below(std::move(chain), full_form);
        return chain;
    };
}
std::function<Holders(TrustWorld&)> language(const std::string& oid, std::optional<std::string> policy = {}) {
    return proxy_but([=](Form& f) { f.proxy = ProxyForm{.language = oid, .policy = policy}; });
}
template <class Change>
std::function<Holders(TrustWorld&)> application_but(Change change) {
    return [change](TrustWorld& w) {
        Form form = application_form(w.ana);
        change(form);
        return Holders{make_certificate(form, &w.ana), w.ana};
    };
}

std::vector<ChainCase> shape_cases() {
    const std::string ana = "spiffe://org-a/user/ana by proxy";
    return {
        {"ProxyOfDepthOne", ana, levels(1)},
        {"ProxyOfDepthTwo", ana, levels(2)},
        {"ProxyOfDepthFive", ana, levels(5)},
        {"ProxyOfDepthSix", "the chain has 6 proxies; at most 5", levels(6)},
        {"ProxyOf50Levels", "more than 8 certificates", levels(50)},
        {"ProxyWithOtherSubject", "its subject is not its issuer's subject and one common name",
         proxy_but([](Form& f) { f.subject = "/O=org-a/OU=user/CN=bea/CN=4711"; })},
        {"ProxyWithTwoMoreNames", "its subject is not its issuer's subject and one common name",
         proxy_but([](Form& f) { f.subject += "/CN=5"; })},
        {"ProxyWithTheSubjectOfItsIssuer", "its subject is not its issuer's subject and one common name",
         [](TrustWorld& w) {
             Form form = proxy_form(w.ana);
             form.subject = "/O=org-a/OU=user/CN=ana";
             return Holders{make_certificate(form, &w.ana), w.ana};
         }},
        {"ProxyWithAnOrganisationInsteadOfACommonName", "its subject is not its issuer's subject and one common name",
         proxy_but([](Form& f) { f.subject = "/O=org-a/OU=user/CN=ana/OU=4711"; })},
        {"ProxyWithTwoNamesInOnePart", "its subject is not its issuer's subject and one common name",
         proxy_but([](Form& f) { f.subject = "/O=org-a/OU=user/CN=ana/+CN=4711"; })},
        {"ProxyOfAnotherIssuerName", "its issuer is not the next certificate",
         proxy_but([](Form& f) { f.issuer = "/O=org-a/OU=user/CN=bea"; })},
        {"ProxyByAnotherKey", "its signature is not by the key of its issuer",
         [](TrustWorld& w) {
             const Holder thief{w.ana.certificate, make_test_key("P-256")};
             return Holders{make_certificate(proxy_form(w.ana), &thief), w.ana};
         }},
        {"ProxyWithAlternativeName", "it has an alternative name",
         proxy_but([](Form& f) { f.names = {"URI:spiffe://org-a/user/bea"}; })},
        {"ProxyWithIssuerAlternativeName", "it has an alternative name", proxy_but([](Form& f) {
             f.more = {{NID_issuer_alt_name, "URI:spiffe://org-a/user/bea"}};
         })},
        {"ProxyWithoutItsExtension",
         "CN=ana,OU=user,O=org-a', which vouches for 'CN=4711,CN=ana,OU=user,O=org-a', is refused: invalid CA "
         "certificate",
         proxy_but([](Form& f) { f.proxy.reset(); })},
        {"LegacyProxy", "a legacy Globus proxy; make one after RFC 3820 with 'grid-proxy-init -rfc'",
         [](TrustWorld& w) {
             Form form = proxy_form(w.ana, "proxy");
             form.proxy.reset();
             return Holders{make_certificate(form, &w.ana), w.ana};
         }},
        {"LegacyLimitedProxy", "a legacy Globus proxy",
         [](TrustWorld& w) {
             Form form = proxy_form(w.ana, "limited proxy");
             form.proxy.reset();
             return Holders{make_certificate(form, &w.ana), w.ana};
         }},
        {"ProxyWithExtensionThatIsNotCritical", "its proxyCertInfo extension is not critical",
         proxy_but([](Form& f) { f.proxy->critical = false; })},
        {"SecondProxyNotCritical", "its proxyCertInfo extension is not critical",
         [](TrustWorld& w) {
             Form form = proxy_form(w.ana);
             form.proxy->critical = false;
             const Holder lax = make_certificate(form, &w.ana);
             return Holders{make_certificate(proxy_form(lax), &lax), lax, w.ana};
         }},
        {"ProxyWithTwoExtensions", "it has several proxyCertInfo extensions",
         proxy_but([](Form& f) { f.second_proxy = ProxyForm{}; })},
        {"ProxyThatIsACa", "it claims to be a CA", proxy_but([](Form& f) {
             f.basic = "critical,CA:TRUE";
             f.usage = "critical,digitalSignature,keyCertSign";
         })},
        {"ProxyThatMaySignCertificates", "its key usage allows signing of certificates",
         proxy_but([](Form& f) { f.usage = "critical,digitalSignature,keyCertSign"; })},
        {"ProxyThatMayNotSign", "its key usage lacks digitalSignature",
         proxy_but([](Form& f) { f.usage = "critical,keyEncipherment"; })},
        {"ProxyWithRsa1024", "an RSA key of 1024 bits is too weak", proxy_but([](Form& f) { f.key = "RSA1024"; })},
        {"ProxyWithSha1", "digest that is too weak", proxy_but([](Form& f) { f.digest = "SHA1"; })},
        {"ProxyWithUnknownCriticalExtension", "unhandled critical extension",
         proxy_but([](Form& f) { f.unknown_critical = true; })},
        {"PathLengthZeroAndOneMore", "more proxies follow it than its path length of 0",
         [](TrustWorld& w) {
             Form form = proxy_form(w.ana);
             form.proxy->path_length = 0;
             const Holder last = make_certificate(form, &w.ana);
             return Holders{make_certificate(proxy_form(last), &last), last, w.ana};
         }},
        {"PathLengthOneAndOneMore", ana,
         [](TrustWorld& w) {
             Form form = proxy_form(w.ana);
             form.proxy->path_length = 1;
             const Holder last = make_certificate(form, &w.ana);
             return Holders{make_certificate(proxy_form(last), &last), last, w.ana};
         }},
        {"PathLengthBelowZero", "its path length is no count", proxy_but([](Form& f) { f.proxy->path_length = -1; })},
    };
}

std::vector<ChainCase> time_cases() {
    return {
        {"ProxyOfTenYears", "it lasts longer than the 24 h",
         [](TrustWorld& w) {
             Form owner = user_form("org-a", "ana");
             owner.not_after = kToday + hours{24 * 2900};
             const Holder ana = make_certificate(owner, &w.ca_a);
             Form form = proxy_form(ana);
             form.not_after = kToday + hours{24 * 2800};
             return Holders{make_certificate(form, &ana), ana};
         }},
        {"ProxyOf24Hours", "spiffe://org-a/user/ana by proxy",
         proxy_but([](Form& f) { f.not_after = kToday + hours{24}; })},
        {"ProxyOf24HoursAndASecond", "it lasts longer than the 24 h",
         proxy_but([](Form& f) { f.not_after = kToday + hours{24} + std::chrono::seconds{1}; })},
        {"ProxyThatEndsBeforeItBegins", "it is valid at no time",
         proxy_but([](Form& f) { f.not_after = f.not_before; })},
        {"ProxyExpired", "it expired at 2026-06-01 11:00 UTC", proxy_but([](Form& f) {
             f.not_before = kToday - hours{2};
             f.not_after = kToday - hours{1};
         })},
        {"ProxyNotYetValid", "it is valid only from 2026-06-01 13:00 UTC",
         proxy_but([](Form& f) { f.not_before = kToday + hours{1}; })},
        {"ProxyBeyondItsIssuer", "it is valid outside the time of its issuer",
         [](TrustWorld& w) {
             Form form = proxy_form(w.ana);
             form.not_after = kToday + hours{1};
             const Holder first = make_certificate(form, &w.ana);
             return Holders{make_certificate(proxy_form(first), &first), first, w.ana};
         }},
        {"ProxyBeforeItsIssuer", "it is valid outside the time of its issuer",
         [](TrustWorld& w) {
             Form form = proxy_form(w.ana);
             const Holder first = make_certificate(form, &w.ana);
             form = proxy_form(first);
             form.not_before = kToday - hours{1};
             return Holders{make_certificate(form, &first), first, w.ana};
         }},
        {"ProxyOutlivesItsUser", "it is valid outside the time of its issuer",
         [](TrustWorld& w) {
             Form owner = user_form("org-a", "ana");
             owner.not_after = kToday + minutes{1};
             const Holder ana = make_certificate(owner, &w.ca_a);
             return Holders{make_certificate(proxy_form(ana), &ana), ana};
         }},
        {"UserOfTheProxyRevoked", "was revoked by its organisation",
         [](TrustWorld& w) {
             ZBS_EXPECTS(w.trust.set_revocations("org-a", list_pem({.revoked = {w.ana}}, w.ca_a)));
             return Holders{make_certificate(proxy_form(w.ana), &w.ana), w.ana};
         }},
        {"ApplicationProxyOf12HoursAndASecond", "it lasts longer than the 12 h",
         application_but([](Form& f) { f.not_after = kToday + hours{12} + std::chrono::seconds{1}; }),
         Question::kDelegation},
        {"RenewalProxyOfEightDays", "it lasts longer than the 168 h",
         [](TrustWorld& w) {
             Form form = renewal_form(w.ana);
             form.not_after = kToday + hours{24 * 8};
             const Holder renewal = make_certificate(form, &w.ana);
             return Holders{make_certificate(application_form(renewal), &renewal), renewal, w.ana};
         },
         Question::kDelegation},
    };
}

std::vector<ChainCase> right_cases() {
    const std::string limited = "spiffe://org-a/user/ana by limited proxy";
    const std::string granted = "spiffe://org-a/user/ana for 01J9Z3V7Q0ABCDEFGHJKMNPQRS";
    const auto as_delegation = Question::kDelegation;
    return {
        {"LimitedProxy", limited, steps(limited_form)},
        {"LimitedThenFull", limited, steps(limited_form, full_form)},
        {"FullThenLimited", limited, steps(full_form, limited_form)},
        {"LimitedThenTwoFull", limited, steps(limited_form, full_form, full_form)},
        {"IndependentProxy", "it is independent", language("1.3.6.1.5.5.7.21.2")},
        {"FullBelowIndependent", "it is independent",
         [](TrustWorld& w) {
             Form form = proxy_form(w.ana);
             form.proxy->language = "1.3.6.1.5.5.7.21.2";
             const Holder first = make_certificate(form, &w.ana);
             return Holders{make_certificate(proxy_form(first), &first), first, w.ana};
         }},
        {"UnknownPolicyLanguage", "its policy language 1.3.6.1.4.1.99999.1 is not known",
         language("1.3.6.1.4.1.99999.1")},
        {"InheritAllWithAPolicy", "inherits all rights and yet states a policy", language("1.3.6.1.5.5.7.21.1", "x")},
        {"OwnLanguageWithoutPolicy", "its policy '' is not understood", language(openssl::kPolicyLanguage)},
        {"OwnLanguageWithAnotherPolicy", "is not understood", language(openssl::kPolicyLanguage, "application=*")},
        {"OwnLanguageWithTwoPolicies", "is not understood",
         language(openssl::kPolicyLanguage, "application=01J9Z3V7Q0ABCDEFGHJKMNPQRS\nrenew")},
        {"OwnLanguageInLowerCase", "is not understood",
         language(openssl::kPolicyLanguage, "application=01j9z3v7q0abcdefghjkmnpqrs")},
        {"ApplicationProxyAsConnection", "it proves a delegation and opens no connection", steps(bound_form)},
        {"RenewalProxyAsConnection", "is for renewal", steps(renewal_form)},
        {"ProxyOfAZone", "only users act by proxies",
         [](TrustWorld& w) {
             return Holders{make_certificate(proxy_form(w.alpha), &w.alpha), w.alpha};
         }},
        {"ProxyOfAnOperator", "only users act by proxies",
         [](TrustWorld& w) {
             return Holders{make_certificate(proxy_form(w.oscar), &w.oscar), w.oscar};
         }},
        {"ProxyOfAZoneAsServer", "only users act by proxies",
         [](TrustWorld& w) {
             return Holders{make_certificate(proxy_form(w.alpha), &w.alpha), w.alpha};
         },
         Question::kServer},
        {"ProxyOfTheCa", "it was signed by a CA; only users sign proxies",
         [](TrustWorld& w) {
             return Holders{make_certificate(proxy_form(w.ca_a), &w.ca_a), w.ca_a};
         }},
        {"UserBelowAProxy", "invalid CA certificate|proxy",
         [](TrustWorld& w) {
             Form form = proxy_form(w.ana);
             form.key_ids = true;
             const Holder proxy = make_certificate(form, &w.ana);
             return Holders{make_certificate(user_form("org-a", "root"), &proxy), proxy, w.ana};
         }},
        {"SameProxyTwice", "the same certificate twice",
         [](TrustWorld& w) {
             const Holder proxy = make_certificate(proxy_form(w.ana), &w.ana);
             return Holders{make_certificate(proxy_form(proxy), &proxy), proxy, proxy, w.ana};
         }},
        {"ProxiesInACircle", "its issuer is not the next certificate",
         [](TrustWorld& w) {
             const Holder one = make_certificate(proxy_form(w.ana), &w.ana);
             Form form = proxy_form(w.ana);
             form.issuer = form.subject;
             const Holder two = make_certificate(form, &one);
             form = proxy_form(w.ana);
             form.issuer = form.subject;
             return Holders{make_certificate(form, &two, one.key), two, w.ana};
         }},
        {"ProxiesOnly", "without the user's own certificate",
         [](TrustWorld& w) { return Holders{make_certificate(proxy_form(w.ana), &w.ana)}; }},
        {"ProxyInTheWrongOrder", "its issuer is not the next certificate",
         [](TrustWorld& w) {
             const Holder one = make_certificate(proxy_form(w.ana), &w.ana);
             const Holder two = make_certificate(proxy_form(one), &one);
             return Holders{one, two, w.ana};
         }},
        {"ProxyOfAUserOfAForeignCa", "was not issued by a CA that is known here",
         [](TrustWorld& w) {
             const Holder fake = make_member("org-b", "user", "bob", w.ca_a);
             return Holders{make_certificate(proxy_form(fake), &fake), fake};
         }},
        {"GridUserByProxy", "spiffe://org-g/user/gil by proxy",
         [](TrustWorld& w) {
             return Holders{make_certificate(proxy_form(w.gil), &w.gil), w.gil};
         }},

        {"Delegation", granted, steps(bound_form), as_delegation},
        {"DelegationBelowAFullProxy", granted, steps(full_form, bound_form), as_delegation},
        {"DelegationBelowARenewal", granted, steps(renewal_form, bound_form), as_delegation},
        {"GridUserOfASharedCaByProxy", "spiffe://org-s2/user/tom by proxy", below_shared("Tom", full_form)},
        {"GridUserInTwoMapsByProxy", "both have its subject", below_shared("Two", full_form)},
        {"DelegationOfAGridUserOfASharedCa", "spiffe://org-s2/user/tom for 01J9Z3V7Q0ABCDEFGHJKMNPQRS",
         below_shared("Tom", bound_form), Question::kDelegation},
        {"DelegationOfAGridUserInTwoMaps", "both have its subject", below_shared("Two", bound_form),
         Question::kDelegation},
        {"DelegationOfAGridUserInNoMap", "none of the organisations that pinned its CA has a user",
         below_shared("Max", bound_form), Question::kDelegation},
        {"DelegationOfAGridUser", "spiffe://org-g/user/gil for 01J9Z3V7Q0ABCDEFGHJKMNPQRS",
         [](TrustWorld& w) {
             return Holders{make_certificate(application_form(w.gil), &w.gil), w.gil};
         },
         as_delegation},
        {"DelegationBelowALimitedProxy", "it follows a limited proxy", steps(limited_form, bound_form), as_delegation},
        {"DelegationByALimitedProxy", "limited proxy, which may not submit", steps(limited_form), as_delegation},
        {"DelegationByAFullProxy", "is not bound to one application", steps(full_form), as_delegation},
        {"DelegationByTheUserAlone", "is not bound to one application", steps(), as_delegation},
        {"DelegationByARenewal", "is not bound to one application", steps(renewal_form), as_delegation},
        {"DelegationOfADelegation", "it follows a proxy for one application",
         [](TrustWorld& w) {
             Form form = application_form(w.ana);
             form.proxy->path_length = 3;
             const Holder first = make_certificate(form, &w.ana);
             return Holders{make_certificate(application_form(first), &first), first, w.ana};
         },
         as_delegation},
        {"FullProxyBelowARenewal", "signs proxies for applications only", steps(renewal_form, full_form),
         as_delegation},
        {"RenewalBelowARenewal", "may not be renewed from", steps(renewal_form, renewal_form), as_delegation},
        {"RenewalBelowALimitedProxy", "may not be renewed from",
         [](TrustWorld& w) {
             const Holder first = make_certificate(limited_form(w.ana), &w.ana);
             Form form = renewal_form(first);
             form.not_after = kToday + hours{1};
             const Holder second = make_certificate(form, &first);
             return Holders{make_certificate(application_form(second), &second), second, first, w.ana};
         },
         as_delegation},
        {"DelegationOfAZone", "only users act by proxies",
         [](TrustWorld& w) {
             return Holders{make_certificate(application_form(w.alpha), &w.alpha), w.alpha};
         },
         as_delegation},
    };
}

}  // namespace

std::vector<ChainCase> proxy_cases() {
    std::vector<ChainCase> all = shape_cases();
    for (const ChainCase& one : time_cases()) all.push_back(one);
    for (const ChainCase& one : right_cases()) all.push_back(one);
    return all;
}

}  // namespace zbs::test
