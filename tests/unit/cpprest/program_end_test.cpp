#include <gtest/gtest.h>
#include <openssl/err.h>

#include <cstdlib>
#include <future>
#include <memory>

#include "services/common/adapters/cpprest/http_caller.hpp"
#include "services/common/adapters/openssl/tls.hpp"

namespace {
using namespace zbs;

/// What a command does that asks another service before it has anything to do with OpenSSL. The answer (a refusal,
/// nothing is sent) comes on a thread of cpprestsdk's, which then has an error queue of OpenSSL's.
[[noreturn]] void ask_and_end() {
    {
        cpprest::HttpCaller caller({.tls = std::make_shared<openssl::TlsClient>(), .allow_private_addresses = false});
        std::promise<void> answered;
        caller.call({{"https://127.0.0.1:9", {}}, "GET", "/"}, [&answered](const Result<HttpAnswer>&) {
            ERR_clear_error();
            answered.set_value();
        });
        answered.get_future().wait();
    }
    std::exit(0);
}

// In a process of its own, which LeakSanitizer ends with a code of its own where something is left.
TEST(HttpCaller, ItsThreadsEndBeforeOpenSsl) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(ask_and_end(), testing::ExitedWithCode(0), "");
}

}  // namespace
