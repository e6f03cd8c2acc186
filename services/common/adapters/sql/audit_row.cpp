#include "services/common/adapters/sql/audit_row.hpp"

#include "services/common/adapters/sql/statements.hpp"

namespace zbs::sql {

Result<void> insert_audit_row(Database& database, std::string_view insert, const AuditRecord& record) {
    Query query(database, insert);
    query.bind(static_cast<std::int64_t>(record.number)).bind(to_microseconds(record.entry.at));
    query.bind(record.entry.who).bind(record.entry.action).bind(record.entry.object).bind(record.entry.decision);
    query.bind(record.entry.request_id).bind(record.entry.detail).bind(record.hash);
    return carry_out(query);
}

AuditRecord audit_record_of(const Query& row) {
    return {static_cast<std::uint64_t>(row.integer(0)),
            {time_from_microseconds(row.integer(1)), row.text(2), row.text(3), row.text(4), row.text(5), row.text(6),
             row.text(7)},
            row.text(8)};
}

}  // namespace zbs::sql
