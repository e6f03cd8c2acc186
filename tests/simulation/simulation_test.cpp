#include <gtest/gtest.h>

#include "tests/simulation/world.hpp"

// What the simulated world itself is worth: it repeats itself, and it finds faults that are there. The seeds that look
// for bugs which should not be there are run by `simulation`.

namespace zbs::simulation {
namespace {

/// The first seed of 200 that shows the fault; 0 if none does.
std::uint64_t find(PlantedFault fault, std::string& violation) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        if (const Outcome outcome = run_world({.seed = seed, .fault = fault}); outcome.violation) {
            violation = *outcome.violation;
            return seed;
        }
    }
    return 0;
}

TEST(SimulatedWorld, SeedReplaysBitForBit) {
    const Outcome once = run_world({.seed = 7}), again = run_world({.seed = 7}), other = run_world({.seed = 8});
    EXPECT_EQ(once.digest, again.digest);
    EXPECT_EQ(once.events, again.events);
    EXPECT_NE(once.digest, other.digest);
    EXPECT_GT(once.crashes, 0);
    EXPECT_GT(once.applications, 0);
}

class SimulatedWorldFinds : public testing::TestWithParam<std::pair<PlantedFault, const char*>> {};

TEST_P(SimulatedWorldFinds, FaultWithin200Seeds) {
    std::string violation;
    const std::uint64_t seed = find(GetParam().first, violation);
    EXPECT_GT(seed, 0u);
    EXPECT_EQ(run_world({.seed = seed}).violation, std::nullopt) << "found where it is not";
    std::printf("%s: found by seed %llu: %s\n", GetParam().second, static_cast<unsigned long long>(seed),
                violation.c_str());
}

INSTANTIATE_TEST_SUITE_P(Planted, SimulatedWorldFinds,
                         testing::Values(std::pair{PlantedFault::kCommitWithoutSync, "CommitWithoutSync"},
                                         std::pair{PlantedFault::kNoFencing, "NoFencing"},
                                         std::pair{PlantedFault::kKeepRefusedHolds, "KeepRefusedHolds"}),
                         [](const auto& instance) { return std::string(instance.param.second); });

}  // namespace
}  // namespace zbs::simulation
