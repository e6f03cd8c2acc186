#include "services/common/adapters/sql/zone_copy.hpp"

#include <array>
#include <string_view>

#include "services/common/adapters/sql/statements.hpp"

namespace zbs::sql {
namespace {

struct Table {
    std::string_view name;
    std::string_view columns;
    std::string_view kinds;  ///< one letter a column: t is text, i a 64-bit integer
    std::string_view order;
};

// A table or column that is missing here would be lost by a move: `ZoneCopy.TakesEveryColumnOfEveryTable` compares.
constexpr std::array<Table, 10> kZoneTables = {
    Table{"application", "id, owner, open, ended_us, ranks, program, outline, status, name, state, submitted_us",
          "ttiiittttti", "id"},
    Table{"application_request", "id, request", "tt", "id"},
    Table{"removed_application", "id", "t", "id"},
    Table{"part", "id, record, open, ended_us", "ttii", "id"},
    Table{"removed_part", "id", "t", "id"},
    Table{"peer", "zone, record", "tt", "zone"},
    Table{"profile",
          "id, owner, program, ranks, complete, at_us, application, digest, arguments, predicted_us, measured_us, "
          "unseen, model",
          "tttiiitttiitt", "id"},
    Table{"counter", "name, value", "ti", "name"},
    Table{"record", "kind, key, value", "ttt", "kind, key"},
    Table{"event", "id, subject, owner, event", "ittt", "id"}};
constexpr Table kAudit = {"audit", "number, at_us, who, action, object, decision, request_id, detail, hash",
                          "iitttttt"
                          "t",
                          "number"};
constexpr Table kAuditBegun = {"audit_begun", "entry", "i", "entry"};

Error in_table(const Table& table, const Error& error) {
    return {error.code, "table '" + std::string(table.name) + "': " + error.message, {}};
}

Result<std::int64_t> count(Database& database, const Table& table) {
    return number_of(database, "SELECT count(*) FROM " + std::string(table.name));
}

Result<void> insert_row(Database& to, const Table& table, const std::string& insert, const Query& row) {
    Query write(to, insert);
    for (std::size_t i = 0; i < table.kinds.size(); ++i) {
        const int column = static_cast<int>(i);
        if (table.kinds[i] == 't')
            write.bind(row.text(column));
        else
            write.bind(row.integer(column));
    }
    if (const Result<bool> step = write.step(); !step) return in_table(table, step.error());
    return {};
}

Result<CopiedTable> copy(Database& from, Database& to, const Table& table) {
    const Result<std::int64_t> before = count(to, table);
    if (!before) return in_table(table, before.error());
    if (*before != 0) return in_table(table, {ErrorCode::kConflict, "is not empty", {}});
    std::string insert = "INSERT INTO " + std::string(table.name) + "(" + std::string(table.columns) + ") VALUES(";
    for (std::size_t i = 0; i < table.kinds.size(); ++i) insert += i == 0 ? "?" : ",?";
    insert += ")";
    Query rows(from, "SELECT " + std::string(table.columns) + " FROM " + std::string(table.name) + " ORDER BY " +
                         std::string(table.order));
    for (;;) {
        const Result<bool> row = rows.step();
        if (!row) return in_table(table, row.error());
        if (!*row) break;
        if (auto written = insert_row(to, table, insert, rows); !written) return written.error();
    }
    const Result<std::int64_t> there = count(from, table), here = count(to, table);
    if (!there || !here) return in_table(table, there ? here.error() : there.error());
    if (*there != *here)
        return in_table(table, {ErrorCode::kConflict,
                                std::to_string(*there) + " rows became " + std::to_string(*here) +
                                    "; does another program write to one of the databases?",
                                {}});
    return CopiedTable{std::string(table.name), *here};
}

}  // namespace

Result<std::vector<CopiedTable>> copy_zone_tables(Database& from, Database& to) {
    std::vector<CopiedTable> copied;
    const Result<void> done = to.together([&]() -> Result<void> {
        // A new database begins with counters of its own, none of which it has given to anybody.
        const Result<std::int64_t> given = number_of(to, "SELECT count(*) FROM counter WHERE value<>0");
        if (!given) return given.error();
        if (*given != 0) return Error{ErrorCode::kConflict, "table 'counter': has been used", {}};
        if (auto cleared = run_statements(to, {"DELETE FROM counter"}); !cleared) return cleared;
        for (const Table& table : kZoneTables) {
            Result<CopiedTable> one = copy(from, to, table);
            if (!one) return one.error();
            copied.push_back(*std::move(one));
        }
        return {};
    });
    if (!done) return done.error();
    return copied;
}

Result<CopiedTable> copy_audit_tables(Database& from, Database& to) {
    CopiedTable copied;
    const Result<void> done = to.together([&]() -> Result<void> {
        Result<CopiedTable> entries = copy(from, to, kAudit);
        if (!entries) return entries.error();
        copied = *std::move(entries);
        const Result<CopiedTable> begun = copy(from, to, kAuditBegun);
        return begun ? Result<void>{} : Result<void>(begun.error());
    });
    if (!done) return done.error();
    return copied;
}

}  // namespace zbs::sql
