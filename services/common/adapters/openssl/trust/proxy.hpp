#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "algorithms/base/result.hpp"
#include "algorithms/base/time.hpp"

struct x509_st;  // X509

namespace zbs::openssl {

inline constexpr Duration kMaxGridProxyLifetime = std::chrono::hours{24};
inline constexpr Duration kMaxDelegationLifetime = std::chrono::hours{12};
inline constexpr Duration kMaxRenewalLifetime = std::chrono::hours{24 * 7};
/// Proxies are dated back by this much, so that a slow clock elsewhere does not refuse them; comes on top of each
/// limit.
inline constexpr Duration kClockTolerance = std::chrono::minutes{5};

/// The policy language of our own proxies; who does not know it must refuse them [RFC 3820, section 3.8].
inline constexpr const char* kPolicyLanguage = "2.25.72542147580792764423762282507431977773";

/// What a chain of proxies may do, least of all its links.
enum class ProxyRights {
    kAll,          ///< no proxy, or full ones: what the user may
    kLimited,      ///< look, not submit
    kApplication,  ///< run the parts of one application
    kRenewal,      ///< sign proxies for applications, nothing itself
};

/// What a chain shows after its proxies were checked.
struct ProxyChain {
    std::size_t proxies = 0;  ///< count; also the index of the end entity
    ProxyRights rights = ProxyRights::kAll;
    std::string application;  ///< with kApplication: the id, 26 characters
    Time not_after{};         ///< of the shortest among proxies and end entity
};

/// Checks the proxies at the front of `chain` (leaf first, down to the first certificate that is none, the end entity)
/// by every rule of RFC 3820 and ours, also those that OpenSSL leaves to programs: critical flag, names, signatures,
/// path lengths, depth, lifetimes, nesting, no alternative names, no CA, rights that only shrink. Not checked here:
/// that the end entity itself is to be believed. Errors: kDenied, with the rule that is broken.
Result<ProxyChain> verify_proxy_chain(std::span<x509_st* const> chain, Time now);

struct ProxyTerms {
    std::string application;                     ///< id, 26 characters; empty with `renewal`
    Duration lifetime = std::chrono::hours{12};  ///< from now; cut at the issuer's end
    int path_length = 0;                         ///< how many proxies may follow; 0 with an application
    bool renewal = false;                        ///< for signing application proxies later, by the same function
};

/// The chain (PEM: a new proxy for the key in `request_pem`, then `issuer_chain_pem`) by which the user, or a renewal
/// proxy of hers, lets the holder of that key act under `terms`. Errors: a request without proof of key or with a weak
/// key, a lifetime over 12 h (renewal: 7 d), an issuer that has expired or may not sign this, a key that is not the
/// issuer's.
Result<std::string> sign_proxy(std::string_view issuer_key_pem, std::string_view issuer_chain_pem,
                               std::string_view request_pem, const ProxyTerms& terms, Time now);

}  // namespace zbs::openssl
