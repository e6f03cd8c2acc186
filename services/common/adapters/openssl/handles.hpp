#pragma once
#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <span>
#include <vector>

// OpenSSL's objects with owners. Inside the adapter only.
namespace zbs::openssl {

template <auto kFree>
struct Free {
    template <class T>
    void operator()(T* object) const {
        kFree(object);
    }
};
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Free<X509_free>>;
using CertificateRequest = std::unique_ptr<X509_REQ, Free<X509_REQ_free>>;
using RevocationList = std::unique_ptr<X509_CRL, Free<X509_CRL_free>>;
using Store = std::unique_ptr<X509_STORE, Free<X509_STORE_free>>;
using StoreContext = std::unique_ptr<X509_STORE_CTX, Free<X509_STORE_CTX_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Free<X509_EXTENSION_free>>;
using Name = std::unique_ptr<X509_NAME, Free<X509_NAME_free>>;
using AlternativeNames = std::unique_ptr<GENERAL_NAMES, Free<GENERAL_NAMES_free>>;
using NameConstraints = std::unique_ptr<NAME_CONSTRAINTS, Free<NAME_CONSTRAINTS_free>>;
using ProxyInfo = std::unique_ptr<PROXY_CERT_INFO_EXTENSION, Free<PROXY_CERT_INFO_EXTENSION_free>>;
using Constraints = std::unique_ptr<BASIC_CONSTRAINTS, Free<BASIC_CONSTRAINTS_free>>;
using Integer = std::unique_ptr<ASN1_INTEGER, Free<ASN1_INTEGER_free>>;
using Object = std::unique_ptr<ASN1_OBJECT, Free<ASN1_OBJECT_free>>;
using Moment = std::unique_ptr<ASN1_TIME, Free<ASN1_TIME_free>>;
using Number = std::unique_ptr<BIGNUM, Free<BN_free>>;
using Bio = std::unique_ptr<BIO, Free<BIO_free_all>>;
using Digest = std::unique_ptr<EVP_MD_CTX, Free<EVP_MD_CTX_free>>;

struct FreeBorrowed {
    void operator()(STACK_OF(X509) * stack) const { sk_X509_free(stack); }
};
/// A stack that does not own what is on it.
using BorrowedStack = std::unique_ptr<STACK_OF(X509), FreeBorrowed>;

/// Borrowed certificates, leaf first.
using ChainView = std::span<X509* const>;

inline std::vector<X509*> view(const std::vector<Certificate>& owned) {
    std::vector<X509*> borrowed;
    borrowed.reserve(owned.size());
    for (const Certificate& certificate : owned) borrowed.push_back(certificate.get());
    return borrowed;
}

}  // namespace zbs::openssl
