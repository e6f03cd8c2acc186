#pragma once

namespace zbs::sqlite {

/// The step of a schema that record tables need. The row is the mark of a database that a service has made: a table of
/// records without a row was emptied (`check_database_kept`).
inline constexpr const char* kRecordSchema =
    "CREATE TABLE record(kind TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY(kind, key)) WITHOUT "
    "ROWID;"
    "INSERT INTO record VALUES('database', '', 'made')";

}  // namespace zbs::sqlite
