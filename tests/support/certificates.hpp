#pragma once
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/base/time.hpp"
#include "services/common/adapters/openssl/handles.hpp"

namespace zbs::test {

/// The instant at which all tests with certificates take place: 2026-06-01 12:00 UTC.
inline constexpr Time kToday{std::chrono::seconds{1'780'315'200}};

/// A certificate and its key; copies share them.
struct Holder {
    std::shared_ptr<X509> certificate;
    std::shared_ptr<EVP_PKEY> key;
};
using Holders = std::vector<Holder>;

/// The extension of a proxy; every field can be made wrong.
struct ProxyForm {
    std::string language = "1.3.6.1.5.5.7.21.1";  ///< inherit all
    std::optional<std::string> policy = {};
    std::optional<long> path_length = {};
    bool critical = true;
};

/// What a certificate shall say; every field can be made wrong. Extensions are in the words of OpenSSL's configuration
/// files; an empty one is left away.
struct Form {
    std::string subject = "/O=org-a/CN=somebody";  ///< "/TYPE=value" per part; "/+TYPE=value" joins the part before
    std::string issuer = {};                       ///< empty: the signer's subject
    Time not_before = kToday - std::chrono::hours{24};
    Time not_after = kToday + std::chrono::hours{24 * 90};
    std::string basic = "critical,CA:FALSE";
    std::string usage = "critical,digitalSignature";
    std::string extended_usage = "clientAuth";
    std::vector<std::string> names = {};  ///< "URI:..", "DNS:.."
    std::optional<ProxyForm> proxy = {};
    std::optional<ProxyForm> second_proxy = {};
    std::vector<std::pair<int, std::string>> more = {};  ///< further extensions: NID, value
    std::string key = "P-256";                           ///< or RSA1024, RSA2048, RSA10240, secp256k1, ED25519
    const char* digest = "SHA256";
    long version = 2;  ///< as it is encoded: 2 is version 3
    bool key_ids = true;
    bool unknown_critical = false;  ///< an extension that nobody knows
};

std::shared_ptr<EVP_PKEY> make_test_key(const std::string& kind);
/// Signed by `issuer`, by itself without one; with `key` for a key that is there already.
Holder make_certificate(const Form& form, const Holder* issuer, std::shared_ptr<EVP_PKEY> key = nullptr);

Form authority_form(const std::string& organisation);
Form user_form(const std::string& organisation, const std::string& name);
Form zone_form(const std::string& organisation, const std::string& name);
/// A good full proxy of `issuer`, for 12 h.
Form proxy_form(const Holder& issuer, const std::string& common_name = "4711");

std::string pem_of(const Holders& chain);
std::string pem_of(const Holder& holder);
std::string key_pem_of(const Holder& holder);
std::string request_pem_of(EVP_PKEY* key);
/// A list by `issuer` of these certificates.
struct ListForm {
    std::vector<Holder> revoked = {};
    std::optional<std::uint64_t> number = 1;
    Time made = kToday;
    bool critical_extension = false;
    const char* digest = "SHA256";
};
std::string list_pem(const ListForm& form, const Holder& issuer);
std::vector<X509*> borrowed(const Holders& chain);

}  // namespace zbs::test
