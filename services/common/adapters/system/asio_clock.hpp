#pragma once
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <utility>

#include "services/common/ports/clock.hpp"

namespace zbs::system {

using Strand = boost::asio::strand<boost::asio::io_context::executor_type>;

/// Clock on Asio timers; callbacks run on `strand`. Methods are called on that strand.
class AsioClock : public Clock {
  public:
    explicit AsioClock(Strand strand) : strand_(std::move(strand)) {}

    Time now() const override;
    Duration steady_now() const override;
    TimerId after(Duration delay, std::function<void()> wake) override;
    void cancel(TimerId timer) override;
    /// Ends every timer, so that the io_context can run dry.
    void cancel_all() { timers_.clear(); }

  private:
    Strand strand_;
    TimerId next_ = 1;
    std::map<TimerId, std::unique_ptr<boost::asio::steady_timer>> timers_;
};

/// Ids from the wall clock and the system's random device; within one millisecond they still grow.
class SystemIds : public IdSource {
    Id128 draw() override;

    std::random_device random_;  // opened once: it costs as much as the rest
    std::int64_t last_ms_ = 0;
    std::uint64_t random_bits_ = 0;  ///< 48
};

/// BackgroundWork on threads of its own. At its end work that has not begun is dropped, and what has begun is awaited.
class BackgroundThreads final : public BackgroundWork {
  public:
    explicit BackgroundThreads(Strand strand) : strand_(std::move(strand)) {}
    ~BackgroundThreads() override;
    BackgroundThreads(const BackgroundThreads&) = delete;
    BackgroundThreads& operator=(const BackgroundThreads&) = delete;
    void run(std::function<void()> work, std::function<void()> done) override;

  private:
    Strand strand_;
    boost::asio::thread_pool threads_{2};
};

}  // namespace zbs::system
