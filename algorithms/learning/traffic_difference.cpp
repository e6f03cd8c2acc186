#include "algorithms/learning/traffic_difference.hpp"

#include <cmath>
#include <utility>

#include "algorithms/base/expects.hpp"

namespace zbs::learning {
namespace {

double scaled_difference(const TaskGraph& a, const TaskGraph& b, double scale_b) {
    ZBS_EXPECTS(a.task_count() == b.task_count());
    double apart = 0, together = 0;
    std::size_t i = 0, j = 0;
    const auto left = a.edges(), right = b.edges();
    while (i < left.size() || j < right.size()) {
        const bool take_left = j == right.size() || (i < left.size() && std::pair(left[i].u, left[i].v) <=
                                                                            std::pair(right[j].u, right[j].v));
        const bool take_right = i == left.size() || (j < right.size() && std::pair(right[j].u, right[j].v) <=
                                                                             std::pair(left[i].u, left[i].v));
        const double x = take_left ? left[i].bytes : 0, y = take_right ? right[j].bytes * scale_b : 0;
        apart += std::abs(x - y);
        together += x + y;
        i += take_left ? 1 : 0;
        j += take_right ? 1 : 0;
    }
    return together > 0 ? apart / together : 0;
}

}  // namespace

double total_bytes(const TaskGraph& graph) {
    double sum = 0;
    for (const TaskEdge& edge : graph.edges()) sum += edge.bytes;
    return sum;
}

double traffic_difference(const TaskGraph& a, const TaskGraph& b) { return scaled_difference(a, b, 1); }

double pattern_difference(const TaskGraph& a, const TaskGraph& b) {
    const double of_a = total_bytes(a), of_b = total_bytes(b);
    return scaled_difference(a, b, of_b > 0 ? of_a / of_b : 1);
}

}  // namespace zbs::learning
