#include "algorithms/formats/launchers/slurm_hostfile.hpp"

#include "algorithms/formats/launchers/hostfile.hpp"

namespace zbs::formats {

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

}  // namespace zbs::formats
