#include "services/zone_scheduler/adapters/postgresql/database.hpp"

#include <utility>

namespace zbs::postgresql {
namespace {

/// The first half of the lock's number; the second is the schema's.
constexpr const char* kWriterLock = "1514296659";

constexpr const char* kVersionTable = "CREATE TABLE IF NOT EXISTS schema_version(version bigint NOT NULL)";

/// `?` as `$1`, `$2`, ...; not within quotes.
std::string numbered(std::string_view sql) {
    std::string text;
    int values = 0;
    bool in_quotes = false;
    for (const char c : sql) {
        if (c == '\'') in_quotes = !in_quotes;
        if (c == '?' && !in_quotes)
            text += "$" + std::to_string(++values);
        else
            text += c;
    }
    return text;
}

Error too_new(const std::string& schema, std::int64_t version, std::size_t newest) {
    return {ErrorCode::kUnavailable,
            "schema '" + schema + "' of the database has version " + std::to_string(version) + ", this program knows " +
                std::to_string(newest) + "; start the newer program",
            {}};
}

Result<std::int64_t> version_of(Connection& connection) {
    const Result<Answer> answer = connection.ask({{"SELECT coalesce(max(version), 0) FROM schema_version"}});
    if (!answer) return answer.error();
    return integer_of(*answer, 0, 0);
}

Result<void> migrate(Connection& connection, const Address& address, const std::vector<std::string>& steps) {
    if (auto made = connection.run(kVersionTable); !made) return made;
    const Result<std::int64_t> version = version_of(connection);
    if (!version) return version.error();
    if (*version > static_cast<std::int64_t>(steps.size())) return too_new(address.schema, *version, steps.size());
    for (std::size_t i = static_cast<std::size_t>(*version); i < steps.size(); ++i) {
        const std::string step =
            "BEGIN;" + steps[i] + ";INSERT INTO schema_version VALUES(" + std::to_string(i + 1) + ");COMMIT";
        if (auto done = connection.run(step); !done) {
            static_cast<void>(connection.run("ROLLBACK"));
            return Error{
                done.error().code,
                "the database cannot be migrated to version " + std::to_string(i + 1) + ": " + done.error().message,
                {}};
        }
    }
    return {};
}

}  // namespace

Result<std::unique_ptr<Database>> Database::open(const Address& address, const std::vector<std::string>& steps) {
    Result<std::unique_ptr<Connection>> connection = Connection::open(address);
    if (!connection) return connection.error();
    if (auto made = (*connection)->make_schema(address); !made) return made.error();
    const std::string lock = std::string("SELECT pg_advisory_lock(") + kWriterLock +
                             ", (SELECT oid::integer FROM pg_namespace WHERE nspname=current_schema()))";
    if (auto locked = (*connection)->run(lock); !locked) {
        return Error{ErrorCode::kConflict,
                     "another process writes to schema '" + address.schema + "' of the database (" +
                         locked.error().message + "); stop it first",
                     {}};
    }
    if (auto migrated = migrate(**connection, address, steps); !migrated) return migrated.error();
    return std::unique_ptr<Database>(new Database(*std::move(connection)));
}

Result<std::unique_ptr<Database>> Database::open_to_read(const Address& address, std::size_t newest) {
    Result<std::unique_ptr<Connection>> connection = Connection::open(address);
    if (!connection) return connection.error();
    if (auto read_only = (*connection)->run("SET default_transaction_read_only TO on"); !read_only)
        return read_only.error();
    const Result<bool> there = (*connection)->has_table(address, "schema_version");
    if (!there) return there.error();
    if (!*there) {
        return Error{ErrorCode::kNotFound,
                     "schema '" + address.schema + "' of the database holds no zone yet: start the zone once",
                     {}};
    }
    const Result<std::int64_t> version = version_of(**connection);
    if (!version) return version.error();
    if (*version > static_cast<std::int64_t>(newest)) return too_new(address.schema, *version, newest);
    return std::unique_ptr<Database>(new Database(*std::move(connection)));
}

Database::~Database() { forget_statements(); }

Result<int> end_writers(Connection& connection, std::int64_t seen, Duration deadline) {
    const std::string sql = std::string(
                                "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype='advisory' AND granted "
                                "AND database=(SELECT oid FROM pg_database WHERE datname=current_database()) AND "
                                "classid=") +
                            kWriterLock +
                            " AND objid=(SELECT oid FROM pg_namespace WHERE "
                            "nspname=current_schema()) AND pid<>pg_backend_pid() AND EXISTS(SELECT 1 FROM lease WHERE "
                            "epoch=$1 AND until<=clock_timestamp())";
    const Result<Answer> ended = connection.ask_until({sql, {std::to_string(seen)}}, deadline);
    if (!ended) return ended.error();
    return static_cast<int>(rows_of(*ended));
}

Result<void> Database::begin_batch() {
    if (!batches() || is_open_) return {};
    if (auto begun = connection_->run("BEGIN"); !begun) return begun;
    is_open_ = true;
    return {};
}

Result<void> Database::commit() {
    if (!is_open_) return {};
    if (!connection_->is_in_transaction())
        return Error{ErrorCode::kUnavailable, "the database could not keep what was written to it", {}};
    std::vector<Call> calls;
    if (fence_) calls.push_back({"SELECT fence($1)", {std::to_string(fence_->epoch)}});
    calls.push_back({"COMMIT"});
    const Result<Answer> done = connection_->ask(calls, calls.size() - 1);
    if (!done) return done.error();
    is_open_ = false;
    return {};
}

Result<void> Database::together(const std::function<Result<void>()>& writes) {
    if (auto begun = begin_batch(); !begun) return begun;
    if (is_open_ && !connection_->is_in_transaction()) return sql::lost_batch();
    if (auto marked = connection_->run(is_open_ ? "SAVEPOINT together" : "BEGIN"); !marked) return marked;
    is_together_ = true;
    Result<void> done = writes();
    is_together_ = false;
    if (done) done = connection_->run(is_open_ ? "RELEASE together" : "COMMIT");
    if (!done) static_cast<void>(connection_->run(is_open_ ? "ROLLBACK TO together; RELEASE together" : "ROLLBACK"));
    return done;
}

Result<Answer> Database::execute(const std::string& name, const std::vector<std::string>& values, bool writes) {
    if (writes) {
        if (auto begun = begin_batch(); !begun) return begun.error();
        if (is_open_ && !connection_->is_in_transaction()) return sql::lost_batch();
    }
    const Call call{name, values, /*prepared=*/true};
    if (!is_open_ || is_together_) return connection_->ask({call});
    Result<Answer> answer = connection_->ask({{"SAVEPOINT one"}, call, {"RELEASE one"}}, 1);
    // Where this fails, too, the batch is lost; its commit says so.
    if (!answer) static_cast<void>(connection_->run("ROLLBACK TO one; RELEASE one"));
    return answer;
}

class Database::PreparedStatement : public sql::Statement {
  public:
    PreparedStatement(Database& database, std::string_view sql)
        : database_(database),
          sql_(numbered(sql)),
          writes_(!sql.starts_with("SELECT ")),
          is_command_(sql == "ROLLBACK") {}

    void bind(std::string_view text) override {
        if (text.find('\0') != std::string_view::npos) {
            fault_ = invalid("value " + std::to_string(values_.size() + 1) +
                             " for the database holds a NUL character, which PostgreSQL cannot keep");
        }
        values_.emplace_back(text);
    }
    void bind(std::int64_t number) override { values_.push_back(std::to_string(number)); }

    Result<bool> step() override {
        if (fault_) return *fault_;
        if (answer_ == nullptr) {
            if (is_command_) {
                if (auto done = database_.connection_->run(sql_); !done) return done.error();
                return false;
            }
            if (auto ready = make_ready(); !ready) return ready.error();
            Result<Answer> answer = database_.execute(name_, values_, writes_);
            if (!answer) return answer.error();
            answer_ = *std::move(answer);
            row_ = 0;
        } else {
            ++row_;
        }
        return row_ < rows_of(answer_);
    }
    std::string text(int column) const override { return text_of(answer_, row_, column); }
    std::int64_t integer(int column) const override { return integer_of(answer_, row_, column); }
    bool reset() override {
        answer_.reset();
        values_.clear();
        fault_.reset();
        return !name_.empty();
    }

  private:
    /// Outside of what is guarded: a statement that cannot be prepared must not break a batch either.
    Result<void> make_ready() {
        if (!name_.empty()) return {};
        Connection& connection = *database_.connection_;
        const bool guarded = connection.is_in_transaction();
        if (guarded) {
            if (auto marked = connection.run("SAVEPOINT preparing"); !marked) return marked;
        }
        const std::string name = "s" + std::to_string(++database_.prepared_);
        const Result<void> prepared = connection.prepare(name, sql_);
        if (guarded)
            static_cast<void>(
                connection.run(prepared ? "RELEASE preparing" : "ROLLBACK TO preparing; RELEASE preparing"));
        if (prepared) name_ = name;
        return prepared;
    }

    Database& database_;
    std::string sql_;
    std::string name_;  ///< once prepared
    std::vector<std::string> values_;
    std::optional<Error> fault_;
    Answer answer_;
    std::size_t row_ = 0;
    bool writes_;
    bool is_command_;
};

std::unique_ptr<sql::Statement> Database::prepare(std::string_view sql) {
    return std::make_unique<PreparedStatement>(*this, sql);
}

}  // namespace zbs::postgresql
