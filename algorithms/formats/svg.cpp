#include "algorithms/formats/svg.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "algorithms/base/expects.hpp"
#include "algorithms/base/text.hpp"
#include "algorithms/base/utf8.hpp"

namespace zbs::formats {
namespace {

/// Pixels with at most two decimals, no trailing zeros.
std::string pixels(double value) {
    std::string text = number_text("%.2f", value);
    while (text.ends_with('0')) text.pop_back();
    if (text.ends_with('.')) text.pop_back();
    return text == "-0" ? "0" : text;
}

struct Colour {
    double r, g, b;
};
std::string hex(const Colour& c) {
    char text[8];
    std::snprintf(text, sizeof text, "#%02x%02x%02x", static_cast<int>(std::lround(c.r)) & 255,
                  static_cast<int>(std::lround(c.g)) & 255, static_cast<int>(std::lround(c.b)) & 255);
    return text;
}
Colour between(const Colour& a, const Colour& b, double share) {
    return {a.r + (b.r - a.r) * share, a.g + (b.g - a.g) * share, a.b + (b.b - a.b) * share};
}

/// Light yellow, orange, dark brown: distinct also without colour vision, and in print.
std::vector<std::string> heat_colours(int levels) {
    const std::array<Colour, 4> stops = {Colour{255, 240, 170}, {254, 153, 41}, {204, 76, 2}, {84, 28, 4}};
    std::vector<std::string> colours;
    for (int i = 0; i < levels; ++i) {
        const double at = 3.0 * i / (levels - 1);
        const int stop = std::min(2, static_cast<int>(at));
        colours.push_back(
            hex(between(stops[static_cast<std::size_t>(stop)], stops[static_cast<std::size_t>(stop) + 1], at - stop)));
    }
    return colours;
}

void outlines(SvgWriter& svg, std::span<const std::int32_t> group, std::span<const std::int32_t> outer, double x,
              double y, double pixels_per_position, double width) {
    for (std::size_t begin = 0; begin < group.size();) {
        std::size_t end = begin + 1;
        while (end < group.size() && group[end] == group[begin] && (outer.empty() || outer[end] == outer[begin])) ++end;
        const double from = static_cast<double>(begin) * pixels_per_position;
        const double to = static_cast<double>(end) * pixels_per_position;
        svg.line(x + from, y + from, x + to, y + from, "#205080", width);
        svg.line(x + from, y + to, x + to, y + to, "#205080", width);
        svg.line(x + from, y + from, x + from, y + to, "#205080", width);
        svg.line(x + to, y + from, x + to, y + to, "#205080", width);
        begin = end;
    }
}

/// At most 16 bytes, cut between characters.
std::string cut_name(std::string_view name) {
    if (name.size() <= 16) return std::string(name);
    std::size_t end = 15;
    while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0) == 0x80) --end;
    return std::string(name.substr(0, end)) + "~";
}

constexpr std::size_t kMaxOutlines = 2000;  // more cannot be seen

std::size_t run_count(std::span<const std::int32_t> group, std::span<const std::int32_t> outer) {
    std::size_t runs = group.empty() ? 0 : 1;
    for (std::size_t i = 1; i < group.size(); ++i)
        runs += group[i] != group[i - 1] || (!outer.empty() && outer[i] != outer[i - 1]) ? 1U : 0U;
    return runs;
}

}  // namespace

std::vector<double> axis_ticks(double low, double high, bool logarithmic) {
    std::vector<double> at;
    if (logarithmic) {
        const int first = static_cast<int>(std::floor(low)), last = static_cast<int>(std::ceil(high));
        const int step = std::max(1, (last - first) / 8);
        for (int power = first; power <= last; power += step) {
            if (power >= low - 1e-9 && power <= high + 1e-9) at.push_back(power);
        }
        return at;
    }
    const double raw = (high - low) / 6;
    if (!(raw > 0) || !std::isfinite(raw)) return {low};
    const double power = std::pow(10, std::floor(std::log10(raw)));
    const double step = power * (raw / power < 1.5 ? 1 : raw / power < 3.5 ? 2 : raw / power < 7.5 ? 5 : 10);
    for (double tick = std::ceil(low / step) * step; tick <= high + step * 1e-9; tick += step)
        at.push_back(std::abs(tick) < step * 1e-9 ? 0 : tick);
    return at;
}

std::string xml_escaped(std::string_view text) {
    const bool clean = is_utf8(text);
    std::string out;
    out.reserve(text.size());
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            case '\'':
                out += "&#39;";
                break;
            default:
                out += byte < 0x20 || byte == 0x7f || (byte >= 0x80 && !clean) ? '?' : c;
        }
    }
    // U+FFFE and U+FFFF are UTF-8 but no XML characters.
    for (std::size_t at = out.find("\xef\xbf"); at != std::string::npos; at = out.find("\xef\xbf", at + 1)) {
        if (at + 2 < out.size() && static_cast<unsigned char>(out[at + 2]) >= 0xbe) out.replace(at, 3, "???");
    }
    return out;
}

std::string short_number(double value, int digits) {
    return number_text(("%." + std::to_string(digits) + "g").c_str(), value);
}

SvgWriter::SvgWriter(double width, double height, std::string_view title) {
    out_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + pixels(width) + "\" height=\"" + pixels(height) +
           "\" viewBox=\"0 0 " + pixels(width) + " " + pixels(height) + "\" font-family=\"sans-serif\">\n<title>" +
           xml_escaped(title) + "</title>\n";
    rectangle(0, 0, width, height, "#ffffff");
}

void SvgWriter::rectangle(double x, double y, double width, double height, std::string_view fill,
                          std::string_view stroke) {
    out_ += "<rect x=\"" + pixels(x) + "\" y=\"" + pixels(y) + "\" width=\"" + pixels(width) + "\" height=\"" +
            pixels(height) + "\" fill=\"" + std::string(fill) + "\"";
    if (stroke != "none") out_ += " stroke=\"" + std::string(stroke) + "\"";
    out_ += "/>\n";
}

void SvgWriter::line(double x1, double y1, double x2, double y2, std::string_view stroke, double width) {
    out_ += "<line x1=\"" + pixels(x1) + "\" y1=\"" + pixels(y1) + "\" x2=\"" + pixels(x2) + "\" y2=\"" + pixels(y2) +
            "\" stroke=\"" + std::string(stroke) + "\" stroke-width=\"" + pixels(width) + "\"/>\n";
}

void SvgWriter::text(double x, double y, std::string_view text, Anchor anchor, double size) {
    out_ += "<text x=\"" + pixels(x) + "\" y=\"" + pixels(y) + "\" font-size=\"" + pixels(size) + "\"";
    if (anchor == Anchor::kMiddle) out_ += " text-anchor=\"middle\"";
    if (anchor == Anchor::kEnd) out_ += " text-anchor=\"end\"";
    out_ += ">" + xml_escaped(text) + "</text>\n";
}

void SvgWriter::polyline(std::span<const std::pair<double, double>> points, std::string_view stroke) {
    out_ += "<polyline fill=\"none\" stroke=\"" + std::string(stroke) + "\" stroke-width=\"1.5\" points=\"";
    for (const auto& [x, y] : points) out_ += pixels(x) + "," + pixels(y) + " ";
    out_ += "\"/>\n";
}

void SvgWriter::polygon(std::span<const std::pair<double, double>> points, std::string_view fill) {
    out_ += "<polygon fill=\"" + std::string(fill) + "\" points=\"";
    for (const auto& [x, y] : points) out_ += pixels(x) + "," + pixels(y) + " ";
    out_ += "\"/>\n";
}

void SvgWriter::circle(double x, double y, double radius, std::string_view fill) {
    out_ += "<circle cx=\"" + pixels(x) + "\" cy=\"" + pixels(y) + "\" r=\"" + pixels(radius) + "\" fill=\"" +
            std::string(fill) + "\"/>\n";
}

void SvgWriter::raster(const Raster& raster) {
    const auto columns = static_cast<std::size_t>(raster.columns);
    ZBS_EXPECTS(raster.colour_of_cell.size() == static_cast<std::size_t>(raster.rows) * columns);
    std::vector<std::string> paths(raster.colours.size());
    for (int row = 0; row < raster.rows; ++row) {
        for (std::size_t begin = 0; begin < columns;) {
            const int colour = raster.colour_of_cell[static_cast<std::size_t>(row) * columns + begin];
            std::size_t end = begin + 1;
            while (end < columns && raster.colour_of_cell[static_cast<std::size_t>(row) * columns + end] == colour)
                ++end;
            if (colour >= 0) {
                // In cell units: the transform below scales them, which keeps the numbers short.
                paths[static_cast<std::size_t>(colour)] +=
                    "M" + std::to_string(begin) + " " + std::to_string(row) + "h" + std::to_string(end - begin);
            }
            begin = end;
        }
    }
    out_ += "<g transform=\"translate(" + pixels(raster.x) + " " + pixels(raster.y) + ") scale(" +
            short_number(raster.cell_width, 6) + " " + short_number(raster.cell_height, 6) +
            ") translate(0 0.5)\" fill=\"none\" stroke-width=\"1.02\">\n";
    for (std::size_t c = 0; c < paths.size(); ++c) {
        if (!paths[c].empty()) out_ += "<path stroke=\"" + raster.colours[c] + "\" d=\"" + paths[c] + "\"/>\n";
    }
    out_ += "</g>\n";
}

std::string SvgWriter::finish() && {
    out_ += "</svg>\n";
    return std::move(out_);
}

namespace {

constexpr double kMatrixLeft = 110, kMatrixTop = 50, kMatrixSide = 640;  // of the picture of a matrix
constexpr int kMatrixLevels = 32;                                        // of its colours

/// The traffic of a matrix, several tasks in a row where there are many.
struct TrafficCells {
    std::size_t tasks_per_row = 1, rows = 0;
    std::vector<double> bytes;   ///< rows x rows
    double least = 0, most = 0;  ///< of those above 0
    /// Of the logarithmic colours, from the least to the most.
    double span() const { return most > least ? std::log(most / least) : 0; }
};

TrafficCells traffic_of(const TaskGraph& graph, std::span<const TaskIndex> task_order) {
    const auto tasks = static_cast<std::size_t>(graph.task_count());
    TrafficCells found;
    const std::size_t tasks_per_row = found.tasks_per_row =
        std::max<std::size_t>(1, (tasks + MatrixPicture::kMaxRows - 1) / MatrixPicture::kMaxRows);
    const std::size_t rows = found.rows = tasks == 0 ? 0 : (tasks + tasks_per_row - 1) / tasks_per_row;
    std::vector<std::size_t> row_of(tasks);
    for (std::size_t i = 0; i < tasks; ++i)
        row_of[task_order.empty() ? i : static_cast<std::size_t>(task_order[i])] = i / tasks_per_row;
    std::vector<double>& bytes = found.bytes;
    bytes.assign(rows * rows, 0);
    for (const TaskEdge& edge : graph.edges()) {
        const std::size_t u = row_of[static_cast<std::size_t>(edge.u)], v = row_of[static_cast<std::size_t>(edge.v)];
        bytes[u * rows + v] += edge.bytes;
        if (u != v) bytes[v * rows + u] += edge.bytes;
    }
    for (const double b : bytes) {
        if (b <= 0) continue;
        found.least = found.least == 0 ? b : std::min(found.least, b);
        found.most = std::max(found.most, b);
    }
    return found;
}

/// The colour of each cell; -1: no traffic.
std::vector<int> levels_of(const TrafficCells& traffic) {
    const double span = traffic.span();
    std::vector<int> cells(traffic.bytes.size(), -1);
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (traffic.bytes[i] <= 0) continue;
        const double at = span > 0 ? std::log(traffic.bytes[i] / traffic.least) / span : 1;
        cells[i] = std::clamp(static_cast<int>(at * kMatrixLevels), 0, kMatrixLevels - 1);
    }
    return cells;
}

/// Beside the outlines, where there is space.
void write_zone_names(SvgWriter& svg, const MatrixPicture& picture, double per_position) {
    const std::size_t tasks = picture.zone_of_position.size();
    double label_end = 0;
    for (std::size_t begin = 0; begin < picture.zone_of_position.size();) {
        std::size_t end = begin + 1;
        while (end < tasks && picture.zone_of_position[end] == picture.zone_of_position[begin]) ++end;
        const auto zone = static_cast<std::size_t>(picture.zone_of_position[begin]);
        const double middle = kMatrixTop + per_position * static_cast<double>(begin + end) / 2 + 4;
        if (zone < picture.zone_names.size() && middle >= label_end) {
            svg.text(kMatrixLeft - 6, middle, cut_name(picture.zone_names[zone]), SvgWriter::Anchor::kEnd, 11);
            label_end = middle + 12;
        }
        begin = end;
    }
}

void write_numbers(SvgWriter& svg, std::size_t tasks, double per_position) {
    for (const double number_of_task : axis_ticks(0, static_cast<double>(tasks) - 1)) {
        const double tick = std::round(number_of_task);
        if (std::abs(number_of_task - tick) > 1e-6) continue;  // between two tasks
        const double at = per_position * (tick + 0.5);
        const std::string number = std::to_string(static_cast<std::int64_t>(tick));
        svg.line(kMatrixLeft - 4, kMatrixTop + at, kMatrixLeft, kMatrixTop + at, "#808080");
        svg.text(kMatrixLeft - 8, kMatrixTop + at + 4, number, SvgWriter::Anchor::kEnd, 11);
        svg.line(kMatrixLeft + at, kMatrixTop + kMatrixSide, kMatrixLeft + at, kMatrixTop + kMatrixSide + 4, "#808080");
        svg.text(kMatrixLeft + at, kMatrixTop + kMatrixSide + 17, number, SvgWriter::Anchor::kMiddle, 11);
    }
}

void paint_heat_legend(SvgWriter& svg, const TrafficCells& traffic, std::span<const std::string> colours) {
    const double legend = kMatrixLeft + kMatrixSide + 20;
    for (int i = 0; i < kMatrixLevels; ++i)
        svg.rectangle(legend, kMatrixTop + 200 - 200.0 * (i + 1) / kMatrixLevels, 16, 200.0 / kMatrixLevels + 0.5,
                      colours[static_cast<std::size_t>(i)]);
    svg.text(legend + 22, kMatrixTop + 10, human_bytes(traffic.most), SvgWriter::Anchor::kStart, 11);
    if (traffic.span() > 0) {
        svg.text(legend + 22, kMatrixTop + 104, human_bytes(std::sqrt(traffic.least) * std::sqrt(traffic.most)),
                 SvgWriter::Anchor::kStart, 11);
        svg.text(legend + 22, kMatrixTop + 200, human_bytes(traffic.least), SvgWriter::Anchor::kStart, 11);
    }
    svg.text(legend, kMatrixTop + 220, "both directions", SvgWriter::Anchor::kStart, 11);
    svg.text(legend, kMatrixTop + 236, "white: none", SvgWriter::Anchor::kStart, 11);
}

}  // namespace

std::string matrix_svg(const TaskGraph& graph, const MatrixPicture& picture) {
    const auto tasks = static_cast<std::size_t>(graph.task_count());
    ZBS_EXPECTS(picture.order.empty() || picture.order.size() == tasks);
    ZBS_EXPECTS(picture.zone_of_position.empty() || picture.zone_of_position.size() == tasks);
    ZBS_EXPECTS(picture.machine_of_position.empty() || picture.machine_of_position.size() == tasks);

    const TrafficCells traffic = traffic_of(graph, picture.order);
    const std::size_t rows = traffic.rows;
    const std::vector<std::string> colours = heat_colours(kMatrixLevels);
    const std::vector<int> cells = levels_of(traffic);
    const double cell = rows == 0 ? 1 : kMatrixSide / static_cast<double>(rows);
    const double per_position = cell / static_cast<double>(traffic.tasks_per_row);
    SvgWriter svg(kMatrixLeft + kMatrixSide + 130, kMatrixTop + kMatrixSide + 40, picture.title);
    svg.text(kMatrixLeft, 24, picture.title, SvgWriter::Anchor::kStart, 15);
    svg.text(
        kMatrixLeft, 40,
        std::to_string(tasks) + " tasks" +
            (traffic.tasks_per_row > 1 ? ", " + std::to_string(traffic.tasks_per_row) + " in a row" : std::string()),
        SvgWriter::Anchor::kStart, 11);
    svg.raster({.x = kMatrixLeft,
                .y = kMatrixTop,
                .cell_width = cell,
                .cell_height = cell,
                .rows = static_cast<int>(rows),
                .columns = static_cast<int>(rows),
                .colour_of_cell = cells,
                .colours = colours});
    svg.rectangle(kMatrixLeft, kMatrixTop, per_position * static_cast<double>(tasks),
                  per_position * static_cast<double>(tasks), "none", "#808080");
    if (run_count(picture.machine_of_position, picture.zone_of_position) <= kMaxOutlines)
        outlines(svg, picture.machine_of_position, picture.zone_of_position, kMatrixLeft, kMatrixTop, per_position,
                 0.6);
    if (run_count(picture.zone_of_position, {}) <= kMaxOutlines)
        outlines(svg, picture.zone_of_position, {}, kMatrixLeft, kMatrixTop, per_position, 2);
    write_zone_names(svg, picture, per_position);
    if (picture.numbers && tasks > 0) write_numbers(svg, tasks, per_position);
    if (traffic.most > 0) paint_heat_legend(svg, traffic, colours);
    return std::move(svg).finish();
}

GanttCanvas::GanttCanvas(int ranks, double run_time_s)
    : ranks_(ranks),
      run_time_s_(run_time_s),
      rows_(std::min(ranks, kMaxRows)),
      share_(static_cast<std::size_t>(rows_) * kColumns * 2, 0.0F) {
    ZBS_EXPECTS(ranks > 0 && run_time_s > 0);
}

void GanttCanvas::add(int rank, double begin_s, double end_s, Activity activity) {
    ZBS_EXPECTS(rank >= 0 && rank < ranks_);
    const double scale = kColumns / run_time_s_;
    const double begin = std::clamp(begin_s * scale, 0.0, double{kColumns});
    const double end = std::clamp(end_s * scale, 0.0, double{kColumns});
    if (!(end > begin)) return;
    const auto row = static_cast<std::size_t>(static_cast<std::int64_t>(rank) * rows_ / ranks_);
    const std::size_t first = (row * kColumns) * 2 + (activity == Activity::kBlocked ? 1 : 0);
    for (int column = static_cast<int>(begin); column < kColumns && column < end; ++column) {
        share_[first + static_cast<std::size_t>(column) * 2] +=
            static_cast<float>(std::min(end, column + 1.0) - std::max(begin, double(column)));
    }
}

namespace {

/// Of `steps` each of computing and of being blocked, the rest idle; the colour of (c, b) is at c * (steps + 1) + b.
std::vector<std::string> mixtures(Colour compute, Colour blocked, Colour idle, int steps) {
    std::vector<std::string> colours;
    for (int c = 0; c <= steps; ++c) {
        for (int b = 0; b <= steps; ++b) {
            const double busy = static_cast<double>(c + b) / steps;
            const Colour active = c + b == 0 ? idle : between(compute, blocked, static_cast<double>(b) / (c + b));
            colours.push_back(hex(between(idle, active, std::min(1.0, busy))));
        }
    }
    return colours;
}

}  // namespace

std::string GanttCanvas::svg(std::string_view title) const {
    constexpr int kSteps = 8;
    const Colour compute{44, 123, 182}, blocked{215, 80, 60}, idle{238, 238, 238};
    const std::vector<std::string> colours = mixtures(compute, blocked, idle, kSteps);
    std::vector<int> cells(static_cast<std::size_t>(rows_) * kColumns);
    for (int row = 0; row < rows_; ++row) {
        // Rows hold floor or ceil of ranks / rows ranks each.
        const auto first = (static_cast<std::int64_t>(row) * ranks_ + rows_ - 1) / rows_;
        const auto next = (static_cast<std::int64_t>(row + 1) * ranks_ + rows_ - 1) / rows_;
        const auto in_row = static_cast<double>(std::max<std::int64_t>(1, next - first));
        for (std::size_t column = 0; column < kColumns; ++column) {
            const std::size_t cell = static_cast<std::size_t>(row) * kColumns + column;
            const int c = std::clamp(static_cast<int>(std::lround(share_[cell * 2] / in_row * kSteps)), 0, kSteps);
            const int b =
                std::clamp(static_cast<int>(std::lround(share_[cell * 2 + 1] / in_row * kSteps)), 0, kSteps - c);
            cells[cell] = c + b == 0 ? -1 : c * (kSteps + 1) + b;
        }
    }
    constexpr double kLeft = 70, kTop = 60;
    const double row_height = std::clamp(480.0 / rows_, 2.0, 24.0);
    const double height = row_height * rows_;
    SvgWriter svg(kLeft + kColumns + 30, kTop + height + 50, title);
    svg.text(kLeft, 22, title, SvgWriter::Anchor::kStart, 15);
    const std::array<std::pair<const char*, std::string>, 3> legend = {
        std::pair{"computing", hex(compute)}, {"waiting for a message", hex(blocked)}, {"ended", hex(idle)}};
    double at = kLeft;
    for (const auto& [name, colour] : legend) {
        svg.rectangle(at, 34, 12, 12, colour);
        svg.text(at + 17, 44, name, SvgWriter::Anchor::kStart, 11);
        at += 160;
    }
    svg.rectangle(kLeft, kTop, kColumns, height, hex(idle));
    svg.raster({.x = kLeft,
                .y = kTop,
                .cell_width = 1,
                .cell_height = row_height,
                .rows = rows_,
                .columns = kColumns,
                .colour_of_cell = cells,
                .colours = colours});
    const int every = std::max(1, static_cast<int>(std::ceil(14 / row_height)));
    for (int row = 0; row < rows_; row += every) {
        const auto rank = (static_cast<std::int64_t>(row) * ranks_ + rows_ - 1) / rows_;
        svg.text(kLeft - 6, kTop + row_height * (row + 0.5) + 4, std::to_string(rank), SvgWriter::Anchor::kEnd, 11);
    }
    svg.text(kLeft - 6, kTop - 6, "rank", SvgWriter::Anchor::kEnd, 11);
    for (const double tick : axis_ticks(0, run_time_s_)) {
        const double x = kLeft + tick / run_time_s_ * kColumns;
        svg.line(x, kTop + height, x, kTop + height + 5, "#404040");
        svg.text(x, kTop + height + 18, short_number(tick, 4), SvgWriter::Anchor::kMiddle, 11);
    }
    svg.text(kLeft + kColumns / 2.0, kTop + height + 38, "seconds", SvgWriter::Anchor::kMiddle, 11);
    return std::move(svg).finish();
}

}  // namespace zbs::formats
