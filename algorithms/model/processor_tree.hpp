#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/model/resource_graph.hpp"

namespace zbs {

/// Processors as the leaves of a tree of groups (processor, machine, zone, all), with a distance for every group: that
/// of two processors whose smallest common group it is. The mapping literature's hierarchy and distances ("4:8:6",
/// "1:10:100"), but groups may differ in size, speed and distance, and pairs of top groups (zones) may have distances
/// of their own. Every processor is at the same depth. Immutable; O(processors x levels + top groups squared) memory.
class ProcessorTree {
  public:
    static constexpr int kMaxLevels = 16;
    static constexpr double kMaxDistance = 1e15;  ///< so that bytes x distance stays a number

    struct Group {
        std::int32_t parent = -1;      ///< -1 for the root
        std::int32_t first_child = 0;  ///< children are consecutive groups
        std::int32_t child_count = 0;  ///< 0 for a processor
        ProcessorIndex first_processor = 0;
        ProcessorIndex processor_count = 1;
        double distance = 0;  ///< of two processors in different children; 0 for a processor
        bool operator==(const Group&) const = default;
    };

    ProcessorTree() = default;
    /// `arity` and `distances` innermost level first, equal in number: {4, 8, 6} and {1, 10, 100} are 6 zones of 8
    /// machines of 4 processors; processors 0..3 share a machine. Speeds are 1. Errors, kInvalidArgument: none or more
    /// than kMaxLevels levels, an arity below 1, more than ResourceGraph::kMaxProcessors, a distance that is negative
    /// or not finite; the pointer names the option and the level.
    static Result<ProcessorTree> uniform(std::span<const int> arity, std::span<const double> distances);
    /// Zones, machines and processors. The distance of a link is the time a message of `message_bytes` > 0 takes over
    /// it (delay + bytes / bandwidth), relative to the smallest such time of all links in the graph.
    static ProcessorTree of(const ResourceGraph& resources, double message_bytes);

    /// The group alone, for one that is no processor: its processors from 0 on, all groups below it.
    ProcessorTree subtree(std::int32_t group) const;
    /// What is to be known of a group to divide tasks among its children: each child shrunk to one processor as fast as
    /// all of its own together, with the distances between the children. Two levels: children and processors.
    ProcessorTree outline(std::int32_t group) const;

    /// Levels of groups above the processors: 3 for "4:8:6".
    int levels() const { return static_cast<int>(level_begin_.size()) - 1; }
    ProcessorIndex processor_count() const { return static_cast<ProcessorIndex>(speed_.size()); }
    /// All groups, root first, level by level, processors last in order.
    std::span<const Group> groups() const { return groups_; }
    /// First group of `depth`: 0 is the root, levels() the processors.
    std::int32_t first_group(int depth) const { return level_begin_[static_cast<std::size_t>(depth)]; }
    /// The group at `depth` that holds the processor.
    std::int32_t group_of(ProcessorIndex processor, int depth) const {
        return ancestors_[static_cast<std::size_t>(depth) * speed_.size() + static_cast<std::size_t>(processor)];
    }
    double speed(ProcessorIndex processor) const { return speed_[static_cast<std::size_t>(processor)]; }

    /// Of two top groups (children of the root, 0-based); the root's distance unless links give another one.
    double top_distance(std::int32_t a, std::int32_t b) const {
        return top_.empty() ? groups_[0].distance
                            : top_[static_cast<std::size_t>(a) * static_cast<std::size_t>(groups_[0].child_count) +
                                   static_cast<std::size_t>(b)];
    }
    bool top_distances_differ() const { return !top_.empty(); }
    /// 0 for a == b. O(levels).
    double distance(ProcessorIndex a, ProcessorIndex b) const;

    bool operator==(const ProcessorTree&) const = default;

  private:
    void finish();
    int depth_of(std::int32_t group) const;

    std::vector<Group> groups_;
    std::vector<std::int32_t> level_begin_;
    std::vector<std::int32_t> ancestors_;  // depth x processors
    std::vector<double> speed_;
    std::vector<double> top_;  // empty, or top groups squared
};

/// "4:8:6" -> {4, 8, 6}; "1:10:100" -> {1, 10, 100}. Errors name the text, the place and a valid example.
Result<std::vector<int>> parse_hierarchy(std::string_view text);
Result<std::vector<double>> parse_distances(std::string_view text);

}  // namespace zbs
