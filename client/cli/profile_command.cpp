#include <unistd.h>
#include <zlib.h>

#include <CLI/CLI.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <numeric>
#include <sstream>

#include "algorithms/formats/profile_log.hpp"
#include "algorithms/formats/rank_profile.hpp"
#include "client/cli/context.hpp"
#include "services/common/codec/model_codec.hpp"

namespace zbs::cli {
namespace {

constexpr std::size_t kPiece = 1 << 20;

/// One input, plain or gzip, read in pieces.
class Input {
  public:
    static Result<std::unique_ptr<Input>> open(const std::string& path) {
        std::error_code ignored;
        if (std::filesystem::is_directory(path, ignored)) return invalid("is a directory", path);
        gzFile file = path == "-" ? gzdopen(dup(0), "rb") : gzopen(path.c_str(), "rb");
        if (file == nullptr)
            return Error{ErrorCode::kNotFound, std::string("cannot be read: ") + std::strerror(errno), path};
        gzbuffer(file, 256 * 1024);
        return std::unique_ptr<Input>(new Input(file, path));
    }
    ~Input() { gzclose_r(file_); }
    Input(const Input&) = delete;
    Input& operator=(const Input&) = delete;

    /// The next piece; empty at the end.
    Result<std::string_view> next() {
        const int got = gzread(file_, buffer_.data(), static_cast<unsigned>(buffer_.size()));
        int fault = Z_OK;
        const char* why = gzerror(file_, &fault);
        if (got < 0 || (fault != Z_OK && fault != Z_STREAM_END)) {
            return invalid(std::string("the compressed data is damaged or cut off: ") + why, path_);
        }
        return std::string_view(buffer_.data(), static_cast<std::size_t>(got));
    }

  private:
    Input(gzFile file, std::string path) : file_(file), path_(std::move(path)), buffer_(kPiece, '\0') {}
    gzFile file_;
    std::string path_;
    std::string buffer_;
};

Result<std::string> read_all(const std::string& path) {
    auto input = Input::open(path);
    if (!input) return input.error();
    std::string all;
    for (;;) {
        const auto piece = (*input)->next();
        if (!piece) return piece.error();
        if (piece->empty()) return all;
        all.append(*piece);
    }
}

enum class Kind { kLog, kModel, kRankFiles };

Result<Kind> kind_of(const std::string& path) {
    if (path == "-") return Kind::kLog;
    auto input = Input::open(path);
    if (!input) return input.error();
    const auto piece = (*input)->next();
    if (!piece) return piece.error();
    if (piece->starts_with("ZBSPROF1")) return Kind::kRankFiles;
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
            if (progress && bytes % (64 * kPiece) < piece->size())
                std::cerr << "\rzbs: " << human_bytes(static_cast<double>(bytes)) << " read" << std::flush;
        }
    }
    if (progress && bytes > 64 * kPiece) std::cerr << "\n";
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
    } else {
        model = *kind == Kind::kRankFiles ? read_rank_files(paths) : read_logs(paths);
    }
    if (!model) return context.fail(model.error());
    if (!out.empty()) {
        // Beside the target and then renamed: a fault leaves an older model as it was.
        const std::string temporary = out + ".new";
        std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
        file << codec::dump(codec::encode(*model)) << "\n";
        file.close();
        if (!file || std::rename(temporary.c_str(), out.c_str()) != 0)
            return context.fail({ErrorCode::kInternal, std::string("cannot be written: ") + std::strerror(errno), out});
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
        "standard input), rank files of a killed run, or a model.\n\nExample: zbs profile run.log.gz -o model.json");
    command->add_option("logs", *paths, "log files, rank files or one model")->required();
    command->add_option("-o,--out", *out, "write the model here");
    command->callback([&context, paths, out] { profile(context, *paths, *out); });
}

}  // namespace zbs::cli
