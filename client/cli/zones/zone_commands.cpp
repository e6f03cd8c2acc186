#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <map>
#include <optional>
#include <string>

#include "algorithms/formats/sparkline.hpp"
#include "client/cli/applications/application_view.hpp"
#include "client/cli/context.hpp"
#include "services/common/listing/peer_listing.hpp"

namespace zbs::cli {
namespace {

using codec::Json;

std::string raw_text(const Json& json, const char* key) { return json.value(key, std::string{}); }

Listing zone_listing() {
    return {"zones",
            {"ZONE",
             "ORGANISATION",
             "PROCESSORS",
             "USED",
             {"ADDRESS", "url"},
             {"YOU MAY USE IT", "usable"},
             {"STATE", "condition.state"},
             {"AGE", "condition.age_s"},
             {"THEY ACCEPT US", true},
             {"WE ACCEPT THEM", true}},
            {},
            Json::array()};
}

Listing link_listing(const Json& answer) {
    return {"links",
            {{"TO ZONE", "zone"},
             "PLANNED WITH",
             "SOURCE",
             {"MEASURED DELAY", "delay.next"},
             {"MEASURED BANDWIDTH", "bandwidth.next"},
             {"FAILURES", true},
             {"LAST MEASURED", "measured_us", true}},
            {},
            answer.value("links", Json::array())};
}

Listing node_listing(const Json& answer) {
    return {"nodes",
            {{"MACHINE", "name"},
             "PROCESSORS",
             "USED",
             "SPEED",
             {"AVAILABLE", "availability.next"},
             {"CORES", true},
             {"MEMORY", "memory_bytes", true}},
            {},
            answer.value("nodes", Json::array())};
}

/// The own zone with its machines, then the zones it knows; of those nothing but their address.
void list_zones(Context& context) {
    const auto zone = context.connect();
    if (!zone) return;
    const Result<Json> own = zone->get("/v1/nodes");
    if (!own) return context.fail(own.error());
    const Result<Json> peers = zone->get("/v1/peerings");
    if (!peers) return context.fail(peers.error());
    int processors = 0, used = 0;
    for (const Json& node : own->value("nodes", Json::array())) {
        processors += node.value("processors", 0);
        used += node.value("used", 0);
    }
    const Result<std::string> why_not = zone->why_not_ready();
    if (!why_not) return context.fail(why_not.error());
    const char* const state = why_not->empty() ? "up" : "draining";  // it answered, so it can only drain
    Listing listing = zone_listing();
    const std::string name = raw_text(*own, "zone");
    listing.items.push_back({{"zone", name},
                             {"organisation", raw_text(*own, "organisation")},
                             {"processors", processors},
                             {"used", used},
                             {"url", zone->url()},
                             {"usable", true},
                             {"condition", {{"state", state}, {"age_s", 0.0}}}});
    listing.rows.push_back(
        {name, raw_text(*own, "organisation"), processors, used, zone->url(), "yes (home)", state, "0s", "-", "-"});
    for (const Json& peer : peers->value("peers", Json::array())) {
        const bool usable = raw_text(peer, "they_accept_us") == "accepted";
        listing.items.push_back({{"zone", raw_text(peer, "zone")},
                                 {"organisation", raw_text(peer, "organisation")},
                                 {"url", raw_text(peer, "url")},
                                 {"usable", usable},
                                 {"reason", raw_text(peer, "reason")},
                                 {"condition", peer.value("condition", Json::object())},
                                 {"they_accept_us", raw_text(peer, "they_accept_us")},
                                 {"we_accept_them", raw_text(peer, "we_accept_them")}});
        listing.rows.push_back({raw_text(peer, "zone"), raw_text(peer, "organisation"), "-", "-", raw_text(peer, "url"),
                                usable ? "yes" : "no: " + raw_text(peer, "reason"), listing::state_of(peer),
                                listing::age_of(peer), raw_text(peer, "they_accept_us"),
                                raw_text(peer, "we_accept_them")});
    }
    print(context, listing);
}

std::string short_time(double seconds) {
    char text[32];
    if (seconds < 1e-3)
        std::snprintf(text, sizeof text, "%.0f us", seconds * 1e6);
    else
        std::snprintf(text, sizeof text, seconds < 1 ? "%.1f ms" : "%.2f s", seconds < 1 ? seconds * 1e3 : seconds);
    return text;
}

/// "forecast +- error  line of what was measured"; its value is the forecast.
Cell measured_cell(const Json& view, const char* key, std::string (*write)(double)) {
    if (!view.contains(key)) return "-";
    const Json& series = view.at(key);
    std::string text = write(series.value("next", 0.0));
    if (series.contains("error")) text += " +- " + write(series.value("error", 0.0));
    return {text + "  " + formats::sparkline(series.value("values", std::vector<double>{})), series.value("next", 0.0)};
}

std::string whole_percent(double share) { return std::to_string(std::lround(share * 100)) + " %"; }

/// The agents in the answer about nodes, by machine; they are part of it.
std::map<std::string, const Json*> agents_of(const Json& nodes) {
    std::map<std::string, const Json*> agents;
    const auto all = nodes.find("agents");
    if (all == nodes.end() || !all->is_array()) return agents;
    for (const Json& agent : *all)
        if (const auto what = agent.find("description"); what != agent.end())
            agents.emplace(raw_text(*what, "name"), &agent);
    return agents;
}

Cell memory_cell(const Json& agent) {
    const auto bytes = agent.at("description").value("memory_bytes", std::int64_t{0});
    return {human_bytes(static_cast<double>(bytes)), bytes};
}

std::string bytes_a_second(double rate) { return human_bytes(rate) + "/s"; }

/// What plans take for the links to other zones, and what was measured.
void list_links(Context& context, client::ZoneClient& zone) {
    const Result<Json> answer = zone.get("/v1/links");
    if (!answer) return context.fail(answer.error());
    Listing listing = link_listing(*answer);
    for (const Json& view : listing.items) {
        const Json link = view.value("link", Json::object());
        listing.rows.push_back(
            {raw_text(view, "zone"),
             short_time(link.value("delay_s", 0.0)) + ", " + bytes_a_second(link.value("bandwidth_Bps", 0.0)),
             raw_text(view, "source"), measured_cell(view, "delay", short_time),
             measured_cell(view, "bandwidth", bytes_a_second),
             view.contains("failures") ? Cell(view.value("failures", 0)) : Cell("-"), time_text(view, "measured_us")});
    }
    print(context, listing);
}

constexpr std::size_t kMachineLinksShown = 16;  ///< of `zbs zone show`

/// Pairs of machines as `GET /v1/links` lists them, at most so many.
Listing machine_links(const Json& machines, std::size_t most) {
    Listing listing{"machine_links",
                    {{"FROM MACHINE", "from"},
                     "TO",
                     {"MEASURED DELAY", "delay.next"},
                     {"MEASURED BANDWIDTH", "bandwidth.next"},
                     "FAILURES",
                     {"LAST MEASURED", "measured_us", true}},
                    {},
                    Json::array()};
    for (const Json& pair : machines.value("worst", Json::array())) {
        if (listing.rows.size() == most) break;
        listing.items.push_back(pair);
        listing.rows.push_back({raw_text(pair, "from"), raw_text(pair, "to"), measured_cell(pair, "delay", short_time),
                                measured_cell(pair, "bandwidth", bytes_a_second), pair.value("failures", 0),
                                time_text(pair, "measured_us")});
    }
    return listing;
}

/// The machines of the answer about links.
std::optional<Json> ask_machine_links(Context& context, client::ZoneClient& zone) {
    const Result<Json> answer = zone.get("/v1/links");
    if (!answer) return context.fail(answer.error()), std::nullopt;
    return answer->value("machines", Json::object());
}

void show_machine_links(Context& context) {
    const auto zone = context.connect();
    if (!zone) return;
    if (const auto machines = ask_machine_links(context, *zone)) print(context, machine_links(*machines, SIZE_MAX));
}

/// What plans take for the links between machines of the zone, and the worst of what was measured; for people. Nothing
/// where nothing was measured and nothing declared.
void print_machine_links(Context& context, client::ZoneClient& zone) {
    const std::optional<Json> machines = ask_machine_links(context, zone);
    if (!machines || raw_text(*machines, "source").empty()) return;
    const Json link = machines->value("link", Json::object());
    const auto pairs = machines->value("pairs", std::size_t{0});
    if (pairs == 0 && raw_text(*machines, "source") == "assumed") return;
    std::cout << "\nBetween machines plans take " << short_time(link.value("delay_s", 0.0)) << ", "
              << bytes_a_second(link.value("bandwidth_Bps", 0.0)) << " (" << printable(raw_text(*machines, "source"))
              << ").\n";
    if (pairs == 0) return;
    const Listing listing = machine_links(*machines, kMachineLinksShown);
    print(context, listing);
    if (pairs > listing.rows.size())
        std::cout << "... and " << counted(pairs - listing.rows.size(), "more pair") << ".\n";
}

void show_links(Context& context) {
    if (const auto zone = context.connect()) list_links(context, *zone);
}

void show_zone(Context& context) {
    const auto zone = context.connect();
    if (!zone) return;
    const Result<Json> own = zone->get("/v1/nodes");
    if (!own) return context.fail(own.error());
    Listing listing = node_listing(*own);
    const std::map<std::string, const Json*> agents = agents_of(*own);
    for (Json& node : listing.items) {
        const auto agent = agents.find(raw_text(node, "name"));
        if (agent != agents.end()) {
            const Json& described = agent->second->at("description");
            node["cores"] = described.value("cores", 0);
            node["memory_bytes"] = described.value("memory_bytes", std::int64_t{0});
            if (agent->second->contains("available")) node["availability"] = agent->second->at("available");
        }
        listing.rows.push_back(
            {raw_text(node, "name"), node.value("processors", 0), node.value("used", 0),
             Cell(codec::dump(node.value("speed", Json())), node.value("speed", Json())),
             agent == agents.end() ? Cell("-") : measured_cell(*agent->second, "available", whole_percent),
             agent == agents.end() ? Cell("-") : Cell(agent->second->at("description").value("cores", 0)),
             agent == agents.end() ? Cell("-") : memory_cell(*agent->second)});
    }
    print(context, listing);
    if (!context.for_people() || !context.choice.empty())
        return;  // one list for programs: that of links is a command of its own
    if (const std::string by = raw_text(*own, "sharing"); !by.empty())
        std::cout << "Parts share processors by " << printable(by) << ".\n";
    std::cout << "\n";
    list_links(context, *zone);
    print_machine_links(context, *zone);
}

}  // namespace

void add_zone_commands(CLI::App& app, Context& context) {
    CLI::App* zone = app.add_subcommand("zone", "zones: yours and those it knows");
    zone->require_subcommand(1);
    const Json nothing = Json::object();
    const auto listing = [&](const char* name, const std::string& help, void (*show)(Context&), const Listing& empty) {
        CLI::App* command = zone->add_subcommand(name, help + "\n\nExample: zbs zone " + name);
        add_list_options(*command, context, empty);
        command->callback([&context, show] { show(context); });
    };
    listing("list", "zones and whether you may use them", list_zones, zone_listing());
    listing("links",
            "delay and bandwidth from your home zone to others: what plans are made with, and what was measured",
            show_links, link_listing(nothing));
    listing(
        "machine-links",
        "delay and bandwidth between machines of your home zone, as their agents have measured them; the worst first",
        show_machine_links, machine_links(nothing, 0));
    listing("show", "machines of your home zone, what others leave of them, and links", show_zone,
            node_listing(nothing));
}

}  // namespace zbs::cli
