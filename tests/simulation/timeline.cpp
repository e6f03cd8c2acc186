#include "tests/simulation/timeline.hpp"

#include <cstdio>

#include "algorithms/base/expects.hpp"

namespace zbs::simulation {

void Timeline::at(Duration when, std::function<void()> event) {
    queue_.emplace(std::pair{std::max(when, now_), ++last_}, std::move(event));
}

void Timeline::run_until(Duration end, const std::function<bool()>& checked) {
    std::uint64_t at_once = 0;
    while (!queue_.empty() && queue_.begin()->first.first <= end) {
        const auto next = queue_.extract(queue_.begin());
        at_once = next.key().first == now_ ? at_once + 1 : 0;
        ZBS_EXPECTS(at_once < 1'000'000);  // events that set each other without delay
        now_ = next.key().first;
        ++events_;
        next.mapped()();
        if (!checked()) return;
    }
    now_ = std::max(now_, end);
}

void Chronicle::note(const std::string& where, std::string what) {
    for (const char c : where + what) digest_ = (digest_ ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    digest_ = (digest_ ^ static_cast<std::uint64_t>(time_.now().count())) * 1099511628211ULL;
    if (!keep_) return;
    char stamp[32];
    std::snprintf(stamp, sizeof stamp, "%11.4f ", to_seconds(time_.now() - std::chrono::hours{5}));
    lines_.push_back(stamp + where + " " + std::move(what));
}

void Host::pause_until(Duration when) {
    if (when <= paused_until_) return;
    lost_.emplace_back(std::max(paused_until_, time_.now()), when);
    paused_until_ = when;
}

void Host::work_for(Duration time) {
    const Duration begin = std::max(busy_until_, time_.now());
    lost_.emplace_back(begin, begin + time);
    if (lost_.size() > 1'000) lost_.erase(lost_.begin(), lost_.begin() + 500);
    busy_until_ = begin + time;
}

Duration Host::lost_since(Duration when) const {
    Duration sum{};
    for (const auto& [begin, end] : lost_)
        sum += std::max(Duration{0}, std::min(end, time_.now()) - std::max(begin, when));
    return sum;
}

bool Host::step() {
    if (up_ && steps_left_ > 0 && --steps_left_ == 0) {
        crash();
        on_doom_();
    }
    return up_;
}

void Host::after(Duration delay, std::function<void()> event) {
    if (!up_) return;
    time_.after(delay, [this, life = life_, event = std::move(event)]() mutable { deliver(life, std::move(event)); });
}

void Host::deliver(std::uint64_t life, std::function<void()> event) {
    if (!up_ || life != life_) return;
    if (waiting_.empty() && is_free()) return event();
    waiting_.push_back(std::move(event));
    if (waiting_.size() == 1) wake();
}

/// Takes up what waits, once it can.
void Host::wake() {
    time_.at(std::max(paused_until_, busy_until_), [this, life = life_] {
        if (!up_ || life != life_) return;
        while (!waiting_.empty() && is_free()) {
            const std::function<void()> event = std::move(waiting_.front());
            event();
            if (!up_ || life != life_) return;
            waiting_.pop_front();
        }
        if (!waiting_.empty()) wake();
    });
}

Clock::TimerId HostClock::after(Duration delay, std::function<void()> wake) {
    const TimerId id = ++last_;
    waiting_->insert(id);
    host_.after(std::max(delay, Duration{0}), [waiting = waiting_, id, wake = std::move(wake)] {
        if (waiting->erase(id) > 0) wake();
    });
    return id;
}

void ChronicleLog::line(const char* event, const Fields& fields) {
    if (chronicle_.on_event) chronicle_.on_event(where_, event, fields);
    std::string text = event;
    for (const auto& [name, value] : fields) text.append(" ").append(name).append("=").append(value);
    chronicle_.note(where_, std::move(text));
}

}  // namespace zbs::simulation
