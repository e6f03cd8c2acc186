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

/// Of homes that compete, too: users submit six applications each at once, five times.
TEST(SimulatedWorld, AuditLogsHaveOneEntryForEachDecisionThatChangesSomething) {
    const StormFault burst{.kind = FaultKind::kBurst, .applications = 6};
    const StormPlan plan{.name = "no fault",
                         .storm = std::chrono::minutes{20},
                         .calm = std::chrono::minutes{20},
                         .pause_least = std::chrono::seconds{60},
                         .pause_most = std::chrono::seconds{200},
                         .entries = {{.at_most = 5, .faults = {burst}}}};
    for (const std::uint64_t seed : {1, 2, 3}) {
        const Outcome outcome = run_world({.seed = seed, .storm = plan});
        EXPECT_EQ(outcome.violation, std::nullopt);
        ASSERT_GT(outcome.applications, 100);
        EXPECT_LT(static_cast<double>(outcome.audited) / outcome.applications, 12) << outcome.applications;
        std::printf("seed %llu: %d applications in %d zones, %.1f entries each\n",
                    static_cast<unsigned long long>(seed), outcome.applications, outcome.zones,
                    static_cast<double>(outcome.audited) / outcome.applications);
    }
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
