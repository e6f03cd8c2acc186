// zbs top: the home zone and your applications at a glance, drawn again on a terminal.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>

#include "client/cli/applications/application_list.hpp"
#include "client/cli/applications/application_view.hpp"
#include "client/cli/context.hpp"
#include "client/cli/watch.hpp"
#include "services/common/messages/limits.hpp"

namespace zbs::cli {
namespace {

/// Machines, and how much of them is in use.
void draw_zone(const codec::Json& zone) {
    std::uint64_t processors = 0, used = 0;
    const codec::Json nodes = zone.value("nodes", codec::Json::array());
    for (const codec::Json& node : nodes) {
        processors += node.value("processors", std::uint64_t{0});
        used += node.value("used", std::uint64_t{0});
    }
    std::cout << "zone " << harmless_line(text_of(zone, "zone")) << ": " << used << " of "
              << counted(processors, "processor") << " in use, " << counted(nodes.size(), "machine") << "\n";
}

/// What runs before what waits before what has ended, each newest first; with `--sort` in its order among all of them.
Result<FoundApplications> find_rows(const Context& context, client::ZoneClient& zone, const ApplicationChoice& choice) {
    return find_applications(
        context, zone, choice,
        {"running,launching", "accepted,planned,held,committed", "completed,failed,cancelled,rejected"});
}

/// "12 running, 118 waiting, 3 ended".
std::string counts_text(const codec::Json& answer) {
    std::size_t running = 0, waiting = 0, ended = 0;
    const codec::Json counts = answer.value("counts", codec::Json::object());
    for (const auto& [state, count] : counts.items())
        (state == "running" ? running : is_ended(state) ? ended : waiting) += count.get<std::size_t>();
    return std::to_string(running) + " running, " + std::to_string(waiting) + " waiting, " + std::to_string(ended) +
           " ended";
}

/// False where something went wrong.
bool draw_top(Context& context, const ApplicationChoice& choice) {
    const auto zone = context.connect();
    if (!zone) return false;
    const auto failed = [&](const Error& error) {
        context.fail(error);
        return false;
    };
    const Result<codec::Json> nodes = zone->get("/v1/nodes");
    if (!nodes) return failed(nodes.error());
    const Result<codec::Json> counts = zone->get("/v1/applications/counts");
    if (!counts) return failed(counts.error());
    const Result<FoundApplications> found = find_rows(context, *zone, choice);
    if (!found) return failed(found.error());
    const Listing* const rows = &found->rows;
    if (context.output == "csv" || context.output == "name") {
        std::cout << shown(context, *rows);
        return true;
    }
    if (!context.for_people()) {
        codec::Json document = {{"zone", *nodes}, {"applications", rows->items}};
        document.update(*counts);
        if (rows->truncated) document["truncated"] = true;
        print_document(context, document);
        return true;
    }
    draw_zone(*nodes);
    std::cout << "applications: " << counts_text(*counts) << " since "
              << time_text(*counts, "ended_since_us").substr(0, 16) << "\n\n"
              << shown(context, *rows);
    return true;
}

}  // namespace

void add_top_command(CLI::App& app, Context& context) {
    auto every = std::make_shared<std::string>("2");
    auto choice = std::make_shared<ApplicationChoice>(ApplicationChoice{.states = {}, .user = {}, .limit = 40});
    CLI::App* command = app.add_subcommand(
        "top",
        "your home zone and your applications, drawn again and again on a terminal; once elsewhere\n\nThose that run "
        "come first, then those that wait, then those that have ended, each newest first by the zone's clock. With "
        "--sort all that have not ended are in order among the newest 10,000 that have.\n\nExample: zbs top --every "
        "5\nExample: zbs top --filter state=running --sort -ranks");
    add_application_choice(*command, *choice);
    add_list_options(*command, context, applications_of(codec::Json::array(), {}), state_filters());
    command->add_option("--every", *every, "time between two drawings")->capture_default_str();
    command->callback([&context, every, choice] {
        const bool again = context.for_people() && isatty(1) == 1;
        draw_repeatedly(context, again ? *every : "", [&] { return draw_top(context, *choice); });
    });
}

}  // namespace zbs::cli
