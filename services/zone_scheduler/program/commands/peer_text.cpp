#include "services/zone_scheduler/program/commands/peer_text.hpp"

#include <cmath>

#include "algorithms/base/text.hpp"
#include "services/common/adapters/command_line/terminal.hpp"
#include "services/common/codec/peering_codec.hpp"
#include "services/common/codec/records/audit_codec.hpp"
#include "services/common/codec/site_codec.hpp"
#include "services/common/failpoint/failpoint.hpp"
#include "services/common/listing/peer_listing.hpp"
#include "services/common/messages/text/printable.hpp"
#include "services/zone_scheduler/trust/site_policy/rights_text.hpp"

namespace zbs::zone_program {

using codec::Json;
using codec::PeeringView;
using listing::Cell;
using listing::Listing;

namespace {

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
std::string shown(const std::string& text) { return printable_text(text, 1'024); }

std::string moment_of(Time at) { return at > Time{} ? codec::utc_text(at) : "-"; }

std::string amounts_text(const codec::AmountsView& rights) {
    return counted(rights.processors, "processor") + " at once, " + span_text(rights.walltime_s) + " each part, " +
           counted(rights.concurrent_parts, "part") + " at once";
}

std::string limits_text(const PeeringRights& top) {
    return "  starts\t" + hours_text(top.hours) + " (UTC), " + weekdays_text(top.weekdays) + "\n  partitions\t" +
           (top.partitions.empty() ? "all" : joined(top.partitions, ",")) + "\n  share\t" +
           number_text("%g", top.share * 100) + " % of the zone's processors\n" +
           (top.overcommit < limits::kMaxOvercommit ? "  overcommit\t" + std::to_string(top.overcommit) + "\n" : "") +
           "  account\t" + top.account_rule + "\n  delegation\t" + (top.require_delegation ? "needed" : "not needed") +
           "\n";
}

std::string trust_text(const PeeringView& peering) {
    std::string text =
        "  trust\t" + score_text(peering.score) + " (began with " + score_text(peering.initial_score) + ")\n";
    for (const PeeringView::Reason& reason : peering.reasons) {
        text += "    " + shown(reason.event) + "\t" + counted(reason.count, "time") + " ever\t" +
                number_text("%+.3f", reason.weight) + " points left\t" + number_text("%+.3f", reason.effect) +
                " of the trust\n";
    }
    return text;
}

std::string peering_text(const PeeringView& peering) {
    std::string text =
        shown(peering.organisation) + "\t" + shown(peering.state) + "\n  bundle\t" + shown(peering.fingerprint) + "\n";
    for (const PeeringView::Zone& zone : peering.zones)
        text += "  zone\t" + shown(zone.name) + "\t" + shown(zone.url) + "\tseen " + moment_of(zone.seen) + "\n";
    text += "  known since\t" + moment_of(peering.requested) + "\n";
    if (!peering.by.empty()) text += "  settled by\t" + shown(peering.by) + "\t" + moment_of(peering.changed) + "\n";
    if (!peering.reason.empty()) text += "  reason\t" + shown(peering.reason) + "\n";
    if (peering.state == "requested") return text;
    text += trust_text(peering);
    text += "  now\t" + amounts_text(peering.now) + "\n";
    text += "  floor\t" + amounts_text(peering.floor) + "\n";
    text += "  ceiling\t" + amounts_text(peering.ceiling) + "\n";
    if (peering.rights) text += limits_text(peering.rights->ceiling);
    text += "  in use\t" + counted(peering.used_processors, "processor") + ", " + counted(peering.used_parts, "part") +
            "\n";
    for (const PeeringView::Event& event : peering.last_events)
        text += "  event\t" + moment_of(event.at) + "\t" + shown(event.event) + "\n";
    return text;
}

/// "-" where the answer has none.
Cell moment(Time at) { return at > Time{} ? Cell(codec::utc_text(at)) : Cell("-"); }

}  // namespace

std::string peerings_text(const Json& answer) {
    const codec::PeeringsView view = codec::decode_peerings_view(answer);
    std::string text;
    for (const PeeringView& peering : view.peerings) text += peering_text(peering);
    for (const codec::PeerView& zone : view.peers) {
        text += "zone " + shown(zone.zone) + "\ttakes ours: " + shown(zone.outbound) +
                "\twe take its: " + shown(zone.inbound) + "\theard " + moment_of(zone.last_heard) + "\n";
    }
    return text;
}

std::string peer_list_text(const Json& answer, std::string_view format) {
    return "whose users this zone takes:\n" +
           listing::written(listing::peerings_of(answer), format, command_line::table_width()) +
           "who takes this organisation's users (none: not asked yet):\n" +
           listing::written(listing::peers_of(answer), format, command_line::table_width());
}

Listing users_of(const Json& answer) {
    Listing listing{
        "users",
        {"NAME", "STANDING", {"CODE UNTIL", "code_expires_us"}, "CERTIFICATES", "GROUPS", {"ADDED", "added_us", true}}};
    for (const codec::UserView& user : codec::decode_users(answer)) {
        listing.items.push_back(user.item);
        listing.rows.push_back({user.name, user.standing, user.code_pending ? moment(user.code_expires) : Cell("-"),
                                user.certificates, user.groups.empty() ? "-" : joined(user.groups, ","),
                                moment(user.added)});
    }
    return listing;
}

Listing blocks_of(const Json& answer) {
    Listing listing{"blocks", {"SUBJECT", "BY", {"SINCE", "at_us"}, "REASON", "ANNOUNCED BY"}};
    for (const codec::BlockView& block : codec::decode_blocks(answer)) {
        listing.items.push_back(block.item);
        listing.rows.push_back({block.subject, block.by, moment(block.at), block.reason, block.announced_by});
    }
    return listing;
}

Listing failpoints() {
    Listing listing{"failpoints", {"NAME", "PROGRAM", "PLACE", "ERROR"}};
    for (const failpoint::Row& row : failpoint::kTable)
        listing.rows.push_back(
            {std::string(row.name), failpoint::to_string(row.program), std::string(row.place), std::string(row.error)});
    return listing;
}

}  // namespace zbs::zone_program
