#include "studies/models/ecube.hpp"

#include <algorithm>
#include <bit>
#include <tuple>

#include "algorithms/base/expects.hpp"

namespace zbs {

std::vector<NodeIndex> ecube_route(NodeIndex from, NodeIndex to) {
    std::vector<NodeIndex> route{from};
    for (std::uint32_t differ = static_cast<std::uint32_t>(from ^ to); differ != 0; differ &= differ - 1)
        route.push_back(route.back() ^ static_cast<NodeIndex>(differ & (~differ + 1)));
    return route;
}

bool ecube_uses(NodeIndex from, NodeIndex to, const Channel& channel) {
    const std::uint32_t bit = static_cast<std::uint32_t>(channel.from ^ channel.to);
    ZBS_EXPECTS(std::has_single_bit(bit));
    const std::uint32_t low = bit - 1, high = ~(low | bit);
    const auto differ = [](NodeIndex a, NodeIndex b, std::uint32_t where) {
        return (static_cast<std::uint32_t>(a ^ b) & where) != 0;
    };
    // High dimensions are not yet corrected, low ones are already.
    return !differ(from, channel.from, high | bit) && !differ(to, channel.to, low | bit);
}

std::vector<Channel> ecube_channels(std::span<const NodeIndex> cluster) {
    std::vector<Channel> channels;
    for (const NodeIndex from : cluster) {
        for (const NodeIndex to : cluster) {
            NodeIndex at = from;
            for (std::uint32_t differ = static_cast<std::uint32_t>(from ^ to); differ != 0; differ &= differ - 1) {
                const NodeIndex next = at ^ static_cast<NodeIndex>(differ & (~differ + 1));
                channels.push_back({at, next});
                at = next;
            }
        }
        // Kept short: a cluster has far fewer channels than routes.
        std::ranges::sort(channels);
        channels.erase(std::unique(channels.begin(), channels.end()), channels.end());
    }
    return channels;
}

std::optional<Contention> find_contention(std::span<const std::vector<NodeIndex>> clusters) {
    std::vector<std::tuple<Channel, std::size_t>> used;
    for (std::size_t i = 0; i < clusters.size(); ++i)
        for (const Channel& channel : ecube_channels(clusters[i])) used.emplace_back(channel, i);
    std::ranges::sort(used);
    for (std::size_t i = 1; i < used.size(); ++i)
        if (std::get<0>(used[i - 1]) == std::get<0>(used[i]))
            return Contention{std::get<0>(used[i]), std::get<1>(used[i - 1]), std::get<1>(used[i])};
    return std::nullopt;
}

}  // namespace zbs
