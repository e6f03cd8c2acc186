#include "algorithms/model/coscheduling.hpp"

#include <algorithm>
#include <array>

#include "algorithms/base/expects.hpp"

namespace zbs {
namespace {

constexpr std::array<std::string_view, 6> kNames{"grid-300", "grid-1200", "grid-2400", "central", "random", "stream"};
/// Slowdown of the row's program beside the column's [Huang2004, table 5-2].
constexpr double kTable[6][6] = {
    {1.2, 1.4, 2.2, 0.9, 1.0, 1.8},  //
    {1.1, 1.2, 1.4, 1.1, 1.0, 1.3},  //
    {0.9, 0.8, 1.1, 1.0, 1.5, 0.8},  //
    {1.6, 1.7, 3.1, 1.3, 1.3, 2.5},  //
    {1.3, 1.4, 2.3, 0.9, 2.0, 1.8},  //
    {0.8, 0.8, 0.8, 0.8, 0.9, 0.8},  //
};

bool is_known(std::int32_t program) { return program >= 0 && program < static_cast<std::int32_t>(kNames.size()); }

}  // namespace

CoschedulingModel CoschedulingModel::by_count(std::vector<double> factors) {
    ZBS_EXPECTS(!factors.empty() && std::ranges::all_of(factors, [](double factor) { return factor > 0; }));
    CoschedulingModel model;
    model.by_count_ = std::move(factors);
    return model;
}

CoschedulingModel CoschedulingModel::by_application(double unknown) {
    ZBS_EXPECTS(unknown > 0);
    CoschedulingModel model;
    model.by_application_ = true;
    model.unknown_ = unknown;
    return model;
}

double CoschedulingModel::slowdown(std::int32_t victim, std::span<const std::int32_t> others) const {
    if (!by_application_) return by_count_[std::min(others.size(), by_count_.size() - 1)];
    if (others.empty()) return 1;
    double worst = 0;
    for (const std::int32_t other : others) {
        const bool known = is_known(victim) && is_known(other);
        worst = std::max(worst, known ? kTable[victim][other] : unknown_);
    }
    return worst;
}

double CoschedulingModel::worst(std::span<const std::int32_t> programs) const {
    double worst = 0;
    std::vector<std::int32_t> others;
    for (std::size_t i = 0; i < programs.size(); ++i) {
        others.assign(programs.begin(), programs.end());
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
        worst = std::max(worst, slowdown(programs[i], others));
    }
    return worst;
}

std::span<const std::string_view> CoschedulingModel::application_names() { return kNames; }

}  // namespace zbs
