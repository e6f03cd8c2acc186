#pragma once

namespace zbs::sqlite {

/// The step of a schema that record tables need.
inline constexpr const char* kRecordSchema =
    "CREATE TABLE record(kind TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY(kind, key)) WITHOUT "
    "ROWID";

}  // namespace zbs::sqlite
