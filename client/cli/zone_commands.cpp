#include <CLI/CLI.hpp>
#include <iostream>

#include "client/cli/context.hpp"

namespace zbs::cli {
namespace {

using codec::Json;

std::string raw_text(const Json& json, const char* key) { return json.value(key, std::string{}); }

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
    Listing listing{{"ZONE", "ORGANISATION", "PROCESSORS", "USED", "ADDRESS", "YOU MAY USE IT"}, {}, Json::array()};
    const std::string name = raw_text(*own, "zone");
    listing.items.push_back({{"zone", name},
                             {"organisation", raw_text(*own, "organisation")},
                             {"processors", processors},
                             {"used", used},
                             {"url", zone->url()},
                             {"usable", true}});
    listing.rows.push_back({name, raw_text(*own, "organisation"), std::to_string(processors), std::to_string(used),
                            zone->url(), "yes (home)"});
    for (const Json& peer : peers->value("peers", Json::array())) {
        const bool usable = raw_text(peer, "they_accept_us") == "accepted";
        listing.items.push_back({{"zone", raw_text(peer, "zone")},
                                 {"organisation", raw_text(peer, "organisation")},
                                 {"url", raw_text(peer, "url")},
                                 {"usable", usable}});
        listing.rows.push_back({raw_text(peer, "zone"), raw_text(peer, "organisation"), "-", "-", raw_text(peer, "url"),
                                usable ? "yes" : "no: " + raw_text(peer, "reason")});
    }
    print(context, listing);
}

void show_zone(Context& context) {
    const auto zone = context.connect();
    if (!zone) return;
    const Result<Json> own = zone->get("/v1/nodes");
    if (!own) return context.fail(own.error());
    Listing listing{{"MACHINE", "PROCESSORS", "USED", "SPEED"}, {}, own->value("nodes", Json::array())};
    for (const Json& node : listing.items) {
        listing.rows.push_back({raw_text(node, "name"), std::to_string(node.value("processors", 0)),
                                std::to_string(node.value("used", 0)), codec::dump(node.value("speed", Json()))});
    }
    print(context, listing);
}

}  // namespace

void add_zone_commands(CLI::App& app, Context& context) {
    CLI::App* zone = app.add_subcommand("zone", "zones: yours and those it knows");
    zone->require_subcommand(1);
    zone->add_subcommand("list", "zones and whether you may use them\n\nExample: zbs zone list")->callback([&context] {
        list_zones(context);
    });
    zone->add_subcommand("show", "machines of your home zone\n\nExample: zbs zone show")->callback([&context] {
        show_zone(context);
    });
}

}  // namespace zbs::cli
