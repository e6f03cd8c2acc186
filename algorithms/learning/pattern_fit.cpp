#include "algorithms/learning/pattern_fit.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "algorithms/learning/model_error.hpp"

namespace zbs::learning {

/// A class of a pattern on one number of ranks: its pairs, as positions among the amounts of that graph.
struct ClassMembers {
    int of_class = 0;
    std::vector<std::pair<std::uint32_t, float>> members;
    double weight = 0;  ///< sum of the squared times
};

namespace {

constexpr std::size_t kMaxParts = 5;
constexpr int kSelectionSweeps = 8, kFinalSweeps = 60;
/// Another pattern must lower the score by this, and by this share of it: less is noise.
constexpr double kWorthwhile = 0.002, kWorthwhileShare = 0.25;
/// Of two explanations that are as good the one with fewer classes is taken.
constexpr double kScoreOfAClass = 1e-4;
/// The fit does not distinguish patterns whose scores differ by less.
constexpr double kAlike = 0.02;
constexpr double kGoodEnough = 0.001;
/// A pattern that has more pairs than this many for each edge of the graph is not in it.
constexpr std::size_t kMaxPairsPerEdge = 8;
constexpr std::size_t kMaxFixedLengths = 8;

using Kind = Pattern::Kind;

std::vector<Pattern> stencils(const GridRule& rule) {
    std::vector<Pattern> all;
    const unsigned full = (1U << rule.dimensions) - 1;
    for (unsigned periodic = 0; periodic <= full; ++periodic) {
        if (rule.dimensions == 3 && periodic != 0 && periodic != full) continue;  // half-open boxes are left out
        all.push_back({Kind::kStencil, rule, periodic});
    }
    return all;
}

/// Lengths of rows that all known numbers of ranks and the wanted one can have.
std::vector<int> common_lengths(std::span<const int> sizes, int wanted) {
    int common = wanted;
    for (const int ranks : sizes) common = std::gcd(common, ranks);
    std::vector<int> lengths;
    for (int length = 2; length <= common && lengths.size() < kMaxFixedLengths; ++length)
        if (common % length == 0) lengths.push_back(length);
    return lengths;
}

/// Simple ones first: of those that explain equally much the first is taken.
std::vector<Pattern> candidate_patterns(std::span<const int> sizes, int wanted) {
    using Shape = GridRule::Shape;
    std::vector<Pattern> all = stencils({1, Shape::kBalanced, 0});
    const auto append = [&](const std::vector<Pattern>& some) { all.insert(all.end(), some.begin(), some.end()); };
    for (const int dimensions : {2, 3})
        for (const Shape shape : {Shape::kBalanced, Shape::kReversed}) append(stencils({dimensions, shape, 0}));
    for (const Kind kind : {Kind::kBinomialTree, Kind::kHypercube, Kind::kDoubling, Kind::kFirstWithAll,
                            Kind::kLastWithAll, Kind::kAllPairs})
        all.push_back({kind, {}, 0});
    for (const Shape shape : {Shape::kBalanced, Shape::kReversed})
        for (const Kind kind : {Kind::kRowPairs, Kind::kColumnPairs, Kind::kRowHypercube, Kind::kColumnHypercube})
            all.push_back({kind, {2, shape, 0}, 0});
    if (sizes.size() > 1) {  // one number of ranks cannot distinguish a fixed length from a balanced grid
        for (const int length : common_lengths(sizes, wanted))
            for (const Shape shape : {Shape::kFixedFastest, Shape::kFixedSlowest}) append(stencils({2, shape, length}));
    }
    return all;
}

/// Amounts of classes so that their sums come near `target`, by least squares, none negative: one class after the other
/// takes the mean of what all others leave to it. Returns the sums.
std::vector<double> descend(const std::vector<double>& target, std::span<const ClassMembers* const> classes, int sweeps,
                            std::vector<double>& amounts) {
    std::vector<double> sums(target.size(), 0.0);
    amounts.assign(classes.size(), 0.0);
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        double moved = 0, most = 0;
        for (std::size_t c = 0; c < classes.size(); ++c) {
            double rest = 0;
            for (const auto& [at, times] : classes[c]->members) rest += times * (target[at] - sums[at]);
            const double change = std::max(-amounts[c], rest / classes[c]->weight);
            amounts[c] += change;
            moved = std::max(moved, std::abs(change));
            most = std::max(most, amounts[c]);
            for (const auto& [at, times] : classes[c]->members) sums[at] += times * change;
        }
        if (moved <= 1e-9 * most) break;
    }
    return sums;
}

double misfit_between(const std::vector<double>& target, const std::vector<double>& sums) {
    double apart = 0, together = 0;
    for (std::size_t i = 0; i < target.size(); ++i) {
        apart += std::abs(target[i] - sums[i]);
        together += target[i] + sums[i];
    }
    return together > 0 ? apart / together : 0;
}

double pairs_in(const ClassMembers& of_class) { return std::max(1.0, static_cast<double>(of_class.members.size())); }

std::uint64_t key_of(TaskIndex u, TaskIndex v) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(u)) << 32 | static_cast<std::uint32_t>(v);
}

}  // namespace

/// A known graph. Pairs have positions: first its edges, then those that only patterns have, whose amounts are 0.
struct PatternFitter::Size {
    const TaskGraph* graph = nullptr;
    std::unordered_map<std::uint64_t, std::uint32_t> position;
    std::vector<double> bytes, messages;

    std::uint32_t place(TaskIndex u, TaskIndex v) {
        const auto [at, fresh] = position.try_emplace(key_of(u, v), static_cast<std::uint32_t>(bytes.size()));
        if (fresh) {
            bytes.push_back(0);
            messages.push_back(0);
        }
        return at->second;
    }
};

struct PatternFitter::Candidate {
    Pattern pattern;
    std::vector<std::vector<ClassMembers>> classes;  ///< by size
};

PatternFitter::PatternFitter(std::span<const TaskGraph* const> graphs) {
    ZBS_EXPECTS(!graphs.empty());
    for (const TaskGraph* graph : graphs) {
        Size size;
        size.graph = graph;
        for (const TaskEdge& edge : graph->edges()) {
            const std::uint32_t at = size.place(edge.u, edge.v);
            size.bytes[at] = edge.bytes;
            size.messages[at] = edge.messages;
        }
        sizes_.push_back(std::move(size));
    }
}

PatternFitter::~PatternFitter() = default;

/// The number of the candidate; none where it cannot be in these graphs.
std::optional<std::size_t> PatternFitter::add_candidate(const Pattern& pattern) {
    const auto known =
        std::find_if(candidates_.begin(), candidates_.end(), [&](const Candidate& c) { return c.pattern == pattern; });
    if (known != candidates_.end()) return static_cast<std::size_t>(known - candidates_.begin());
    Candidate candidate{pattern, {}};
    bool somewhere = false;
    for (Size& size : sizes_) {
        if (!places(pattern, size, candidate)) return {};
        for (const ClassMembers& members : candidate.classes.back()) somewhere |= !members.members.empty();
    }
    if (!somewhere) return {};
    candidates_.push_back(std::move(candidate));
    return candidates_.size() - 1;
}

/// False where the pattern cannot be in this graph.
bool PatternFitter::places(const Pattern& pattern, Size& size, Candidate& candidate) {
    const std::size_t edges = size.graph->edge_count();
    const auto pairs = pairs_of(pattern, size.graph->task_count(), kMaxPairsPerEdge * edges + 64);
    if (!pairs) return false;
    std::vector<ClassMembers>& classes = candidate.classes.emplace_back();
    for (std::size_t begin = 0; begin < pairs->size();) {
        std::size_t end = begin, there = 0;
        for (; end < pairs->size() && (*pairs)[end].of_class == (*pairs)[begin].of_class; ++end) {
            const auto at = size.position.find(key_of((*pairs)[end].u, (*pairs)[end].v));
            there += at != size.position.end() && at->second < edges ? 1U : 0U;
        }
        ClassMembers& found = classes.emplace_back();
        found.of_class = (*pairs)[begin].of_class;
        found.weight = 1;
        // A class that is not there has no members, and so carries nothing; that is known of it, too.
        for (std::size_t i = begin; 2 * there >= end - begin && i < end; ++i) {
            const float times = (*pairs)[i].times;
            if (i == begin) found.weight = 0;
            found.members.emplace_back(size.place((*pairs)[i].u, (*pairs)[i].v), times);
            found.weight += static_cast<double>(times) * static_cast<double>(times);
        }
        begin = end;
    }
    return true;
}

/// The misfit, as much larger as it would be on other data: every class in use takes some of the noise away.
PatternFitter::Score PatternFitter::score_of(std::span<const std::size_t> chosen, int sweeps) {
    Score score;
    std::vector<double> amounts;
    for (std::size_t s = 0; s < sizes_.size(); ++s) {
        std::vector<const ClassMembers*> classes;
        for (const std::size_t c : chosen)
            for (const ClassMembers& members : candidates_[c].classes[s]) classes.push_back(&members);
        const double misfit = misfit_between(sizes_[s].bytes, descend(sizes_[s].bytes, classes, sweeps, amounts));
        const auto used = static_cast<double>(std::ranges::count_if(amounts, [](double a) { return a > 0; }));
        const auto edges = static_cast<double>(sizes_[s].graph->edge_count());
        score.misfit += misfit / static_cast<double>(sizes_.size());
        score.value += (edges > used ? misfit * edges / (edges - used)
                        : misfit > 0 ? 1.0
                                     : 0.0) /
                       static_cast<double>(sizes_.size());
        score.classes = std::max(score.classes, static_cast<int>(used));
    }
    score.value += kScoreOfAClass * score.classes;
    return score;
}

PatternFit PatternFitter::fit(int wanted) {
    std::vector<int> ranks;
    for (const Size& size : sizes_) ranks.push_back(size.graph->task_count());
    for (const Pattern& pattern : candidate_patterns(ranks, wanted)) static_cast<void>(add_candidate(pattern));
    std::vector<std::size_t> chosen;
    Score now{1, 1, 0};
    alone_.assign(candidates_.size(), now);
    while (chosen.size() < kMaxParts && now.misfit > kGoodEnough) {
        std::size_t best = candidates_.size();
        double least = now.value - std::max(kWorthwhile, kWorthwhileShare * now.value);
        for (std::size_t c = 0; c < candidates_.size(); ++c) {
            if (std::ranges::find(chosen, c) != chosen.end()) continue;
            std::vector<std::size_t> with = chosen;
            with.push_back(c);
            const Score found = score_of(with, kSelectionSweeps);
            if (chosen.empty()) alone_[c] = found;
            if (found.value < least) {
                // The next one must be better by more than nothing: candidates that are the same here come later.
                least = found.value - 1e-6;
                best = c;
            }
        }
        if (best == candidates_.size()) break;
        chosen.push_back(best);
        now = score_of(chosen, kSelectionSweeps);
        drop_superfluous(chosen, now);
    }
    return finish(std::move(chosen));
}

/// Parts that the later ones explain as well.
void PatternFitter::drop_superfluous(std::vector<std::size_t>& chosen, Score& now) {
    for (std::size_t i = 0; chosen.size() > 1 && i < chosen.size();) {
        std::vector<std::size_t> without = chosen;
        without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
        const Score found = score_of(without, kSelectionSweeps);
        if (found.value < now.value + kWorthwhile) {
            chosen = std::move(without);
            now = found;
        } else {
            ++i;
        }
    }
}

std::optional<PatternFit> PatternFitter::fit_these(std::span<const Pattern> patterns) {
    std::vector<std::size_t> chosen;
    for (const Pattern& pattern : patterns) {
        const std::optional<std::size_t> number = add_candidate(pattern);
        if (!number) return {};
        if (std::find(chosen.begin(), chosen.end(), *number) == chosen.end()) chosen.push_back(*number);
    }
    return finish(std::move(chosen));
}

PatternFit PatternFitter::finish(std::vector<std::size_t> chosen) {
    PatternFit fit;
    for (const std::size_t c : chosen) fit.parts.push_back({candidates_[c].pattern, {}, {}});
    for (std::size_t s = 0; s < sizes_.size(); ++s) {
        std::vector<const ClassMembers*> classes;
        std::vector<std::size_t> part_of;
        for (std::size_t part = 0; part < chosen.size(); ++part) {
            for (const ClassMembers& members : candidates_[chosen[part]].classes[s]) {
                classes.push_back(&members);
                part_of.push_back(part);
            }
        }
        const Size& size = sizes_[s];
        const int ranks = size.graph->task_count();
        std::vector<double> amounts;
        fit.misfit += misfit_between(size.bytes, descend(size.bytes, classes, kFinalSweeps, amounts)) /
                      static_cast<double>(sizes_.size());
        for (std::size_t c = 0; c < classes.size(); ++c)
            fit.parts[part_of[c]].bytes.push_back({ranks, classes[c]->of_class, amounts[c], pairs_in(*classes[c])});
        descend(size.messages, classes, kFinalSweeps, amounts);
        for (std::size_t c = 0; c < classes.size(); ++c)
            fit.parts[part_of[c]].messages.push_back({ranks, classes[c]->of_class, amounts[c], pairs_in(*classes[c])});
    }
    if (chosen.empty()) {
        fit.misfit = 1;
        return fit;
    }
    for (std::size_t c = 0; chosen[0] < alone_.size() && c < alone_.size(); ++c) {
        const Score &first = alone_[chosen[0]], &other = alone_[c];
        // What needs more classes for the same is contrived: a chain is some of the offsets of a box.
        if (c != chosen[0] && other.value <= first.value + kAlike && other.classes <= first.classes)
            fit.rivals.push_back(candidates_[c].pattern);
    }
    return fit;
}

}  // namespace zbs::learning
