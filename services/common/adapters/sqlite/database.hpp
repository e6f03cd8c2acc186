#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/common/ports/journal.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace zbs::sqlite {

/// One connection that writes and checkpoints: WAL, synchronous=FULL, so a statement that succeeded survives power
/// loss, or, after `batch`, the statements since the last commit together. Not thread-safe; belongs to the domain's
/// strand.
class Database : public Journal {
  public:
    /// Opens or creates `path`, checks it (quick_check), and brings its schema to `statements` (version = their count;
    /// the statements already applied are not run again). Errors name the file and the remedy.
    static Result<std::unique_ptr<Database>> open(const std::string& path, const std::vector<std::string>& statements);
    /// A database that is there already, without the right to change it; the folder must let SQLite put its log beside
    /// it. Not checked: damage shows as an error of a query.
    static Result<std::unique_ptr<Database>> open_read_only(const std::string& path);
    ~Database() override;
    /// From now on what is written becomes durable with `commit` only, all of it or nothing.
    void batch() { batches_ = true; }
    bool is_dirty() const override;
    Result<void> commit() override;
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    /// A prepared statement at work: bind in order, then step. Finishes when it goes out of scope.
    class Query {
      public:
        Query(Database& database, const char* sql);
        ~Query();
        Query(const Query&) = delete;
        Query& operator=(const Query&) = delete;
        Query& bind(std::string_view text);
        Query& bind(std::int64_t number);
        /// True: a row is there. False: done. Errors: the database's own word, kConflict for a broken constraint.
        Result<bool> step();
        std::string text(int column) const;
        std::int64_t integer(int column) const;

      private:
        Database& database_;
        sqlite3_stmt* statement_ = nullptr;
        int bound_ = 0;
        int fault_ = 0;
    };

  private:
    explicit Database(sqlite3* handle) : handle_(handle) {}
    Error fault(const std::string& what) const;
    Result<void> run(const std::string& sql);
    sqlite3* handle_;
    bool batches_ = false;
    bool is_open_ = false;  ///< a batch was begun
};

}  // namespace zbs::sqlite
