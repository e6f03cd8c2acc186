#include "algorithms/mapping/metis_multisection.hpp"

#include <metis.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <mutex>
#include <numeric>
#include <utility>

#include "algorithms/base/expects.hpp"
#include "algorithms/mapping/load_repair.hpp"
#include "algorithms/mapping/objective.hpp"
#include "algorithms/mapping/whole_number.hpp"

namespace zbs {
namespace {

/// Sums inside METIS stay below 2^31 with room for its own products.
constexpr double kMaxSum = 1 << 29;

/// Weights as METIS takes them: themselves where they are whole and their sum is small, else scaled to a sum of kMaxSum
/// (or, for fractions, up to a precision that is enough).
class WholeWeights {
  public:
    WholeWeights(double sum, bool whole) : factor_(sum <= 0 || (whole && sum <= kMaxSum) ? 1 : kMaxSum / sum / 2) {}
    idx_t operator()(double weight) const {
        return weight <= 0 ? 0 : std::max<idx_t>(1, static_cast<idx_t>(std::llround(weight * factor_)));
    }

  private:
    double factor_;
};

/// Discards the output of C's printf while one of these lives: METIS prints warnings to the standard output, on which
/// the caller may be writing a document. std::cout is not affected.
class NoPrinting {
  public:
    NoPrinting() {
        const std::lock_guard lock(mutex_);
        if (++count_ > 1) return;
        kept_ = stdout;
        static std::FILE* const sink = fopencookie(nullptr, "w", {});
        if (sink != nullptr) stdout = sink;
    }
    ~NoPrinting() {
        const std::lock_guard lock(mutex_);
        if (--count_ == 0) stdout = kept_;
    }
    NoPrinting(const NoPrinting&) = delete;
    NoPrinting& operator=(const NoPrinting&) = delete;

  private:
    inline static std::mutex mutex_;
    inline static int count_ = 0;
    inline static std::FILE* kept_ = nullptr;
};

class Multisection {
  public:
    Multisection(const TaskGraph& graph, const ProcessorTree& tree, const LoadBounds& bounds, std::uint64_t seed)
        : graph_(graph), tree_(tree), bounds_(bounds), seed_(seed) {
        most_before_.reserve(bounds.most.size() + 1);
        for (const double most : bounds.most) most_before_.push_back(most_before_.back() + most);
        number_.assign(static_cast<std::size_t>(graph.task_count()), -1);
        processor_of_.assign(static_cast<std::size_t>(graph.task_count()), 0);
    }

    std::vector<ProcessorIndex> run() {
        std::vector<TaskIndex> all(static_cast<std::size_t>(graph_.task_count()));
        std::iota(all.begin(), all.end(), 0);
        cut(0, tree_.levels(), std::move(all));
        return std::move(processor_of_);
    }

  private:
    double most(const ProcessorTree::Group& group) const {
        return most_before_[static_cast<std::size_t>(group.first_processor + group.processor_count)] -
               most_before_[static_cast<std::size_t>(group.first_processor)];
    }

    void cut(std::int32_t at, int levels_left, std::vector<TaskIndex> tasks) {
        const ProcessorTree::Group& group = tree_.groups()[static_cast<std::size_t>(at)];
        if (tasks.empty()) return;
        if (group.child_count == 0) {
            for (const TaskIndex t : tasks) processor_of_[static_cast<std::size_t>(t)] = group.first_processor;
            return;
        }
        const std::vector<std::int32_t> children = used_children(group, tasks);
        std::vector<std::vector<TaskIndex>> parts(children.size());
        if (children.size() == 1) {
            parts[0] = std::move(tasks);
        } else {
            const std::vector<idx_t> part_of = partition(tasks, children, levels_left);
            for (std::size_t i = 0; i < tasks.size(); ++i)
                parts[static_cast<std::size_t>(part_of[i])].push_back(tasks[i]);
            tasks = {};
        }
        for (std::size_t c = 0; c < children.size(); ++c) cut(children[c], levels_left - 1, std::move(parts[c]));
    }

    std::vector<std::int32_t> used_children(const ProcessorTree::Group& group, const std::vector<TaskIndex>& tasks) {
        std::vector<std::int32_t> children(static_cast<std::size_t>(group.child_count));
        std::iota(children.begin(), children.end(), group.first_child);
        if (tasks.size() >= static_cast<std::size_t>(group.processor_count)) return children;
        std::stable_sort(children.begin(), children.end(), [&](std::int32_t a, std::int32_t b) {
            return tree_.groups()[static_cast<std::size_t>(a)].processor_count >
                   tree_.groups()[static_cast<std::size_t>(b)].processor_count;
        });
        std::size_t used = 0;
        for (std::size_t processors = 0; processors < tasks.size(); ++used) {
            processors +=
                static_cast<std::size_t>(tree_.groups()[static_cast<std::size_t>(children[used])].processor_count);
        }
        children.resize(used);
        return children;
    }

    /// The tasks and what is between them, as METIS takes a graph.
    struct Subgraph {
        std::vector<idx_t> begin, neighbours, bytes, sizes;
        double size_sum = 0;  ///< before the sizes became whole numbers
    };
    Subgraph subgraph_of(const std::vector<TaskIndex>& tasks) {
        Subgraph found;
        auto& [begin, neighbours, bytes, sizes, size_sum] = found;
        for (std::size_t i = 0; i < tasks.size(); ++i)
            number_[static_cast<std::size_t>(tasks[i])] = static_cast<idx_t>(i);

        double bytes_sum = 0;
        bool sizes_whole = true, bytes_whole = true;
        std::size_t entries = 0;
        for (const TaskIndex t : tasks) {
            const double size = bounds_.size(graph_, t);
            size_sum += size;
            sizes_whole = sizes_whole && is_whole(size);
            for (const TaskGraph::Neighbour& n : graph_.neighbours(t)) {
                if (number_[static_cast<std::size_t>(n.task)] < 0) continue;
                ++entries;
                bytes_sum += n.bytes;
                bytes_whole = bytes_whole && is_whole(n.bytes);
            }
        }
        const WholeWeights size_of(size_sum, sizes_whole), bytes_of(bytes_sum, bytes_whole);
        begin.reserve(tasks.size() + 1);
        neighbours.reserve(entries + 1);
        bytes.reserve(entries + 1);
        sizes.reserve(tasks.size());
        for (const TaskIndex t : tasks) {
            begin.push_back(static_cast<idx_t>(neighbours.size()));
            sizes.push_back(size_sum > 0 ? size_of(bounds_.size(graph_, t)) : 1);
            for (const TaskGraph::Neighbour& n : graph_.neighbours(t)) {
                const idx_t other = number_[static_cast<std::size_t>(n.task)];
                if (other < 0) continue;
                neighbours.push_back(other);
                bytes.push_back(std::max<idx_t>(1, bytes_of(n.bytes)));  // METIS takes no weight of 0
            }
        }
        begin.push_back(static_cast<idx_t>(neighbours.size()));
        neighbours.reserve(1);  // never a null pointer
        bytes.reserve(1);
        for (const TaskIndex t : tasks) number_[static_cast<std::size_t>(t)] = -1;
        return found;
    }

    std::vector<idx_t> partition(const std::vector<TaskIndex>& tasks, const std::vector<std::int32_t>& children,
                                 int levels_left) {
        std::vector<idx_t> part_of(tasks.size());
        if (tasks.size() <= children.size()) {  // METIS wants more vertices than parts
            std::iota(part_of.begin(), part_of.end(), 0);
            return part_of;
        }
        Subgraph part = subgraph_of(tasks);
        double most_sum = 0, least_slack = 1e9;
        for (const std::int32_t child : children) most_sum += most(tree_.groups()[static_cast<std::size_t>(child)]);
        std::vector<real_t> shares;
        for (const std::int32_t child : children) {
            const double share = most_sum > 0 ? most(tree_.groups()[static_cast<std::size_t>(child)]) / most_sum
                                              : 1.0 / static_cast<double>(children.size());
            shares.push_back(static_cast<real_t>(share));
        }
        if (part.size_sum > 0) least_slack = most_sum / part.size_sum;
        // The levels below need some of the slack too.
        auto imbalance =
            static_cast<real_t>(std::clamp(std::pow(std::max(1.0, least_slack), 1.0 / levels_left), 1.001, 1.5));

        idx_t count = static_cast<idx_t>(tasks.size()), constraints = 1,
              part_count = static_cast<idx_t>(children.size());
        idx_t edge_cut = 0;
        idx_t options[METIS_NOPTIONS];
        METIS_SetDefaultOptions(options);
        options[METIS_OPTION_SEED] = static_cast<idx_t>(seed_ & 0x7fffffff);
        const auto call = part_count > 8 ? METIS_PartGraphKway : METIS_PartGraphRecursive;
        const NoPrinting quiet;
        const int status =
            call(&count, &constraints, part.begin.data(), part.neighbours.data(), part.sizes.data(), nullptr,
                 part.bytes.data(), &part_count, shares.data(), &imbalance, options, &edge_cut, part_of.data());
        if (status != METIS_OK) {  // out of memory: deal the tasks out in order, the repair keeps the bounds
            for (std::size_t i = 0; i < tasks.size(); ++i)
                part_of[i] = static_cast<idx_t>(i * children.size() / tasks.size());
        }
        return part_of;
    }

    const TaskGraph& graph_;
    const ProcessorTree& tree_;
    const LoadBounds& bounds_;
    std::uint64_t seed_;
    std::vector<double> most_before_ = {0};
    std::vector<idx_t> number_;  // of the tasks being cut; -1 for all others
    std::vector<ProcessorIndex> processor_of_;
};

}  // namespace

std::vector<ProcessorIndex> metis_multisection(const TaskGraph& graph, const ProcessorTree& tree,
                                               const LoadBounds& bounds, std::uint64_t seed) {
    return Multisection(graph, tree, bounds, seed).run();
}

Result<Mapping> MetisMapper::map(const TaskGraph& graph, const ResourceGraph& resources,
                                 const MapOptions& options) const {
    if (auto ok = check_slots(graph.task_count(), resources.processor_count(), options); !ok) return ok.error();
    const WeighedTraffic weighed = weigh_traffic(graph, resources, options.weigh_messages);
    const LoadBounds bounds = load_bounds(weighed.graph, weighed.tree, options);
    Mapping mapping{metis_multisection(weighed.graph, weighed.tree, bounds, options.seed)};
    keep_bounds(weighed.graph, weighed.tree, bounds, mapping.processor_of);
    return mapping;
}

}  // namespace zbs
