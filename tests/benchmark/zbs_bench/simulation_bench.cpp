#include <benchmark/benchmark.h>

#include <chrono>
#include <map>
#include <string>

#include "algorithms/base/rng.hpp"
#include "algorithms/formats/swf_cleaning.hpp"
#include "algorithms/policy/registry.hpp"
#include "algorithms/sim/workload_generators.hpp"
#include "algorithms/sim/workload_simulation.hpp"
#include "tests/support/reference_traces.hpp"

// Simulated jobs a second, trace already parsed, beside the time that parsing takes. Real traces lie beside the
// repository; without them only the generated rows remain.

namespace {

using namespace zbs;

struct Parsed {
    Workload workload;
    double parse_s = 0;  ///< reading the unzipped text and cleaning
};

const Parsed* parsed(const std::string& file, std::int64_t processors) {
    static std::map<std::string, Parsed> known;
    if (const auto found = known.find(file); found != known.end()) return &found->second;
    const std::optional<std::string> text = test::read_reference_trace(file);
    if (!text) return nullptr;
    const auto begin = std::chrono::steady_clock::now();
    const auto trace = formats::read_swf(*text, file);
    auto cleaned = formats::clean_swf(*trace, file, {.processors = processors});
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    return &known.emplace(file, Parsed{std::move(cleaned->workload), took.count()}).first->second;
}

void run(benchmark::State& state, const Workload& workload, const std::string& policy, const PolicyOptions& options,
         const SimulationOptions& how) {
    for (auto _ : state) {
        const auto made = make_policy(policy, options);
        const auto outcome = simulate(workload, **made, how);
        if (!outcome) return state.SkipWithError(outcome.error().message.c_str());
        benchmark::DoNotOptimize(outcome->end.data());
    }
    state.counters["jobs/s"] =
        benchmark::Counter(static_cast<double>(workload.jobs.size()), benchmark::Counter::kIsIterationInvariantRate);
}

/// Lublin and Feitelson's model at a load that keeps a queue.
const Workload& generated(std::int64_t jobs) {
    static std::map<std::int64_t, Workload> known;
    const auto found = known.find(jobs);
    if (found != known.end()) return found->second;
    return known.emplace(jobs, *generate(LublinWorkload{.common = {.jobs = jobs}})).first->second;
}

/// Jobs of 1 to 64 of 64 processors that are all there at time 0.
Workload at_once(std::int64_t jobs) {
    Rng rng(1);
    Workload workload{.name = "at once", .processors = 64, .jobs = {}};
    for (std::int64_t id = 1; id <= jobs; ++id) {
        const std::chrono::seconds runtime{1 + static_cast<std::int64_t>(rng.below(5000))};
        const std::chrono::seconds longer{static_cast<std::int64_t>(rng.below(3001))};
        workload.jobs.push_back({{.id = JobId{id},
                                  .walltime = runtime + longer,
                                  .processors = static_cast<std::int32_t>(1 + rng.below(64))},
                                 runtime});
    }
    return workload;
}

const bool registered = [] {
    const struct {
        const char* label;
        const char* file;
        std::int64_t processors;
        std::vector<const char*> policies;
    } traces[] = {
        {"KTH-SP2",
         "KTH-SP2-1996-2.swf",
         100,
         {"fcfs", "easy", "sjbf", "conservative", "los", "slack", "selective", "dynamic"}},
        {"SDSC-BLUE", "SDSC-BLUE-2000-4.2-cln.swf", 1152, {"fcfs", "easy", "sjbf", "conservative"}},
        {"HPC2N", "HPC2N-2002-2.1-cln.swf", 240, {"fcfs", "easy", "sjbf", "conservative"}},
        {"CEA-Curie", "CEA-Curie-2011-2.1-cln.swf", 80'640, {"fcfs", "easy", "sjbf", "conservative"}},
    };
    for (const auto& trace : traces)
        for (const std::string policy : trace.policies)
            benchmark::RegisterBenchmark(
                ("simulate/" + std::string(trace.label) + "/" + policy).c_str(),
                [policy, file = std::string(trace.file), processors = trace.processors](benchmark::State& state) {
                    const Parsed* const trace_read = parsed(file, processors);
                    if (trace_read == nullptr) return state.SkipWithError("trace not found beside the repository");
                    run(state, trace_read->workload, policy, {}, {.rules = EventRules::kReference});
                    state.counters["parse_s"] = trace_read->parse_s;
                })
                ->Unit(benchmark::kMillisecond);
    // How the time of a job grows with their number, under a load that does not.
    for (const std::string policy : {"fcfs", "easy", "sjbf", "conservative", "gang"})
        for (const std::int64_t jobs : {10'000l, 100'000l, 1'000'000l})
            benchmark::RegisterBenchmark(
                ("simulate/lublin-" + std::to_string(jobs) + "/" + policy).c_str(),
                [policy, jobs](benchmark::State& state) { run(state, generated(jobs), policy, {}, {}); })
                ->Unit(benchmark::kMillisecond);
    // Queues of thousands at once. After each end most waiting jobs get another start, so time grows as O(n^2) for n
    // jobs at least; the last two of these show the exponent.
    for (const std::string policy : {"conservative", "slack", "selective", "backfill", "gang", "los", "dynamic",
                                     "multiqueue", "lazy-gang", "scojo", "adaptive-scojo", "elmer"})
        for (const std::int64_t jobs : {1'000l, 2'500l, 5'000l})
            benchmark::RegisterBenchmark(("simulate/at-once-" + std::to_string(jobs) + "/" + policy).c_str(),
                                         [policy, jobs](benchmark::State& state) {
                                             PolicyOptions options;
                                             if (policy == "backfill") options = {{"depth", "unlimited"}};
                                             if (policy == "gang") options = {{"slices", "unlimited"}};
                                             run(state, at_once(jobs), policy, options, {});
                                         })
                ->Unit(benchmark::kMillisecond);
    // Adaptive SCOJO's own workloads, and how its time grows with the jobs.
    const struct {
        ScojoWorkload::Table table;
        std::int64_t jobs;
        double gap_s;
        const char* label;
        const char* classes;
    } adaptive[] = {{ScojoWorkload::Table::kWorkload1, 2000, 166, "workload-1", "1m,30m"},
                    {ScojoWorkload::Table::kWorkload1, 8000, 166, "workload-1", "1m,30m"},
                    {ScojoWorkload::Table::kWorkload1, 8000, 0, "workload-1-printed-gap", "1m,30m"},
                    {ScojoWorkload::Table::kWorkload2, 3000, 0, "workload-2", "3m,1h"}};
    for (const auto& made : adaptive)
        for (const std::string strategy : {"pri-b-wa-fa", "pri-eb-wa-fa"})
            benchmark::RegisterBenchmark(
                ("simulate/scojo-" + std::string(made.label) + "-" + std::to_string(made.jobs) + "/" + strategy)
                    .c_str(),
                [made, strategy](benchmark::State& state) {
                    const Workload workload = *generate(ScojoWorkload{.common = {.jobs = made.jobs, .processors = 64},
                                                                      .table = made.table,
                                                                      .mean_gap_s = made.gap_s});
                    run(state, workload, "adaptive-scojo",
                        {{"strategy", strategy}, {"level", "5"}, {"classes", made.classes}}, {});
                })
                ->Unit(benchmark::kMillisecond);
    return true;
}();

}  // namespace
