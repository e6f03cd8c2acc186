#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numeric>

#include "algorithms/base/suggestion.hpp"
#include "algorithms/claims/claim.hpp"
#include "algorithms/claims/report.hpp"
#include "client/claims/measured_studies.hpp"
#include "client/claims/prabhakar_experiments.hpp"
#include "client/cli/context.hpp"
#include "client/cli/input.hpp"
#include "client/cli/output_file.hpp"
#include "services/common/adapters/command_line/offers.hpp"
#include "services/common/adapters/command_line/values.hpp"
#include "services/common/adapters/system/thread_runner.hpp"
#include "services/common/codec/document_text.hpp"

namespace zbs::cli {
namespace {

using claims::Claim;
using claims::Effort;
using claims::Part;
using claims::SourceReport;
using claims::Study;
using Clock = std::chrono::steady_clock;

/// Keys in the order in which they are told.
using OrderedJson = nlohmann::ordered_json;

struct ClaimsCommand {
    std::vector<std::string> sources;  ///< empty: all
    int seeds = 10;
    double length = 1;
    int threads = 0;  ///< 0: one per processor
    bool quick = false, details = false, list = false;
    bool page = false;  ///< --html is given
    std::string html = "zbs-claims.html";
    std::string directory, root = ".";
};

std::vector<Study> all_studies() {
    const std::span<const Study> first = experiments::studies(), others = claims::studies();
    std::vector<Study> all(first.begin(), first.end());
    all.insert(all.end(), others.begin(), others.end());
    all.push_back({"Turner1995", "time of an allocation", claims::turner_allocation_time, 2, true});
    return all;
}

/// Studies of the sources that are wanted, in the order of the list.
Result<std::vector<Study>> studies_of(const ClaimsCommand& command) {
    const std::vector<Study> all = all_studies();
    std::vector<std::string_view> known;
    for (const Study& study : all)
        if (std::ranges::find(known, study.source) == known.end()) known.push_back(study.source);
    for (const std::string& source : command.sources)
        if (std::ranges::find(known, source) == known.end())
            return invalid("there are no claims of '" + source + "'" + did_you_mean(source, known), "--source");
    std::vector<Study> found;
    for (const Study& study : all)
        if (command.sources.empty() || std::ranges::find(command.sources, study.source) != command.sources.end())
            found.push_back(study);
    return found;
}

/// Tells on standard error what is being run and what has been run.
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

OrderedJson json_of(const std::vector<SourceReport>& reports, bool details) {
    OrderedJson all = OrderedJson::array();
    for (const SourceReport& report : reports)
        for (const Claim& claim : report.claims) {
            all.push_back({{"id", claim.id},
                           {"source", claim.source},
                           {"claim", claim.claim},
                           {"published", claim.published},
                           {"ours", claim.ours},
                           {"spread", claim.spread},
                           {"verdict", claims::to_string(claim.verdict)},
                           {"test", claim.test}});
            if (details) all.back()["remark"] = claim.remark;
        }
    return {{"version", codec::kDocumentVersion}, {"claims", std::move(all)}};
}

Result<void> write_directory(const std::string& directory, const std::vector<SourceReport>& reports,
                             const Effort& effort) {
    for (const SourceReport& report : reports) {
        const std::string folder = directory + "/" + std::string(report.source);
        std::error_code fault;
        std::filesystem::create_directories(folder, fault);
        if (fault) return invalid("cannot make the folder " + folder + ": " + fault.message(), "--directory");
        if (Result<void> done = write_file(folder + "/claims.md", claims_page(report, effort)); !done) return done;
        for (const claims::File& file : report.files)
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

void list_studies(Context& context, const std::vector<Study>& studies) {
    Listing listing{"studies", {"SOURCE", "STUDY"}, {}, codec::Json::array()};
    for (const Study& study : studies) {
        listing.rows.push_back({std::string(study.source), std::string(study.name)});
        listing.items.push_back({{"source", study.source}, {"study", study.name}});
    }
    print(context, listing);
}

void report_claims(Context& context, const ClaimsCommand& command) {
    const Result<std::vector<Study>> studies = studies_of(command);
    if (!studies) return context.fail(studies.error());
    if (command.list) return list_studies(context, *studies);
    const bool page = command.page || context.for_people();
    if (Result<void> good = check_places(command, page); !good) return context.fail(good.error());
    const Effort effort = command.quick ? Effort::quick() : Effort{.seeds = command.seeds, .length = command.length};
    const std::vector<SourceReport> reports = claims::by_source(*studies, run_all(*studies, effort, command.threads));
    if (!command.directory.empty())
        if (Result<void> done = write_directory(command.directory, reports, effort); !done)
            return context.fail(done.error());
    if (page)
        if (Result<void> done = write_file(command.html, claims_html(reports, effort, root_of_links(command))); !done)
            return context.fail(done.error());
    if (context.output == "json") {
        std::cout << json_of(reports, command.details).dump(-1, ' ', false, OrderedJson::error_handler_t::replace)
                  << "\n";
    } else if (context.output == "jsonl") {
        const OrderedJson told = json_of(reports, command.details);
        for (const OrderedJson& claim : told.at("claims"))
            std::cout << claim.dump(-1, ' ', false, OrderedJson::error_handler_t::replace) << "\n";
    } else {
        Listing listing{"claims", {"ID", "VERDICT", "PUBLISHED", "OURS", "SPREAD", "CLAIM"}, {}, codec::Json::array()};
        for (const SourceReport& report : reports)
            for (const Claim& claim : report.claims)
                listing.rows.push_back({claim.id, std::string(claims::to_string(claim.verdict)), claim.published,
                                        claim.ours, claim.spread, claim.claim});
        print(context, listing);
    }
    if (page) std::cerr << "the page is in " << printable(command.html) << "\n";
    std::size_t failed = 0;
    for (const SourceReport& report : reports)
        failed += static_cast<std::size_t>(std::ranges::count(report.claims, claims::Verdict::kFails, &Claim::verdict));
    if (failed == 0 || command.quick) return;
    std::cerr << "zbs: " << failed << " claims fail\n";
    context.exit_code = kFailed;
}

}  // namespace

void add_report_command(CLI::App& app, Context& context) {
    CLI::App* report = app.add_subcommand("report", "reports that are made by running what they tell of");
    report->require_subcommand(1);
    auto options = std::make_shared<ClaimsCommand>();
    CLI::App* command = report->add_subcommand(
        "claims",
        "what the papers behind the algorithms claim, beside what ours do: published, ours, spread, verdict, test\n\n"
        "Every figure is found by running; the whole report takes minutes. Exit code 1 if a claim fails (not with "
        "--quick).\n\n"
        "Example: zbs report claims --html claims.html\n"
        "Example: zbs report claims --source Turner1995 --json");
    command_line::Offers sources{.words = {}, .is_list = true};
    for (const Study& study : all_studies())
        if (std::ranges::find(sources.words, study.source) == sources.words.end())
            sources.words.emplace_back(study.source);
    command_line::offer(
        command
            ->add_option("--source", options->sources, "claims of this source only; may be repeated; --list names them")
            ->delimiter(','),
        sources);
    CLI::Option* html = command
                            ->add_option("--html", options->html,
                                         "the page; with -o json, jsonl or csv it is written where this is given")
                            ->capture_default_str();
    command->add_option("--directory", options->directory,
                        "also write the tables and plots, and a page for each source, below this folder");
    command
        ->add_option("--root", options->root, "where the page looks for the tests: path or address of the source tree")
        ->capture_default_str();
    CLI::Option* seeds = command->add_option("--seeds", options->seeds, "number of seeds")
                             ->check(command_line::whole_number_in(2, 1000))
                             ->capture_default_str();
    CLI::Option* length = command->add_option("--length", options->length, "times the usual lengths (jobs, horizons)")
                              ->check(command_line::number_in(0.001, 100.0))
                              ->capture_default_str();
    command->add_flag("--quick", options->quick, "2 seeds and a twentieth of the lengths: shows that all studies run")
        ->excludes(seeds)
        ->excludes(length);
    command->add_option("--threads", options->threads, "studies at a time (default: as many as there are cores)")
        ->check(command_line::whole_number_in(1, 1024));
    command->add_flag("--details", options->details, "JSON: also the remark, which has the reason of a gap");
    command->add_flag("--list", options->list, "show the sources and what is run for them");
    command->callback([options, html, &context] {
        options->page = html->count() > 0;
        report_claims(context, *options);
    });
}

}  // namespace zbs::cli
