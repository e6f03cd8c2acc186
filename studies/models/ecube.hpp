#pragma once
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "algorithms/allocation/cube.hpp"

namespace zbs {

/// A directed link between two neighbours of a hypercube.
struct Channel {
    NodeIndex from = 0, to = 0;
    auto operator<=>(const Channel&) const = default;
};

/// The way of a message under E-cube routing, both ends included: dimensions in which they differ are corrected from
/// the lowest upwards. O(dimensions).
std::vector<NodeIndex> ecube_route(NodeIndex from, NodeIndex to);
/// Whether the way from `from` to `to` uses the channel, without making it [Turner1995, lemma 1]. Precondition: the
/// channel joins neighbours.
bool ecube_uses(NodeIndex from, NodeIndex to, const Channel& channel);
/// Every channel that a message between two nodes of the cluster may use, ascending, each once. O(nodes^2 x
/// dimensions).
std::vector<Channel> ecube_channels(std::span<const NodeIndex> cluster);

/// Two clusters whose messages may meet on a channel.
struct Contention {
    Channel channel;
    std::size_t first = 0, second = 0;  ///< places of the clusters, first < second
    bool operator==(const Contention&) const = default;
};
/// The first channel that two of the clusters share, by channel; nothing where each has its channels to itself.
std::optional<Contention> find_contention(std::span<const std::vector<NodeIndex>> clusters);

}  // namespace zbs
