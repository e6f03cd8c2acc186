// zbs-studies: what the papers behind the algorithms claim, beside what ours do. See studies/README.md.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numeric>

#include "algorithms/base/suggestion.hpp"
#include "services/common/adapters/command_line/exit_codes.hpp"
#include "services/common/adapters/command_line/output.hpp"
#include "services/common/adapters/command_line/refusal.hpp"
#include "services/common/adapters/command_line/terminal.hpp"
#include "services/common/adapters/command_line/values.hpp"
#include "services/common/adapters/system/thread_runner.hpp"
#include "services/common/codec/json/document_text.hpp"
#include "studies/claims/claim.hpp"
#include "studies/claims/report.hpp"
#include "studies/experiments/measured_studies.hpp"
#include "studies/experiments/prabhakar_experiments.hpp"

namespace zbs::claims {
namespace {

using listing::Listing;
using Clock = std::chrono::steady_clock;

/// Keys in the order of the text.
using OrderedJson = nlohmann::ordered_json;

struct ClaimsCommand {
    std::vector<std::string> sources;  ///< empty: all
    std::vector<std::string> studies;  ///< empty: all of the sources
    int seeds = 10;
    double length = 1;
    int threads = 0;  ///< 0: one per processor
    bool quick = false, details = false, list = false;
    bool page = false;  ///< --html is given
    std::string html = "zbs-claims.html";
    std::string directory, root = ".";
};

std::vector<Study> all_studies() {
    const std::span<const Study> first = experiments::studies(), others = studies();
    std::vector<Study> all(first.begin(), first.end());
    all.insert(all.end(), others.begin(), others.end());
    all.push_back({"Turner1995", "time of an allocation", turner_allocation_time, 2, true});
    return all;
}

/// Studies that are wanted, in the order of the list.
Result<std::vector<Study>> studies_of(const ClaimsCommand& command) {
    const std::vector<Study> all = all_studies();
    std::vector<std::string_view> known;
    for (const Study& study : all)
        if (std::ranges::find(known, study.source) == known.end()) known.push_back(study.source);
    for (const std::string& source : command.sources)
        if (std::ranges::find(known, source) == known.end())
            return invalid("there are no claims of '" + source + "'" + did_you_mean(source, known), "--source");
    std::vector<std::string_view> names;
    for (const Study& study : all) names.push_back(study.name);
    for (const std::string& name : command.studies)
        if (std::ranges::find(names, name) == names.end())
            return invalid("there is no study '" + name + "'" + did_you_mean(name, names), "--study");
    const auto wanted = [](const std::vector<std::string>& words, std::string_view word) {
        return words.empty() || std::ranges::find(words, word) != words.end();
    };
    std::vector<Study> found;
    for (const Study& study : all)
        if (wanted(command.sources, study.source) && wanted(command.studies, study.name)) found.push_back(study);
    return found;
}

/// Prints on standard error which study begins and which has ended.
class Progress {
  public:
    explicit Progress(std::size_t studies) : studies_(studies) {}
    void begun(const Study& study) {
        const std::scoped_lock lock(mutex_);
        std::cerr << "running " << study.source << ": " << study.name << "\n";
    }
    void done(const Study& study, double seconds) {
        const std::scoped_lock lock(mutex_);
        char text[32];
        std::snprintf(text, sizeof text, "%.1f s", seconds);
        std::cerr << "[" << ++done_ << "/" << studies_ << "] " << study.source << ": " << study.name << ", " << text
                  << "\n";
    }

  private:
    std::mutex mutex_;
    std::size_t studies_, done_ = 0;
};

/// Side by side, the dearest first, so that no thread is left with it in the end; then those that take times, alone.
std::vector<Part> run_all(const std::vector<Study>& studies, const Effort& effort, int threads) {
    std::vector<std::size_t> order(studies.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::greater<>{}, [&](std::size_t i) { return studies[i].cost; });
    const auto measuring = std::ranges::stable_partition(order, [&](std::size_t i) { return !studies[i].measures; });
    std::vector<Part> parts(studies.size());
    Progress progress(studies.size());
    const auto run = [&](std::size_t i) {
        progress.begun(studies[i]);
        const auto begin = Clock::now();
        parts[i] = studies[i].run(effort);
        progress.done(studies[i], std::chrono::duration<double>(Clock::now() - begin).count());
    };
    system::ThreadRunner runner(threads);
    runner.run(static_cast<int>(measuring.begin() - order.begin()),
               [&](int place) { run(order[static_cast<std::size_t>(place)]); });
    std::ranges::for_each(measuring, run);
    return parts;
}

OrderedJson json_of(const std::vector<SourceReport>& reports, const ClaimsCommand& command) {
    OrderedJson all = OrderedJson::array();
    for (const SourceReport& report : reports)
        for (const Claim& claim : report.claims) {
            all.push_back({{"id", claim.id},
                           {"source", claim.source},
                           {"claim", claim.claim},
                           {"published", claim.published},
                           {"ours", claim.ours},
                           {"spread", claim.spread},
                           {"verdict", to_string(claim.verdict)},
                           {"test", kRowTest}});
            OrderedJson& entry = all.back();
            if (claim.reason_test)
                entry["reason_test"] = {{"name", claim.reason_test->name},
                                        {"figures", claim.reason_test->figures},
                                        {"passes", claim.reason_test->passes}};
            if (command.quick) entry["quick"] = true;
            if (!command.details) continue;
            entry["remark"] = claim.remark;
            if (!claim.see.empty()) entry["see"] = claim.see;
        }
    OrderedJson document = {{"version", codec::kDocumentVersion}};
    if (command.quick) document["quick"] = true;
    document["claims"] = std::move(all);
    return document;
}

Result<void> write_file(const std::string& path, const std::string& text) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << text;
    file.close();
    if (!file) return Error{ErrorCode::kInternal, "cannot write " + path, {}};
    return {};
}

Result<void> write_directory(const std::string& directory, const std::vector<SourceReport>& reports,
                             const Effort& effort) {
    for (const SourceReport& report : reports) {
        const std::string folder = directory + "/" + std::string(report.source);
        std::error_code fault;
        std::filesystem::create_directories(folder, fault);
        if (fault) return invalid("cannot make the folder " + folder + ": " + fault.message(), "--directory");
        if (Result<void> done = write_file(folder + "/claims.md", claims_page(report, effort)); !done) return done;
        for (const File& file : report.files)
            if (Result<void> done = write_file(folder + "/" + file.name, file.text); !done) return done;
    }
    return {};
}

/// So that nobody waits minutes for a report that cannot be written.
Result<void> check_places(const ClaimsCommand& command, bool page) {
    std::error_code fault;
    if (!command.directory.empty()) {
        std::filesystem::create_directories(command.directory, fault);
        if (fault || access(command.directory.c_str(), W_OK) != 0)
            return invalid("cannot write to the folder " + command.directory, "--directory");
    }
    if (!page) return {};
    const std::filesystem::path folder = std::filesystem::absolute(command.html, fault).parent_path();
    if (std::filesystem::is_directory(command.html, fault) || access(folder.c_str(), W_OK) != 0)
        return invalid("cannot write " + command.html + ": name a file in a folder that can be written", "--html");
    return {};
}

/// The root as the page's links have it: paths relative to the folder of the page.
std::string root_of_links(const ClaimsCommand& command) {
    if (command.root.find("://") != std::string::npos) return command.root;
    std::error_code fault;
    const std::filesystem::path folder = std::filesystem::absolute(command.html, fault).parent_path();
    const std::filesystem::path root = std::filesystem::relative(command.root, folder, fault);
    return fault || root.empty() ? command.root : root.string();
}

Result<void> list_studies(const command_line::Output& output, const std::vector<Study>& studies) {
    Listing listing{"studies", {"SOURCE", "STUDY"}, {}, codec::Json::array()};
    for (const Study& study : studies) {
        listing.rows.push_back({std::string(study.source), std::string(study.name)});
        listing.items.push_back(
            {{"source", study.source}, {"study", study.name}, {"cost", study.cost}, {"measures", study.measures}});
    }
    return output.print(listing);
}

Result<void> print_claims(const command_line::Output& output, const ClaimsCommand& command,
                          const std::vector<SourceReport>& reports) {
    if (output.for_json()) {
        const OrderedJson all = json_of(reports, command);
        const auto text = [](const OrderedJson& json) {
            return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
        };
        if (output.format() == "json") std::cout << text(all);
        if (output.format() == "jsonl")
            for (const OrderedJson& claim : all.at("claims")) std::cout << text(claim);
        return {};
    }
    Listing listing{"claims", {"ID", "VERDICT", "PUBLISHED", "OURS", "SPREAD", "CLAIM"}, {}, codec::Json::array()};
    for (const SourceReport& report : reports)
        for (const Claim& claim : report.claims)
            listing.rows.push_back({claim.id, std::string(to_string(claim.verdict)), claim.published, claim.ours,
                                    claim.spread, claim.claim});
    return output.print(listing);
}

/// The exit code: 1 if a claim fails and the run was not shortened.
Result<int> report_claims(const command_line::Output& output, const ClaimsCommand& command) {
    if (Result<void> good = output.check(); !good) return good.error();
    const Result<std::vector<Study>> studies = studies_of(command);
    if (!studies) return studies.error();
    if (command.list) {
        if (Result<void> done = list_studies(output, *studies); !done) return done.error();
        return 0;
    }
    const bool page = command.page || output.for_people();
    if (Result<void> good = check_places(command, page); !good) return good.error();
    const Effort effort = command.quick ? Effort::quick() : Effort{.seeds = command.seeds, .length = command.length};
    std::vector<SourceReport> reports = by_source(*studies, run_all(*studies, effort, command.threads));
    if (effort.is_quick) withhold_verdicts(reports);
    for (SourceReport& report : reports) {
        std::ifstream table(command.root + "/tests/golden/claims/horizons/" + std::string(report.source) + ".csv");
        add_long_runs(report, std::string(std::istreambuf_iterator<char>(table), {}));
    }
    if (!command.directory.empty())
        if (Result<void> done = write_directory(command.directory, reports, effort); !done) return done.error();
    if (page)
        if (Result<void> done = write_file(command.html, claims_html(reports, effort, root_of_links(command))); !done)
            return done.error();
    if (Result<void> done = print_claims(output, command, reports); !done) return done.error();
    if (page) std::cerr << "the page is in " << listing::harmless_line(command.html) << "\n";
    std::ptrdiff_t failed = 0;
    for (const SourceReport& report : reports)
        failed += std::ranges::count(report.claims, Verdict::kFails, &Claim::verdict);
    if (failed == 0 || command.quick) return 0;
    std::cerr << "zbs-studies: " << failed << " claims fail\n";
    return 1;
}

void add_options(CLI::App& command, ClaimsCommand& options) {
    command_line::Offers sources{.words = {}, .is_list = true};
    for (const Study& study : all_studies())
        if (std::ranges::find(sources.words, study.source) == sources.words.end())
            sources.words.emplace_back(study.source);
    command_line::offer(
        command
            .add_option("--source", options.sources, "claims of this source only; may be repeated; --list names them")
            ->delimiter(','),
        sources);
    command.add_option("--study", options.studies, "this study only; may be repeated; --list names them");
    command
        .add_option("--html", options.html, "the page; with -o json, jsonl or csv it is written only if this is given")
        ->capture_default_str();
    command.add_option("--directory", options.directory,
                       "also write the tables and plots, and a page for each source, below this folder");
    command
        .add_option("--root", options.root,
                    "path or address of the source tree, for links to tests; from a path also the table of long runs")
        ->capture_default_str();
    CLI::Option* seeds = command.add_option("--seeds", options.seeds, "number of seeds")
                             ->check(command_line::whole_number_in(2, 1000))
                             ->capture_default_str();
    CLI::Option* length = command.add_option("--length", options.length, "times the usual lengths (jobs, horizons)")
                              ->check(command_line::number_in(0.001, 100.0))
                              ->capture_default_str();
    command
        .add_flag("--quick", options.quick,
                  "2 seeds and a twentieth of the lengths: shows that all studies run, and judges nothing")
        ->excludes(seeds)
        ->excludes(length);
    command.add_option("--threads", options.threads, "studies at a time (default: as many as there are cores)")
        ->check(command_line::whole_number_in(1, 1024));
    command.add_flag("--details", options.details, "JSON: also the remark, and a test of the same rule elsewhere");
    command.add_flag("--list", options.list, "show the sources and their studies");
}

int run(int argc, char** argv) {
    CLI::App app{
        "zbs-studies runs what the papers behind the algorithms claim.\n\nExample: zbs-studies claims --quick"};
    app.require_subcommand(1);
    ClaimsCommand options;
    command_line::Output output(command_line::Output::Kind::kList);
    CLI::App* command = app.add_subcommand(
        "claims",
        "each claim with the published value, ours, the spread, a verdict and the test\n\n"
        "Every value is found by running; the whole report takes minutes. Exit code 1 if a claim fails (not with "
        "--quick).\n\n"
        "Example: zbs-studies claims --html claims.html\n"
        "Example: zbs-studies claims --source Turner1995 --json");
    add_options(*command, options);
    output.add_to(*command, {"claims", {"ID", "VERDICT", "PUBLISHED", "OURS", "SPREAD", "CLAIM"}, {}, {}});
    if (const auto ended = command_line::parse(app, "zbs-studies", argc, argv)) return *ended;
    options.page = command->count("--html") > 0;
    const Result<int> code = report_claims(output, options);
    if (code) return *code;
    std::cerr << "zbs-studies: " << (code.error().pointer.empty() ? "" : code.error().pointer + ": ")
              << code.error().message << "\n";
    return command_line::exit_code_of(code.error());
}

}  // namespace
}  // namespace zbs::claims

int main(int argc, char** argv) {
    std::signal(SIGPIPE, SIG_IGN);
    return zbs::command_line::run_program("zbs-studies", zbs::claims::run, argc, argv);
}
