// zbs top: the home zone and your applications at a glance, drawn again on a terminal.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <iostream>

#include "client/cli/application_view.hpp"
#include "client/cli/context.hpp"
#include "client/cli/watch.hpp"

namespace zbs::cli {
namespace {

/// Machines, and how much of them is in use.
void draw_zone(const codec::Json& zone) {
    int processors = 0, used = 0;
    const codec::Json nodes = zone.value("nodes", codec::Json::array());
    for (const codec::Json& node : nodes) {
        processors += node.value("processors", 0);
        used += node.value("used", 0);
    }
    std::cout << "zone " << harmless_line(text_of(zone, "zone")) << ": " << used << " of " << processors
              << " processors in use, " << nodes.size() << " machines\n";
}

/// False where something went wrong.
bool draw_top(Context& context, int limit) {
    const auto zone = context.connect();
    if (!zone) return false;
    const Result<codec::Json> nodes = zone->get("/v1/nodes");
    const Result<codec::Json> listed = nodes ? zone->list(limit) : Result<codec::Json>(nodes.error());
    if (!listed) {
        context.fail(listed.error());
        return false;
    }
    const codec::Json applications = listed->value("applications", codec::Json::array());
    const Result<Listing> chosen_ones = chosen(applications_of(applications), context.choice);
    if (!chosen_ones) {
        context.fail(chosen_ones.error());
        return false;
    }
    if (context.output == "csv" || context.output == "name") {
        std::cout << written(*chosen_ones, context.output);
        return true;
    }
    if (!context.for_people()) {
        print_document(context, {{"zone", *nodes}, {"applications", chosen_ones->items}});
        return true;
    }
    std::size_t running = 0, ended = 0;
    for (const codec::Json& one : applications) {
        running += text_of(one, "state") == "running";
        ended += is_ended(text_of(one, "state"));
    }
    draw_zone(*nodes);
    std::cout << "applications: " << running << " running, " << applications.size() - running - ended << " waiting, "
              << ended << " ended\n\n"
              << written(*chosen_ones, context.output);
    return true;
}

}  // namespace

void add_top_command(CLI::App& app, Context& context) {
    auto every = std::make_shared<std::string>("2");
    auto limit = std::make_shared<int>(40);
    CLI::App* command = app.add_subcommand("top",
                                           "your home zone and your newest applications, drawn again and again on a "
                                           "terminal; once elsewhere\n\nExample: zbs "
                                           "top --every 5\nExample: zbs top --filter state=running --sort -ranks");
    add_list_options(*command, context);
    command->add_option("--every", *every, "time between two drawings")->capture_default_str();
    command->add_option("--limit", *limit, "at most this many applications")
        ->check(CLI::Range(1, 1'000))
        ->capture_default_str();
    command->callback([&context, every, limit] {
        const bool again = context.for_people() && isatty(1) == 1;
        draw_repeatedly(context, again ? *every : "", [&] { return draw_top(context, *limit); });
    });
}

}  // namespace zbs::cli
