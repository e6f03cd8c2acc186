#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "algorithms/learning/coefficient_law.hpp"
#include "algorithms/learning/pattern.hpp"

namespace zbs::learning {

/// Several patterns that together make the traffic of a program, with what each of their classes carries at each known
/// number of ranks.
struct PatternFit {
    struct Part {
        Pattern pattern;
        std::vector<Coefficient> bytes, messages;
    };
    std::vector<Part> parts;
    double misfit = 0;  ///< mean `traffic_difference` of the graphs and what the parts say, 0..1
    /// Single patterns that alone explain the traffic about as well as the first part does; it may be either.
    std::vector<Pattern> rivals;
};

/// Finds the patterns in graphs of one program on different numbers of ranks: those that explain most together, one
/// after the other, each beside those before. What a class carries is the mean over its pairs of what other patterns
/// leave, never negative; of a class of which half of the pairs are missing in a graph nothing is taken to be there.
///
/// Where patterns explain equally much, the one with fewer classes is taken, then the one that stands first among the
/// candidates: neighbours in 1, 2, 3 dimensions, trees, hypercubes, masters, all pairs, rows and columns. Costs about
/// 1.5 s for 35,000 edges, and grows with them. Precondition: at least one graph, numbers of ranks at least 2
/// and all different.
class PatternFitter {
  public:
    /// The graphs must outlive the fitter.
    explicit PatternFitter(std::span<const TaskGraph* const> graphs);
    ~PatternFitter();

    /// The best of all patterns that are possible on `wanted` ranks, too.
    PatternFit fit(int wanted);
    /// What these patterns carry, all of them; nothing where one of them cannot be in the graphs.
    std::optional<PatternFit> fit_these(std::span<const Pattern> patterns);

  private:
    struct Size;
    struct Candidate;

    std::optional<std::size_t> add_candidate(const Pattern& pattern);
    static bool places(const Pattern& pattern, Size& size, Candidate& candidate);
    struct Score {
        double misfit = 0;
        double value = 0;  ///< less is better
        int classes = 0;   ///< in use, at most at one number of ranks
    };
    Score score_of(std::span<const std::size_t> chosen, int sweeps);
    void drop_superfluous(std::vector<std::size_t>& chosen, Score& now);
    PatternFit finish(std::vector<std::size_t> chosen);

    std::vector<Size> sizes_;
    std::vector<Candidate> candidates_;
    std::vector<Score> alone_;  ///< of each candidate without others
};

}  // namespace zbs::learning
