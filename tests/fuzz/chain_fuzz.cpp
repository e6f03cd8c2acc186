#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "algorithms/base/rng.hpp"
#include "services/common/adapters/openssl/own_keys.hpp"
#include "services/common/adapters/openssl/pem.hpp"
#include "services/common/adapters/openssl/trust/proxy.hpp"
#include "tests/fuzz/mutation.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/trust_world.hpp"

// Any bytes as PEM, wherever PEM comes from outside: no crash, no fault of a sanitizer, every refusal has a message,
// and nobody is believed but who was made by the CAs. With libFuzzer this is the whole program; without, a replay over
// chains, requests and lists that are changed.

namespace {
using namespace zbs;

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "chain_fuzz: broken: %s\n", what);
    std::abort();
}

template <class T>
bool is_accepted(const Result<T>& result) {
    require(result || !result.error().message.empty(), "a refusal without message");
    return result.has_value();
}

struct World {
    World() {
        require(openssl::create_organisation(folder.path("a"), "org-k", "kappa", test::kToday).has_value(),
                "no folder");
        auto opened = openssl::KeyFolder::open(folder.path("a"), [] { return test::kToday; });
        require(opened.has_value(), "no keys");
        keys = *std::move(opened);
        proxy = test::make_certificate(test::application_form(trust.ana), &trust.ana);
    }
    test::TemporaryFolder folder;
    test::TrustWorld trust;
    std::unique_ptr<openssl::KeyFolder> keys;
    test::Holder proxy;
};
World& world() {
    static World the_world;
    return the_world;
}

std::uint64_t accepted = 0;

void look_at_chain(const std::string& text) {
    World& w = world();
    auto chain = openssl::read_certificates(text, openssl::kChainLimits, "the chain");
    if (!is_accepted(chain)) return;
    test::Holders holders;
    for (openssl::Certificate& certificate : *chain)
        holders.push_back({std::shared_ptr<X509>(certificate.release(), X509_free), nullptr});
    for (const openssl::Role role : {openssl::Role::kClient, openssl::Role::kServer}) {
        const PeerIdentity peer = w.trust.identify(holders, role);
        if (peer.is_anonymous()) {
            require(!peer.refusal().empty(), "a refusal without reason");
            continue;
        }
        ++accepted;
        const std::string& name = peer.name().name;
        require(name == "ana" || name == "alpha" || name == "gil", "somebody else is believed");
        require(role == openssl::Role::kClient || peer.name().kind == CallerKind::kZone, "a user answers calls");
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    World& w = world();
    const std::string text(reinterpret_cast<const char*>(data), size);
    look_at_chain(text);
    // The signatures are of other texts, so no chain is good enough.
    static const std::string kSignature = w.trust.proof({w.trust.ana}).signature;
    require(!is_accepted(w.trust.trust.verify_text("fuzz", {"text", text, kSignature})), "a wrong signature counts");
    require(!is_accepted(w.trust.trust.verify_text("fuzz", {"text", text, text}, text)), "a wrong signature counts");
    require(!is_accepted(w.trust.trust.verify_delegation("fuzz", {"text", text, kSignature})),
            "a wrong signature counts");
    static_cast<void>(is_accepted(w.trust.trust.fingerprint(text)));
    accepted += is_accepted(w.trust.trust.set_revocations("org-b", text)) ? 1 : 0;
    accepted += is_accepted(w.keys->issue(text, {CallerKind::kUser, "org-k", "u"}, std::chrono::hours{1})) ? 1 : 0;
    static_cast<void>(is_accepted(
        openssl::sign_proxy(text, text, text, {.application = "01J9Z3V7Q0ABCDEFGHJKMNPQRS"}, test::kToday)));
    static_cast<void>(is_accepted(w.keys->sign_with_proxy("fuzz", "text", text, text)));
    static_cast<void>(
        is_accepted(openssl::import_identity(w.folder.path("a"), {text, text, text, text, text}, test::kToday)));
    return 0;
}

#ifndef ZBS_LIBFUZZER
int main(int argc, char** argv) {
    const std::uint64_t runs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) / 10 : 2'000;
    const test::TrustWorld& w = world().trust;
    const test::Holder full = test::make_certificate(test::proxy_form(w.ana), &w.ana);
    const std::vector<std::string> samples{
        test::pem_of(w.ana),
        test::pem_of(w.alpha),
        test::pem_of({full, w.ana}),
        test::pem_of({world().proxy, w.ana}),
        test::pem_of(w.gil),
        test::pem_of({w.ca_a, w.ca_b}),
        test::list_pem({.revoked = {w.bob}}, w.ca_b),
        test::request_pem_of(test::make_test_key("P-256").get()),
        test::key_pem_of(w.ana) + test::pem_of(w.ana) + test::request_pem_of(test::make_test_key("P-256").get()),
    };
    const std::vector<std::string> pieces{"-----BEGIN CERTIFICATE-----\n",
                                          "-----END CERTIFICATE-----\n",
                                          "MII",
                                          "AAAA",
                                          "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n",
                                          "\n",
                                          "=",
                                          std::string(1, '\0'),
                                          "-----BEGIN X509 CRL-----\n"};
    for (std::uint64_t seed = 0; seed < runs; ++seed) {
        Rng rng(seed);
        std::string text = samples[rng.below(samples.size())];
        fuzz::mutate(text, rng, pieces, 4, 3);
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    }
    require(accepted > runs / 20, "hardly anything was read: the inputs are no use");
    std::printf("chain_fuzz: %llu inputs, all answered; %llu believed\n", static_cast<unsigned long long>(runs),
                static_cast<unsigned long long>(accepted));
    return 0;
}
#endif
