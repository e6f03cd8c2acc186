// Parts that wait in the queue of their zone, and the applications that they are of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "algorithms/queue/queue_log.hpp"
#include "services/common/codec/records/queue_log_codec.hpp"
#include "tests/support/federation_world.hpp"

namespace zbs::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

struct ZoneQueueTest : testing::Test {
    FederationWorld world{{4, 4, 4}, {"org-a", "org-b", "org-c"}};
    const Caller home{CallerKind::kZone, "org-a", "a"};

    void use(const std::string& discipline, const std::string& zones = "abc") {
        for (const char c : zones) {
            FederationWorld::Node& node = world.node(std::string(1, c));
            node.config.queue = discipline;
            ASSERT_TRUE(node.parts->use_queue(discipline));
        }
    }
    PartService& zone() { return *world.node("b").parts; }
    /// What zone b grants org-a from now on.
    void grant(RightsChange rights) {
        const Caller operator_b{CallerKind::kOperator, "org-b", "olga"};
        ASSERT_TRUE(world.node("b").peerings->change("org-a", {.verb = PeeringVerb::kSet, .rights = std::move(rights)},
                                                     operator_b));
    }
    PartRequest part(int ranks, Duration walltime, bool queued = true, const Caller* user = nullptr) {
        PartRequest r{.id = PartId{world.ids.fresh(home)},
                      .application = ApplicationId{world.ids.fresh(world.user())},
                      .user = user != nullptr ? *user : world.user(),
                      .home = "a"};
        for (int i = 0; i < ranks; ++i) r.ranks.push_back(i);
        r.graph = *TaskGraph::make(std::vector<double>(static_cast<std::size_t>(ranks), 1.0), {});
        r.walltime = walltime;
        r.queued = queued;
        return r;
    }
    PartId committed(const PartRequest& request) {
        const auto held = zone().hold(home, request);
        EXPECT_TRUE(held) << held.error();
        EXPECT_TRUE(zone().commit(home, request.id, held->token));
        world.run(1s);
        return request.id;
    }
    PartStatus status(const PartId& id) { return zone().status(home, id).value(); }
    Result<PartStatus> launch(const PartId& id) {
        const PartStatus known = status(id);
        return zone().launch(home, id,
                             {.token = known.token,
                              .operation = "run-" + to_string(id),
                              .options = {{"control-port", "127.0.0.1:9"}},
                              .proxies = {{0, known.assignment.empty() ? "m0" : known.assignment[0].machine}}});
    }
    bool waits(const PartId& id) { return status(id).queue.has_value(); }
    void end(const PartId& id) {
        world.node("b").executor->end("run-" + to_string(id) + "-p0", 0);
        world.run(2s);
    }
    PartId running(int ranks, Duration walltime) {
        const PartId id = committed(part(ranks, walltime));
        EXPECT_TRUE(launch(id));
        return id;
    }
    ApplicationId submit(int ranks, Duration walltime = 10min) {
        ApplicationRequest request = world.request(ranks);
        request.walltime = walltime;
        EXPECT_TRUE(world.node("a").applications->submit(world.user(), request));
        return request.id;
    }
    void run_for(Duration runtime) {
        for (const char* name : {"a", "b", "c"}) world.node(name).executor->script("", {.runtime = runtime});
    }
    ApplicationState state(const ApplicationId& id) { return world.status(id).state; }
};

TEST_F(ZoneQueueTest, WhatFitsNowIsGivenProcessorsInTheSameCall) {
    use("easy");
    const auto held = zone().hold(home, part(4, 10min));
    ASSERT_TRUE(held);
    EXPECT_EQ(held->assignment.size(), 4U);
    EXPECT_FALSE(held->queue);
    EXPECT_GT(held->expires_in, 0s);
}

TEST_F(ZoneQueueTest, WhoWaitsHasNoProcessorsNoDeadlineAndNoLaunch) {
    use("easy");
    const PartId first = running(3, 10min);
    const PartId second = committed(part(2, 10min));
    ASSERT_TRUE(waits(second));
    EXPECT_TRUE(status(second).assignment.empty());
    EXPECT_FALSE(status(second).ready);
    EXPECT_EQ(launch(second).error().code, ErrorCode::kConflict);
    world.run(5min);
    EXPECT_EQ(status(second).state, PartState::kCommitted) << "the launch window begins with its processors";
    EXPECT_NEAR(to_seconds(*status(second).queue->start_in), 300, 10);
    end(first);
    EXPECT_FALSE(waits(second));
    EXPECT_EQ(status(second).assignment.size(), 2U);
    EXPECT_TRUE(launch(second));
}

TEST_F(ZoneQueueTest, HoldThatIsNotCommittedLeavesTheQueue) {
    use("easy");
    running(3, 10min);
    const auto held = zone().hold(home, part(2, 10min));
    ASSERT_TRUE(held && held->queue);
    world.run(40s);
    EXPECT_EQ(status(held->id).state, PartState::kExpired);
    const PartId other = committed(part(1, 10min));
    EXPECT_FALSE(waits(other));
}

TEST_F(ZoneQueueTest, ProcessorsThatNobodyLaunchesOnAreGivenBack) {
    use("easy");
    const PartId first = running(4, 10min);
    const PartId second = committed(part(4, 10min));
    const PartId third = committed(part(4, 10min));
    end(first);
    EXPECT_FALSE(waits(second));
    world.run(35s);
    EXPECT_EQ(status(second).state, PartState::kReleased);
    EXPECT_FALSE(waits(third));
}

TEST_F(ZoneQueueTest, DisciplinesDiffer) {
    struct Case {
        const char* discipline;
        bool short_one_passes;
    };
    for (const Case& c : {Case{"fcfs", false}, Case{"easy", true}}) {
        SCOPED_TRACE(c.discipline);
        use(c.discipline);
        const PartId first = running(3, 10min);
        const PartId wide = committed(part(4, 10min));
        const PartId narrow = committed(part(1, 1min));
        EXPECT_TRUE(waits(wide));
        EXPECT_EQ(waits(narrow), !c.short_one_passes);
        for (const PartId& id : {narrow, wide}) ASSERT_TRUE(zone().release(home, id, "enough"));
        end(first);
    }
}

TEST_F(ZoneQueueTest, HoldAtOnceDoesNotDelayThoseWhoWait) {
    use("easy");
    running(3, 10min);
    const PartId wide = committed(part(4, 10min));
    EXPECT_EQ(zone().hold(home, part(1, 20min, false)).error().code, ErrorCode::kRejected);
    EXPECT_TRUE(zone().hold(home, part(1, 1min, false))) << "it ends before";
    EXPECT_TRUE(waits(wide));
}

TEST_F(ZoneQueueTest, ReservationIsMadeBehindThoseWhoWaitAndThenStands) {
    use("easy");
    running(4, 10min);
    const PartId wide = committed(part(4, 10min));
    PartRequest reserved = part(4, 10min, false);
    reserved.start_in = 11min;
    EXPECT_EQ(zone().hold(home, reserved).error().code, ErrorCode::kRejected);
    reserved.id = PartId{world.ids.fresh(home)};
    reserved.start_in = 25min;
    ASSERT_TRUE(zone().hold(home, reserved));
    const PartId last = committed(part(4, 10min));
    EXPECT_TRUE(waits(wide));
    EXPECT_GT(*status(last).queue->start_in, 35min);
}

TEST_F(ZoneQueueTest, RestartKeepsTheOrder) {
    use("fcfs");
    const PartId first = running(4, 10min);
    std::vector<PartId> line;
    for (int i = 0; i < 5; ++i) line.push_back(committed(part(4, 10min)));
    world.crash("b");
    world.restart("b");
    world.run(2s);
    ASSERT_TRUE(zone().release(home, first, "enough"));
    for (const PartId& id : line) {
        world.run(3s);
        EXPECT_FALSE(waits(id));
        ASSERT_TRUE(launch(id));
        ASSERT_TRUE(zone().release(home, id, "enough"));
    }
}

TEST_F(ZoneQueueTest, ZoneWithoutAQueueTakesNobodyIntoItButKeepsThoseWhoWait) {
    EXPECT_EQ(zone().hold(home, part(2, 10min)).error().code, ErrorCode::kRejected);
    EXPECT_FALSE(zone().capacity(home, {.user = world.user(), .processors = 1, .walltime = 1min})->queues);
    use("easy");
    EXPECT_TRUE(zone().capacity(home, {.user = world.user(), .processors = 1, .walltime = 1min})->queues);
    const PartId first = running(4, 10min);
    const PartId second = committed(part(4, 10min));
    ASSERT_TRUE(zone().use_queue({}));
    EXPECT_EQ(zone().hold(home, part(2, 10min)).error().code, ErrorCode::kRejected);
    end(first);
    EXPECT_FALSE(waits(second));
}

TEST_F(ZoneQueueTest, MoreThanTheUserMayEverHaveIsRefusedAtOnce) {
    use("easy");
    EXPECT_EQ(zone().hold(home, part(5, 10min)).error().code, ErrorCode::kRejected);
}

TEST_F(ZoneQueueTest, WaitingPartsCountAgainstThePeersNumberOfParts) {
    use("easy");
    const Caller operator_b{CallerKind::kOperator, "org-b", "olga"};
    ASSERT_TRUE(world.node("b").peerings->change(
        "org-a", {.verb = PeeringVerb::kSet, .rights = RightsChange{.concurrent_parts = 3, .floor_parts = 3}},
        operator_b));
    running(4, 10min);
    const PartId second = committed(part(4, 10min));
    committed(part(4, 10min));
    EXPECT_EQ(zone().hold(home, part(1, 1min)).error().code, ErrorCode::kRejected);
    ASSERT_TRUE(zone().release(home, second, "enough"));
    EXPECT_TRUE(zone().hold(home, part(1, 1min)));
}

TEST_F(ZoneQueueTest, WhoHasAllThatItMayWaitsBesideFreeProcessors) {
    use("easy");
    grant({.processors = 2, .floor_processors = 2});
    const PartId first = running(2, 10min);
    const PartId second = committed(part(2, 10min));
    world.run(1min);
    EXPECT_TRUE(waits(second)) << "two are free, but not for org-a";
    EXPECT_EQ(zone().table().free_processors(), 2);
    const Caller b{CallerKind::kZone, "org-b", "b"}, bea{CallerKind::kUser, "org-b", "bea"};
    PartRequest hers = part(2, 5min, true, &bea);
    hers.home = "b";
    hers.id = PartId{world.ids.fresh(b)};
    const auto held = zone().hold(b, hers);
    ASSERT_TRUE(held) << held.error();
    ASSERT_TRUE(zone().commit(b, hers.id, held->token));
    world.run(1s);
    EXPECT_EQ(zone().status(b, hers.id)->assignment.size(), 2U) << "others may have them";
    ASSERT_TRUE(zone().release(b, hers.id, "enough"));
    end(first);
    EXPECT_FALSE(waits(second));
}

TEST_F(ZoneQueueTest, WhoMayStartInHoursOnlyWaitsForThem) {
    use("easy");
    world.look_rarely();
    const auto minute_of_day = [&] { return static_cast<int>(world.clock.now().time_since_epoch() % 24h / 1min); };
    const int opens = minute_of_day() + 30;
    grant({.hours = std::vector<DayWindow>{{opens, opens + 10}}});
    const PartId first = committed(part(2, 5min));
    EXPECT_TRUE(waits(first)) << "all is free";
    world.run(28min);
    EXPECT_TRUE(waits(first));
    for (int i = 0; i < 20 && waits(first); ++i) world.run(10s);
    ASSERT_TRUE(launch(first));
    world.run(20min);  // it has ended at its walltime, and the hours are over
    const PartId late = committed(part(2, 5min));
    world.run(1h);
    EXPECT_TRUE(waits(late));
}

TEST_F(ZoneQueueTest, WaitingPartsGetProcessorsOfTheirPartitionsOnly) {
    FederationWorld::Node& b = world.node("b");
    b.config.zone.machines = {{"m0", 2, 1.0}, {"m1", 2, 1.0}};
    b.config.partition_of = {"slow", "fast"};
    world.crash("b");
    world.restart("b");
    use("easy");
    grant({.partitions = std::vector<std::string>{"fast"}});
    const PartId first = committed(part(2, 10min));
    ASSERT_EQ(status(first).assignment.size(), 2U);
    ASSERT_TRUE(launch(first));
    for (const PartRecord* record : zone().table().records())
        for (const RankPlace& place : record->status.assignment) EXPECT_EQ(place.machine, "m1");
    const PartId second = committed(part(1, 10min));
    world.run(1min);
    EXPECT_TRUE(waits(second)) << "the other machine is free, but of another partition";
    EXPECT_EQ(zone().hold(home, part(3, 10min)).error().code, ErrorCode::kRejected) << "more than its partition has";
    end(first);
    EXPECT_FALSE(waits(second));
}

TEST_F(ZoneQueueTest, OrganisationsTakeTurns) {
    use("fcfs");
    const Caller b{CallerKind::kZone, "org-b", "b"}, bea{CallerKind::kUser, "org-b", "bea"};
    const PartId first = running(4, 10min);
    const PartId mine = committed(part(4, 10min));
    const PartId mine_too = committed(part(4, 10min));
    PartRequest hers = part(4, 10min, true, &bea);
    hers.home = "b";
    hers.id = PartId{world.ids.fresh(b)};
    const auto held = zone().hold(b, hers);
    ASSERT_TRUE(held) << held.error();
    ASSERT_TRUE(zone().commit(b, hers.id, held->token));
    world.run(1min);
    EXPECT_EQ(zone().status(b, hers.id)->queue->place, 1) << "org-a has had all until now";
    EXPECT_EQ(zone().status(b, hers.id)->queue->waits_for, "turn");
    EXPECT_FALSE(status(mine).queue->place) << "how many wait here is not org-a's business";
    EXPECT_TRUE(status(mine).queue->waits_for.empty());
    end(first);
    EXPECT_FALSE(zone().status(b, hers.id)->queue);
    EXPECT_LT(*status(mine).queue->start_in, *status(mine_too).queue->start_in);
}

TEST_F(ZoneQueueTest, RightsAreLookedAtWhenItIsItsTurn) {
    use("easy");
    running(2, 10min);
    const PartId second = committed(part(3, 10min));
    ASSERT_TRUE(waits(second));
    world.block("b", world.user());
    world.run(1s);
    EXPECT_EQ(status(second).state, PartState::kReleased);
}

TEST_F(ZoneQueueTest, WhoMayNeverHaveItAnyMoreStopsWaiting) {
    use("easy");
    running(2, 10min);
    const PartId large = committed(part(3, 10min)), small = committed(part(3, 5min));
    ASSERT_TRUE(waits(large) && waits(small));
    const Caller operator_b{CallerKind::kOperator, "org-b", "olga"};
    const auto shorter = std::chrono::minutes{6};
    ASSERT_TRUE(world.node("b").peerings->change(
        "org-a", {.verb = PeeringVerb::kSet, .rights = RightsChange{.walltime = shorter, .floor_walltime = shorter}},
        operator_b));
    world.run(2s);
    EXPECT_EQ(status(large).state, PartState::kReleased);
    EXPECT_TRUE(waits(small));
}

TEST_F(ZoneQueueTest, ReplayOfTheLogDecidesAsTheZoneDid) {
    world.look_rarely();
    for (const char* discipline : {"easy", "conservative", "los", "slack"}) {
        SCOPED_TRACE(discipline);
        std::string log;
        FederationWorld::Node& b = world.node("b");
        b.config.queue = discipline;
        b.queue_observer = [&](const QueueEvent& event) { log += codec::dump(codec::encode(event)) + "\n"; };
        world.crash("b");
        world.restart("b");
        b.executor->script("run-", {.runtime = 20s});
        Rng rng(11);
        std::vector<PartId> line;
        for (int i = 0; i < 30; ++i) {
            line.push_back(committed(part(1 + static_cast<int>(rng.below(4)), 1min * (1 + rng.below(20)))));
            world.run(1s * rng.below(20));
            for (const PartId& id : line)
                if (status(id).state == PartState::kCommitted && !waits(id) && rng.below(2) > 0) {
                    ASSERT_TRUE(launch(id));
                }
            if (rng.below(3) == 0) {
                ASSERT_TRUE(zone().release(home, line[rng.below(line.size())], "enough"));
            }
        }
        const auto events = codec::read_queue_log(log);
        ASSERT_TRUE(events) << events.error();
        const auto replayed = replay(*events);
        ASSERT_TRUE(replayed) << replayed.error();
        EXPECT_GT(replayed->decisions, 20U);
        EXPECT_GT(replayed->starts, 5U);
        EXPECT_FALSE(replayed->first_difference)
            << "event " << replayed->first_difference->event + 1 << ": "
            << codec::dump(codec::encode(QueueEvent(Decided{{}, {}, replayed->first_difference->logged})))
            << " and not "
            << codec::dump(codec::encode(QueueEvent(Decided{{}, {}, replayed->first_difference->replayed})));
        for (const PartId& id : line) ASSERT_TRUE(zone().release(home, id, "enough"));
        world.run(10s);
    }
}

// ---- whole applications

TEST_F(ZoneQueueTest, ApplicationsOfOneZoneRunInTheOrderOfItsQueue) {
    use("fcfs");
    run_for(60s);
    std::vector<ApplicationId> ids;
    for (int i = 0; i < 6; ++i) {
        ApplicationRequest request = world.request(4);
        request.zones = {"b"};
        request.walltime = 2min;
        ASSERT_TRUE(world.node("a").applications->submit(world.user(), request));
        ids.push_back(request.id);
        world.run(1s);
    }
    std::vector<ApplicationId> order;
    for (int s = 0; s < 600 && order.size() < ids.size(); ++s) {
        world.run(1s);
        for (const ApplicationId& id : ids)
            if (state(id) == ApplicationState::kRunning && std::find(order.begin(), order.end(), id) == order.end())
                order.push_back(id);
    }
    EXPECT_EQ(order, ids);
    world.run(2min);
    for (const ApplicationId& id : ids) EXPECT_EQ(state(id), ApplicationState::kCompleted) << world.status(id).reason;
    EXPECT_EQ(world.held(), 0);
}

TEST_F(ZoneQueueTest, WaitingApplicationSaysWhereItWaits) {
    use("easy");
    run_for(5min);
    submit(12);
    world.run(1s);
    const ApplicationId id = submit(4);
    world.run(5s);
    const ApplicationStatus status = world.status(id);
    EXPECT_EQ(status.state, ApplicationState::kCommitted);
    EXPECT_EQ(status.reason, "waiting in the queue of its zone");
    ASSERT_TRUE(status.parts.at(0).status.queue);
    EXPECT_TRUE(status.parts.at(0).status.queue->start_in);
    const std::vector<ApplicationSummary> rows = world.node("a").applications->list(world.user(), {}).value();
    ASSERT_EQ(rows.at(0).id, id);
    const ApplicationSummary& waits = rows.at(0);
    const ApplicationSummary& runs = rows.at(1);
    EXPECT_EQ(waits.waits_for, status.parts.at(0).status.queue->waits_for) << "other organisations do not report it";
    ASSERT_TRUE(waits.expected_start && runs.started);
    EXPECT_GT(*waits.expected_start, *runs.started) << "as the walltime of the other one says";
    EXPECT_FALSE(waits.started || waits.ended || runs.expected_start || runs.ended);
    EXPECT_TRUE(std::any_of(status.events.begin(), status.events.end(),
                            [](const ApplicationEvent& e) { return e.what == "queue" && e.ok; }));
    world.run(30min);
    EXPECT_EQ(state(id), ApplicationState::kCompleted);
    const ApplicationSummary over = world.node("a").applications->list(world.user(), {}).value().at(0);
    ASSERT_TRUE(over.started && over.ended);
    EXPECT_EQ(*over.ended - *over.started, world.status(id).history.back().at - *over.started);
    EXPECT_TRUE(*over.started < *over.ended && !over.expected_start && over.waits_for.empty());
}

TEST_F(ZoneQueueTest, WaitingApplicationGoesWhereItCanStartNow) {
    use("easy", "ab");
    for (const char* name : {"a", "b"}) world.node(name).executor->script("", {.runtime = 9min});
    world.node("c").executor->script("", {.runtime = 1min});
    for (const char* name : {"a", "b", "c"}) {
        ApplicationRequest fills = world.request(4);
        fills.zones = {ZoneName(name)};
        ASSERT_TRUE(world.node("a").applications->submit(world.user(), fills));
    }
    world.run(5s);
    const ApplicationId id = submit(4);
    world.run(5s);
    ASSERT_EQ(state(id), ApplicationState::kCommitted);
    const std::string first = world.status(id).parts.at(0).zone;
    ASSERT_NE(first, "c") << "it has no queue";
    std::vector<std::string> calls;
    world.on_message = [&](const std::string&, const std::string& to, const char* what) {
        if ((to == "c" && what == std::string("hold")) || (to == first && what == std::string("release")))
            calls.emplace_back(what);
    };
    world.run(70s);
    EXPECT_EQ(state(id), ApplicationState::kRunning);
    EXPECT_EQ(world.status(id).parts.at(0).zone, "c");
    EXPECT_THAT(calls, ElementsAre("hold", "release")) << "the place is kept until the other zone holds";
}

TEST_F(ZoneQueueTest, ThoseThatWaitInQueuesAskOtherZonesTogether) {
    use("easy");
    run_for(9min);
    for (int i = 0; i < 63; ++i) submit(4);
    world.run(60s);
    int questions = 0;
    world.on_message = [&](const std::string& from, const std::string&, const char* what) {
        questions += from == "a" && what == std::string("capacity");
    };
    world.run(30s);
    EXPECT_GT(questions, 0);
    EXPECT_LE(questions, 33 * 3) << "one call a second to each zone";
}

TEST_F(ZoneQueueTest, AZoneThatRefusesWhatItOfferedCostsNoPlaceInAQueue) {
    use("easy", "ab");
    for (const char* name : {"a", "b"}) world.node(name).executor->script("", {.runtime = 9min});
    world.node("c").executor->script("", {.runtime = 1min});
    for (const char* name : {"a", "b", "c"}) {
        ApplicationRequest fills = world.request(4);
        fills.zones = {ZoneName(name)};
        ASSERT_TRUE(world.node("a").applications->submit(world.user(), fills));
    }
    world.run(5s);
    const ApplicationId id = submit(4);
    world.run(5s);
    ASSERT_EQ(state(id), ApplicationState::kCommitted);
    const ApplicationPart before = world.status(id).parts.at(0);
    int refused = 0, released = 0;
    world.bend = [&](const std::string& to, const std::string& what, Result<PartStatus>& answer) {
        if (to == "c" && what == "hold") {
            ++refused;
            answer = Error{ErrorCode::kRejected, "another was faster", {}};
        }
        released += to == before.zone && what == "release";
    };
    world.run(4min);
    EXPECT_GE(refused, 1);
    EXPECT_EQ(released, 0);
    ASSERT_EQ(world.status(id).parts.size(), 1U);
    EXPECT_EQ(world.status(id).parts[0].id, before.id) << "its place is as old as it was";
    EXPECT_EQ(state(id), ApplicationState::kCommitted);
    EXPECT_EQ(world.status(id).plan->zone_of_rank.at(0), before.zone);
    world.run(6min);
    EXPECT_EQ(state(id), ApplicationState::kRunning) << world.status(id).reason;
    EXPECT_EQ(world.status(id).parts.at(0).zone, before.zone);
    world.run(15min);
    EXPECT_EQ(state(id), ApplicationState::kCompleted);
    EXPECT_EQ(world.held(), 0);
}

TEST_F(ZoneQueueTest, AZoneThatIsSilentAfterItsOfferCostsNoPlaceInAQueueEither) {
    use("easy", "ab");
    for (const char* name : {"a", "b"}) world.node(name).executor->script("", {.runtime = 9min});
    world.node("c").executor->script("", {.runtime = 1min});
    for (const char* name : {"a", "b", "c"}) {
        ApplicationRequest fills = world.request(4);
        fills.zones = {ZoneName(name)};
        ASSERT_TRUE(world.node("a").applications->submit(world.user(), fills));
    }
    world.run(5s);
    const ApplicationId id = submit(4);
    world.run(5s);
    ASSERT_EQ(state(id), ApplicationState::kCommitted);
    const ApplicationPart before = world.status(id).parts.at(0);
    int holds = 0, released = 0;
    world.answer_delay = [&](const std::string& to, const std::string& what) {
        return to == "c" && what == "hold" ? Duration{35s} : Duration{0};
    };
    world.bend = [&](const std::string& to, const std::string& what, Result<PartStatus>& answer) {
        const bool is_silent = to == "c" && (what == "hold" || what == "release");
        if (is_silent) answer = Error{ErrorCode::kTimeout, "no answer", {}};
        holds += is_silent && what == "hold";
        released += to == before.zone && what == "release";
    };
    world.run(7min);
    EXPECT_GE(holds, 2) << "the release of the first one is tried again while the second one is on its way";
    EXPECT_EQ(released, 0);
    ASSERT_EQ(world.status(id).parts.size(), 1U);
    EXPECT_EQ(world.status(id).parts[0].id, before.id);
}

TEST_F(ZoneQueueTest, CancelledInTheQueueLeavesNothing) {
    use("easy");
    run_for(5min);
    submit(12);
    world.run(1s);
    const ApplicationId id = submit(4);
    world.run(5s);
    ASSERT_TRUE(world.node("a").applications->cancel(world.user(), id));
    world.run(5s);
    EXPECT_EQ(state(id), ApplicationState::kCancelled);
    EXPECT_TRUE(world.status(id).releasing.empty());
}

TEST_F(ZoneQueueTest, HomeAndZoneMayCrashWhileItWaits) {
    use("easy");
    run_for(2min);
    submit(12, 3min);
    world.run(1s);
    const ApplicationId id = submit(4, 3min);
    world.run(5s);
    ASSERT_TRUE(world.status(id).parts.at(0).queued);
    for (const char* name : {"a", "b", "c"}) {
        world.crash(name);
        world.run(5s);
        world.restart(name);
    }
    world.run(15min);
    EXPECT_EQ(state(id), ApplicationState::kCompleted) << world.status(id).reason;
    EXPECT_EQ(world.held(), 0);
    EXPECT_EQ(world.running_steps(), 0);
}

TEST_F(ZoneQueueTest, ManyApplicationsOfTwoHomesAllEnd) {
    use("easy");
    world.look_rarely();
    world.rng = Rng(7);
    for (const char* name : {"a", "b", "c"}) world.node(name).executor->script("", {.runtime = 20s});
    const Caller bea{CallerKind::kUser, "org-b", "bea"};
    std::vector<ApplicationId> mine, hers;
    for (int i = 0; i < 20; ++i) {
        const Caller owner = i % 2 == 0 ? world.user() : bea;
        ApplicationRequest request = world.request(1 + static_cast<int>(world.rng.below(12)), owner);
        request.walltime = 30s;
        ASSERT_TRUE(world.node(i % 2 == 0 ? "a" : "b").applications->submit(owner, request));
        (i % 2 == 0 ? mine : hers).push_back(request.id);
        world.run(500ms);
    }
    const auto ended = [&] {
        return std::all_of(mine.begin(), mine.end(), [&](const auto& id) { return is_final(state(id)); }) &&
               std::all_of(hers.begin(), hers.end(), [&](const auto& id) {
                   return is_final(world.node("b").applications->find(bea, id).value()->status.state);
               });
    };
    for (int minute = 0; minute < 60 && !ended(); ++minute) world.run(1min);
    world.run(10s);
    for (const ApplicationId& id : mine) EXPECT_EQ(state(id), ApplicationState::kCompleted) << world.status(id).reason;
    for (const ApplicationId& id : hers)
        EXPECT_EQ(world.node("b").applications->find(bea, id).value()->status.state, ApplicationState::kCompleted);
    EXPECT_EQ(world.held(), 0);
    EXPECT_EQ(world.running_steps(), 0);
}

}  // namespace
}  // namespace zbs::test
