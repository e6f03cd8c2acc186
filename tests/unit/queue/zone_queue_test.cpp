#include "algorithms/queue/zone_queue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "algorithms/base/rng.hpp"
#include "algorithms/policy/registry.hpp"
#include "algorithms/queue/discipline.hpp"
#include "algorithms/queue/queue_log.hpp"

namespace zbs {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

PartId queued(std::uint64_t n) {
    Id128 id{};
    for (int byte = 15; n > 0; --byte, n >>= 8)
        id.bytes[static_cast<std::size_t>(byte)] = static_cast<unsigned char>(n);
    return PartId{id};
}

Discipline discipline(const std::string& text) { return queue_discipline(text, 16).value(); }

/// A zone that does at once what the queue decides; times in seconds.
struct QueueWorld {
    ZoneQueue queue;
    Duration now{};
    std::map<PartId, WaitingPart> parts;
    std::map<PartId, Duration> started;
    QueueDecision last;

    explicit QueueWorld(std::size_t processors, const std::string& policy)
        : queue(processors * static_cast<std::size_t>(discipline(policy).rows), discipline(policy).make,
                static_cast<std::size_t>(discipline(policy).rows)) {}

    void add(std::uint64_t n, int processors, Duration length, const std::string& party = "org-a") {
        const WaitingPart part{queued(n), party, now, processors, length};
        parts.emplace(part.id, part);
        queue.add(part);
    }
    /// Processors 0 .. n - 1 that others have reserved.
    void reserve(std::uint64_t n, int processors, Duration begin, Duration end) {
        std::vector<std::int32_t> list;
        for (int p = 0; p < processors; ++p) list.push_back(p);
        queue.promise(queued(n), "org-b", {list, {begin, end}, end}, now);
    }
    /// On its place of the decision; else on the first free ones of a row.
    void start(const PartId& id, const std::vector<std::int32_t>& place) {
        const WaitingPart& part = parts.at(id);
        const ProcessorCalendar::Interval when{now, now + part.length};
        const std::vector<bool> busy = queue.calendar().busy(when);
        std::vector<std::int32_t> list;
        for (std::size_t p = 0; place.empty() && p < busy.size() && std::cmp_less(list.size(), part.processors); ++p) {
            if (p % queue.row_size() == 0) list.clear();
            if (!busy[p]) list.push_back(static_cast<std::int32_t>(p));
        }
        for (const std::int32_t p : place)
            if (!busy[static_cast<std::size_t>(p)]) list.push_back(p);
        ASSERT_EQ(list.size(), static_cast<std::size_t>(part.processors)) << "a start without room";
        queue.remove(id);
        queue.promise(id, part.party, {list, when, when.end}, now);
        started[id] = now;
    }
    void decide(const UsableProcessors& usable = {}) {
        last = queue.decide(now, usable);
        for (std::size_t i = 0; i < last.starts.size(); ++i)
            start(last.starts[i], last.places.empty() ? std::vector<std::int32_t>{} : last.places[i]);
    }
    void end(std::uint64_t n) { queue.withdraw_promise(queued(n), now); }
    const Outlook& outlook(std::uint64_t n) {
        return *std::find_if(last.outlooks.begin(), last.outlooks.end(),
                             [&](const Outlook& o) { return o.id == queued(n); });
    }
};

TEST(ZoneQueue, FirstComeFirstServedLetsNobodyPass) {
    QueueWorld world(4, "fcfs");
    world.add(1, 3, 100s);
    world.add(2, 2, 50s);
    world.add(3, 1, 10s);
    world.decide();
    EXPECT_THAT(world.last.starts, ElementsAre(queued(1)));
    EXPECT_EQ(world.outlook(2).start, 100s);
    EXPECT_EQ(world.outlook(2).place, 1U);
    EXPECT_EQ(world.outlook(3).place, 2U);
    world.now = 40s;
    world.end(1);
    world.decide();
    EXPECT_THAT(world.last.starts, ElementsAre(queued(2), queued(3)));
}

TEST(ZoneQueue, BackfillingStartsWhatDelaysNobodyAndTellsTheShadowTime) {
    QueueWorld world(4, "easy");
    world.add(1, 3, 100s);
    world.add(2, 2, 50s);
    world.add(3, 1, 100s);
    world.add(4, 1, 90s);
    world.decide();
    EXPECT_THAT(world.last.starts, ElementsAre(queued(1), queued(3)));
    EXPECT_EQ(world.outlook(2).promised, 100s);
    EXPECT_EQ(world.outlook(2).reason, WaitsFor::kTurn);
}

TEST(ZoneQueue, ReservationIsNotRunInto) {
    QueueWorld world(4, "easy");
    world.reserve(9, 4, 60s, 120s);
    world.add(1, 2, 100s);
    world.add(2, 2, 60s);
    world.decide();
    EXPECT_THAT(world.last.starts, ElementsAre(queued(2))) << "it can end before";
    EXPECT_EQ(world.outlook(1).reason, WaitsFor::kReservation);
    EXPECT_EQ(world.outlook(1).start, 120s);
    // Who comes later has to leave it alone.
    EXPECT_THAT(world.queue.promised().busy({130s, 131s}), testing::Contains(true));
    EXPECT_THAT(world.queue.calendar().busy({130s, 131s}), testing::Not(testing::Contains(true)));
}

TEST(ZoneQueue, PartBehindAReservationIsNotDelayedByWhoComesLater) {
    QueueWorld world(4, "easy");
    world.reserve(9, 4, 60s, 120s);
    world.add(1, 4, 100s);
    for (std::uint64_t n = 2; n < 8; ++n) world.add(n, 1, 60s);
    world.decide();
    EXPECT_EQ(world.last.starts.size(), 4U);
    EXPECT_EQ(world.outlook(1).start, 120s);
    world.now = 60s;
    for (std::uint64_t n = 2; n < 6; ++n) world.end(n);
    world.decide();
    EXPECT_THAT(world.last.starts, IsEmpty());
    world.now = 120s;
    world.end(9);
    world.decide();
    EXPECT_THAT(world.last.starts, ElementsAre(queued(1)));
}

TEST(ZoneQueue, WhoMayNotNowWaitsWithoutHoldingUpOthers) {
    QueueWorld world(4, "fcfs");
    world.add(1, 2, 100s, "org-b");
    world.add(2, 2, 100s);
    world.decide({{queued(1), {true, false, false, false}}});
    EXPECT_THAT(world.last.starts, ElementsAre(queued(2)));
    EXPECT_EQ(world.outlook(1).reason, WaitsFor::kRight);
    EXPECT_EQ(world.outlook(1).start, kNoStart);
    world.decide({{queued(1), {false, false, true, true}}});
    EXPECT_THAT(world.last.starts, ElementsAre(queued(1)));
}

TEST(ZoneQueue, PartOnlyForBusyMachinesLetsOthersPass) {
    QueueWorld world(4, "fcfs");
    world.reserve(9, 2, 0s, 500s);
    world.add(1, 2, 100s);
    world.add(2, 2, 100s);
    world.decide({{queued(1), {true, true, false, false}}});
    EXPECT_THAT(world.last.starts, ElementsAre(queued(2)));
    EXPECT_EQ(world.outlook(1).start, 500s);
    EXPECT_EQ(world.outlook(1).reason, WaitsFor::kTurn);
}

TEST(ZoneQueue, OrganisationsTakeTurnsByWhatTheyHadForTheirWeight) {
    QueueWorld world(1, "fcfs");
    world.queue.set_weight("org-b", 0.5);
    for (std::uint64_t n = 1; n <= 6; ++n) world.add(n, 1, 10s, "org-a");
    for (std::uint64_t n = 7; n <= 12; ++n) world.add(n, 1, 10s, "org-b");
    std::string turns;
    for (int i = 0; i < 9; ++i) {
        world.decide();
        ASSERT_EQ(world.last.starts.size(), 1U);
        const PartId id = world.last.starts.front();
        turns += world.parts.at(id).party.back();
        world.now += 10s;
        world.queue.withdraw_promise(id, world.now);
    }
    EXPECT_EQ(std::count(turns.begin(), turns.end(), 'b'), 3) << turns;
    EXPECT_EQ(turns.substr(0, 2), "ab");
}

TEST(ZoneQueue, WhatAnOrganisationHadFades) {
    QueueWorld world(2, "fcfs");
    world.reserve(9, 2, 0s, 100s);
    world.now = 100s;
    world.end(9);
    EXPECT_DOUBLE_EQ(world.queue.continued().used.at("org-b"), 200);
    world.now += 24h;
    world.decide();
    EXPECT_NEAR(world.queue.continued().used.at("org-b"), 100, 1e-9);
    EXPECT_FALSE(world.queue.continued().used.contains("nobody"));
}

TEST(ZoneQueue, PromisesOfAPolicyThatKeepsThemStand) {
    QueueWorld world(4, "conservative");
    world.add(1, 4, 100s);
    world.add(2, 4, 100s);
    world.add(3, 2, 50s);
    world.decide();
    EXPECT_EQ(world.outlook(2).promised, 100s);
    EXPECT_EQ(world.outlook(3).promised, 200s);
    world.now = 10s;
    world.decide();
    EXPECT_EQ(world.outlook(2).promised, 100s);
    EXPECT_EQ(world.outlook(3).promised, 200s);
}

TEST(ZoneQueue, PromiseThatHasJustPassedKeepsItsPlace) {
    QueueWorld world(4, "conservative");
    for (std::uint64_t n = 1; n <= 3; ++n) world.add(n, 4, 100s);
    world.decide();
    world.now = 100s + 30ms;  // the zone looks a little late
    world.end(1);
    world.decide();
    EXPECT_THAT(world.last.starts, ElementsAre(queued(2)));
}

TEST(ZoneQueue, BehindManyWhomAReservationKeepsWaitingNobodyHasAPromise) {
    QueueWorld world(4, "easy");
    world.reserve(9'999, 4, 60s, 120s);
    for (std::uint64_t n = 1; n <= 500; ++n) world.add(n, 4, 100s);
    world.decide();
    EXPECT_THAT(world.last.starts, IsEmpty());
    EXPECT_EQ(world.last.outlooks.size(), 500U);
    EXPECT_EQ(world.outlook(1).start, 120s);
    EXPECT_EQ(world.outlook(500).start, kNoStart);
    EXPECT_LE(world.queue.promised().promises().size(), 2 * ZoneQueue::kMaxOutlooks + 1);
    world.add(501, 4, 50s);  // ends before
    world.decide();
    EXPECT_THAT(world.last.starts, ElementsAre(queued(501)));
}

TEST(ZoneQueue, LongLineIsLookedAheadSoFar) {
    QueueWorld world(1, "fcfs");
    for (std::uint64_t n = 1; n <= 100; ++n) world.add(n, 1, 10s);
    world.decide();
    ASSERT_EQ(world.last.outlooks.size(), 99U);
    EXPECT_EQ(world.last.outlooks[ZoneQueue::kMaxOutlooks - 1].start, 640s);
    EXPECT_EQ(world.last.outlooks[ZoneQueue::kMaxOutlooks].start, kNoStart);
}

/// Every policy, under random arrivals, ends, reservations and rights.
class EveryDiscipline : public testing::TestWithParam<std::string> {};
std::vector<std::string> disciplines() {
    std::vector<std::string> names = {"gang:packing=buddy", "gang:packing=memory-fit:slices=3", "elmer:threshold=1",
                                      "elmer:rule=v1:degree=3", "lazy-gang:patience=1s,5s,20s"};
    for (const PolicyInfo& info : policies()) names.emplace_back(info.name);
    return names;
}
INSTANTIATE_TEST_SUITE_P(, EveryDiscipline, testing::ValuesIn(disciplines()), [](const auto& tested) {
    std::string name = tested.param;
    for (char& c : name)
        if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
    return name;
});

/// A random history on 16 processors; gives all decisions, and how many parts were never started.
std::pair<std::vector<QueueDecision>, std::size_t> live(const std::string& policy, std::uint64_t seed) {
    QueueWorld world(16, policy);
    Rng rng(seed);
    std::vector<QueueDecision> decisions;
    std::map<PartId, Duration> ends;
    std::vector<std::uint64_t> numbers;
    std::uint64_t next = 1;
    for (int step = 0; step < 400; ++step) {
        world.now += Duration{static_cast<std::int64_t>(rng.below(20'000'000))};
        for (auto end = ends.begin(); end != ends.end();) {
            if (end->second > world.now) {
                ++end;
                continue;
            }
            world.queue.withdraw_promise(end->first, world.now);
            end = ends.erase(end);
        }
        const bool closing = step > 150;
        if (!closing && rng.below(3) > 0)
            world.add(next++, static_cast<int>(1 + rng.below(rng.below(4) == 0 ? 16 : 6)), 1s * (1 + rng.below(100)),
                      "org-" + std::to_string(rng.below(3)));
        if (!closing && rng.below(8) == 0) {
            // As a zone takes a reservation: around what is promised, and what those in line can expect.
            const Duration begin = world.now + 1s * rng.below(200), end = begin + 1s * (1 + rng.below(60));
            const std::vector<bool> busy = world.queue.promised().busy({begin, end});
            std::vector<std::int32_t> list;
            for (std::size_t p = 0; p < world.queue.row_size(); ++p)
                if (!busy[p]) list.push_back(static_cast<std::int32_t>(p));
            if (!list.empty()) {
                const PartId id = queued(next++);
                world.queue.promise(id, "org-9", {list, {begin, end}, end}, world.now);
                ends[id] = end;
            }
        }
        world.decide();
        decisions.push_back(world.last);
        for (const PartId& id : world.last.starts) {
            const Duration length = world.parts.at(id).length;
            ends[id] = world.now +
                       Duration{1 + static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(length.count())))};
        }
    }
    return {decisions, world.queue.size()};
}

TEST_P(EveryDiscipline, StartsHaveRoomNobodyWaitsForEverAndAReplayDecidesTheSame) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        SCOPED_TRACE(seed);
        const auto first = live(GetParam(), seed);
        EXPECT_EQ(first.second, 0U) << "still waiting at the end";
        EXPECT_TRUE(first == live(GetParam(), seed));
    }
}

/// A log that begins in the middle of a queue's life decides as the whole log does.
class ToldAgain : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(, ToldAgain,
                         testing::Values("fcfs", "easy", "conservative", "los", "gang:slices=3",
                                         "lazy-gang:patience=1s,5s,20s", "scojo", "adaptive-scojo",
                                         "elmer:threshold=1"));

TEST_P(ToldAgain, GoesOnAsIfAllHadBeenTold) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        Rng rng(seed);
        constexpr std::int32_t kProcessors = 8;
        QueueWorld world(kProcessors, GetParam());
        std::vector<QueueEvent> whole;
        std::vector<QueueEvent> rest;
        world.queue.observe([&](const QueueEvent& event) { whole.push_back(event); });
        world.queue.use_policy(discipline(GetParam()).make, GetParam());
        world.queue.set_weight("org-b", 3);
        std::uint64_t number = 100;
        const auto live_on = [&](int steps) {
            for (int step = 0; step < steps; ++step) {
                world.now += std::chrono::seconds{static_cast<long>(rng.below(200))};
                for (std::uint64_t n = rng.below(3); n > 0; --n)
                    world.add(++number, 1 + static_cast<int>(rng.below(kProcessors)),
                              std::chrono::seconds{static_cast<long>(1 + rng.below(500))},
                              rng.below(2) == 0 ? "org-a" : "org-b");
                for (const auto& [id, at] : std::map(world.started))
                    if (rng.below(2) == 0) world.queue.withdraw_promise(id, world.now), world.started.erase(id);
                world.decide();
            }
        };
        live_on(30);
        const std::size_t before = whole.size();
        world.queue.observe([&](const QueueEvent& event) { rest.push_back(event); });
        rest.clear();
        world.queue.restate();
        world.queue.observe([&, first = true](const QueueEvent& event) mutable {
            if (!std::exchange(first, false)) whole.push_back(event), rest.push_back(event);  // but that it is watched
        });
        live_on(30);
        for (const auto& log : {whole, rest}) {
            const auto done = replay(log);
            ASSERT_TRUE(done) << done.error() << " seed " << seed;
            EXPECT_FALSE(done->first_difference) << "seed " << seed << " event " << done->first_difference->event;
            EXPECT_GE(done->decisions, 30U);
        }
        ASSERT_GT(before, 60U);
        ASSERT_TRUE(std::any_of(rest.begin(), rest.end(),
                                [](const QueueEvent& event) { return std::holds_alternative<QueueContinued>(event); }));
    }
}

/// After a restart, when the policy is asked the next time, it knows what it had known without one.
TEST_P(ToldAgain, ANextLifeDecidesAsThisOneWouldHave) {
    int had_turns = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        SCOPED_TRACE(seed);
        Rng rng(seed);
        constexpr std::int32_t kProcessors = 8;
        QueueWorld before(kProcessors, GetParam()), after(kProcessors, GetParam());
        std::uint64_t number = 100;
        const auto add = [&](QueueWorld& world, std::uint64_t n, Rng made) {
            world.add(n, 1 + static_cast<int>(made.below(kProcessors)),
                      std::chrono::seconds{static_cast<long>(1 + made.below(500))},
                      made.below(2) == 0 ? "org-a" : "org-b");
        };
        for (int step = 0; step < 30; ++step) {
            before.now += std::chrono::seconds{static_cast<long>(rng.below(200))};
            for (std::uint64_t n = rng.below(3); n > 0; --n) ++number, add(before, number, Rng(number + seed));
            for (const auto& [id, at] : std::map(before.started))
                if (rng.below(2) == 0) before.queue.withdraw_promise(id, before.now), before.started.erase(id);
            before.decide();
        }
        const QueueContinued stored = before.queue.continued();
        if (!before.started.empty()) before.queue.withdraw_promise(before.started.begin()->first, before.now);
        before.now += 50s;
        const Duration later = seed % 2 == 0 ? 0s : 3h;  // the clock of another host
        after.now = before.now + later;
        std::vector<QueueEvent> log;
        after.queue.observe([&](const QueueEvent& event) { log.push_back(event); });
        after.queue.use_policy(discipline(GetParam()).make, GetParam());
        after.parts = before.parts;
        for (auto& [id, part] : after.parts) {
            part.since += later;
            if (const ProcessorCalendar::Promise* known = before.queue.find_promise(id)) {
                ProcessorCalendar::Promise promise = *known;
                promise.when = {promise.when.begin + later, promise.when.end + later};
                promise.expected_end += later;
                after.queue.promise(id, part.party, promise, after.now);
            }
            if (before.queue.has(id)) after.queue.add(part);
        }
        ASSERT_TRUE(after.queue.resume(stored, later));
        for (int step = 0; step < 5; ++step) {
            ++number;
            for (QueueWorld* world : {&before, &after}) {
                add(*world, number, Rng(number + seed));
                world->decide();
                world->now += 7s;
            }
            EXPECT_EQ(before.last.starts, after.last.starts);
            EXPECT_EQ(before.last.places, after.last.places);
            EXPECT_EQ(before.last.turns, after.last.turns);
            had_turns += before.last.turns.rows.size() + before.last.turns.shares.size() > 1;
        }
        const auto done = replay(log);
        ASSERT_TRUE(done) << done.error();
        EXPECT_FALSE(done->first_difference);
    }
    EXPECT_EQ(had_turns > 50, discipline(GetParam()).rows > 1) << had_turns;
}

}  // namespace
}  // namespace zbs
