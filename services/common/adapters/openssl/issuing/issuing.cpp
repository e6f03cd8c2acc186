#include "services/common/adapters/openssl/issuing/issuing.hpp"

#include <openssl/ec.h>
#include <openssl/rand.h>

#include <array>

#include "services/common/adapters/openssl/common_words.hpp"
#include "services/common/adapters/openssl/signature.hpp"
#include "services/common/adapters/openssl/trust/certificate_view.hpp"
#include "services/common/messages/names/host_name.hpp"

namespace zbs::openssl {
namespace {

void add_name(X509_NAME* name, const char* field, const std::string& value) {
    ZBS_EXPECTS(X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8,
                                           reinterpret_cast<const unsigned char*>(value.data()),
                                           static_cast<int>(value.size()), -1, 0) == 1);
}

Certificate begin_certificate(EVP_PKEY* key, Validity validity) {
    Certificate certificate(X509_new());
    const Integer serial = make_serial();
    const Moment begin = make_moment(validity.not_before);
    const Moment end = make_moment(validity.not_after);
    ZBS_EXPECTS(certificate && begin && end && X509_set_version(certificate.get(), X509_VERSION_3) == 1 &&
                X509_set_serialNumber(certificate.get(), serial.get()) == 1 &&
                X509_set1_notBefore(certificate.get(), begin.get()) == 1 &&
                X509_set1_notAfter(certificate.get(), end.get()) == 1 && X509_set_pubkey(certificate.get(), key) == 1);
    return certificate;
}

const char* kind_text(CallerKind kind) {
    switch (kind) {
        case CallerKind::kUser:
            return "user";
        case CallerKind::kZone:
            return "zone";
        case CallerKind::kOperator:
            return "operator";
        case CallerKind::kRegistry:
            return "registry";
        case CallerKind::kNode:
            return "node";
        case CallerKind::kAnonymous:
            break;
    }
    ZBS_EXPECTS(!"a certificate for nobody");
    return "";
}

}  // namespace

Key make_key() {
    Key key(EVP_EC_gen("P-256"));
    ZBS_EXPECTS(key);
    return key;
}

CertificateRequest make_request(EVP_PKEY* key) {
    CertificateRequest request(X509_REQ_new());
    ZBS_EXPECTS(request && X509_REQ_set_version(request.get(), X509_REQ_VERSION_1) == 1 &&
                X509_REQ_set_pubkey(request.get(), key) == 1 && X509_REQ_sign(request.get(), key, digest_for(key)) > 0);
    return request;
}

Integer make_serial() {
    std::array<unsigned char, 16> bytes{};
    ZBS_EXPECTS(RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) == 1);
    bytes[0] = static_cast<unsigned char>((bytes[0] & 0x3F) | 0x40);  // positive, and always 16 bytes long
    const Number number(BN_bin2bn(bytes.data(), static_cast<int>(bytes.size()), nullptr));
    Integer serial(number ? BN_to_ASN1_INTEGER(number.get(), nullptr) : nullptr);
    ZBS_EXPECTS(serial);
    return serial;
}

std::string decimal_text(const ASN1_INTEGER* number) {
    const Number value(ASN1_INTEGER_to_BN(number, nullptr));
    ZBS_EXPECTS(value);
    char* digits = BN_bn2dec(value.get());
    ZBS_EXPECTS(digits);
    std::string text(digits);
    OPENSSL_free(digits);
    return text;
}

void add_extension(X509* certificate, X509* issuer, int nid, const std::string& value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
    X509V3_set_ctx_nodb(&context);
    const Extension extension(X509V3_EXT_nconf_nid(nullptr, &context, nid, value.c_str()));
    ZBS_EXPECTS(extension && X509_add_ext(certificate, extension.get(), -1) == 1);
}

Certificate make_authority(EVP_PKEY* key, const OrganisationName& organisation, Validity validity) {
    Certificate ca = begin_certificate(key, validity);
    X509_NAME* name = X509_get_subject_name(ca.get());
    add_name(name, "O", organisation);
    add_name(name, "CN", organisation + " CA");
    ZBS_EXPECTS(X509_set_issuer_name(ca.get(), name) == 1);
    add_extension(ca.get(), ca.get(), NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
    add_extension(ca.get(), ca.get(), NID_key_usage, "critical,keyCertSign,cRLSign");
    add_extension(ca.get(), ca.get(), NID_name_constraints, "critical,permitted;URI:" + organisation);
    add_extension(ca.get(), ca.get(), NID_subject_key_identifier, "hash");
    add_extension(ca.get(), ca.get(), NID_authority_key_identifier, "keyid:always");
    ZBS_EXPECTS(X509_sign(ca.get(), key, digest_for(key)) > 0);
    return ca;
}

Certificate make_end_entity(EVP_PKEY* key, const Caller& name, Validity validity, X509* ca, EVP_PKEY* ca_key,
                            const std::vector<std::string>& hosts) {
    Certificate certificate = begin_certificate(key, validity);
    X509* const x = certificate.get();
    X509_NAME* subject = X509_get_subject_name(x);
    add_name(subject, "O", name.organisation);
    add_name(subject, "OU", kind_text(name.kind));
    add_name(subject, "CN", name.name);
    ZBS_EXPECTS(X509_set_issuer_name(x, X509_get_subject_name(ca)) == 1);
    add_extension(x, ca, NID_basic_constraints, "critical,CA:FALSE");
    add_extension(x, ca, NID_key_usage, "critical,digitalSignature");
    add_extension(x, ca, NID_ext_key_usage, is_service(name.kind) ? "serverAuth,clientAuth" : "clientAuth");
    std::string names = "URI:" + to_uri(name);
    for (const std::string& host : hosts) names.append(is_literal_address(host) ? ",IP:" : ",DNS:").append(host);
    add_extension(x, ca, NID_subject_alt_name, names);
    add_extension(x, ca, NID_subject_key_identifier, "hash");
    add_extension(x, ca, NID_authority_key_identifier, "keyid:always");
    ZBS_EXPECTS(X509_sign(x, ca_key, digest_for(ca_key)) > 0);
    return certificate;
}

RevocationList make_list(X509* ca, EVP_PKEY* ca_key, const std::vector<OwnKeys::Revoked>& revoked, std::uint64_t number,
                         Validity validity) {
    RevocationList list(X509_CRL_new());
    const Moment begin = make_moment(validity.not_before);
    const Moment end = make_moment(validity.not_after);
    ZBS_EXPECTS(list && begin && end && X509_CRL_set_version(list.get(), X509_CRL_VERSION_2) == 1 &&
                X509_CRL_set_issuer_name(list.get(), X509_get_subject_name(ca)) == 1 &&
                X509_CRL_set1_lastUpdate(list.get(), begin.get()) == 1 &&
                X509_CRL_set1_nextUpdate(list.get(), end.get()) == 1);
    for (const OwnKeys::Revoked& entry : revoked) {
        BIGNUM* value = nullptr;
        const int digits = BN_hex2bn(&value, entry.serial.c_str());
        const Number owner(value);
        ZBS_EXPECTS(digits == static_cast<int>(entry.serial.size()));
        const Integer serial(BN_to_ASN1_INTEGER(value, nullptr));
        const Moment at = make_moment(entry.at);
        X509_REVOKED* const line = X509_REVOKED_new();
        ZBS_EXPECTS(line && serial && at && X509_REVOKED_set_serialNumber(line, serial.get()) == 1 &&
                    X509_REVOKED_set_revocationDate(line, at.get()) == 1 &&
                    X509_CRL_add0_revoked(list.get(), line) == 1);
    }
    const Integer count(ASN1_INTEGER_new());
    ZBS_EXPECTS(count && ASN1_INTEGER_set_uint64(count.get(), number) == 1 &&
                X509_CRL_add1_ext_i2d(list.get(), NID_crl_number, count.get(), 0, 0) == 1);
    X509V3_CTX context;
    X509V3_set_ctx(&context, ca, nullptr, nullptr, list.get(), 0);
    X509V3_set_ctx_nodb(&context);
    const Extension key_id(X509V3_EXT_nconf_nid(nullptr, &context, NID_authority_key_identifier, "keyid:always"));
    ZBS_EXPECTS(key_id && X509_CRL_add_ext(list.get(), key_id.get(), -1) == 1);
    ZBS_EXPECTS(X509_CRL_sort(list.get()) == 1 && X509_CRL_sign(list.get(), ca_key, digest_for(ca_key)) > 0);
    return list;
}

}  // namespace zbs::openssl
