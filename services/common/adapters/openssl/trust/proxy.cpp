#include "services/common/adapters/openssl/trust/proxy.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "algorithms/base/ids.hpp"
#include "services/common/adapters/openssl/common_words.hpp"
#include "services/common/adapters/openssl/pem.hpp"
#include "services/common/adapters/openssl/trust/certificate_view.hpp"
#include "services/common/adapters/openssl/trust/proxy_rules.hpp"
#include "services/common/messages/limits.hpp"

namespace zbs::openssl {
namespace {

/// What one proxy's own extension says.
struct Policy {
    enum class Kind { kAll, kLimited, kApplication, kRenewal } kind = Kind::kAll;
    std::string application;
    std::optional<long> path_length;
};

Result<Policy> read_own_policy(std::string_view text) {
    if (text == kRenewalPolicy) return Policy{Policy::Kind::kRenewal, {}, {}};
    if (text.starts_with(kApplicationPolicy)) {
        const std::string_view id = text.substr(std::string_view(kApplicationPolicy).size());
        if (is_application_id(id)) return Policy{Policy::Kind::kApplication, std::string(id), {}};
    }
    return denied("its policy '" + printable(text) + "' is not understood");
}

Result<Policy> read_policy(const X509* proxy) {
    int critical = -1;
    const ProxyInfo info(
        static_cast<PROXY_CERT_INFO_EXTENSION*>(X509_get_ext_d2i(proxy, NID_proxyCertInfo, &critical, nullptr)));
    if (!info) {
        static_cast<void>(last_fault());
        return denied(critical == -2 ? "it has several proxyCertInfo extensions" : "its proxyCertInfo is damaged");
    }
    if (critical != 1) return denied("its proxyCertInfo extension is not critical");
    if (info->proxyPolicy == nullptr || info->proxyPolicy->policyLanguage == nullptr)
        return denied("its proxyCertInfo has no policy");

    const std::string language = object_text(info->proxyPolicy->policyLanguage);
    const ASN1_OCTET_STRING* octets = info->proxyPolicy->policy;
    const std::string_view text = octets ? content_of(octets) : std::string_view{};
    Policy policy;
    if (language == kPolicyLanguage) {
        Result<Policy> own = read_own_policy(text);
        if (!own) return own;
        policy = *std::move(own);
    } else if (language == kLimitedPolicy) {
        policy.kind = Policy::Kind::kLimited;
    } else if (language == "1.3.6.1.5.5.7.21.1") {  // inherit all [RFC 3820, section 3.8.2]
        if (octets) return denied("it inherits all rights and yet states a policy");
    } else if (language == "1.3.6.1.5.5.7.21.2") {  // independent
        return denied("it is independent: it carries no right of its user; make it without '-independent'");
    } else {
        return denied("its policy language " + printable(language) + " is not known here");
    }

    if (const ASN1_INTEGER* length = info->pcPathLengthConstraint) {
        std::int64_t value = -1;
        if (ASN1_INTEGER_get_int64(&value, length) != 1 || value < 0) {
            static_cast<void>(last_fault());
            return denied("its path length is no count");
        }
        policy.path_length = static_cast<long>(std::min<std::int64_t>(value, limits::kMaxProxies));
    }
    return policy;
}

/// True where `longer` is `base` and one more RDN that is a single common name.
bool is_one_name_below(const X509_NAME* longer, const X509_NAME* base) {
    const int count = X509_NAME_entry_count(longer);
    if (count < 2 || count != X509_NAME_entry_count(base) + 1) return false;
    const X509_NAME_ENTRY* last = X509_NAME_get_entry(longer, count - 1);
    const X509_NAME_ENTRY* previous = X509_NAME_get_entry(longer, count - 2);
    if (OBJ_obj2nid(X509_NAME_ENTRY_get_object(last)) != NID_commonName) return false;
    if (X509_NAME_ENTRY_set(last) == X509_NAME_ENTRY_set(previous)) return false;
    const Name cut(X509_NAME_dup(longer));
    if (!cut) return false;
    X509_NAME_ENTRY_free(X509_NAME_delete_entry(cut.get(), count - 1));
    return X509_NAME_cmp(cut.get(), base) == 0;
}

bool looks_like_legacy_proxy(const X509* certificate) {
    const X509_NAME* subject = X509_get_subject_name(certificate);
    const int count = X509_NAME_entry_count(subject);
    if (count < 2 || !is_one_name_below(subject, X509_get_issuer_name(certificate))) return false;
    const std::string_view name = content_of(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, count - 1)));
    return name == "proxy" || name == "limited proxy";
}

Duration longest(Policy::Kind kind) {
    switch (kind) {
        case Policy::Kind::kApplication:
            return kMaxDelegationLifetime;
        case Policy::Kind::kRenewal:
            return kMaxRenewalLifetime;
        case Policy::Kind::kAll:
        case Policy::Kind::kLimited:
            break;
    }
    return kMaxGridProxyLifetime;
}

/// The fault in how `proxy` (with `below` proxies in front of it) follows from `issuer`.
std::optional<std::string> find_fault(X509* proxy, X509* issuer, const Policy& policy, long below) {
    if (X509_get_version(proxy) != X509_VERSION_3) return "it is no version 3 certificate";
    if (X509_NAME_cmp(X509_get_issuer_name(proxy), X509_get_subject_name(issuer)) != 0)
        return "its issuer is not the next certificate of the chain";
    if (!is_one_name_below(X509_get_subject_name(proxy), X509_get_subject_name(issuer)))
        return "its subject is not its issuer's subject and one common name";
    if (has_extension(proxy, NID_subject_alt_name) || has_extension(proxy, NID_issuer_alt_name))
        return "it has an alternative name, which no proxy may have";
    const std::uint32_t usage = X509_get_key_usage(proxy);  // all bits where it is not stated
    const bool states_usage = has_extension(proxy, NID_key_usage);
    if (states_usage && (usage & KU_KEY_CERT_SIGN)) return "its key usage allows signing of certificates";
    if (claims_to_be_ca(proxy)) return "it claims to be a CA";
    if (X509_get_extension_flags(proxy) & EXFLAG_INVALID) return "its extensions are damaged or contradict each other";
    if (!(usage & KU_DIGITAL_SIGNATURE)) return "its key usage lacks digitalSignature";
    if (claims_to_be_ca(issuer)) return "it was signed by a CA; only users sign proxies";
    if (!(X509_get_key_usage(issuer) & KU_DIGITAL_SIGNATURE)) return "its issuer may not sign: no digitalSignature";
    if (policy.path_length && below > *policy.path_length)
        return "more proxies follow it than its path length of " + std::to_string(*policy.path_length) + " allows";

    const Time begin = not_before(proxy);
    const Time end = not_after(proxy);
    if (begin >= end) return "it is valid at no time";
    const Duration most = longest(policy.kind);
    if (begin < Time{} || end - begin > most + kClockTolerance)
        return "it lasts longer than the " +
               std::to_string(std::chrono::duration_cast<std::chrono::hours>(most).count()) + " h that are accepted";
    if (end > not_after(issuer) || begin < not_before(issuer) - kClockTolerance)
        return "it is valid outside the time of its issuer";

    EVP_PKEY* key = X509_get0_pubkey(issuer);
    if (const auto weakness = find_weakness(X509_get0_pubkey(proxy))) return weakness;
    if (const auto weakness = find_weakness(key)) return "its issuer: " + *weakness;
    int bits = 0;
    if (X509_get_signature_info(proxy, nullptr, nullptr, &bits, nullptr) != 1 || bits < 112)
        return "its signature is made with a digest that is too weak; use SHA-256";
    if (X509_verify(proxy, key) != 1) return "its signature is not by the key of its issuer";
    return std::nullopt;
}

/// Rights of a chain that goes on with `next` after `rights`; rights only shrink.
Result<ProxyRights> narrowed(ProxyRights rights, const Policy& next) {
    if (rights == ProxyRights::kApplication) return denied("it follows a proxy for one application, which signs none");
    switch (next.kind) {
        case Policy::Kind::kAll:
        case Policy::Kind::kLimited:
            if (rights == ProxyRights::kRenewal)
                return denied("it follows a renewal proxy, which signs proxies for applications only");
            return next.kind == Policy::Kind::kLimited ? ProxyRights::kLimited : rights;
        case Policy::Kind::kApplication:
            if (rights == ProxyRights::kLimited) return denied("it follows a limited proxy, which may not submit");
            return ProxyRights::kApplication;
        case Policy::Kind::kRenewal:
            if (rights != ProxyRights::kAll) return denied("it follows a proxy that may not be renewed from");
            return ProxyRights::kRenewal;
    }
    return denied("its policy is not understood");
}

}  // namespace

bool is_proxy(const X509* certificate) { return has_extension(certificate, NID_proxyCertInfo); }

std::size_t count_proxies(ChainView chain) {
    return static_cast<std::size_t>(std::find_if_not(chain.begin(), chain.end(), is_proxy) - chain.begin());
}

bool is_application_id(std::string_view text) {
    const std::optional<Id128> id = parse_id128(text);
    return id && to_string(*id) == text;
}

std::string object_text(const ASN1_OBJECT* object) {
    std::array<char, 128> text{};
    const int size = OBJ_obj2txt(text.data(), static_cast<int>(text.size()), object, 1);
    return size > 0 && static_cast<std::size_t>(size) < text.size() ? std::string(text.data()) : "(too long)";
}

Result<ProxyChain> verify_proxy_chain(ChainView chain, Time now) {
    if (chain.empty()) return denied("the chain is empty");
    if (chain.size() > static_cast<std::size_t>(limits::kMaxChainCertificates))
        return denied("the chain has " + std::to_string(chain.size()) + " certificates; at most " +
                      std::to_string(limits::kMaxChainCertificates) + " are accepted");
    for (std::size_t i = 0; i < chain.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (X509_cmp(chain[i], chain[j]) == 0) return denied("the chain holds the same certificate twice");
        }
    }
    const std::size_t proxies = count_proxies(chain);
    if (proxies > static_cast<std::size_t>(limits::kMaxProxies))
        return denied("the chain has " + std::to_string(proxies) + " proxies; at most " +
                      std::to_string(limits::kMaxProxies) + " are accepted");
    if (proxies == chain.size()) return denied("the chain holds proxies only, without the user's own certificate");

    X509* end_entity = chain[proxies];
    const Object draft(OBJ_txt2obj(kDraftProxyInfo, 1));
    if (looks_like_legacy_proxy(end_entity) || (draft && X509_get_ext_by_OBJ(end_entity, draft.get(), -1) >= 0))
        return denied("the chain has a legacy Globus proxy; make one after RFC 3820 with 'grid-proxy-init -rfc'");

    ProxyChain result{.proxies = proxies, .not_after = not_after(end_entity)};
    for (std::size_t i = proxies; i-- > 0;) {
        const auto fault = [&](const std::string& why) {
            return denied("proxy '" + printable(subject_text(chain[i])) + "' is refused: " + why);
        };
        const Result<Policy> policy = read_policy(chain[i]);
        if (!policy) return fault(policy.error().message);
        if (const auto why = find_fault(chain[i], chain[i + 1], *policy, static_cast<long>(i))) {
            static_cast<void>(last_fault());
            return fault(*why);
        }
        const Result<ProxyRights> rights = narrowed(result.rights, *policy);
        if (!rights) return fault(rights.error().message);
        if (now < not_before(chain[i]))
            return fault("it is valid only from " + moment_text(not_before(chain[i])) + "; compare the clocks");
        if (now >= not_after(chain[i]))
            return fault("it expired at " + moment_text(not_after(chain[i])) + "; make a new one");
        result.rights = *rights;
        result.application = policy->application;
        result.not_after = std::min(result.not_after, not_after(chain[i]));
    }
    return result;
}

}  // namespace zbs::openssl
