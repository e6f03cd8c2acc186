#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "services/common/http/call.hpp"
#include "services/common/ports/clock.hpp"
#include "services/zone_scheduler/records/event_log.hpp"

namespace zbs {

/// What an EventFeed asks of its surroundings.
struct EventFeedPorts {
    std::function<void(std::function<void()>)> post;          ///< to the strand; from any thread
    std::function<void(std::function<void()>)> after_commit;  ///< once all that was written is durable
    std::function<bool(const PeerIdentity&)> is_blocked = [](const PeerIdentity&) { return false; };
};

/// Sends each of many clients the events that it asked for, each once and in order. Events not yet sent to a client lie
/// in the log and not in memory: a slow one costs no more than a fast one, and one that stays away goes on from the
/// last id that it has seen. Lives on the domain's strand.
class EventFeed {
  public:
    EventFeed(Clock& clock, EventLog& log, EventFeedPorts ports);
    ~EventFeed();
    EventFeed(const EventFeed&) = delete;
    EventFeed& operator=(const EventFeed&) = delete;

    /// Begins to say now and then that nothing has happened.
    void start();
    /// The text of server-sent events from `query.after` on; its `limit` is not looked at. Of an application it ends
    /// with the application's end. Where as many are open as may be, the oldest of whoever has most gives way to who
    /// has at least two fewer. Errors: kTooManyRequests: of this caller, or of all, as many are open as may be. Cost
    /// where it is full: O(open streams).
    Result<std::shared_ptr<http::Stream>> open(const PeerIdentity& caller, EventQuery query);
    /// An event that is durable now.
    void publish(const StateEvent& event);
    /// An event that could not be stored: its audience is disconnected and has to ask for the state anew.
    void interrupt(const StateEvent& event);
    /// Ends all, and takes no more: the zone stops.
    void end_all();
    std::size_t clients() const { return readers_.size(); }

  private:
    using Give = std::function<void(std::string)>;
    struct Reader {
        PeerIdentity caller;
        EventQuery query;    ///< `after`: the last that was given
        Duration until{};    ///< steady time: it has to come again, and show who it is
        bool behind = true;  ///< there may be more in the log
        bool cut = false;    ///< the log lacks something of it: ends after what the log has
        bool ended = false;  ///< nothing follows
        Give waiting;        ///< for the next piece
    };
    class Stream;

    void next(std::uint64_t number, Give give);
    void give_stored(std::uint64_t number, Give give);
    void beat();
    bool make_room(std::size_t mine);
    static bool is_last(const StateEvent& event, const EventQuery& query);
    void end(Reader& reader);

    Clock& clock_;
    EventLog& log_;
    EventFeedPorts ports_;
    std::map<std::uint64_t, Reader> readers_;
    std::map<std::string, std::size_t> open_by_caller_;  ///< by URI, until the edge lets go of them
    std::uint64_t last_reader_ = 0;
    std::uint64_t beats_ = 0;
    bool stopped_ = false;
    std::shared_ptr<EventFeed*> self_ = std::make_shared<EventFeed*>(this);  ///< streams may outlive the feed
};

}  // namespace zbs
