#pragma once
#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "services/common/ports/clock.hpp"
#include "services/common/ports/log.hpp"

namespace zbs::simulation {

/// The one queue of events of a simulated world. Equal times happen in the order in which they were asked for, so a
/// seed replays bit for bit.
class Timeline {
  public:
    Duration now() const { return now_; }
    void at(Duration when, std::function<void()> event);
    void after(Duration delay, std::function<void()> event) { at(now_ + delay, std::move(event)); }
    /// Calls `checked` after every event. Ends early where `checked` answers false.
    void run_until(Duration end, const std::function<bool()>& checked);
    std::uint64_t events() const { return events_; }

  private:
    Duration now_{std::chrono::hours{5}};
    std::uint64_t last_ = 0;
    std::uint64_t events_ = 0;
    std::map<std::pair<Duration, std::uint64_t>, std::function<void()>> queue_;
};

/// What happened, for people and for comparing two runs of a seed: the last lines, and a digest of all.
class Chronicle {
  public:
    explicit Chronicle(const Timeline& time) : time_(time) {}
    void note(const std::string& where, std::string what);
    const std::vector<std::string>& lines() const { return lines_; }  ///< all of them where `keep` was asked for
    void keep(bool all) { keep_ = all; }
    std::uint64_t digest() const { return digest_; }
    /// Told what each service writes into its log.
    std::function<void(const std::string& where, const std::string& event, const Log::Fields& fields)> on_event;

  private:
    const Timeline& time_;
    std::vector<std::string> lines_;
    std::uint64_t digest_ = 1469598103934665603ULL;
    bool keep_ = false;
};

/// One simulated machine with one service: it can crash, come back, be stopped for a while and wake up stale, and have
/// a wall clock that jumps. What belongs to a life of the service vanishes with it.
class Host {
  public:
    Host(Timeline& time, std::string name) : time_(time), name_(std::move(name)) {}

    const std::string& name() const { return name_; }
    bool is_up() const { return up_; }
    bool is_paused() const { return paused_until_ > time_.now(); }
    std::uint64_t life() const { return life_; }
    void boot() { up_ = true; }
    void crash() {
        up_ = false;
        ++life_;
        paused_until_ = busy_until_ = {};
        steps_left_ = 0;
        lost_.clear();
        waiting_.clear();
    }
    /// Nothing happens here until then; afterwards everything that was due, in its order.
    void pause_until(Duration when);
    /// Work that takes time, such as a sync of the disk: what follows waits.
    void work_for(Duration time);
    /// The service ends at its `steps`-th next step with an effect outside (a sync, a message, a process), in the
    /// middle of what it does. `ended` is called at once; the service's code runs on without any effect.
    void doom(std::uint64_t steps, std::function<void()> ended) {
        steps_left_ = steps;
        on_doom_ = std::move(ended);
    }
    void spare() { steps_left_ = 0; }
    /// Called before and after such steps. False: there is no service any more; do nothing.
    bool step();
    /// How long since `when` this life of the service was stopped or at work.
    Duration lost_since(Duration when) const;
    void set_wall_offset(Duration offset) { wall_offset_ = offset; }

    Duration steady_now() const { return time_.now(); }
    Time wall_now() const { return kEpoch + (time_.now() + wall_offset_); }
    /// Calls `event` in this life of the service, once it is neither stopped nor at work.
    void after(Duration delay, std::function<void()> event);

  private:
    static constexpr Time kEpoch = time_from_microseconds(1'700'000'000'000'000);
    void deliver(std::uint64_t life, std::function<void()> event);
    void wake();
    bool is_free() const { return std::max(paused_until_, busy_until_) <= time_.now(); }

    Timeline& time_;
    std::string name_;
    bool up_ = false;
    std::uint64_t life_ = 0;
    Duration paused_until_{};
    Duration busy_until_{};
    Duration wall_offset_{};
    std::deque<std::function<void()>> waiting_;        // the first is under way or next
    std::vector<std::pair<Duration, Duration>> lost_;  // begin, end
    std::uint64_t steps_left_ = 0;
    std::function<void()> on_doom_;
};

/// The clock of one life of a service.
class HostClock : public Clock {
  public:
    explicit HostClock(Host& host) : host_(host) {}
    Time now() const override { return host_.wall_now(); }
    Duration steady_now() const override { return host_.steady_now(); }
    TimerId after(Duration delay, std::function<void()> wake) override;
    void cancel(TimerId timer) override { waiting_->erase(timer); }

  private:
    Host& host_;
    TimerId last_ = 0;
    std::shared_ptr<std::set<TimerId>> waiting_ = std::make_shared<std::set<TimerId>>();
};

/// Lines of a service into the world's chronicle.
class ChronicleLog : public Log {
  public:
    ChronicleLog(Chronicle& chronicle, std::string where) : chronicle_(chronicle), where_(std::move(where)) {}
    void info(const char* event, const Fields& fields) override { line(event, fields); }
    void warn(const char* event, const Fields& fields) override { line(event, fields); }

  private:
    void line(const char* event, const Fields& fields);
    Chronicle& chronicle_;
    std::string where_;
};

/// Ids of one host: its own clock's milliseconds and a stream of its own, never the same twice in a world.
class HostIds : public IdSource {
  public:
    HostIds(const Host& host, std::uint64_t stream) : host_(host), stream_(stream) {}

  private:
    Id128 draw() override { return make_id128(to_microseconds(host_.wall_now()) / 1'000, stream_, ++last_ << 32); }

    const Host& host_;
    std::uint64_t stream_;
    std::uint64_t last_ = 0;  // lives as long as the host, over crashes: the real ones are random
};

}  // namespace zbs::simulation
