#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/common/adapters/sql/database.hpp"

struct sqlite3;
namespace zbs::sqlite {

/// One connection that writes and checkpoints: WAL, synchronous=FULL, so a statement that succeeded survives power
/// loss, or, after `batch`, the statements since the last commit together. Not thread-safe; belongs to the domain's
/// strand.
class Database : public sql::Database {
  public:
    /// Opens or creates `path`, checks it (quick_check, and that no table is missing), and brings its schema to
    /// `statements` (version = their count; the statements already applied are not run again). Errors name the file and
    /// the remedy. `how_to_restore` follows the advice to restore a damaged one from a backup.
    static Result<std::unique_ptr<Database>> open(const std::string& path, const std::vector<std::string>& statements,
                                                  const std::string& how_to_restore = {});
    /// A database that is there already, without the right to change it; the folder must let SQLite put its log beside
    /// it. Not checked: damage shows as an error of a query.
    static Result<std::unique_ptr<Database>> open_read_only(const std::string& path);
    /// The schema version of a database that is whole and not of a newer program than one that knows `statements`;
    /// changes nothing, also while another program uses it. Errors as of `open`. O(size).
    static Result<std::int64_t> examine(const std::string& path, const std::vector<std::string>& statements);
    /// A file that nobody needs yet: without a journal that outlives it and without syncs; whoever keeps it syncs it.
    static Result<std::unique_ptr<Database>> open_scratch(const std::string& path);
    ~Database() override;
    Result<void> together(const std::function<Result<void>()>& writes) override;
    bool is_dirty() const override;
    bool is_ours() const override { return true; }
    Result<void> commit() override;

    using Query = sql::Query;

  protected:
    std::unique_ptr<sql::Statement> prepare(std::string_view sql) override;

  private:
    class SqliteStatement;
    explicit Database(sqlite3* handle) : handle_(handle) {}
    Error fault(const std::string& what) const;
    Result<void> run(const std::string& sql);
    Result<std::string> missing_table(const std::vector<std::string>& statements);
    Result<std::int64_t> check(const std::string& path, const std::vector<std::string>& statements,
                               const std::string& remedy);
    Result<void> begin_batch();
    sqlite3* handle_;
    bool is_open_ = false;  ///< a batch was begun
};

/// Bytes of a database's files, its write-ahead log among them; what is not there counts 0. Any thread.
std::uint64_t database_bytes(const std::string& path);

/// The step of a schema that record tables need. The row is the mark of a database that a service has made: a table of
/// records without a row was emptied (`check_database_kept`).
inline constexpr const char* kRecordSchema =
    "CREATE TABLE record(kind TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY(kind, key)) WITHOUT "
    "ROWID;"
    "INSERT INTO record VALUES('database', '', 'made')";

}  // namespace zbs::sqlite
