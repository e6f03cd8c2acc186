#include "client/cli/profiles/profile_source.hpp"

#include <unistd.h>

#include <iostream>
#include <numeric>

#include "algorithms/formats/profile_log.hpp"
#include "algorithms/formats/rank_profile.hpp"
#include "client/cli/context.hpp"
#include "client/cli/input.hpp"

namespace zbs::cli {
namespace {

enum class Kind { kLog, kModel, kRankFiles, kTrace };

Result<Kind> kind_of(const std::string& path) {
    if (path == "-") return Kind::kLog;
    auto input = Input::open(path);
    if (!input) return input.error();
    const auto piece = (*input)->next();
    if (!piece) return piece.error();
    if (piece->starts_with("ZBSPROF1")) return Kind::kRankFiles;
    if (is_trace(*piece)) return Kind::kTrace;
    const std::size_t first = piece->find_first_not_of(" \t\r\n");
    return first != std::string_view::npos && (*piece)[first] == '{' ? Kind::kModel : Kind::kLog;
}

Result<ApplicationModel> read_logs(const std::vector<std::string>& paths) {
    formats::ProfileLogReader reader(paths[0]);
    std::uint64_t bytes = 0;
    const bool progress = isatty(2);
    for (std::size_t i = 0; i < paths.size(); ++i) {
        if (i > 0) {
            if (auto ok = reader.begin_source(paths[i]); !ok) return ok.error();
        }
        auto input = Input::open(paths[i]);
        if (!input) return input.error();
        for (;;) {
            const auto piece = (*input)->next();
            if (!piece) return piece.error();
            if (piece->empty()) break;
            if (auto ok = reader.feed(*piece); !ok) return ok.error();
            bytes += piece->size();
            if (progress && bytes % (64 * Input::kPiece) < piece->size())
                std::cerr << "\rzbs: " << human_bytes(static_cast<double>(bytes)) << " read" << std::flush;
        }
    }
    if (progress && bytes > 64 * Input::kPiece) std::cerr << "\n";
    return reader.finish();
}

}  // namespace

Result<ApplicationModel> read_profile_source(const std::vector<std::string>& paths) {
    const Result<Kind> kind = kind_of(paths[0]);
    if (!kind) return kind.error();
    switch (*kind) {
        case Kind::kModel:
            if (paths.size() != 1) return invalid("only one model can be shown at a time", paths[1]);
            return read_model_file(paths[0]);
        case Kind::kTrace: {
            Result<Trace> trace = read_traces(paths);
            if (!trace) return trace.error();
            return ApplicationModel{trace->program, trace->complete, task_graph_of(*trace), trace->unseen};
        }
        case Kind::kRankFiles:
            return merge_files(
                paths, [](const std::vector<std::string_view>& files) { return formats::merge_rank_files(files); });
        case Kind::kLog:
            return read_logs(paths);
    }
    return Error{};
}

void describe_model(const ApplicationModel& model) {
    double bytes = 0, messages = 0, compute = 0;
    for (const TaskEdge& edge : model.graph.edges()) {
        bytes += edge.bytes;
        messages += edge.messages;
    }
    for (const double seconds : model.graph.compute()) compute += seconds;
    std::cout << "program    " << (model.program.empty() ? "(unknown)" : printable(model.program))
              << (model.complete         ? ""
                  : model.unseen.empty() ? " (the run was cut short)"
                                         : " (not complete)")
              << "\n"
              << "ranks      " << model.graph.task_count() << "\n"
              << "pairs      " << model.graph.edge_count() << "\n"
              << "traffic    " << human_bytes(bytes) << " in "
              << counted(static_cast<std::uint64_t>(messages), "message") << "\n"
              << "compute    " << compute / model.graph.task_count()
              << " s on average between two communication calls\n";
    if (!model.unseen.empty()) std::cout << "missing    messages of " << printable(unseen_text(model.unseen)) << "\n";
    std::vector<TaskIndex> order(static_cast<std::size_t>(model.graph.task_count()));
    std::iota(order.begin(), order.end(), 0);
    std::cout << draw_matrix(model.graph, order, {}, std::vector<std::string>(order.size()));
}

}  // namespace zbs::cli
