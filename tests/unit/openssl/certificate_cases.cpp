#include <openssl/x509v3.h>

#include "tests/unit/openssl/corpus.hpp"

// Certificates without proxies, one fault each.
namespace zbs::test {
namespace {
using std::chrono::hours;

/// A user's certificate by the CA of org-a with one thing changed.
template <class Change>
std::function<Holders(TrustWorld&)> ana_but(Change change) {
    return [change](TrustWorld& w) {
        Form form = user_form("org-a", "ana");
        change(form);
        return Holders{make_certificate(form, &w.ca_a)};
    };
}
template <class Change>
std::function<Holders(TrustWorld&)> alpha_but(Change change) {
    return [change](TrustWorld& w) {
        Form form = zone_form("org-a", "alpha");
        change(form);
        return Holders{make_certificate(form, &w.ca_a)};
    };
}
std::function<Holders(TrustWorld&)> named(std::vector<std::string> names) {
    return ana_but([names](Form& f) { f.names = names; });
}

/// Ana's certificate by an intermediate CA below org-a's, that CA with one thing changed.
template <class Change>
std::function<Holders(TrustWorld&)> below_intermediate(Change change) {
    return [change](TrustWorld& w) {
        Form form = authority_form("org-a");
        form.subject = "/O=org-a/CN=inner CA";
        form.not_before = kToday - hours{48};
        change(form);
        const Holder inner = make_certificate(form, &w.ca_a);
        return Holders{make_certificate(user_form("org-a", "ana"), &inner), inner};
    };
}

/// `count` intermediates between the CA and the user.
Holders deep_chain(TrustWorld& w, int count) {
    Holders chain{w.ca_a};
    for (int i = 0; i < count; ++i) {
        Form form = authority_form("org-a");
        form.subject = "/O=org-a/CN=inner CA " + std::to_string(i);
        chain.insert(chain.begin(), make_certificate(form, &chain.front()));
    }
    chain.insert(chain.begin(), make_certificate(user_form("org-a", "ana"), &chain.front()));
    chain.pop_back();
    return chain;
}

Holders crossed(TrustWorld&) {
    Form one = authority_form("org-a");
    one.subject = "/O=org-a/CN=one";
    Form two = authority_form("org-a");
    two.subject = "/O=org-a/CN=two";
    const Holder first = make_certificate(one, nullptr);
    const Holder second = make_certificate(two, &first);
    one.issuer = two.subject;
    const Holder first_by_second = make_certificate(one, &second, first.key);
    return {make_certificate(user_form("org-a", "ana"), &second), second, first_by_second};
}

/// A grid user of the CA that org-s1 and org-s2 pinned.
std::function<Holders(TrustWorld&)> shared_user(const std::string& subject) {
    return [subject](TrustWorld& w) { return Holders{make_certificate({.subject = subject}, &w.ca_shared)}; };
}

}  // namespace

std::vector<ChainCase> certificate_cases() {
    const std::string ana = "spiffe://org-a/user/ana";
    const std::string alpha = "spiffe://org-a/zone/alpha";
    const auto none = [](Form&) {};
    return {
        {"User", ana, ana_but(none)},
        {"Zone", alpha, alpha_but(none)},
        {"ZoneAsServer", alpha, alpha_but(none), Question::kServer},
        {"Operator", "spiffe://org-a/operator/oscar", [](TrustWorld& w) { return Holders{w.oscar}; }},
        {"Registry", "spiffe://org-a/registry/r",
         [](TrustWorld& w) { return Holders{make_member("org-a", "registry", "r", w.ca_a)}; }},
        {"RegistryAsServer", "spiffe://org-a/registry/r",
         [](TrustWorld& w) { return Holders{make_member("org-a", "registry", "r", w.ca_a)}; }, Question::kServer},
        {"RsaUser", ana, ana_but([](Form& f) { f.key = "RSA2048"; })},
        {"Ed25519User", ana, ana_but([](Form& f) { f.key = "ED25519"; })},
        {"OtherOrganisationByItsOwnCa", "spiffe://org-b/user/bob", [](TrustWorld& w) { return Holders{w.bob}; }},
        {"BelowIntermediateCa", ana, below_intermediate(none)},
        {"LongestChain", ana, [](TrustWorld& w) { return deep_chain(w, 7); }},
        {"DnsNameBesideTheUri", alpha, alpha_but([](Form& f) { f.names.push_back("DNS:alpha.example"); })},
        {"LeafSentTwiceInFront", ana,
         [](TrustWorld& w) {
             return Holders{w.ana, w.ana};
         }},

        {"NoCertificate", "anonymous", [](TrustWorld&) { return Holders{}; }},
        {"OtherOrganisationByForeignCa", "refused: certificate of spiffe://org-b/user/bob was not issued by a CA",
         [](TrustWorld& w) { return Holders{make_member("org-b", "user", "bob", w.ca_a)}; }},
        {"ZoneOfOtherOrganisationByForeignCa",
         "refused: certificate of spiffe://org-b/zone/beta was not issued by a CA",
         [](TrustWorld& w) { return Holders{make_member("org-b", "zone", "beta", w.ca_a)}; }, Question::kServer},
        {"UnknownOrganisation", "refused: organisation 'org-x' is not known here",
         [](TrustWorld& w) { return Holders{make_member("org-x", "user", "eve", w.ca_unknown)}; }},
        {"UnknownCaWithKnownName", "refused: certificate of spiffe://org-a/user/ana was not issued by a CA",
         [](TrustWorld& w) {
             return Holders{make_member("org-a", "user", "ana", w.ca_unknown), w.ca_unknown};
         }},
        {"CaOfTheSameNameWithAnotherKey", "refused: certificate of spiffe://org-a/user/ana was not issued by a CA",
         [](TrustWorld&) {
             const Holder fake = make_certificate(authority_form("org-a"), nullptr);
             return Holders{make_member("org-a", "user", "ana", fake), fake};
         }},
        {"SelfSigned", "refused: certificate of spiffe://org-a/user/ana was not issued by a CA",
         [](TrustWorld&) { return Holders{make_certificate(user_form("org-a", "ana"), nullptr)}; }},
        {"Expired",
         "refused: certificate of spiffe://org-a/user/ana expired on 2026-05-31; ask your operator for a code for 'zbs "
         "login --code' (before it ends, 'zbs login --renew' does); it was valid from 2026-05-31 12:00 UTC to "
         "2026-05-31 "
         "12:00 UTC, and the clock here shows 2026-06-01 12:00 UTC",
         ana_but([](Form& f) { f.not_after = kToday - hours{24}; })},
        {"ExpiredZone", "expired on 2026-05-31; its organisation must renew it",
         alpha_but([](Form& f) { f.not_after = kToday - hours{24}; }), Question::kServer},
        {"ExpiredOperator", "expired on 2026-05-31; where the organisation's CA key is, 'zbs-zone operator'",
         [](TrustWorld& w) {
             Form form = user_form("org-a", "op");
             form.names = {"URI:spiffe://org-a/operator/op"};
             form.not_after = kToday - hours{24};
             return Holders{make_certificate(form, &w.ca_a)};
         }},
        {"EndsThisSecond", "refused: certificate of spiffe://org-a/user/ana expired",
         ana_but([](Form& f) { f.not_after = kToday - std::chrono::seconds{1}; })},
        {"NotYetValid",
         "refused: certificate of spiffe://org-a/user/ana is valid only from 2026-06-02 12:00 UTC to 2026-08-30 12:00 "
         "UTC; the clock here shows 2026-06-01 12:00 UTC, 86400 s earlier; compare the clocks",
         ana_but([](Form& f) { f.not_before = kToday + hours{24}; })},
        {"Revoked", "was revoked by its organisation",
         [](TrustWorld& w) {
             ZBS_EXPECTS(w.trust.set_revocations("org-a", list_pem({.revoked = {w.ana}}, w.ca_a)));
             return Holders{w.ana};
         }},
        {"RevokedByAListThatHasExpired", "was revoked by its organisation",
         [](TrustWorld& w) {
             ZBS_EXPECTS(w.trust.set_revocations(
                 "org-a", list_pem({.revoked = {w.ana}, .made = kToday - hours{24 * 30}}, w.ca_a)));
             return Holders{w.ana};
         }},
        {"IntermediateCaRevoked", "which vouches for spiffe://org-a/user/ana, was revoked",
         [](TrustWorld& w) {
             Holders chain = deep_chain(w, 1);
             ZBS_EXPECTS(w.trust.set_revocations("org-a", list_pem({.revoked = {chain[1]}}, w.ca_a)));
             return chain;
         }},

        {"SeveralUris", "refused: certificate 'CN=ana,OU=user,O=org-a' is refused: it names several URIs",
         named({"URI:spiffe://org-a/user/ana", "URI:spiffe://org-a/user/bea"})},
        {"SecondUriOfAnotherScheme", "it names several URIs", named({"URI:spiffe://org-a/user/ana", "URI:https://x/"})},
        {"NoAlternativeName", "organisation 'org-a' has no user with this subject", named({})},
        {"DnsNameOnly", "organisation 'org-a' has no user with this subject", named({"DNS:ana.example"})},
        {"TwoAlternativeNameExtensions", "it has several extensions of alternative names", ana_but([](Form& f) {
             f.more = {{NID_subject_alt_name, "URI:spiffe://org-a/user/bea"}};
         })},
        {"UnknownKind", "is none of ours", named({"URI:spiffe://org-a/root/ana"})},
        {"NoName", "is none of ours", named({"URI:spiffe://org-a/user/"})},
        {"NameWithSlash", "is none of ours", named({"URI:spiffe://org-a/user/ana/admin"})},
        {"NameInCapitals", "is none of ours", named({"URI:spiffe://org-a/user/Ana"})},
        {"NameWithDots", "is none of ours", named({"URI:spiffe://org-a/user/.."})},
        {"NameOf65Characters", "is none of ours", named({"URI:spiffe://org-a/user/" + std::string(65, 'a')})},
        {"NameWithPercent", "is none of ours", named({"URI:spiffe://org-a/user/an%61"})},
        {"NameWithQuery", "is none of ours", named({"URI:spiffe://org-a/user/ana?x"})},
        {"OtherScheme", "is none of ours", named({"URI:https://org-a/user/ana"})},
        {"EscapeCodeInTheName", "the name 'spiffe://org-a/user/?[31m' in", named({"URI:spiffe://org-a/user/\x1b[31m"})},

        {"CaAsUser", "its key usage allows signing", ana_but([](Form& f) {
             f.basic = "critical,CA:TRUE";
             f.usage = "critical,digitalSignature,keyCertSign";
         })},
        {"CaWithoutUsageToSign", "it is the certificate of a CA",
         ana_but([](Form& f) { f.basic = "critical,CA:TRUE"; })},
        {"CaItself", "its key usage allows signing",
         [](TrustWorld& w) {
             Form form = authority_form("org-a");
             form.names = {"URI:spiffe://org-a/user/ana"};
             return Holders{make_certificate(form, &w.ca_a)};
         }},
        {"UsageToSignCertificates", "its key usage allows signing of certificates",
         ana_but([](Form& f) { f.usage = "critical,digitalSignature,keyCertSign"; })},
        {"UsageWithoutSignature", "its key usage lacks digitalSignature",
         ana_but([](Form& f) { f.usage = "critical,keyEncipherment"; })},
        {"NoUsage", "its key usage lacks digitalSignature", ana_but([](Form& f) { f.usage = ""; })},
        {"NoExtendedUsage", "it has no extended key usage", ana_but([](Form& f) { f.extended_usage = ""; })},
        {"UserForServersOnly", "it is not made for TLS clients",
         ana_but([](Form& f) { f.extended_usage = "serverAuth"; })},
        {"UserForMailOnly", "it is not made for TLS clients",
         ana_but([](Form& f) { f.extended_usage = "emailProtection"; })},
        {"ZoneForClientsOnly", "it is not made for TLS servers",
         alpha_but([](Form& f) { f.extended_usage = "clientAuth"; }), Question::kServer},
        {"ZoneForServersOnly", "it is not made for TLS clients",
         alpha_but([](Form& f) { f.extended_usage = "serverAuth"; })},
        {"UserAsServer", "it is no zone, registry or node agent", [](TrustWorld& w) { return Holders{w.ana}; },
         Question::kServer},
        {"OperatorAsServer", "it is no zone, registry or node agent", [](TrustWorld& w) { return Holders{w.oscar}; },
         Question::kServer},
        {"UnknownCriticalExtension", "unhandled critical extension",
         ana_but([](Form& f) { f.unknown_critical = true; })},
        {"VersionOne", "it is no version 3 certificate", ana_but([](Form& f) { f.version = 0; })},

        {"Sha1", "CA signature digest algorithm too weak", ana_but([](Form& f) { f.digest = "SHA1"; })},
        {"Md5", "CA signature digest algorithm too weak",
         [](TrustWorld& w) {
             Form form = authority_form("org-a");
             form.subject = "/O=org-a/CN=inner CA";
             form.key = "RSA2048";
             const Holder inner = make_certificate(form, &w.ca_a);
             form = user_form("org-a", "ana");
             form.digest = "MD5";
             return Holders{make_certificate(form, &inner), inner};
         }},
        {"Rsa1024", "an RSA key of 1024 bits is too weak", ana_but([](Form& f) { f.key = "RSA1024"; })},
        {"CurveSecp256k1", "the curve secp256k1 is not accepted", ana_but([](Form& f) { f.key = "secp256k1"; })},
        {"CurveP192", "the curve prime192v1 is not accepted", ana_but([](Form& f) { f.key = "prime192v1"; })},
        {"IntermediateCaWithRsa1024", "an RSA key of 1024 bits is too weak",
         below_intermediate([](Form& f) { f.key = "RSA1024"; })},
        {"IntermediateIsNoCa", "which vouches for spiffe://org-a/user/ana, is refused: invalid CA certificate",
         below_intermediate([](Form& f) { f.basic = "critical,CA:FALSE"; })},
        {"IntermediateWithoutBasicConstraints",
         "which vouches for spiffe://org-a/user/ana, is refused: invalid CA certificate",
         below_intermediate([](Form& f) { f.basic = ""; })},
        {"IntermediateMayNotSign", "which vouches for spiffe://org-a/user/ana, is refused: invalid CA certificate",
         below_intermediate([](Form& f) { f.usage = "critical,cRLSign"; })},
        {"IntermediateExpired",
         "CN=inner CA,O=org-a', which vouches for spiffe://org-a/user/ana, expired on 2026-05-31",
         below_intermediate([](Form& f) { f.not_after = kToday - hours{24}; })},
        {"IntermediatePathLengthUsedUp", "path length constraint exceeded",
         [](TrustWorld& w) {
             Form outer = authority_form("org-a");
             outer.subject = "/O=org-a/CN=outer CA";
             outer.basic = "critical,CA:TRUE,pathlen:0";
             const Holder first = make_certificate(outer, &w.ca_a);
             outer.subject = "/O=org-a/CN=inner CA";
             const Holder second = make_certificate(outer, &first);
             return Holders{make_certificate(user_form("org-a", "ana"), &second), second, first};
         }},
        {"NameConstraintsOfAnotherOrganisation", "permitted subtree violation", below_intermediate([](Form& f) {
             f.more = {{NID_name_constraints, "critical,permitted;URI:org-b"}};
         })},
        {"IntermediateMissing", "was not issued by a CA that is known here",
         [](TrustWorld& w) { return Holders{deep_chain(w, 1).front()}; }},
        {"NineCertificates", "more than 8 certificates", [](TrustWorld& w) { return deep_chain(w, 8); }},
        {"CasSignedInACircle", "was not issued by a CA that is known here", crossed},
        {"SameCertificateTwice", "the same certificate twice",
         [](TrustWorld& w) {
             return Holders{w.ana, w.ca_a, w.ca_a};
         }},
        {"UserSignedByUser", "which vouches for spiffe://org-a/user/root, is refused: invalid CA certificate",
         [](TrustWorld& w) {
             return Holders{make_certificate(user_form("org-a", "root"), &w.ana), w.ana};
         }},

        {"GridUser", "spiffe://org-g/user/gil", [](TrustWorld& w) { return Holders{w.gil}; }},
        {"GridUserByOpenSslLine", "spiffe://org-g/user/lia",
         [](TrustWorld& w) { return Holders{make_certificate({.subject = "/C=BR/O=grid/CN=Lia"}, &w.ca_grid)}; }},
        {"GridUserWithSlashThatLooksLikeLia", "organisation 'org-g' has no user with this subject",
         [](TrustWorld& w) { return Holders{make_certificate({.subject = "/C=BR/O=grid|CN=Lia"}, &w.ca_grid)}; }},
        {"GridUserNotInTheMap", "'CN=Max,O=grid,C=BR' is refused: organisation 'org-g' has no user with this subject",
         [](TrustWorld& w) { return Holders{make_certificate({.subject = "/C=BR/O=grid/CN=Max"}, &w.ca_grid)}; }},
        {"GridUserOfASharedCaInTheFirstMap", "spiffe://org-s1/user/sue", shared_user("/O=shared/CN=Sue")},
        {"GridUserOfASharedCaInTheSecondMap", "spiffe://org-s2/user/tom", shared_user("/O=shared/CN=Tom")},
        {"GridUserOfASharedCaInBothMaps", "the subject maps of 'org-s1' and 'org-s2' both have its subject",
         shared_user("/O=shared/CN=Two")},
        {"GridUserOfASharedCaInNoMap", "none of the organisations that pinned its CA has a user with this subject",
         shared_user("/O=shared/CN=Max")},
        {"GridUserOfASharedCaInTheMapOfAnotherCa", "none of the organisations that pinned its CA has a user",
         shared_user("/C=BR/O=grid/CN=Gil")},
        {"GridUserOfASharedCaRevokedByHerOrganisation", "was revoked by its organisation",
         [](TrustWorld& w) {
             const Holder sue = make_certificate({.subject = "/O=shared/CN=Sue"}, &w.ca_shared);
             ZBS_EXPECTS(w.trust.set_revocations("org-s1", list_pem({.revoked = {sue}}, w.ca_shared)));
             return Holders{sue};
         }},
        {"NamedUserOfASharedCa", "spiffe://org-s1/user/sue",
         [](TrustWorld& w) { return Holders{make_member("org-s1", "user", "sue", w.ca_shared)}; }},
        {"GridUserOfAnUnknownCa", "no CA that is known here issued it",
         [](TrustWorld& w) { return Holders{make_certificate({.subject = "/C=BR/O=grid/CN=Gil"}, &w.ca_unknown)}; }},
        {"GridUserAsServer", "it has no URI alternative name", [](TrustWorld& w) { return Holders{w.gil}; },
         Question::kServer},
        {"GridUserExpired", "certificate of 'CN=Gil,O=grid,C=BR' expired on 2026-05-31",
         [](TrustWorld& w) {
             return Holders{
                 make_certificate({.subject = "/C=BR/O=grid/CN=Gil", .not_after = kToday - hours{24}}, &w.ca_grid)};
         }},
        {"GridUserRevoked", "was revoked by its organisation",
         [](TrustWorld& w) {
             ZBS_EXPECTS(w.trust.set_revocations("org-g", list_pem({.revoked = {w.gil}}, w.ca_grid)));
             return Holders{w.gil};
         }},
    };
}

}  // namespace zbs::test
