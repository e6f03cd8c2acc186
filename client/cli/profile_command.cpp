#include <unistd.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <numeric>

#include "algorithms/formats/profile_log.hpp"
#include "algorithms/formats/rank_profile.hpp"
#include "client/cli/context.hpp"
#include "client/cli/input.hpp"
#include "services/common/codec/model_codec.hpp"

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

Result<ApplicationModel> read_rank_files(const std::vector<std::string>& paths) {
    std::vector<std::string> files;
    for (const std::string& path : paths) {
        Result<std::string> bytes = read_all(path);
        if (!bytes) return bytes.error();
        files.push_back(*std::move(bytes));
    }
    const std::vector<std::string_view> views(files.begin(), files.end());
    Result<ApplicationModel> model = formats::merge_rank_files(views);
    if (!model && model.error().pointer.starts_with("/")) {
        const std::size_t at = static_cast<std::size_t>(std::atoi(model.error().pointer.c_str() + 1));
        return Error{model.error().code, model.error().message, at < paths.size() ? paths[at] : model.error().pointer};
    }
    return model;
}

void summarise(const ApplicationModel& model) {
    double bytes = 0, messages = 0, compute = 0;
    for (const TaskEdge& edge : model.graph.edges()) {
        bytes += edge.bytes;
        messages += edge.messages;
    }
    for (const double seconds : model.graph.compute()) compute += seconds;
    std::cout << "program    " << (model.program.empty() ? "(unknown)" : printable(model.program))
              << (model.complete ? "" : " (the run was cut short)") << "\n"
              << "ranks      " << model.graph.task_count() << "\n"
              << "pairs      " << model.graph.edge_count() << "\n"
              << "traffic    " << human_bytes(bytes) << " in " << static_cast<std::uint64_t>(messages) << " messages\n"
              << "compute    " << compute / model.graph.task_count()
              << " s on average between two communication calls\n";
    std::vector<TaskIndex> order(static_cast<std::size_t>(model.graph.task_count()));
    std::iota(order.begin(), order.end(), 0);
    std::cout << draw_matrix(model.graph, order, {}, std::vector<std::string>(order.size()));
}

void profile(Context& context, const std::vector<std::string>& paths, const std::string& out) {
    const Result<Kind> kind = kind_of(paths[0]);
    if (!kind) return context.fail(kind.error());
    Result<ApplicationModel> model = Error{};
    if (*kind == Kind::kModel) {
        if (paths.size() != 1) return context.fail(invalid("only one model can be shown at a time", paths[1]));
        const Result<std::string> text = read_all(paths[0]);
        if (!text) return context.fail(text.error());
        const auto json = codec::parse(*text);
        model = json ? codec::decode_model(*json) : Result<ApplicationModel>(json.error());
        if (!model)
            return context.fail({model.error().code, model.error().message, paths[0] + " " + model.error().pointer});
    } else if (*kind == Kind::kTrace) {
        Result<Trace> trace = read_traces(paths);
        if (!trace) return context.fail(trace.error());
        model = ApplicationModel{trace->program, trace->complete, task_graph_of(*trace)};
    } else {
        model = *kind == Kind::kRankFiles ? read_rank_files(paths) : read_logs(paths);
    }
    if (!model) return context.fail(model.error());
    if (!out.empty()) {
        if (auto ok = write_file(out, codec::dump(codec::encode(*model)) + "\n"); !ok) return context.fail(ok.error());
    }
    if (context.output == "table")
        summarise(*model);
    else
        std::cout << codec::dump(codec::encode(*model)) << "\n";
}

}  // namespace

void add_profile_command(CLI::App& app, Context& context) {
    auto paths = std::make_shared<std::vector<std::string>>();
    auto out = std::make_shared<std::string>();
    CLI::App* command = app.add_subcommand(
        "profile",
        "reduce the logs of a run to a model; show a model as a matrix\n\nReads augmented ASCII logs (one merged or "
        "one a rank, .gz too, - for "
        "standard input), rank files of a killed run, execution traces, or a model.\n\nExample: zbs profile run.log.gz "
        "-o model.json");
    command->add_option("logs", *paths, "log files, rank files, traces or one model")->required();
    command->add_option("-o,--out", *out, "write the model here");
    command->callback([&context, paths, out] { profile(context, *paths, *out); });
}

}  // namespace zbs::cli
