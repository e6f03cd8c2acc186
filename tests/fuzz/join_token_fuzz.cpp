#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "services/common/adapters/cpprest/address_rules.hpp"
#include "services/common/messages/names/join_token.hpp"
#include "tests/fuzz/mutation.hpp"

// Any bytes as a token that was pasted, and as a service's address: what is read is written and read back the same, an
// address that is taken has a host and a port and nothing else; every refusal has a message. With libFuzzer this is the
// whole program; without, a replay over changed tokens and addresses.

namespace {
using namespace zbs;

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "join_token_fuzz: broken: %s\n", what);
    std::abort();
}

std::uint64_t tokens = 0, addresses = 0;
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    if (const Result<JoinToken> token = parse_join_token(text); token) {
        ++tokens;
        const Result<JoinToken> again = parse_join_token(to_text(*token));
        require(again && *again == *token, "a token changes on the way");
    } else {
        require(!token.error().message.empty(), "a refusal without message");
    }
    if (const auto url = cpprest::parse_service_url(text); url) {
        ++addresses;
        const auto again = cpprest::parse_service_url(url->text());
        require(again && again->at == url->at, "an address changes on the way");
        require(!url->at.host.empty() && url->at.port >= 1 && url->at.port <= 65535, "an address without host or port");
        require(url->at.host.find_first_of("/@?#%\\ \r\n\t") == std::string::npos &&
                    url->at.host.find('\0') == std::string::npos,
                "an address with more than a host");
    } else {
        require(!url.error().message.empty(), "a refusal without message");
    }
    return 0;
}

#ifndef ZBS_LIBFUZZER
int main(int argc, char** argv) {
    const std::uint64_t runs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 20000;
    const std::string code(26, 'a'), fingerprint = "sha256:" + std::string(64, '0');
    const std::vector<std::string> seeds = {
        "zbs-login-1+ana+" + code + "+" + fingerprint + "+spiffe://a/zone/b+https://a.example:8443",
        "zbs-enrol-1+any+" + code + "+" + fingerprint + "+spiffe://a/registry/r+https://[::1]:1", "https://a:1",
        "http://[::ffff:127.0.0.1]:65535", "https://127.0.0.1"};
    static const std::vector<std::string> pieces = {"+",  "zbs-login-1", "zbs-login-2", "https://", "http://", ":",
                                                    "[",  "]",           "@",           "/",        "%00",     "65536",
                                                    "-1", "\xff",        "sha256:",     "spiffe://"};
    for (std::uint64_t seed = 0; seed < runs; ++seed) {
        Rng rng(seed);
        std::string text = seeds[rng.below(seeds.size())];
        if (rng.below(4) > 0) fuzz::mutate(text, rng, pieces, 1, 4);
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    }
    require(tokens > runs / 20 && addresses > runs / 20, "hardly anything was read: the inputs are no use");
    std::printf("join_token_fuzz: %llu inputs, all answered; %llu tokens, %llu addresses read\n",
                static_cast<unsigned long long>(runs), static_cast<unsigned long long>(tokens),
                static_cast<unsigned long long>(addresses));
    return 0;
}
#endif
