#include "algorithms/learning/pattern.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>
#include <utility>

#include "algorithms/base/collective_pattern.hpp"

namespace zbs::learning {
namespace {

using Kind = Pattern::Kind;

/// Offsets of a stencil are numbers of three ternary digits, dimension 0 the highest: -1, 0, 1 as 0, 1, 2.
constexpr int kOffsets = 27;
std::array<int, 3> offset_of(int of_class) { return {of_class / 9 - 1, of_class / 3 % 3 - 1, of_class % 3 - 1}; }

/// Collects pairs, and stops when they are too many.
class Pairs {
  public:
    explicit Pairs(std::size_t most) : most_(most) {}
    void add(int a, int b, int of_class) {
        if (a == b || full()) return;
        pairs_.push_back({std::min(a, b), std::max(a, b), of_class, 1});
    }
    bool full() const { return pairs_.size() > most_; }

    std::optional<std::vector<PatternPair>> finish() && {
        if (full()) return {};
        const auto key = [](const PatternPair& p) { return std::tuple(p.of_class, p.u, p.v); };
        std::sort(pairs_.begin(), pairs_.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
        std::vector<PatternPair> once;
        once.reserve(pairs_.size());
        for (const PatternPair& pair : pairs_) {
            if (!once.empty() && key(once.back()) == key(pair))
                once.back().times += 1;
            else
                once.push_back(pair);
        }
        return once;
    }

  private:
    std::size_t most_;
    std::vector<PatternPair> pairs_;
};

void add_stencil(Pairs& pairs, const ProcessGrid& grid, unsigned periodic) {
    const auto& length = grid.length;
    // Past the middle: the other half are the same pairs from the other end.
    for (int of_class = kOffsets / 2 + 1; of_class < kOffsets; ++of_class) {
        const std::array<int, 3> offset = offset_of(of_class);
        bool possible = true;
        for (std::size_t j = 0; j < 3; ++j) possible &= offset[j] == 0 || length[j] > 1;
        if (!possible) continue;
        for (int i = 0; i < length[0]; ++i) {
            for (int j = 0; j < length[1]; ++j) {
                for (int k = 0; k < length[2] && !pairs.full(); ++k) {
                    std::array<int, 3> to{i + offset[0], j + offset[1], k + offset[2]};
                    bool inside = true;
                    for (std::size_t d = 0; d < 3; ++d) {
                        if (to[d] >= 0 && to[d] < length[d]) continue;
                        inside &= (periodic >> d & 1U) != 0;
                        to[d] = (to[d] + length[d]) % length[d];
                    }
                    if (inside)
                        pairs.add((i * length[1] + j) * length[2] + k, (to[0] * length[1] + to[1]) * length[2] + to[2],
                                  of_class);
                }
            }
        }
    }
}

void add_hypercube(Pairs& pairs, int ranks) {
    const collectives::Fold fold(ranks, true);
    for (int level = 0; (1 << level) < fold.power; ++level) {
        for (int inner = 0; inner < fold.power; ++inner) {
            if (const int partner = inner ^ (1 << level); inner < partner)
                pairs.add(fold.outer(inner), fold.outer(partner), level);
        }
    }
    for (int i = 0; i < fold.rem; ++i) pairs.add(2 * i, 2 * i + 1, kAside);
}

/// Pairs inside lines of `length` ranks that are `stride` apart.
struct RankLine {
    int begin, length, stride;
    int at(int i) const { return begin + i * stride; }
};
void add_line(Pairs& pairs, const RankLine& line, bool hypercube) {
    if (hypercube) {
        for (int level = 0; (1 << level) < line.length; ++level) {
            for (int i = 0; i < line.length; ++i) {
                if (const int partner = i ^ (1 << level); i < partner && partner < line.length)
                    pairs.add(line.at(i), line.at(partner), level);
            }
        }
        return;
    }
    for (int i = 0; i < line.length && !pairs.full(); ++i)
        for (int j = i + 1; j < line.length; ++j) pairs.add(line.at(i), line.at(j), 0);
}

void add_lines(Pairs& pairs, const ProcessGrid& grid, bool rows, bool hypercube) {
    const int row_count = grid.length[0], row_length = grid.length[1];
    if (rows) {
        for (int i = 0; i < row_count; ++i) add_line(pairs, {i * row_length, row_length, 1}, hypercube);
    } else {
        for (int j = 0; j < row_length; ++j) add_line(pairs, {j, row_count, row_length}, hypercube);
    }
}

bool needs_grid(Kind kind) {
    return kind == Kind::kStencil || kind == Kind::kRowPairs || kind == Kind::kColumnPairs ||
           kind == Kind::kRowHypercube || kind == Kind::kColumnHypercube;
}

const char* word(Kind kind) {
    switch (kind) {
        case Kind::kStencil:
            return "stencil";
        case Kind::kBinomialTree:
            return "binomial tree";
        case Kind::kHypercube:
            return "hypercube";
        case Kind::kDoubling:
            return "doubling distances";
        case Kind::kFirstWithAll:
            return "master on rank 0";
        case Kind::kLastWithAll:
            return "master on the last rank";
        case Kind::kAllPairs:
            return "all pairs";
        case Kind::kRowPairs:
            return "all pairs in rows";
        case Kind::kColumnPairs:
            return "all pairs in columns";
        case Kind::kRowHypercube:
            return "hypercube in rows";
        case Kind::kColumnHypercube:
            return "hypercube in columns";
    }
    return "";
}

std::vector<int> divisors_of(int number) {
    std::vector<int> all;
    for (int d = 1; d <= number / d; ++d) {
        if (number % d != 0) continue;
        all.push_back(d);
        if (d != number / d) all.push_back(number / d);
    }
    std::sort(all.begin(), all.end());
    return all;
}

/// The larger factor of two.
int larger_of_two(int number) {
    int smaller = 1;
    for (int d = 2; d <= number / d; ++d)
        if (number % d == 0) smaller = d;
    return number / smaller;
}

}  // namespace

std::string to_string(const Pattern& pattern) {
    if (!needs_grid(pattern.kind)) return word(pattern.kind);
    if (pattern.kind == Kind::kStencil && pattern.grid.dimensions == 1) return pattern.periodic != 0 ? "ring" : "chain";
    std::string text =
        std::to_string(pattern.grid.dimensions) + "-D " + word(pattern.kind) + " (" + to_string(pattern.grid);
    if (pattern.periodic != 0) {
        const bool all = pattern.periodic == (1U << pattern.grid.dimensions) - 1;
        text += all ? ", periodic" : pattern.periodic == 1 ? ", rows periodic" : ", columns periodic";
    }
    return text + ")";
}

bool has_levels(const Pattern& pattern) {
    switch (pattern.kind) {
        case Kind::kBinomialTree:
        case Kind::kHypercube:
        case Kind::kDoubling:
        case Kind::kRowHypercube:
        case Kind::kColumnHypercube:
            return true;
        default:
            return false;
    }
}

unsigned moving_dimensions(int of_class, int dimensions) {
    // A 1-D grid has its length in dimension 0, and so on: unused ones have length 1 and no offset.
    const std::array<int, 3> offset = offset_of(of_class);
    unsigned moving = 0;
    for (int j = 0; j < dimensions; ++j) moving |= offset[static_cast<std::size_t>(j)] != 0 ? 1U << j : 0U;
    return moving;
}

double logarithmic_scale(const Pattern& pattern, int of_class, int ranks) {
    const double all = std::log(static_cast<double>(ranks));
    if (pattern.kind == Kind::kFirstWithAll || pattern.kind == Kind::kLastWithAll)
        return std::log(std::max(1.0, static_cast<double>(ranks) - 1));
    if (pattern.kind != Kind::kStencil) return all;
    const unsigned moving = moving_dimensions(of_class, pattern.grid.dimensions);
    if (std::cmp_equal(std::popcount(moving), pattern.grid.dimensions)) return all;
    const std::optional<ProcessGrid> grid = grid_of(pattern.grid, ranks);
    if (!grid) return all;
    double border = 0;
    for (int j = 0; j < pattern.grid.dimensions; ++j)
        if ((moving >> j & 1U) == 0) border += std::log(static_cast<double>(grid->length[static_cast<std::size_t>(j)]));
    return border;
}

std::optional<std::vector<PatternPair>> pairs_of(const Pattern& pattern, int ranks, std::size_t most) {
    ZBS_EXPECTS(ranks >= 1);
    const std::optional<ProcessGrid> grid = needs_grid(pattern.kind) ? grid_of(pattern.grid, ranks) : ProcessGrid{};
    if (!grid) return {};
    Pairs pairs(most);
    switch (pattern.kind) {
        case Kind::kStencil:
            add_stencil(pairs, *grid, pattern.periodic);
            break;
        case Kind::kBinomialTree:
            for (int r = 1; r < ranks; ++r) pairs.add(r & (r - 1), r, std::countr_zero(static_cast<unsigned>(r)));
            break;
        case Kind::kHypercube:
            add_hypercube(pairs, ranks);
            break;
        case Kind::kDoubling:
            for (int level = 0; (1LL << level) < ranks; ++level)
                for (int r = 0; r < ranks && !pairs.full(); ++r) pairs.add(r, (r + (1 << level)) % ranks, level);
            break;
        case Kind::kFirstWithAll:
            for (int r = 1; r < ranks; ++r) pairs.add(0, r, 0);
            break;
        case Kind::kLastWithAll:
            for (int r = 0; r + 1 < ranks; ++r) pairs.add(r, ranks - 1, 0);
            break;
        case Kind::kAllPairs:
            add_line(pairs, {0, ranks, 1}, false);
            break;
        case Kind::kRowPairs:
        case Kind::kColumnPairs:
        case Kind::kRowHypercube:
        case Kind::kColumnHypercube:
            add_lines(pairs, *grid, pattern.kind == Kind::kRowPairs || pattern.kind == Kind::kRowHypercube,
                      pattern.kind == Kind::kRowHypercube || pattern.kind == Kind::kColumnHypercube);
            break;
    }
    return std::move(pairs).finish();
}

std::string to_string(const GridRule& rule) {
    switch (rule.shape) {
        case GridRule::Shape::kBalanced:
            return "balanced";
        case GridRule::Shape::kReversed:
            return "balanced, longest last";
        case GridRule::Shape::kFixedFastest:
            return "rows of " + std::to_string(rule.fixed);
        case GridRule::Shape::kFixedSlowest:
            return std::to_string(rule.fixed) + " rows";
    }
    return {};
}

std::array<int, 3> balanced_factors(int ranks, int dimensions) {
    ZBS_EXPECTS(ranks >= 1 && dimensions >= 1 && dimensions <= 3);
    if (dimensions == 1) return {ranks, 1, 1};
    if (dimensions == 2) {
        const int larger = larger_of_two(ranks);
        return {larger, ranks / larger, 1};
    }
    std::array<int, 3> best{ranks, 1, 1};
    for (const int smallest : divisors_of(ranks)) {
        if (static_cast<long long>(smallest) * smallest * smallest > ranks) break;
        // For a given smallest the other two are closest to each other in the best choice.
        const int rest = ranks / smallest;
        const int larger = larger_of_two(rest), middle = rest / larger;
        std::array<int, 3> found{larger, middle, smallest};
        std::sort(found.rbegin(), found.rend());
        const int spread = found[0] - found[2], least = best[0] - best[2];
        if (spread < least || (spread == least && found[0] < best[0])) best = found;
    }
    return best;
}

std::optional<ProcessGrid> grid_of(const GridRule& rule, int ranks) {
    ZBS_EXPECTS(ranks >= 1 && rule.dimensions >= 1 && rule.dimensions <= 3);
    ProcessGrid grid{.length = {1, 1, 1}, .dimensions = rule.dimensions};
    switch (rule.shape) {
        case GridRule::Shape::kBalanced:
        case GridRule::Shape::kReversed:
            grid.length = balanced_factors(ranks, rule.dimensions);
            if (rule.shape == GridRule::Shape::kReversed)
                std::reverse(grid.length.begin(), grid.length.begin() + rule.dimensions);
            break;
        case GridRule::Shape::kFixedFastest:
        case GridRule::Shape::kFixedSlowest:
            ZBS_EXPECTS(rule.dimensions == 2 && rule.fixed >= 1);
            if (ranks % rule.fixed != 0) return {};
            grid.length = {ranks / rule.fixed, rule.fixed, 1};
            if (rule.shape == GridRule::Shape::kFixedSlowest) std::swap(grid.length[0], grid.length[1]);
            break;
    }
    return grid;
}

}  // namespace zbs::learning
