#include "client/api/event_waiter.hpp"

#include <condition_variable>
#include <mutex>
#include <utility>

#include "client/calls/event_stream.hpp"
#include "services/common/codec/records/record_codec.hpp"

namespace zbs::client {
namespace {

/// How often `stop` is asked.
constexpr std::chrono::milliseconds kCheckAround{100};
/// A zone that has sent no event stream by then is polled like one that sends none.
constexpr std::chrono::seconds kTimeToBegin{2};

}  // namespace

/// The state that the network's threads write.
struct EventWaiter::Shared {
    std::mutex mutex;
    std::condition_variable changed;
    EventStream stream;
    std::string state;
    std::chrono::steady_clock::time_point since;  ///< asked
    bool listening = false;
    bool heard = false;        ///< the zone has begun to send
    bool happened = false;     ///< since the last wait
    bool unsupported = false;  ///< the zone sends no events, or none to this user
    bool gone = false;         ///< nobody waits any more

    /// The zone sends events, or was asked so recently that it may yet begin.
    bool has_feed() const { return listening && (heard || std::chrono::steady_clock::now() < since + kTimeToBegin); }
};

EventWaiter::EventWaiter(ZoneClient& zone, std::string id)
    : zone_(zone), id_(std::move(id)), shared_(std::make_shared<Shared>()) {}

EventWaiter::~EventWaiter() {
    const std::lock_guard lock(shared_->mutex);
    shared_->gone = true;
}

/// From the last event on that was seen. Called without the lock.
void EventWaiter::listen() {
    std::string path = "/v1/applications/" + id_ + "/events";
    {
        const std::lock_guard lock(shared_->mutex);
        shared_->listening = true;
        shared_->since = std::chrono::steady_clock::now();
        const std::string seen = shared_->stream.last_id();
        if (!seen.empty()) path += "?after=" + seen;
        shared_->stream = EventStream(seen);  // without what was cut off in the middle
    }
    zone_.stream(
        path,
        [shared = shared_](std::string_view piece) {
            const std::lock_guard lock(shared->mutex);
            shared->heard = true;
            for (const ServerEvent& event : shared->stream.take(piece)) {
                shared->happened = true;
                const auto json = codec::parse(event.data);
                const auto state_event = json ? codec::decode_state_event(*json) : json.error();
                if (state_event) shared->state = state_event->state;
            }
            shared->changed.notify_all();
            return !shared->gone;
        },
        [shared = shared_](const Result<HttpAnswer>& answer) {
            const std::lock_guard lock(shared->mutex);
            shared->listening = shared->heard = false;
            // A zone that is down may come back and send events; one that answers otherwise does not.
            shared->unsupported = answer && answer->status != 200 && answer->status != 503;
            shared->happened = true;
            shared->changed.notify_all();
        });
}

bool EventWaiter::wait(std::chrono::milliseconds longest, const std::function<bool()>& stop) {
    std::unique_lock lock(shared_->mutex);
    if (!shared_->listening && !shared_->unsupported) {
        lock.unlock();
        listen();
        lock.lock();
    }
    const auto end = std::chrono::steady_clock::now() + longest;
    while (shared_->has_feed() && !shared_->happened && std::chrono::steady_clock::now() < end && !stop())
        shared_->changed.wait_until(lock, std::min(end, std::chrono::steady_clock::now() + kCheckAround));
    const bool event_came = std::exchange(shared_->happened, false) && shared_->listening;
    if (event_came) return true;
    if (shared_->has_feed()) return std::chrono::steady_clock::now() >= end;
    lock.unlock();
    polling_.pause();
    return true;
}

std::string EventWaiter::state() const {
    const std::lock_guard lock(shared_->mutex);
    return shared_->state;
}

}  // namespace zbs::client
