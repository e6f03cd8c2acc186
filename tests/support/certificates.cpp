#include "tests/support/certificates.hpp"

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>

#include <cstdio>
#include <map>

#include "algorithms/base/expects.hpp"

// Made with OpenSSL's own calls, not with the adapter under test.
namespace zbs::test {
namespace {
using namespace zbs::openssl;

std::shared_ptr<EVP_PKEY> own(EVP_PKEY* key) {
    ZBS_EXPECTS(key != nullptr);
    return {key, EVP_PKEY_free};
}

const EVP_MD* digest_of(EVP_PKEY* key, const char* name) {
    return EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519 ? nullptr : EVP_get_digestbyname(name);
}

Moment moment(Time time) {
    return Moment(ASN1_TIME_set(nullptr, std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count()));
}

Name read_name(const std::string& text) {
    Name name(X509_NAME_new());
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t next = std::min(text.find('/', at + 1), text.size());
        std::string part = text.substr(at + 1, next - at - 1);
        const bool joins = part.starts_with('+');
        if (joins) part.erase(0, 1);
        const std::size_t equals = part.find('=');
        std::string value = part.substr(equals + 1);
        for (char& c : value) c = c == '|' ? '/' : c;  // '|' stands for a slash inside a value
        ZBS_EXPECTS(X509_NAME_add_entry_by_txt(name.get(), part.substr(0, equals).c_str(), MBSTRING_UTF8,
                                               reinterpret_cast<const unsigned char*>(value.data()),
                                               static_cast<int>(value.size()), -1, joins ? -1 : 0) == 1);
        at = next;
    }
    return name;
}

void add(X509* certificate, X509* issuer, int nid, const std::string& value) {
    if (value.empty()) return;
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
    X509V3_set_ctx_nodb(&context);
    const Extension extension(X509V3_EXT_nconf_nid(nullptr, &context, nid, value.c_str()));
    if (!extension) std::fprintf(stderr, "certificates: no extension %d of %s\n", nid, value.c_str());
    ZBS_EXPECTS(extension && X509_add_ext(certificate, extension.get(), -1) == 1);
}

void add_proxy(X509* certificate, const ProxyForm& form) {
    const ProxyInfo info(PROXY_CERT_INFO_EXTENSION_new());
    ASN1_OBJECT_free(info->proxyPolicy->policyLanguage);
    info->proxyPolicy->policyLanguage = OBJ_txt2obj(form.language.c_str(), 1);
    if (form.policy) {
        info->proxyPolicy->policy = ASN1_OCTET_STRING_new();
        ASN1_OCTET_STRING_set(info->proxyPolicy->policy, reinterpret_cast<const unsigned char*>(form.policy->data()),
                              static_cast<int>(form.policy->size()));
    }
    if (form.path_length) {
        info->pcPathLengthConstraint = ASN1_INTEGER_new();
        ASN1_INTEGER_set(info->pcPathLengthConstraint, *form.path_length);
    }
    ZBS_EXPECTS(
        X509_add1_ext_i2d(certificate, NID_proxyCertInfo, info.get(), form.critical ? 1 : 0, X509V3_ADD_APPEND) == 1);
}

std::string text_of(const Bio& out) {
    char* data = nullptr;
    const long size = BIO_get_mem_data(out.get(), &data);
    return {data, static_cast<std::size_t>(size)};
}

void set_serial(ASN1_INTEGER* serial) {
    unsigned char bytes[12];
    ZBS_EXPECTS(RAND_bytes(bytes, sizeof bytes) == 1);
    bytes[0] = static_cast<unsigned char>((bytes[0] & 0x3F) | 0x40);
    const Number number(BN_bin2bn(bytes, sizeof bytes, nullptr));
    ZBS_EXPECTS(BN_to_ASN1_INTEGER(number.get(), serial) != nullptr);
}

/// "/O=..": what `proxy_form` begins with.
std::string line_of(const X509_NAME* name) {
    std::string line;
    for (int i = 0; i < X509_NAME_entry_count(name); ++i) {
        const X509_NAME_ENTRY* entry = X509_NAME_get_entry(name, i);
        const ASN1_STRING* value = X509_NAME_ENTRY_get_data(entry);
        std::string text(reinterpret_cast<const char*>(ASN1_STRING_get0_data(value)),
                         static_cast<std::size_t>(ASN1_STRING_length(value)));
        for (char& c : text) c = c == '/' ? '|' : c;
        line += std::string("/") + OBJ_nid2sn(OBJ_obj2nid(X509_NAME_ENTRY_get_object(entry))) + "=" + text;
    }
    return line;
}

}  // namespace

std::shared_ptr<EVP_PKEY> make_test_key(const std::string& kind) {
    if (kind == "ED25519") return own(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
    if (!kind.starts_with("RSA")) return own(EVP_EC_gen(kind.c_str()));
    static std::map<std::string, std::shared_ptr<EVP_PKEY>> cache;  // RSA keys take long to make; one of each will do
    std::shared_ptr<EVP_PKEY>& key = cache[kind];
    if (!key) key = own(EVP_RSA_gen(static_cast<unsigned>(std::stoul(kind.substr(3)))));
    return key;
}

Holder make_certificate(const Form& form, const Holder* issuer, std::shared_ptr<EVP_PKEY> key) {
    if (!key) key = make_test_key(form.key);
    Holder made{{X509_new(), X509_free}, std::move(key)};
    X509* const x = made.certificate.get();
    X509* const by = issuer ? issuer->certificate.get() : x;
    EVP_PKEY* const by_key = issuer ? issuer->key.get() : made.key.get();
    set_serial(X509_get_serialNumber(x));
    const Name subject = read_name(form.subject);
    ZBS_EXPECTS(X509_set_version(x, form.version) == 1 && X509_set_subject_name(x, subject.get()) == 1);
    const Name issuer_name =
        form.issuer.empty() ? Name(X509_NAME_dup(X509_get_subject_name(by))) : read_name(form.issuer);
    ZBS_EXPECTS(X509_set_issuer_name(x, issuer_name.get()) == 1 &&
                X509_set1_notBefore(x, moment(form.not_before).get()) == 1 &&
                X509_set1_notAfter(x, moment(form.not_after).get()) == 1 && X509_set_pubkey(x, made.key.get()) == 1);
    add(x, by, NID_basic_constraints, form.basic);
    add(x, by, NID_key_usage, form.usage);
    add(x, by, NID_ext_key_usage, form.extended_usage);
    std::string names;
    for (const std::string& name : form.names) names += (names.empty() ? "" : ",") + name;
    add(x, by, NID_subject_alt_name, names);
    if (form.proxy) add_proxy(x, *form.proxy);
    if (form.second_proxy) add_proxy(x, *form.second_proxy);
    if (form.key_ids) {
        add(x, by, NID_subject_key_identifier, "hash");
        if (X509_get_ext_by_NID(by, NID_subject_key_identifier, -1) >= 0)
            add(x, by, NID_authority_key_identifier, "keyid");
    }
    for (const auto& [nid, value] : form.more) add(x, by, nid, value);
    if (form.unknown_critical) {
        const Extension unknown(X509V3_EXT_nconf(nullptr, nullptr, "1.3.6.1.4.1.99999.7", "critical,DER:0500"));
        ZBS_EXPECTS(unknown && X509_add_ext(x, unknown.get(), -1) == 1);
    }
    ZBS_EXPECTS(X509_sign(x, by_key, digest_of(by_key, form.digest)) > 0);
    return made;
}

Form authority_form(const std::string& organisation) {
    return {.subject = "/O=" + organisation + "/CN=" + organisation + " CA",
            .not_before = kToday - std::chrono::hours{24 * 365},
            .not_after = kToday + std::chrono::hours{24 * 3000},
            .basic = "critical,CA:TRUE",
            .usage = "critical,keyCertSign,cRLSign",
            .extended_usage = ""};
}

Form user_form(const std::string& organisation, const std::string& name) {
    return {.subject = "/O=" + organisation + "/OU=user/CN=" + name,
            .names = {"URI:spiffe://" + organisation + "/user/" + name}};
}

Form zone_form(const std::string& organisation, const std::string& name) {
    return {.subject = "/O=" + organisation + "/OU=zone/CN=" + name,
            .extended_usage = "serverAuth,clientAuth",
            .names = {"URI:spiffe://" + organisation + "/zone/" + name}};
}

Form proxy_form(const Holder& issuer, const std::string& common_name) {
    return {.subject = line_of(X509_get_subject_name(issuer.certificate.get())) + "/CN=" + common_name,
            .not_before = kToday - std::chrono::minutes{5},
            .not_after = kToday + std::chrono::hours{12},
            .basic = "",
            .extended_usage = "",
            .proxy = ProxyForm{},
            .key_ids = false};
}

std::string pem_of(const Holders& chain) {
    const Bio out(BIO_new(BIO_s_mem()));
    for (const Holder& holder : chain) ZBS_EXPECTS(PEM_write_bio_X509(out.get(), holder.certificate.get()) == 1);
    return text_of(out);
}
std::string pem_of(const Holder& holder) { return pem_of(Holders{holder}); }
std::string key_pem_of(const Holder& holder) {
    const Bio out(BIO_new(BIO_s_mem()));
    ZBS_EXPECTS(PEM_write_bio_PrivateKey(out.get(), holder.key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1);
    return text_of(out);
}

std::string request_pem_of(EVP_PKEY* key) {
    const CertificateRequest request(X509_REQ_new());
    ZBS_EXPECTS(X509_REQ_set_pubkey(request.get(), key) == 1 &&
                X509_REQ_sign(request.get(), key, digest_of(key, "SHA256")) > 0);
    const Bio out(BIO_new(BIO_s_mem()));
    ZBS_EXPECTS(PEM_write_bio_X509_REQ(out.get(), request.get()) == 1);
    return text_of(out);
}

std::string list_pem(const ListForm& form, const Holder& issuer) {
    const RevocationList list(X509_CRL_new());
    ZBS_EXPECTS(X509_CRL_set_version(list.get(), 1) == 1 &&
                X509_CRL_set_issuer_name(list.get(), X509_get_subject_name(issuer.certificate.get())) == 1 &&
                X509_CRL_set1_lastUpdate(list.get(), moment(form.made).get()) == 1 &&
                X509_CRL_set1_nextUpdate(list.get(), moment(form.made + std::chrono::hours{1}).get()) == 1);
    for (const Holder& revoked : form.revoked) {
        X509_REVOKED* const line = X509_REVOKED_new();
        ZBS_EXPECTS(X509_REVOKED_set_serialNumber(line, X509_get_serialNumber(revoked.certificate.get())) == 1 &&
                    X509_REVOKED_set_revocationDate(line, moment(form.made).get()) == 1 &&
                    X509_CRL_add0_revoked(list.get(), line) == 1);
    }
    const Integer number(ASN1_INTEGER_new());
    ZBS_EXPECTS(ASN1_INTEGER_set_uint64(number.get(), form.number.value_or(0)) == 1);
    if (form.number) ZBS_EXPECTS(X509_CRL_add1_ext_i2d(list.get(), NID_crl_number, number.get(), 0, 0) == 1);
    if (form.critical_extension)
        ZBS_EXPECTS(X509_CRL_add1_ext_i2d(list.get(), NID_delta_crl, number.get(), /*critical=*/1, 0) == 1);
    ZBS_EXPECTS(X509_CRL_sign(list.get(), issuer.key.get(), digest_of(issuer.key.get(), form.digest)) > 0);
    const Bio out(BIO_new(BIO_s_mem()));
    ZBS_EXPECTS(PEM_write_bio_X509_CRL(out.get(), list.get()) == 1);
    return text_of(out);
}

std::vector<X509*> borrowed(const Holders& chain) {
    std::vector<X509*> out;
    for (const Holder& holder : chain) out.push_back(holder.certificate.get());
    return out;
}

}  // namespace zbs::test
