#include "services/common/adapters/postgresql/zone_move.hpp"

#include <utility>

#include "services/common/adapters/postgresql/database.hpp"
#include "services/common/adapters/postgresql/zone_schema.hpp"

namespace zbs::postgresql {

Result<std::vector<sql::CopiedTable>> take_in_zone(const Address& address, sql::Database& zone, sql::Database& audit,
                                                   const std::string& folder_id) {
    const Result<std::unique_ptr<Database>> opened = Database::open(address, zone_schema());
    if (!opened) return opened.error();
    Database& to = **opened;
    to.batch();  // without a commit its end forgets all
    const auto in_schema = [&](const Error& error) {
        if (error.code != ErrorCode::kConflict) return error;
        return Error{error.code,
                     "schema '" + address.schema + "' of the database cannot take in a zone (" + error.message +
                         "); name another 'schema' in [database], or drop this one if nobody needs it",
                     {}};
    };
    Result<std::vector<sql::CopiedTable>> copied = sql::copy_zone_tables(zone, to);
    if (!copied) return in_schema(copied.error());
    Result<sql::CopiedTable> log = sql::copy_audit_tables(audit, to);
    if (!log) return in_schema(log.error());
    copied->push_back(*std::move(log));
    {
        sql::Query note(to, "INSERT INTO state_folder VALUES(?)");
        note.bind(folder_id);
        if (const Result<bool> step = note.step(); !step) return in_schema(step.error());
    }
    if (auto kept = to.commit(); !kept) return kept.error();
    return copied;
}

}  // namespace zbs::postgresql
