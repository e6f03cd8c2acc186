#include "algorithms/formats/launchers/hostfile.hpp"

#include <set>

namespace zbs::formats {

bool is_host_name(std::string_view text) {
    if (text.empty() || text.size() > 253) return false;
    const auto is_part = [](std::string_view part) {
        if (part.empty() || part.size() > 63 || part.front() == '-' || part.back() == '-') return false;
        for (const char c : part) {
            const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
            if (!letter && !(c >= '0' && c <= '9') && c != '-' && c != '_') return false;
        }
        return true;
    };
    for (std::size_t dot = text.find('.'); dot != std::string_view::npos; dot = text.find('.')) {
        if (!is_part(text.substr(0, dot))) return false;
        text.remove_prefix(dot + 1);
    }
    return is_part(text);
}

Result<void> check_host_names(const LaunchZone& zone) {
    for (std::size_t i = 0; i < zone.ranks.size(); ++i) {
        if (i > 0 && zone.ranks[i].host == zone.ranks[i - 1].host) continue;
        if (!is_host_name(zone.ranks[i].host))
            return invalid("\"" + zone.ranks[i].host +
                               "\" is no host name that a host file can hold (no port, no IPv6 address, letters, "
                               "digits, '-', '_' and '.' only)",
                           "/ranks/" + std::to_string(i));
    }
    return {};
}

Result<std::string> write_hydra_hostfile(const LaunchZone& zone) {
    if (auto ok = check_host_names(zone); !ok) return ok.error();
    std::vector<std::string> hosts;
    hosts.reserve(zone.ranks.size());
    for (const LaunchRank& rank : zone.ranks) hosts.push_back(rank.host);
    return write_hydra_hostfile(hosts);
}

Result<std::string> write_hydra_hostfile(std::span<const std::string> host_of_rank) {
    if (host_of_rank.empty()) return invalid("a host file needs at least one rank");
    std::string out;
    for (std::size_t first = 0; first < host_of_rank.size();) {
        const std::string& host = host_of_rank[first];
        if (!is_host_name(host))
            return invalid("\"" + host + "\" is no host name that a host file can hold", "/" + std::to_string(first));
        std::size_t end = first + 1;
        while (end < host_of_rank.size() && host_of_rank[end] == host) ++end;
        out += host + ":" + std::to_string(end - first) + "\n";
        first = end;
    }
    return out;
}

bool has_returning_host(std::span<const std::string> host_of_rank) {
    std::set<std::string_view> seen;
    for (std::size_t r = 0; r < host_of_rank.size(); ++r) {
        if (r > 0 && host_of_rank[r] == host_of_rank[r - 1]) continue;
        if (!seen.insert(host_of_rank[r]).second) return true;
    }
    return false;
}

std::string find_dotted_host(const LaunchZone& zone) {
    for (const LaunchRank& rank : zone.ranks) {
        const bool is_address = rank.host.find_first_not_of("0123456789.") == std::string::npos;
        if (!is_address && rank.host.find('.') != std::string::npos) return rank.host;
    }
    return {};
}

Result<std::string> write_rankfile(const LaunchZone& zone) {
    if (zone.ranks.empty()) return invalid("a rankfile needs at least one rank", "/ranks");
    if (auto ok = check_host_names(zone); !ok) return ok.error();
    std::string out;
    for (std::size_t i = 0; i < zone.ranks.size(); ++i) {
        out += "rank " + std::to_string(i) + "=" + zone.ranks[i].host + " slot=" + std::to_string(zone.ranks[i].slot) +
               "\n";
    }
    return out;
}

Result<std::string> write_slurm_hostfile(const LaunchZone& zone) {
    if (zone.ranks.empty()) return invalid("a host list needs at least one rank", "/ranks");
    if (auto ok = check_host_names(zone); !ok) return ok.error();
    std::string out;
    for (std::size_t i = 0; i < zone.ranks.size(); ++i) {
        if (zone.ranks[i].host.front() == '_')
            return invalid("\"" + zone.ranks[i].host + "\" does not begin with a letter or digit, as Slurm wants",
                           "/ranks/" + std::to_string(i));
        out += zone.ranks[i].host + "\n";
    }
    return out;
}

Result<std::string> write_openmpi_hostfile(const LaunchZone& zone) {
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < zone.ranks.size(); ++i) {
        const std::string& host = zone.ranks[i].host;
        if (i > 0 && host == zone.ranks[i - 1].host) continue;
        if (!seen.insert(host).second)
            return invalid("host '" + host +
                               "' comes back after another one, which an Open MPI host file cannot say; use a rankfile",
                           "/ranks/" + std::to_string(i));
    }
    return write_openmpi_slots(zone);
}

Result<std::string> write_openmpi_slots(const LaunchZone& zone) {
    if (zone.ranks.empty()) return invalid("a host file needs at least one rank", "/ranks");
    if (auto ok = check_host_names(zone); !ok) return ok.error();
    std::string out;
    for (const auto& [host, count] : ranks_by_host(zone)) out += host + " slots=" + std::to_string(count) + "\n";
    return out;
}

}  // namespace zbs::formats
