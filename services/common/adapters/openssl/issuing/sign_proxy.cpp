#include <algorithm>

#include "services/common/adapters/openssl/common_words.hpp"
#include "services/common/adapters/openssl/issuing/issuing.hpp"
#include "services/common/adapters/openssl/pem.hpp"
#include "services/common/adapters/openssl/signature.hpp"
#include "services/common/adapters/openssl/trust/certificate_view.hpp"
#include "services/common/adapters/openssl/trust/proxy.hpp"
#include "services/common/adapters/openssl/trust/proxy_rules.hpp"
#include "services/common/messages/limits.hpp"

namespace zbs::openssl {
namespace {

Result<void> check_terms(const ProxyTerms& terms) {
    if (terms.renewal && !terms.application.empty())
        return invalid("a renewal proxy is for all of the user's applications; leave the id away");
    if (!terms.renewal && !is_application_id(terms.application))
        return invalid("'" + printable(terms.application) + "' is no application id (26 characters, upper case)");
    const Duration most = terms.renewal ? kMaxRenewalLifetime : kMaxDelegationLifetime;
    if (terms.lifetime <= Duration::zero() || terms.lifetime > most)
        return invalid("a proxy lasts more than 0 and at most " +
                       std::to_string(std::chrono::duration_cast<std::chrono::hours>(most).count()) + " h");
    const int deepest = terms.renewal ? 1 : 0;
    if (terms.path_length < 0 || terms.path_length > deepest)
        return invalid(terms.renewal ? "the path length of a renewal proxy is 0 or 1"
                                     : "the path length of an application's proxy is 0: it signs none");
    return {};
}

/// What must hold of the chain so far, for a proxy under `terms` to follow it and be believed elsewhere.
Result<void> check_issuer(const ProxyChain& issuer, X509* leaf, const ProxyTerms& terms, Time now) {
    if (now >= not_after(leaf))
        return denied(
            "the certificate that shall sign the proxy expired at " + moment_text(not_after(leaf)) +
            "; ask your operator for a code for 'zbs login --code' (before it ends, 'zbs login --renew' does)");
    if (now < not_before(leaf))
        return denied("the certificate that shall sign the proxy is valid only from " + moment_text(not_before(leaf)) +
                      "; compare the clocks");
    if (claims_to_be_ca(leaf)) return denied("a CA signs no proxies; use the user's own certificate");
    const bool allowed =
        issuer.rights == ProxyRights::kAll || (issuer.rights == ProxyRights::kRenewal && !terms.renewal);
    if (!allowed) return denied("a limited proxy, or one for an application, may not delegate");
    if (issuer.proxies >= static_cast<std::size_t>(limits::kMaxProxies))
        return denied("the chain is as deep as is accepted; start from the user's own certificate");
    return {};
}

void add_proxy_info(X509* proxy, const ProxyTerms& terms) {
    const ProxyInfo info(PROXY_CERT_INFO_EXTENSION_new());
    const std::string text = terms.renewal ? kRenewalPolicy : kApplicationPolicy + terms.application;
    ZBS_EXPECTS(info);
    info->pcPathLengthConstraint = ASN1_INTEGER_new();
    ASN1_OBJECT_free(info->proxyPolicy->policyLanguage);
    info->proxyPolicy->policyLanguage = OBJ_txt2obj(kPolicyLanguage, 1);
    info->proxyPolicy->policy = ASN1_OCTET_STRING_new();
    ZBS_EXPECTS(info->pcPathLengthConstraint && info->proxyPolicy->policyLanguage && info->proxyPolicy->policy &&
                ASN1_INTEGER_set(info->pcPathLengthConstraint, terms.path_length) == 1 &&
                ASN1_OCTET_STRING_set(info->proxyPolicy->policy, reinterpret_cast<const unsigned char*>(text.data()),
                                      static_cast<int>(text.size())) == 1 &&
                X509_add1_ext_i2d(proxy, NID_proxyCertInfo, info.get(), /*critical=*/1, 0) == 1);
}

Certificate make_proxy(EVP_PKEY* key, X509* issuer, EVP_PKEY* issuer_key, const ProxyTerms& terms, Time now) {
    Certificate proxy(X509_new());
    X509* const x = proxy.get();
    const Integer serial = make_serial();
    const std::string number = decimal_text(serial.get());
    const Name subject(X509_NAME_dup(X509_get_subject_name(issuer)));
    const Moment begin = make_moment(std::max(now - kClockTolerance, not_before(issuer)));
    const Moment end = make_moment(std::min(now + terms.lifetime, not_after(issuer)));
    ZBS_EXPECTS(x && subject && begin && end &&
                X509_NAME_add_entry_by_txt(subject.get(), "CN", MBSTRING_ASC,
                                           reinterpret_cast<const unsigned char*>(number.data()),
                                           static_cast<int>(number.size()), -1, 0) == 1 &&
                X509_set_version(x, X509_VERSION_3) == 1 && X509_set_serialNumber(x, serial.get()) == 1 &&
                X509_set_subject_name(x, subject.get()) == 1 &&
                X509_set_issuer_name(x, X509_get_subject_name(issuer)) == 1 &&
                X509_set1_notBefore(x, begin.get()) == 1 && X509_set1_notAfter(x, end.get()) == 1 &&
                X509_set_pubkey(x, key) == 1);
    add_extension(x, issuer, NID_key_usage, "critical,digitalSignature");
    add_proxy_info(x, terms);
    ZBS_EXPECTS(X509_sign(x, issuer_key, digest_for(issuer_key)) > 0);
    return proxy;
}

}  // namespace

Result<std::string> sign_proxy(std::string_view issuer_key_pem, std::string_view issuer_chain_pem,
                               std::string_view request_pem, const ProxyTerms& terms, Time now) {
    if (const Result<void> good = check_terms(terms); !good) return good.error();
    const Result<Key> issuer_key = read_key(issuer_key_pem, "the key that shall sign the proxy");
    if (!issuer_key) return issuer_key.error();
    Result<std::vector<Certificate>> chain = read_certificates(issuer_chain_pem, kChainLimits, "the signing chain");
    if (!chain) return chain.error();
    const Result<Key> key = read_request(request_pem, "the request for a proxy");
    if (!key) return key.error();

    X509* const issuer = chain->front().get();
    const EVP_PKEY* issuer_public = X509_get0_pubkey(issuer);
    if (issuer_public == nullptr || EVP_PKEY_eq(issuer_key->get(), issuer_public) != 1) {
        static_cast<void>(last_fault());
        return invalid("the key does not belong to the first certificate of the signing chain");
    }
    if (EVP_PKEY_eq(key->get(), issuer_public) == 1)
        return invalid("the request for a proxy repeats the issuer's own key; a proxy needs a fresh one");
    static_cast<void>(last_fault());
    const Result<ProxyChain> rights = verify_proxy_chain(view(*chain), now);
    if (!rights) return rights.error();
    if (const Result<void> good = check_issuer(*rights, issuer, terms, now); !good) return good.error();
    if (chain->size() >= static_cast<std::size_t>(limits::kMaxChainCertificates))
        return denied("the chain is as long as is accepted; start from the user's own certificate");

    std::vector<Certificate> whole;
    whole.push_back(make_proxy(key->get(), issuer, issuer_key->get(), terms, now));
    for (Certificate& certificate : *chain) whole.push_back(std::move(certificate));
    // What the peers will check, before they do: for example a path length that is used up.
    if (const Result<ProxyChain> result = verify_proxy_chain(view(whole), now); !result) return result.error();
    return write_pem(whole);
}

}  // namespace zbs::openssl
