#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <numeric>
#include <string>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/formats/profile_log.hpp"
#include "algorithms/formats/rank_profile.hpp"
#include "algorithms/formats/svg.hpp"
#include "algorithms/model/task_graph.hpp"
#include "client/cli/applications/application_view.hpp"
#include "client/cli/context.hpp"
#include "client/cli/document_codec.hpp"
#include "client/cli/input.hpp"
#include "client/cli/mapping/map_output.hpp"
#include "client/cli/output_file.hpp"
#include "client/cli/submission/submit_request.hpp"
#include "services/common/adapters/command_line/pages/program_words.hpp"
#include "services/common/adapters/command_line/values.hpp"
#include "services/common/adapters/system/wall_clock.hpp"
#include "services/common/codec/message_codec.hpp"
#include "services/common/codec/model_codec.hpp"

namespace zbs::cli {
namespace {

enum class Kind { kLog, kModel, kRankFiles, kTrace };

/// By its first bytes; of what can be read once only, a pipe, it is a log.
Result<Kind> kind_of(const std::string& path) {
    std::error_code ignored;
    if (path == "-" || std::filesystem::is_fifo(path, ignored)) return Kind::kLog;
    auto input = Input::open(path);
    if (!input) return input.error();
    const auto piece = (*input)->next();
    if (!piece) return piece.error();
    if (piece->starts_with("ZBSPROF1")) return Kind::kRankFiles;
    if (is_trace(*piece)) return Kind::kTrace;
    const std::size_t mark = piece->starts_with("\xEF\xBB\xBF") ? 3 : 0;
    const std::size_t first = piece->find_first_not_of(" \t\r\n", mark);
    return first != std::string_view::npos && (*piece)[first] == '{' ? Kind::kModel : Kind::kLog;
}

Result<ApplicationModel> read_logs(const std::vector<std::string>& paths) {
    formats::ProfileLogReader reader(paths[0]);
    std::uint64_t bytes = 0;
    const bool progress = isatty(2);
    for (std::size_t i = 0; i < paths.size(); ++i) {
        if (i > 0) {
            const Result<Kind> kind = kind_of(paths[i]);
            if (!kind) return kind.error();
            if (*kind != Kind::kLog)
                return invalid("is no log, but " + paths[0] + " is: give files of one kind", paths[i]);
            if (std::find(paths.begin(), paths.begin() + static_cast<std::ptrdiff_t>(i), paths[i]) !=
                paths.begin() + static_cast<std::ptrdiff_t>(i))
                return invalid("is given twice, and its messages would count twice", paths[i]);
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

/// The model that files hold: augmented ASCII logs of one run, its rank files or traces, or one model. Errors name the
/// file, and the place in it.
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

/// A model for people: sums, and the matrix.
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

using codec::Json;

/// Refuses to write over the files that are read.
Result<void> check_out(const std::vector<std::string>& paths, const std::string& out) {
    std::vector<NamedFile> inputs;
    for (const std::string& path : paths) inputs.push_back({"the run", path});
    return check_outputs({{"--out", out}}, inputs);
}

void reduce(Context& context, const std::vector<std::string>& paths, const std::string& out) {
    if (auto good = check_out(paths, out); !good) return context.fail(good.error());
    const Result<ApplicationModel> model = read_profile_source(paths);
    if (!model) return context.fail(model.error());
    if (!out.empty()) {
        if (auto ok = write_file(out, codec::dump(codec::encode(*model)) + "\n"); !ok) return context.fail(ok.error());
    }
    if (out == "-") return;  // the model alone is there
    if (context.for_people())
        describe_model(*model);
    else
        std::cout << codec::dump(codec::encode(*model)) << "\n";
}

Result<std::vector<ProfileRow>> rows_at_home(client::ZoneClient& zone) {
    const Result<Json> answer = zone.get("/v1/profiles");
    if (!answer) return answer.error();
    return codec::decode_profile_rows(*answer);
}

std::string percent(double share) { return number_text("%+.0f %%", share * 100); }

std::string time_of(const std::optional<Duration>& time) { return time ? format_duration(*time) : "-"; }

/// To sort and filter by in seconds.
Cell timed(const std::optional<Duration>& time) { return time ? Cell(time_of(time), to_seconds(*time)) : Cell("-"); }

std::string error_text(const std::optional<PredictionError>& error) {
    if (!error) return "-";
    char text[64];
    std::snprintf(text, sizeof text, " x/ %.2f (%d %s)", error->spread, error->runs, error->runs == 1 ? "run" : "runs");
    return percent(error->mean) + text;
}

Listing profile_listing() {
    return {"profiles",
            {"ID",
             {"AT", "at_us"},
             "RANKS",
             {"COMPLETE", true},
             {"PREDICTED", "predicted_s"},
             {"MEASURED", "measured_s"},
             "ERROR",
             "PROGRAM",
             "ARGUMENTS",
             {"PATH", true},
             {"APPLICATION", true},
             {"MISSING", true}}};
}

void list_profiles(Context& context, const std::string& program, const std::string& since, std::size_t limit) {
    const Result<Time> begin =
        since.empty() ? Result<Time>(Time::min()) : command_line::parse_since(since, system::wall_clock());
    if (!begin) return context.fail(begin.error());
    const auto zone = context.connect();
    if (!zone) return;
    const Result<std::vector<ProfileRow>> rows = rows_at_home(*zone);
    if (!rows) return context.fail(rows.error());
    Listing listing = profile_listing();
    for (const ProfileRow& row : *rows) {
        const ProfileSummary& p = row.profile;
        const std::string name = std::filesystem::path(p.program).filename().string();
        if ((!program.empty() && program != p.program && program != name) || p.at < *begin) continue;
        listing.rows.push_back(
            {to_string(p.id), clock_text(p.at).substr(0, 19), p.ranks, p.complete && p.unseen.empty() ? "yes" : "no",
             timed(p.predicted), timed(p.measured), error_text(row.error), name, p.arguments, p.program,
             p.application ? to_string(*p.application) : "-", p.unseen.empty() ? "-" : unseen_text(p.unseen)});
        listing.items.push_back(codec::encode(row));
    }
    Result<Listing> kept = chosen(listing, context.choice);
    if (!kept) return context.fail(kept.error());
    if (kept->rows.size() > limit) {
        kept->rows.resize(limit);
        kept->items.erase(kept->items.begin() + static_cast<std::ptrdiff_t>(limit), kept->items.end());
        kept->truncated = true;
    }
    std::cout << shown(context, *kept);
}

/// A profile of the home zone, or files.
struct Source {
    std::vector<std::string> words;
    bool is_id() const {
        std::error_code ignored;
        return words.size() == 1 && parse_id128(words[0]) && !std::filesystem::exists(words[0], ignored);
    }
};

/// Nothing after saying why.
std::optional<ApplicationModel> read_source(Context& context, const Source& source) {
    Result<ApplicationModel> model = Error{};
    if (source.is_id()) {
        const auto zone = context.connect();
        if (!zone) return {};
        model = zone->profile(source.words[0]);
    } else {
        model = read_profile_source(source.words);
    }
    if (model) return *std::move(model);
    context.fail(model.error());
    return {};
}

void describe_row(const ProfileRow& row) {
    const ProfileSummary& p = row.profile;
    std::cout << "profile    " << to_string(p.id)
              << (p.application ? " of application " + to_string(*p.application) : ", imported") << "\n"
              << "at         " << clock_text(p.at).substr(0, 19) << "\n"
              << "arguments  " << (p.arguments.empty() ? "(none)" : printable(p.arguments)) << "\n"
              << "file       " << (p.digest.empty() ? "(the zone could not read it)" : "sha256:" + p.digest) << "\n"
              << "run time   " << time_of(p.measured) << ", predicted " << time_of(p.predicted) << "\n";
    if (row.error)
        std::cout << "error      " << percent(row.error->mean)
                  << " beside what is predicted for runs of this kind, give or take a factor of "
                  << formats::short_number(row.error->spread) << "; the last " << percent(row.error->last) << " ("
                  << row.error->runs << " runs)\n";
}

void show_profile(Context& context, const Source& source) {
    if (!settle_document_output(context, source.is_id())) return;
    const std::optional<ApplicationModel> model = read_source(context, source);
    if (!model) return;
    std::optional<ProfileRow> row;
    if (source.is_id()) {
        const auto zone = context.connect();
        if (!zone) return;
        const Result<std::vector<ProfileRow>> rows = rows_at_home(*zone);
        if (!rows) return context.fail(rows.error());
        for (const ProfileRow& one : *rows)
            if (one.profile.id.value == *parse_id128(source.words[0])) row = one;
    }
    if (context.output == "name") {
        std::cout << source.words[0] << "\n";
        return;
    }
    if (!context.for_people()) return print_document(context, encode(*model, row));
    if (row) describe_row(*row);
    describe_model(*model);
}

void plot_profile(Context& context, const Source& source, const std::string& out) {
    if (auto good = check_out(source.words, out); !good) return context.fail(good.error());
    const std::optional<ApplicationModel> model = read_source(context, source);
    if (!model) return;
    const std::string name = std::filesystem::path(model->program).filename().string();
    const std::string title = "Bytes between ranks" + (name.empty() ? std::string() : " of " + name) +
                              (model->complete ? "" : " (the run was cut short)");
    if (auto ok = deliver(formats::matrix_svg(model->graph, {.title = title, .numbers = true}), out); !ok)
        context.fail(ok.error());
}

void export_profile(Context& context, const Source& source, const std::string& out) {
    if (auto good = check_out(source.words, out); !good) return context.fail(good.error());
    const std::optional<ApplicationModel> model = read_source(context, source);
    if (!model) return;
    if (auto ok = deliver(codec::dump(codec::encode(*model)) + "\n", out); !ok) context.fail(ok.error());
}

struct ImportOptions {
    std::string model, id, run_time;
    std::vector<std::string> argv;
};

Result<ProfileImport> make_import(const ImportOptions& options) {
    ProfileImport wanted;
    if (!options.id.empty()) {
        const auto id = parse_id128(options.id);
        if (!id) return invalid("'" + ascii(options.id) + "' is no id (26 characters)", "--id");
        wanted.id = ProfileId{*id};
    }
    Result<ApplicationModel> model = read_profile_source({options.model});
    if (!model) return model.error();
    wanted.model = *std::move(model);
    wanted.argv = options.argv;
    if (wanted.argv.empty()) {
        if (!wanted.model.program.starts_with('/'))
            return invalid(
                "does not say by its absolute path which program it is of; write that after the model, e.g. -- "
                "./solver input.dat",
                options.model);
        wanted.argv = {wanted.model.program};
    } else {
        std::error_code fault;
        const Result<std::string> program = find_program(wanted.argv[0], std::filesystem::current_path(fault).string());
        if (!program) return program.error();
        wanted.argv[0] = *program;
    }
    if (!options.run_time.empty()) {
        const Result<Duration> time = parse_duration(options.run_time);
        if (!time) return Error{ErrorCode::kInvalidArgument, time.error().message, "--run-time"};
        wanted.measured = *time;
    }
    return wanted;
}

void import_profile(Context& context, const ImportOptions& options) {
    if (!settle_document_output(context)) return;
    Result<ProfileImport> wanted = make_import(options);
    if (!wanted) return context.fail(wanted.error());
    const auto zone = context.connect();
    if (!zone) return;
    if (options.id.empty()) {
        const Result<Id128> fresh = context.fresh_id(*zone);
        if (!fresh) return context.fail(fresh.error());
        wanted->id = ProfileId{*fresh};
    }
    const Result<Json> made = zone->call("POST", "/v1/profiles", codec::encode(*wanted));
    if (!made) return context.fail(made.error());
    if (context.for_people())
        std::cout << to_string(wanted->id) << "\n";
    else
        print_document(context, *made);
}

/// `-o` means the output format again, as everywhere but beside a file of logs.
void add_format(CLI::App& command, Context& context) { add_output_option(command, context); }

std::shared_ptr<Source> add_source(CLI::App& command) {
    auto source = std::make_shared<Source>();
    command_line::offer(command
                            .add_option("source", source->words,
                                        "id of a profile of your home zone; or logs, rank files, traces or a model")
                            ->required(),
                        {.words = {}, .kind = "profiles", .is_file_too = true});
    return source;
}

void add_list_subcommand(CLI::App& profile, Context& context) {
    const auto program = std::make_shared<std::string>(), since = std::make_shared<std::string>();
    CLI::App* list = profile.add_subcommand("list",
                                            "profiles that your home zone has stored, newest first\n\nERROR is "
                                            "how much longer (+) or shorter (-) runs of "
                                            "that kind take than predicted, and the factor by which they usually "
                                            "differ from that. ARGUMENTS has numbers "
                                            "by their order of magnitude.\n\nExample: zbs profile list -o json");
    list->add_option("--program", *program, "only of this program, by its path or last name");
    const auto limit = std::make_shared<std::size_t>(10'000);
    list->add_option("--limit", *limit, "at most this many")
        ->check(command_line::whole_number_in(1, 10'000))
        ->capture_default_str();
    add_format(*list, context);
    add_list_options(*list, context, profile_listing());
    command_line::add_since_option(*list, *since);
    list->callback([&context, program, since, limit] { list_profiles(context, *program, *since, *limit); });
}

void add_show_subcommand(CLI::App& profile, Context& context) {
    CLI::App* show = profile.add_subcommand("show",
                                            "one profile: where it is from, predicted and measured time, "
                                            "traffic\n\nExample: zbs profile show model.json");
    const auto source = add_source(*show);
    add_format(*show, context);
    show->callback([&context, source] { show_profile(context, *source); });
}

void add_plot_subcommand(CLI::App& profile, Context& context) {
    auto file = std::make_shared<std::string>();
    CLI::App* plot = profile.add_subcommand(
        "plot",
        "who talks to whom as a heat map (SVG): ranks by ranks, logarithmic colours; more than 512 ranks share "
        "rows\n\nExample: zbs profile plot model.json -o matrix.svg");
    const auto source = add_source(*plot);
    plot->add_option("-o,--out", *file, "write the picture here, not to standard output (-)");
    plot->callback([&context, source, file] { plot_profile(context, *source, *file); });
}

void add_export_subcommand(CLI::App& profile, Context& context) {
    auto file = std::make_shared<std::string>();
    CLI::App* write = profile.add_subcommand("export",
                                             "the model of a profile, for 'zbs map', 'zbs run --profile' or "
                                             "another zone\n\nExample: zbs profile export ID -o "
                                             "model.json");
    const auto source = add_source(*write);
    write->add_option("-o,--out", *file, "write the model here, not to standard output (-)");
    write->callback([&context, source, file] { export_profile(context, *source, *file); });
}

void add_import_subcommand(CLI::App& profile, Context& context) {
    auto options = std::make_shared<ImportOptions>();
    CLI::App* read = profile.add_subcommand("import",
                                            "store a model at your home zone, to plan a program with\n\nExample: "
                                            "zbs profile import model.json -- ./solver "
                                            "input.dat");
    read->add_option("model", options->model, "the model, or what it is made from")->required();
    command_line::add_program(*read, options->argv,
                              "the program and arguments that it is of; needed unless the model names the program");
    read->add_option("--run-time", options->run_time, "how long that run took: 90s, 15m");
    read->add_option("--id", options->id, "id of an earlier try whose answer was lost");
    add_format(*read, context);
    read->callback([&context, options] { import_profile(context, *options); });
}

}  // namespace

void add_profile_command(CLI::App& app, Context& context) {
    auto paths = std::make_shared<std::vector<std::string>>();
    auto out = std::make_shared<std::string>();
    CLI::App* command = app.add_subcommand(
        "profile",
        "reduce the logs of a run to a model; list, show, plot, export and import profiles\n\nReads augmented ASCII "
        "logs "
        "(one merged or one a rank, .gz too, - for standard input), rank files of a killed run, execution traces, or a "
        "model. A file that has the name of a subcommand is written ./list.\n\nExample: zbs profile run.log.gz -o "
        "model.json");
    CLI::Option* logs = command->add_option("logs", *paths, "log files, rank files, traces or one model");
    command->add_option("-o,--out", *out, "write the model here; - is standard output");
    command->require_subcommand(0, 1);
    command->callback([&context, command, paths, out] {
        if (!command->get_subcommands().empty()) return;
        if (paths->empty()) throw CLI::RequiredError("logs");
        reduce(context, *paths, *out);
    });
    add_list_subcommand(*command, context);
    add_show_subcommand(*command, context);
    add_plot_subcommand(*command, context);
    add_export_subcommand(*command, context);
    add_import_subcommand(*command, context);
    for (CLI::App* subcommand : command->get_subcommands([](CLI::App*) { return true; })) subcommand->excludes(logs);
}

}  // namespace zbs::cli
