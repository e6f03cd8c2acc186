#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/formats/sparkline.hpp"
#include "client/api/zone_view.hpp"
#include "client/cli/applications/application_view.hpp"
#include "client/cli/context.hpp"
#include "client/cli/expression.hpp"
#include "services/common/adapters/command_line/values.hpp"
#include "services/common/listing/peer_listing.hpp"
#include "services/common/messages/registry.hpp"

namespace zbs::cli {
namespace {

using codec::Json;

Listing zone_listing() {
    return {"zones",
            {"ZONE",
             "ORGANISATION",
             "PROCESSORS",
             "USED",
             {"STATE", "condition.state"},
             {"AGE", "condition.age_s"},
             {"YOU MAY USE IT", "usable"},
             {"ADDRESS", "url"},
             {"OUTBOUND", true},
             {"INBOUND", true},
             {"OFFERS", "categories", true}}};
}

/// What an expression may ask about any zone.
struct KnownZone {
    std::string zone, organisation, state;
    bool usable = false;
    const std::vector<std::string>& categories;
};

/// A category is KIND=VALUE of an offer; what has no such kind stays a category, so that no zone can describe itself as
/// another one.
Attributes attributes_of(const KnownZone& known) {
    Attributes attributes;
    attributes.emplace("zone", known.zone);
    attributes.emplace("organisation", known.organisation);
    attributes.emplace("state", known.state);
    attributes.emplace("usable", known.usable ? "yes" : "no");
    for (const std::string& category : known.categories) {
        const std::size_t equals = category.find('=');
        if (equals != std::string::npos && find_word<ZoneOffer>(category.substr(0, equals)))
            attributes.emplace(category.substr(0, equals), category.substr(equals + 1));
        else
            attributes.emplace("category", category);
    }
    return attributes;
}

Listing link_listing() {
    return {"links",
            {{"TO ZONE", "zone"},
             "PLANNED WITH",
             "SOURCE",
             {"MEASURED DELAY", "delay.next"},
             {"MEASURED BANDWIDTH", "bandwidth.next"},
             {"FAILURES", true},
             {"LAST MEASURED", "measured_us", true}}};
}

Listing node_listing() {
    return {"nodes",
            {{"MACHINE", "name"},
             "PROCESSORS",
             "USED",
             "SPEED",
             {"AVAILABLE", "availability.next"},
             {"CORES", true},
             {"MEMORY", "memory_bytes", true}}};
}

/// Names that a condition may use: of columns (zone, usable, ...), of offers (policy, mpi, ...), and "category".
std::vector<std::string_view> zone_attribute_names() {
    std::vector<std::string_view> names = {"zone", "organisation", "processors", "used", "state", "usable", "category"};
    for (const char* const word : words_of(ZoneOffer{})) names.emplace_back(word);
    return names;
}

/// The own zone with its machines, then the zones it knows; of those nothing but their address and what they offer.
/// Only zones for which `where` holds, if it is given.
void list_zones(Context& context, const std::string& where) {
    std::optional<Expression> condition;
    if (!where.empty()) {
        auto parsed = Expression::parse(where, zone_attribute_names());
        if (!parsed) return context.fail(parsed.error());
        condition = *std::move(parsed);
    }
    const auto zone = context.connect();
    if (!zone) return;
    const Result<Json> own = zone->get("/v1/nodes");
    if (!own) return context.fail(own.error());
    const Result<Json> peers = zone->get("/v1/peerings");
    if (!peers) return context.fail(peers.error());
    const client::NodesView home = client::decode_nodes_view(*own);
    int processors = 0, used = 0;
    for (const client::MachineView& machine : home.machines) {
        processors += machine.processors;
        used += machine.used;
    }
    const Result<std::string> why_not = zone->why_not_ready();
    if (!why_not) return context.fail(why_not.error());
    const char* const state = why_not->empty() ? "up" : "draining";  // it answered, so it can only drain
    Listing listing = zone_listing();
    Attributes attributes = attributes_of({home.zone, home.organisation, state, true, home.categories});
    attributes.emplace("processors", std::to_string(processors));
    attributes.emplace("used", std::to_string(used));
    if (!condition || condition->holds(attributes)) {
        listing.items.push_back(client::encode_home_zone(home, zone->url(), state));
        listing.rows.push_back({home.zone, home.organisation, processors, used, state, "0s", "yes (home)", zone->url(),
                                "-", "-", joined(home.categories, " ")});
    }
    for (const codec::PeerView& peer : codec::decode_peerings_view(*peers).peers) {
        const bool usable = client::is_usable(peer);
        attributes = attributes_of({peer.zone, peer.organisation, peer.state, usable, peer.categories});
        if (condition && !condition->holds(attributes)) continue;
        listing.items.push_back(client::encode_other_zone(peer));
        listing.rows.push_back({peer.zone, peer.organisation, "-", "-", listing::state_of(peer), listing::age_of(peer),
                                usable ? "yes" : "no: " + peer.reason, peer.url, peer.outbound, peer.inbound,
                                joined(peer.categories, " ")});
    }
    print(context, listing);
}

std::string short_time(double seconds) {
    if (seconds < 1e-3) return number_text("%.0f us", seconds * 1e6);
    return seconds < 1 ? number_text("%.1f ms", seconds * 1e3) : number_text("%.2f s", seconds);
}

/// "forecast +- error  line of what was measured"; its value is the forecast.
Cell measured_cell(const std::optional<client::SeriesView>& series, std::string (*write)(double)) {
    if (!series) return "-";
    std::string text = write(series->next);
    if (series->error) text += " +- " + write(*series->error);
    return {text + "  " + formats::sparkline(series->values), series->next};
}

std::string whole_percent(double share) { return std::to_string(std::lround(share * 100)) + " %"; }

std::string bytes_a_second(double rate) { return human_bytes(rate) + "/s"; }

std::string estimate_text(const client::LinkEstimate& link) {
    return short_time(link.delay_s) + ", " + bytes_a_second(link.bandwidth_Bps);
}

Cell failures_cell(const client::MeasuredLink& link) { return link.failures ? Cell(*link.failures) : Cell("-"); }

/// What plans take for the links to other zones, and what was measured.
Listing zone_links(const client::LinksView& links) {
    Listing listing = link_listing();
    for (const client::ZoneLinkView& view : links.zones) {
        listing.items.push_back(view.item);
        listing.rows.push_back({view.zone, estimate_text(view.planned), view.source,
                                measured_cell(view.delay, short_time), measured_cell(view.bandwidth, bytes_a_second),
                                failures_cell(view), time_text(view.measured)});
    }
    return listing;
}

constexpr std::size_t kMachineLinksShown = 16;  ///< of `zbs zone show`

/// Pairs of machines, the worst first, at most so many.
Listing machine_links(const std::vector<client::MachineLinkView>& worst, std::size_t most) {
    Listing listing{"machine_links",
                    {{"FROM MACHINE", "from"},
                     "TO",
                     {"MEASURED DELAY", "delay.next"},
                     {"MEASURED BANDWIDTH", "bandwidth.next"},
                     "FAILURES",
                     {"LAST MEASURED", "measured_us", true}}};
    for (const client::MachineLinkView& pair : worst) {
        if (listing.rows.size() == most) break;
        listing.items.push_back(pair.item);
        listing.rows.push_back({pair.from, pair.to, measured_cell(pair.delay, short_time),
                                measured_cell(pair.bandwidth, bytes_a_second), pair.failures.value_or(0),
                                time_text(pair.measured)});
    }
    return listing;
}

std::optional<client::LinksView> ask_links(Context& context, client::ZoneClient& zone) {
    const Result<Json> answer = zone.get("/v1/links");
    if (!answer) return context.fail(answer.error()), std::nullopt;
    return client::decode_links_view(*answer);
}

void show_machine_links(Context& context) {
    const auto zone = context.connect();
    if (!zone) return;
    if (const auto links = ask_links(context, *zone)) print(context, machine_links(links->worst, SIZE_MAX));
}

/// What plans take for the links between machines of the zone, and the worst of what was measured; for people. Nothing
/// where nothing was measured and nothing declared.
void print_machine_links(Context& context, const client::LinksView& links) {
    if (links.source.empty() || (links.pairs == 0 && links.source == "assumed")) return;
    std::cout << "\nBetween machines plans take " << estimate_text(links.planned) << " (" << printable(links.source)
              << ").\n";
    if (links.pairs == 0) return;
    const Listing listing = machine_links(links.worst, kMachineLinksShown);
    print(context, listing);
    if (const auto pairs = static_cast<std::size_t>(links.pairs); pairs > listing.rows.size())
        std::cout << "... and " << counted(pairs - listing.rows.size(), "more pair") << ".\n";
}

void show_links(Context& context) {
    const auto zone = context.connect();
    if (!zone) return;
    if (const auto links = ask_links(context, *zone)) print(context, zone_links(*links));
}

void show_zone(Context& context) {
    const auto zone = context.connect();
    if (!zone) return;
    const Result<Json> own = zone->get("/v1/nodes");
    if (!own) return context.fail(own.error());
    const client::NodesView home = client::decode_nodes_view(*own);
    Listing listing = node_listing();
    for (const client::MachineView& machine : home.machines) {
        const auto& agent = machine.agent;
        listing.items.push_back(machine.item);
        listing.rows.push_back(
            {machine.name, machine.processors, machine.used, Cell(codec::dump(machine.speed), machine.speed),
             agent ? measured_cell(agent->available, whole_percent) : Cell("-"), agent ? Cell(agent->cores) : Cell("-"),
             agent ? Cell(human_bytes(static_cast<double>(agent->memory_bytes)), agent->memory_bytes) : Cell("-")});
    }
    print(context, listing);
    if (!context.for_people() || !context.choice.empty())
        return;  // one list for programs: that of links is a command of its own
    if (!home.sharing.empty()) std::cout << "Parts share processors by " << printable(home.sharing) << ".\n";
    std::cout << "\n";
    const auto links = ask_links(context, *zone);
    if (!links) return;
    print(context, zone_links(*links));
    print_machine_links(context, *links);
}

}  // namespace

void add_zone_commands(CLI::App& app, Context& context) {
    CLI::App* zone = app.add_subcommand("zone", "zones: yours and those it knows");
    zone->require_subcommand(1);
    const auto listing = [&](const char* name, const std::string& help, void (*show)(Context&), const Listing& empty) {
        CLI::App* command = zone->add_subcommand(name, help + "\n\nExample: zbs zone " + name);
        add_list_options(*command, context, empty);
        command->callback([&context, show] { show(context); });
    };
    CLI::App* list = zone->add_subcommand("list",
                                          "zones, whether you may use them, and what they offer\n\n"
                                          "Example: zbs zone list\n"
                                          "Example: zbs zone list --where 'usable = yes and mpi >= 4'");
    add_list_options(*list, context, zone_listing());
    const auto where = std::make_shared<std::string>();
    list->add_option("--where", *where,
                     "only zones for which this holds: comparisons (=, !=, <, <=, >, >=) of " +
                         joined(zone_attribute_names(), ", ", " or ") +
                         " with a word, number or version, joined by and, or, not and parentheses")
        ->check(command_line::something("write a condition as 'policy = easy'"));
    list->callback([&context, where] { list_zones(context, *where); });
    listing("links",
            "delay and bandwidth from your home zone to others: what plans are made with, and what was measured",
            show_links, link_listing());
    listing(
        "machine-links",
        "delay and bandwidth between machines of your home zone, as their agents have measured them; the worst first",
        show_machine_links, machine_links({}, 0));
    listing("show", "machines of your home zone, what others leave of them, and links", show_zone, node_listing());
}

}  // namespace zbs::cli
