#include "algorithms/gang/packing.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <limits>
#include <numeric>

#include "algorithms/base/suggestion.hpp"
#include "algorithms/gang/idle_processors.hpp"

namespace zbs::gang {

GangPacking::GangPacking(const PackingOptions& options)
    : options_(options),
      diagram_(options.processors),
      tasks_(static_cast<std::size_t>(options.processors), 0),
      free_memory_(static_cast<std::size_t>(options.processors), options.memory_per_node),
      touched_(static_cast<std::size_t>(options.processors), false) {
    ZBS_EXPECTS(options.memory_per_node >= 0 && options.max_tasks_per_node >= 0 && options.max_slices >= 0);
    ZBS_EXPECTS(options.rule != PackingRule::kBuddy ||
                std::has_single_bit(static_cast<std::uint32_t>(options.processors)));
}

GangPacking GangPacking::restore(const PackingOptions& options, TraceDiagram diagram, std::vector<Resident> residents,
                                 std::vector<GangRequest> waiting) {
    GangPacking packing(options);
    packing.diagram_ = std::move(diagram);
    for (const Resident& resident : residents) packing.charge(resident, 1);
    packing.touched_.assign(packing.touched_.size(), false);
    packing.residents_ = std::move(residents);
    packing.waiting_ = std::move(waiting);
    return packing;
}

void GangPacking::charge(const Resident& resident, int sign) {
    for (const std::int32_t p : resident.processors) {
        tasks_[static_cast<std::size_t>(p)] += sign;
        free_memory_[static_cast<std::size_t>(p)] -= sign * resident.request.memory;
        touched_[static_cast<std::size_t>(p)] = true;
    }
}

bool GangPacking::admits(std::int32_t processor, const GangRequest& request) const {
    const auto p = static_cast<std::size_t>(processor);
    if (options_.max_tasks_per_node > 0 && tasks_[p] >= options_.max_tasks_per_node) return false;
    return options_.memory_per_node == 0 || free_memory_[p] >= request.memory;
}

/// The processors for the request in a row (row_count: in a new slice) into `picked`; false where there are too few.
bool GangPacking::pick(std::int32_t row, const GangRequest& request, std::vector<std::int32_t>& picked) {
    std::vector<std::int32_t>& candidates = candidates_;
    candidates.clear();
    const ProcessorChoice choice =
        options_.rule == PackingRule::kMemoryFit ? ProcessorChoice::kMaxMemory : options_.choice;
    const auto need = static_cast<std::size_t>(request.processors);
    const auto visit = [&](std::int32_t p) {
        if (admits(p, request)) candidates.push_back(p);
        return choice != ProcessorChoice::kLowest || candidates.size() < need;
    };
    if (row < diagram_.row_count()) {
        visit_idle(diagram_, row, visit);
    } else {
        for (std::int32_t p = 0; p < options_.processors && visit(p); ++p) {
        }
    }
    if (candidates.size() < need) return false;
    const auto cut = candidates.begin() + request.processors;
    const auto better = [&](std::int32_t a, std::int32_t b) {
        const auto x = static_cast<std::size_t>(a), y = static_cast<std::size_t>(b);
        if (choice == ProcessorChoice::kMaxMemory && free_memory_[x] != free_memory_[y])
            return free_memory_[x] > free_memory_[y];
        if (choice == ProcessorChoice::kFewestTasks && tasks_[x] != tasks_[y]) return tasks_[x] < tasks_[y];
        return a < b;
    };
    if (cut != candidates.end()) std::nth_element(candidates.begin(), cut, candidates.end(), better);
    picked.assign(candidates.begin(), cut);
    std::ranges::sort(picked);
    return true;
}

bool GangPacking::open_slice(const GangRequest& request, Site& site) {
    if (options_.max_slices > 0 && diagram_.row_count() >= options_.max_slices) return false;
    site.row = diagram_.row_count();
    return pick(site.row, request, site.processors);
}

bool GangPacking::find_first(const GangRequest& request, Site& site) {
    const std::span<const std::int32_t> free = diagram_.free_counts();
    for (std::size_t row = 0; row < free.size(); ++row) {
        if (free[row] < request.processors) continue;
        site.row = static_cast<std::int32_t>(row);
        if (pick(site.row, request, site.processors)) return true;
    }
    return open_slice(request, site);
}

bool GangPacking::find_best(const GangRequest& request, Site& site) {
    const std::span<const std::int32_t> free = diagram_.free_counts();
    std::int32_t least = std::numeric_limits<std::int32_t>::max();
    for (std::size_t row = 0; row < free.size(); ++row) {
        if (free[row] < request.processors || free[row] >= least) continue;
        const auto number = static_cast<std::int32_t>(row);
        if (constrained() && !pick(number, request, site.processors)) continue;
        site.row = number;
        least = free[row];
    }
    if (least == std::numeric_limits<std::int32_t>::max()) return open_slice(request, site);
    return pick(site.row, request, site.processors);
}

// The sum of the memory left is the same whatever the slice, so B = max / sum is least where max is.
bool GangPacking::find_balanced(const GangRequest& request, Site& site) {
    struct Rank {
        std::int64_t most = std::numeric_limits<std::int64_t>::max();
        std::int32_t left_over = 0;
        auto operator<=>(const Rank&) const = default;
    } best;
    bool found = false;
    std::vector<std::int32_t> picked;
    const auto consider = [&](std::int32_t row, std::int32_t free) {
        if (free < request.processors || !pick(row, request, picked)) return;
        for (const std::int32_t p : picked) free_memory_[static_cast<std::size_t>(p)] -= request.memory;
        const Rank rank{std::ranges::max(free_memory_), free - request.processors};
        for (const std::int32_t p : picked) free_memory_[static_cast<std::size_t>(p)] += request.memory;
        if (found && rank >= best) return;
        found = true;
        best = rank;
        site.row = row;
        site.processors = picked;
    };
    for (std::int32_t row = 0; row < diagram_.row_count(); ++row)
        consider(row, diagram_.free_counts()[static_cast<std::size_t>(row)]);
    if (!found) return open_slice(request, site);
    if (options_.new_slice == NewSlice::kAlwaysCompared &&
        (options_.max_slices == 0 || diagram_.row_count() < options_.max_slices))
        consider(diagram_.row_count(), options_.processors);
    return true;
}

// A gang fills one half of its controller's block and as much as it needs of the other, from either end; of all such
// places it gets the one whose processors have the fewest tasks.
bool GangPacking::find_block(const GangRequest& request, Site& site) {
    const std::int32_t width = std::int32_t{1} << controller_level(request.processors);
    struct Rank {
        std::int32_t most;
        std::int64_t sum;
        auto operator<=>(const Rank&) const = default;
    } best{std::numeric_limits<std::int32_t>::max(), 0};
    std::int32_t best_begin = -1;
    for (std::int32_t block = 0; block < options_.processors; block += width) {
        for (const std::int32_t begin : {block, block + width - request.processors}) {
            Rank rank{0, 0};
            bool admitted = true;
            for (std::int32_t p = begin; p < begin + request.processors; ++p) {
                const std::int32_t tasks = tasks_[static_cast<std::size_t>(p)];
                rank.most = std::max(rank.most, tasks);
                rank.sum += tasks;
                admitted = admitted && admits(p, request);
            }
            if (!admitted || rank >= best) continue;
            best = rank;
            best_begin = begin;
        }
    }
    if (best_begin < 0) return false;
    site.processors.resize(static_cast<std::size_t>(request.processors));
    std::iota(site.processors.begin(), site.processors.end(), best_begin);
    return true;
}

bool GangPacking::find_site(const GangRequest& request, Site& site) {
    switch (options_.rule) {
        case PackingRule::kFirstFit:
            return find_first(request, site);
        case PackingRule::kBestFit:
            return find_best(request, site);
        case PackingRule::kMemoryFit:
            return find_balanced(request, site);
        case PackingRule::kBuddy:
            return find_block(request, site);
    }
    return false;
}

bool GangPacking::place(const GangRequest& request) {
    Site site{};
    if (!find_site(request, site)) return false;
    Resident resident{request, std::move(site.processors)};
    const std::vector<bool> touched = options_.rule == PackingRule::kBuddy ? touched_ : std::vector<bool>();
    charge(resident, 1);
    if (options_.rule != PackingRule::kBuddy) {
        if (site.row == diagram_.row_count()) diagram_.add_row();
        diagram_.place(site.row, request.job, resident.processors);
        residents_.push_back(std::move(resident));
        return true;
    }
    residents_.push_back(std::move(resident));
    lay_out_blocks();
    if (options_.max_slices == 0 || diagram_.row_count() <= options_.max_slices) return true;
    charge(residents_.back(), -1);
    residents_.pop_back();
    touched_ = touched;
    lay_out_blocks();
    return false;
}

bool GangPacking::repack() {
    const std::vector<bool> touched = touched_;
    std::vector<Resident> before = std::move(residents_);
    const TraceDiagram diagram_before = std::move(diagram_);
    std::vector<const Resident*> order;
    for (const Resident& resident : before) order.push_back(&resident);
    if (options_.repack_order == RepackOrder::kDecreasingProcessors)
        std::ranges::stable_sort(order, std::ranges::greater{},
                                 [](const Resident* r) { return r->request.processors; });
    for (const Resident& resident : before) charge(resident, -1);
    residents_.clear();
    diagram_ = TraceDiagram(options_.processors);
    const bool complete = std::ranges::all_of(order, [&](const Resident* r) { return place(r->request); });
    if (!complete) {
        for (const Resident& resident : residents_) charge(resident, -1);
        for (const Resident& resident : before) charge(resident, 1);
        diagram_ = diagram_before;
        residents_ = std::move(before);
        touched_ = touched;
        return false;
    }
    // Back into the order of arrival, and only those who moved count as touched.
    std::vector<Resident> packed = std::move(residents_);
    std::vector<std::size_t> place_of(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) place_of[static_cast<std::size_t>(order[i] - before.data())] = i;
    touched_ = touched;
    residents_.clear();
    for (std::size_t i = 0; i < before.size(); ++i) {
        Resident& now = packed[place_of[i]];
        std::vector<std::int32_t> moved;
        std::ranges::set_symmetric_difference(now.processors, before[i].processors, std::back_inserter(moved));
        for (const std::int32_t p : moved) touched_[static_cast<std::size_t>(p)] = true;
        residents_.push_back(std::move(now));
    }
    return true;
}

bool GangPacking::place_or_repack(const GangRequest& request) {
    if (options_.repack != Repack::kNever) {
        residents_.push_back({request, {}});
        if (repack()) return true;
        residents_.pop_back();
    }
    return place(request);
}

void GangPacking::lay_out_blocks() {
    std::vector<const Resident*> order;
    for (const Resident& resident : residents_) order.push_back(&resident);
    std::ranges::stable_sort(order, std::ranges::greater{},
                             [](const Resident* r) { return controller_level(r->request.processors); });
    diagram_ = TraceDiagram(options_.processors);
    // Rows that controllers above and at a processor have used up, where unused blocks must stay idle.
    std::vector<std::int32_t> used(static_cast<std::size_t>(options_.processors), 0);
    for (const Resident* resident : order) {
        const std::int32_t width = std::int32_t{1} << controller_level(resident->request.processors);
        const std::int32_t block = resident->processors.front() / width * width;
        std::int32_t row = options_.selective_disabling ? 0 : used[static_cast<std::size_t>(block)];
        while (row < diagram_.row_count() && !diagram_.all_free(row, resident->processors)) ++row;
        if (row == diagram_.row_count()) diagram_.add_row();
        diagram_.place(row, resident->request.job, resident->processors);
        std::fill_n(used.begin() + block, width, row + 1);
    }
}

Result<WorkloadChange> GangPacking::arrive(const GangRequest& request) {
    ZBS_EXPECTS(request.processors >= 1 && request.memory >= 0 && request.job != kNoJob);
    const std::string job = "job " + std::to_string(request.job.value);
    if (request.processors > options_.processors)
        return Error{ErrorCode::kRejected, job + " asks for " + std::to_string(request.processors) + " processors of " +
                                               std::to_string(options_.processors) + "; ask for fewer"};
    if (options_.memory_per_node > 0 && request.memory > options_.memory_per_node)
        return Error{ErrorCode::kRejected, job + " asks for more memory a task (" + std::to_string(request.memory) +
                                               ") than a node has (" + std::to_string(options_.memory_per_node) +
                                               "); ask for less"};
    clean_matrix(diagram_);
    if ((!waiting_.empty() && !options_.overtaking) || !place_or_repack(request))
        waiting_.push_back(request);
    else
        placed_.push_back(request.job);
    return finish();
}

WorkloadChange GangPacking::leave(JobId job) {
    clean_matrix(diagram_);
    const auto resident = std::ranges::find(residents_, job, [](const Resident& r) { return r.request.job; });
    if (resident == residents_.end()) {
        const auto waiting = std::ranges::find(waiting_, job, &GangRequest::job);
        ZBS_EXPECTS(waiting != waiting_.end());
        waiting_.erase(waiting);
    } else {
        charge(*resident, -1);
        residents_.erase(resident);
        diagram_.remove(job);
        diagram_.erase_empty_rows();
        if (options_.rule == PackingRule::kBuddy)
            lay_out_blocks();
        else if (options_.repack == Repack::kAtChange)
            repack();
        else if (options_.compact)
            compact_matrix(diagram_, Migration::kNone);
    }
    std::size_t kept = 0;
    bool blocked = false;
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
        const GangRequest request = waiting_[i];
        if (!blocked && place_or_repack(request)) {
            placed_.push_back(request.job);
            continue;
        }
        blocked = blocked || !options_.overtaking;
        waiting_[kept++] = request;
    }
    waiting_.resize(kept);
    return finish();
}

TraceDiagram GangPacking::filled() const {
    TraceDiagram diagram = diagram_;
    std::vector<FillCandidate> candidates;
    for (const Resident& resident : residents_) candidates.push_back({resident.request.job, resident.processors});
    fill_matrix(diagram, candidates, Migration::kNone);
    return diagram;
}

WorkloadChange GangPacking::finish() {
    if (options_.fill) diagram_ = filled();
    WorkloadChange change;
    change.placed = std::exchange(placed_, {});
    for (std::size_t p = 0; p < touched_.size(); ++p)
        if (touched_[p]) change.notified.push_back(static_cast<std::int32_t>(p));
    touched_.assign(touched_.size(), false);
    return change;
}

std::int32_t controller_level(std::int32_t processors) {
    ZBS_EXPECTS(processors >= 1);
    return std::bit_width(static_cast<std::uint32_t>(processors) - 1);
}

std::int64_t fewest_slices(std::int64_t tasks, std::int32_t processors) {
    return (tasks + processors - 1) / processors;
}

namespace {

constexpr std::array kRules{
    PackingInfo{"first-fit", "the first slice with enough idle processors", "DaSilva2000, section 5.2"},
    PackingInfo{"best-fit", "the slice that has the fewest processors left over", "DaSilva2000, section 5.2"},
    PackingInfo{"ffd", "first fit of all jobs anew at every change, the widest first", "DaSilva2000, section 5.2"},
    PackingInfo{"memory-fit", "the slice after which memory is balanced best over the nodes",
                "DaSilva2000, section 5.4"},
    PackingInfo{"buddy", "processors in halves, one controller a block (distributed hierarchical control)",
                "DaSilva2000, section 3.3"},
};

Result<void> set_rule(std::string_view name, PackingOptions& options) {
    if (name == "first-fit") {
        options.rule = PackingRule::kFirstFit;
    } else if (name == "best-fit") {
        options.rule = PackingRule::kBestFit;
    } else if (name == "ffd") {
        options.repack = Repack::kAtChange;
        options.repack_order = RepackOrder::kDecreasingProcessors;
    } else if (name == "memory-fit") {
        options.rule = PackingRule::kMemoryFit;
        options.overtaking = true;  // [DaSilva2000, section 5.4]: later jobs that fit may start at once
    } else if (name == "buddy") {
        options.rule = PackingRule::kBuddy;
        if (!std::has_single_bit(static_cast<std::uint32_t>(options.processors)))
            return invalid("buddy packing halves the machine: give it a power of two of processors, not " +
                           std::to_string(options.processors));
    } else {
        std::vector<std::string_view> names;
        for (const PackingInfo& rule : kRules) names.push_back(rule.name);
        return invalid("there is no packing rule '" + std::string(name) + "'" + did_you_mean(name, names));
    }
    return {};
}

}  // namespace

std::span<const PackingInfo> packing_rules() { return kRules; }

Result<PackingOptions> make_packing_options(std::string_view name, PackingOptions options) {
    if (options.processors < 1 || options.processors > TraceDiagram::kMaxProcessors)
        return invalid("a slice matrix has 1 to " + std::to_string(TraceDiagram::kMaxProcessors) + " processors, not " +
                       std::to_string(options.processors));
    if (auto set = set_rule(name, options); !set) return set.error();
    return options;
}

}  // namespace zbs::gang
