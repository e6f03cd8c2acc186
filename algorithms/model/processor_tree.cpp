#include "algorithms/model/processor_tree.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <string>

#include "algorithms/base/text.hpp"

namespace zbs {
namespace {

template <typename Number>
Result<std::vector<Number>> parse_levels(std::string_view text, std::string_view option, std::string_view example) {
    const auto fault = [&](std::size_t level, std::string_view part) {
        return invalid("level " + std::to_string(level + 1) + " of '" + std::string(text.substr(0, 100)) + "' is '" +
                           std::string(part.substr(0, 40)) + "', no number in range; write it like " +
                           std::string(example),
                       std::string(option));
    };
    std::vector<Number> levels;
    for (const std::string_view part : split(text, ':')) {
        const std::optional<Number> value = parse_number<Number>(part);
        if (!value) return fault(levels.size(), part);
        if (levels.size() == ProcessorTree::kMaxLevels)
            return invalid("has more than " + std::to_string(ProcessorTree::kMaxLevels) + " levels",
                           std::string(option));
        levels.push_back(*value);
    }
    return levels;
}

}  // namespace

Result<std::vector<int>> parse_hierarchy(std::string_view text) {
    return parse_levels<int>(text, "--hierarchy", "4:8:6");
}

Result<std::vector<double>> parse_distances(std::string_view text) {
    return parse_levels<double>(text, "--distances", "1:10:100");
}

Result<ProcessorTree> ProcessorTree::uniform(std::span<const int> arity, std::span<const double> distances) {
    if (arity.empty()) return invalid("has no level; write it like 4:8:6", "--hierarchy");
    if (arity.size() > kMaxLevels)
        return invalid("has more than " + std::to_string(kMaxLevels) + " levels", "--hierarchy");
    if (arity.size() != distances.size())
        return invalid("names " + std::to_string(distances.size()) + " distances for " + std::to_string(arity.size()) +
                           " levels of the hierarchy; give one each, innermost first",
                       "--distances");
    std::int64_t processors = 1;
    for (std::size_t level = 0; level < arity.size(); ++level) {
        if (arity[level] < 1)
            return invalid("level " + std::to_string(level + 1) + " has " + std::to_string(arity[level]) +
                               " parts; at least 1 is needed",
                           "--hierarchy");
        processors *= arity[level];
        if (processors > ResourceGraph::kMaxProcessors)
            return invalid("makes more than " + std::to_string(ResourceGraph::kMaxProcessors) + " processors",
                           "--hierarchy");
        if (!(distances[level] >= 0 && distances[level] <= kMaxDistance))
            return invalid("distance " + std::to_string(level + 1) + " must be a number from 0 to 1e15", "--distances");
    }
    ProcessorTree tree;
    tree.groups_.push_back({.processor_count = static_cast<ProcessorIndex>(processors)});
    tree.level_begin_ = {0};
    for (std::size_t level = arity.size(); level-- > 0;) {
        const auto begin = static_cast<std::size_t>(tree.level_begin_.back());
        const std::size_t end = tree.groups_.size();
        tree.level_begin_.push_back(static_cast<std::int32_t>(end));
        for (std::size_t g = begin; g < end; ++g) {
            const ProcessorIndex each = tree.groups_[g].processor_count / arity[level];
            tree.groups_[g].first_child = static_cast<std::int32_t>(tree.groups_.size());
            tree.groups_[g].child_count = arity[level];
            tree.groups_[g].distance = distances[level];
            for (int child = 0; child < arity[level]; ++child) {
                tree.groups_.push_back({.parent = static_cast<std::int32_t>(g),
                                        .first_processor = tree.groups_[g].first_processor + child * each,
                                        .processor_count = each});
            }
        }
    }
    tree.speed_.assign(static_cast<std::size_t>(processors), 1);
    tree.finish();
    return tree;
}

namespace {

double seconds_of(const Link& link, double message_bytes) { return link.delay_s + message_bytes / link.bandwidth_Bps; }

/// The time of a message over the fastest link.
double least_seconds(const ResourceGraph& resources, double message_bytes) {
    const auto seconds = [&](const Link& link) { return seconds_of(link, message_bytes); };
    double least = std::numeric_limits<double>::infinity();
    const auto zones = resources.zones();
    for (std::size_t z = 0; z < zones.size(); ++z) {
        least = std::min({least, seconds(zones[z].within_machine), seconds(zones[z].within_zone)});
        for (std::size_t other = 0; other < z; ++other) {
            least = std::min(
                least, seconds(resources.zone_link(static_cast<std::int32_t>(z), static_cast<std::int32_t>(other))));
        }
    }
    return least;
}

}  // namespace

ProcessorTree ProcessorTree::of(const ResourceGraph& resources, double message_bytes) {
    ZBS_EXPECTS(message_bytes > 0);
    const double unit = least_seconds(resources, message_bytes);
    const auto zones = resources.zones();
    const auto distance = [&](const Link& link) { return seconds_of(link, message_bytes) / unit; };

    ProcessorTree tree;
    tree.groups_.push_back({.first_child = 1,
                            .child_count = static_cast<std::int32_t>(zones.size()),
                            .processor_count = resources.processor_count()});
    tree.level_begin_ = {0, 1};
    ProcessorIndex next = 0;
    for (const Zone& zone : zones) {
        tree.groups_.push_back({.parent = 0,
                                .child_count = static_cast<std::int32_t>(zone.machines.size()),
                                .first_processor = next,
                                .processor_count = zone.processor_count(),
                                .distance = distance(zone.within_zone)});
        next += zone.processor_count();
    }
    tree.level_begin_.push_back(static_cast<std::int32_t>(tree.groups_.size()));
    next = 0;
    for (std::size_t z = 0; z < zones.size(); ++z) {
        tree.groups_[1 + z].first_child = static_cast<std::int32_t>(tree.groups_.size());
        for (const Machine& machine : zones[z].machines) {
            tree.groups_.push_back({.parent = static_cast<std::int32_t>(1 + z),
                                    .child_count = machine.processors,
                                    .first_processor = next,
                                    .processor_count = machine.processors,
                                    .distance = distance(zones[z].within_machine)});
            next += machine.processors;
        }
    }
    const auto machines_end = tree.groups_.size();
    tree.level_begin_.push_back(static_cast<std::int32_t>(machines_end));
    for (auto g = static_cast<std::size_t>(tree.level_begin_[2]); g < machines_end; ++g) {
        tree.groups_[g].first_child = static_cast<std::int32_t>(tree.groups_.size());
        for (int p = 0; p < tree.groups_[g].child_count; ++p) {
            const ProcessorIndex processor = tree.groups_[g].first_processor + p;
            tree.groups_.push_back({.parent = static_cast<std::int32_t>(g), .first_processor = processor});
            tree.speed_.push_back(resources.speed(processor));
        }
    }
    if (zones.size() > 1) {
        tree.groups_[0].distance = distance(resources.zone_link(0, 1));
        bool differ = false;
        tree.top_.assign(zones.size() * zones.size(), 0);
        for (std::size_t a = 0; a < zones.size(); ++a) {
            for (std::size_t b = 0; b < zones.size(); ++b) {
                if (a == b) continue;
                const double d =
                    distance(resources.zone_link(static_cast<std::int32_t>(a), static_cast<std::int32_t>(b)));
                tree.top_[a * zones.size() + b] = d;
                differ = differ || d != tree.groups_[0].distance;
                tree.groups_[0].distance = std::max(tree.groups_[0].distance, d);
            }
        }
        if (!differ) tree.top_.clear();
    }
    tree.finish();
    return tree;
}

int ProcessorTree::depth_of(std::int32_t group) const {
    int depth = 0;
    while (depth < levels() && group >= first_group(depth + 1)) ++depth;
    return depth;
}

ProcessorTree ProcessorTree::subtree(std::int32_t group) const {
    ZBS_EXPECTS(group >= 0 && group < first_group(levels()));
    if (group == 0) return *this;
    const Group& top = groups_[static_cast<std::size_t>(group)];
    ProcessorTree tree;
    std::int32_t begin = group, count = 1;
    for (int depth = depth_of(group); depth <= levels(); ++depth) {
        const auto here = static_cast<std::int32_t>(tree.groups_.size());
        const std::int32_t above = tree.level_begin_.empty() ? 0 : tree.level_begin_.back();
        const std::int32_t parents_begin =
            tree.level_begin_.empty() ? 0 : groups_[static_cast<std::size_t>(begin)].parent;
        tree.level_begin_.push_back(here);
        std::int32_t children = 0;
        for (std::int32_t g = begin; g < begin + count; ++g) {
            Group copy = groups_[static_cast<std::size_t>(g)];
            copy.parent = here == 0 ? -1 : copy.parent - parents_begin + above;
            copy.first_processor -= top.first_processor;
            if (copy.child_count > 0) copy.first_child = here + count + children;
            children += copy.child_count;
            tree.groups_.push_back(copy);
        }
        begin = groups_[static_cast<std::size_t>(begin)].first_child;
        count = children;
    }
    tree.speed_.assign(speed_.begin() + top.first_processor,
                       speed_.begin() + top.first_processor + top.processor_count);
    tree.finish();
    return tree;
}

ProcessorTree ProcessorTree::outline(std::int32_t group) const {
    ZBS_EXPECTS(group >= 0 && group < first_group(levels()));
    const Group& top = groups_[static_cast<std::size_t>(group)];
    ProcessorTree tree;
    tree.groups_.push_back({.first_child = 1,
                            .child_count = top.child_count,
                            .processor_count = top.child_count,
                            .distance = top.distance});
    tree.level_begin_ = {0, 1, 1 + top.child_count};
    for (std::int32_t child = 0; child < top.child_count; ++child) {
        tree.groups_.push_back(
            {.parent = 0, .first_child = 1 + top.child_count + child, .child_count = 1, .first_processor = child});
    }
    for (std::int32_t child = 0; child < top.child_count; ++child) {
        tree.groups_.push_back({.parent = 1 + child, .first_processor = child});
        const Group& of = groups_[static_cast<std::size_t>(top.first_child + child)];
        const auto first = speed_.begin() + of.first_processor;
        tree.speed_.push_back(std::accumulate(first, first + of.processor_count, 0.0));
    }
    if (group == 0) tree.top_ = top_;
    tree.finish();
    return tree;
}

void ProcessorTree::finish() {
    ancestors_.assign(level_begin_.size() * speed_.size(), 0);
    for (std::size_t depth = 0; depth < level_begin_.size(); ++depth) {
        const auto begin = static_cast<std::size_t>(level_begin_[depth]);
        const auto end =
            depth + 1 < level_begin_.size() ? static_cast<std::size_t>(level_begin_[depth + 1]) : groups_.size();
        for (std::size_t g = begin; g < end; ++g) {
            const auto first = static_cast<std::ptrdiff_t>(depth * speed_.size()) + groups_[g].first_processor;
            std::fill_n(ancestors_.begin() + first, groups_[g].processor_count, static_cast<std::int32_t>(g));
        }
    }
}

double ProcessorTree::distance(ProcessorIndex a, ProcessorIndex b) const {
    if (a == b) return 0;
    if (levels() > 1 && !top_.empty() && group_of(a, 1) != group_of(b, 1))
        return top_distance(group_of(a, 1) - 1, group_of(b, 1) - 1);
    int depth = levels() - 1;
    while (group_of(a, depth) != group_of(b, depth)) --depth;
    return groups_[static_cast<std::size_t>(group_of(a, depth))].distance;
}

}  // namespace zbs
