#include "algorithms/formats/launchers/rankfile.hpp"

#include "algorithms/formats/launchers/hostfile.hpp"

namespace zbs::formats {

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

}  // namespace zbs::formats
