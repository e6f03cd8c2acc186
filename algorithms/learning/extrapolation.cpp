#include "algorithms/learning/extrapolation.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "algorithms/learning/model_error.hpp"
#include "algorithms/learning/pattern_fit.hpp"

namespace zbs::learning {
namespace {

constexpr std::size_t kMaxSizes = 4;
constexpr double kMaxMisfit = 0.15;
constexpr std::size_t kMaxRivals = 12;
/// Two explanations of the known graphs that differ by less in misfit are equally good.
constexpr double kAsGood = 0.02;
/// Belief in volumes whose exponents are assumed, fitted to two numbers of ranks, and to more.
constexpr double kAssumed = 0.7, kFittedToTwo = 0.9, kFittedToMore = 0.97;
/// For each doubling or halving away from the nearest known number.
constexpr double kPerDoubling = 0.95;
/// A few ranks look like anything: of that many nothing is believed.
constexpr double kTooFewRanks = 2;
/// Messages below it hold counters and flags, not parts of the problem.
constexpr double kSmallMessage = 1024;

double distance(int a, int b) { return std::abs(std::log2(static_cast<double>(a) / b)); }

/// Edges by pair, each once; what is nothing goes.
TaskGraph summed(std::vector<double> compute, std::vector<TaskEdge> pieces) {
    std::sort(pieces.begin(), pieces.end(),
              [](const TaskEdge& a, const TaskEdge& b) { return std::pair(a.u, a.v) < std::pair(b.u, b.v); });
    std::vector<TaskEdge> edges;
    for (const TaskEdge& piece : pieces) {
        if (!edges.empty() && edges.back().u == piece.u && edges.back().v == piece.v) {
            edges.back().bytes += piece.bytes;
            edges.back().messages += piece.messages;
        } else {
            edges.push_back(piece);
        }
    }
    std::erase_if(edges, [](const TaskEdge& edge) { return edge.bytes < 0.5 && edge.messages < 0.5; });
    Result<TaskGraph> graph = TaskGraph::make(std::move(compute), std::move(edges));
    ZBS_EXPECTS(graph.has_value());
    return *std::move(graph);
}

double mean_of(std::span<const double> values) {
    double sum = 0;
    for (const double value : values) sum += value;
    return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

/// The rank that stands out as a master; none unless the program has one.
std::optional<std::size_t> master_of(const PatternFit& fit, std::size_t ranks) {
    if (fit.parts.empty() || ranks < 2) return {};
    if (fit.parts[0].pattern.kind == Pattern::Kind::kFirstWithAll) return 0;
    if (fit.parts[0].pattern.kind == Pattern::Kind::kLastWithAll) return ranks - 1;
    return {};
}

double scaled_compute(const std::vector<LawPoint>& points, int wanted, double assumed) {
    std::vector<LawPoint> positive;
    for (const LawPoint& p : points)
        if (p.amount > 0) positive.push_back(p);
    return positive.empty() ? 0 : fit_power_law(positive, assumed).at(wanted);
}

std::vector<double> predict_compute(std::span<const TaskGraph* const> known, const PatternFit& fit, int wanted,
                                    Scaling scaling) {
    std::vector<LawPoint> workers, masters;
    for (const TaskGraph* graph : known) {
        std::vector<double> others(graph->compute().begin(), graph->compute().end());
        if (const auto master = master_of(fit, others.size())) {
            masters.push_back({static_cast<double>(graph->task_count()), others[*master]});
            others.erase(others.begin() + static_cast<std::ptrdiff_t>(*master));
        }
        workers.push_back({static_cast<double>(graph->task_count()), mean_of(others)});
    }
    const double assumed = scaling == Scaling::kStrong ? -1 : 0;
    std::vector<double> compute(static_cast<std::size_t>(wanted), scaled_compute(workers, wanted, assumed));
    // A master answers one message after the other, however many workers send them.
    if (const auto master = master_of(fit, compute.size())) compute[*master] = scaled_compute(masters, wanted, 0);
    return compute;
}

struct Predicted {
    TaskGraph graph;
    bool fitted = true;
    double residual = 0;  ///< the worst of the laws
};

bool is_small(const PatternFit::Part& part) {
    double bytes = 0, messages = 0;
    for (const Coefficient& c : part.bytes) bytes += c.amount;
    for (const Coefficient& c : part.messages) messages += c.amount;
    return messages > 0 && bytes < kSmallMessage * messages;
}

/// Nothing where it would have too many edges.
std::optional<Predicted> predict(std::span<const TaskGraph* const> known, const PatternFit& fit, int wanted,
                                 const ExtrapolationOptions& options) {
    std::vector<TaskEdge> pieces;
    Predicted predicted;
    for (const PatternFit::Part& part : fit.parts) {
        const auto pairs = pairs_of(part.pattern, wanted, 4 * options.most_edges);
        if (!pairs) return {};
        std::vector<int> classes;
        for (const PatternPair& pair : *pairs)
            if (classes.empty() || classes.back() != pair.of_class) classes.push_back(pair.of_class);
        LawRequest request{.wanted = wanted, .scaling = options.scaling, .small = is_small(part)};
        const LawPrediction bytes = predict_coefficients(part.pattern, part.bytes, classes, request);
        request.messages = true;
        const LawPrediction messages = predict_coefficients(part.pattern, part.messages, classes, request);
        predicted.fitted &= bytes.fitted;
        predicted.residual = std::max(predicted.residual, bytes.residual);
        for (const PatternPair& pair : *pairs) {
            const auto times = static_cast<double>(pair.times);
            const TaskEdge edge{pair.u, pair.v, times * bytes.amount_of_class.at(pair.of_class),
                                times * messages.amount_of_class.at(pair.of_class)};
            if (edge.bytes > 0 || edge.messages > 0) pieces.push_back(edge);
        }
    }
    predicted.graph = summed(predict_compute(known, fit, wanted, options.scaling), std::move(pieces));
    if (predicted.graph.edge_count() > options.most_edges) return {};
    return predicted;
}

/// How far the predictions of explanations that are as good are apart from this one, at most.
double ambiguity(std::span<const TaskGraph* const> known, PatternFitter& fitter, const PatternFit& fit,
                 const Predicted& predicted, const ExtrapolationOptions& options) {
    double most = 0;
    std::vector<Pattern> patterns;
    for (const PatternFit::Part& part : fit.parts) patterns.push_back(part.pattern);
    std::size_t examined_count = 0;
    for (const Pattern& rival : fit.rivals) {
        // Where the numbers of ranks do not determine the order of a grid, the order of MPI_Cart_create is taken.
        if (fit.parts[0].pattern.grid.shape == GridRule::Shape::kBalanced &&
            rival.grid.shape == GridRule::Shape::kReversed)
            continue;
        if (++examined_count > kMaxRivals) break;
        patterns[0] = rival;
        const auto other = fitter.fit_these(patterns);
        if (!other || other->misfit > fit.misfit + kAsGood) continue;
        if (const auto prediction = predict(known, *other, predicted.graph.task_count(), options))
            most = std::max(most, traffic_difference(predicted.graph, prediction->graph));
    }
    return most;
}

std::string list_of(std::span<const TaskGraph* const> known) {
    std::string text;
    for (std::size_t i = 0; i < known.size(); ++i)
        text += (i == 0 ? "" : i + 1 == known.size() ? " and " : ", ") + std::to_string(known[i]->task_count());
    return text + (known.size() == 1 && known[0]->task_count() == 1 ? " rank" : " ranks");
}

std::string names_of(const PatternFit& fit) {
    std::string text;
    for (std::size_t i = 0; i < fit.parts.size(); ++i)
        text += (i == 0 ? "" : i + 1 == fit.parts.size() ? " and " : ", ") + to_string(fit.parts[i].pattern);
    return text;
}

std::string percent(double share) { return std::to_string(std::lround(share * 100)) + " %"; }

/// The known graphs that are used: those nearest to what is wanted, smallest first.
std::vector<const TaskGraph*> nearest(std::span<const TaskGraph* const> known, int wanted, std::size_t most) {
    std::vector<const TaskGraph*> some;
    for (const TaskGraph* graph : known)
        if (graph->task_count() > 1) some.push_back(graph);
    std::sort(some.begin(), some.end(), [wanted](const TaskGraph* a, const TaskGraph* b) {
        return std::pair(distance(a->task_count(), wanted), a->task_count()) <
               std::pair(distance(b->task_count(), wanted), b->task_count());
    });
    if (some.size() > most) some.resize(most);
    std::sort(some.begin(), some.end(),
              [](const TaskGraph* a, const TaskGraph* b) { return a->task_count() < b->task_count(); });
    return some;
}

double nearest_distance(std::span<const TaskGraph* const> known, int wanted) {
    double least = distance(known[0]->task_count(), wanted);
    for (const TaskGraph* graph : known) least = std::min(least, distance(graph->task_count(), wanted));
    return least;
}

/// What the other sizes, by the same patterns, would have predicted for the one nearest to `wanted`, against what it
/// was.
double held_out_difference(std::span<const TaskGraph* const> used, const PatternFit& fit, int wanted,
                           const ExtrapolationOptions& options) {
    const TaskGraph* held = *std::min_element(used.begin(), used.end(), [wanted](const auto* a, const auto* b) {
        return distance(a->task_count(), wanted) < distance(b->task_count(), wanted);
    });
    std::vector<const TaskGraph*> others;
    for (const TaskGraph* graph : used)
        if (graph != held) others.push_back(graph);
    std::vector<Pattern> patterns;
    for (const PatternFit::Part& part : fit.parts) patterns.push_back(part.pattern);
    const auto fewer = PatternFitter(others).fit_these(patterns);
    if (!fewer) return 1;
    const auto predicted = predict(others, *fewer, held->task_count(), options);
    return predicted ? traffic_difference(predicted->graph, *held) : 1;
}

}  // namespace

Extrapolation extrapolate_profile(std::span<const TaskGraph* const> known, int wanted,
                                  const ExtrapolationOptions& options) {
    ZBS_EXPECTS(wanted >= 1);
    for (const TaskGraph* graph : known) {
        if (graph->task_count() == wanted) return {*graph, 1, 0, "a run of " + std::to_string(wanted) + " ranks"};
    }
    const std::vector<const TaskGraph*> used = nearest(known, wanted, kMaxSizes);
    Extrapolation found;
    if (used.empty()) {
        found.how = "no run of another number of ranks is known";
        return found;
    }
    const std::string from = "from runs of " + list_of(used);
    std::size_t edges = 0;
    double bytes = 0;
    for (const TaskGraph* graph : used) {
        edges += graph->edge_count();
        bytes += total_bytes(*graph);
    }
    if (edges > options.most_edges) {
        found.how = from + " nothing is extrapolated: " + std::to_string(edges) + " pairs are too many";
        return found;
    }
    PatternFitter fitter(used);
    const PatternFit fit = bytes > 0 ? fitter.fit(wanted) : PatternFit{};
    found.misfit = fit.misfit;
    if (fit.misfit > kMaxMisfit) {
        found.how = "no known pattern fits the " + list_of(used) +
                    (fit.parts.empty() ? ""
                                       : " (nearest: " + names_of(fit) + " leaves " + percent(fit.misfit) +
                                             " of the bytes unexplained)");
        return found;
    }
    std::optional<Predicted> predicted = predict(used, fit, wanted, options);
    if (!predicted) {
        found.how = names_of(fit) + " on " + std::to_string(wanted) + " ranks has more than " +
                    std::to_string(options.most_edges) + " pairs";
        return found;
    }
    const double unclear = ambiguity(used, fitter, fit, *predicted, options);
    const double law = !predicted->fitted ? kAssumed : used.size() == 2 ? kFittedToTwo : kFittedToMore;
    const double enough = 1 - kTooFewRanks / used.back()->task_count();
    found.confidence = (1 - fit.misfit) * (1 - unclear) * law * enough *
                       std::pow(kPerDoubling, nearest_distance(used, wanted)) / (1 + predicted->residual);
    if (used.size() > 2)
        found.confidence = std::min(found.confidence, 1 - held_out_difference(used, fit, wanted, options));
    const std::string what = fit.parts.empty() ? "no traffic" : names_of(fit);
    if (found.confidence < options.least_confidence) {
        found.how = what + ", " + from + ", is too uncertain on " + std::to_string(wanted) + " ranks (" +
                    percent(found.confidence) + (unclear > 0.1 ? "; other patterns fit as well)" : ")");
        return found;
    }
    found.how = what + ", " + from + "; volumes " +
                (predicted->fitted                     ? "fitted"
                 : options.scaling == Scaling::kStrong ? "assumed for the same problem on more ranks"
                                                       : "assumed for a problem that grows with the ranks");
    found.graph = std::move(predicted->graph);
    return found;
}

}  // namespace zbs::learning
