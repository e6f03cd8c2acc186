#pragma once
#include <string>
#include <utility>
#include <vector>

namespace zbs::formats {

/// Lines over numbers.
struct Chart {
    struct Series {
        std::string name;
        std::vector<std::pair<double, double>> points;  ///< finite; > 0 on a logarithmic axis (else left out)
        bool joined = true;                             ///< a line through the points, or points alone
    };
    std::string title, x_label, y_label;
    bool log_x = false, log_y = false;
    std::vector<Series> series;
};
std::string chart_svg(const Chart& chart);

}  // namespace zbs::formats
