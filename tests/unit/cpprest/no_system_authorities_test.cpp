#include "services/common/adapters/openssl/no_system_authorities.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>

namespace {
using namespace zbs;

// As cpprestsdk's library finds it: by name, among all that is loaded.
TEST(NoSystemAuthorities, LibrariesFindOurFunctionWhichReadsNothing) {
    openssl::read_no_system_authorities();
    void* const found = dlsym(RTLD_DEFAULT, "SSL_CTX_set_default_verify_paths");
    ASSERT_NE(found, nullptr);
    Dl_info at{}, here{};
    ASSERT_NE(dladdr(found, &at), 0);
    ASSERT_NE(dladdr(reinterpret_cast<void*>(&openssl::read_no_system_authorities), &here), 0);
    EXPECT_EQ(at.dli_fbase, here.dli_fbase) << "it is in " << at.dli_fname;

    const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
    ASSERT_EQ(reinterpret_cast<int (*)(SSL_CTX*)>(found)(context.get()), 1);
    EXPECT_EQ(sk_X509_OBJECT_num(X509_STORE_get0_objects(SSL_CTX_get_cert_store(context.get()))), 0);
}

}  // namespace
