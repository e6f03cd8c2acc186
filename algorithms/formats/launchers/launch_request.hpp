#pragma once
#include <string>
#include <utility>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/base/time.hpp"
#include "algorithms/model/task_graph.hpp"

namespace zbs::formats {

/// Where one rank runs.
struct LaunchRank {
    TaskIndex rank = 0;  ///< its number in the whole application
    std::string host;
    int slot = 0;  ///< processor of that host, 0-based
    bool operator==(const LaunchRank&) const = default;
};

/// The ranks of one zone (site), in ascending order.
struct LaunchZone {
    std::string name;
    std::string contact;  ///< resource manager contact as HOST:PORT/SERVICE:SUBJECT; empty: the zone's name
    std::vector<LaunchRank> ranks;
    bool operator==(const LaunchZone&) const = default;
};

/// One MPI program and where each of its ranks runs: what every writer of a launch format takes.
struct LaunchRequest {
    std::string name;  ///< of the job, common to all zones
    std::string executable;
    std::vector<std::string> arguments;
    std::string directory;  ///< empty leaves it to the site
    std::vector<std::pair<std::string, std::string>> environment;
    Duration walltime{};  ///< 0 leaves it to the site
    std::vector<LaunchZone> zones;
    bool operator==(const LaunchRequest&) const = default;
};

/// What all writers need: a zone, a rank in each, zone names distinct, the ranks 0..n-1 each once and ascending in
/// their zone, slots >= 0. Errors point into {"zones":[{"ranks":[...]}]}. O(ranks).
Result<void> check_zones(const LaunchRequest& request);
/// What the formats that name the program need as well: an executable, no NUL anywhere, environment names that are
/// distinct, not empty and without '=', a walltime >= 0.
Result<void> check_program(const LaunchRequest& request);

/// Hosts of a zone in order of their first rank, with their number of ranks.
std::vector<std::pair<std::string, int>> ranks_by_host(const LaunchZone& zone);
/// Whether all hosts of the zone have the same number of ranks.
bool is_even(const std::vector<std::pair<std::string, int>>& hosts);

/// Sites start their ranks as one block each, zone after zone. Whether that renumbers any.
bool is_renumbered(const LaunchRequest& request);
/// The ranks of a zone as "0-3,8": rank i of the zone's block is the application's i-th of this list.
std::string rank_list(const LaunchZone& zone);

}  // namespace zbs::formats
