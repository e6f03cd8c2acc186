#include <benchmark/benchmark.h>

#include <deque>

#include "algorithms/allocation/hypercube_allocators.hpp"
#include "algorithms/base/rng.hpp"

// 100,000 requests for meshes on a 10-cube, each served and released: a request that finds no place waits until the
// oldest jobs have gone.

namespace {

using namespace zbs;

template <class AllocatorKind>
void serve(benchmark::State& state) {
    constexpr int kRequests = 100'000;
    const std::int32_t largest = static_cast<std::int32_t>(state.range(0));
    for (auto _ : state) {
        AllocatorKind machine({.dimensions = 10});
        Rng rng(1);
        std::deque<JobId> running;
        const auto release_oldest = [&] {
            if (!machine.release(running.front())) state.SkipWithError("a job was lost");
            running.pop_front();
        };
        for (int i = 0; i < kRequests; ++i) {
            const auto side = [&] {
                return static_cast<std::int32_t>(1 + rng.below(static_cast<std::uint64_t>(largest)));
            };
            const std::int32_t x = side(), y = side();
            for (;;) {
                const auto placed = machine.allocate(JobId{i}, mesh_request({x, y}));
                if (!placed) return state.SkipWithError(placed.error().message.c_str());
                if (*placed != nullptr) break;
                release_oldest();
            }
            running.push_back(JobId{i});
        }
        while (!running.empty()) release_oldest();
        benchmark::DoNotOptimize(machine.free_processors());
    }
    state.counters["requests/s"] = benchmark::Counter(kRequests, benchmark::Counter::kIsIterationInvariantRate);
}

BENCHMARK(serve<AuxiliaryFreeList>)
    ->Name("allocate/afl/sides")
    ->Arg(2)
    ->Arg(4)
    ->Arg(8)
    ->Arg(16)
    ->Arg(32)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(serve<FreeListCubes>)->Name("allocate/free-list/sides")->Arg(4)->Arg(32)->Unit(benchmark::kMillisecond);

}  // namespace
