#include <benchmark/benchmark.h>

#include <numeric>

#include "algorithms/base/rng.hpp"
#include "algorithms/sim/generators.hpp"
#include "algorithms/sim/replay.hpp"
#include "tests/support/graphs.hpp"

namespace zbs {
namespace {

/// Ranks dealt over 4 zones in blocks, so that both near and far messages occur.
void replay_trace(benchmark::State& state, const Trace& trace) {
    const int per_zone = (trace.rank_count() + 3) / 4;
    const ResourceGraph resources = test::flat_zones({per_zone, per_zone, per_zone, per_zone}, {5e-3, 1e8});
    Mapping mapping{std::vector<ProcessorIndex>(trace.ranks.size())};
    std::iota(mapping.processor_of.begin(), mapping.processor_of.end(), 0);
    for (auto _ : state) benchmark::DoNotOptimize(replay(trace, resources, mapping).value());
    state.counters["events"] = static_cast<double>(trace.event_count());
    state.counters["events/s"] =
        benchmark::Counter(static_cast<double>(trace.event_count()), benchmark::Counter::kIsIterationInvariantRate);
}

void replay_transport(benchmark::State& state) {
    const TransportKernel kernel{.teams = static_cast<std::int32_t>(state.range(0)),
                                 .procs_per_team = static_cast<std::int32_t>(state.range(1)),
                                 .internal_cycles = state.range(2)};
    replay_trace(state, transport_trace(kernel).value());
}
void replay_random(benchmark::State& state) {
    const RandomProgramOptions options{
        .ranks = static_cast<std::int32_t>(state.range(0)), .clusters = 16, .every = 3, .lines = state.range(1)};
    replay_trace(state, random_trace(make_random_program(options).value()).value());
}
/// A master that takes results from whoever comes first.
void replay_master_worker(benchmark::State& state) {
    const auto ranks = static_cast<std::int32_t>(state.range(0));
    TraceBuilder builder(ranks);
    Rng rng(1);
    for (int round = 0; round < 200; ++round) {
        for (std::int32_t worker = 1; worker < ranks; ++worker) {
            builder.compute(worker, rng.uniform());
            builder.send(worker, 0, 100);
            builder.receive(0, TraceChannel::kAny);
        }
    }
    replay_trace(state, std::move(builder).finish());
}
BENCHMARK(replay_transport)
    ->ArgNames({"teams", "procs", "cycles"})
    ->Args({2, 2, 100'000})
    ->Args({16, 16, 1'000})
    ->Args({64, 64, 10})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(replay_random)
    ->ArgNames({"ranks", "lines"})
    ->Args({16, 1'000'000})
    ->Args({1'000, 3'000'000})
    ->Args({10'000, 3'000'000})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(replay_master_worker)->ArgNames({"ranks"})->Args({1'000})->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace zbs
