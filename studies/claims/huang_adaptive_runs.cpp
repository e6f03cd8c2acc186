#include "studies/claims/huang_adaptive_runs.hpp"

#include <algorithm>

#include "algorithms/metrics/schedule_metrics.hpp"
#include "algorithms/metrics/turn_metrics.hpp"
#include "algorithms/sim/workload_simulation.hpp"

namespace zbs::claims::adaptive {
namespace {

constexpr std::int32_t kProcessors = 64;

/// response / max(run time, 60 s), as the source has it: without a floor of 1.
double slowdown_of(const WorkloadJob& entry, Time end) {
    return to_seconds(end - entry.job.submit) / std::max(60.0, to_seconds(entry.runtime));
}

void add_slowdowns(const Workload& workload, const SimulationOutcome& outcome, Sheet& sheet) {
    std::array<double, 3> class_sum{}, flexibility_sum{}, in_class{}, in_flexibility{};
    std::array<double, 3> class_floored{}, flexibility_floored{};
    double sum = 0;
    for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
        const double slowdown = slowdown_of(workload.jobs[i], outcome.end[i]);
        const auto cls = static_cast<std::size_t>(workload.jobs[i].job.queue);
        const auto flexibility = static_cast<std::size_t>(workload.jobs[i].job.flexibility);
        class_sum[cls] += slowdown, in_class[cls] += 1;
        flexibility_sum[flexibility] += slowdown, in_flexibility[flexibility] += 1;
        class_floored[cls] += std::max(1.0, slowdown);
        flexibility_floored[flexibility] += std::max(1.0, slowdown);
        sum += slowdown;
    }
    for (std::size_t i = 0; i < 3; ++i) {
        const auto mean_of = [](double total, double count) { return count > 0 ? total / count : 0; };
        sheet.by_class[i].push_back(mean_of(class_sum[i], in_class[i]));
        sheet.by_class_floored[i].push_back(mean_of(class_floored[i], in_class[i]));
        sheet.by_flexibility[i].push_back(mean_of(flexibility_sum[i], in_flexibility[i]));
        sheet.by_flexibility_floored[i].push_back(mean_of(flexibility_floored[i], in_flexibility[i]));
    }
    sheet.slowdown.push_back(sum / static_cast<double>(workload.jobs.size()));
}

const AdaptiveScojo::Strategy& strategy_of(std::string_view name) {
    return *std::ranges::find(AdaptiveScojo::strategies(), name, &AdaptiveScojo::Strategy::name);
}

}  // namespace

const Setting& workload_1() {
    using std::chrono::minutes;
    static const Setting setting{"W1", ScojoWorkload::Table::kWorkload1, 8000, 166, {minutes{1}, minutes{30}}};
    return setting;
}
const Setting& workload_1_as_printed() {
    static const Setting setting = [] {
        Setting printed = workload_1();
        printed.gap_s = 0;
        return printed;
    }();
    return setting;
}
const Setting& workload_2() {
    using std::chrono::minutes;
    static const Setting setting{"W2", ScojoWorkload::Table::kWorkload2, 3000, 0, {minutes{3}, minutes{60}}};
    return setting;
}

Workload workload_of(const Setting& setting, std::int64_t jobs, int seed) {
    return generate(
               ScojoWorkload{
                   .common = {.jobs = jobs, .processors = kProcessors, .seed = static_cast<std::uint64_t>(seed) + 1},
                   .table = setting.table,
                   .mean_gap_s = setting.gap_s})
        .value();
}

Runs::Runs(const Setting& setting, const Effort& effort) : setting_(setting) {
    const std::int64_t jobs = effort.scaled(setting.jobs, 100);
    for (int seed = 0; seed < effort.seeds; ++seed) workloads_.push_back(workload_of(setting, jobs, seed));
}

const Sheet& Runs::of(const Variant& asked) {
    const AdaptiveScojo::Strategy& strategy = strategy_of(asked.strategy);
    Variant variant = asked;
    if (variant.level == 0) variant.level = strategy.level;
    if (variant.backfill == strategy.backfill) variant.backfill.reset();
    const auto [known, is_new] = sheets_.try_emplace(variant);
    if (is_new)
        for (const Workload& workload : workloads_) run(workload, variant, known->second);
    return known->second;
}

void Runs::run(const Workload& workload, const Variant& variant, Sheet& sheet) const {
    const AdaptiveScojo::Strategy& strategy = strategy_of(variant.strategy);
    AdaptiveScojo policy({.order = strategy.order,
                          .backfill = variant.backfill.value_or(strategy.backfill),
                          .adapt = strategy.adapt,
                          .fill = strategy.fill,
                          .level = variant.level,
                          .classes = setting_.classes});
    const SimulationOutcome outcome =
        simulate(workload, policy, {.resize_cost = std::chrono::microseconds{100}}).value();
    const ScheduleMetrics metrics = schedule_metrics(workload, {outcome.start, outcome.end, outcome.processors});
    const TurnUse use{outcome.processor_seconds, outcome.time_with_rows, outcome.processors, outcome.resized_processors,
                      metrics.makespan_s};
    const TurnMetrics turns = turn_metrics(workload, use);
    sheet.response_h.push_back(metrics.all.response_s.mean / 3600);
    sheet.makespan_h.push_back(metrics.makespan_s / 3600);
    sheet.of_ideal.push_back(metrics.makespan_s * outcome.processors / metrics.all.processor_seconds);
    sheet.effective.push_back(100 * turns.effective_utilization);
    sheet.effective_short.push_back(100 * turn_metrics(workload, use, {.level = variant.level}).effective_utilization);
    sheet.fragmentation.push_back(100 * turns.fragmentation);
    sheet.efficiency.push_back(100 * turns.accumulated_efficiency);
    add_slowdowns(workload, outcome, sheet);
}

}  // namespace zbs::claims::adaptive
