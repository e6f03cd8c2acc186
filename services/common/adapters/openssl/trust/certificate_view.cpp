#include "services/common/adapters/openssl/trust/certificate_view.hpp"

#include <openssl/core_names.h>

#include <array>
#include <ctime>
#include <string_view>

#include "algorithms/base/text.hpp"
#include "services/common/adapters/openssl/pem.hpp"
#include "services/common/messages/limits.hpp"
#include "services/common/messages/names/host_name.hpp"

namespace zbs::openssl {
namespace {

std::optional<std::string> find_curve_weakness(const EVP_PKEY* key) {
    std::array<char, 64> group{};
    std::size_t size = 0;
    int is_explicit = 0;
    if (EVP_PKEY_get_utf8_string_param(key, OSSL_PKEY_PARAM_GROUP_NAME, group.data(), group.size(), &size) != 1)
        return "its elliptic curve has no name";
    if (EVP_PKEY_get_int_param(key, OSSL_PKEY_PARAM_EC_DECODED_FROM_EXPLICIT_PARAMS, &is_explicit) == 1 && is_explicit)
        return "its elliptic curve is given by parameters, not by name";
    const std::string_view name(group.data(), size);
    if (name == "prime256v1" || name == "secp384r1" || name == "secp521r1") return std::nullopt;
    return "the curve " + printable(name) + " is not accepted; use P-256";
}

std::tm calendar(Time time) {
    const std::time_t seconds = std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count();
    std::tm fields{};
    gmtime_r(&seconds, &fields);
    return fields;
}

std::string formatted(Time time, const char* form) {
    const std::tm fields = calendar(time);
    std::array<char, 64> text{};
    return {text.data(), std::strftime(text.data(), text.size(), form, &fields)};
}

}  // namespace

std::optional<std::string> find_weakness(const EVP_PKEY* key) {
    if (key == nullptr) return "its key is of an unknown kind";
    switch (EVP_PKEY_get_base_id(key)) {
        case EVP_PKEY_RSA:
        case EVP_PKEY_RSA_PSS: {
            const int bits = EVP_PKEY_get_bits(key);
            if (bits < 2048)
                return "an RSA key of " + std::to_string(bits) + " bits is too weak; use P-256 or RSA 2048";
            if (bits > limits::kMaxRsaBits)
                return "an RSA key over " + std::to_string(limits::kMaxRsaBits) + " bits is not accepted; use P-256";
            BIGNUM* exponent = nullptr;
            const bool known = EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_E, &exponent) == 1;
            const Number owner(exponent);
            if (!known || BN_num_bits(exponent) > 64) return "its RSA exponent is too large";
            return std::nullopt;
        }
        case EVP_PKEY_EC:
            return find_curve_weakness(key);
        case EVP_PKEY_ED25519:
            return std::nullopt;
        default:
            return "its key is of a kind that is not accepted; use P-256";
    }
}

std::string_view content_of(const ASN1_STRING* text) {
    return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
            static_cast<std::size_t>(ASN1_STRING_length(text))};
}

std::string serial_text(const ASN1_INTEGER* serial) {
    const std::string_view bytes = content_of(serial);
    const std::string digits = bytes.empty() ? "00" : hexadecimal(bytes);
    return ASN1_STRING_type(serial) == V_ASN1_NEG_INTEGER ? "-" + digits : digits;
}
std::string serial_of(const X509* certificate) { return serial_text(X509_get0_serialNumber(certificate)); }

std::optional<Time> read_time(const ASN1_TIME* moment) {
    std::tm fields{};
    if (moment == nullptr || ASN1_TIME_to_tm(moment, &fields) != 1) return std::nullopt;
    return Time{std::chrono::seconds{timegm(&fields)}};
}
Time not_before(const X509* certificate) { return read_time(X509_get0_notBefore(certificate)).value_or(Time::max()); }
Time not_after(const X509* certificate) { return read_time(X509_get0_notAfter(certificate)).value_or(Time::min()); }

Moment make_moment(Time time) {
    return Moment(ASN1_TIME_set(nullptr, std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count()));
}
std::string date_text(Time time) { return formatted(time, "%Y-%m-%d"); }
std::string moment_text(Time time) { return formatted(time, "%Y-%m-%d %H:%M UTC"); }

std::string name_text(const X509_NAME* name) {
    const Bio out(BIO_new(BIO_s_mem()));
    ZBS_EXPECTS(out);
    if (X509_NAME_print_ex(out.get(), name, 0, XN_FLAG_RFC2253) < 0) return "";
    char* data = nullptr;
    const long size = BIO_get_mem_data(out.get(), &data);
    return {data, static_cast<std::size_t>(size)};
}
std::string subject_text(const X509* certificate) { return name_text(X509_get_subject_name(certificate)); }

std::optional<std::string> subject_line(const X509* certificate) {
    const X509_NAME* subject = X509_get_subject_name(certificate);
    for (int i = 0; i < X509_NAME_entry_count(subject); ++i) {
        const std::string_view bytes = content_of(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, i)));
        if (bytes.find('/') != std::string_view::npos) return std::nullopt;
    }
    char* text = X509_NAME_oneline(subject, nullptr, 0);
    if (text == nullptr) return std::nullopt;
    std::string line(text);
    OPENSSL_free(text);
    return line;
}

Result<std::optional<std::string>> find_uri(const X509* certificate) {
    int critical = -1;
    const AlternativeNames names(
        static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, &critical, nullptr)));
    if (!names) {
        if (critical == -1) return std::optional<std::string>{};
        static_cast<void>(last_fault());
        return invalid(critical == -2 ? "it has several extensions of alternative names"
                                      : "its alternative names are damaged");
    }
    std::optional<std::string> uri;
    for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
        int type = -1;
        const void* value = GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(names.get(), i), &type);
        if (type != GEN_URI) continue;
        if (uri) return invalid("it names several URIs; exactly one is accepted");
        uri = std::string(content_of(static_cast<const ASN1_STRING*>(value)));
    }
    return uri;
}

std::vector<std::string> host_names(const X509* certificate) {
    const AlternativeNames names(
        static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
    std::vector<std::string> hosts;
    for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
        int type = -1;
        const void* value = GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(names.get(), i), &type);
        if (type != GEN_DNS && type != GEN_IPADD) continue;
        const std::string bytes(content_of(static_cast<const ASN1_STRING*>(value)));
        const std::string host = type == GEN_DNS ? bytes : address_text(bytes);
        if (check_advertised_host(host)) hosts.push_back(host);
    }
    return hosts;
}

bool claims_to_be_ca(const X509* certificate) {
    // OpenSSL's own answer is no where extensions contradict each other.
    const Constraints constraints(
        static_cast<BASIC_CONSTRAINTS*>(X509_get_ext_d2i(certificate, NID_basic_constraints, nullptr, nullptr)));
    return (constraints && constraints->ca) || X509_check_ca(const_cast<X509*>(certificate)) != 0;
}

bool has_extension(const X509* certificate, int nid) { return X509_get_ext_by_NID(certificate, nid, -1) >= 0; }

std::string printable(std::string_view text) {
    std::string out;
    for (const char c : text.substr(0, 200)) out += c >= ' ' && c <= '~' ? c : '?';
    return text.size() > 200 ? out + "..." : out;
}

std::string fingerprint_of(const X509* certificate) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int size = 0;
    ZBS_EXPECTS(X509_digest(certificate, EVP_sha256(), digest.data(), &size) == 1);
    return {reinterpret_cast<const char*>(digest.data()), size};
}

}  // namespace zbs::openssl
