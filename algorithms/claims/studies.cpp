#include <array>

#include "algorithms/claims/claim.hpp"
#include "algorithms/claims/huang_adaptive.hpp"

namespace zbs::claims {
namespace {

constexpr std::array kStudies{
    Study{"Huang2004", "Adaptive SCOJO: sizes, loads, rules, workloads", huang_adaptive_exact, 5},
    Study{"Huang2004", "Adaptive SCOJO, workload 1: levels", huang_adaptive_levels_1, 40},
    Study{"Huang2004", "Adaptive SCOJO, workload 1: strategies", huang_adaptive_strategies_1, 40},
    Study{"Huang2004", "Adaptive SCOJO, workload 2", huang_adaptive_workload_2, 25},
};

}  // namespace

std::span<const Study> studies() { return kStudies; }

}  // namespace zbs::claims
