#pragma once
#include <cstddef>
#include <string>

#include "services/common/adapters/openssl/handles.hpp"
#include "services/common/adapters/openssl/trust/proxy.hpp"

// What making and checking of proxies share.
namespace zbs::openssl {

inline constexpr const char* kLimitedPolicy = "1.3.6.1.4.1.3536.1.1.1.9";  ///< Globus limited proxy
inline constexpr const char* kDraftProxyInfo = "1.3.6.1.4.1.3536.1.222";   ///< extension before RFC 3820
inline constexpr const char* kApplicationPolicy = "application=";          ///< then the id
inline constexpr const char* kRenewalPolicy = "renew";

/// True where the certificate carries the extension of a proxy; says nothing about its being a good one.
bool is_proxy(const X509* certificate);
/// How many of the first certificates are proxies.
std::size_t count_proxies(ChainView chain);
/// True for the text form of an application's id: 26 characters of Crockford base 32, upper case.
bool is_application_id(std::string_view text);
/// The dotted form of an object identifier.
std::string object_text(const ASN1_OBJECT* object);

}  // namespace zbs::openssl
