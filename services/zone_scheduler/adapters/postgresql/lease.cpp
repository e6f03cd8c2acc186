#include "services/zone_scheduler/adapters/postgresql/lease.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "algorithms/base/duration_text.hpp"
#include "services/zone_scheduler/adapters/postgresql/database.hpp"
#include "services/zone_scheduler/adapters/postgresql/zone_store.hpp"

namespace zbs::postgresql {
namespace {

constexpr Duration kPatience = std::chrono::seconds{10};  ///< of one that has nothing to lose
constexpr Duration kMinPause = std::chrono::milliseconds{50};
constexpr Duration kLongestPause = std::chrono::seconds{1};  ///< between looks: it may be given back
constexpr Duration kLongestWait = std::chrono::seconds{15};  ///< for one that may have died
constexpr Duration kWaitPause = std::chrono::milliseconds{250};
constexpr Duration kRenewed = std::chrono::milliseconds{100};  ///< more than two clocks differ by meanwhile

constexpr const char* kLook =
    "SELECT holder, url, epoch, CASE WHEN until<=clock_timestamp() THEN 0 ELSE (extract(epoch FROM until - "
    "clock_timestamp()) * 1000000)::bigint END FROM lease";

LeaseView view_of(const Answer& answer) {
    return {text_of(answer, 0, 0), text_of(answer, 0, 1), integer_of(answer, 0, 2), Duration{integer_of(answer, 0, 3)}};
}

std::string milliseconds(Duration length) {
    return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(length).count());
}

}  // namespace

std::string to_string(const LeaseView& view) { return view.holder + (view.url.empty() ? "" : " at " + view.url); }

Result<LeaseView> ask_lease(const Address& address) {
    const Result<std::unique_ptr<Connection>> connection = Connection::open(address);
    if (!connection) return connection.error();
    const Result<bool> there = (*connection)->has_table(address, "lease");
    if (!there) return there.error();
    if (!*there) return Error{ErrorCode::kNotFound, "schema '" + address.schema + "' of the database has no zone", {}};
    const Result<Answer> answer = (*connection)->ask({{kLook}});
    if (!answer) return answer.error();
    return view_of(*answer);
}

Result<std::unique_ptr<Lease>> Lease::open(const Address& address, LeaseOptions options) {
    Result<std::unique_ptr<Connection>> connection = Connection::open(address);
    if (!connection) return connection.error();
    if (auto made = (*connection)->make_schema(address); !made) return made.error();
    // Two that start at once must not both make it. Not the writer's lock, which the active one holds all the time.
    if (auto begun = (*connection)
                         ->run("BEGIN; SELECT pg_advisory_xact_lock(1514296660, (SELECT oid::integer FROM pg_namespace "
                               "WHERE nspname=current_schema()))");
        !begun)
        return begun.error();
    const Result<bool> there = (*connection)->has_table(address, "lease");
    if (!there) return there.error();
    if (!*there) {
        if (auto made = (*connection)->run(kLeaseSchema); !made) return made.error();
    }
    // From here on each call has a deadline of its own: a renewal may wait behind a commit for as long as the lease
    // lasts.
    if (auto kept = (*connection)->run("COMMIT; SET lock_timeout TO 0"); !kept) return kept.error();
    return std::unique_ptr<Lease>(new Lease(*std::move(connection), std::move(options)));
}

Lease::~Lease() { stop_thread(); }

void Lease::stop_thread() {
    {
        const std::lock_guard lock(mutex_);
        is_ending_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
}

void Lease::start(Listener listener) {
    listener_ = std::move(listener);
    thread_ = std::thread([this] { run(); });
}

bool Lease::holds() const { return boot_time().count() < held_until_us_.load(); }

LeaseView Lease::seen() const {
    const std::lock_guard lock(mutex_);
    return seen_;
}

void Lease::release() {
    stop_thread();
    if (epoch_ == 0 || !holds()) return;
    held_until_us_ = 0;
    static_cast<void>(
        connection_->ask_until({"UPDATE lease SET until='-infinity' WHERE epoch=$1", {std::to_string(epoch_)}},
                               boot_time() + std::chrono::seconds{2}));
}

void Lease::run() {
    for (;;) {
        const Result<Duration> pause = step();
        if (!pause) {
            held_until_us_ = 0;
            listener_.lost(pause.error());
            return;
        }
        std::unique_lock lock(mutex_);
        if (wake_.wait_for(lock, *pause, [this] { return is_ending_; })) return;
    }
}

Result<Duration> Lease::step() { return epoch_ != 0 ? renew() : look(); }

Result<Duration> Lease::renew() {
    const Duration sent = boot_time();
    if (!holds()) {
        return Error{ErrorCode::kUnavailable,
                     "the lease ran out before it was renewed: this process, or its host, stood still",
                     {}};
    }
    const Result<Answer> answer = connection_->ask_until(
        {"UPDATE lease SET until=clock_timestamp() + $2::bigint * interval '1 millisecond' WHERE epoch=$1 RETURNING 1",
         {std::to_string(epoch_), milliseconds(options_.length)}},
        Duration{held_until_us_.load()});
    if (!answer) return answer.error();
    if (rows_of(*answer) == 0) return Error{ErrorCode::kConflict, "another zone scheduler has the lease now", {}};
    held_until_us_ = (sent + options_.length).count();
    return options_.renew_every;
}

Result<LeaseView> Lease::view() {
    const Result<Answer> looked = connection_->ask_until({kLook}, boot_time() + kPatience);
    if (!looked) return looked.error();
    LeaseView view = view_of(*looked);
    const std::lock_guard lock(mutex_);
    seen_ = view;
    return view;
}

Result<bool> Lease::ask_for(std::int64_t seen) {
    const Duration sent = boot_time();
    const Result<Answer> taken = connection_->ask_until(
        {"UPDATE lease SET holder=$1, url=$2, epoch=epoch+1, until=clock_timestamp() + $3::bigint * interval '1 "
         "millisecond' WHERE until<clock_timestamp() AND epoch=$4 RETURNING epoch",
         {options_.node, options_.url, milliseconds(options_.length), std::to_string(seen)}},
        sent + kPatience);
    if (!taken) return taken.error();
    if (rows_of(*taken) == 0) return false;
    epoch_ = integer_of(*taken, 0, 0);
    held_until_us_ = (sent + options_.length).count();
    const std::lock_guard lock(mutex_);
    seen_ = {options_.node, options_.url, epoch_, options_.length};
    return true;
}

/// Takes it where it is free.
Result<Duration> Lease::look() {
    const Result<LeaseView> seen = view();
    if (!seen) return seen.error();
    const bool is_free = seen->left <= Duration{0};
    is_left_to_others_ = is_free && listener_.may_take && !listener_.may_take();
    if (is_left_to_others_) return kLongestPause;
    if (!is_free) return std::clamp(seen->left, kMinPause, std::min(options_.renew_every, kLongestPause));
    // Whoever had it may stand still within a transaction: it would keep the rows, and the lease's own.
    if (const Result<int> ended = end_writers(*connection_, seen->epoch, boot_time() + kPatience); !ended)
        return ended.error();
    const Result<bool> taken = ask_for(seen->epoch);
    if (!taken) return taken.error();
    if (!*taken) return kMinPause;
    listener_.taken(epoch_);
    return options_.renew_every;
}

Result<LeaseView> Lease::await_free(const std::string& schema) {
    const Duration begun = boot_time();
    std::optional<Duration> end;  // not before that of the first look; whoever lives moves it
    for (;;) {
        const Duration sent = boot_time();
        Result<LeaseView> seen = view();
        if (!seen || seen->left <= Duration{0}) return seen;
        if (!end) end = boot_time() + seen->left;
        const bool is_renewed = sent + seen->left > *end + kRenewed;
        if (is_renewed || *end > begun + kLongestWait) {
            return Error{ErrorCode::kConflict,
                         to_string(*seen) + " works on schema '" + schema + "' of the database" +
                             (is_renewed ? std::string("; stop it first")
                                         : "; stop it first, or, where it has died, try again once its lease has run "
                                           "out, in " +
                                               format_duration(std::chrono::ceil<std::chrono::seconds>(seen->left))),
                         {}};
        }
        std::this_thread::sleep_for(std::min(seen->left, kWaitPause));
    }
}

Result<std::unique_ptr<Lease>> Lease::take(const Address& address, LeaseOptions options) {
    Result<std::unique_ptr<Lease>> lease = open(address, std::move(options));
    if (!lease) return lease;
    const Result<LeaseView> free = (*lease)->await_free(address.schema);
    if (!free) return free.error();
    const Result<bool> taken = (*lease)->ask_for(free->epoch);
    if (!taken) return taken.error();
    if (!*taken)
        return Error{ErrorCode::kConflict,
                     "another has begun to work on schema '" + address.schema + "' of the database; stop it first",
                     {}};
    return lease;
}

}  // namespace zbs::postgresql
