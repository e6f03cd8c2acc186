#include "algorithms/formats/launchers/openmpi_hostfile.hpp"

#include <set>
#include <string_view>

#include "algorithms/formats/launchers/hostfile.hpp"

namespace zbs::formats {

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
