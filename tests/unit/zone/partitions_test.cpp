// A zone whose partitions have queues of their own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/federation_world.hpp"

namespace zbs::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

/// Zone b: `debug` with two processors, `batch` with four, and one processor outside of both.
struct PartitionsTest : testing::Test {
    FederationWorld world{{4, 4}, {"org-a", "org-b"}};
    const Caller home{CallerKind::kZone, "org-a", "a"};

    PartitionsTest() {
        ZoneConfig& config = b().config;
        config.zone.machines = {{"m0", 2, 1}, {"m1", 4, 1}, {"m2", 1, 1}};
        config.partition_of = {"debug", "batch", "main"};
        config.queue = "fcfs";
        config.partitions = {{.name = "debug"}, {.name = "batch", .queue = "easy"}};
        world.restart("b");
    }
    FederationWorld::Node& b() { return world.node("b"); }
    Partitions& zone() { return b().domain->parts; }
    PartService& queue_of(const PartId& id) { return zone().of(id); }
    PartRequest part(int ranks, Duration walltime = 10min, bool queued = true) {
        PartRequest r{.id = PartId{world.ids.fresh(home)},
                      .application = ApplicationId{world.ids.fresh(world.user())},
                      .user = world.user(),
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
        EXPECT_TRUE(queue_of(request.id).commit(home, request.id, held->token));
        world.run(1s);
        return request.id;
    }
    PartStatus status(const PartId& id) { return queue_of(id).status(home, id).value(); }
    bool waits(const PartId& id) { return status(id).queue.has_value(); }
    PartId running(int ranks, Duration walltime = 10min) {
        const PartId id = committed(part(ranks, walltime));
        const PartStatus known = status(id);
        EXPECT_TRUE(queue_of(id).launch(home, id,
                                        {.token = known.token,
                                         .operation = "run-" + to_string(id),
                                         .options = {{"control-port", "127.0.0.1:9"}},
                                         .proxies = {{0, known.assignment.at(0).machine}}}));
        return id;
    }
    void end(const PartId& id) {
        b().executor->end("run-" + to_string(id) + "-p0", 0);
        world.run(2s);
    }
    /// The machines that a part lies on.
    std::set<std::string> machines_of(const PartId& id) {
        std::set<std::string> machines;
        const auto part = queue_of(id).table().find(id);
        for (const RankPlace& place : part->record.status.assignment) machines.insert(place.machine);
        return machines;
    }
    std::string partition_of(const PartId& id) { return queue_of(id).table().find(id)->record.partition; }
    Capacity capacity(int processors) {
        return zone().capacity(home, {.user = world.user(), .processors = processors, .walltime = 10min}).value();
    }
    void grant(RightsChange rights) {
        const Caller operator_b{CallerKind::kOperator, "org-b", "olga"};
        ASSERT_TRUE(
            b().peerings->change("org-a", {.verb = PeeringVerb::kSet, .rights = std::move(rights)}, operator_b));
    }
};

TEST_F(PartitionsTest, APartLiesInOnePartitionTheFirstThatHasEnough) {
    EXPECT_EQ(machines_of(running(2)), std::set<std::string>{"m0"});
    EXPECT_EQ(machines_of(running(1)), std::set<std::string>{"m1"});
    EXPECT_EQ(machines_of(running(3)), std::set<std::string>{"m1"});
    EXPECT_EQ(machines_of(running(1)), std::set<std::string>{"m2"});
    const auto none = zone().hold(home, part(1, 10min, false));
    EXPECT_EQ(none.error().code, ErrorCode::kRejected);
    EXPECT_EQ(zone().hold(home, part(5)).error().code, ErrorCode::kRejected) << "no partition is as large";
}

TEST_F(PartitionsTest, TheOfferIsThatOfTheBestPartitionAtEachInstant) {
    Capacity offer = capacity(4);
    EXPECT_EQ(offer.processors, 4);
    EXPECT_EQ(offer.total_processors, 4);
    EXPECT_TRUE(offer.queues);
    const PartId wide = running(4);
    offer = capacity(4);
    EXPECT_EQ(offer.processors, 2) << "of debug";
    ASSERT_FALSE(offer.windows.empty());
    EXPECT_EQ(offer.windows.back().processors, 4);
    EXPECT_NEAR(to_seconds(offer.windows.back().after), 600, 60);
    running(2);
    EXPECT_EQ(capacity(4).processors, 1);
    end(wide);
    EXPECT_EQ(capacity(4).processors, 4);
}

TEST_F(PartitionsTest, APartThatNamesAPartitionLiesInThatOne) {
    const auto in = [&](const std::string& partition, int ranks, bool queued = true) {
        PartRequest request = part(ranks, 10min, queued);
        request.partition = partition;
        return request;
    };
    const PartId first = committed(in("batch", 1));
    EXPECT_EQ(machines_of(first), std::set<std::string>{"m1"}) << "debug would come first";
    EXPECT_EQ(zone().hold(home, in("debug", 3)).error().code, ErrorCode::kRejected);
    EXPECT_EQ(zone().hold(home, in("gpu", 1)).error().code, ErrorCode::kRejected);
    EXPECT_TRUE(zone().hold(home, in("main", 1, false))) << "machines outside of [[partition]] are a partition, too";
    const auto offered = [&](const std::string& partition) {
        const CapacityRequest asked{.user = world.user(), .processors = 4, .walltime = 10min, .partition = partition};
        const Capacity offer = zone().capacity(home, asked).value();
        return std::pair(offer.processors, offer.total_processors);
    };
    EXPECT_EQ(offered("debug"), std::pair(2, 2));
    EXPECT_EQ(offered("batch"), std::pair(3, 4));
    EXPECT_EQ(offered("gpu"), std::pair(0, 0));
    EXPECT_EQ(partition_of(committed(in("batch", 4))), "batch") << "it waits, though others have room";
    grant({.partitions = std::vector<std::string>{"debug"}});
    EXPECT_EQ(offered("batch"), std::pair(0, 0)) << "its organisation may not have that one";
}

TEST_F(PartitionsTest, APartThatWaitsWhereThereIsNoQueueAnyMoreWaitsInThatOfTheZone) {
    PartRequest wanted = part(2);
    wanted.partition = "debug";
    const PartId first = running(2), waiting = committed(wanted);
    ASSERT_TRUE(waits(waiting));
    std::erase_if(b().config.partitions, [](const PartitionConfig& known) { return known.name == "debug"; });
    world.restart("b");
    world.run(5s);
    EXPECT_TRUE(waits(waiting)) << status(waiting).reason;
    end(first);
    EXPECT_EQ(machines_of(waiting), std::set<std::string>{"m0"});
}

TEST_F(PartitionsTest, AnApplicationGetsProcessorsOfThePartitionItNames) {
    ApplicationRequest request = world.request(3);
    request.partition = "batch";
    request.zones = {"b"};
    ASSERT_TRUE(world.node("a").applications->submit(world.user(), request));
    world.run(20s);
    const auto status = world.status(request.id);
    ASSERT_EQ(status.parts.size(), 1u) << status.reason;
    EXPECT_EQ(machines_of(status.parts[0].id), std::set<std::string>{"m1"});
    ApplicationRequest nowhere = world.request(1);
    nowhere.partition = "gpu";
    ASSERT_TRUE(world.node("a").applications->submit(world.user(), nowhere));
    world.run(20s);
    EXPECT_THAT(world.status(nowhere.id).reason, HasSubstr("gpu")) << to_string(world.status(nowhere.id).state);
}

TEST_F(PartitionsTest, EachQueueHasItsOwnPolicy) {
    const PartId first = running(3, 10min);  // in batch
    EXPECT_EQ(partition_of(first), "batch");
    const PartId wide = committed(part(4, 10min));
    EXPECT_TRUE(waits(wide));
    EXPECT_EQ(partition_of(wide), "batch");
    running(2, 10min);  // all of debug
    running(1, 10min);  // what is in no partition
    const PartId filler = committed(part(1, 1min));
    EXPECT_EQ(partition_of(filler), "debug") << "the shortest queue, in the order of the file";
    EXPECT_TRUE(waits(filler));
    EXPECT_EQ(zone().waiting_count(), 2u);
}

TEST_F(PartitionsTest, AnOrganisationsLimitsAreForAllPartitionsTogether) {
    grant({.processors = 3, .floor_processors = 3});
    running(2);
    EXPECT_EQ(capacity(4).processors, 1);
    EXPECT_EQ(zone().hold(home, part(2, 10min, false)).error().code, ErrorCode::kRejected);
    EXPECT_TRUE(zone().hold(home, part(1, 10min, false)));
    EXPECT_EQ(zone().front().table().usage_of("org-a").processors, 3);
    grant({.processors = 100, .concurrent_parts = 2, .floor_parts = 2});
    EXPECT_EQ(zone().hold(home, part(1)).error().code, ErrorCode::kRejected) << "it has two parts in two partitions";
}

TEST_F(PartitionsTest, AShareIsOfTheWholeZone) {
    grant({.share = 0.5});  // of seven processors
    EXPECT_EQ(capacity(4).processors, 3);
}

TEST_F(PartitionsTest, APeeringMayBeForOnePartitionOnly) {
    grant({.partitions = std::vector<std::string>{"debug"}});
    EXPECT_EQ(capacity(4).processors, 2);
    EXPECT_EQ(capacity(4).total_processors, 2);
    const PartId first = running(2), second = committed(part(2));
    EXPECT_EQ(partition_of(first), "debug");
    EXPECT_TRUE(waits(second));
    EXPECT_EQ(partition_of(second), "debug");
}

TEST_F(PartitionsTest, WalltimeIsBoundedWhereThePartitionSaysSo) {
    b().config.partitions[0].max_walltime = 5min;
    ASSERT_TRUE(zone().refresh("debug"));
    EXPECT_EQ(partition_of(running(1, 6min)), "batch");
    EXPECT_EQ(partition_of(running(1, 5min)), "debug");
}

TEST_F(PartitionsTest, APartThatWaitsTakesAnEarlierPlaceInAnotherPartition) {
    running(4);
    const PartRequest later = part(3);
    ASSERT_EQ(partition_of(committed(later)), "batch");
    ASSERT_TRUE(waits(later.id));
    PartRequest now = part(2, 10min, false);
    now.application = later.application;
    now.replaces = later.id;
    ASSERT_TRUE(zone().hold(home, now));
    EXPECT_EQ(partition_of(now.id), "debug");
    EXPECT_EQ(status(later.id).state, PartState::kReleased);
    EXPECT_EQ(zone().waiting_count(), 0u);
}

TEST_F(PartitionsTest, ARestartFindsEachPartInItsPartition) {
    const PartId wide = running(4), two = running(2), one = running(1);
    const PartId waits_in_debug = committed(part(2)), waits_in_batch = committed(part(3));
    ASSERT_EQ(partition_of(waits_in_debug), "debug");
    ASSERT_EQ(partition_of(waits_in_batch), "batch");
    world.crash("b");
    world.restart("b");
    EXPECT_EQ(partition_of(wide), "batch");
    EXPECT_EQ(partition_of(two), "debug");
    EXPECT_EQ(partition_of(one), "");
    EXPECT_EQ(partition_of(waits_in_debug), "debug");
    EXPECT_EQ(partition_of(waits_in_batch), "batch");
    EXPECT_EQ(capacity(1).processors, 0);
    end(two);
    EXPECT_FALSE(waits(waits_in_debug));
    EXPECT_TRUE(waits(waits_in_batch));
    EXPECT_EQ(machines_of(waits_in_debug), std::set<std::string>{"m0"});
}

TEST_F(PartitionsTest, WhatHasEndedIsAnsweredByThePartitionThatHadIt) {
    const PartId wide = running(4);
    PartService* const batch = &queue_of(wide);
    end(wide);
    EXPECT_EQ(status(wide).state, PartState::kCompleted);
    EXPECT_EQ(&queue_of(wide), batch);
}

TEST_F(PartitionsTest, AStoredPartAcrossTwoPartitionsStopsTheStart) {
    world.crash("b");
    b().config.partitions.clear();
    world.restart("b");
    running(6);
    world.crash("b");
    b().config.partitions = {{.name = "debug"}};
    const auto refused = world.try_restart("b");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kConflict);
    EXPECT_THAT(refused.error().message, HasSubstr("restore [[machine]] and [[partition]]"));
}

TEST_F(PartitionsTest, AnotherPolicyOfOnePartitionLeavesTheOthersAlone) {
    std::map<std::string, int> chosen, decided;
    b().queue_observer_of = [&](const std::string& name) {
        return [&, name](const QueueEvent& event) {
            chosen[name] += std::holds_alternative<DisciplineChosen>(event);
            decided[name] += std::holds_alternative<Decided>(event);
        };
    };
    world.restart("b");
    running(4, 10min);  // batch
    const PartId debug = running(1, 10min);
    ASSERT_EQ(partition_of(debug), "debug");
    running(1, 10min);  // debug, too
    running(1, 10min);  // outside
    const PartId wide = committed(part(2, 10min));
    ASSERT_EQ(partition_of(wide), "debug");
    const PartId narrow = committed(part(2, 10min)), small = committed(part(1, 1min));
    ASSERT_EQ(partition_of(narrow), "batch");
    chosen.clear();
    // fcfs keeps the short one behind the wide one
    b().config.partitions[1].queue = "conservative";
    ASSERT_TRUE(zone().refresh("batch"));
    ASSERT_TRUE(zone().refresh("debug"));
    EXPECT_THAT(chosen, ElementsAre(std::pair<const std::string, int>{"batch", 1}));
    EXPECT_TRUE(waits(wide) && waits(narrow) && waits(small));
    end(debug);
    EXPECT_TRUE(waits(wide)) << "one processor is free";
    const auto refused = [&] {
        b().config.partitions[0].queue = "gang";
        return zone().refresh("debug");
    }();
    EXPECT_FALSE(refused);
    EXPECT_GT(decided["debug"], 0);
    b().config.partitions[0].queue = "no-such-policy";
    EXPECT_FALSE(zone().refresh("debug"));
    EXPECT_TRUE(waits(wide)) << "as before";
}

}  // namespace
}  // namespace zbs::test
