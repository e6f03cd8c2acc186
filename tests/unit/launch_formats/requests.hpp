#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/formats/launchers/launch_request.hpp"

namespace zbs::formats {

/// `hosts[r]` is where rank r runs, as "zone/host"; its slot is the number of earlier ranks there.
inline LaunchRequest launch(const std::vector<std::string>& hosts) {
    LaunchRequest request{.name = "heat",
                          .executable = "/opt/app/heat",
                          .arguments = {"-n", "512"},
                          .directory = "/home/ana",
                          .walltime = std::chrono::minutes(30)};
    std::map<std::string, int> slots;
    for (std::size_t r = 0; r < hosts.size(); ++r) {
        const std::size_t slash = hosts[r].find('/');
        const std::string zone = hosts[r].substr(0, slash), host = hosts[r].substr(slash + 1);
        auto at = request.zones.begin();
        while (at != request.zones.end() && at->name != zone) ++at;
        if (at == request.zones.end()) at = request.zones.insert(at, LaunchZone{zone, {}, {}});
        at->ranks.push_back({static_cast<TaskIndex>(r), host, slots[hosts[r]]++});
    }
    return request;
}

}  // namespace zbs::formats
