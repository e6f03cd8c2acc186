#include "services/zone_scheduler/http/event_feed.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/common/codec/records/record_codec.hpp"
#include "services/common/messages/limits.hpp"
#include "tests/support/memory_store.hpp"
#include "tests/support/silent_log.hpp"
#include "tests/support/virtual_clock.hpp"

namespace zbs::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

const Caller kAna{CallerKind::kUser, "alpha", "ana"}, kBob{CallerKind::kUser, "alpha", "bob"};

ApplicationId app(std::uint64_t low) { return {make_id128(1'700'000'000'000, 7, low)}; }

/// Ids and comments in a text of server-sent events.
void read_into(const std::string& text, std::vector<std::uint64_t>& ids, int& beats) {
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        const std::string line = text.substr(at, end - at);
        if (line.starts_with("id: ")) ids.push_back(std::stoull(line.substr(4)));
        if (line.starts_with(":")) ++beats;
        at = end + 1;
    }
}

/// A client of a stream. A fast one asks for more as soon as it has a piece.
struct Client {
    std::shared_ptr<http::Stream> stream;
    bool fast = true;
    std::vector<std::uint64_t> ids{};
    int beats = 0, pieces = 0;
    bool ended = false;

    void ask() {
        stream->next([this](const std::string& piece) {
            ++pieces;
            read_into(piece, ids, beats);
            ended = piece.empty();
            if (!ended && fast) ask();
        });
    }
};

class EventFeedTest : public testing::Test {
  protected:
    void commit() {
        for (const auto& effect : std::exchange(effects, {})) effect();
    }
    /// Something happens to an application.
    void happens(std::uint64_t low, ApplicationState state = ApplicationState::kHeld, const Caller& owner = kAna) {
        Application application{owner, {.id = app(low)}, {}};
        application.status.state = state;
        application.status.history = {{state, clock.now()}};
        clock.advance(std::chrono::milliseconds{1});
        log.application_entered(application);
    }
    std::unique_ptr<Client> open(const EventQuery& query, bool fast = true, const Caller& who = kAna) {
        auto stream = feed->open(PeerIdentity(who, Evidence::kCertificate), query);
        EXPECT_TRUE(stream);
        auto client = std::make_unique<Client>(*stream, fast);
        client->ask();
        return client;
    }
    std::vector<std::uint64_t> from(std::size_t index) const {
        return {ids.begin() + static_cast<std::ptrdiff_t>(index), ids.end()};
    }

    VirtualClock clock;
    MemoryZoneStore store;
    SilentLog lines;
    EventLog log{clock, store, lines,
                 [this](const StateEvent& event) {
                     ids.push_back(event.id);
                     effects.push_back([this, event] { feed->publish(event); });
                     if (durable) commit();
                 },
                 [this](const StateEvent& event) { feed->interrupt(event); }};
    bool durable = true;
    std::set<std::string> blocked;
    std::vector<std::function<void()>> effects;
    std::vector<std::uint64_t> ids;  ///< of all events
    std::unique_ptr<EventFeed> feed = std::make_unique<EventFeed>(
        clock, log,
        EventFeedPorts{.post = [](const std::function<void()>& work) { work(); },
                       .after_commit =
                           [this](std::function<void()> effect) {
                               if (durable) return effect();
                               effects.push_back(std::move(effect));
                           },
                       .is_blocked = [this](const PeerIdentity& who) { return blocked.contains(who.name().name); }});
};

TEST_F(EventFeedTest, FromEachIdOnComesExactlyTheRest) {
    for (int i = 0; i < 600; ++i) happens(1);  // more than is given at once, more than is kept of one
    const std::size_t gone = ids.size() - kMaxEventsOfOne;
    std::vector<std::unique_ptr<Client>> clients;
    for (std::size_t i = gone; i < ids.size(); i += 7) clients.push_back(open({.after = ids[i]}, i % 2 == 0));
    for (int i = 0; i < 5; ++i) happens(1);
    std::size_t i = gone;
    for (const auto& client : clients) {
        for (int asked = 0; !client->fast && asked < 20; ++asked) client->ask();
        EXPECT_EQ(client->ids, from(i + 1)) << i;
        i += 7;
    }
}

TEST_F(EventFeedTest, ASlowClientMissesNothingAndIsKeptNothing) {
    const auto slow = open({}, false);
    happens(1);
    EXPECT_EQ(slow->pieces, 1);
    for (int i = 0; i < 300; ++i) happens(1);
    EXPECT_EQ(slow->pieces, 1) << "it has asked for no more";
    slow->ask();
    EXPECT_LT(slow->ids.size(), 300U) << "so many at once and no more";
    for (int asked = 0; asked < 3; ++asked) slow->ask();
    EXPECT_EQ(slow->ids, ids);
}

TEST_F(EventFeedTest, UsersSeeTheirOwnAndOperatorsAll) {
    const auto ana = open({.owner = kAna}), bob = open({.owner = kBob}), everybody = open({});
    const auto one = open({.owner = kAna, .application = app(2)});
    happens(1);
    happens(2);
    happens(3, ApplicationState::kHeld, kBob);
    PartRecord part;
    part.request.application = app(2);
    part.request.id = PartId{make_id128(1, 2, 3)};
    log.part_entered(part);
    EXPECT_THAT(ana->ids, ElementsAre(ids[0], ids[1]));
    EXPECT_THAT(one->ids, ElementsAre(ids[1]));
    EXPECT_THAT(bob->ids, ElementsAre(ids[2]));
    EXPECT_EQ(everybody->ids, ids);
    EXPECT_THAT(open({.owner = kAna})->ids, ElementsAre(ids[0], ids[1])) << "also of what was before";
}

TEST_F(EventFeedTest, NobodyHearsOfWhatIsNotDurable) {
    const auto before = open({});
    durable = false;
    happens(1);
    const auto after = open({});
    EXPECT_THAT(before->ids, IsEmpty());
    EXPECT_THAT(after->ids, IsEmpty());
    durable = true;
    commit();
    EXPECT_EQ(before->ids, ids);
    EXPECT_EQ(after->ids, ids) << "and once only";
}

TEST_F(EventFeedTest, TheStreamOfAnApplicationEndsWithIt) {
    const auto one = open({.application = app(1)}), all = open({.owner = kAna});
    happens(1, ApplicationState::kRunning);
    EXPECT_FALSE(one->ended);
    happens(1, ApplicationState::kFailed);
    EXPECT_TRUE(one->ended);
    EXPECT_EQ(one->ids, ids);
    EXPECT_FALSE(all->ended);
    const auto late = open({.application = app(1)});
    EXPECT_TRUE(late->ended);
    EXPECT_EQ(late->ids, ids);
}

TEST_F(EventFeedTest, SilenceIsBrokenNowAndThen) {
    feed->start();
    const auto client = open({});
    clock.advance(std::chrono::seconds{45});
    EXPECT_EQ(client->beats, 3);
}

TEST_F(EventFeedTest, NotAllAreToldInOneTurn) {
    feed->start();
    std::vector<std::unique_ptr<Client>> clients;
    for (int i = 0; i < 45; ++i) clients.push_back(open({}));
    for (int second = 0; second < 15; ++second) {
        const auto beats = [&] { return std::ranges::count_if(clients, [](const auto& c) { return c->beats > 0; }); };
        const auto before = beats();
        clock.advance(std::chrono::seconds{1});
        EXPECT_EQ(beats() - before, 3) << second;
    }
}

TEST_F(EventFeedTest, WhoIsBlockedHearsOfNothingThatHappensLater) {
    const auto fast = open({}), slow = open({}, false);
    happens(1);
    blocked.insert("ana");
    happens(1);
    EXPECT_THAT(fast->ids, ElementsAre(ids[0]));
    EXPECT_TRUE(fast->ended);
    slow->ask();
    EXPECT_THAT(slow->ids, ElementsAre(ids[0])) << "nor of what was kept for it";
    EXPECT_TRUE(slow->ended);
}

TEST_F(EventFeedTest, WhoWouldHaveBeenToldOfWhatCouldNotBeStoredComesAgain) {
    const auto fast = open({.application = app(1)}), other = open({.application = app(2)});
    const auto slow = open({.application = app(1)}, false);
    happens(1, ApplicationState::kRunning);
    store.break_events("the disk is full");
    happens(1, ApplicationState::kCompleted);
    EXPECT_TRUE(fast->ended);
    EXPECT_FALSE(other->ended);
    EXPECT_FALSE(slow->ended);
    slow->ask();
    EXPECT_TRUE(slow->ended) << "after what the log has";
    EXPECT_EQ(fast->ids, ids);
    EXPECT_EQ(slow->ids, ids);
}

TEST_F(EventFeedTest, WhereAllAreTakenWhoHasMostGivesWay) {
    std::vector<std::unique_ptr<Client>> clients;
    const auto user = [](int i) { return Caller{CallerKind::kUser, "alpha", "u" + std::to_string(i)}; };
    for (std::size_t i = 0; i < limits::kMaxEventStreams; ++i)
        clients.push_back(open({}, true, user(static_cast<int>(i / limits::kMaxEventStreamsPerUser))));
    const auto newcomer = open({}, true, kBob);
    EXPECT_FALSE(newcomer->ended);
    EXPECT_EQ(std::ranges::count_if(clients, [](const auto& client) { return client->ended; }), 1);
    EXPECT_TRUE(clients[0]->ended) << "the oldest";
    const auto refused = feed->open(PeerIdentity(user(1), Evidence::kCertificate), {});
    ASSERT_FALSE(refused) << "has as many as anybody";
}

TEST_F(EventFeedTest, WhoIsBlockedHearsNoMoreAndAllComeAgainAfterAnHour) {
    feed->start();
    const auto ana = open({}), bob = open({}, true, kBob);
    blocked.insert("bob");
    clock.advance(std::chrono::seconds{16});
    EXPECT_TRUE(bob->ended);
    EXPECT_FALSE(ana->ended);
    clock.advance(std::chrono::hours{1});
    EXPECT_TRUE(ana->ended);
}

TEST_F(EventFeedTest, OneUserHasSoManyAndRoomIsThereAgainWhenOneLeaves) {
    std::vector<std::unique_ptr<Client>> clients;
    for (std::size_t i = 0; i < limits::kMaxEventStreamsPerUser; ++i) clients.push_back(open({}));
    const auto more = feed->open(PeerIdentity(kAna, Evidence::kCertificate), {});
    ASSERT_FALSE(more);
    EXPECT_EQ(more.error().code, ErrorCode::kTooManyRequests);
    EXPECT_TRUE(feed->open(PeerIdentity(kBob, Evidence::kCertificate), {}));
    clients.pop_back();
    EXPECT_TRUE(feed->open(PeerIdentity(kAna, Evidence::kCertificate), {}));
    EXPECT_EQ(feed->clients(), clients.size()) << "who is let go of is forgotten";
}

TEST_F(EventFeedTest, AllEndWithTheZone) {
    const auto client = open({});
    feed->end_all();
    EXPECT_TRUE(client->ended);
    EXPECT_EQ(feed->open(PeerIdentity(kAna, Evidence::kCertificate), {}).error().code, ErrorCode::kUnavailable);
    feed.reset();
    client->ended = false;
    client->ask();
    EXPECT_TRUE(client->ended) << "a stream may be let go of later";
}

TEST_F(EventFeedTest, IdsGrowOverRestartsAndWithAClockThatIsSetBack) {
    happens(1);
    clock.set_wall(clock.now() - std::chrono::hours{5});
    happens(1);
    ASSERT_EQ(ids.size(), 2U) << "both could be stored";
    EventLog again(clock, store, lines);
    ASSERT_TRUE(again.resume());
    EXPECT_EQ(again.last(), ids.back());
    EXPECT_GT(ids[1], ids[0]);
}

TEST(EventText, IsOneServerSentEventWhateverTheReasonHolds) {
    StateEvent event{
        .id = 7, .at = {}, .application = app(1), .owner = kAna, .state = "failed", .reason = "a\n\nid: 9"};
    const std::string text = codec::event_text(event);
    std::vector<std::uint64_t> ids;
    int beats = 0;
    read_into(text, ids, beats);
    EXPECT_THAT(ids, ElementsAre(7U));
    EXPECT_EQ(text.find("\n\n"), text.size() - 2);
    const std::string data = text.substr(text.find("data: ") + 6);
    EXPECT_EQ(codec::decode_state_event(*codec::parse(data.substr(0, data.find('\n')))).value(), event);
}

}  // namespace
}  // namespace zbs::test
