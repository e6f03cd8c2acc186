#include "services/zone_scheduler/program/commands/operator_listings.hpp"

#include "services/common/codec/json/audit_text.hpp"
#include "services/common/failpoint/points.hpp"

namespace zbs::zone_program {

using codec::Json;
using listing::Cell;
using listing::Listing;

namespace {

std::string said(const Json& json, const char* key) { return json.value(key, std::string{}); }

/// "-" where the answer has none.
Cell moment(const Json& json, const char* key) {
    const std::int64_t at = json.value(key, std::int64_t{0});
    return at > 0 ? Cell(codec::utc_text(time_from_microseconds(at))) : Cell("-");
}

}  // namespace

Listing users_of(const Json& answer) {
    Listing listing{
        "users",
        {"NAME", "STANDING", {"CODE UNTIL", "code_expires_us"}, "CERTIFICATES", "GROUPS", {"ADDED", "added_us", true}},
        {},
        answer.value("users", Json::array())};
    for (const Json& user : listing.items) {
        std::string groups;
        for (const Json& group : user.value("groups", Json::array()))
            groups += (groups.empty() ? "" : ",") + group.get<std::string>();
        listing.rows.push_back({said(user, "name"), said(user, "standing"),
                                user.value("code_pending", false) ? moment(user, "code_expires_us") : Cell("-"),
                                user.value("certificates", Json::array()).size(), groups.empty() ? "-" : groups,
                                moment(user, "added_us")});
    }
    return listing;
}

Listing blocks_of(const Json& answer) {
    Listing listing{"blocks", {"SUBJECT", "BY", {"SINCE", "at_us"}, "REASON", "ANNOUNCED BY"}, {}, Json::array()};
    for (const char* of : {"blocks", "announced"}) {
        for (const Json& block : answer.value(of, Json::array())) {
            listing.items.push_back(block);
            listing.rows.push_back({said(block, "subject"), said(block, "by"), moment(block, "at_us"),
                                    said(block, "reason"), said(block, "announced_by")});
        }
    }
    return listing;
}

Listing failpoints() {
    Listing listing{"failpoints", {"NAME", "PROGRAM", "PLACE", "ERROR"}, {}, Json::array()};
    for (const failpoint::Row& row : failpoint::kTable)
        listing.rows.push_back(
            {std::string(row.name), failpoint::to_string(row.program), std::string(row.place), std::string(row.error)});
    return listing;
}

}  // namespace zbs::zone_program
