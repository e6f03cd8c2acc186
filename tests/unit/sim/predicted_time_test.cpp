#include <gtest/gtest.h>

#include "algorithms/mapping/mapper.hpp"
#include "algorithms/mapping/objective.hpp"
#include "algorithms/sim/generators.hpp"
#include "algorithms/sim/replay.hpp"
#include "tests/support/graphs.hpp"

namespace zbs {
namespace {

/// The objective `time` overlaps nothing and lets both ends pay for a message, so it is above the replay; but it is
/// there to distinguish mappings.
TEST(PredictedTime, OrdersMappingsOfTheKernelAsReplayDoes) {
    TransportKernel kernel;
    kernel.teams = 3;
    kernel.procs_per_team = 3;
    kernel.external_cycles = 5;
    kernel.internal_cycles = 50;
    const Trace trace = transport_trace(kernel).value();
    const TaskGraph graph = task_graph_of(trace);
    for (const double delay_s : {1e-4, 1e-3, 1e-2}) {
        const ResourceGraph zones = test::flat_zones({6, 4}, {delay_s, 1e8});
        struct Times {
            double predicted, replayed;
        };
        std::vector<Times> times;
        for (const std::string_view name : mapper_names()) {
            const Mapping mapping = find_mapper(name)->map(graph, zones, {}).value();
            times.push_back(
                {predicted_time(graph, zones, mapping.processor_of), replay(trace, zones, mapping).value().run_time_s});
            // Seen: 2.0 to 3.2 times the replay.
            EXPECT_GE(times.back().predicted, times.back().replayed) << name << ", delay " << delay_s;
            EXPECT_LE(times.back().predicted, 4 * times.back().replayed) << name << ", delay " << delay_s;
        }
        for (const Times& a : times) {
            for (const Times& b : times) {
                if (a.predicted < 0.9 * b.predicted) {
                    EXPECT_LT(a.replayed, b.replayed) << "delay " << delay_s;
                }
            }
        }
    }
}

}  // namespace
}  // namespace zbs
