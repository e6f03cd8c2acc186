#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "algorithms/base/expects.hpp"

namespace zbs {

/// xoshiro256** seeded by splitmix64 [BlackmanVigna2021]: equal seeds give equal streams on every platform and
/// standard library, which std::uniform_int_distribution does not promise.
class Rng {
  public:
    explicit Rng(std::uint64_t seed) {
        for (std::uint64_t& word : state_) {
            seed += 0x9e3779b97f4a7c15ULL;
            std::uint64_t z = seed;
            z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
            z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
            word = z ^ (z >> 31);
        }
    }

    std::uint64_t next() {
        const std::uint64_t result = rotl(state_[1] * 5, 7) * 9;
        const std::uint64_t t = state_[1] << 17;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= t;
        state_[3] = rotl(state_[3], 45);
        return result;
    }

    /// Uniform in [0, bound), bound > 0, without modulo bias (Lemire's multiply-shift with rejection).
    std::uint64_t below(std::uint64_t bound) {
        ZBS_EXPECTS(bound > 0);
        const std::uint64_t threshold = (0 - bound) % bound;
        for (;;) {
            const Wide product = static_cast<Wide>(next()) * bound;
            if (static_cast<std::uint64_t>(product) >= threshold) return static_cast<std::uint64_t>(product >> 64);
        }
    }

    /// Uniform in [0, 1) with 53 random bits.
    double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

    template <class Container>
    void shuffle(Container& items) {
        for (std::size_t i = items.size(); i > 1; --i) {
            using std::swap;
            swap(items[i - 1], items[below(i)]);
        }
    }

  private:
    __extension__ using Wide = unsigned __int128;

    static constexpr std::uint64_t rotl(std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
    std::array<std::uint64_t, 4> state_{};
};

}  // namespace zbs
