#include "tests/support/trust_world.hpp"

#include "services/common/adapters/openssl/signature.hpp"
#include "services/common/adapters/openssl/trust/proxy_rules.hpp"

namespace zbs::test {

Holder make_member(const std::string& organisation, const std::string& kind, const std::string& name,
                   const Holder& ca) {
    Form form = user_form(organisation, name);
    form.names = {"URI:spiffe://" + organisation + "/" + kind + "/" + name};
    if (kind == "zone" || kind == "registry") form.extended_usage = "serverAuth,clientAuth";
    return make_certificate(form, &ca);
}

TrustWorld::TrustWorld()
    : ca_a(make_certificate(authority_form("org-a"), nullptr)),
      ca_b(make_certificate(authority_form("org-b"), nullptr)),
      ca_grid(make_certificate(authority_form("grid"), nullptr)),
      ca_shared(make_certificate(authority_form("shared"), nullptr)),
      ca_unknown(make_certificate(authority_form("org-x"), nullptr)),
      ana(make_member("org-a", "user", "ana", ca_a)),
      bob(make_member("org-b", "user", "bob", ca_b)),
      alpha(make_member("org-a", "zone", "alpha", ca_a)),
      oscar(make_member("org-a", "operator", "oscar", ca_a)),
      gil(make_certificate({.subject = "/C=BR/O=grid/CN=Gil"}, &ca_grid)),
      trust([this] { return now; }) {
    ZBS_EXPECTS(trust.pin("org-a", pem_of(ca_a)) && trust.pin("org-b", pem_of(ca_b)) &&
                trust.pin("org-g", pem_of(ca_grid)) && trust.pin("org-s1", pem_of(ca_shared)) &&
                trust.pin("org-s2", pem_of(ca_shared)) &&
                trust.set_subject_map("org-g", {{"CN=Gil,O=grid,C=BR", "gil"}, {"/C=BR/O=grid/CN=Lia", "lia"}}) &&
                trust.set_subject_map("org-s1", {{"CN=Sue,O=shared", "sue"}, {"CN=Two,O=shared", "two"}}) &&
                trust.set_subject_map("org-s2", {{"CN=Tom,O=shared", "tom"}, {"/O=shared/CN=Two", "two"}}));
}

PeerIdentity TrustWorld::identify(const Holders& chain, openssl::Role role) const {
    const openssl::BorrowedStack others(sk_X509_new_null());
    for (std::size_t i = 1; i < chain.size(); ++i)
        ZBS_EXPECTS(sk_X509_push(others.get(), chain[i].certificate.get()) > 0);
    return trust.identify(chain.empty() ? nullptr : chain[0].certificate.get(), others.get(), role);
}

SignedText TrustWorld::proof(const Holders& chain, const std::string& purpose, std::string text) const {
    const Result<std::string> signature = openssl::sign_text(chain.front().key.get(), purpose, text);
    ZBS_EXPECTS(signature);
    return {std::move(text), pem_of(chain), *signature};
}

std::string TrustWorld::verdict(const Holders& chain, openssl::Role role) const {
    const PeerIdentity peer = identify(chain, role);
    if (!peer.refusal().empty()) return "refused: " + peer.refusal();
    const char* way = peer.via_limited_proxy() ? " by limited proxy" : peer.via_proxy() ? " by proxy" : "";
    return to_uri(peer.name()) + way;
}

std::string TrustWorld::delegation_verdict(const Holders& chain) const {
    const Result<DelegationInfo> granted = trust.verify_delegation("zbs-part", proof(chain));
    if (!granted) return "refused: " + granted.error().message;
    return to_uri(granted->user) + " for " + granted->application;
}

Form application_form(const Holder& issuer, const std::string& id) {
    Form form = proxy_form(issuer);
    form.proxy = ProxyForm{.language = openssl::kPolicyLanguage, .policy = "application=" + id, .path_length = 0};
    return form;
}
Form renewal_form(const Holder& issuer) {
    Form form = proxy_form(issuer);
    form.not_after = kToday + std::chrono::hours{24 * 7};
    form.proxy = ProxyForm{.language = openssl::kPolicyLanguage, .policy = "renew", .path_length = 1};
    return form;
}
Form limited_form(const Holder& issuer) {
    Form form = proxy_form(issuer);
    form.proxy = ProxyForm{.language = openssl::kLimitedPolicy};
    return form;
}

}  // namespace zbs::test
