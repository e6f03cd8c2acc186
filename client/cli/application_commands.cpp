#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <map>
#include <thread>

#include "client/api/delegate.hpp"
#include "client/cli/context.hpp"
#include "client/cli/submit_request.hpp"
#include "services/common/codec/message_codec.hpp"
#include "services/common/codec/model_codec.hpp"

namespace zbs::cli {
namespace {

using codec::Json;
namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kPoll{200};

std::atomic<int> interrupts{0};
void on_interrupt(int) { ++interrupts; }

std::string text_of(const Json& json, const char* key) {
    const auto at = json.find(key);
    return at != json.end() && at->is_string() ? at->get<std::string>() : std::string{};
}

std::string ranks_text(const std::vector<TaskIndex>& ranks) {
    std::string text;
    for (std::size_t i = 0; i < ranks.size();) {
        std::size_t j = i;
        while (j + 1 < ranks.size() && ranks[j + 1] == ranks[j] + 1) ++j;
        text += (text.empty() ? "" : ",") + std::to_string(ranks[i]);
        if (j > i) text += (j == i + 1 ? "," : "-") + std::to_string(ranks[j]);
        i = j + 1;
    }
    return text;
}

void describe_plan(std::ostream& out, const ApplicationPlan& plan) {
    if (plan.profile == "none") {
        out << "plan: no profile of this program and size is known; blocks of consecutive ranks\n";
    } else if (plan.profile == "request") {
        out << "plan: made from the model given with the request\n";
    } else {
        out << "plan: made from profile " << plan.profile << ", which an earlier run left\n";
    }
    for (std::size_t c = 0; c < plan.clusters.size(); ++c) {
        std::vector<TaskIndex> members = plan.clusters[c];
        std::sort(members.begin(), members.end());
        out << "  cluster {" << ranks_text(members) << "} -> zone " << printable(plan.zone_of_cluster[c]) << "\n";
    }
    for (const ZoneVerdict& zone : plan.zones) {
        if (zone.ranks == 0)
            out << "  zone " << printable(zone.zone) << " left out: " << printable(zone.reason) << "\n";
    }
    if (plan.crossing_bytes) {
        out << "  bytes between zones: " << human_bytes(*plan.crossing_bytes) << " with this plan, "
            << human_bytes(plan.crossing_bytes_block.value_or(0)) << " without a profile (blocks), "
            << human_bytes(plan.crossing_bytes_round_robin.value_or(0)) << " round robin\n";
    }
}

/// Rank matrix of the profile, rows and columns grouped by the zones of the plan.
void draw_plan_matrix(std::ostream& out, const ApplicationPlan& plan, const TaskGraph& graph) {
    if (plan.zone_of_rank.size() != static_cast<std::size_t>(graph.task_count())) return;
    std::vector<TaskIndex> order(plan.zone_of_rank.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<TaskIndex>(i);
    const auto zone = [&](TaskIndex rank) -> const std::string& {
        return plan.zone_of_rank[static_cast<std::size_t>(rank)];
    };
    std::stable_sort(order.begin(), order.end(), [&](TaskIndex a, TaskIndex b) { return zone(a) < zone(b); });
    std::vector<std::size_t> blocks;
    std::vector<std::string> labels;
    for (std::size_t i = 0; i < order.size(); ++i) {
        labels.push_back("zone " + zone(order[i]));
        if (i > 0 && zone(order[i]) == zone(order[i - 1])) labels.back().clear();
        if (i + 1 == order.size() || zone(order[i]) != zone(order[i + 1])) blocks.push_back(i + 1);
    }
    out << draw_matrix(graph, order, blocks, labels);
}

bool is_ended(const std::string& state) {
    return state == "completed" || state == "failed" || state == "cancelled" || state == "rejected";
}

int code_of_end(const Json& view) {
    const std::string state = text_of(view, "state");
    if (state == "rejected") return kRejected;
    const auto code = view.find("exit_code");
    const int value = code != view.end() && code->is_number_integer() ? code->get<int>() : 0;
    return state == "completed" ? 0 : value != 0 ? value : kFailed;
}

/// Copies new output of all ranks to our own streams. True once everything has been copied and nothing will follow.
class LogFollower {
  public:
    LogFollower(client::ZoneClient& zone, std::string id, std::string only_rank = {}, bool label = false)
        : zone_(zone), id_(std::move(id)), only_rank_(std::move(only_rank)), label_(label) {}

    /// Ends the last line of each stream that its program did not end.
    ~LogFollower() {
        for (const auto& [key, rest] : partial_) {
            if (!rest.empty())
                emit_line(key.substr(0, key.find('/')), rest, key.ends_with("/stderr") ? stderr : stdout);
        }
    }
    LogFollower(const LogFollower&) = delete;
    LogFollower& operator=(const LogFollower&) = delete;

    Result<bool> copy() {
        const Result<Json> index = zone_.get("/v1/applications/" + id_ + "/logs");
        if (!index) return index.error();
        for (const Json& file : index->value("files", Json::array())) {
            const std::string rank = text_of(file, "rank");
            const std::string stream = text_of(file, "stream");
            if (!only_rank_.empty() && rank != only_rank_) continue;
            std::uint64_t& at = offsets_[rank + "/" + stream];
            while (at < file.value("bytes", std::uint64_t{0})) {
                const Result<client::ZoneClient::LogChunk> chunk = zone_.log(id_, rank, stream, at);
                if (!chunk) return chunk.error();
                if (chunk->bytes.empty()) break;
                emit(rank, stream, chunk->bytes);
                at = chunk->next_offset;
            }
        }
        std::fflush(stdout);
        return index->value("complete", false);
    }

  private:
    void emit(const std::string& rank, const std::string& stream, const std::string& bytes) {
        std::FILE* out = stream == "stderr" ? stderr : stdout;
        if (!label_) {
            std::fwrite(bytes.data(), 1, bytes.size(), out);
            return;
        }
        std::string& rest = partial_[rank + "/" + stream];
        std::size_t begin = 0, from = rest.size();  // what was there before holds no line end
        rest += bytes;
        for (std::size_t end; (end = rest.find('\n', from)) != std::string::npos; begin = from = end + 1) {
            emit_line(rank, std::string_view(rest).substr(begin, end - begin), out);
        }
        rest.erase(0, begin);
    }
    static void emit_line(const std::string& rank, std::string_view line, std::FILE* out) {
        std::fprintf(out, "[%s] ", rank.c_str());
        std::fwrite(line.data(), 1, line.size(), out);
        std::fputc('\n', out);
    }
    client::ZoneClient& zone_;
    std::string id_, only_rank_;
    bool label_;
    std::map<std::string, std::uint64_t> offsets_;
    std::map<std::string, std::string> partial_;
};

/// Whether somebody wrote to our standard input, a pipe or a file.
bool has_input() {
    int bytes = 0;
    return isatty(0) == 0 && ioctl(0, FIONREAD, &bytes) == 0 && bytes > 0;
}

/// Keeps an application's delegation alive for as long as this command waits with it.
class DelegationKeeper {
  public:
    DelegationKeeper(client::ZoneClient& zone, std::string id, Duration walltime)
        : zone_(zone), id_(std::move(id)), lifetime_(client::delegation_lifetime(walltime)) {}
    Result<void> sign() {
        signed_at_ = std::chrono::steady_clock::now();
        return client::delegate(zone_, id_, id_, lifetime_);
    }
    /// Signs again once half of the time has passed, while the application still waits for zones.
    void look(const std::string& state) {
        if (state != "accepted" && state != "planned") return;
        if (std::chrono::steady_clock::now() - signed_at_ < lifetime_ / 2) return;
        if (auto renewed = sign(); !renewed)
            std::cerr << "zbs: the delegation could not be renewed: " << printable(renewed.error().message) << "\n";
    }

  private:
    client::ZoneClient& zone_;
    std::string id_;
    Duration lifetime_;
    std::chrono::steady_clock::time_point signed_at_{};
};

/// Follows an application to its end, copying its output; the first interrupt cancels it, the second leaves it.
void follow(Context& context, client::ZoneClient& zone, const std::string& id, bool quiet, bool label,
            DelegationKeeper* delegation = nullptr) {
    struct sigaction action {};
    action.sa_handler = on_interrupt;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    LogFollower logs(zone, id, {}, label);
    std::string said, state;
    bool plan_shown = quiet;
    bool cancelled = false, input_told = quiet;
    for (;;) {
        if (interrupts > 0 && !cancelled) {
            cancelled = true;
            std::cerr << "zbs: cancelling " << id << " (once more to leave without waiting)\n";
            if (auto answer = zone.cancel(id); !answer) return context.fail(answer.error());
        }
        if (interrupts > 1) {
            std::cerr << "zbs: left " << id << ", which is being cancelled; 'zbs wait " << id
                      << "' takes it up again\n";
            context.exit_code = kFailed;
            return;
        }
        if (!input_told && has_input()) {
            input_told = true;
            std::cerr << "zbs: standard input is not forwarded to the program\n";
        }
        const Result<Json> view = zone.show(id);
        if (!view) return context.fail(view.error());
        state = text_of(*view, "state");
        if (delegation != nullptr) delegation->look(state);
        const std::string reason = text_of(*view, "reason");
        if (!plan_shown && view->contains("plan") && (state == "running" || is_ended(state))) {
            if (const auto plan = codec::decode_application_plan(view->at("plan"))) describe_plan(std::cerr, *plan);
            plan_shown = true;
        }
        if (!quiet && !reason.empty() && !is_ended(state) && state + reason != said) {
            said = state + reason;
            std::cerr << "zbs: " << printable(reason) << "\n";
        }
        const Result<bool> complete = logs.copy();
        if (!complete) return context.fail(complete.error());
        if (is_ended(state) && *complete) {
            context.exit_code = code_of_end(*view);
            if (state != "completed") std::cerr << "zbs: " << id << " " << state << ": " << printable(reason) << "\n";
            return;
        }
        std::this_thread::sleep_for(kPoll);
    }
}

void submit(Context& context, const SubmitOptions& options) {
    const auto zone = context.connect();
    if (!zone) return;
    const Result<ApplicationRequest> request = make_request(options);
    if (!request) return context.fail(request.error());
    if (options.dry_run) {
        const Result<ApplicationPlan> plan = zone->dry_run(*request);
        if (!plan) return context.fail(plan.error());
        if (context.output == "table")
            describe_plan(std::cout, *plan);
        else
            std::cout << codec::dump(codec::encode(*plan)) << "\n";
        return;
    }
    const std::string id = to_string(request->id);
    const PendingFile pending;
    pending.add(id, zone->url(), request->argv[0]);
    DelegationKeeper delegation(*zone, id, request->walltime);
    if (auto handed = delegation.sign(); !handed) {
        pending.remove(id);  // nothing was submitted
        return context.fail(handed.error());
    }
    const Result<Json> accepted = zone->submit(*request);
    if (!accepted) {
        context.fail(accepted.error());
        const bool unknown =
            accepted.error().code == ErrorCode::kUnavailable || accepted.error().code == ErrorCode::kTimeout;
        if (unknown)
            std::cerr << "zbs: whether it was accepted is not known; the same command with --id " << id
                      << " cannot run it twice\n";
        else
            pending.remove(id);
        return;
    }
    pending.remove(id);
    if (!options.wait) {
        if (context.output == "table")
            std::cout << id << "\n";
        else
            std::cout << codec::dump(*accepted) << "\n";
        return;
    }
    if (!options.quiet) std::cerr << "zbs: application " << id << "\n";
    follow(context, *zone, id, options.quiet, false, &delegation);
}

std::string time_text(const Json& json, const char* key) {
    const auto at = json.find(key);
    if (at == json.end() || !at->is_number_integer()) return "-";
    const std::time_t seconds = static_cast<std::time_t>(at->get<std::int64_t>() / 1'000'000);
    std::tm parts{};
    localtime_r(&seconds, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
    return text;
}

void list(Context& context, int limit) {
    const auto zone = context.connect();
    if (!zone) return;
    const Result<Json> answer = zone->list(limit);
    if (!answer) return context.fail(answer.error());
    Listing listing{{"ID", "STATE", "RANKS", "EXIT", "ZONES", "SUBMITTED", "PROGRAM", "REASON"},
                    {},
                    answer->value("applications", Json::array())};
    for (const Json& item : listing.items) {
        std::string zones;
        for (const Json& name : item.value("zones", Json::array()))
            zones += (zones.empty() ? "" : ",") + name.get<std::string>();
        listing.rows.push_back({text_of(item, "id"), text_of(item, "state"), std::to_string(item.value("ranks", 0)),
                                item.contains("exit_code") ? std::to_string(item.value("exit_code", 0)) : "-",
                                zones.empty() ? "-" : zones, time_text(item, "submitted_us"),
                                fs::path(text_of(item, "program")).filename().string(), text_of(item, "reason")});
    }
    print(context, listing);
}

/// Whether every id can be one; else says which is not. An id becomes part of an address.
bool check_ids(Context& context, const std::vector<std::string>& ids) {
    for (const std::string& id : ids) {
        if (parse_id128(id)) continue;
        context.fail(invalid("'" + ascii(id) + "' is no id (26 characters; 'zbs list' shows them)"));
        return false;
    }
    return true;
}

void show(Context& context, const std::string& id, const std::string& format, bool matrix) {
    if (!check_ids(context, {id})) return;
    const auto zone = context.connect();
    if (!zone) return;
    if (!format.empty()) {
        const Result<std::string> text = zone->assignment(id, format);
        if (!text) return context.fail(text.error());
        std::cout << *text << (text->ends_with('\n') ? "" : "\n");
        return;
    }
    const Result<Json> view = zone->show(id);
    if (!view) return context.fail(view.error());
    if (context.output != "table") {
        std::cout << codec::dump(*view) << "\n";
        return;
    }
    std::cout << "id         " << text_of(*view, "id") << "\nstate      " << text_of(*view, "state");
    if (view->contains("exit_code")) std::cout << " (exit code " << view->value("exit_code", 0) << ")";
    std::cout << "\n";
    if (const std::string reason = text_of(*view, "reason"); !reason.empty())
        std::cout << "reason     " << printable(reason) << "\n";
    std::cout << "program    ";
    for (const Json& word : view->value("argv", Json::array())) std::cout << printable(word.get<std::string>()) << " ";
    std::cout << "\ndirectory  " << printable(text_of(*view, "directory")) << "\nranks      " << view->value("ranks", 0)
              << "\nsubmitted  " << time_text(*view, "submitted_us") << "\n";
    for (const Json& part : view->value("parts", Json::array())) {
        std::cout << "part       zone " << printable(text_of(part, "zone")) << " " << text_of(part, "state")
                  << ", ranks " << ranks_text(part.value("ranks", std::vector<TaskIndex>{}))
                  << (text_of(part, "reason").empty() ? "" : ": " + printable(text_of(part, "reason"))) << "\n";
    }
    if (!view->contains("plan")) return;
    const auto plan = codec::decode_application_plan(view->at("plan"));
    if (!plan) return context.fail(plan.error());
    describe_plan(std::cout, *plan);
    if (!matrix) return;
    // The newest knowledge of who talks to whom: what this run left, else what its plan was made from.
    const std::string profile = view->contains("profile") ? text_of(*view, "profile") : plan->profile;
    const Result<ApplicationModel> model = zone->profile(profile);
    if (!model) return context.fail({model.error().code, "no profile to draw: " + model.error().message, {}});
    if (!plan->crossing_bytes) {
        double crossing = 0;
        for (const TaskEdge& edge : model->graph.edges()) {
            if (plan->zone_of_rank.at(static_cast<std::size_t>(edge.u)) !=
                plan->zone_of_rank.at(static_cast<std::size_t>(edge.v)))
                crossing += edge.bytes;
        }
        std::cout << "  bytes between zones: " << human_bytes(crossing)
                  << ", as the profile that this run left tells\n";
    }
    std::cout << "bytes between ranks, by zone:\n";
    draw_plan_matrix(std::cout, *plan, model->graph);
}

void wait_for(Context& context, const std::vector<std::string>& ids, const std::string& timeout) {
    if (!check_ids(context, ids)) return;
    const auto zone = context.connect();
    if (!zone) return;
    std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max();
    if (!timeout.empty()) {
        const Result<Duration> limit = parse_duration(timeout);
        if (!limit) return context.fail({ErrorCode::kInvalidArgument, limit.error().message, "--timeout"});
        until = std::chrono::steady_clock::now() + *limit;
    }
    for (const std::string& id : ids) {
        for (;;) {
            const Result<Json> view = zone->show(id);
            if (!view) return context.fail(view.error());
            if (is_ended(text_of(*view, "state"))) {
                if (const int code = code_of_end(*view); code != 0) {
                    context.exit_code = code;
                    std::cerr << "zbs: " << id << " " << text_of(*view, "state") << ": "
                              << printable(text_of(*view, "reason")) << "\n";
                }
                break;
            }
            if (std::chrono::steady_clock::now() > until)
                return context.fail({ErrorCode::kTimeout, id + " is still " + text_of(*view, "state"), {}});
            std::this_thread::sleep_for(kPoll);
        }
    }
}

void logs(Context& context, const std::string& id, const std::string& rank, bool follow_it, bool label) {
    if (!check_ids(context, {id})) return;
    const auto zone = context.connect();
    if (!zone) return;
    LogFollower follower(*zone, id, rank, label);
    for (;;) {
        const Result<bool> complete = follower.copy();
        if (!complete) return context.fail(complete.error());
        if (*complete || !follow_it) return;
        std::this_thread::sleep_for(kPoll);
    }
}

void add_submit_options(CLI::App& command, const std::shared_ptr<SubmitOptions>& options) {
    command.add_option("-n,--ntasks", options->ranks, "MPI ranks")
        ->check(CLI::Range(1, 1'000'000))
        ->capture_default_str();
    command.add_option("-D,--chdir", options->directory, "working directory of every rank (default: this one)");
    command.add_option("-t,--walltime,--time", options->walltime, "longest run: 90s, 15m, 1h30m, HH:MM:SS")
        ->capture_default_str();
    command.add_option("--profile", options->model, "model file to plan with, instead of the stored profile");
    command.add_option("--mapper", options->mapper, "level-1 heuristic")
        ->check(CLI::IsMember({"hier", "block", "round_robin", "random"}))
        ->capture_default_str();
    command.add_option("--zones", options->zones, "only these zones")->delimiter(',')->allow_extra_args(false);
    command
        .add_option("--env", options->exports,
                    "NAME=VALUE for every rank, besides the environment of this command; may be repeated")
        ->take_all()
        ->allow_extra_args(false);
    command.add_option("--seed", options->seed, "seed of the mapping")->capture_default_str();
    command.add_option("--id", options->id, "request id of an earlier try whose answer was lost");
    command.add_flag("--no-record", options->no_profile, "do not profile this run");
    command.add_option("--trace", options->trace,
                       "also trace the run into PREFIX.RANK, for zbs replay; at most 256 MiB a rank");
    command.add_flag("--ignore-profile", options->ignore_profile, "plan as if no profile were known");
    command.add_flag("--dry-run", options->dry_run, "show the plan, change nothing");
    command.add_option("program", options->argv, "program and its arguments, after --")->required();
}

}  // namespace

void add_application_commands(CLI::App& app, Context& context) {
    {
        auto options = std::make_shared<SubmitOptions>();
        options->wait = true;
        CLI::App* run = app.add_subcommand(
            "run",
            "run an MPI program over the zones and follow it; exits with the program's own code\n\nStandard input is "
            "not forwarded: give the program a file.\n\nExample: zbs run -n 6 -- ./solver input.dat");
        add_submit_options(*run, options);
        run->add_flag("-q,--quiet", options->quiet, "only the program's own output");
        run->callback([&context, options] { submit(context, *options); });
    }
    {
        auto options = std::make_shared<SubmitOptions>();
        CLI::App* command = app.add_subcommand(
            "submit", "hand in an MPI program and print its id\n\nExample: zbs submit -n 6 -- ./solver input.dat");
        add_submit_options(*command, options);
        command->add_flag("--wait", options->wait, "follow it as 'run' does");
        command->callback([&context, options] { submit(context, *options); });
    }
    {
        auto limit = std::make_shared<int>(100);
        CLI::App* command = app.add_subcommand("list", "your applications, newest first\n\nExample: zbs list -o json");
        command->add_option("--limit", *limit, "at most this many")->check(CLI::Range(1, 1'000))->capture_default_str();
        command->callback([&context, limit] { list(context, *limit); });
    }
    auto id = std::make_shared<std::string>();
    {
        auto format = std::make_shared<std::string>();
        auto matrix = std::make_shared<bool>(false);
        CLI::App* command =
            app.add_subcommand("show", "one application: state, plan, parts\n\nExample: zbs show ID --format rsl");
        command->add_option("id", *id, "application")->required();
        command->add_option("--format", *format, "print the assignment instead")
            ->check(CLI::IsMember({"rsl", "json", "hostfile"}));
        command->add_flag("--matrix", *matrix, "draw who talks to whom, grouped by zone");
        command->callback([&context, id, format, matrix] { show(context, *id, *format, *matrix); });
    }
    {
        auto ids = std::make_shared<std::vector<std::string>>();
        auto timeout = std::make_shared<std::string>();
        CLI::App* command = app.add_subcommand(
            "wait",
            "wait for applications to end; exits with the program's own code\n\nExample: zbs wait ID --timeout 10m");
        command->add_option("id", *ids, "applications")->required();
        command->add_option("--timeout", *timeout, "give up after this long (exit code 6)");
        command->callback([&context, ids, timeout] { wait_for(context, *ids, *timeout); });
    }
    {
        auto rank = std::make_shared<std::string>();
        auto follow_it = std::make_shared<bool>(false);
        auto label = std::make_shared<bool>(false);
        CLI::App* command = app.add_subcommand("logs", "output of an application\n\nExample: zbs logs ID --rank 0 -f");
        command->add_option("id", *id, "application")->required();
        command->add_option("--rank", *rank, "only this rank, or 'launcher'");
        command->add_flag("-f,--follow", *follow_it, "go on until it ends");
        command->add_flag("-l,--label", *label, "put [rank] before each line");
        command->callback([&context, id, rank, follow_it, label] { logs(context, *id, *rank, *follow_it, *label); });
    }
    {
        CLI::App* command = app.add_subcommand("cancel", "stop an application everywhere\n\nExample: zbs cancel ID");
        command->add_option("id", *id, "application")->required();
        command->callback([&context, id] {
            if (!check_ids(context, {*id})) return;
            const auto zone = context.connect();
            if (!zone) return;
            const Result<Json> answer = zone->cancel(*id);
            if (!answer) return context.fail(answer.error());
            if (context.output != "table") std::cout << codec::dump(*answer) << "\n";
        });
    }
    {
        CLI::App* command =
            app.add_subcommand("explain", "why an application is where it is\n\nExample: zbs explain ID");
        command->add_option("id", *id, "application")->required();
        command->callback([&context, id] {
            if (!check_ids(context, {*id})) return;
            const auto zone = context.connect();
            if (!zone) return;
            const Result<Json> answer = zone->explain(*id);
            if (!answer) return context.fail(answer.error());
            if (context.output != "table") {
                std::cout << codec::dump(*answer) << "\n";
                return;
            }
            std::cout << text_of(*answer, "state")
                      << (text_of(*answer, "reason").empty() ? "" : ": " + printable(text_of(*answer, "reason")))
                      << "\n";
            if (!answer->contains("plan")) return;
            const auto plan = codec::decode_application_plan(answer->at("plan"));
            if (!plan) return context.fail(plan.error());
            describe_plan(std::cout, *plan);
        });
    }
}

}  // namespace zbs::cli
