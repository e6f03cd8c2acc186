#include <gtest/gtest.h>

#include "algorithms/base/rng.hpp"
#include "tests/support/trust_world.hpp"

// A good chain with bytes of its DER form changed: never another identity, never more rights, never a crash.
namespace zbs::test {
namespace {

std::string der_of(const Holder& holder) {
    unsigned char* bytes = nullptr;
    const int size = i2d_X509(holder.certificate.get(), &bytes);
    ZBS_EXPECTS(size > 0);
    std::string der(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
    OPENSSL_free(bytes);
    return der;
}

/// Null where the bytes are no certificate any more.
std::shared_ptr<X509> read_der(const std::string& der) {
    const auto* at = reinterpret_cast<const unsigned char*>(der.data());
    return {d2i_X509(nullptr, &at, static_cast<long>(der.size())), X509_free};
}

void change(std::string& der, Rng& rng) {
    for (std::uint64_t n = 1 + rng.below(3); n > 0; --n) {
        const std::size_t at = rng.below(der.size());
        switch (rng.below(4)) {
            case 0:
                der[at] = static_cast<char>(rng.below(256));
                break;
            case 1:
                der[at] = static_cast<char>(der[at] ^ (1 << rng.below(8)));
                break;
            case 2:
                der.erase(at, 1 + rng.below(4));
                break;
            default:
                der.insert(at, der.substr(rng.below(der.size()), 1 + rng.below(8)));
        }
        if (der.empty()) return;
    }
}

TEST(ChangedChainProperty, IsNeverAnotherIdentity) {
    TrustWorld w;
    const Holder proxy = make_certificate(proxy_form(w.ana), &w.ana);
    const Holder limited = make_certificate(limited_form(w.ana), &w.ana);
    const std::vector<Holders> chains{{w.ana}, {proxy, w.ana}, {limited, w.ana}, {w.gil}, {w.alpha}};
    int still_certificates = 0, refused = 0;
    for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
        SCOPED_TRACE(seed);
        Rng rng(seed);
        Holders chain = chains[rng.below(chains.size())];
        const std::string good = w.verdict(chain);
        Holder& victim = chain[rng.below(chain.size())];
        std::string der = der_of(victim);
        change(der, rng);
        victim.certificate = read_der(der);
        if (!victim.certificate) continue;
        ++still_certificates;
        const std::string verdict = w.verdict(chain);
        refused += verdict.starts_with("refused: ") ? 1 : 0;
        EXPECT_TRUE(verdict == good || verdict.starts_with("refused: ")) << verdict;
    }
    EXPECT_GT(still_certificates, 100) << "the changes are too coarse to say anything";
    EXPECT_GT(refused, still_certificates / 2);
}

}  // namespace
}  // namespace zbs::test
