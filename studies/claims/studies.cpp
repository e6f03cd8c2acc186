#include <array>

#include "studies/claims/dasilva_machine.hpp"
#include "studies/claims/dasilva_packing.hpp"
#include "studies/claims/dasilva_rules.hpp"
#include "studies/claims/huang_adaptive.hpp"
#include "studies/claims/huang_scojo.hpp"
#include "studies/claims/shmueli_los.hpp"
#include "studies/claims/turner_allocation.hpp"
#include "studies/claims/turner_embedding.hpp"
#include "studies/claims/turner_time_sharing.hpp"

namespace zbs::claims {
namespace {

constexpr std::array kStudies{
    Study{"DaSilva2000", "sets of jobs that are there from the start", dasilva_static_sets, 1},
    Study{"DaSilva2000", "packing into slices", dasilva_packing, 99},
    Study{"DaSilva2000", "memory fit", dasilva_memory, 5},
    Study{"DaSilva2000", "I/O and computing under gang and Concurrent Gang", dasilva_io_and_computing, 56},
    Study{"DaSilva2000", "communicating under gang and Concurrent Gang", dasilva_communicating, 30},
    Study{"DaSilva2000", "theorem 7", dasilva_theorem7, 5},
    Study{"DaSilva2000", "mixtures with runtime information", dasilva_mixtures, 165},
    Study{"DaSilva2000", "hierarchical control", dasilva_hierarchical_control, 22},
    Study{"DaSilva2000", "audit of runs", dasilva_audit, 5},
    Study{"DaSilva2000", "rules of packing, classifiers, waiting", dasilva_rules, 3},
    Study{"Huang2004", "SCOJO: worked example", huang_scojo_example, 1},
    Study{"Huang2004", "SCOJO: cases 1 to 3", huang_scojo_cases, 1},
    Study{"Huang2004", "Adaptive SCOJO: sizes, loads, rules, workloads", huang_adaptive_exact, 6},
    Study{"Huang2004", "Adaptive SCOJO, workload 1: levels", huang_adaptive_levels_1, 45},
    Study{"Huang2004", "Adaptive SCOJO, workload 1: strategies", huang_adaptive_strategies_1, 40},
    Study{"Huang2004", "Adaptive SCOJO, workload 2", huang_adaptive_workload_2, 32},
    Study{"ShmueliFeitelson2005", "the lookahead example", shmueli_example, 0},
    Study{"ShmueliFeitelson2005", "queue policies on generated workloads", shmueli_policies, 10},
    Study{"Turner1995", "meshes in a hypercube", turner_embedding, 10},
    Study{"Turner1995", "a constant mesh workload", turner_constant_workload, 5},
    Study{"Turner1995", "uniform mesh workloads", turner_uniform_workloads, 8},
    Study{"Turner1995", "mesh workloads of two intervals", turner_interval_workloads, 122},
    Study{"Turner1995", "time sharing: equations", turner_time_sharing_model, 3},
    Study{"Turner1995", "time sharing: layouts on both kernels", turner_time_sharing_layouts, 2},
    Study{"Turner1995", "Elmer: decisions", turner_elmer_decisions, 1},
};

}  // namespace

std::span<const Study> studies() { return kStudies; }

}  // namespace zbs::claims
