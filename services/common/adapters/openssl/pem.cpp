#include "services/common/adapters/openssl/pem.hpp"

#include <openssl/err.h>
#include <openssl/pem.h>

#include "services/common/adapters/openssl/trust/certificate_view.hpp"
#include "services/common/messages/limits.hpp"

namespace zbs::openssl {
namespace {

int no_password(char*, int, int, void*) { return -1; }

Bio reader(std::string_view text) { return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))); }

template <class Write>
std::string written(Write write) {
    const Bio out(BIO_new(BIO_s_mem()));
    ZBS_EXPECTS(out && write(out.get()) == 1);
    char* data = nullptr;
    const long size = BIO_get_mem_data(out.get(), &data);
    return {data, static_cast<std::size_t>(size)};
}

Error too_large(const std::string& what, std::size_t limit) {
    return {ErrorCode::kTooLarge, what + " is over " + std::to_string(limit) + " bytes", {}};
}

}  // namespace

const PemLimits kChainLimits{limits::kMaxChainBytes, limits::kMaxChainCertificates};
const PemLimits kBundleLimits{limits::kMaxBundleBytes, limits::kMaxBundleCertificates};

Result<std::vector<Certificate>> read_certificates(std::string_view pem, const PemLimits& limits,
                                                   const std::string& what) {
    if (pem.size() > limits.bytes) return too_large(what, limits.bytes);
    ERR_clear_error();
    const Bio in = reader(pem);
    std::vector<Certificate> read;
    while (Certificate next{PEM_read_bio_X509(in.get(), nullptr, no_password, nullptr)}) {
        if (read.size() == static_cast<std::size_t>(limits.certificates))
            return Error{ErrorCode::kTooLarge,
                         what + " has more than " + std::to_string(limits.certificates) + " certificates",
                         {}};
        read.push_back(std::move(next));
    }
    const bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
    const std::string fault = last_fault();
    if (!at_end)
        return invalid("certificate " + std::to_string(read.size() + 1) + " of " + what + " is damaged: " + fault);
    if (read.empty()) return invalid(what + " holds no certificate (PEM, '-----BEGIN CERTIFICATE-----')");
    return read;
}

Result<Key> read_key(std::string_view pem, const std::string& what) {
    if (pem.size() > limits::kMaxKeyBytes) return too_large(what, limits::kMaxKeyBytes);
    ERR_clear_error();
    const Bio in = reader(pem);
    Key key(PEM_read_bio_PrivateKey(in.get(), nullptr, no_password, nullptr));
    if (!key) {
        static_cast<void>(last_fault());  // may quote the input
        return invalid(what + " holds no private key that can be read without a password");
    }
    if (const auto weakness = find_weakness(key.get())) return invalid(what + ": " + *weakness);
    return key;
}

Result<Key> read_request(std::string_view pem, const std::string& what) {
    if (pem.size() > limits::kMaxRequestBytes) return too_large(what, limits::kMaxRequestBytes);
    ERR_clear_error();
    const Bio in = reader(pem);
    const CertificateRequest request(PEM_read_bio_X509_REQ(in.get(), nullptr, no_password, nullptr));
    if (!request) return invalid(what + " is no certificate request (PKCS #10, PEM): " + last_fault());
    Key key(X509_REQ_get_pubkey(request.get()));
    if (!key) return invalid(what + " has a key of an unknown kind: " + last_fault());
    if (const auto weakness = find_weakness(key.get())) return invalid(what + ": " + *weakness);
    if (X509_REQ_verify(request.get(), key.get()) != 1) {
        static_cast<void>(last_fault());
        return invalid(what + " does not prove that its sender has the key: its own signature is wrong");
    }
    return key;
}

Result<RevocationList> read_revocations(std::string_view pem, const std::string& what) {
    if (pem.size() > limits::kMaxRevocationBytes) return too_large(what, limits::kMaxRevocationBytes);
    ERR_clear_error();
    const Bio in = reader(pem);
    RevocationList list(PEM_read_bio_X509_CRL(in.get(), nullptr, no_password, nullptr));
    if (!list) return invalid(what + " is no revocation list (X.509 CRL, PEM): " + last_fault());
    return list;
}

std::string write_pem(const X509* certificate) {
    return written([&](BIO* out) { return PEM_write_bio_X509(out, const_cast<X509*>(certificate)); });
}
std::string write_pem(const EVP_PKEY* key) {
    return written([&](BIO* out) {
        return PEM_write_bio_PKCS8PrivateKey(out, const_cast<EVP_PKEY*>(key), nullptr, nullptr, 0, nullptr, nullptr);
    });
}
std::string write_pem(const X509_REQ* request) {
    return written([&](BIO* out) { return PEM_write_bio_X509_REQ(out, const_cast<X509_REQ*>(request)); });
}
std::string write_pem(const X509_CRL* list) {
    return written([&](BIO* out) { return PEM_write_bio_X509_CRL(out, const_cast<X509_CRL*>(list)); });
}
std::string write_pem(const std::vector<Certificate>& chain) {
    std::string text;
    for (const Certificate& certificate : chain) text += write_pem(certificate.get());
    return text;
}

std::string last_fault() {
    const unsigned long code = ERR_peek_last_error();
    ERR_clear_error();
    const char* reason = ERR_reason_error_string(code);
    return reason ? reason : "unknown fault";
}

}  // namespace zbs::openssl
