#include "services/common/adapters/system/asio_clock.hpp"

#include <boost/asio/post.hpp>
#include <chrono>

namespace zbs::system {

Time AsioClock::now() const {
    return Time{std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch())};
}

Duration AsioClock::steady_now() const {
    return std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch());
}

Clock::TimerId AsioClock::after(Duration delay, std::function<void()> wake) {
    const TimerId id = next_++;
    if (delay <= Duration{0}) {  // without the system's timer: most steps of the domain follow at once
        timers_.emplace(id, nullptr);
        boost::asio::post(strand_, [this, id, wake = std::move(wake)] {
            if (timers_.erase(id) > 0) wake();
        });
        return id;
    }
    auto timer = std::make_unique<boost::asio::steady_timer>(strand_, delay);
    timer->async_wait([this, id, wake = std::move(wake)](const boost::system::error_code& fault) {
        if (fault || timers_.erase(id) == 0) return;
        wake();
    });
    timers_.emplace(id, std::move(timer));
    return id;
}

void AsioClock::cancel(TimerId timer) { timers_.erase(timer); }

Id128 SystemIds::draw() {
    constexpr int kRandomBits = 48;
    const auto unix_ms =
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
            .count();
    if (unix_ms > last_ms_) {
        last_ms_ = unix_ms;
        random_bits_ = ((std::uint64_t{random_()} << 32) | random_()) >> (64 - kRandomBits);
    } else {
        // They grow within a millisecond, by a step that nobody who has seen one can guess.
        random_bits_ += std::uint64_t{1} + random_();
        last_ms_ += static_cast<std::int64_t>(random_bits_ >> kRandomBits);
        random_bits_ &= (std::uint64_t{1} << kRandomBits) - 1;
    }
    return make_id128(last_ms_, random_bits_ >> 32, random_bits_ << 32);
}

BackgroundThreads::~BackgroundThreads() {
    threads_.stop();
    threads_.join();
}

void BackgroundThreads::run(std::function<void()> work, std::function<void()> done) {
    boost::asio::post(threads_, [strand = strand_, work = std::move(work), done = std::move(done)]() mutable {
        work();
        work = nullptr;  // what it holds is freed here, not on the strand
        boost::asio::post(strand, std::move(done));
    });
}

}  // namespace zbs::system
