#include "algorithms/formats/metis_graph.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

#include "algorithms/formats/edge_list.hpp"
#include "algorithms/formats/graph_text.hpp"

namespace zbs::formats {
namespace {

using graph_text::Fields;
using graph_text::Lines;

struct Header {
    std::uint64_t tasks = 0;
    std::uint64_t edges = 0;
    bool vertex_sizes = false;
    std::uint64_t task_weights = 0;
    bool edge_weights = false;
};

class Reader {
  public:
    /// `first` is the number of the first task: 1, and 0 in files of other tools.
    Reader(std::string_view text, const std::string& source, std::uint64_t first)
        : text_(text), source_(source), first_(first), lines_(text) {}

    const Header& head() const { return head_; }
    Result<TaskGraph> read() {
        if (!header() || !tasks() || !symmetric()) return error_;
        Result<TaskGraph> graph = TaskGraph::make(std::move(compute_), std::move(edges_));
        if (!graph) return Error{graph.error().code, graph.error().message, source_ + " " + graph.error().pointer};
        return graph;
    }

  private:
    struct Entry {
        TaskIndex task;
        double weight;
    };

    bool fail(std::string message, std::uint32_t line, ErrorCode code = ErrorCode::kInvalidArgument) {
        error_ = {code, std::move(message), source_ + ":" + std::to_string(line)};
        return false;
    }
    std::string number_of(std::size_t task) const { return std::to_string(task + first_); }
    std::string of(std::size_t task) const { return "task " + number_of(task); }
    std::string of_line(std::size_t task) const { return of(task) + " (line " + std::to_string(line_of_[task]) + ")"; }

    bool header() {
        static const std::string kWanted = "the first line must be 'TASKS EDGES [FMT [NCON]]'";
        std::string_view line;
        if (!lines_.next(line)) return fail("the file holds no graph; " + kWanted, lines_.number());
        Fields in(line);
        const auto bad = [&](const char* what) {
            return fail(std::string(what) + (in.done() ? " is missing; " : " is " + in.shown() + "; ") + kWanted,
                        lines_.number());
        };
        if (!in.whole(head_.tasks)) return bad("the number of tasks");
        if (!in.whole(head_.edges)) return bad("the number of edges");
        if (!in.done()) {
            const Fields before = in;
            const std::string_view fmt = in.word();
            if (fmt.size() > 3 || fmt.find_first_not_of("01") != std::string_view::npos) {
                return fail("the format is " + before.shown() +
                                "; it has one to three digits 0 or 1: vertex sizes, task weights, edge weights",
                            lines_.number());
            }
            const auto digit = [&](std::size_t from_end) {
                return fmt.size() > from_end && fmt[fmt.size() - 1 - from_end] == '1';
            };
            head_.edge_weights = digit(0);
            head_.task_weights = digit(1) ? 1 : 0;
            head_.vertex_sizes = digit(2);
        }
        if (!in.done()) {
            const std::string shown = in.shown();
            if (!in.whole(head_.task_weights) || head_.task_weights < 1 || head_.task_weights > 1000)
                return fail("the number of weights per task is " + shown + "; it is 1..1000", lines_.number());
            // `fmt` without its task digit and weights all the same: nobody could say where they stand.
            const std::string_view fmt = [&] {
                Fields again(line);
                again.word(), again.word();
                return again.word();
            }();
            if (fmt.size() < 2 || fmt[fmt.size() - 2] != '1')
                return fail("says " + shown + " weights per task, but the format has none; write it as 010 or 011",
                            lines_.number());
        }
        if (!in.done()) return fail("has " + in.shown() + " behind its end; " + kWanted, lines_.number());
        if (head_.tasks == 0) return fail("a graph needs at least one task", lines_.number());
        if (head_.tasks > static_cast<std::uint64_t>(TaskGraph::kMaxTasks))
            return fail("more than " + std::to_string(TaskGraph::kMaxTasks) + " tasks", lines_.number(),
                        ErrorCode::kTooLarge);
        if (head_.edges > kMaxGraphEdges)
            return fail("more than " + std::to_string(kMaxGraphEdges) + " edges", lines_.number(),
                        ErrorCode::kTooLarge);
        header_line_ = lines_.number();
        return true;
    }

    bool tasks() {
        const auto count = static_cast<std::size_t>(head_.tasks);
        // A line has a byte at least and a neighbour two: no header makes this larger than the text.
        compute_.reserve(std::min(count, text_.size()));
        line_of_.reserve(std::min(count, text_.size()));
        begin_.reserve(std::min(count, text_.size()) + 1);
        entries_.reserve(std::min(static_cast<std::size_t>(head_.edges) * 2, text_.size() / 2 + 1));
        std::string_view line;
        while (compute_.size() < count) {
            if (!lines_.next(line)) {
                return fail("ends after " + std::to_string(compute_.size()) + " of " + std::to_string(count) +
                                " task lines; the file is cut off, the header is wrong, or the empty line of a task "
                                "without neighbours is missing",
                            lines_.number());
            }
            line_of_.push_back(lines_.number());
            if (!task(line)) return false;
        }
        begin_.push_back(entries_.size());
        while (lines_.next(line)) {
            if (std::all_of(line.begin(), line.end(), graph_text::is_space)) continue;
            return fail("more lines than the " + std::to_string(count) + " tasks that the header (line " +
                            std::to_string(header_line_) + ") names",
                        lines_.number());
        }
        return true;
    }

    bool task(std::string_view line) {
        const std::size_t self = compute_.size();
        Fields in(line);
        begin_.push_back(entries_.size());
        const auto weight = [&](const std::string& what, double& value) {
            if (in.weight(value)) return true;
            return fail(in.done()
                            ? what + " of " + of(self) + " is missing"
                            : what + " of " + of(self) + " is " + in.shown() + "; it must be a number from 0 to 2^53",
                        line_of_[self]);
        };
        double compute = 1, dropped = 0;
        if (head_.vertex_sizes && !weight("the size", dropped)) return false;
        for (std::uint64_t i = 0; i < head_.task_weights; ++i) {
            if (!weight("the weight", i == 0 ? compute : dropped)) return false;
        }
        compute_.push_back(compute);
        TaskIndex previous = -1;
        bool in_order = true;
        while (!in.done()) {
            std::uint64_t neighbour = 0;
            const Fields before = in;
            if (!in.whole(neighbour) || neighbour < first_ || neighbour - first_ >= head_.tasks) {
                return fail("neighbour " + before.shown() + " of " + of(self) + " is not in " + std::to_string(first_) +
                                ".." + std::to_string(head_.tasks - 1 + first_),
                            line_of_[self]);
            }
            if (neighbour == self + first_)
                return fail(of(self) + " is its own neighbour; leave traffic with itself out", line_of_[self]);
            double value = 1;
            if (head_.edge_weights && !in.weight(value)) {
                return fail(in.done() ? "the weight behind neighbour " + std::to_string(neighbour) + " of " + of(self) +
                                            " is missing; with format 001 a line is NEIGHBOUR WEIGHT ..."
                                      : "the weight of the edge to " + std::to_string(neighbour) + " of " + of(self) +
                                            " is " + in.shown() + "; it must be a number from 0 to 2^53",
                            line_of_[self]);
            }
            const auto index = static_cast<TaskIndex>(neighbour - first_);
            in_order = in_order && index > previous;
            previous = index;
            entries_.push_back({index, value});
        }
        if (in_order) return true;
        const auto mine = entries_.begin() + static_cast<std::ptrdiff_t>(begin_[self]);
        std::sort(mine, entries_.end(), [](const Entry& a, const Entry& b) { return a.task < b.task; });
        const auto twin =
            std::adjacent_find(mine, entries_.end(), [](const Entry& a, const Entry& b) { return a.task == b.task; });
        if (twin == entries_.end()) return true;
        return fail(of(self) + " names neighbour " + number_of(static_cast<std::size_t>(twin->task)) +
                        " twice; sum the two into one",
                    line_of_[self]);
    }

    /// Every edge must stand on both lines with one weight. Going through the tasks in order meets the smaller end of
    /// every edge first, and the entries of a task that are smaller than itself in order too: a cursor each is enough.
    bool symmetric() {
        const std::size_t count = compute_.size();
        std::vector<std::size_t> cursor(begin_.begin(), begin_.end() - 1);
        edges_.reserve(entries_.size() / 2);
        for (std::size_t u = 0; u < count; ++u) {
            // What the smaller neighbours did not claim is on this line only.
            if (cursor[u] < begin_[u + 1] && static_cast<std::size_t>(entries_[cursor[u]].task) < u)
                return one_sided(u, static_cast<std::size_t>(entries_[cursor[u]].task));
            for (std::size_t i = cursor[u]; i < begin_[u + 1]; ++i) {
                const auto v = static_cast<std::size_t>(entries_[i].task);
                const std::size_t other = cursor[v];
                if (other == begin_[v + 1] || static_cast<std::size_t>(entries_[other].task) > u)
                    return one_sided(u, v);
                if (static_cast<std::size_t>(entries_[other].task) < u)
                    return one_sided(v, static_cast<std::size_t>(entries_[other].task));
                if (entries_[other].weight != entries_[i].weight) {
                    return fail("the edge between " + of_line(u) + " and " + of_line(v) + " weighs " +
                                    number(entries_[i].weight) + " on one line and " + number(entries_[other].weight) +
                                    " on the other; write the sum of both directions on both",
                                line_of_[v]);
                }
                ++cursor[v];
                edges_.push_back({static_cast<TaskIndex>(u), static_cast<TaskIndex>(v), entries_[i].weight, 0});
            }
        }
        if (edges_.size() == head_.edges) return true;
        return fail("the header promises " + std::to_string(head_.edges) + " edges, the lines hold " +
                        std::to_string(edges_.size()) +
                        "; an edge counts once, though it stands on the lines of both its tasks",
                    header_line_);
    }

    bool one_sided(std::size_t u, std::size_t v) {
        return fail(of_line(u) + " names neighbour " + number_of(v) + ", but " + of_line(v) + " does not name " +
                        number_of(u) + "; write every edge on both lines",
                    line_of_[u]);
    }

    static std::string number(double value) {
        char text[32];
        return {text, std::to_chars(text, text + sizeof text, value).ptr};
    }

    std::string_view text_;
    const std::string& source_;
    std::uint64_t first_;
    Lines lines_;
    Header head_;
    std::uint32_t header_line_ = 0;
    std::vector<double> compute_;
    std::vector<std::uint32_t> line_of_;
    std::vector<std::size_t> begin_;  // of a task's entries; one more at the end
    std::vector<Entry> entries_;
    std::vector<TaskEdge> edges_;
    Error error_;
};

/// Whether every line, also the first, has two numbers, or every line three.
bool reads_like_edges(std::string_view text) {
    Lines lines(text);
    std::string_view line;
    std::size_t wanted = 0, edges = 0;
    for (; lines.next(line); ++edges) {
        Fields in(line);
        std::size_t fields = 0;
        for (double value = 0; fields < 4 && in.weight(value);) ++fields;
        if (!in.done() || fields < 2 || fields > 3 || (edges > 0 && fields != wanted)) return false;
        wanted = fields;
    }
    return edges > 1;
}

}  // namespace

Result<TaskGraph> read_metis_graph(std::string_view text, const std::string& source) {
    return Reader(text, source, 1).read();
}

Result<GraphFile> read_graph_file(std::string_view text, const std::string& source) {
    if (const std::size_t first = text.find_first_not_of(" \t\r\n");
        first != std::string_view::npos && text[first] == '{')
        return invalid("is JSON and no graph; give a model of a program with --model", source + ":1");
    if (is_edge_list(text)) return read_edge_list(text, source);
    GraphFile file;
    Reader reader(text, source, 1);
    Result<TaskGraph> graph = reader.read();
    if (!graph && reads_like_edges(text)) {
        Error error = graph.error();
        error.message += "; if each line is an edge, begin the file with the line '# FromNodeId ToNodeId'";
        return error;
    }
    if (!graph) {
        // A file that is wrong from 1 and right from 0, on both lines of every edge, is counted from 0.
        const Error from_one = graph.error();
        graph = Reader(text, source, 0).read();
        if (!graph) return from_one;
        file.warnings.push_back("counts tasks from 0, METIS from 1; it is read from 0");
    }
    file.graph = *std::move(graph);
    if (reader.head().vertex_sizes) file.warnings.push_back("has vertex sizes, which are not used");
    if (reader.head().task_weights > 1)
        file.warnings.push_back("has " + std::to_string(reader.head().task_weights) +
                                " weights per task; only the first of them is balanced");
    return file;
}

}  // namespace zbs::formats
