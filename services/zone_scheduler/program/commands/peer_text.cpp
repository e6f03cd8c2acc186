#include "services/zone_scheduler/program/commands/peer_text.hpp"

#include <cmath>
#include <cstdio>

#include "services/common/adapters/command_line/terminal.hpp"
#include "services/common/codec/json/audit_text.hpp"
#include "services/common/codec/peering_codec.hpp"
#include "services/common/listing/peer_listing.hpp"
#include "services/common/messages/text/printable.hpp"
#include "services/zone_scheduler/trust/site_policy/rights_text.hpp"

namespace zbs::zone_program {
namespace {

using codec::Json;

std::string number_text(const char* form, double value) {
    char text[48];
    std::snprintf(text, sizeof text, form, value);
    return text;
}

/// "36 h", "1 h 30 min", "45 s".
std::string span_text(double seconds) {
    const auto whole = static_cast<long long>(std::llround(seconds));
    std::string text;
    for (const auto& [size, unit] : {std::pair{3'600LL, " h"}, std::pair{60LL, " min"}, std::pair{1LL, " s"}}) {
        const long long count = size == 3'600 ? whole / size : whole / size % 60;
        if (count != 0) text += (text.empty() ? "" : " ") + std::to_string(count) + unit;
    }
    return text.empty() ? "0 s" : text;
}

std::string counted(std::int64_t count, const std::string& thing) {
    return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

std::string score_text(double score) { return number_text("%.3f", score) + " of 1"; }

/// From another zone: no name may drive the terminal.
std::string text_of(const Json& json, const char* key) { return printable_text(json.value(key, std::string{}), 1'024); }

std::string moment_of(const Json& json, const char* key) {
    const std::int64_t at = json.value(key, std::int64_t{0});
    return at > 0 ? codec::utc_text(time_from_microseconds(at)) : "-";
}

std::string amounts_text(const Json& rights) {
    return counted(rights.value("processors", 0), "processor") + " at once, " +
           span_text(rights.value("walltime_s", 0.0)) + " each part, " +
           counted(rights.value("concurrent_parts", 0), "part") + " at once";
}

std::string limits_text(const Json& rights) {
    const auto range = codec::decode_rights_range(rights);
    if (!range) return {};
    const PeeringRights& top = range->ceiling;
    std::string partitions;
    for (const std::string& name : top.partitions) partitions += (partitions.empty() ? "" : ",") + name;
    return "  starts\t" + hours_text(top.hours) + " (UTC), " + weekdays_text(top.weekdays) + "\n  partitions\t" +
           (partitions.empty() ? "all" : partitions) + "\n  share\t" + number_text("%g", top.share * 100) +
           " % of the zone's processors\n  account\t" + top.account_rule + "\n  forwards\t" +
           (top.may_forward ? "yes" : "no") + "\n  delegation\t" + (top.require_delegation ? "needed" : "not needed") +
           "\n";
}

std::string trust_text(const Json& trust) {
    std::string text = "  trust\t" + score_text(trust.value("score", 0.0)) + " (began with " +
                       score_text(trust.value("initial", 0.0)) + ")\n";
    for (const Json& reason : trust.value("reasons", Json::array())) {
        text += "    " + text_of(reason, "event") + "\t" + counted(reason.value("count", std::int64_t{0}), "time") +
                " ever\t" + number_text("%+.3f", reason.value("weight", 0.0)) + " points left\t" +
                number_text("%+.3f", reason.value("effect", 0.0)) + " of the trust\n";
    }
    return text;
}

std::string peering_text(const Json& peering) {
    std::string text = text_of(peering, "organisation") + "\t" + text_of(peering, "state") + "\n  bundle\t" +
                       text_of(peering, "fingerprint") + "\n";
    for (const Json& zone : peering.value("zones", Json::array()))
        text += "  zone\t" + text_of(zone, "name") + "\t" + text_of(zone, "url") + "\tseen " +
                moment_of(zone, "seen_us") + "\n";
    text += "  known since\t" + moment_of(peering, "requested_us") + "\n";
    if (!text_of(peering, "by").empty())
        text += "  settled by\t" + text_of(peering, "by") + "\t" + moment_of(peering, "changed_us") + "\n";
    if (!text_of(peering, "reason").empty()) text += "  reason\t" + text_of(peering, "reason") + "\n";
    if (text_of(peering, "state") == "requested") return text;
    const Json rights = peering.value("rights", Json::object()), usage = peering.value("usage", Json::object());
    text += trust_text(peering.value("trust", Json::object()));
    text += "  now\t" + amounts_text(peering.value("rights_now", Json::object())) + "\n";
    text += "  floor\t" + amounts_text(rights.value("floor", Json::object())) + "\n";
    text += "  ceiling\t" + amounts_text(rights.value("ceiling", Json::object())) + "\n" + limits_text(rights);
    text += "  in use\t" + counted(usage.value("processors", 0), "processor") + ", " +
            counted(usage.value("parts", 0), "part") + "\n";
    for (const Json& event : peering.value("last_events", Json::array()))
        text += "  event\t" + moment_of(event, "at_us") + "\t" + text_of(event, "event") + "\n";
    return text;
}

}  // namespace

std::string peerings_text(const Json& answer) {
    std::string text;
    for (const Json& peering : answer.value("peerings", Json::array())) text += peering_text(peering);
    for (const Json& zone : answer.value("peers", Json::array())) {
        text += "zone " + text_of(zone, "zone") + "\ttakes ours: " + text_of(zone, "they_accept_us") +
                "\twe take its: " + text_of(zone, "we_accept_them") + "\theard " + moment_of(zone, "last_heard_us") +
                "\n";
    }
    return text;
}

std::string peer_list_text(const Json& answer, std::string_view format) {
    return "whose users this zone takes:\n" +
           listing::written(listing::peerings_of(answer), format, command_line::table_width()) +
           "who takes this organisation's users (none: not asked yet):\n" +
           listing::written(listing::peers_of(answer), format, command_line::table_width());
}

}  // namespace zbs::zone_program
