#include "algorithms/allocation/free_cubes.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "algorithms/base/expects.hpp"

namespace zbs {
namespace {

/// Bits of a word whose position has a 0 in dimension 0 .. 5.
constexpr std::array<std::uint64_t, 6> kLowHalf{0x5555555555555555, 0x3333333333333333, 0x0f0f0f0f0f0f0f0f,
                                                0x00ff00ff00ff00ff, 0x0000ffff0000ffff, 0x00000000ffffffff};

/// The nodes of a cube inside its word, as bits.
std::uint64_t pattern_of(const Cube& cube) {
    std::uint64_t bits = std::uint64_t{1} << (cube.value & 63);
    for (int i = 0; i < 6; ++i)
        if ((cube.star >> i & 1) != 0) bits |= bits << (1u << i);
    return bits;
}

}  // namespace

CubeDecomposer::CubeDecomposer(int dimensions)
    : dimensions_(dimensions), words_(dimensions <= 6 ? 1 : std::size_t{1} << (dimensions - 6)) {
    ZBS_EXPECTS(dimensions >= 0 && dimensions <= kMaxDimensions);
}

void CubeDecomposer::mark(const Cube& cube, bool remaining) {
    const std::uint64_t pattern = pattern_of(cube);
    const std::uint32_t star = cube.star >> 6;
    for (std::uint32_t part = 0;; part = (part - star) & star) {
        std::uint64_t& word = remaining_[(cube.value >> 6) | part];
        word = remaining ? word | pattern : word & ~pattern;
        if (part == star) return;
    }
}

bool CubeDecomposer::all_remain(const Cube& cube) const {
    const std::uint64_t pattern = pattern_of(cube);
    const std::uint32_t star = cube.star >> 6;
    for (std::uint32_t part = 0;; part = (part - star) & star) {
        if ((remaining_[(cube.value >> 6) | part] & pattern) != pattern) return false;
        if (part == star) return true;
    }
}

std::vector<Cube> CubeDecomposer::decompose(std::span<const Cube> cubes) {
    if (cubes.size() <= 1) return {cubes.begin(), cubes.end()};
    std::int64_t left = 0;
    for (const Cube& cube : cubes) left += cube.size();
    if (left == std::int64_t{1} << dimensions_) return {whole_cube(dimensions_)};
    const std::uint32_t star_sets = std::uint32_t{1} << dimensions_;
    if (positions_.empty()) {
        positions_.resize(star_sets * words_);
        any_.resize(star_sets);
        stars_by_size_.resize(star_sets);
        for (std::uint32_t star = 0; star < star_sets; ++star) stars_by_size_[star] = star;
        std::ranges::stable_sort(stars_by_size_,
                                 [](std::uint32_t a, std::uint32_t b) { return std::popcount(a) > std::popcount(b); });
    }
    remaining_.assign(words_, 0);
    for (const Cube& cube : cubes) mark(cube, true);

    std::ranges::copy(remaining_, positions(0));
    any_[0] = 1;
    for (std::uint32_t star = 1; star < star_sets; ++star) {
        const int highest = static_cast<int>(std::bit_width(star)) - 1;
        const std::uint32_t rest = star & ~(std::uint32_t{1} << highest);
        any_[star] = 0;
        if (any_[rest] == 0) continue;
        const std::uint64_t* const from = positions(rest);
        std::uint64_t* const to = positions(star);
        std::uint64_t any = 0;
        if (highest < 6) {
            const std::uint64_t low = kLowHalf[static_cast<std::size_t>(highest)];
            for (std::size_t w = 0; w < words_; ++w) any |= to[w] = from[w] & (from[w] >> (1u << highest)) & low;
        } else {
            const std::size_t stride = std::size_t{1} << (highest - 6);
            for (std::size_t base = 0; base < words_; base += 2 * stride) {
                for (std::size_t w = base; w < base + stride; ++w) {
                    any |= to[w] = from[w] & from[w + stride];
                    to[w + stride] = 0;
                }
            }
        }
        any_[star] = any != 0 ? 1 : 0;
    }

    std::vector<Cube> out;
    for (const std::uint32_t star : stars_by_size_) {
        if (any_[star] == 0) continue;
        const std::uint64_t* const found = positions(star);
        for (std::size_t w = 0; w < words_; ++w) {
            // The first node of a cube that is still there remains, too; taking a cube may change the word.
            for (std::uint64_t open = found[w] & remaining_[w]; open != 0;) {
                const Cube cube{
                    .star = star,
                    .value = static_cast<std::uint32_t>(w * 64) + static_cast<std::uint32_t>(std::countr_zero(open))};
                open &= open - 1;
                if (!all_remain(cube)) continue;
                mark(cube, false);
                open &= remaining_[w];
                out.push_back(cube);
                left -= cube.size();
                if (left == 0) return out;
            }
        }
    }
    ZBS_EXPECTS(left == 0);
    return out;
}

FreeCubes::FreeCubes(int dimensions, Coalescing coalescing)
    : coalescing_(coalescing), lists_(static_cast<std::size_t>(dimensions) + 1), decomposer_(dimensions) {
    lists_.back().push_back(whole_cube(dimensions));
}

std::optional<Cube> FreeCubes::take(int dimension) {
    std::size_t from = static_cast<std::size_t>(dimension);
    while (from < lists_.size() && lists_[from].empty()) ++from;
    if (from >= lists_.size()) return std::nullopt;
    Cube cube = lists_[from].back();
    lists_[from].pop_back();
    while (from > static_cast<std::size_t>(dimension)) {
        const CubeHalves halves = split(cube);
        lists_[--from].push_back(halves.high);
        cube = halves.low;
    }
    return cube;
}

void FreeCubes::put(std::span<const Cube> cubes) {
    std::vector<Cube> all(cubes.begin(), cubes.end());
    for (std::vector<Cube>& list : lists_) {
        all.insert(all.end(), list.begin(), list.end());
        list.clear();
    }
    all = coalescing_ == Coalescing::kComplete ? decomposer_.decompose(all) : coalesced(std::move(all));
    // Lists are taken from their ends: the cubes found first are to go first.
    for (std::size_t i = all.size(); i-- > 0;) lists_[static_cast<std::size_t>(all[i].dimension())].push_back(all[i]);
}

}  // namespace zbs
