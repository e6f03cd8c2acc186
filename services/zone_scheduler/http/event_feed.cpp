#include "services/zone_scheduler/http/event_feed.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "services/common/codec/records/record_codec.hpp"
#include "services/common/messages/limits.hpp"

namespace zbs {
namespace {

/// A comment so often keeps the ways open that forget silent connections, and finds clients that are gone.
constexpr std::uint64_t kBeatSeconds = 15;
constexpr const char* kBeatText = ":\n\n";
/// Who reads for so long has to come again: certificates run out, rights change.
constexpr Duration kLongest = std::chrono::hours{1};
constexpr std::size_t kEventsAtOnce = 256;

}  // namespace

/// A reader as the edge sees it: asks from any thread, and leaves when it is let go of.
class EventFeed::Stream : public http::Stream {
  public:
    Stream(std::weak_ptr<EventFeed*> feed, std::function<void(std::function<void()>)> post, std::uint64_t number)
        : feed_(std::move(feed)), post_(std::move(post)), number_(number) {}
    ~Stream() override {
        if (feed_.expired()) return;
        post_([feed = feed_, number = number_] {
            if (const auto alive = feed.lock()) {
                const auto at = (*alive)->readers_.find(number);
                if (at == (*alive)->readers_.end()) return;
                auto& open = (*alive)->open_by_caller_;
                const auto mine = open.find(to_uri(at->second.caller.name()));
                if (--mine->second == 0) open.erase(mine);
                const Reader gone = std::move(at->second);  // it may hold what holds this stream
                (*alive)->readers_.erase(at);
            }
        });
    }
    void next(std::function<void(std::string)> give) override {
        post_([feed = feed_, number = number_, give = std::move(give)]() mutable {
            if (const auto alive = feed.lock())
                (*alive)->next(number, std::move(give));
            else
                give({});
        });
    }

  private:
    std::weak_ptr<EventFeed*> feed_;
    std::function<void(std::function<void()>)> post_;
    std::uint64_t number_;
};

EventFeed::EventFeed(Clock& clock, EventLog& log, EventFeedPorts ports)
    : clock_(clock), log_(log), ports_(std::move(ports)) {}
EventFeed::~EventFeed() = default;

void EventFeed::start() {
    clock_.after(std::chrono::seconds{1}, [weak = std::weak_ptr(self_)] {
        if (const auto alive = weak.lock()) (*alive)->beat();
    });
}

Result<std::shared_ptr<http::Stream>> EventFeed::open(const PeerIdentity& caller, EventQuery query) {
    if (stopped_) return Error{ErrorCode::kUnavailable, "this zone ends", {}};
    const std::string who = to_uri(caller.name());
    std::size_t& mine = open_by_caller_[who];
    if (mine >= limits::kMaxEventStreamsPerUser || (readers_.size() >= limits::kMaxEventStreams && !make_room(mine))) {
        if (mine == 0) open_by_caller_.erase(who);
        return Error{ErrorCode::kTooManyRequests, "too many read events here at one time; ask again later", {}};
    }
    ++mine;
    query.limit = kEventsAtOnce;
    const std::uint64_t number = ++last_reader_;
    readers_.emplace(number, Reader{.caller = caller, .query = query, .until = clock_.steady_now() + kLongest});
    return std::shared_ptr<http::Stream>(std::make_shared<Stream>(self_, ports_.post, number));
}

/// Ends the oldest stream of whoever has most, where that is more than the `mine` and one of who wants another. Those
/// that were ended and have not left yet count as room once: the edge lets go of them within its deadlines.
bool EventFeed::make_room(std::size_t mine) {
    const auto most = std::ranges::max_element(open_by_caller_, {}, [](const auto& one) { return one.second; });
    if (most == open_by_caller_.end() || most->second < mine + 2) return false;
    const auto oldest = std::ranges::find_if(readers_, [&](const auto& one) {
        return !one.second.ended && to_uri(one.second.caller.name()) == most->first;
    });
    if (oldest == readers_.end()) return false;
    end(oldest->second);
    return true;
}

/// Of a stream about one application: nothing can follow.
bool EventFeed::is_last(const StateEvent& event, const EventQuery& query) {
    constexpr std::array kEnds = {ApplicationState::kCompleted, ApplicationState::kFailed, ApplicationState::kCancelled,
                                  ApplicationState::kRejected};
    return query.application &&
           std::ranges::any_of(kEnds, [&](ApplicationState end) { return event.state == to_string(end); });
}

void EventFeed::next(std::uint64_t number, Give give) {
    const auto at = readers_.find(number);
    if (at == readers_.end() || at->second.ended) return give({});
    if (at->second.behind) return give_stored(number, std::move(give));
    at->second.waiting = std::move(give);
}

/// What the log has for it, once that is durable; else it waits.
void EventFeed::give_stored(std::uint64_t number, Give give) {
    Reader& reader = readers_.at(number);
    if (ports_.is_blocked(reader.caller)) {
        reader.ended = true;
        return give({});
    }
    const Result<std::vector<StateEvent>> found = log_.find(reader.query);
    if (!found) {  // it may come again
        reader.ended = true;
        return give({});
    }
    reader.behind = found->size() == kEventsAtOnce;
    if (found->empty() && reader.cut) {
        reader.ended = true;
        return give({});
    }
    if (found->empty()) {
        reader.waiting = std::move(give);
        return;
    }
    std::string text;
    for (const StateEvent& event : *found) {
        text += codec::event_text(event);
        reader.ended = reader.ended || is_last(event, reader.query);
    }
    reader.query.after = found->back().id;
    ports_.after_commit([give = std::move(give), text = std::move(text)] { give(text); });
}

void EventFeed::publish(const StateEvent& event) {
    std::string text;
    for (auto& [number, reader] : readers_) {
        if (reader.behind || reader.ended || !fits(event, reader.query)) continue;
        if (!reader.waiting) {
            reader.behind = true;  // it is still being sent what was before
            continue;
        }
        if (ports_.is_blocked(reader.caller)) {
            end(reader);
            continue;
        }
        if (text.empty()) text = codec::event_text(event);
        reader.query.after = event.id;
        reader.ended = is_last(event, reader.query);
        std::exchange(reader.waiting, nullptr)(text);
    }
}

void EventFeed::interrupt(const StateEvent& event) {
    StateEvent next = event;
    next.id = UINT64_MAX;  // behind all that anybody has seen
    for (auto& [number, reader] : readers_) {
        if (reader.ended || !fits(next, reader.query)) continue;
        if (reader.waiting)
            end(reader);
        else
            reader.behind = reader.cut = true;
    }
}

void EventFeed::end(Reader& reader) {
    reader.ended = true;
    if (const Give give = std::exchange(reader.waiting, nullptr)) give({});
}

/// Each second a share of them: all at once would keep others from the strand for that long.
void EventFeed::beat() {
    const std::uint64_t turn = ++beats_ % kBeatSeconds;
    for (auto& [number, reader] : readers_) {
        if (number % kBeatSeconds != turn) continue;
        if (ports_.is_blocked(reader.caller) || clock_.steady_now() >= reader.until)
            end(reader);
        else if (const Give give = std::exchange(reader.waiting, nullptr))
            give(kBeatText);
    }
    if (!stopped_) start();
}

void EventFeed::end_all() {
    stopped_ = true;
    for (auto& [number, reader] : readers_) end(reader);
}

}  // namespace zbs
