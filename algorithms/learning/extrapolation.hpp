#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "algorithms/learning/coefficient_law.hpp"
#include "algorithms/model/task_graph.hpp"

namespace zbs::learning {

struct ExtrapolationOptions {
    Scaling scaling =
        Scaling::kStrong;              ///< assumed where it cannot be fitted: one known number of ranks, or alike ones
    std::size_t most_edges = 500'000;  ///< of all known graphs together, and of the predicted one
    double least_confidence = 0.4;
};

struct Extrapolation {
    std::optional<TaskGraph> graph;  ///< none where no known pattern fits well enough, or too many would
    /// 0..1. Where three numbers of ranks or more are known, not above 1 - the difference between the graph nearest to
    /// what is wanted and what the others would have predicted for it.
    double confidence = 0;
    double misfit = 0;  ///< of the patterns in the known graphs: share of the bytes that they do not explain
    /// For people: "2-D stencil (balanced) and binomial tree, from runs of 16 and 64 ranks; volumes fitted", or why
    /// not.
    std::string how;
};

/// The communication graph of a program on a number of ranks on which it has not run, from graphs of other numbers:
/// patterns whose pairs are a function of the number of ranks are recognised (`PatternFitter`), and what their classes
/// carry follows power laws (`predict_coefficients`). Compute times follow one, too, the same for all ranks but for a
/// master.
///
/// Refused are: patterns that leave more than 15 % of the bytes unexplained; patterns that explain the known graphs
/// equally well but predict different ones; distant numbers of ranks; graphs over `most_edges`. At most the four known
/// numbers nearest to `wanted` are used. Precondition: each number of ranks once, wanted >= 1. A function of its
/// arguments.
Extrapolation extrapolate_profile(std::span<const TaskGraph* const> known, int wanted,
                                  const ExtrapolationOptions& options = {});

}  // namespace zbs::learning
