#include "algorithms/formats/edge_list.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "algorithms/formats/graph_text.hpp"

namespace zbs::formats {
namespace {

constexpr std::string_view kMatrixMarket = "%%matrixmarket";

std::string_view first_line(std::string_view text) { return text.substr(0, text.find('\n')); }

std::string lower(std::string_view text) {
    std::string made(text);
    for (char& c : made) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return made;
}

bool is_matrix_market(std::string_view text) { return lower(text.substr(0, kMatrixMarket.size())) == kMatrixMarket; }

class EdgeListReader {
  public:
    EdgeListReader(std::string_view text, const std::string& source) : text_(text), source_(source), lines_(text) {}

    Result<GraphFile> read() {
        if (!(is_matrix_market(text_) ? matrix() : pairs())) return error_;
        sum_up();
        Result<TaskGraph> graph = TaskGraph::make(std::vector<double>(tasks_, 1), std::move(edges_));
        if (!graph) return graph.error();
        return GraphFile{*std::move(graph), std::move(warnings_)};
    }

  private:
    bool fail(std::string message, ErrorCode code = ErrorCode::kInvalidArgument) {
        error_ = {code, std::move(message), source_ + ":" + std::to_string(std::max(1U, lines_.number()))};
        return false;
    }

    /// A line that is not blank.
    bool next(std::string_view& line) {
        while (lines_.next(line))
            if (!std::all_of(line.begin(), line.end(), graph_text::is_space)) return true;
        return false;
    }

    bool matrix() {
        graph_text::Fields head(first_line(text_));
        head.word();
        const std::string object = lower(head.word()), form = lower(head.word()), field = lower(head.word()),
                          symmetry = lower(head.word());
        if (object != "matrix" || form != "coordinate")
            return fail("is a MatrixMarket file, but no 'matrix coordinate'; write the matrix by coordinates");
        if (field != "pattern" && field != "integer" && field != "real")
            return fail("the entries are '" + field + "'; a graph has pattern, integer or real ones");
        if (symmetry != "symmetric" && symmetry != "general")
            return fail("the matrix is '" + symmetry + "'; a graph has a symmetric or general one");
        std::string_view line;
        std::uint64_t rows = 0, columns = 0, promised = 0, entries = 0;
        if (!next(line)) return fail("the line 'ROWS COLUMNS ENTRIES' is missing");
        graph_text::Fields size(line);
        if (!size.whole(rows) || !size.whole(columns) || !size.whole(promised) || !size.done())
            return fail("the first line behind the comments must be 'ROWS COLUMNS ENTRIES'");
        if (rows != columns)
            return fail("the matrix has " + std::to_string(rows) + " rows and " + std::to_string(columns) +
                        " columns; a graph has a square one");
        if (!has_room(rows)) return false;
        tasks_ = rows;
        for (; next(line); ++entries)
            if (!entry(line, 1, field != "pattern")) return false;
        if (entries == promised) return true;
        return fail("holds " + std::to_string(entries) + " of " + std::to_string(promised) +
                    " entries; the file is cut off, or its head is wrong");
    }

    /// The nodes of the pairs, in the order of their ids, become the tasks.
    bool pairs() {
        std::string_view line;
        std::uint64_t entries = 0;
        for (; next(line); ++entries)
            if (!entry(line, 0, false)) return false;
        if (entries == 0) return fail("the file holds no edge");
        std::sort(ids_.begin(), ids_.end());
        ids_.erase(std::unique(ids_.begin(), ids_.end()), ids_.end());
        if (!has_room(ids_.size())) return false;
        tasks_ = ids_.size();
        const auto task = [&](TaskIndex id) {
            return static_cast<TaskIndex>(std::lower_bound(ids_.begin(), ids_.end(), id) - ids_.begin());
        };
        if (ids_.back() + 1 != static_cast<TaskIndex>(tasks_)) {
            for (TaskEdge& edge : edges_) edge.u = task(edge.u), edge.v = task(edge.v);
            warnings_.push_back("has " + std::to_string(tasks_) + " nodes with ids from " +
                                std::to_string(ids_.front()) + " to " + std::to_string(ids_.back()) +
                                "; they are tasks 0 to " + std::to_string(tasks_ - 1) + " in the order of their ids");
        }
        compare_with_head(entries);
        return true;
    }

    /// `# Nodes: N Edges: M` against what the lines hold.
    void compare_with_head(std::uint64_t entries) {
        constexpr std::string_view kNodes = "# Nodes:";
        std::string_view rest = text_;
        while (rest.starts_with('#') && !rest.starts_with(kNodes))
            rest.remove_prefix(std::min(rest.size(), first_line(rest).size() + 1));
        if (!rest.starts_with(kNodes)) return;
        graph_text::Fields in(first_line(rest).substr(kNodes.size()));
        std::uint64_t nodes = 0, edges = 0;
        if (!in.whole(nodes)) return;
        if (nodes > tasks_)
            warnings_.push_back("promises " + std::to_string(nodes) + " nodes; " + std::to_string(nodes - tasks_) +
                                " of them are on no edge and are left out");
        if (in.word() == "Edges:" && in.whole(edges) && edges > entries)
            warnings_.push_back("promises " + std::to_string(edges) + " edges and holds " + std::to_string(entries) +
                                "; it may be cut off");
    }

    /// `ROW COLUMN`, and a value, which is needed or not; of pairs (`first` 0) the ids of nodes are gathered.
    bool entry(std::string_view line, std::uint64_t first, bool needs_value) {
        graph_text::Fields in(line);
        std::uint64_t ends[2] = {0, 0};
        for (std::uint64_t& end : ends) {
            const std::string shown = in.shown();
            const bool is_one = in.whole(end) && end >= first;
            if (!is_one || (first == 1 && end > tasks_))
                return fail(shown + " is no node; " +
                            (first == 1 ? "they are 1.." + std::to_string(tasks_)
                                        : std::string("a line is 'FROM TO' or 'FROM TO WEIGHT'")));
            end -= first;
            if (first == 0 && end > static_cast<std::uint64_t>(std::numeric_limits<TaskIndex>::max()))
                return fail("node " + std::to_string(end) + " is above " +
                            std::to_string(std::numeric_limits<TaskIndex>::max()) + "; number the nodes from 0");
            if (first == 0) ids_.push_back(static_cast<TaskIndex>(end));
        }
        double bytes = 1;
        if ((needs_value || (first == 0 && !in.done())) && !in.weight(bytes))
            return fail((in.done() ? std::string("the value is missing") : "the value is " + in.shown()) +
                        "; it must be a number from 0 to 2^53" +
                        (first == 1 ? ", or the matrix a 'pattern'" : ", or leave the weights out"));
        if (!in.done()) return fail("has " + in.shown() + " behind its end");
        if (ends[0] == ends[1]) return true;
        if (edges_.size() == kMaxGraphEdges)
            return fail("more than " + std::to_string(kMaxGraphEdges) + " edges", ErrorCode::kTooLarge);
        const auto [least, most] = std::minmax(ends[0], ends[1]);
        edges_.push_back({static_cast<TaskIndex>(least), static_cast<TaskIndex>(most), bytes, 0});
        return true;
    }

    /// Whether that many tasks may be; a few bytes must not fill the memory.
    bool has_room(std::uint64_t tasks) {
        if (tasks > static_cast<std::uint64_t>(TaskGraph::kMaxTasks))
            return fail("more than " + std::to_string(TaskGraph::kMaxTasks) + " tasks", ErrorCode::kTooLarge);
        if (tasks <= 100'000 + text_.size()) return true;
        return fail("names " + std::to_string(tasks) +
                    " tasks, more than the file can hold edges for; it is cut off, or its head is wrong");
    }

    void sum_up() {
        const auto before = [](const TaskEdge& a, const TaskEdge& b) { return a.u != b.u ? a.u < b.u : a.v < b.v; };
        std::sort(edges_.begin(), edges_.end(), before);
        std::size_t kept = 0;
        for (const TaskEdge& edge : edges_) {
            if (kept > 0 && edges_[kept - 1].u == edge.u && edges_[kept - 1].v == edge.v) {
                edges_[kept - 1].bytes += edge.bytes;
            } else {
                edges_[kept++] = edge;
            }
        }
        edges_.resize(kept);
    }

    std::string_view text_;
    const std::string& source_;
    graph_text::Lines lines_;
    std::uint64_t tasks_ = 0;
    std::vector<TaskIndex> ids_;  // of the nodes of pairs
    std::vector<TaskEdge> edges_;
    std::vector<std::string> warnings_;
    Error error_;
};

}  // namespace

bool is_edge_list(std::string_view text) {
    if (is_matrix_market(text)) return true;
    while (text.starts_with('#')) {
        const std::string_view line = first_line(text);
        if (line.find("FromNodeId") != std::string_view::npos || line.starts_with("# Nodes:")) return true;
        text.remove_prefix(std::min(text.size(), line.size() + 1));
    }
    return false;
}

Result<GraphFile> read_edge_list(std::string_view text, const std::string& source) {
    return EdgeListReader(text, source).read();
}

}  // namespace zbs::formats
