#include "services/common/listing/audit_listing.hpp"

#include <algorithm>

namespace zbs::listing {

Listing audit_listing(const codec::AuditPage& page) {
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
                    {}};
    for (const AuditRecord& record : page.records) {
        const AuditEntry& entry = record.entry;
        listing.items.push_back(codec::encode(record));
        listing.rows.push_back({static_cast<std::int64_t>(record.number), codec::utc_text(entry.at), entry.who,
                                entry.action, entry.object, entry.decision, entry.request_id, entry.detail,
                                record.hash});
    }
    return listing;
}

Result<std::uint64_t> last_entry_before(Time since, const AskAudit& ask) {
    const Result<codec::AuditPage> begin = ask(0);
    if (!begin) return begin.error();
    std::uint64_t before = 0, end = begin->head.entries;  // the answer is one of them or between
    while (before < end) {
        const std::uint64_t middle = before + (end - before) / 2;
        const Result<codec::AuditPage> page = ask(middle);
        if (!page) return page.error();
        if (!page->records.empty() && page->records[0].entry.at < since)
            before = std::max(middle + 1, page->records[0].number);
        else
            end = middle;
    }
    return std::min(before, begin->head.entries);
}

}  // namespace zbs::listing
