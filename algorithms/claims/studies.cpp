#include <array>

#include "algorithms/claims/turner_allocation.hpp"
#include "algorithms/claims/turner_embedding.hpp"

namespace zbs::claims {
namespace {

constexpr std::array kStudies{
    Study{"Turner1995", "meshes in a hypercube", turner_embedding, 10},
    Study{"Turner1995", "a constant mesh workload", turner_constant_workload, 5},
    Study{"Turner1995", "uniform mesh workloads", turner_uniform_workloads, 20},
    Study{"Turner1995", "mesh workloads of two intervals", turner_interval_workloads, 100},
};

}  // namespace

std::span<const Study> studies() { return kStudies; }

}  // namespace zbs::claims
