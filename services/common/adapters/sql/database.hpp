#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/common/ports/storage/journal.hpp"

namespace zbs::sql {

/// A statement that one connection has prepared. Stores use it through `Query`.
class Statement {
  public:
    virtual ~Statement() = default;
    /// The value of the next `?`. What a database cannot hold is an error of `step`.
    virtual void bind(std::string_view text) = 0;
    virtual void bind(std::int64_t number) = 0;
    /// True: a row is there. False: done. Errors: the database's own word, kConflict for a broken constraint; what
    /// failed has changed nothing.
    virtual Result<bool> step() = 0;
    virtual std::string text(int column) const = 0;
    virtual std::int64_t integer(int column) const = 0;
    /// Ready for the next use; false where it is of no more use.
    virtual bool reset() = 0;
};

/// One connection that writes. What a statement wrote is durable when it returns, or, after `batch`, with the next
/// `commit`, all of it or nothing. Not thread-safe; belongs to the domain's strand.
class Database : public Journal {
  public:
    Database() = default;
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    /// From now on what is written becomes durable with `commit` only.
    void batch() { batches_ = true; }
    /// All that `writes` does, or nothing where it fails.
    virtual Result<void> together(const std::function<Result<void>()>& writes) = 0;

  protected:
    /// SQL that SQLite and PostgreSQL both take, with a `?` for each value.
    virtual std::unique_ptr<Statement> prepare(std::string_view sql) = 0;
    /// To be called before the connection is closed.
    void forget_statements() { idle_.clear(); }
    bool batches() const { return batches_; }

  private:
    friend class Query;
    using Idle = std::vector<std::unique_ptr<Statement>>;
    std::map<std::string, Idle, std::less<>> idle_;  ///< those not at work, by text
    bool batches_ = false;
};

/// A statement at work: bind in order, then step. Finishes when it goes out of scope. Prepared once for each text.
class Query {
  public:
    Query(Database& database, std::string_view sql);
    ~Query();
    Query(const Query&) = delete;
    Query& operator=(const Query&) = delete;
    Query& bind(std::string_view text) { return statement_->bind(text), *this; }
    Query& bind(std::int64_t number) { return statement_->bind(number), *this; }
    Result<bool> step() { return statement_->step(); }
    std::string text(int column) const { return statement_->text(column); }
    std::int64_t integer(int column) const { return statement_->integer(column); }

  private:
    Database::Idle* idle_;  ///< where it goes afterwards
    std::unique_ptr<Statement> statement_;
};

/// What an error of a write says behind a batch that the database has lost: written by itself, the rest would be more
/// than half of it.
Error lost_batch();

}  // namespace zbs::sql
