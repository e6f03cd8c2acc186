#include "studies/models/chart.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include "algorithms/formats/svg.hpp"

namespace zbs::formats {

std::string chart_svg(const Chart& chart) {
    constexpr double kLeft = 80, kTop = 50, kWidth = 560, kHeight = 320;
    static constexpr const char* kPalette[] = {"#1b6ca8", "#c8553d", "#3a7d44", "#7b4b94", "#8a6d3b", "#444444"};
    struct Range {
        double low = 0, high = 0;
        bool any = false;
        void take(double v) {
            low = any ? std::min(low, v) : v;
            high = any ? std::max(high, v) : v;
            any = true;
        }
        void widen(bool logarithmic) {
            if (!logarithmic) low = std::min(low, 0.0);
            if (high - low < 1e-12 * std::max(1.0, std::abs(high))) high = low + 1;
        }
    };
    Range xs, ys;
    const auto scaled = [&](const std::pair<double, double>& point) -> std::optional<std::pair<double, double>> {
        auto [x, y] = point;
        if ((chart.log_x && !(x > 0)) || (chart.log_y && !(y > 0)) || !std::isfinite(x) || !std::isfinite(y))
            return std::nullopt;
        return std::pair{chart.log_x ? std::log10(x) : x, chart.log_y ? std::log10(y) : y};
    };
    for (const Chart::Series& series : chart.series) {
        for (const auto& point : series.points) {
            if (const auto at = scaled(point)) {
                xs.take(at->first);
                ys.take(at->second);
            }
        }
    }
    xs.widen(chart.log_x);
    ys.widen(chart.log_y);
    const auto x_of = [&](double x) { return kLeft + (x - xs.low) / (xs.high - xs.low) * kWidth; };
    const auto y_of = [&](double y) { return kTop + kHeight - (y - ys.low) / (ys.high - ys.low) * kHeight; };

    SvgWriter svg(kLeft + kWidth + 170, kTop + kHeight + 60, chart.title);
    svg.text(kLeft, 24, chart.title, SvgWriter::Anchor::kStart, 15);
    svg.rectangle(kLeft, kTop, kWidth, kHeight, "none", "#808080");
    for (const double tick : axis_ticks(xs.low, xs.high, chart.log_x)) {
        svg.line(x_of(tick), kTop + kHeight, x_of(tick), kTop + kHeight + 5, "#404040");
        svg.text(x_of(tick), kTop + kHeight + 18, short_number(chart.log_x ? std::pow(10, tick) : tick, 4),
                 SvgWriter::Anchor::kMiddle, 11);
    }
    for (const double tick : axis_ticks(ys.low, ys.high, chart.log_y)) {
        svg.line(kLeft, y_of(tick), kLeft + kWidth, y_of(tick), "#e0e0e0");
        svg.text(kLeft - 6, y_of(tick) + 4, short_number(chart.log_y ? std::pow(10, tick) : tick, 4),
                 SvgWriter::Anchor::kEnd, 11);
    }
    svg.text(kLeft + kWidth / 2, kTop + kHeight + 42, chart.x_label, SvgWriter::Anchor::kMiddle);
    svg.text(kLeft, kTop - 8, chart.y_label, SvgWriter::Anchor::kStart, 11);
    for (std::size_t s = 0; s < chart.series.size(); ++s) {
        const char* colour = kPalette[s % std::size(kPalette)];
        std::vector<std::pair<double, double>> points;
        for (const auto& point : chart.series[s].points) {
            if (const auto at = scaled(point)) points.emplace_back(x_of(at->first), y_of(at->second));
        }
        if (chart.series[s].joined) svg.polyline(points, colour);
        for (const auto& [x, y] : points) svg.circle(x, y, 2.5, colour);
        const double y = kTop + 14 + 18 * static_cast<double>(s);
        svg.circle(kLeft + kWidth + 16, y - 4, 4, colour);
        svg.text(kLeft + kWidth + 26, y, chart.series[s].name);
    }
    return std::move(svg).finish();
}

}  // namespace zbs::formats
