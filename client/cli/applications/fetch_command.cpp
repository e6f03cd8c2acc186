#include "client/cli/applications/fetch_command.hpp"

#include <CLI/CLI.hpp>
#include <iostream>

#include "client/api/application_answer.hpp"
#include "client/api/staged_files.hpp"
#include "client/cli/applications/application_view.hpp"
#include "client/cli/selectors.hpp"
#include "services/common/codec/staging_codec.hpp"

namespace zbs::cli {

bool fetch_results(Context& context, client::ZoneClient& zone, const std::string& id, const FetchOptions& options) {
    const Result<codec::Json> answer = zone.get("/v1/applications/" + id + "/results");
    const auto failed_with = [&context](const Error& error) {
        context.fail(error);
        return false;
    };
    if (!answer) return failed_with(answer.error());
    const Result<StagedResults> results = codec::decode_staged_results(*answer);
    if (!results) return failed_with(results.error());
    if (!results->complete) {
        if (options.ended)
            return failed_with(
                {ErrorCode::kConflict, "application " + id + " has not ended; 'zbs wait' waits for it", {}});
        return true;
    }
    for (const std::string& note : results->notes) std::cerr << "zbs: " << printable(note) << "\n";
    if (results->left_out > 0) {
        std::cerr << "zbs: " << left_out_text(results->left_out) << "\n";
        if (context.exit_code == kOk) context.exit_code = kIncomplete;
    }
    Listing listing{"files", {"NAME", "SIZE", "ZONE", "WHAT"}, {}, client::result_items(*answer)};
    bool all = true;
    for (const ResultFile& file : results->files) {
        const Result<bool> fetched = client::fetch_file(zone, id, file, options.folder);
        if (!fetched) all = failed_with(fetched.error());
        listing.rows.push_back({file.name, Cell(human_bytes(static_cast<double>(file.size)), file.size),
                                file.zone.str(),
                                !fetched   ? "failed"
                                : *fetched ? "fetched"
                                           : "was here"});
        if (fetched && *fetched && !options.quiet && !options.ended)
            std::cerr << "zbs: fetched " << printable(file.name) << "\n";
    }
    if (options.ended) print(context, listing);
    return all;
}

void add_fetch_command(CLI::App& app, Context& context) {
    auto id = std::make_shared<std::string>();
    auto options = std::make_shared<FetchOptions>();
    CLI::App* command = app.add_subcommand(
        "fetch",
        "what an application left, into a folder; goes on where it stopped\n\nExample: zbs fetch ID -d results");
    add_selector(*command, *id);
    command->add_option("-d,--directory", options->folder, "folder that it goes into; nothing in it is replaced")
        ->capture_default_str();
    command->callback([&context, id, options] {
        if (!check_selectors(context, {*id}, SelectionMode::kNewest)) return;
        const auto zone = context.connect();
        if (!zone) return;
        const Result<std::vector<std::string>> ids = find_selected(context, *zone, {*id}, SelectionMode::kNewest);
        if (!ids) return context.fail(ids.error());
        fetch_results(context, *zone, ids->front(), *options);
    });
}

}  // namespace zbs::cli
