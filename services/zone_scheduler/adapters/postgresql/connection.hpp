#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/base/time.hpp"

struct pg_conn;
struct pg_result;

namespace zbs::postgresql {

/// Where a zone's database is.
struct Address {
    /// As libpq reads it: "postgresql://user@host/database?sslmode=verify-full&passfile=/etc/zbs/pgpass".
    std::string url;
    std::string schema;   ///< all of the zone's tables are in it
    std::string program;  ///< the name of the client for the server, at most 63 bytes
};

struct FreeResult {
    void operator()(pg_result* result) const;
};
using Answer = std::unique_ptr<pg_result, FreeResult>;

/// A statement with its values, in text form.
struct Call {
    std::string_view sql;  ///< or, where `prepared`, its name
    std::vector<std::string> values{};
    bool prepared = false;
};

/// Whether libpq understands it, and no password is in it: configuration files are read by many, and URLs are shown. No
/// server is asked. Errors: kInvalidArgument with the remedy, without what the URL says.
Result<void> check_url(const std::string& url);

/// One connection to PostgreSQL, in the zone's schema. Notices of the server are dropped. Not thread-safe.
class Connection {
  public:
    /// Connects, changes nothing, and checks that the server keeps what is committed (fsync, no replica, UTF-8;
    /// synchronous_commit is switched on for this connection). Errors name the server, never a password, and the
    /// remedy; a password in the URL is refused.
    static Result<std::unique_ptr<Connection>> open(const Address& address);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    /// One statement or several without values, in one transaction where they do not say otherwise. Waits.
    Result<void> run(const std::string& sql);
    /// One round trip for all of `calls`; those behind one that fails are not done. The answer is that of `calls[of]`.
    Result<Answer> ask(const std::vector<Call>& calls, std::size_t of = 0);
    /// One call, given up at `deadline` on CLOCK_BOOTTIME: kTimeout, and the connection is of no more use.
    Result<Answer> ask_until(const Call& call, Duration deadline);
    /// As `name` from now on. Types of values are what the statement makes of them.
    Result<void> prepare(const std::string& name, const std::string& sql);

    /// Makes the schema where it is missing. Errors: kUnavailable where the role may not.
    Result<void> make_schema(const Address& address);
    /// Whether the schema has this table, whatever the role may do with it.
    Result<bool> has_table(const Address& address, const std::string& table);

    bool is_lost() const;
    bool is_in_transaction() const;  ///< in one that has not failed

  private:
    explicit Connection(pg_conn* handle) : handle_(handle) {}
    Result<void> check(const Address& address);
    /// Until the server takes names without a schema for this one's: for a moment after another connection has made it
    /// it is not yet known to this one, and what is made would go elsewhere.
    Result<void> await_schema(const Address& address);
    Error fault(const pg_result* result) const;
    bool send(const Call& call);
    pg_conn* handle_;
};

/// Time that goes on while the machine sleeps.
Duration boot_time();

std::size_t rows_of(const Answer& answer);
std::string text_of(const Answer& answer, std::size_t row, int column);
std::int64_t integer_of(const Answer& answer, std::size_t row, int column);

/// A name as SQL writes it.
std::string sql_name(std::string_view name);

}  // namespace zbs::postgresql
