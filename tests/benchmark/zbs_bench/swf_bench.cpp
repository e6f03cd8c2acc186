#include <benchmark/benchmark.h>

#include <string>

#include "algorithms/formats/swf.hpp"
#include "algorithms/formats/swf_cleaning.hpp"
#include "algorithms/sim/workload_generators.hpp"

// The reader of workload logs, on a log of 300,000 generated jobs laid out in columns as archived logs are.

namespace {

/// Columns as wide as those of the archive, every fourth CPU time with decimals.
std::string columns(const std::string& text) {
    constexpr std::size_t kWidths[] = {5, 8, 6, 6, 4, 6, 5, 4, 6, 5, 2, 3, 3, 3, 2, 2, 2, 2};
    std::string out;
    std::size_t field = 0, line = 0, begin = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == ';' && field == 0) {
            const std::size_t end = text.find('\n', i) + 1;
            out.append(text, i, end - i);
            begin = end;
            i = end - 1;
            continue;
        }
        if (text[i] != ' ' && text[i] != '\n') continue;
        std::string word = text.substr(begin, i - begin);
        if (field == 5 && line % 4 == 0) word = "12.75";
        out.append(kWidths[field] > word.size() ? kWidths[field] - word.size() : 0, ' ');
        out += word + text[i];
        field = text[i] == '\n' ? 0 : field + 1;
        line += text[i] == '\n' ? 1 : 0;
        begin = i + 1;
    }
    return out;
}

const std::string& log_text() {
    static const std::string text = columns(
        zbs::formats::write_swf(zbs::formats::make_swf(*generate(zbs::LublinWorkload{.common = {.jobs = 300'000}}))));
    return text;
}

void swf_read(benchmark::State& state) {
    const std::string& text = log_text();
    for (auto _ : state) {
        auto trace = zbs::formats::read_swf(text, "log");
        if (!trace) return state.SkipWithError("refused");
        benchmark::DoNotOptimize(trace->records.data());
    }
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(swf_read)->Unit(benchmark::kMillisecond);

void swf_read_and_clean(benchmark::State& state) {
    const std::string& text = log_text();
    for (auto _ : state) {
        const auto trace = zbs::formats::read_swf(text, "log");
        auto cleaned = zbs::formats::clean_swf(*trace, "log");
        if (!cleaned) return state.SkipWithError("refused");
        benchmark::DoNotOptimize(cleaned->workload.jobs.data());
    }
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(swf_read_and_clean)->Unit(benchmark::kMillisecond);

void swf_write(benchmark::State& state) {
    const auto trace = *zbs::formats::read_swf(log_text(), "log");
    std::int64_t bytes = 0;
    for (auto _ : state) {
        const std::string text = zbs::formats::write_swf(trace);
        bytes += static_cast<std::int64_t>(text.size());
    }
    state.SetBytesProcessed(bytes);
}
BENCHMARK(swf_write)->Unit(benchmark::kMillisecond);

}  // namespace
