#include "algorithms/sim/shared_machine.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <unordered_map>

#include "algorithms/base/expects.hpp"

namespace zbs {

void SharedMachine::add(std::uint32_t job, Duration runtime) {
    ZBS_EXPECTS(runtime > Duration::zero());
    residents_.push_back({job, static_cast<double>(runtime.count())});
}

void SharedMachine::set_rates(Time now, std::span<const Rate> rates) {
    const double elapsed_us = static_cast<double>((now - synced_).count());
    for (Resident& resident : residents_)
        resident.left_us = std::max(0.0, resident.left_us - resident.rate * elapsed_us);
    synced_ = now;

    std::unordered_map<std::uint32_t, double> rate_of;
    for (const Rate& rate : rates) {
        ZBS_EXPECTS(rate.rate >= 0);
        rate_of[rate.job] = rate.rate;
    }
    ends_.clear();
    for (std::size_t i = 0; i < residents_.size(); ++i) {
        Resident& resident = residents_[i];
        const auto found = rate_of.find(resident.job);
        resident.rate = found == rate_of.end() ? 0 : found->second;
        if (resident.rate <= 0) continue;
        // What is less than half a microsecond is a rounding error.
        const double wait_us = std::ceil(resident.left_us / resident.rate - 0.5);
        ends_.push_back({now + Duration{static_cast<std::int64_t>(std::max(0.0, wait_us))}, i, resident.job});
    }
    std::make_heap(ends_.begin(), ends_.end(), std::greater<>{});
}

std::uint32_t SharedMachine::pop_end() {
    std::pop_heap(ends_.begin(), ends_.end(), std::greater<>{});
    const std::uint32_t job = ends_.back().job;
    ends_.pop_back();
    std::erase_if(residents_, [job](const Resident& resident) { return resident.job == job; });
    return job;
}

}  // namespace zbs
