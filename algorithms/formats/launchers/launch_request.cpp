#include "algorithms/formats/launchers/launch_request.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace zbs::formats {

Result<void> check_zones(const LaunchRequest& request) {
    if (request.zones.empty()) return invalid("a launch needs at least one zone", "/zones");
    std::size_t count = 0;
    for (const LaunchZone& zone : request.zones) count += zone.ranks.size();
    std::vector<bool> seen(count, false);
    std::set<std::string_view> names;
    for (std::size_t z = 0; z < request.zones.size(); ++z) {
        const LaunchZone& zone = request.zones[z];
        const std::string at = "/zones/" + std::to_string(z);
        if (!names.insert(zone.name).second) return invalid("zone '" + zone.name + "' is given twice", at + "/name");
        if (zone.ranks.empty()) return invalid("zone '" + zone.name + "' has no rank; leave it out", at + "/ranks");
        TaskIndex previous = -1;
        for (std::size_t i = 0; i < zone.ranks.size(); ++i) {
            const LaunchRank& rank = zone.ranks[i];
            const auto here = [&] { return at + "/ranks/" + std::to_string(i); };
            if (rank.rank < 0 || static_cast<std::size_t>(rank.rank) >= count)
                return invalid("rank " + std::to_string(rank.rank) + " is not in 0.." + std::to_string(count - 1),
                               here());
            if (rank.rank <= previous) return invalid("ranks of a zone must ascend", here());
            if (seen[static_cast<std::size_t>(rank.rank)])
                return invalid("rank " + std::to_string(rank.rank) + " is in two zones", here());
            if (rank.slot < 0) return invalid("a slot is a number >= 0", here() + "/slot");
            seen[static_cast<std::size_t>(rank.rank)] = true;
            previous = rank.rank;
        }
    }
    return {};
}

Result<void> check_program(const LaunchRequest& request) {
    const auto has_nul = [](const std::string& text) { return text.find('\0') != std::string::npos; };
    const auto nul = [](const std::string& at) { return invalid("no program can be given a NUL byte", at); };
    if (request.executable.empty()) return invalid("which program? give it behind --", "/executable");
    if (has_nul(request.executable)) return nul("/executable");
    if (has_nul(request.name)) return nul("/name");
    if (has_nul(request.directory)) return nul("/directory");
    for (std::size_t i = 0; i < request.arguments.size(); ++i) {
        if (has_nul(request.arguments[i])) return nul("/arguments/" + std::to_string(i));
    }
    std::set<std::string_view> names;
    for (std::size_t i = 0; i < request.environment.size(); ++i) {
        const auto& [name, value] = request.environment[i];
        const std::string at = "/environment/" + std::to_string(i);
        if (has_nul(name) || has_nul(value)) return nul(at);
        if (name.empty() || name.find('=') != std::string::npos)
            return invalid("an environment name is not empty and holds no '='", at);
        if (!names.insert(name).second) return invalid("environment variable " + name + " is given twice", at);
    }
    if (request.walltime < Duration::zero()) return invalid("the walltime must not be negative", "/walltime");
    return {};
}

std::vector<std::pair<std::string, int>> ranks_by_host(const LaunchZone& zone) {
    std::vector<std::pair<std::string, int>> hosts;
    std::unordered_map<std::string_view, std::size_t> number;
    for (const LaunchRank& rank : zone.ranks) {
        const auto [at, is_new] = number.emplace(rank.host, hosts.size());
        if (is_new) hosts.emplace_back(rank.host, 0);
        ++hosts[at->second].second;
    }
    return hosts;
}

bool is_even(const std::vector<std::pair<std::string, int>>& hosts) {
    return std::ranges::all_of(hosts, [&](const auto& host) { return host.second == hosts.front().second; });
}

bool is_renumbered(const LaunchRequest& request) {
    TaskIndex next = 0;
    for (const LaunchZone& zone : request.zones) {
        for (const LaunchRank& rank : zone.ranks) {
            if (rank.rank != next++) return true;
        }
    }
    return false;
}

std::string rank_list(const LaunchZone& zone) {
    std::string list;
    for (std::size_t first = 0; first < zone.ranks.size();) {
        std::size_t last = first;
        while (last + 1 < zone.ranks.size() && zone.ranks[last + 1].rank == zone.ranks[last].rank + 1) ++last;
        if (!list.empty()) list += ',';
        list += std::to_string(zone.ranks[first].rank);
        if (last > first) list += '-' + std::to_string(zone.ranks[last].rank);
        first = last + 1;
    }
    return list;
}

}  // namespace zbs::formats
