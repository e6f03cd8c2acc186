#include <array>

#include "algorithms/claims/claim.hpp"
#include "algorithms/claims/turner_time_sharing.hpp"

namespace zbs::claims {

std::span<const Study> studies() {
    static constexpr std::array kStudies{
        Study{.source = "Turner1995", .name = "time sharing: equations", .run = turner_time_sharing_model, .cost = 3},
        Study{.source = "Turner1995",
              .name = "time sharing: layouts on both kernels",
              .run = turner_time_sharing_layouts,
              .cost = 2},
        Study{.source = "Turner1995", .name = "Elmer: decisions", .run = turner_elmer_decisions, .cost = 1},
    };
    return kStudies;
}

}  // namespace zbs::claims
