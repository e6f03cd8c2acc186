#include <benchmark/benchmark.h>

#include <functional>
#include <queue>

#include "algorithms/gang/packing.hpp"
#include "algorithms/sim/workload_generators.hpp"
#include "studies/models/gang_machine.hpp"

namespace zbs {
namespace {

Workload jann(std::int32_t processors, std::int64_t jobs) {
    return generate(HyperErlangWorkload{.common = {.jobs = jobs, .processors = processors, .seed = 1},
                                        .classes = parse_size_classes(example_size_classes(), "example").value()})
        .value();
}

/// Every job comes, stays for its run time and leaves.
std::int64_t pack(const Workload& workload, const gang::PackingOptions& options) {
    gang::GangPacking packing(options);
    std::priority_queue<std::pair<Time, JobId>, std::vector<std::pair<Time, JobId>>, std::greater<>> ends;
    std::int64_t slices = 0;
    for (const WorkloadJob& job : workload.jobs) {
        for (; !ends.empty() && ends.top().first <= job.job.submit; ends.pop()) packing.leave(ends.top().second);
        benchmark::DoNotOptimize(packing.arrive({job.job.id, job.job.processors, job.job.memory_bytes >> 20}).value());
        ends.emplace(job.job.submit + job.runtime, job.job.id);
        slices += packing.diagram().row_count();
    }
    return slices;
}

struct NamedRule {
    const char* name;
    const char* rule;
    gang::PackingOptions given;
};
const std::vector<NamedRule>& rules() {
    static const std::vector<NamedRule> all{
        {"first-fit", "first-fit", {.processors = 128}},
        {"best-fit", "best-fit", {.processors = 128}},
        {"ffd", "ffd", {.processors = 128}},
        {"memory-fit", "memory-fit", {.processors = 128, .memory_per_node = 512}},
        {"buddy", "buddy", {.processors = 128}},
        {"first-fit/migration", "first-fit", {.processors = 128, .repack = gang::Repack::kAtArrival}},
        {"best-fit/migration", "best-fit", {.processors = 128, .repack = gang::Repack::kAtArrival}},
        {"best-fit/memory", "best-fit", {.processors = 128, .memory_per_node = 512, .overtaking = true}},
        {"memory-fit/compared",
         "memory-fit",
         {.processors = 128, .new_slice = gang::NewSlice::kAlwaysCompared, .memory_per_node = 512}},
        {"buddy/no-selective-disabling", "buddy", {.processors = 128, .selective_disabling = false}},
        {"buddy/filled", "buddy", {.processors = 128, .fill = true}},
        {"first-fit/filled,compact", "first-fit", {.processors = 128, .fill = true, .compact = true}},
    };
    return all;
}

/// The case: 128 processors, 30,000 jobs, all rules one after the other; goal < 10 s.
void gang_packing_all_rules(benchmark::State& state) {
    const Workload workload = jann(128, 30'000);
    for (auto _ : state)
        for (const NamedRule& rule : rules())
            benchmark::DoNotOptimize(pack(workload, gang::make_packing_options(rule.rule, rule.given).value()));
    state.counters["rules"] = static_cast<double>(rules().size());
    state.counters["jobs"] = static_cast<double>(workload.jobs.size());
}
BENCHMARK(gang_packing_all_rules)->Unit(benchmark::kMillisecond);

void gang_packing(benchmark::State& state) {
    const Workload workload = jann(128, 30'000);
    const NamedRule& rule = rules()[static_cast<std::size_t>(state.range(0))];
    std::int64_t slices = 0;
    for (auto _ : state) slices = pack(workload, gang::make_packing_options(rule.rule, rule.given).value());
    state.SetLabel(rule.name);
    state.counters["slices"] = static_cast<double>(slices) / static_cast<double>(workload.jobs.size());
    state.counters["jobs/s"] =
        benchmark::Counter(static_cast<double>(workload.jobs.size()), benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(gang_packing)->DenseRange(0, 11)->Unit(benchmark::kMillisecond);

/// I/O and message passing jobs on 16 processors for 5,000 s.
void gang_machine(benchmark::State& state) {
    const std::vector<JobKind> kinds{JobKind::kIo, JobKind::kMessages};
    const GangWorkload workload = make_gang_workload(jann(16, 100), kinds, {}, 1).value();
    const std::vector<std::pair<const char*, GangScheduling>> schedulers{
        {"pure gang", pure_gang()},
        {"concurrent gang, round robin", concurrent_gang_round_robin()},
        {"concurrent gang, priority", concurrent_gang_priority()},
        {"modified gang", modified_gang()},
        {"DHC", hierarchical_control()},
        {"DHC with runtime information", hierarchical_control_runtime()},
        {"local", local_scheduling()}};
    const auto& [name, how] = schedulers[static_cast<std::size_t>(state.range(0))];
    GangScheduling capped = how;
    capped.packing.max_tasks_per_node = 10;
    std::int64_t events = 0;
    for (auto _ : state)
        events = run_gang_machine(workload, capped, {.horizon = Time{std::chrono::seconds{5000}}}).value().events;
    state.SetLabel(name);
    state.counters["events"] = static_cast<double>(events);
    state.counters["events/s"] =
        benchmark::Counter(static_cast<double>(events), benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(gang_machine)->DenseRange(0, 6)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace zbs
