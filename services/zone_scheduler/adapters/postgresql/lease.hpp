#pragma once
#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "services/zone_scheduler/adapters/postgresql/connection.hpp"

namespace zbs::postgresql {

struct LeaseOptions {
    std::string node;  ///< the name of the active one for others
    std::string url;   ///< where this one serves
    Duration length = std::chrono::seconds{8};
    Duration renew_every = std::chrono::seconds{2};
};

/// Who has a zone's lease, by the database's clock.
struct LeaseView {
    std::string holder;  ///< empty: nobody has had it yet
    std::string url;
    std::int64_t epoch = 0;
    Duration left{};  ///< until it runs out; not above 0: it has run out, or was given back
};

/// "NODE at URL".
std::string to_string(const LeaseView& view);

/// Takes the lease of a zone's schema as soon as it is free, and then keeps it: the right to be the active one. Each
/// taking has an epoch above all before it. What other processes hold ends by their own clocks before it ends here: a
/// lease is counted from before it was asked for. Works on a connection and a thread of its own.
class Lease {
  public:
    struct Listener {
        std::function<void(std::int64_t epoch)> taken;
        /// It ran out, or another has it, or the database cannot be reached: nothing may be done any more, and the
        /// process should end. Called once.
        std::function<void(const Error&)> lost;
        /// Asked each time before the lease is asked for; while it says no the lease is left to others. Empty: always.
        std::function<bool()> may_take = {};
    };
    /// Connects, and makes the lease's table where it is missing. Errors: the connection's.
    static Result<std::unique_ptr<Lease>> open(const Address& address, LeaseOptions options);
    /// Connects and takes it, for a command that must be the only one at work; `start` then keeps it, and `taken` is
    /// not called. Where it is not free it waits for up to 15 s whether its holder has died. Nobody's connection is
    /// ended. Errors: the connection's; kConflict, with its holder, where it stays taken.
    static Result<std::unique_ptr<Lease>> take(const Address& address, LeaseOptions options);
    /// Ends the thread; what it holds is not given back.
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    /// Begins; both are called on the lease's thread.
    void start(Listener listener);
    /// Whether it was taken and has not run out by this host's clock, which goes on while the process is stopped. Any
    /// thread.
    bool holds() const;
    /// The number of this holding; 0: it was never taken. Not while the thread may take it.
    std::int64_t epoch() const { return epoch_; }
    /// Whether it was free when it was looked at last, and `may_take` said no. Any thread.
    bool is_left_to_others() const { return is_left_to_others_.load(); }
    /// What was seen last; nobody's before the first look. Any thread.
    LeaseView seen() const;
    /// Ends the thread and lets others take the lease at once; for the end of an orderly stop.
    void release();

  private:
    Lease(std::unique_ptr<Connection> connection, LeaseOptions options)
        : connection_(std::move(connection)), options_(std::move(options)) {}
    void run();
    /// How long to wait before the next step.
    Result<Duration> step();
    Result<Duration> renew();
    Result<Duration> look();
    Result<LeaseView> view();
    /// Until it is free; what was seen then.
    Result<LeaseView> await_free(const std::string& schema);
    /// Takes it where it is still free with the epoch that was seen. False: another was faster.
    Result<bool> ask_for(std::int64_t seen);
    void stop_thread();

    std::unique_ptr<Connection> connection_;
    LeaseOptions options_;
    Listener listener_;
    std::atomic<std::int64_t> held_until_us_{0};  ///< boot time; 0: not taken
    std::atomic<bool> is_left_to_others_{false};
    std::int64_t epoch_ = 0;
    mutable std::mutex mutex_;
    std::condition_variable wake_;
    LeaseView seen_;
    bool is_ending_ = false;
    std::thread thread_;
};

/// Who has the lease of a schema, asked once. kNotFound where no zone has used the schema yet.
Result<LeaseView> ask_lease(const Address& address);

}  // namespace zbs::postgresql
