#include <array>

#include "algorithms/claims/claim.hpp"

namespace zbs::claims {

std::span<const Study> studies() { return {}; }

}  // namespace zbs::claims
