#include "services/zone_scheduler/adapters/postgresql/connection.hpp"

#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <thread>

namespace zbs::postgresql {
namespace {

constexpr int kOldestServer = 130'000;
constexpr Duration kSchemaPatience = std::chrono::seconds{2};
constexpr Duration kSchemaPause = std::chrono::milliseconds{5};

/// What the server says, in one line.
std::string in_one_line(const char* text) {
    std::string line = text == nullptr ? "" : text;
    while (!line.empty() && line.back() == '\n') line.pop_back();
    std::replace(line.begin(), line.end(), '\n', ' ');
    return line;
}

struct FreeOptions {
    void operator()(PQconninfoOption* options) const { PQconninfoFree(options); }
};

void drop_notice(void*, const char*) {}

bool is_good(const PGresult* result) {
    const ExecStatusType status = PQresultStatus(result);
    return status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK || status == PGRES_EMPTY_QUERY;
}

Error refused(const Address& address, const std::string& what) {
    return {ErrorCode::kUnavailable, "the database of schema '" + address.schema + "' cannot be used: " + what, {}};
}

std::string search_path(const Address& address) { return sql_name(address.schema) + ", pg_catalog"; }

}  // namespace

Result<void> check_url(const std::string& url) {
    // What libpq says of a fault may quote the URL, and so a password in it.
    const std::unique_ptr<PQconninfoOption, FreeOptions> options(PQconninfoParse(url.c_str(), nullptr));
    const auto unreadable = [](const std::string& what) {
        return invalid("'url' of [database] cannot be read" + what +
                       "; write it as postgresql://USER@HOST/DATABASE?sslmode=verify-full, other characters than "
                       "letters, digits, - . and _ as % and two hexadecimal digits");
    };
    if (options == nullptr) return unreadable("");
    for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
        const std::string_view keyword = option->keyword;
        const std::string_view value = option->val == nullptr ? "" : option->val;
        // So may what is taken for a port: a password without '@' behind it, or with '/' in it.
        if (keyword == "port" && value.find_first_not_of("0123456789,") != std::string_view::npos)
            return unreadable(": its port is no number");
        if (keyword == "sslpassword" && option->val != nullptr)
            return invalid(
                "'url' of [database] holds a password ('sslpassword'); use a key without one, in a file of mode 0600, "
                "named by ?sslkey=FILE");
        if (keyword == "password" && option->val != nullptr)
            return invalid("'url' of [database] holds a password; put it into a file of mode 0600, a line " +
                           std::string("HOST:PORT:DATABASE:USER:PASSWORD, and name that file by ?passfile=FILE"));
    }
    return {};
}

void FreeResult::operator()(pg_result* result) const { PQclear(result); }

Duration boot_time() {
    timespec now{};
    clock_gettime(CLOCK_BOOTTIME, &now);
    return std::chrono::duration_cast<Duration>(std::chrono::seconds{now.tv_sec} +
                                                std::chrono::nanoseconds{now.tv_nsec});
}

std::size_t rows_of(const Answer& answer) { return static_cast<std::size_t>(PQntuples(answer.get())); }
std::string text_of(const Answer& answer, std::size_t row, int column) {
    if (row >= rows_of(answer)) return {};
    const int at = static_cast<int>(row);
    return {PQgetvalue(answer.get(), at, column), static_cast<std::size_t>(PQgetlength(answer.get(), at, column))};
}
std::int64_t integer_of(const Answer& answer, std::size_t row, int column) {
    return std::strtoll(text_of(answer, row, column).c_str(), nullptr, 10);
}

std::string sql_name(std::string_view name) {
    std::string text = "\"";
    for (const char c : name) text += c == '"' ? "\"\"" : std::string(1, c);
    return text + '"';
}

Result<std::unique_ptr<Connection>> Connection::open(const Address& address) {
    if (auto good = check_url(address.url); !good) return good.error();
    // What the URL says of these counts more: it comes behind them.
    const std::array<const char*, 9> keys = {"connect_timeout",     "tcp_user_timeout", "keepalives_idle",
                                             "keepalives_interval", "keepalives_count", "dbname",
                                             "client_encoding",     "application_name", nullptr};
    const std::array<const char*, 9> values = {
        "5", "10000", "5", "2", "3", address.url.c_str(), "UTF8", address.program.c_str(), nullptr};
    std::unique_ptr<Connection> connection(new Connection(PQconnectdbParams(keys.data(), values.data(), 1)));
    PGconn* const handle = connection->handle_;
    if (PQstatus(handle) != CONNECTION_OK) {
        return Error{ErrorCode::kUnavailable,
                     "PostgreSQL does not let the zone in: " + in_one_line(PQerrorMessage(handle)) +
                         "; check 'url' of [database], that the server runs, and the password file",
                     {}};
    }
    PQsetNoticeProcessor(handle, drop_notice, nullptr);
    if (auto good = connection->check(address); !good) return good.error();
    return connection;
}

Connection::~Connection() { PQfinish(handle_); }

Result<void> Connection::check(const Address& address) {
    if (PQserverVersion(handle_) < kOldestServer)
        return refused(address, "PostgreSQL there is older than version 13; upgrade it");
    const Result<Answer> answer =
        ask({{"SELECT current_setting('fsync'), current_setting('full_page_writes'), "
              "pg_is_in_recovery(), current_setting('server_encoding'), "
              "current_setting('synchronous_commit')"}});
    if (!answer) return answer.error();
    for (const int column : {0, 1}) {
        if (text_of(*answer, 0, column) != "on")
            return refused(address, std::string("the server runs with ") +
                                        (column == 0 ? "fsync" : "full_page_writes") +
                                        "=off and would lose what it said it kept; switch it on in postgresql.conf");
    }
    if (text_of(*answer, 0, 2) != "f")
        return refused(address,
                       "the server is a replica, which cannot be written to; name the primary, or all servers and "
                       "?target_session_attrs=read-write");
    if (text_of(*answer, 0, 3) != "UTF8")
        return refused(address,
                       "its encoding is " + text_of(*answer, 0, 3) + "; make one with 'createdb -E UTF8 -T template0'");
    // A zone that is stopped must not hold its rows for ever; what waits for others does not wait for ever either.
    return run("SET search_path TO " + search_path(address) +
               "; SET default_transaction_isolation TO 'read committed'; SET statement_timeout TO 0; SET "
               "lock_timeout TO 3000; SET idle_in_transaction_session_timeout TO 600000" +
               (text_of(*answer, 0, 4) == "off" ? "; SET synchronous_commit TO on" : ""));
}

Result<void> Connection::make_schema(const Address& address) {
    const Result<Answer> there = ask({{"SELECT 1 FROM pg_namespace WHERE nspname=$1", {address.schema}}});
    if (!there) return there.error();
    if (rows_of(*there) == 0) {
        // Another that starts at the same moment may be faster; the server then calls the name taken, and no more.
        const Result<void> made = run("CREATE SCHEMA IF NOT EXISTS " + sql_name(address.schema));
        if (!made && made.error().code != ErrorCode::kConflict)
            return refused(address, made.error().message + "; let the zone's role make it: GRANT CREATE ON DATABASE");
    }
    return await_schema(address);
}

Result<void> Connection::await_schema(const Address& address) {
    const Duration end = boot_time() + kSchemaPatience;
    for (;;) {
        const Result<Answer> current = ask({{"SELECT current_schema()"}});
        if (!current) return current.error();
        if (text_of(*current, 0, 0) == address.schema) return {};
        if (boot_time() > end)
            return refused(address, "its role may not use it; let it: GRANT USAGE, CREATE ON SCHEMA");
        std::this_thread::sleep_for(kSchemaPause);
        // The server looks up what the path names when that is set, and may have done so too early.
        if (auto set = run("SET search_path TO " + search_path(address)); !set) return set;
    }
}

Result<bool> Connection::has_table(const Address& address, const std::string& table) {
    const Result<Answer> there =
        ask({{"SELECT 1 FROM pg_class JOIN pg_namespace n ON n.oid=relnamespace WHERE relname=$1 AND nspname=$2",
              {table, address.schema}}});
    if (!there) return there.error();
    return rows_of(*there) > 0;
}

Error Connection::fault(const pg_result* result) const {
    if (is_lost() || result == nullptr) {
        return {ErrorCode::kUnavailable,
                "the connection to PostgreSQL is lost: " + in_one_line(PQerrorMessage(handle_)),
                {}};
    }
    const char* const state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const std::string_view kind = state == nullptr ? std::string_view{} : std::string_view(state).substr(0, 2);
    const ErrorCode code = kind == "23"   ? ErrorCode::kConflict         // a constraint
                           : kind == "22" ? ErrorCode::kInvalidArgument  // a value that it cannot hold
                                          : ErrorCode::kUnavailable;
    const char* const words = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    return {code,
            "PostgreSQL refused a statement: " +
                (words == nullptr ? in_one_line(PQresultErrorMessage(result)) : in_one_line(words)),
            {}};
}

Result<void> Connection::run(const std::string& sql) {
    const Answer answer(PQexec(handle_, sql.c_str()));
    if (!is_good(answer.get())) return fault(answer.get());
    return {};
}

Result<void> Connection::prepare(const std::string& name, const std::string& sql) {
    const Answer answer(PQprepare(handle_, name.c_str(), sql.c_str(), 0, nullptr));
    if (!is_good(answer.get())) return fault(answer.get());
    return {};
}

bool Connection::send(const Call& call) {
    std::vector<const char*> values;
    values.reserve(call.values.size());
    for (const std::string& value : call.values) values.push_back(value.c_str());
    const std::string text(call.sql);
    const int count = static_cast<int>(values.size());
    return (call.prepared
                ? PQsendQueryPrepared(handle_, text.c_str(), count, values.data(), nullptr, nullptr, 0)
                : PQsendQueryParams(handle_, text.c_str(), count, nullptr, values.data(), nullptr, nullptr, 0)) == 1;
}

Result<Answer> Connection::ask(const std::vector<Call>& calls, std::size_t of) {
    if (PQenterPipelineMode(handle_) != 1) return fault(nullptr);
    bool sent = true;
    for (const Call& call : calls) sent = sent && send(call);
    sent = PQpipelineSync(handle_) == 1 && sent;
    Answer wanted;
    std::optional<Error> first;
    for (std::size_t i = 0; sent && i < calls.size(); ++i) {
        Answer answer(PQgetResult(handle_));
        if (!is_good(answer.get())) {
            if (!first) first = fault(answer.get());
            sent = !is_lost();
        } else if (i == of) {
            wanted = std::move(answer);
        }
        if (sent) Answer(PQgetResult(handle_));  // the end of this call's answers
    }
    if (sent) Answer(PQgetResult(handle_));  // the end of all
    if (!sent || PQexitPipelineMode(handle_) != 1) return first ? *first : fault(nullptr);
    if (first) return *std::move(first);
    return wanted;
}

Result<Answer> Connection::ask_until(const Call& call, Duration deadline) {
    if (!send(call)) return fault(nullptr);
    while (PQflush(handle_) == 0 && PQisBusy(handle_) == 1) {
        const Duration left = deadline - boot_time();
        if (left <= Duration{0}) return Error{ErrorCode::kTimeout, "PostgreSQL does not answer in time", {}};
        pollfd socket{PQsocket(handle_), POLLIN, 0};
        const auto wait = std::chrono::duration_cast<std::chrono::milliseconds>(left).count() + 1;
        if (poll(&socket, 1, static_cast<int>(std::min<std::int64_t>(wait, 60'000))) < 0 && errno != EINTR)
            return fault(nullptr);
        if (socket.revents != 0 && PQconsumeInput(handle_) != 1) return fault(nullptr);
    }
    Answer answer(PQgetResult(handle_));
    if (!is_good(answer.get())) {
        const Error error = fault(answer.get());
        while (Answer rest{PQgetResult(handle_)}) rest.reset();
        return error;
    }
    while (Answer rest{PQgetResult(handle_)}) rest.reset();
    return answer;
}

bool Connection::is_lost() const { return PQstatus(handle_) != CONNECTION_OK; }
bool Connection::is_in_transaction() const { return PQtransactionStatus(handle_) == PQTRANS_INTRANS; }

}  // namespace zbs::postgresql
