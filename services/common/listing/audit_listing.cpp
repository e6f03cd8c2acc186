#include "services/common/listing/audit_listing.hpp"

#include "services/common/codec/audit_text.hpp"

namespace zbs::listing {

Listing audit_listing(const codec::AuditPage& page, codec::Json items) {
    Listing listing{"records",
                    {"NUMBER",
                     {"TIME", "at_us"},
                     "WHO",
                     "ACTION",
                     "OBJECT",
                     "DECISION",
                     {"CALL", "request_id", true},
                     "DETAIL",
                     {"HASH", true}},
                    {},
                    std::move(items)};
    for (const AuditRecord& record : page.records) {
        const AuditEntry& entry = record.entry;
        listing.rows.push_back({static_cast<std::int64_t>(record.number), codec::utc_text(entry.at), entry.who,
                                entry.action, entry.object, entry.decision, entry.request_id, entry.detail,
                                record.hash});
    }
    return listing;
}

}  // namespace zbs::listing
