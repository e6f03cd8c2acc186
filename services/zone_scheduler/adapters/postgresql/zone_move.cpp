#include "services/zone_scheduler/adapters/postgresql/zone_move.hpp"

#include <utility>

#include "services/zone_scheduler/adapters/postgresql/database.hpp"
#include "services/zone_scheduler/adapters/postgresql/zone_store.hpp"

namespace zbs::postgresql {

namespace {

using Copied = std::vector<sql::CopiedTable>;

/// A folder more would leave open which of them is the zone's.
Result<void> record_folder(sql::Database& to, const std::string& id) {
    sql::Query known(to, "SELECT id FROM state_folder");
    const Result<bool> row = known.step();
    if (!row) return row.error();
    if (*row) return Error{ErrorCode::kConflict, "it goes with a state folder already", {}};
    sql::Query note(to, "INSERT INTO state_folder VALUES(?)");
    note.bind(id);
    const Result<bool> step = note.step();
    return step ? Result<void>{} : Result<void>(step.error());
}

Result<Copied> copy_all(sql::Database& zone, sql::Database& audit, sql::Database& to, const std::string& folder_id) {
    if (auto noted = record_folder(to, folder_id); !noted) return noted.error();
    Result<Copied> copied = sql::copy_zone_tables(zone, to);
    if (!copied) return copied;
    Result<sql::CopiedTable> log = sql::copy_audit_tables(audit, to);
    if (!log) return log.error();
    copied->push_back(*std::move(log));
    return copied;
}

Result<Copied> take_in(const Address& address, sql::Database& zone, sql::Database& audit, const std::string& folder_id,
                       const Lease& lease) {
    const Result<std::unique_ptr<Database>> opened = Database::open(address, zone_schema());
    if (!opened) return opened.error();
    Database& to = **opened;
    to.use_fence({lease.epoch(), [&lease] { return lease.holds(); }});
    to.batch();  // without a commit its end forgets all
    Result<Copied> copied = copy_all(zone, audit, to, folder_id);
    if (!copied && copied.error().code == ErrorCode::kConflict) {
        return Error{ErrorCode::kConflict,
                     "schema '" + address.schema + "' of the database cannot take in a zone (" +
                         copied.error().message +
                         "); name another 'schema' in [database], or drop this one if nobody needs it",
                     {}};
    }
    if (!copied) return copied;
    if (auto kept = to.commit(); !kept) return kept.error();
    return copied;
}

}  // namespace

Result<std::vector<sql::CopiedTable>> take_in_zone(const Address& address, sql::Database& zone, sql::Database& audit,
                                                   const ZoneMove& move) {
    const Result<std::unique_ptr<Lease>> lease = Lease::take(address, move.lease);
    if (!lease) return lease.error();
    // Where it is lost the fence refuses the commit.
    (*lease)->start({.taken = [](std::int64_t) {}, .lost = [](const Error&) {}});
    Result<Copied> copied = take_in(address, zone, audit, move.folder_id, **lease);
    (*lease)->release();
    return copied;
}

}  // namespace zbs::postgresql
