#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <utility>

#include "client/api/event_waiter.hpp"
#include "client/api/staged_files.hpp"
#include "client/cli/applications/application_follow.hpp"
#include "client/cli/applications/application_list.hpp"
#include "client/cli/applications/application_view.hpp"
#include "client/cli/applications/fetch_command.hpp"
#include "client/cli/context.hpp"
#include "client/cli/interrupt.hpp"
#include "client/cli/request_options.hpp"
#include "client/cli/selectors.hpp"
#include "client/cli/submission/submit_options.hpp"
#include "client/cli/submission/submit_request.hpp"
#include "client/cli/watch.hpp"
#include "services/common/adapters/command_line/values.hpp"
#include "services/common/adapters/system/wall_clock.hpp"
#include "services/common/codec/json/document_text.hpp"
#include "services/common/codec/message_codec.hpp"
#include "services/common/codec/model_codec.hpp"
#include "services/common/http/reply.hpp"
#include "services/common/messages/text/printable.hpp"

namespace zbs::cli {
namespace {

using codec::Json;
namespace fs = std::filesystem;

bool failed_with(Context& context, const Error& error) {
    context.fail(error);
    return false;
}

/// False after refusing, because of what the output is, a format that was asked for.
bool check_own_output(Context& context, const std::string& why) {
    if (context.for_people() || !context.output_is_asked) return true;
    context.fail(invalid(why, "--output"));
    return false;
}

/// The zone's error for the application `id`; for an unknown one, with its id.
Error of_application(const Error& error, const std::string& id) {
    if (error.code != ErrorCode::kNotFound) return error;
    return {ErrorCode::kNotFound, "there is no application " + id + " of yours; 'zbs list' shows them", {}};
}

/// The file of -o or -e. Its content is replaced once the job begins; until then it is as it was.
class OutputFile {
  public:
    OutputFile() = default;
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;
    ~OutputFile() {
        if (file_ == nullptr) return;
        std::fclose(file_);
        if (is_new_ && !has_begun_) unlink(path_.c_str());
    }
    Result<std::FILE*> open(const std::string& path, const char* option) {
        path_ = path;
        int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        is_new_ = fd >= 0;
        if (!is_new_ && errno == EEXIST) fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
        file_ = fd >= 0 ? fdopen(fd, "wb") : nullptr;
        if (file_ == nullptr)
            return Error{ErrorCode::kUnavailable, "'" + path + "' cannot be written: " + std::strerror(errno), option};
        return file_;
    }
    void begin() {
        if (file_ == nullptr || std::exchange(has_begun_, true)) return;
        struct stat info {};
        if (fstat(fileno(file_), &info) == 0 && S_ISREG(info.st_mode) && ftruncate(fileno(file_), 0) != 0)
            std::cerr << "zbs: the content of '" << printable(path_) << "' stays: " << std::strerror(errno) << "\n";
    }

  private:
    std::string path_;
    std::FILE* file_ = nullptr;
    bool is_new_ = false, has_begun_ = false;
};

/// The files of -o and -e, which may be one.
struct OutputFiles {
    OutputFile out, err;
};

Result<OutputStreams> open_output(const SubmitOptions& options, OutputFiles& files) {
    OutputStreams streams{.begin = [&files] {
        files.out.begin();
        files.err.begin();
    }};
    if (!options.stdout_file.empty()) {
        const Result<std::FILE*> out = files.out.open(options.stdout_file, "-o");
        if (!out) return out.error();
        streams.out = *out;
    }
    if (!options.stderr_file.empty()) {
        std::error_code fault;
        const bool is_same =
            !options.stdout_file.empty() && fs::equivalent(options.stdout_file, options.stderr_file, fault);
        const Result<std::FILE*> err = is_same ? streams.out : files.err.open(options.stderr_file, "-e");
        if (!err) return err.error();
        streams.err = *err;
    }
    return streams;
}

/// A job that nobody waits for writes into no file here.
Result<void> check_output_files(const SubmitOptions& options) {
    if (options.wait && !options.dry_run) return {};
    for (const auto& [file, option] : {std::pair{&options.stdout_file, "-o"}, std::pair{&options.stderr_file, "-e"}}) {
        if (file->empty()) continue;
        const bool is_format = std::ranges::count(listing::output_formats(), *file) > 0;
        return invalid(std::string(option) + " names a file for the job's output, and " +
                           (options.dry_run ? "a dry run has none"
                                            : "this command does not wait for it; 'zbs run' and --wait write the file, "
                                              "and 'zbs logs ID' prints the output later") +
                           (is_format ? "; the format is --output " + *file : ""),
                       {});
    }
    return {};
}

/// The next command to type after one that failed; the last line of 'zbs run'.
void print_next(const std::string& id, const ApplicationView& view) {
    if (view.state == "failed" && view.exit_code)
        std::cerr << "zbs: 'zbs logs -l " << id << "' shows which rank wrote what\n";
    else
        std::cerr << "zbs: 'zbs show " << id << "' shows its plan, its parts and why it ended\n";
}

/// False after refusing options that do not go together.
bool check_submission(Context& context, CLI::App& command, SubmitOptions& options) {
    if (const Result<void> read = apply_directives(command, options); !read) return failed_with(context, read.error());
    if (const Result<void> good = check_output_files(options); !good) return failed_with(context, good.error());
    const bool follows = options.wait && !options.dry_run;
    if (follows)
        return check_own_output(context,
                                "what is followed is the program's own output, byte "
                                "by byte, and has no other format; 'zbs submit' and "
                                "--dry-run print a document");
    const bool has_id = !options.dry_run;
    return settle_document_output(context, has_id);
}

void print_dry_run(Context& context, client::ZoneClient& zone, const ApplicationRequest& request) {
    const Result<ApplicationPlan> plan = zone.dry_run(request);
    if (!plan) return context.fail(plan.error(), option_of_field(plan.error().pointer));
    if (context.for_people()) {
        describe_plan(std::cout, *plan);
        print(context, starts_of(*plan));
    } else {
        print_document(context, codec::encode(*plan));
    }
}

/// False where the results have no folder or an input could not be sent to the home zone.
bool prepare_files(Context& context, client::ZoneClient& zone, const SubmitOptions& options, const Staging& staging,
                   const std::vector<std::string>& paths) {
    if (options.wait && !staging.results.empty()) {
        // With --id the earlier try may have fetched them.
        const auto& results = options.id.empty() ? staging.results : std::vector<std::string>{};
        const Result<void> good = client::check_fetch_folder(options.results_folder, results);
        if (!good) return failed_with(context, good.error());
    }
    for (std::size_t i = 0; i < paths.size(); ++i) {
        const Result<std::uint64_t> sent = client::send_file(zone, paths[i], staging.inputs[i]);
        if (!sent)
            return failed_with(context, {sent.error().code, paths[i] + ": " + sent.error().message, "--stage-in"});
        if (!options.quiet && *sent > 0)
            std::cerr << "zbs: sent " << printable(paths[i]) << " (" << human_bytes(static_cast<double>(*sent))
                      << ")\n";
    }
    return true;
}

/// The zone's answer; none after reporting why there is none.
std::optional<Json> hand_in(Context& context, client::ZoneClient& zone, const ApplicationRequest& request,
                            DelegationKeeper& delegation) {
    const std::string id = to_string(request.id);
    const PendingFile pending;
    pending.add(id, zone.url(), request.argv[0]);
    if (auto handed = delegation.sign(); !handed) {
        pending.remove(id);  // nothing was submitted
        context.fail(handed.error());
        return std::nullopt;
    }
    const Result<Json> accepted = zone.submit(request);
    if (!accepted) {
        context.fail(accepted.error(), option_of_field(accepted.error().pointer));
        const bool unknown =
            accepted.error().code == ErrorCode::kUnavailable || accepted.error().code == ErrorCode::kTimeout;
        if (unknown)
            std::cerr << "zbs: whether it was accepted is not known; the same command with --id " << id
                      << " cannot run it twice\n";
        else
            pending.remove(id);
        return std::nullopt;
    }
    pending.remove(id);
    return *accepted;
}

/// Until its end; fetches its results.
void follow_submitted(Context& context, client::ZoneClient& zone, const SubmitOptions& options,
                      const ApplicationRequest& request, const OutputStreams& output, DelegationKeeper& delegation) {
    const std::string id = to_string(request.id);
    if (!options.quiet) std::cerr << "zbs: application " << id << "\n";
    const bool brings_results = !request.staging.results.empty();
    const std::optional<ApplicationView> view =
        follow(context, zone, id, {.quiet = options.quiet, .has_results = brings_results}, output, &delegation);
    const int ended_with = context.exit_code;
    if (brings_results) {
        const std::string rest = "zbs: not all results of " + id + " were fetched; 'zbs fetch " + id + " -d ";
        const InterruptLine line(rest + shell_word(options.results_folder) + "' fetches the rest");
        if (!fetch_results(context, zone, id,
                           {.folder = options.results_folder, .quiet = options.quiet, .ended = false}))
            std::cerr << rest << "FOLDER' fetches them into FOLDER\n";
    }
    if (ended_with != kOk) context.exit_code = ended_with;  // the program's own code comes first
    if (context.exit_code != kOk && !options.quiet && view && view->state != "cancelled") print_next(id, *view);
}

void submit(Context& context, CLI::App& command, SubmitOptions& options) {
    if (!check_submission(context, command, options)) return;
    const auto zone = context.connect();
    if (!zone) return;
    // The address is from a login: if the zone does not answer, it is away.
    if (options.wait && !options.dry_run && context.url.empty()) outlast_absence(*zone, {});
    const Result<Id128> fresh = context.fresh_id(*zone);
    if (!fresh) return context.fail(fresh.error());
    std::vector<std::string> paths;
    const Result<ApplicationRequest> request = make_request(options, *fresh, paths);
    if (!request) return context.fail(request.error());
    if (options.dry_run) return print_dry_run(context, *zone, *request);
    if (!prepare_files(context, *zone, options, request->staging, paths)) return;
    OutputFiles files;
    const Result<OutputStreams> output = open_output(options, files);
    if (!output) return context.fail(output.error(), output.error().pointer);
    DelegationKeeper delegation(*zone, to_string(request->id), request->walltime);
    const std::optional<Json> accepted = hand_in(context, *zone, *request, delegation);
    if (!accepted) return;
    if (options.wait) return follow_submitted(context, *zone, options, *request, *output, delegation);
    if (context.for_people())
        std::cout << to_string(request->id) << "\n";
    else
        print_document(context, *accepted);
}

/// False where something went wrong.
bool list(Context& context, const ApplicationChoice& choice, bool again) {
    const auto zone = context.connect();
    if (!zone) return false;
    const Result<FoundApplications> found = find_applications(context, *zone, choice);
    if (!found) return failed_with(context, found.error());
    std::cout << shown(context, found->rows);
    // What is drawn again has one place: a note beside it would run through the drawing.
    if (!found->cut.empty()) (again && context.for_people() ? std::cout : std::cerr) << "zbs: " << found->cut << "\n";
    return true;
}

/// `word` becomes the id that it names; false after saying that it names nothing.
bool select_one(Context& context, client::ZoneClient& zone, std::string& word) {
    const Result<std::vector<std::string>> ids = find_selected(context, zone, {word}, SelectionMode::kNewest);
    if (!ids) return failed_with(context, ids.error());
    word = ids->front();
    return true;
}

void print_times(client::ZoneClient& zone, const ApplicationView& view) {
    for (const auto& [name, time] : {std::pair{"started    ", view.started}, std::pair{"ended      ", view.ended},
                                     std::pair{"expected   ", view.expected_start}})
        if (time) std::cout << name << time_text(time) << "\n";
    Time now = system::wall_clock();
    if (runs_still(view))
        if (const Result<Time> clock = zone.clock()) now = *clock;
    if (const std::optional<Duration> elapsed = elapsed_of(view, now))
        std::cout << "elapsed    " << format_duration(*elapsed) << "\n";
}

void print_application(const ApplicationView& view) {
    std::cout << "id         " << view.id;
    if (!view.name.empty()) std::cout << "\nname       " << harmless_line(view.name);
    if (!view.comment.empty()) std::cout << "\ncomment    " << harmless_line(view.comment);
    if (!view.partition.empty()) std::cout << "\npartition  " << harmless_line(view.partition);
    if (!view.owner.empty()) std::cout << "\nowner      " << harmless_line(view.owner);
    std::cout << "\nstate      " << view.state;
    if (view.exit_code) std::cout << " (exit code " << *view.exit_code << ")";
    if (view.cancel_requested && !is_ended(view.state)) std::cout << " (being cancelled)";
    std::cout << "\n";
    if (!view.reason.empty()) std::cout << "reason     " << printable(view.reason) << "\n";
    std::cout << "program    ";
    for (const std::string& word : view.argv) std::cout << printable(word) << " ";
    for (const std::string& note : view.result_notes) std::cout << "\nresults    " << printable(note);
    if (view.results_left_out > 0) std::cout << "\nresults    " << left_out_text(view.results_left_out);
    std::cout << "\ndirectory  " << printable(view.directory) << "\nranks      " << view.ranks << "\nsubmitted  "
              << time_text(view.submitted) << "\n";
}

void print_parts(const ApplicationView& view) {
    for (const client::PartView& part : view.parts) {
        std::cout << "part       zone " << printable(part.zone) << " " << part.state << ", ranks "
                  << ranks_text(part.ranks) << (part.reason.empty() ? "" : ": " + printable(part.reason)) << "\n";
        if (!part.work.empty()) std::cout << "work       " << printable(part.work) << ", lately\n";
        if (part.queue) std::cout << "queue      " << queue_text(*part.queue) << "\n";
    }
    if (const std::string grace = grace_text(view); !grace.empty()) std::cout << "grace      " << grace << "\n";
}

/// Always false: an assignment is final.
bool print_assignment(Context& context, client::ZoneClient& zone, const std::string& id, const std::string& format) {
    const Result<std::string> text = zone.assignment(id, format);
    if (!text) return failed_with(context, text.error());
    const Result<Json> document = format == "json" ? codec::parse(*text) : Result<Json>(Json());
    if (!document) return failed_with(context, document.error());
    if (document->is_object()) {
        std::cout << codec::document_text(*document);
        return false;
    }
    std::cout << *text << (text->ends_with('\n') ? "" : "\n");
    return false;
}

/// False where it has ended, or something went wrong.
bool show(Context& context, std::string& id, const std::string& format, bool matrix) {
    if (!check_selectors(context, {id}, SelectionMode::kNewest) || (format.empty() && !settle_document_output(context)))
        return false;
    const auto zone = context.connect();
    if (!zone || !select_one(context, *zone, id)) return false;
    if (!format.empty()) return print_assignment(context, *zone, id, format);
    const Result<Json> answer = zone->show(id);
    if (!answer) return failed_with(context, of_application(answer.error(), id));
    const ApplicationView view = client::decode_application_view(*answer);
    const bool more = !is_ended(view.state);
    if (!context.for_people()) {
        print_document(context, *answer);
        return more;
    }
    print_application(view);
    print_times(*zone, view);
    print_parts(view);
    if (view.plan.is_null()) {
        if (matrix) return failed_with(context, {ErrorCode::kNotFound, "there is no plan yet, so no matrix", {}});
        return more;
    }
    const auto plan = codec::decode_application_plan(view.plan);
    if (!plan) return failed_with(context, plan.error());
    describe_plan(std::cout, *plan, view.planned);
    if (!matrix) return more;
    // The newest knowledge of who talks to whom: what this run left, else what its plan was made from.
    const std::string profile = view.profile.empty() ? plan->profile : view.profile;
    if (!parse_id128(profile))
        return failed_with(
            context,
            {ErrorCode::kNotFound,
             "no profile to draw: nothing is learnt of this program and size yet. A run that ends leaves a profile "
             "(unless --no-record was given); 'zbs profile import MODEL -- PROGRAM' stores one from elsewhere",
             {}});
    const Result<ApplicationModel> model = zone->profile(profile);
    if (!model)
        return failed_with(context,
                           {model.error().code, "no profile to draw: " + http::text_with_place(model.error()), {}});
    if (!plan->crossing_bytes) {
        double crossing = 0;
        for (const TaskEdge& edge : model->graph.edges()) {
            if (plan->zone_of_rank.at(static_cast<std::size_t>(edge.u)) !=
                plan->zone_of_rank.at(static_cast<std::size_t>(edge.v)))
                crossing += edge.bytes;
        }
        std::cout << "  bytes between zones: " << human_bytes(crossing) << ", according to the profile of this run\n";
    }
    std::cout << "bytes between ranks, by zone:\n";
    draw_plan_matrix(std::cout, *plan, model->graph);
    return more;
}

constexpr const char* kNothingOpen = "zbs: nothing of yours is open\n";

/// How long to rely on events alone, at most.
constexpr std::chrono::milliseconds kCheckWhileWaiting = std::chrono::minutes{1};

std::chrono::milliseconds time_left(std::chrono::steady_clock::time_point until) {
    const auto now = std::chrono::steady_clock::now();
    if (until - now >= kCheckWhileWaiting) return kCheckWhileWaiting;
    return std::max(std::chrono::milliseconds{1}, std::chrono::ceil<std::chrono::milliseconds>(until - now));
}

/// How it ended, where that is not well, and each result that did not come.
void print_bad_end(const ApplicationView& view) {
    for (const std::string& note : view.result_notes) std::cerr << "zbs: " << printable(note) << "\n";
    std::cerr << "zbs: " << view.id << " " << view.state
              << (view.state == "completed" ? ", but " + left_out_text(view.results_left_out)
                                            : ": " + printable(view.reason))
              << "\n";
}

void wait_for(Context& context, const std::vector<std::string>& words, const std::string& timeout) {
    if (!check_selectors(context, words, SelectionMode::kOpenElseNewest)) return;
    const auto zone = context.connect();
    if (!zone) return;
    std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max();
    const auto is_late = [&until] { return std::chrono::steady_clock::now() > until; };
    outlast_absence(*zone, {}, is_late);
    std::optional<InterruptLine> line(std::in_place, way_back({}));
    if (!timeout.empty()) {
        const Result<Duration> limit = parse_duration(timeout);
        if (!limit) return context.fail({ErrorCode::kInvalidArgument, limit.error().message, "--timeout"});
        until = std::chrono::steady_clock::now() + *limit;
    }
    const Result<std::vector<std::string>> ids = find_selected(context, *zone, words, SelectionMode::kOpenElseNewest);
    if (!ids) return context.fail(ids.error());
    if (ids->empty()) std::cerr << kNothingOpen;
    line.reset();
    line.emplace(way_back(*ids));
    std::vector<ApplicationView> ended;
    for (const std::string& id : *ids) {
        client::EventWaiter events(*zone, id);
        for (;;) {
            const Result<Json> answer = zone->show(id);
            if (!answer && is_late())
                return fail_to_follow(context, {ErrorCode::kTimeout, "the home zone is still away", {}}, id);
            if (!answer) return fail_to_follow(context, of_application(answer.error(), id), id);
            ApplicationView view = client::decode_application_view(*answer);
            if (is_ended(view.state)) {
                if (const int code = code_of_end(view); code != 0) {
                    if (context.exit_code == kOk) context.exit_code = code;
                    print_bad_end(view);
                }
                ended.push_back(std::move(view));
                break;
            }
            if (is_late()) return context.fail({ErrorCode::kTimeout, id + " is still " + view.state, {}});
            while (!events.wait(time_left(until))) {
            }
        }
    }
    if (!context.for_people()) print(context, applications_of(ended, context.caller(*zone)));
}

struct CancelOptions {
    std::vector<std::string> words;
    bool yes = false;       ///< nobody is asked
    bool no_input = false;  ///< nobody can be asked
};

/// What a list says of them, as far as the zone still knows them.
Listing named(client::ZoneClient& zone, const std::vector<std::string>& ids) {
    Listing listing{"applications", {"ID", "NAME", "STATE"}, {}};
    for (const std::string& id : ids) {
        const Result<Json> answer = zone.show(id);
        const ApplicationView view = client::decode_application_view(answer ? *answer : Json());
        listing.rows.push_back({id, view.name, view.state});
    }
    return listing;
}

/// Whether several that one word has named are mode; asks at a terminal.
bool is_meant(Context& context, client::ZoneClient& zone, const CancelOptions& options,
              const std::vector<std::string>& ids) {
    if (ids.size() <= 1 || options.yes || !may_name_many(options.words)) return true;
    const std::string what = "cancel " + std::to_string(ids.size()) + " applications";
    if (options.no_input || isatty(0) == 0 || isatty(2) == 0) {
        context.fail(invalid("would " + what + ", and nobody can be asked; --yes says that it is meant"));
        return false;
    }
    std::cerr << written(named(zone, ids), "table") << "zbs: " << what << "? [y/N] " << std::flush;
    std::string answer;
    std::getline(std::cin, answer);
    if (answer == "y" || answer == "Y" || answer == "yes") return true;
    std::cerr << "zbs: nothing was cancelled\n";
    context.exit_code = kFailed;
    return false;
}

/// An application that has ended is reported, and is no error. Of several the others are cancelled also where one
/// fails.
void cancel(Context& context, const CancelOptions& options) {
    const bool is_one = options.words.size() == 1 && !may_name_many(options.words);
    if (!check_selectors(context, options.words, SelectionMode::kOpen) || (is_one && !settle_document_output(context)))
        return;
    const auto zone = context.connect();
    if (!zone) return;
    const Result<std::vector<std::string>> found = find_selected(context, *zone, options.words, SelectionMode::kOpen);
    if (!found) return context.fail(found.error());
    const std::vector<std::string>& ids = *found;
    if (ids.empty()) std::cerr << kNothingOpen;
    if (!is_meant(context, *zone, options, ids)) return;
    std::vector<ApplicationView> answers;
    for (const std::string& id : ids) {
        const Result<Json> before = zone->show(id);
        const std::string state = before ? client::decode_application_view(*before).state : std::string{};
        if (is_ended(state)) std::cerr << "zbs: " << id << " had already ended: " << state << "\n";
        const Result<Json> answer = zone->cancel(id);
        if (answer) {
            answers.push_back(client::decode_application_view(*answer));
        } else if (is_one) {
            return context.fail(of_application(answer.error(), id));
        } else {  // one document is printed, and that is the list of the others
            context.exit_code = exit_code_of(answer.error());
            std::cerr << "zbs: " << id << ": " << printable(http::text_with_place(answer.error())) << "\n";
        }
    }
    if (context.for_people()) return;
    if (!is_one) return print(context, applications_of(answers, context.caller(*zone)));
    for (const ApplicationView& answer : answers) print_document(context, answer.item);
}

void explain(Context& context, std::string id) {
    if (!check_selectors(context, {id}, SelectionMode::kNewest) || !settle_document_output(context)) return;
    const auto zone = context.connect();
    if (!zone || !select_one(context, *zone, id)) return;
    const Result<Json> answer = zone->explain(id);
    if (!answer) return context.fail(of_application(answer.error(), id));
    if (!context.for_people()) return print_document(context, *answer);
    // Only that answer has the time of the plan and the report of the queue.
    const Result<Json> shown_now = zone->show(id);
    if (!shown_now) return context.fail(shown_now.error());
    const ApplicationView why = client::decode_application_view(*answer);
    const ApplicationView view = client::decode_application_view(*shown_now);
    std::cout << why.state << (why.reason.empty() ? "" : ": " + printable(why.reason)) << "\n";
    if (why.reserved_start) std::cout << "reserved start: " << time_text(why.reserved_start) << "\n";
    for (const client::PartView& part : view.parts)
        if (part.queue)
            std::cout << "queue of zone " << printable(part.zone) << ": " << queue_text(*part.queue) << "\n";
    if (!why.plan.is_null()) {
        const auto plan = codec::decode_application_plan(why.plan);
        if (!plan) return context.fail(plan.error());
        describe_plan(std::cout, *plan, view.planned);
    }
    const auto events = codec::decode_events(*answer);
    if (!events) return context.fail(events.error());
    print(context, events_of(*events));
}

void logs(Context& context, std::string id, const std::string& rank, bool follow_it, bool label) {
    if (!check_selectors(context, {id}, SelectionMode::kNewest)) return;
    if (!check_own_output(context, "logs are the program's own output, byte by byte, and have no other format")) return;
    const bool is_number = std::ranges::all_of(rank, [](char c) { return c >= '0' && c <= '9'; });
    if (!is_number && rank != "launcher")
        return context.fail(invalid("'" + ascii(rank) + "' is neither a rank nor 'launcher'", "--rank"));
    const auto zone = context.connect();
    if (zone && follow_it) outlast_absence(*zone, {});
    std::optional<InterruptLine> line;
    if (follow_it) line.emplace(way_back({}));
    if (!zone || !select_one(context, *zone, id)) return;
    line.reset();
    if (follow_it) line.emplace(way_back({id}));
    LogFollower follower(*zone, id, rank, label);
    client::EventWaiter events(*zone, id);
    const client::Polling polling;
    for (;;) {
        const Result<bool> complete = follower.copy();
        if (!complete && follow_it) return fail_to_follow(context, complete.error(), id);
        if (!complete) return context.fail(complete.error());
        const bool is_over = follower.is_cut() || (follower.is_output_cut() && follow_it) || *complete || !follow_it;
        if (is_over) {  // main reports a failed write to standard output
            if (follower.write_fault() != 0 && !follower.is_output_cut()) context.exit_code = exit_code_of({});
            return;
        }
        // Before it runs there is no output; then there may be some at any time, and no event announces it.
        const std::string state = events.state();
        const bool runs = state.empty() || state == "running" || is_ended(state);
        events.wait(runs ? polling.next_pause() : kCheckWhileWaiting);
    }
}

void add_run_command(CLI::App& app, Context& context) {
    auto options = std::make_shared<SubmitOptions>();
    options->wait = true;
    CLI::App* run = app.add_subcommand(
        "run",
        "run an MPI program over the zones and follow it; exits with the program's own code\n\nIts output is the "
        "program's; -o and -e write it into files, as in batch systems. The format of a dry run is --output. "
        "Standard input is not forwarded: give the program a file.\n\nCtrl-C or SIGTERM cancels the application; "
        "another one, at "
        "least "
        "a second later, leaves it. If the terminal closes, the application goes on: 'zbs wait ID' and 'zbs logs "
        "-f ID' return to "
        "it. If the home zone is away, the command waits up to 30 minutes for it.\n\nExample: zbs run -n 6 -- "
        "./solver input.dat");
    add_submit_options(*run, *options);
    run->add_flag("-q,--quiet", options->quiet, "only the program's own output");
    run->callback([&context, run, options] { submit(context, *run, *options); });
}

void add_submit_command(CLI::App& app, Context& context) {
    auto options = std::make_shared<SubmitOptions>();
    CLI::App* command = app.add_subcommand(
        "submit",
        "hand in an MPI program and print its id\n\nA script can say its options itself, in "
        "lines \"#ZBS -n 8 --walltime 1h\" above its first command; those of the command line "
        "win.\n\nWith --wait, -o and -e write the output into files, as in batch systems. The format of what this "
        "command prints is --output.\n\nExample: zbs submit -n 6 -- ./solver input.dat");
    add_submit_options(*command, *options);
    command->add_flag("--wait", options->wait, "follow it as 'run' does");
    command->callback([&context, command, options] { submit(context, *command, *options); });
}

void add_list_command(CLI::App& app, Context& context) {
    auto choice = std::make_shared<ApplicationChoice>();
    CLI::App* command =
        app.add_subcommand("list",
                           "your applications, newest first by the zone's clock; operators see those of "
                           "all users\n\nStates and the time of "
                           "--since go to the zone (--state, --filter state=running). Of other filters, and of "
                           "--sort, it looks at the "
                           "newest 10,000 applications. A list that is cut says so on standard error (not where "
                           "--limit asked for it), "
                           "and in JSON with \"truncated\": true.\n\nExample: zbs list --filter "
                           "state=running --sort -ranks\nExample: zbs list --state running,launching");
    add_application_choice(*command, *choice);
    command_line::add_since_option(*command, choice->since);
    add_list_options(*command, context, applications_of({}, {}), state_filters());
    auto every = std::make_shared<std::string>();
    add_watch_option(*command, *every);
    command->callback([&context, choice, every] {
        draw_repeatedly(context, *every, [&] { return list(context, *choice, !every->empty()); });
    });
}

void add_show_command(CLI::App& app, Context& context) {
    auto id = std::make_shared<std::string>();
    auto format = std::make_shared<std::string>();
    auto matrix = std::make_shared<bool>(false);
    CLI::App* command =
        app.add_subcommand("show", "one application: state, plan, parts\n\nExample: zbs show ID --format rsl");
    add_selector(*command, *id);
    command->add_option("--format", *format, "print the assignment instead")
        ->check(command_line::one_of({"rsl", "json", "hostfile"}));
    command->add_flag("--matrix", *matrix, "draw who talks to whom, grouped by zone");
    auto every = std::make_shared<std::string>();
    add_watch_option(*command, *every);
    command->callback([&context, id, format, matrix, every] {
        draw_repeatedly(context, *every, [&] { return show(context, *id, *format, *matrix); });
    });
}

void add_wait_command(CLI::App& app, Context& context) {
    auto ids = std::make_shared<std::vector<std::string>>();
    auto timeout = std::make_shared<std::string>();
    CLI::App* command = app.add_subcommand(
        "wait",
        "wait for applications to end; exits with the program's own code, with several IDs with that of the first "
        "listed one that failed\n\nIf the home zone is away, the command waits up to 30 minutes for "
        "it. It changes nothing about the applications, however it ends.\n\nExample: zbs wait ID --timeout 10m");
    add_selectors(*command, *ids);
    command->add_option("--timeout", *timeout, "give up after this long (exit code 6)");
    command->callback([&context, ids, timeout] { wait_for(context, *ids, *timeout); });
}

void add_logs_command(CLI::App& app, Context& context) {
    auto id = std::make_shared<std::string>();
    auto rank = std::make_shared<std::string>();
    auto follow_it = std::make_shared<bool>(false);
    auto label = std::make_shared<bool>(false);
    CLI::App* command = app.add_subcommand("logs", "output of an application\n\nExample: zbs logs ID --rank 0 -f");
    add_selector(*command, *id);
    command->add_option("--rank", *rank, "only this rank, or 'launcher'");
    command->add_flag("-f,--follow", *follow_it, "go on until it ends");
    command->add_flag("-l,--label", *label, "put [rank] before each line");
    command->callback([&context, id, rank, follow_it, label] { logs(context, *id, *rank, *follow_it, *label); });
}

void add_cancel_command(CLI::App& app, Context& context) {
    auto options = std::make_shared<CancelOptions>();
    CLI::App* command = app.add_subcommand(
        "cancel",
        "stop applications everywhere\n\nWhere one word names several ('all', 'name=PATTERN') it asks first, at a "
        "terminal; elsewhere it wants --yes.\n\nExample: zbs cancel ID\nExample: zbs cancel 'name=lu-*' --yes");
    add_selectors(*command, options->words);
    command->add_flag("-y,--yes", options->yes, "several are meant: do not ask");
    command->add_flag("--no-input", options->no_input, "never ask: refuse");
    command->callback([&context, options] { cancel(context, *options); });
}

void add_explain_command(CLI::App& app, Context& context) {
    auto id = std::make_shared<std::string>();
    CLI::App* command = app.add_subcommand("explain",
                                           "why an application is where it is: its plan, and what every zone was "
                                           "asked and answered\n\nExample: zbs explain ID");
    add_selector(*command, *id);
    command->callback([&context, id] { explain(context, *id); });
}

}  // namespace

void add_application_commands(CLI::App& app, Context& context) {
    add_run_command(app, context);
    add_submit_command(app, context);
    add_list_command(app, context);
    add_show_command(app, context);
    add_wait_command(app, context);
    add_logs_command(app, context);
    add_cancel_command(app, context);
    add_explain_command(app, context);
}

}  // namespace zbs::cli
