#include "services/common/adapters/sqlite/database.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <filesystem>
#include <set>

namespace zbs::sqlite {

Database::~Database() {
    forget_statements();
    sqlite3_close_v2(handle_);
}

Error Database::fault(const std::string& what) const {
    const int code = sqlite3_errcode(handle_);
    const ErrorCode kind = (code & 0xff) == SQLITE_CONSTRAINT ? ErrorCode::kConflict : ErrorCode::kUnavailable;
    return {kind, what + ": " + sqlite3_errmsg(handle_), {}};
}

Result<void> Database::run(const std::string& sql) {
    if (sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
        return fault("database statement failed");
    return {};
}

/// The first table that `statements` make and that is not in it; empty: none.
Result<std::string> Database::missing_table(const std::vector<std::string>& statements) {
    const Result<std::unique_ptr<Database>> whole = open_scratch(":memory:");
    if (!whole) return whole.error();
    for (const std::string& statement : statements)
        if (auto made = (*whole)->run(statement); !made) return made.error();
    const auto tables_of = [](Database& database) -> Result<std::set<std::string>> {
        std::set<std::string> names;
        Query query(database, "SELECT name FROM sqlite_schema WHERE type='table'");
        for (;;) {
            const Result<bool> row = query.step();
            if (!row) return row.error();
            if (!*row) return names;
            names.insert(query.text(0));
        }
    };
    const Result<std::set<std::string>> wanted = tables_of(**whole), here = tables_of(*this);
    if (!wanted) return wanted.error();
    if (!here) return here.error();
    for (const std::string& name : *wanted)
        if (!here->contains(name)) return name;
    return std::string{};
}

/// Its version, where it is whole and none that only a newer program knows.
Result<std::int64_t> Database::check(const std::string& path, const std::vector<std::string>& statements,
                                     const std::string& remedy) {
    const auto damaged = [&](const std::string& why) {
        return Error{ErrorCode::kUnavailable, "database " + path + " is damaged (" + why + ")" + remedy, {}};
    };
    {
        Query whole(*this, "PRAGMA quick_check(1)");
        const Result<bool> row = whole.step();
        if (!row || !*row || whole.text(0) != "ok") return damaged(row ? whole.text(0) : row.error().message);
    }
    const auto newest = static_cast<std::int64_t>(statements.size());
    Query query(*this, "PRAGMA user_version");
    if (const Result<bool> row = query.step(); !row) return row.error();
    const std::int64_t version = query.integer(0);
    if (version == newest) {
        const Result<std::string> missing = missing_table(statements);
        if (!missing) return missing.error();
        if (!missing->empty()) return damaged("it has lost its table '" + *missing + "'");
    }
    if (version <= newest) return version;
    return Error{ErrorCode::kUnavailable,
                 "database " + path + " has schema version " + std::to_string(version) + ", this program knows " +
                     std::to_string(newest) + "; start the newer program",
                 {}};
}

Result<std::int64_t> Database::examine(const std::string& path, const std::vector<std::string>& statements) {
    const Result<std::unique_ptr<Database>> opened = open_read_only(path);
    if (!opened) return opened.error();
    return (*opened)->check(path, statements, "; restore it from a backup");
}

Result<std::unique_ptr<Database>> Database::open(const std::string& path, const std::vector<std::string>& statements,
                                                 const std::string& how_to_restore) {
    const std::string remedy =
        "; restore it from a backup" + how_to_restore + ", or " +
        (how_to_restore.empty() ? "move it away to begin a new one" : "start with a new, empty state folder");
    // SQLite makes its files readable for all; its journals take over what the database has. Only a new file is
    // touched: closing one that is open elsewhere here would drop its locks.
    if (const int file = ::open(path.c_str(), O_CREAT | O_EXCL | O_CLOEXEC | O_RDWR, 0600); file >= 0) ::close(file);
    sqlite3* handle = nullptr;
    const int opened =
        sqlite3_open_v2(path.c_str(), &handle,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX | SQLITE_OPEN_URI, nullptr);
    std::unique_ptr<Database> database(new Database(handle));
    if (opened != SQLITE_OK) {
        return Error{ErrorCode::kUnavailable,
                     "cannot open database " + path + ": " + sqlite3_errstr(opened) +
                         "; check that the folder exists and can be written",
                     {}};
    }
    sqlite3_extended_result_codes(handle, 1);
    sqlite3_busy_timeout(handle, 2'000);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    for (const char* pragma : {"PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL", "PRAGMA foreign_keys=ON",
                               "PRAGMA trusted_schema=OFF", "PRAGMA journal_size_limit=67108864"}) {
        if (auto ok = database->run(pragma); !ok) {
            return Error{
                ErrorCode::kUnavailable, "database " + path + " cannot be used: " + ok.error().message + remedy, {}};
        }
    }
    const Result<std::int64_t> version = database->check(path, statements, remedy);
    if (!version) return version.error();
    for (std::size_t i = static_cast<std::size_t>(*version); i < statements.size(); ++i) {
        const std::string step =
            "BEGIN IMMEDIATE;" + statements[i] + ";PRAGMA user_version=" + std::to_string(i + 1) + ";COMMIT";
        if (auto ok = database->run(step); !ok) return ok.error();
    }
    return database;
}

Result<std::unique_ptr<Database>> Database::open_read_only(const std::string& path) {
    sqlite3* handle = nullptr;
    const int opened = sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READONLY | SQLITE_OPEN_FULLMUTEX, nullptr);
    std::unique_ptr<Database> database(new Database(handle));
    if (opened != SQLITE_OK) {
        return Error{
            ErrorCode::kUnavailable,
            "cannot open database " + path + ": " + sqlite3_errstr(opened) + "; check that it exists and can be read",
            {}};
    }
    sqlite3_extended_result_codes(handle, 1);
    sqlite3_busy_timeout(handle, 2'000);
    if (auto ok = database->run("PRAGMA trusted_schema=OFF"); !ok) return ok.error();
    return database;
}

Result<std::unique_ptr<Database>> Database::open_scratch(const std::string& path) {
    sqlite3* handle = nullptr;
    const int opened = sqlite3_open_v2(path.c_str(), &handle,
                                       SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX | SQLITE_OPEN_URI, nullptr);
    std::unique_ptr<Database> database(new Database(handle));
    if (opened != SQLITE_OK)
        return Error{ErrorCode::kUnavailable, "cannot open " + path + ": " + sqlite3_errstr(opened), {}};
    sqlite3_extended_result_codes(handle, 1);
    sqlite3_busy_timeout(handle, 2'000);
    for (const char* pragma : {"PRAGMA journal_mode=DELETE", "PRAGMA synchronous=OFF", "PRAGMA trusted_schema=OFF"}) {
        if (auto ok = database->run(pragma); !ok) return ok.error();
    }
    return database;
}

bool Database::is_dirty() const { return is_open_; }

Result<void> Database::commit() {
    if (!is_open_) return {};
    // SQLite takes a whole batch back by itself where the disk fails or is full.
    if (sqlite3_get_autocommit(handle_) != 0)
        return Error{ErrorCode::kUnavailable, "the database could not keep what was written to it", {}};
    if (auto done = run("COMMIT"); !done) return done;
    is_open_ = false;
    return {};
}

Result<void> Database::begin_batch() {
    if (!batches() || is_open_) return {};
    if (auto begun = run("BEGIN IMMEDIATE"); !begun) return begun;
    is_open_ = true;
    return {};
}

Result<void> Database::together(const std::function<Result<void>()>& writes) {
    if (auto begun = begin_batch(); !begun) return begun;
    if (is_open_ && sqlite3_get_autocommit(handle_) != 0) return sql::lost_batch();
    if (auto marked = run("SAVEPOINT together"); !marked) return marked;
    Result<void> done = writes();
    if (done) done = run("RELEASE together");
    // Where the disk failed SQLite has taken back all of it already; that this fails then says nothing new.
    if (!done) static_cast<void>(run("ROLLBACK TO together; RELEASE together"));
    return done;
}

class Database::SqliteStatement : public sql::Statement {
  public:
    SqliteStatement(Database& database, std::string_view sql)
        : database_(database),
          fault_(sqlite3_prepare_v3(database.handle_, sql.data(), static_cast<int>(sql.size()),
                                    SQLITE_PREPARE_PERSISTENT, &statement_, nullptr)) {}
    ~SqliteStatement() override { sqlite3_finalize(statement_); }
    SqliteStatement(const SqliteStatement&) = delete;
    SqliteStatement& operator=(const SqliteStatement&) = delete;

    void bind(std::string_view text) override {
        if (fault_ == SQLITE_OK)
            fault_ = sqlite3_bind_text64(statement_, ++bound_, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
    }
    void bind(std::int64_t number) override {
        if (fault_ == SQLITE_OK) fault_ = sqlite3_bind_int64(statement_, ++bound_, number);
    }

    Result<bool> step() override {
        if (fault_ != SQLITE_OK) return database_.fault("database statement cannot be prepared");
        const bool writes = sqlite3_stmt_readonly(statement_) == 0;
        if (writes) {
            if (auto begun = database_.begin_batch(); !begun) return begun.error();
            if (database_.is_open_ && sqlite3_get_autocommit(database_.handle_) != 0) return sql::lost_batch();
        }
        const int code = sqlite3_step(statement_);
        if (code == SQLITE_ROW) return true;
        if (code == SQLITE_DONE) return false;
        return database_.fault("database write failed");
    }
    std::string text(int column) const override {
        const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
        return bytes == nullptr
                   ? std::string{}
                   : std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
    }
    std::int64_t integer(int column) const override { return sqlite3_column_int64(statement_, column); }
    bool reset() override {
        if (statement_ == nullptr) return false;
        sqlite3_reset(statement_);
        sqlite3_clear_bindings(statement_);
        bound_ = 0;
        fault_ = SQLITE_OK;
        return true;
    }

  private:
    Database& database_;
    sqlite3_stmt* statement_ = nullptr;
    int bound_ = 0;
    int fault_;
};

std::unique_ptr<sql::Statement> Database::prepare(std::string_view sql) {
    return std::make_unique<SqliteStatement>(*this, sql);
}

std::uint64_t database_bytes(const std::string& path) {
    std::uint64_t bytes = 0;
    for (const char* suffix : {"", "-wal"}) {
        std::error_code none;
        const auto size = std::filesystem::file_size(path + suffix, none);
        if (!none) bytes += size;
    }
    return bytes;
}

}  // namespace zbs::sqlite
