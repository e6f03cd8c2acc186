// A zone of several slots: parts that take turns on the same processors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "algorithms/queue/discipline.hpp"
#include "services/zone_scheduler/peer/part_service.hpp"
#include "services/zone_scheduler/trust/peering_request.hpp"
#include "tests/support/federation_world.hpp"

namespace zbs::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class Columns : public SliceSink {
  public:
    void set_column(const MachineName& machine, SliceColumn column) override { of[machine] = std::move(column); }
    void set_shares(const MachineName& machine, ShareTable table) override { shares[machine] = std::move(table); }
    std::optional<bool> has_weights(const MachineName& machine) const override {
        const auto at = weigh.find(machine);
        return at == weigh.end() ? std::nullopt : std::optional(at->second);
    }
    std::map<std::string, SliceColumn> of;
    std::map<std::string, ShareTable> shares;
    std::map<std::string, bool> weigh;
};

struct Standing {
    int priority = kUsualPriority;
    std::optional<int> share{};
    bool queued = false;
    int overcommit = 1;
};

class SlicesTest : public testing::Test {
  protected:
    void begin(const std::string& queue = "gang:slices=2:fill=false") {
        config.zone = {"b", {{"m0", 2, 1.0}, {"m1", 2, 1.0}}};
        config.agents = {"m0", "m1"};
        config.organisation = "org-b";
        config.queue = queue;
        config.slots = queue.empty() ? 1 : queue_discipline(queue, 4).value().rows;
        config.level_two_mapper = "block";
        const auto started = start();
        ASSERT_TRUE(started) << started.error();
    }
    Result<void> start() {
        if (node.up) world.crash("b");
        node.adjust = [this](DomainPorts& ports) {
            ports.slices = &columns;
            ports.machines = [this](auto done) { done(machines); };
            ports.machines_every = 1s;
        };
        return world.try_restart("b");
    }
    PartRequest request(int ranks, Standing standing = {}) {
        PartRequest r{.id = PartId{ids.fresh(home)},
                      .application = ApplicationId{ids.fresh(home)},
                      .user = {CallerKind::kUser, home.organisation, "bo"},
                      .home = ZoneName(home.name)};
        for (int i = 0; i < ranks; ++i) r.ranks.push_back(i);
        r.graph = *TaskGraph::make(std::vector<double>(static_cast<std::size_t>(ranks), 1.0), {});
        r.walltime = 5min;
        r.priority = standing.priority;
        r.share = standing.share;
        r.queued = standing.queued;
        r.overcommit = standing.overcommit;
        return r;
    }
    Result<PartStatus> hold(int ranks, Standing standing = {}) { return zone->hold(home, request(ranks, standing)); }
    /// Runs with a proxy on each of its machines; its steps by machine.
    std::map<std::string, std::string> run(int ranks, Standing standing = {}) {
        return run(*zone, request(ranks, standing));
    }
    std::map<std::string, std::string> run(PartService& where, const PartRequest& wanted) {
        const auto held = where.hold(home, wanted);
        EXPECT_TRUE(held) << held.error();
        EXPECT_TRUE(where.commit(home, held->id, held->token));
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
        EXPECT_TRUE(where.launch(home, held->id, launch));
        return steps;
    }
    /// From now on home is a zone of org-a.
    void accept_org_a() {
        config.rules = {FederationWorld::accept_all({"org-a"})};
        ASSERT_TRUE(node.peerings->resume());
        home = {CallerKind::kZone, "org-a", "a"};
        const FakeKeys keys(home, "BUNDLE org-a");
        const Caller self{CallerKind::kZone, "org-b", "b"};
        ASSERT_TRUE(node.peerings->request(
            {}, *make_peering_request({"a", "org-a", "https://a"}, self, clock.now(), keys, node.trust)));
    }
    void end(const std::map<std::string, std::string>& steps) {
        for (const auto& [machine, step] : steps) executor.end(step, 0);
        clock.advance(1s);
    }

    Caller home{CallerKind::kZone, "org-b", "b"};
    FederationWorld world{{}};
    FederationWorld::Node& node = world.add({.zone = {"b", {}}, .organisation = "org-b"});
    ZoneConfig& config = node.config;
    VirtualClock& clock = world.clock;
    CountingIds& ids = world.ids;
    FakeExecutor& executor = *node.executor;
    Columns columns;
    std::vector<MachineUse> machines;       ///< as seen; others are as configured
    PartService* const& zone = node.parts;  // another one after `begin`
};

TEST_F(SlicesTest, AsManyPartsHaveTheSameProcessorsAsThereAreSlots) {
    begin("gang:slices=3:fill=false");
    for (int i = 0; i < 3; ++i) {
        const auto held = hold(4);
        ASSERT_TRUE(held) << held.error();
        EXPECT_EQ(held->assignment.size(), 4U);
        for (const RankPlace& place : held->assignment) EXPECT_LT(place.processor, 2);
    }
    EXPECT_EQ(hold(1).error().code, ErrorCode::kRejected);
    EXPECT_EQ(zone->table().free_processors(), 0);
}

TEST_F(SlicesTest, RanksThatShareProcessorsLieInOneRow) {
    begin("gang:slices=2:fill=false");
    config.max_overcommit = 2;
    Result<PartStatus> held = Error{};
    for (int i = 0; i < 2; ++i) {
        held = hold(8, {.overcommit = 2});
        ASSERT_TRUE(held) << held.error();
        EXPECT_EQ(held->assignment.size(), 8U);
        EXPECT_EQ(processors_in(held->assignment).size(), 4U);
    }
    const auto waiting = hold(3, {.queued = true, .overcommit = 2});
    ASSERT_TRUE(waiting) << waiting.error();
    clock.advance(5s);
    EXPECT_TRUE(zone->status(home, waiting->id)->assignment.empty()) << "both rows are full";
    ASSERT_TRUE(zone->release(home, held->id, "not needed"));
    clock.advance(5s);
    const std::vector<RankPlace> given = zone->status(home, waiting->id)->assignment;
    EXPECT_EQ(given.size(), 3U);
    EXPECT_EQ(processors_in(given).size(), 2U);
}

TEST_F(SlicesTest, APartLiesInOneRowTheFullestThatHasRoom) {
    begin();
    ASSERT_TRUE(hold(2));
    ASSERT_TRUE(hold(3)) << "in the other row";
    const auto third = hold(1);
    ASSERT_TRUE(third);
    EXPECT_FALSE(hold(3)) << "three are free, but not in one row";
    EXPECT_EQ(zone->table().free_processors(), 2) << "the row of three is full now";
    EXPECT_TRUE(hold(2));
    clock.advance(1s);  // the policy has seen them
    std::map<int, std::size_t> ranks;
    for (const PartRecord* part : zone->table().records())
        ranks[zone->table().slice_of(*part).value()] += part->processors.size();
    EXPECT_EQ(ranks, (std::map<int, std::size_t>{{0, 4}, {1, 4}}));
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
    config.concurrent_gang = true;
    begin();
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
    machines = {{.machine = "m1", .fault = "gone"}};
    zone->start();
    const CapacityRequest question{.user = {CallerKind::kUser, "org-b", "bo"}, .processors = 2, .walltime = 5min};
    const auto capacity = zone->capacity(home, question);
    EXPECT_EQ(capacity->processors, 2);
    EXPECT_EQ(capacity->speed_mean, 1);
}

TEST_F(SlicesTest, ColumnsThatFollowEachOtherQuicklyStillComeIntoForce) {
    begin("gang:slices=4:fill=false");
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
    begin("gang:slices=3:fill=false");
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
    begin("");
    zone->start();
    const std::uint64_t number = columns.of.at("m0").number;
    EXPECT_GT(number, 0U);
    EXPECT_THAT(columns.of.at("m0").rows, IsEmpty());
    end(run(4));
    EXPECT_EQ(columns.of.at("m0").number, number);
}

/// Nice levels or weights by step.
std::map<std::string, int> table_of(const ShareTable& table) {
    std::map<std::string, int> values;
    for (const Share& share : table.shares) values[share.step_id] = share.nice ? *share.nice : share.weight.value();
    return values;
}

TEST_F(SlicesTest, ByPriorityAllRunAndTheOneThatCameFirstGoesFirst) {
    begin("elmer:degree=2:threshold=1");
    const auto first = run(4), second = run(4);
    for (const char* machine : {"m0", "m1"}) {
        EXPECT_THAT(columns.of.at(machine).rows, IsEmpty());
        EXPECT_THAT(table_of(columns.shares.at(machine)),
                    UnorderedElementsAre(std::pair{first.at(machine), 0}, std::pair{second.at(machine), 19}));
    }
    end(first);
    EXPECT_THAT(table_of(columns.shares.at("m0")), ElementsAre(std::pair{second.at("m0"), 0})) << "it goes up";
    const auto third = run(4);
    EXPECT_EQ(table_of(columns.shares.at("m0")).at(second.at("m0")), 0) << "who came first stays first";
    EXPECT_EQ(table_of(columns.shares.at("m0")).at(third.at("m0")), 19);
    EXPECT_EQ(zone->sharing_mode(), "nice levels");
}

TEST_F(SlicesTest, AHigherPriorityGoesFirstWhoeverCameFirst) {
    begin("elmer:degree=3:threshold=1");
    const auto usual = run(4), low = run(4, {.priority = 1}), high = run(4, {.priority = 9});
    const auto levels = table_of(columns.shares.at("m1"));
    EXPECT_EQ(levels.at(high.at("m1")), 0);
    EXPECT_EQ(levels.at(usual.at("m1")), 9);
    EXPECT_EQ(levels.at(low.at("m1")), 19);
}

TEST_F(SlicesTest, UsersOfOthersCountWithTheUsualPriorityAtMost) {
    begin("elmer:degree=3:threshold=1");
    const auto own = run(4);
    accept_org_a();
    // Toward others machines are n0 and n1.
    const auto low = run(4, {.priority = 1}), high = run(4, {.priority = 9});
    const auto levels = table_of(columns.shares.at("m0"));
    EXPECT_EQ(levels.at(own.at("m0")), 0);
    EXPECT_EQ(levels.at(high.at("n0")), 9) << "behind its equal that came first";
    EXPECT_EQ(levels.at(low.at("n0")), 19);
}

TEST_F(SlicesTest, ByPriorityProcessorsWithFewOthersAreTakenFirst) {
    begin("elmer:degree=3:threshold=1");
    const auto first = run(2), second = run(2);
    EXPECT_NE(first.begin()->first, second.begin()->first) << "each has a machine of its own";
    EXPECT_EQ(table_of(columns.shares.at(second.begin()->first)).begin()->second, 0);
    const auto wide = run(4);
    for (const char* machine : {"m0", "m1"}) EXPECT_EQ(table_of(columns.shares.at(machine)).at(wide.at(machine)), 9);
}

TEST_F(SlicesTest, ByPriorityAnIdleProcessorIsTakenBeforeOneThatSomebodyHas) {
    begin("elmer:degree=3:threshold=1");
    const auto three = run(3), last = run(1), beside = run(1);
    end(three);  // now the first row has the last processor only, the second one the first
    const auto late = run(1);
    EXPECT_EQ(table_of(columns.shares.at("m0")).at(beside.at("m0")), 0);
    EXPECT_EQ(table_of(columns.shares.at("m0")).at(late.at("m0")), 0) << "it has a processor of its own";
}

TEST_F(SlicesTest, LevelsComeBackAfterARestartOfTheZone) {
    begin("elmer:degree=2:threshold=1");
    const auto usual = run(4), high = run(4, {.priority = 9});
    const auto before = table_of(columns.shares.at("m0"));
    const std::uint64_t number = columns.shares.at("m0").number;
    columns.shares.clear();
    begin("elmer:degree=2:threshold=1");
    clock.advance(1s);
    EXPECT_GT(columns.shares.at("m0").number, number);
    EXPECT_EQ(table_of(columns.shares.at("m0")), before);
    EXPECT_EQ(before.at(high.at("m0")), 0);
}

TEST_F(SlicesTest, WithoutWeightsSharesAreTurnsInOnePeriod) {
    begin("scojo:level=3");
    columns.weigh = {{"m0", true}, {"m1", false}};
    const auto first = run(4, {.share = 60}), second = run(1, {.share = 20});
    for (const char* machine : {"m0", "m1"}) {
        const SliceColumn& column = columns.of.at(machine);
        ASSERT_EQ(column.rows.size(), 2U);
        EXPECT_THAT(column.rows[0], ElementsAre(first.at(machine)));
        EXPECT_THAT(column.shares, ElementsAre(60, 20));
        EXPECT_EQ(column.slice, config.slice);
        EXPECT_EQ(column.epoch, columns.of.at("m0").epoch) << "all machines are in phase";
        EXPECT_THAT(columns.shares.at(machine).shares, IsEmpty());
    }
    EXPECT_EQ(zone->sharing_mode(), "turns");
    const Time epoch = columns.of.at("m0").epoch;
    clock.advance(1s);
    const auto third = run(4, {.share = 20});
    EXPECT_EQ((columns.of.at("m0").epoch - epoch) % config.slice, Duration{0});
    EXPECT_THAT(columns.of.at("m0").shares, ElementsAre(60, 20, 20));
    EXPECT_THAT(columns.of.at("m0").rows[0], ElementsAre(first.at("m0"))) << "the order stays whatever the epoch";
}

TEST_F(SlicesTest, WhereAllMachinesHaveThemSharesAreWeights) {
    begin("scojo:level=3");
    columns.weigh = {{"m0", true}, {"m1", true}};
    const auto first = run(4, {.share = 60}), second = run(3, {.share = 20});
    EXPECT_THAT(columns.of.at("m0").rows, IsEmpty());
    EXPECT_EQ(zone->sharing_mode(), "weights");
    for (const auto& [machine, step] : first) EXPECT_EQ(table_of(columns.shares.at(machine)).at(step), 120);
    // A weight is for all processors of a machine that a step uses: two here, one there.
    std::vector<int> weights;
    for (const auto& [machine, step] : second) weights.push_back(table_of(columns.shares.at(machine)).at(step));
    EXPECT_THAT(weights, UnorderedElementsAre(40, 20));
    columns.weigh["m1"] = false;  // its agent was started without a control group
    clock.advance(1s);
    EXPECT_EQ(columns.of.at("m0").rows.size(), 2U);
    EXPECT_THAT(columns.shares.at("m0").shares, IsEmpty());
}

TEST_F(SlicesTest, UntilAllAgentsHaveRegisteredNoneSwitchesToWeights) {
    begin("scojo:level=3");
    columns.weigh = {{"m0", true}};  // of m1 nothing is known
    run(4, {.share = 60});
    clock.advance(1s);
    EXPECT_EQ(zone->sharing_mode(), "turns");
    columns.weigh["m1"] = true;
    clock.advance(1s);
    EXPECT_EQ(zone->sharing_mode(), "weights");
}

TEST_F(SlicesTest, SharesOfAProcessorAreAllOfItAtMost) {
    begin("scojo:level=4");
    ASSERT_TRUE(hold(4, {.share = 60}));
    const auto over = hold(1, {.share = 41});
    ASSERT_FALSE(over);
    EXPECT_EQ(over.error().code, ErrorCode::kRejected);
    EXPECT_THAT(over.error().message, testing::HasSubstr("a share of 41 % wanted, 40 % left"));
    ASSERT_TRUE(hold(2, {.share = 40}));
    EXPECT_FALSE(hold(2, {.share = 30})) << "each has its own share";
    EXPECT_FALSE(hold(1, {.share = 5})) << "all is given";
}

TEST_F(SlicesTest, UsersOfOthersHaveNoMoreThanWhoAsksForNothing) {
    begin("scojo:level=4");
    ASSERT_TRUE(hold(4, {.share = 75}));
    accept_org_a();
    EXPECT_TRUE(hold(1, {.share = 95})) << "counts as 25";
}

TEST_F(SlicesTest, WhoAsksForNoShareHasAsMuchAsThereAreSlots) {
    begin("scojo:level=3");
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(hold(4));
    EXPECT_FALSE(hold(1));
}

TEST_F(SlicesTest, CapacityTellsWhatAShareLeaves) {
    begin("scojo:level=2");
    CapacityRequest question{
        .user = {CallerKind::kUser, "org-b", "bo"}, .processors = 4, .walltime = 5min, .share = 30};
    EXPECT_EQ(zone->capacity(home, question)->speed_mean, 1) << "who is alone has all";
    run(4, {.share = 60});
    const auto shared = zone->capacity(home, question);
    EXPECT_EQ(shared->processors, 4);
    EXPECT_NEAR(shared->speed_mean, 30.0 / 90, 1e-9);
    question.share = 50;
    EXPECT_EQ(zone->capacity(home, question)->processors, 0);
}

TEST_F(SlicesTest, HomeIsToldWhatItsRanksMostlyDo) {
    begin();
    executor.script("run-", {.work = StepWork::kIo});
    const auto held = hold(4);
    ASSERT_TRUE(held) << held.error();
    ASSERT_TRUE(zone->commit(home, held->id, held->token));
    LaunchRequest launch{.token = held->token,
                         .operation = launch_operation(held->id),
                         .options = {{"control-port", "127.0.0.1:9"}},
                         .proxies = {{0, "m0"}, {1, "m1"}}};
    EXPECT_EQ(zone->status(home, held->id)->work, std::nullopt);
    executor.script(launch.operation + "-p1", {.work = StepWork::kCommunication});
    ASSERT_TRUE(zone->launch(home, held->id, launch));
    EXPECT_EQ(zone->status(home, held->id)->work, StepWork::kMixed) << "one does I/O, one communicates";
}

TEST_F(SlicesTest, AMatrixOfOtherMachinesIsRefused) {
    begin();
    run(4), run(4);
    config.zone.machines.insert(config.zone.machines.begin(), {"new", 4, 1.0});
    config.agents = {"new", "m0", "m1"};
    const auto resumed = start();
    ASSERT_FALSE(resumed);
    EXPECT_THAT(resumed.error().message, testing::HasSubstr("other machines or slots"));
}

TEST_F(SlicesTest, AnApplicationOverTwoZonesHasTheSameSlicesInBoth) {
    begin();
    clock.advance(12'345ms);
    Columns there;
    ZoneConfig config_of_c = config;
    config_of_c.zone.name = "c";
    FederationWorld::Node& other = world.add(std::move(config_of_c));
    other.adjust = [&there](DomainPorts& ports) { ports.slices = &there; };
    world.restart("c");
    PartRequest here = request(4), elsewhere = request(4);
    here.application = elsewhere.application;
    here.outside = {{"c", 1'000, 1}};
    elsewhere.outside = {{"b", 1'000, 1}};
    const std::string second = (run(4), run(*zone, here).at("m0"));
    clock.advance(777ms);
    const std::string first = run(*other.parts, elsewhere).at("m0");
    run(*other.parts, request(4));
    clock.advance(5s);
    const SliceColumn &one = columns.of.at("m0"), &two = there.of.at("m0");
    ASSERT_EQ(one.rows.size(), 2U);
    ASSERT_EQ(two.rows.size(), 2U);
    for (int i = 0; i < 20; ++i) {
        const Time at = std::max(one.epoch, two.epoch) + i * config.slice / 4;
        EXPECT_EQ(turn_at(one, at) == second, turn_at(two, at) == first) << i;
    }
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

// With a policy in the queue, parts wait for a place beside others, and the policy says how they share.

TEST_F(SlicesTest, UnderGangSchedulingAPartWaitsForAPlaceInARow) {
    begin("gang:slices=2:fill=false");
    const auto first = run(4, {.queued = true}), second = run(2, {.queued = true});
    EXPECT_THAT(columns.of.at("m0").rows,
                UnorderedElementsAre(ElementsAre(first.at("m0")), ElementsAre(second.at("m0"))));
    const auto third = hold(4, {.queued = true});
    ASSERT_TRUE(third);
    EXPECT_TRUE(third->queue) << "no row has four processors left";
    const auto fourth = hold(2);
    EXPECT_TRUE(fourth) << "two are left in one";
    end(first);
    EXPECT_EQ(zone->status(home, third->id)->assignment.size(), 4U) << "the others are in one row now";
    EXPECT_EQ(hold(5, {.queued = true}).error().code, ErrorCode::kRejected) << "no row has so many";
}

TEST_F(SlicesTest, UnderGangSchedulingAPartIsInEachRowThatHasRoom) {
    begin("gang:slices=2");
    const auto narrow = run(2, {.queued = true}), wide = run(4, {.queued = true}), other = run(1, {.queued = true});
    ASSERT_EQ(narrow.size(), 1U);
    const std::string machine = narrow.begin()->first == "m0" ? "m1" : "m0";
    ASSERT_TRUE(other.contains(machine));
    end(wide);
    EXPECT_THAT(columns.of.at(machine).rows, IsEmpty()) << "the two left share one row";
}

TEST_F(SlicesTest, RowsOfAPolicyOutliveTheZone) {
    begin("gang:slices=3");
    const auto first = run(4, {.queued = true}), second = run(4, {.queued = true});
    begin("gang:slices=3");
    zone->start();
    clock.advance(2s);
    EXPECT_THAT(columns.of.at("m1").rows,
                UnorderedElementsAre(ElementsAre(first.at("m1")), ElementsAre(second.at("m1"))));
    const auto third = hold(4, {.queued = true});
    ASSERT_TRUE(third);
    EXPECT_EQ(third->assignment.size(), 4U);
    EXPECT_TRUE(hold(4, {.queued = true})->queue);
}

TEST_F(SlicesTest, WhatHasAStartInSeveralZonesTakesAnotherRowAtOnce) {
    const CapacityRequest question{.user = {CallerKind::kUser, "org-b", "bo"}, .processors = 4, .walltime = 5min};
    begin("gang:slices=2");
    run(4);
    EXPECT_EQ(zone->capacity(home, question)->processors, 4);
    run(4);
    EXPECT_EQ(zone->capacity(home, question)->processors, 0);
}

TEST_F(SlicesTest, EachPartIsInTheSameRowsAfterARestart) {
    begin("gang:slices=3:choice=lowest");
    run(4, {.queued = true}), run(3, {.queued = true}), run(3, {.queued = true});
    const auto narrow = run(1, {.queued = true});
    clock.advance(1s);
    const auto slices = [&] {
        std::map<PartId, std::optional<int>> found;
        for (const PartRecord* part : zone->table().records()) found[part->request.id] = zone->table().slice_of(*part);
        return found;
    };
    const auto of = slices();
    const auto rows = columns.of.at("m1").rows;
    const auto has_narrow = [&](const std::vector<StepId>& row) {
        return std::ranges::find(row, StepId(narrow.at("m1"))) != row.end();
    };
    ASSERT_EQ(std::ranges::count_if(rows, has_narrow), 2) << "beside each of three ranks";
    columns.of.clear();
    begin("gang:slices=3:choice=lowest");
    EXPECT_EQ(slices(), of) << "before any decision";
    zone->start();
    EXPECT_THAT(columns.of.at("m1").rows, testing::UnorderedElementsAreArray(rows));
    clock.advance(2s);
    EXPECT_EQ(slices(), of);
    EXPECT_THAT(columns.of.at("m1").rows, testing::UnorderedElementsAreArray(rows));
    begin("gang:slices=3");
    clock.advance(2s);
    EXPECT_EQ(columns.of.at("m1").rows.size(), 3U) << "what another policy knew is not taken";
}

TEST_F(SlicesTest, UnderElmerTheFirstGoesFirst) {
    begin("elmer:threshold=1");
    const auto first = run(4, {.queued = true}), second = run(4, {.queued = true});
    const auto levels = table_of(columns.shares.at("m0"));
    EXPECT_EQ(levels.at(first.at("m0")), 0);
    EXPECT_EQ(levels.at(second.at("m0")), 19);
    EXPECT_THAT(columns.of.at("m0").rows, IsEmpty());
    EXPECT_TRUE(hold(1, {.queued = true})->queue) << "two of a processor are enough";
    end(first);
    EXPECT_EQ(table_of(columns.shares.at("m0")).at(second.at("m0")), 0);
}

TEST_F(SlicesTest, UnderScojoPartsHaveTheSharesThatThePolicyGives) {
    columns.weigh = {{"m0", true}, {"m1", true}};
    begin("scojo");
    const auto first = run(4, {.share = 60, .queued = true});
    EXPECT_EQ(table_of(columns.shares.at("m0")).at(first.at("m0")), 200) << "all of two processors";
    const auto second = run(4, {.queued = true});
    const auto weights = table_of(columns.shares.at("m0"));
    EXPECT_EQ(weights.at(first.at("m0")), 120);
    EXPECT_EQ(weights.at(second.at("m0")), 66);
    EXPECT_TRUE(hold(4, {.queued = true})->queue) << "a third of the processors is not left";
}

TEST_F(SlicesTest, UnderLazyGangSchedulingWhoHasWaitedTooLongStopsAnother) {
    begin("lazy-gang:patience=2s,2s,2s:undisturbed=0");
    const auto first = run(4, {.queued = true});
    const auto second = hold(4, {.queued = true});
    ASSERT_TRUE(second && second->queue);
    ASSERT_TRUE(zone->commit(home, second->id, second->token));
    clock.advance(1s);
    EXPECT_TRUE(zone->status(home, second->id)->queue);
    EXPECT_THAT(columns.of.at("m0").rows, IsEmpty());
    clock.advance(1500ms);
    EXPECT_FALSE(zone->status(home, second->id)->queue);
    EXPECT_TRUE(zone->status(home, second->id)->ready);
    EXPECT_THAT(columns.of.at("m0").rows, ElementsAre(IsEmpty())) << "the first is stopped";
    EXPECT_EQ(zone->sharing_mode(), "") << "one part at a time";
    ASSERT_TRUE(zone->release(home, second->id, "enough"));
    clock.advance(2s);
    EXPECT_THAT(columns.of.at("m0").rows, IsEmpty()) << "and goes on";
}

}  // namespace
}  // namespace zbs::test
