#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "algorithms/model/task_graph.hpp"

namespace zbs::formats {

/// `text` for the inside of an XML element or a quoted attribute: the five special characters escaped, bytes that XML
/// 1.0 forbids (control characters, what is not UTF-8) as '?'.
std::string xml_escaped(std::string_view text);

/// A number as short as it may be with at least `digits` significant ones: 1200000 -> "1.2e+06", 0.25 -> "0.25".
std::string short_number(double value, int digits = 3);
/// Ticks of an axis over [low, high]: about six round steps. `logarithmic`: all are decimal logarithms, and the ticks
/// whole ones.
std::vector<double> axis_ticks(double low, double high, bool logarithmic = false);

/// Writes one SVG document, element by element, in the order they are painted. Lengths are pixels; colours are
/// "#rrggbb" or any other CSS colour of ours (they are not escaped); texts may come from anywhere.
class SvgWriter {
  public:
    enum class Anchor { kStart, kMiddle, kEnd };

    SvgWriter(double width, double height, std::string_view title);
    void rectangle(double x, double y, double width, double height, std::string_view fill,
                   std::string_view stroke = "none");
    void line(double x1, double y1, double x2, double y2, std::string_view stroke, double width = 1);
    void text(double x, double y, std::string_view text, Anchor anchor = Anchor::kStart, double size = 12);
    void polyline(std::span<const std::pair<double, double>> points, std::string_view stroke);
    void polygon(std::span<const std::pair<double, double>> points, std::string_view fill);
    void circle(double x, double y, double radius, std::string_view fill);
    /// Cells of a raster, one path a colour, so that a picture of many cells stays small. Cell (row, column) covers
    /// [x + column * cell_width, ...) x [y + row * cell_height, ...); equal neighbours in a row are one stroke.
    /// `colour_of_cell` is rows x columns, row by row; -1 paints nothing.
    struct Raster {
        double x = 0, y = 0, cell_width = 1, cell_height = 1;
        int rows = 0, columns = 0;
        std::span<const int> colour_of_cell;
        std::span<const std::string> colours;
    };
    void raster(const Raster& raster);

    /// The document. To be called once, last.
    std::string finish() &&;

  private:
    std::string out_;
};

/// The communication matrix of a graph with its rows and columns in the order of a mapping.
struct MatrixPicture {
    std::string title = "bytes between tasks";
    std::span<const TaskIndex> order;                   ///< every task once; empty: by number
    std::span<const std::int32_t> zone_of_position;     ///< one for each position of `order`, or empty: no outlines
    std::span<const std::int32_t> machine_of_position;  ///< the same; numbers of different zones may coincide
    std::span<const std::string> zone_names;            ///< by zone; shown beside the outlines; may be empty
    bool numbers = false;                 ///< positions along both sides, from 0; for matrices without zones
    static constexpr int kMaxRows = 512;  ///< more tasks share rows, whose bytes are summed
};
/// Dark cells carry many bytes: logarithmic colours with a legend. Runs of equal zone get a thick outline, runs of
/// equal machine inside them a thin one. At most about 3 MB whatever the graph. O(edges + tasks). Preconditions: the
/// spans are empty or as long as the graph has tasks, `order` a permutation.
std::string matrix_svg(const TaskGraph& graph, const MatrixPicture& picture);

/// What every rank does over time, collected interval by interval into a raster of bounded size, so the length of
/// the run does not matter. Where a cell holds several things its colour is their mixture.
class GanttCanvas {
  public:
    static constexpr int kMaxRows = 256;  ///< more ranks share rows
    static constexpr int kColumns = 1000;
    enum class Activity { kCompute, kBlocked };

    /// `run_time_s` > 0, `ranks` > 0; intervals outside [0, run_time_s] are cut off. What no interval covers is idle.
    GanttCanvas(int ranks, double run_time_s);
    void add(int rank, double begin_s, double end_s, Activity activity);
    std::string svg(std::string_view title) const;

  private:
    int ranks_;
    double run_time_s_;
    int rows_;
    std::vector<float> share_;  // rows x columns x 2, in cell-widths of one rank
};

}  // namespace zbs::formats
