#pragma once
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/simulation/node.hpp"
#include "tests/simulation/storm_plan.hpp"
#include "tests/simulation/user.hpp"

namespace zbs::simulation {

/// What a seed is run with.
struct WorldOptions {
    std::uint64_t seed = 1;
    const StormPlan& storm = mixed_storm();
    bool chronicle = false;                    ///< keep what happened, line by line
    PlantedFault fault = PlantedFault::kNone;  ///< around the ports of all zones
};

struct Outcome {
    std::optional<std::string> violation;  ///< what must never be, and was
    int zones = 0;
    int applications = 0;  ///< accepted
    std::map<std::string, int> ends;
    int reserved = 0;  ///< starts that were reserved for later,
    int earlier = 0;   ///< of those, given up for an earlier one,
    int brought = 0;   ///< files to machines with agents
    int slipped = 0;   ///< and planned again, because something was not there or not free in time
    int crashes = 0;
    int partitions = 0;
    std::uint64_t observed = 0;  ///< answers to users, each fitting into one history of its application
    std::uint64_t messages = 0;
    std::uint64_t events = 0;
    std::uint64_t digest = 0;  ///< of everything that happened: the same for the same seed and code
    std::vector<std::string> chronicle;
};

/// Runs one seed: zones of one organisation each, a registry, a user per zone, and a storm of faults. The checks
/// of `checks.hpp` look on after every event.
Outcome run_world(const WorldOptions& options);

}  // namespace zbs::simulation
