#include "services/zone_scheduler/program/commands/operator_listings.hpp"

#include "algorithms/base/text.hpp"
#include "services/common/codec/records/audit_codec.hpp"
#include "services/common/codec/site_codec.hpp"
#include "services/common/failpoint/failpoint.hpp"

namespace zbs::zone_program {

using codec::Json;
using listing::Cell;
using listing::Listing;

namespace {

/// "-" where the answer has none.
Cell moment(Time at) { return at > Time{} ? Cell(codec::utc_text(at)) : Cell("-"); }

}  // namespace

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
