// zbs top: the home zone and your applications at a glance, drawn again on a terminal.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <iostream>

#include "client/api/zone_view.hpp"
#include "client/cli/applications/application_list.hpp"
#include "client/cli/applications/application_view.hpp"
#include "client/cli/context.hpp"
#include "client/cli/watch.hpp"

namespace zbs::cli {
namespace {

/// Machines, and how much of them is in use.
void draw_zone(const client::NodesView& zone) {
    int processors = 0, used = 0;
    for (const client::MachineView& machine : zone.machines) {
        processors += machine.processors;
        used += machine.used;
    }
    std::cout << "zone " << harmless_line(zone.zone) << ": " << used << " of "
              << counted(static_cast<std::uint64_t>(processors), "processor") << " in use, "
              << counted(zone.machines.size(), "machine") << "\n";
}

/// What runs before what waits before what has ended, each newest first; with `--sort` in its order among all of them.
Result<FoundApplications> find_rows(const Context& context, client::ZoneClient& zone, const ApplicationChoice& choice) {
    return find_applications(
        context, zone, choice,
        {"running,launching", "accepted,planned,held,committed", "completed,failed,cancelled,rejected"});
}

/// "12 running, 118 waiting, 3 ended".
std::string counts_text(const client::CountsView& counts) {
    std::uint64_t running = 0, waiting = 0, ended = 0;
    for (const auto& [state, count] : counts.of_state)
        (state == "running" ? running : is_ended(state) ? ended : waiting) += count;
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
    const Result<codec::Json> answer = zone->get("/v1/applications/counts");
    if (!answer) return failed(answer.error());
    const client::CountsView counts = client::decode_counts_view(*answer);
    const Result<FoundApplications> found = find_rows(context, *zone, choice);
    if (!found) return failed(found.error());
    const Listing* const rows = &found->rows;
    if (context.output == "csv" || context.output == "name") {
        std::cout << shown(context, *rows);
        return true;
    }
    if (!context.for_people()) {
        print_document(context, client::encode_top(*nodes, counts, rows->items, rows->truncated));
        return true;
    }
    draw_zone(client::decode_nodes_view(*nodes));
    std::cout << "applications: " << counts_text(counts) << " since "
              << clock_text(counts.ended_since).substr(0, sizeof "2026-11-28 14:05" - 1) << "\n\n"
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
    add_list_options(*command, context, applications_of({}, {}), state_filters());
    command->add_option("--every", *every, "time between two drawings")->capture_default_str();
    command->callback([&context, every, choice] {
        const bool again = context.for_people() && isatty(1) == 1;
        draw_repeatedly(context, again ? *every : "", [&] { return draw_top(context, *choice); });
    });
}

}  // namespace zbs::cli
