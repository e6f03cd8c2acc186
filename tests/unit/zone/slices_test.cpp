// A zone of several slots: parts that take turns on the same processors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/zone_scheduler/domain/part_service.hpp"
#include "tests/support/fake_executor.hpp"
#include "tests/support/fake_trust.hpp"
#include "tests/support/memory_store.hpp"
#include "tests/support/silent_log.hpp"
#include "tests/support/virtual_clock.hpp"

namespace zbs::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class Columns : public SliceSink {
  public:
    void set_column(const std::string& machine, SliceColumn column) override { of[machine] = std::move(column); }
    std::map<std::string, SliceColumn> of;
};

class SlicesTest : public testing::Test {
  protected:
    void begin(int slots = 2, bool fill = false) {
        config.zone = {"b", {{"m0", 2, 1.0}, {"m1", 2, 1.0}}};
        config.agents = {"m0", "m1"};
        config.organisation = "org-b";
        config.slots = slots;
        config.fill_idle_slots = fill;
        config.level_two_mapper = "block";
        if (zone != nullptr) former.push_back(std::move(zone));
        zone = std::make_unique<PartService>(config, clock, store, executor, peerings, filter, log,
                                             [](std::string_view) -> Result<ApplicationModel> { return Error{}; });
        zone->use_slices(columns);
        ASSERT_TRUE(zone->resume());
    }
    Result<PartStatus> hold(int ranks) {
        PartRequest r{.id = PartId{ids.fresh()},
                      .application = ApplicationId{ids.fresh()},
                      .user = {CallerKind::kUser, "org-b", "bo"},
                      .home = "b"};
        for (int i = 0; i < ranks; ++i) r.ranks.push_back(i);
        r.graph = *TaskGraph::make(std::vector<double>(static_cast<std::size_t>(ranks), 1.0), {});
        r.walltime = 5min;
        return zone->hold(home, r);
    }
    /// Runs with a proxy on each of its machines; its steps by machine.
    std::map<std::string, std::string> run(int ranks) {
        const auto held = hold(ranks);
        EXPECT_TRUE(held) << held.error();
        EXPECT_TRUE(zone->commit(home, held->id, held->token));
        std::map<std::string, std::string> steps;
        LaunchRequest launch{.token = held->token,
                             .operation = launch_operation(held->id),
                             .options = {{"control-port", "127.0.0.1:9"}}};
        for (const RankPlace& place : held->assignment) {
            if (steps.contains(place.machine)) continue;
            const int number = static_cast<int>(steps.size());
            launch.proxies.push_back({number, place.machine});
            steps[place.machine] = launch.operation + "-p" + std::to_string(number);
        }
        EXPECT_TRUE(zone->launch(home, held->id, launch));
        return steps;
    }
    void end(const std::map<std::string, std::string>& steps) {
        for (const auto& [machine, step] : steps) executor.end(step, 0);
        clock.advance(1s);
    }

    const Caller home{CallerKind::kZone, "org-b", "b"};
    ZoneConfig config;
    VirtualClock clock;
    CountingIds ids;
    MemoryZoneStore store;
    MemorySiteStore site;
    FakeTrust trust;
    FakeExecutor executor{clock};
    SilentLog log;
    PeeringService peerings{config, clock, site, trust, log};
    AuthorizationFilter filter{config, clock, site, peerings};
    Columns columns;
    std::vector<std::unique_ptr<PartService>> former;  ///< their timers are still in the clock
    std::unique_ptr<PartService> zone;
};

TEST_F(SlicesTest, AsManyPartsHaveTheSameProcessorsAsThereAreSlots) {
    begin(3);
    for (int i = 0; i < 3; ++i) {
        const auto held = hold(4);
        ASSERT_TRUE(held) << held.error();
        EXPECT_EQ(held->assignment.size(), 4U);
        for (const RankPlace& place : held->assignment) EXPECT_LT(place.processor, 2);
    }
    EXPECT_EQ(hold(1).error().code, ErrorCode::kRejected);
    EXPECT_EQ(zone->free_processors(), 0);
}

TEST_F(SlicesTest, APartLiesInOneRowTheFullestThatHasRoom) {
    begin();
    ASSERT_TRUE(hold(2));
    ASSERT_TRUE(hold(3)) << "in the other row";
    const auto third = hold(1);
    ASSERT_TRUE(third);
    EXPECT_FALSE(hold(3)) << "three are free, but not in one row";
    EXPECT_EQ(zone->free_processors(), 2) << "the row of three is full now";
    EXPECT_TRUE(hold(2));
}

TEST_F(SlicesTest, MachinesAreToldTheirColumnsWhenPartsStartAndEnd) {
    begin();
    const auto first = run(4);
    EXPECT_THAT(columns.of.at("m0").rows, IsEmpty()) << "one row needs no turns";
    const std::uint64_t number = columns.of.at("m0").number;
    const auto second = run(4);
    for (const char* machine : {"m0", "m1"}) {
        const SliceColumn& column = columns.of.at(machine);
        EXPECT_GT(column.number, number);
        EXPECT_EQ(column.slice, config.slice);
        EXPECT_GT(column.epoch, clock.now());
        EXPECT_EQ(column.epoch, columns.of.at("m0").epoch) << "all switch together";
        EXPECT_EQ(column.fill, FillMode::kNone);
        EXPECT_THAT(column.rows, ElementsAre(ElementsAre(first.at(machine)), ElementsAre(second.at(machine))));
    }
    end(first);
    EXPECT_THAT(columns.of.at("m1").rows, IsEmpty());
}

TEST_F(SlicesTest, RowsAreTheSameOnEveryMachineWhateverItHasInThem) {
    begin();
    const auto wide = run(4), narrow = run(1);
    ASSERT_EQ(narrow.size(), 1U);
    const std::string has = narrow.begin()->first, lacks = has == "m0" ? "m1" : "m0";
    EXPECT_THAT(columns.of.at(has).rows, ElementsAre(ElementsAre(wide.at(has)), ElementsAre(narrow.at(has))));
    EXPECT_THAT(columns.of.at(lacks).rows, ElementsAre(ElementsAre(wide.at(lacks)), IsEmpty()));
}

TEST_F(SlicesTest, ConcurrentGangLetsOthersRunWhereARowWaits) {
    begin(2, true);
    const auto first = run(4), second = run(4);
    EXPECT_EQ(columns.of.at("m0").fill, FillMode::kLts);
    EXPECT_THAT(columns.of.at("m0").fillers, UnorderedElementsAre(first.at("m0"), second.at("m0")));
}

TEST_F(SlicesTest, WhatTakesTurnsIsToldAsSlower) {
    begin();
    const CapacityRequest question{.user = {CallerKind::kUser, "org-b", "bo"}, .processors = 4, .walltime = 5min};
    EXPECT_EQ(zone->capacity(home, question)->speed_mean, 1);
    run(4);
    const auto shared = zone->capacity(home, question);
    EXPECT_EQ(shared->processors, 4);
    EXPECT_EQ(shared->speed_mean, 0.5);
}

TEST_F(SlicesTest, AMachineThatIsOutOfOrderSlowsNoOther) {
    begin();
    zone->use_machines([](auto done) { done(std::vector<MachineUse>{{.machine = "m1", .fault = "gone"}}); }, 1s);
    zone->start();
    const CapacityRequest question{.user = {CallerKind::kUser, "org-b", "bo"}, .processors = 2, .walltime = 5min};
    const auto told = zone->capacity(home, question);
    EXPECT_EQ(told->processors, 2);
    EXPECT_EQ(told->speed_mean, 1);
}

TEST_F(SlicesTest, ColumnsThatFollowEachOtherQuicklyStillComeIntoForce) {
    begin(4);
    run(1);
    const Time epoch = columns.of.at("m0").epoch;
    for (int i = 0; i < 3; ++i) {
        clock.advance(50ms);
        run(4);
        EXPECT_EQ(columns.of.at("m0").epoch, epoch) << "not put off again and again";
    }
    EXPECT_EQ(columns.of.at("m0").rows.size(), 4U);
}

/// Which of the columns' rows has the turn at an instant.
std::string turn_at(const SliceColumn& column, Time at) {
    const auto slices = static_cast<std::size_t>((at - column.epoch) / column.slice);
    return column.rows[slices % column.rows.size()].at(0);
}

TEST_F(SlicesTest, WhoStartsAndEndsOftenGivesNobodyMoreTurns) {
    begin(3);
    const auto first = run(4), second = run(4);
    clock.advance(1s);
    const SliceColumn before = columns.of.at("m0");
    for (int k = 0; k < 6; ++k) {
        clock.advance(170ms + k * 130ms);  // somewhere in a slice
        end(run(4));
        const SliceColumn after = columns.of.at("m0");
        ASSERT_GT(after.number, before.number);
        ASSERT_EQ(after.rows.size(), 2U);
        EXPECT_EQ((after.epoch - before.epoch) % config.slice, Duration{0}) << "the boundaries stay where they were";
        for (int slice = 0; slice < 4; ++slice) {
            const Time at = after.epoch + slice * config.slice;
            EXPECT_EQ(turn_at(after, at), turn_at(before, at)) << "and so does the order of turns";
        }
    }
}

TEST_F(SlicesTest, WithoutTimeSharingAgentsAreToldOnceThatThereIsNone) {
    begin(1);
    zone->start();
    const std::uint64_t number = columns.of.at("m0").number;
    EXPECT_GT(number, 0U);
    EXPECT_THAT(columns.of.at("m0").rows, IsEmpty());
    end(run(4));
    EXPECT_EQ(columns.of.at("m0").number, number);
}

TEST_F(SlicesTest, AMatrixOfOtherMachinesIsRefused) {
    begin();
    run(4), run(4);
    former.push_back(std::move(zone));
    config.zone.machines.insert(config.zone.machines.begin(), {"new", 4, 1.0});
    zone = std::make_unique<PartService>(config, clock, store, executor, peerings, filter, log,
                                         [](std::string_view) -> Result<ApplicationModel> { return Error{}; });
    const auto resumed = zone->resume();
    ASSERT_FALSE(resumed);
    EXPECT_THAT(resumed.error().message, testing::HasSubstr("other machines or slots"));
}

TEST_F(SlicesTest, AfterARestartTheMachinesAreToldAgain) {
    begin();
    const auto first = run(4), second = run(4);
    const std::uint64_t number = columns.of.at("m0").number;
    columns.of.clear();
    begin();
    clock.advance(1s);
    EXPECT_GT(columns.of.at("m0").number, number);
    EXPECT_EQ(columns.of.at("m0").rows.size(), 2U);
}

}  // namespace
}  // namespace zbs::test
