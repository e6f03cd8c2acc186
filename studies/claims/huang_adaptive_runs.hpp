#pragma once
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "algorithms/policy/adaptive_scojo.hpp"
#include "algorithms/sim/workload_generators.hpp"
#include "studies/claims/claim.hpp"
#include "studies/claims/samples.hpp"

// What the claims about Adaptive SCOJO are judged by: strategies on the same workloads, seed by seed.
namespace zbs::claims::adaptive {

/// A column of table 7-2.
struct Setting {
    std::string_view name;  ///< "W1"
    ScojoWorkload::Table table;
    std::int64_t jobs;
    double gap_s;  ///< T_inter; 0: the formula as printed
    std::vector<Duration> classes;
};
/// With T_inter = 166 s, which was fitted to the printed responses: the formula gives 66.5 s, under which the queue
/// grows far longer than published.
const Setting& workload_1();
const Setting& workload_1_as_printed();
const Setting& workload_2();
/// Jobs of this setting; seeds count from 0.
Workload workload_of(const Setting& setting, std::int64_t jobs, int seed);

/// What one strategy came to, seed by seed.
struct Sheet {
    Samples response_h, slowdown, makespan_h;
    Samples effective, effective_short;  ///< utilization, %; switching costs part of each slice, or of the shortest
    Samples fragmentation, efficiency;   ///< %
    Samples of_ideal;                    ///< makespan / (work on the best sizes / processors)
    std::array<Samples, 3> by_class, by_flexibility;
    std::array<Samples, 3> by_class_floored, by_flexibility_floored;  ///< the same with a floor of 1 for each job
};

/// One run of a strategy.
struct Variant {
    std::string_view strategy;
    std::int32_t level = 0;  ///< 0: as published
    std::optional<AdaptiveScojo::Backfill> backfill;
    auto operator<=>(const Variant&) const = default;
};

/// All runs of a workload: made when they are asked for, each once.
class Runs {
  public:
    /// Workloads of all seeds of `effort`. Precondition: `setting` outlives it.
    Runs(const Setting& setting, const Effort& effort);

    std::string_view name() const { return setting_.name; }
    const Sheet& of(std::string_view strategy, std::int32_t level = 0) { return of({strategy, level, std::nullopt}); }
    const Sheet& of(const Variant& asked);

  private:
    /// Precondition: `variant` names its level.
    void run(const Workload& workload, const Variant& variant, Sheet& sheet) const;

    const Setting& setting_;
    std::vector<Workload> workloads_;
    std::map<Variant, Sheet> sheets_;
};

}  // namespace zbs::claims::adaptive
