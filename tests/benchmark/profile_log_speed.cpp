#include <benchmark/benchmark.h>

#include <string>

#include "algorithms/base/rng.hpp"
#include "algorithms/formats/profile_log.hpp"

namespace {

/// Bytes of log reduced per second: 64 ranks, two sends to one compute entry, about 24 MB.
void read_profile_log(benchmark::State& state) {
    std::string text;
    zbs::formats::ProfileLogWriter writer(text);
    zbs::Rng rng(1);
    for (int i = 0; i < 500'000; ++i) {
        const int from = static_cast<int>(rng.below(64)), to = static_cast<int>(rng.below(64));
        if (i % 3 == 2) {
            writer.compute(from, static_cast<std::int64_t>(rng.below(100'000)), 1'000'000 + i);
        } else {
            writer.send({from, to, rng.below(1'000'000), 1'000'000 + i});
        }
    }
    for (auto _ : state) {
        zbs::formats::ProfileLogReader reader("log");
        for (std::size_t at = 0; at < text.size(); at += 1 << 16) {
            if (!reader.feed(std::string_view(text).substr(at, 1 << 16))) state.SkipWithError("refused");
        }
        auto model = reader.finish();
        if (!model) state.SkipWithError("refused");
        benchmark::DoNotOptimize(model);
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(read_profile_log)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
