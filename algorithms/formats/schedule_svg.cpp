#include "algorithms/formats/schedule_svg.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <queue>
#include <unordered_set>

#include "algorithms/base/expects.hpp"
#include "algorithms/formats/svg.hpp"

namespace zbs::formats {
namespace {

constexpr double kLeft = 80, kTop = 70, kWidth = 1000, kHeight = 420;
constexpr std::size_t kColumns = 1000;

/// Sizes relative to the machine, in colours that differ in lightness, too.
constexpr std::size_t kClasses = 4;
constexpr std::array<const char*, kClasses> kColours = {"#8cc5e3", "#3b8dbd", "#f0a04b", "#cf5f45"};
struct SizeClasses {
    std::array<std::int32_t, kClasses - 1> upto;
    explicit SizeClasses(std::int32_t processors)
        : upto{1, std::max(1, processors / 16), std::max(1, processors / 4)} {}
    std::size_t of(std::int32_t size) const {
        return static_cast<std::size_t>(std::lower_bound(upto.begin(), upto.end(), size) - upto.begin());
    }
    /// Empty where no size belongs to the class.
    std::string name(std::size_t index, std::int32_t processors) const {
        const std::int32_t first = index == 0 ? 1 : upto[index - 1] + 1;
        const std::int32_t last = index + 1 < kClasses ? upto[index] : processors;
        if (first > last) return {};
        if (last == 1) return "1 processor";
        return first == last ? std::to_string(first) + " processors"
                             : std::to_string(first) + " - " + std::to_string(last) + " processors";
    }
};

struct Piece {
    std::size_t job;
    std::int64_t begin, end;  ///< processors
};

/// Pieces of jobs whose processors are known; nothing if the pieces are too many.
std::optional<std::vector<Piece>> given_places(const SchedulePicture& picture) {
    std::vector<Piece> pieces;
    for (std::size_t job = 0; job < picture.jobs.size(); ++job) {
        for (const auto& [first, last] : picture.jobs[job].ranges) {
            if (pieces.size() == SchedulePicture::kMaxRectangles) return std::nullopt;
            pieces.push_back({job, first, last + 1});
        }
    }
    return pieces;
}

/// Which processors each job takes; nothing if there are too few or the pieces are too many.
std::optional<std::vector<Piece>> place(const SchedulePicture& picture) {
    const std::span<const ScheduleBar> jobs = picture.jobs;
    std::vector<std::size_t> order(jobs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return jobs[i].start; });
    std::map<std::int64_t, std::int64_t> free = {{0, picture.processors}};  // begin -> end, apart from each other
    std::vector<Piece> pieces;
    using End = std::pair<Time, std::size_t>;  // a piece
    std::priority_queue<End, std::vector<End>, std::greater<>> running;
    const auto give_back = [&](const Piece& piece) {
        auto [at, inserted] = free.emplace(piece.begin, piece.end);
        ZBS_EXPECTS(inserted);
        if (const auto next = std::next(at); next != free.end() && next->first == at->second) {
            at->second = next->second;
            free.erase(next);
        }
        if (at != free.begin()) {
            if (const auto before = std::prev(at); before->second == at->first) {
                before->second = at->second;
                free.erase(at);
            }
        }
    };
    for (const std::size_t job : order) {
        for (; !running.empty() && running.top().first <= jobs[job].start; running.pop())
            give_back(pieces[running.top().second]);
        for (std::int64_t wanted = jobs[job].processors; wanted > 0;) {
            if (free.empty() || pieces.size() == SchedulePicture::kMaxRectangles) return std::nullopt;
            const auto [begin, end] = *free.begin();
            const std::int64_t taken = std::min(wanted, end - begin);
            free.erase(free.begin());
            if (begin + taken < end) free.emplace(begin + taken, end);
            running.emplace(jobs[job].end, pieces.size());
            pieces.push_back({job, begin, begin + taken});
            wanted -= taken;
        }
    }
    return pieces;
}

/// Processors in use, on average over each column of time, stacked by size class: [class][column].
std::vector<std::vector<double>> usage(const SchedulePicture& picture, const SizeClasses& classes, Time first,
                                       double span_s) {
    // Rates of change: whole columns by differences, so that the length of a job costs nothing.
    std::vector<std::vector<double>> found(kClasses, std::vector<double>(kColumns + 2));
    const double scale = kColumns / span_s;
    for (const ScheduleBar& bar : picture.jobs) {
        std::vector<double>& differences = found[classes.of(bar.processors)];
        // A step at x adds to its column the part to the right of x, and all to those behind.
        const auto step = [&](Time at, double height) {
            const double x = std::clamp(to_seconds(at - first) * scale, 0.0, double{kColumns});
            const auto column = static_cast<std::size_t>(x);
            const double in_column = height * (static_cast<double>(column) + 1 - x);
            differences[column] += in_column;
            differences[column + 1] += height - in_column;
        };
        step(bar.start, bar.processors);
        step(bar.end, -bar.processors);
    }
    for (std::size_t c = 0; c < kClasses; ++c) {
        std::partial_sum(found[c].begin(), found[c].end(), found[c].begin());
        for (std::size_t column = 0; column < kColumns; ++column) {
            found[c][column] = std::max(0.0, found[c][column]);
            if (c > 0) found[c][column] += found[c - 1][column];
        }
    }
    return found;
}

struct TimeUnit {
    const char* name;
    double seconds;
};
TimeUnit unit_of(double span_s) {
    if (span_s < 600) return {"seconds", 1};
    if (span_s < 4 * 3600) return {"minutes", 60};
    if (span_s < 4 * 86400) return {"hours", 3600};
    return {"days", 86400};
}

/// A job that was preempted has several bars.
std::size_t count_jobs(std::span<const ScheduleBar> bars) {
    std::unordered_set<std::int64_t> ids;
    for (const ScheduleBar& bar : bars) ids.insert(bar.id);
    return ids.size();
}

/// Maps times and processors to points of the picture.
struct Frame {
    Time first;           ///< at the left
    double span_s, most;  ///< seconds and processors that the axes reach to
    double x_of(double seconds) const { return kLeft + kWidth * seconds / span_s; }
    double y_of(double processors) const { return kTop + kHeight * (1 - processors / most); }
};

void paint_size_classes(SvgWriter& svg, const SizeClasses& classes, std::int32_t processors) {
    double legend = kLeft;
    for (std::size_t c = 0; c < kClasses; ++c) {
        const std::string name = classes.name(c, processors);
        if (name.empty()) continue;
        svg.rectangle(legend, kTop - 19, 12, 12, kColours[c]);
        svg.text(legend + 17, kTop - 9, name, SvgWriter::Anchor::kStart, 11);
        legend += 190;
    }
}

void paint_processor_axis(SvgWriter& svg, const Frame& frame, const char* name) {
    svg.rectangle(kLeft, kTop, kWidth, kHeight, "#f4f4f4");
    for (const double tick : axis_ticks(0, frame.most)) {
        svg.line(kLeft - 4, frame.y_of(tick), kLeft + kWidth, frame.y_of(tick), "#d8d8d8");
        svg.text(kLeft - 8, frame.y_of(tick) + 4, short_number(tick, 6), SvgWriter::Anchor::kEnd, 11);
    }
    svg.text(kLeft - 8, kTop - 9, name, SvgWriter::Anchor::kEnd, 11);
}

/// The rows of a slice matrix, each as high as the machine has processors.
void paint_row_axis(SvgWriter& svg, const Frame& frame, std::int32_t processors, std::int32_t rows) {
    constexpr std::int32_t kMostLabels = 30;
    svg.rectangle(kLeft, kTop, kWidth, kHeight, "#f4f4f4");
    const std::int32_t step = (rows + kMostLabels - 1) / kMostLabels;
    for (std::int32_t row = 0; row < rows; row += step) {
        const double below = static_cast<double>(row) * processors;
        svg.line(kLeft - 4, frame.y_of(below), kLeft + kWidth, frame.y_of(below), "#a0a0a0");
        svg.text(kLeft - 8, frame.y_of(below + processors / 2.0) + 4, "row " + std::to_string(row),
                 SvgWriter::Anchor::kEnd, 11);
    }
}

void paint_time_axis(SvgWriter& svg, const Frame& frame) {
    const TimeUnit unit = unit_of(frame.span_s);
    for (const double tick : axis_ticks(0, frame.span_s / unit.seconds)) {
        const double x = frame.x_of(tick * unit.seconds);
        svg.line(x, kTop + kHeight, x, kTop + kHeight + 5, "#404040");
        svg.text(x, kTop + kHeight + 18, short_number(tick, 6), SvgWriter::Anchor::kMiddle, 11);
    }
    svg.text(kLeft + kWidth / 2, kTop + kHeight + 40, std::string(unit.name) + " since the first start",
             SvgWriter::Anchor::kMiddle, 11);
}

void paint_jobs(SvgWriter& svg, const Frame& frame, const SizeClasses& classes, const SchedulePicture& picture,
                std::span<const Piece> pieces) {
    for (const Piece& piece : pieces) {
        const ScheduleBar& bar = picture.jobs[piece.job];
        const double x = frame.x_of(to_seconds(bar.start - frame.first)),
                     width = frame.x_of(to_seconds(bar.end - frame.first)) - x;
        const double y = frame.y_of(static_cast<double>(piece.end)),
                     height = frame.y_of(static_cast<double>(piece.begin)) - y;
        // Outlines would hide what is only a pixel wide.
        const bool outlined = width > 3 && height > 3;
        svg.rectangle(x, y, std::max(width, 0.3), height, kColours[classes.of(bar.processors)],
                      outlined ? "#ffffff" : "none");
        const std::string label = std::to_string(bar.id);
        if (height >= 12 && width >= 7.0 * static_cast<double>(label.size()) + 4)
            svg.text(x + width / 2, y + height / 2 + 4, label, SvgWriter::Anchor::kMiddle, 11);
    }
}

void paint_stack(SvgWriter& svg, const Frame& frame, const std::vector<std::vector<double>>& stacked) {
    // From the whole stack down, each class paints over what is above it.
    for (std::size_t c = kClasses; c-- > 0;) {
        std::vector<std::pair<double, double>> outline = {{kLeft, frame.y_of(0)}};
        for (std::size_t column = 0; column < kColumns; ++column) {
            const double y = frame.y_of(stacked[c][column]);
            if (column == 0 || stacked[c][column] != stacked[c][column - 1]) {
                outline.emplace_back(kLeft + static_cast<double>(column) * kWidth / kColumns, outline.back().second);
                outline.emplace_back(outline.back().first, y);
            }
        }
        outline.emplace_back(kLeft + kWidth, outline.back().second);
        outline.emplace_back(kLeft + kWidth, frame.y_of(0));
        svg.polygon(outline, kColours[c]);
    }
}

}  // namespace

std::string schedule_svg(const SchedulePicture& picture) {
    ZBS_EXPECTS(picture.processors >= 1);
    Time first = Time::max(), last = Time::min();
    for (const ScheduleBar& bar : picture.jobs) {
        ZBS_EXPECTS(bar.end > bar.start && bar.processors >= 1);
        first = std::min(first, bar.start);
        last = std::max(last, bar.end);
    }
    const double span_s = picture.jobs.empty() ? 1 : to_seconds(last - first);
    const SizeClasses classes(picture.processors);
    const bool known = std::ranges::any_of(picture.jobs, [](const ScheduleBar& bar) { return !bar.ranges.empty(); });
    std::optional<std::vector<Piece>> pieces;
    if (picture.jobs.size() <= SchedulePicture::kMaxJobs) pieces = known ? given_places(picture) : place(picture);

    // White ground: the picture brings its own contrast wherever it is shown.
    SvgWriter svg(kLeft + kWidth + 40, kTop + kHeight + 60, picture.title);
    svg.text(kLeft, 24, picture.title, SvgWriter::Anchor::kStart, 15);
    svg.text(kLeft, 42,
             std::to_string(count_jobs(picture.jobs)) + " jobs on " + std::to_string(picture.processors) +
                 " processors" +
                 (picture.rows > 1 ? ", " + std::to_string(picture.rows) + " rows of the slice matrix" : "") +
                 (pieces             ? ""
                  : picture.rows > 1 ? "; slots in use, stacked by size of the job"
                                     : "; processors in use, stacked by size of the job"),
             SvgWriter::Anchor::kStart, 11);
    paint_size_classes(svg, classes, picture.processors);

    // Jobs that take turns use more than the machine has: the axis reaches as far as they do.
    double most = static_cast<double>(picture.processors) * (pieces && known ? picture.rows : 1);
    std::vector<std::vector<double>> stacked;
    if (!pieces) {
        stacked = usage(picture, classes, first, span_s);
        most = std::max(most, *std::max_element(stacked.back().begin(), stacked.back().begin() + kColumns));
    }
    const Frame frame{first, span_s, most};

    if (pieces && known && picture.rows > 1)
        paint_row_axis(svg, frame, picture.processors, picture.rows);
    else
        paint_processor_axis(svg, frame, picture.rows > 1 ? "slots" : "processors");
    if (pieces) {
        paint_jobs(svg, frame, classes, picture, *pieces);
    } else {
        paint_stack(svg, frame, stacked);
        if (most > picture.processors)
            svg.line(kLeft, frame.y_of(picture.processors), kLeft + kWidth, frame.y_of(picture.processors), "#404040");
    }
    paint_time_axis(svg, frame);
    return std::move(svg).finish();
}

}  // namespace zbs::formats
