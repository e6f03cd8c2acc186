#include "services/zone_scheduler/peer/processor_ledger.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "algorithms/base/rng.hpp"

namespace zbs::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::UnorderedElementsAre;
using Promise = ProcessorCalendar::Promise;

PartId part(std::uint64_t number) { return PartId{make_id128(0, 0, number)}; }

PartRequest request(int ranks, std::uint64_t seed = 1) {
    PartRequest request{.id = part(99), .seed = seed};
    for (int rank = 0; rank < ranks; ++rank) request.ranks.push_back(10 + rank);
    request.graph = *TaskGraph::make(std::vector<double>(request.ranks.size(), 1.0), {});
    return request;
}

/// Two machines of two processors in each row: numbers 0 to 3, 4 to 7 and so on.
struct World {
    explicit World(int slots = 1)
        : calendar(static_cast<std::size_t>(4 * slots)),
          ledger({{"b", {{"m0", 2, 1.0}, {"m1", 2, 2.0}}}, slots, "block"}) {}

    void promise(std::uint64_t number, std::vector<std::int32_t> processors, Duration begin, Duration end) {
        calendar.set(part(number), Promise{std::move(processors), {begin, end}, end});
    }
    ProcessorLedger::Promised promised(Duration begin, Duration end) const {
        ProcessorLedger::Promised promised{calendar, {begin, end}, {}, false, {}};
        if (!shares.empty()) promised.share_of = [this](const PartId& id) { return shares.at(id); };
        return promised;
    }
    ProcessorSet usable(Duration begin, Duration end) const {
        return ledger.free_on({true, true}, promised(begin, end));
    }
    std::vector<std::int32_t> placed(int ranks, ProcessorLedger::PlaceOptions options = {}) const {
        const auto placement = ledger.place(request(ranks), usable(0s, 10s), options);
        return placement ? placement->processors : std::vector<std::int32_t>{};
    }

    ProcessorCalendar calendar;
    ProcessorLedger ledger;
    std::map<PartId, int> shares;  ///< empty: parts have none
};

TEST(ProcessorLedger, APartGetsWhatIsNotPromisedInItsTime) {
    World world;
    world.promise(1, {0, 2}, 0s, 10s);
    world.promise(2, {1}, 10s, 20s);
    EXPECT_THAT(world.placed(2), UnorderedElementsAre(1, 3));
    const auto refused = world.ledger.place(request(3), world.usable(0s, 10s), {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kRejected);
    EXPECT_EQ(refused.error().message, "3 processors wanted, 2 free");
    EXPECT_EQ(world.ledger.free_processors(world.calendar, 0s), 2);
    EXPECT_EQ(world.ledger.free_processors(world.calendar, 10s), 3);
}

TEST(ProcessorLedger, AnAssignmentNamesMachinesAndTheirProcessors) {
    World world;
    world.promise(1, {0, 1, 2}, 0s, 10s);
    const auto placement = world.ledger.place(request(1), world.usable(0s, 10s), {});
    ASSERT_TRUE(placement) << placement.error();
    EXPECT_THAT(placement->assignment, ElementsAre(RankPlace{10, "m1", 1}));
}

TEST(ProcessorLedger, APartLiesInTheFullestRowWithRoom) {
    World world(3);
    world.promise(1, {4, 5}, 0s, 10s);
    world.promise(2, {8, 9, 10}, 0s, 10s);
    EXPECT_THAT(world.placed(1), ElementsAre(11));
    EXPECT_THAT(world.placed(2), UnorderedElementsAre(6, 7));
    EXPECT_THAT(world.placed(4), UnorderedElementsAre(0, 1, 2, 3));
    EXPECT_EQ(world.ledger.nodes(world.calendar, 0s).at(1).used, 1);
}

TEST(ProcessorLedger, APartLiesBesideAsFewOthersAsCanBe) {
    World world(3);
    world.promise(1, {0, 1, 2}, 0s, 10s);
    world.promise(2, {7, 11}, 0s, 10s);
    EXPECT_THAT(world.placed(1), ElementsAre(3)) << "the last one of its row, which two rows use already";
    const auto beside = world.placed(1, {.beside_fewest = true});
    ASSERT_EQ(beside.size(), 1U);
    EXPECT_THAT(beside[0], testing::AllOf(testing::Ge(4), testing::Le(6))) << "one row uses each of these";
    EXPECT_THAT(world.placed(4, {.beside_fewest = true}), testing::IsEmpty());
}

TEST(ProcessorLedger, TheSitesLimitOfMachinesBoundsWhatIsFree) {
    const World world;
    EXPECT_THAT(world.placed(2, {.max_machines = 1}), UnorderedElementsAre(0, 1));
    EXPECT_THAT(world.placed(3, {.max_machines = 1}), testing::IsEmpty());
    const StartWindow free =
        world.ledger.count_free(world.usable(0s, 10s), world.promised(0s, 10s), {.processors = 4, .max_machines = 1});
    EXPECT_EQ(free.processors, 2);
    EXPECT_EQ(free.largest_machine, 2);
}

TEST(ProcessorLedger, SharesOfAllPartsAreAllOfAProcessorAtMost) {
    World world(3);
    EXPECT_TRUE(world.ledger.check_share(world.promised(0s, 10s), 100)) << "parts have no shares";
    world.shares = {{part(1), 60}, {part(2), 30}};
    world.promise(1, {0}, 0s, 10s);
    world.promise(2, {5}, 10s, 20s);
    EXPECT_TRUE(world.ledger.check_share(world.promised(0s, 10s), 40));
    const auto refused = world.ledger.check_share(world.promised(0s, 10s), 50);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message, "a share of 50 % wanted, 40 % left");
    EXPECT_TRUE(world.ledger.check_share(world.promised(0s, 20s), 40)) << "the one comes when the other goes";
    world.promise(2, {5}, 9s, 20s);
    EXPECT_EQ(world.ledger.check_share(world.promised(0s, 20s), 40).error().message,
              "a share of 40 % wanted, 10 % left");
    world.promise(2, {5}, 10s, 20s);
    const auto free_for = [&](int share) {
        const auto promised = world.promised(0s, 10s);
        return world.ledger.count_free(world.usable(0s, 10s), promised, {.processors = 2, .share = share});
    };
    EXPECT_DOUBLE_EQ(free_for(20).speed_mean, 2 * 20.0 / 80) << "of the faster machine";
    EXPECT_EQ(free_for(41).processors, 0);
}

TEST(ProcessorLedger, RowsInUseDivideTheSpeed) {
    World world(2);
    world.promise(1, {0, 1, 2, 3}, 0s, 10s);
    const StartWindow free = world.ledger.count_free(world.usable(0s, 10s), world.promised(0s, 10s), {.processors = 4});
    EXPECT_EQ(free.processors, 4);
    EXPECT_DOUBLE_EQ(free.speed_sum, 3) << "2 x 1 and 2 x 2, half of the time";
}

TEST(ProcessorLedger, RanksThatShareProcessorsHaveNoMoreOfThemThanTheyNeed) {
    World world;
    PartRequest five = request(5);
    five.overcommit = 2;
    const auto placement = world.ledger.place(five, world.usable(0s, 10s), {});
    ASSERT_TRUE(placement) << placement.error();
    EXPECT_THAT(placement->processors, testing::UnorderedElementsAre(0, 1, 2)) << "each once";
    std::map<std::pair<std::string, std::int32_t>, int> ranks_of;
    for (const RankPlace& place : placement->assignment) ++ranks_of[{place.machine, place.processor}];
    EXPECT_EQ(placement->assignment.size(), 5U);
    EXPECT_EQ(ranks_of.size(), 3U);
    for (const auto& [processor, ranks] : ranks_of) EXPECT_LE(ranks, 2) << processor.second;
    EXPECT_EQ(world.ledger.processors_of(placement->assignment, {7, 8, 9}), placement->processors);

    world.promise(1, {0, 1}, 0s, 10s);
    EXPECT_EQ(world.ledger.place(five, world.usable(0s, 10s), {}).error().message, "3 processors wanted, 2 free");
    World rows(2);
    rows.promise(1, {0, 1}, 0s, 10s);
    const auto row = rows.ledger.place(five, rows.usable(0s, 10s), {});
    ASSERT_TRUE(row) << row.error();
    EXPECT_THAT(row->processors, testing::Each(testing::Ge(4))) << "the other row has three";
    EXPECT_TRUE(rows.ledger.check(part(1), row->processors, row->assignment));
}

TEST(ProcessorLedger, OccupancySaysWhichRanksShareAProcessor) {
    const ProcessorLedger taura({{"b", {{"m0", 4, 1.0}}}, 1, "global"});
    const ProcessorCalendar calendar(4);
    PartRequest uneven = request(4);
    uneven.overcommit = 3;
    uneven.graph = *TaskGraph::make({9.0, 1.0, 1.0, 1.0}, {});
    const auto placement = taura.place(uneven, taura.free_on({true}, {calendar, {0s, 10s}, {}, false, {}}), {});
    ASSERT_TRUE(placement) << placement.error();
    EXPECT_EQ(placement->processors.size(), 2U);
    for (std::size_t rank = 1; rank < 4; ++rank)
        EXPECT_NE(placement->assignment[rank].processor, placement->assignment[0].processor);
}

TEST(ProcessorLedger, StoredPartsAreFoundByTheNamesOfTheirMachines) {
    const World world;
    EXPECT_THAT(world.ledger.processors_of({{0, "m1", 1}, {1, "m0", 0}}, {7, 9}), ElementsAre(3, 0));
    EXPECT_THAT(world.ledger.processors_of({{0, "gone", 0}}, {7}), ElementsAre(7));
    EXPECT_TRUE(world.ledger.check(part(1), {3}, {}));
    EXPECT_EQ(world.ledger.check(part(1), {4}, {}).error().code, ErrorCode::kConflict);
    const World rows(2);
    EXPECT_TRUE(rows.ledger.check(part(1), {7}, {{0, "m1", 1}}));
    EXPECT_EQ(rows.ledger.check(part(1), {6}, {{0, "m1", 1}}).error().code, ErrorCode::kConflict);
}

TEST(ProcessorLedger, WhatOthersHaveAndBrokenMachinesAreNotGiven) {
    World world;
    const auto broken = world.ledger.record_use({{"m0", 0, "down", 1, "h"}, {"m1", 2, "", 0.5, "h"}}, {3});
    ASSERT_EQ(broken.size(), 1U);
    EXPECT_EQ(broken[0].machine, "m0");
    EXPECT_EQ(broken[0].fault, "down");
    EXPECT_TRUE(world.ledger.is_out_of_order("m0"));
    EXPECT_TRUE(world.ledger.may_share_a_host({"m0", "m1"}));
    EXPECT_THAT(world.placed(1), ElementsAre(3)) << "processor 2 is somebody else's, 3 is one of the zone's";
    const auto use = world.ledger.use(world.calendar, 0s, {3});
    EXPECT_EQ(use.used, 1U);
    EXPECT_EQ(use.unavailable, 3U);
    EXPECT_TRUE(world.ledger.record_use({{"m0", 0, "down", 1}}, {}).empty()) << "known already";
    EXPECT_EQ(world.ledger.record_use({{"m0", 0, "", 1}}, {}).size(), 1U);
    EXPECT_THAT(world.placed(3), UnorderedElementsAre(0, 1, 3));
}

/// Of the processors of a row on as many machines as a part may have, those with most of them.
std::size_t most_in_row(const ProcessorSet& usable, std::size_t row, const Zone& zone, int max_machines) {
    std::vector<std::size_t> counts;
    std::size_t begin = 0;
    for (const Machine& machine : zone.machines) {
        const std::size_t end = begin + static_cast<std::size_t>(machine.processors);
        counts.push_back(usable.count(row, {begin, end}));
        begin = end;
    }
    std::ranges::sort(counts, std::greater{});
    if (max_machines > 0) counts.resize(std::min(counts.size(), static_cast<std::size_t>(max_machines)));
    std::size_t sum = 0;
    for (const std::size_t count : counts) sum += count;
    return sum;
}

bool share_a_processor(const Promise& a, const Promise& b) {
    return std::ranges::any_of(
        a.processors, [&](std::int32_t p) { return std::ranges::find(b.processors, p) != b.processors.end(); });
}

TEST(ProcessorLedgerProperty, NoProcessorIsGivenTwiceAndNoneRefusedThatIsThere) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE(seed);
        Rng rng(seed);
        const auto below = [&](int bound) { return static_cast<int>(rng.below(static_cast<std::uint64_t>(bound))); };
        Zone zone{"b", {}};
        for (int m = below(4); m >= 0; --m) zone.machines.push_back({"m" + std::to_string(m), 1 + below(4), 1.0});
        const int slots = 1 + below(3), size = zone.processor_count() * slots;
        ProcessorLedger ledger({zone, slots, "global"});
        ProcessorCalendar calendar(static_cast<std::size_t>(size));
        for (std::uint64_t number = 1; number <= 40; ++number) {
            if (below(4) == 0) calendar.remove(part(1 + rng.below(number)));
            if (below(8) == 0)
                ledger.record_use({{MachineName(zone.machines[0].name), below(3), below(3) == 0 ? "down" : "", 1}}, {});
            const Duration begin = std::chrono::seconds{below(20)};
            const ProcessorLedger::Promised promised{
                calendar, {begin, begin + std::chrono::seconds{1 + below(20)}}, {}, false, {}};
            std::vector<bool> machines;
            for (std::size_t m = 0; m < zone.machines.size(); ++m) machines.push_back(below(5) > 0);
            const ProcessorSet usable = ledger.free_on(machines, promised);
            // The site's own scheduler, which bounds the machines, has no rows.
            const int ranks = 1 + below(zone.processor_count()), max_machines = slots == 1 ? below(3) : 0;
            const bool beside_fewest = slots > 1 && below(2) == 0;
            const auto placement = ledger.place(request(ranks, seed), usable,
                                                {.max_machines = max_machines, .beside_fewest = beside_fewest});
            const StartWindow free =
                ledger.count_free(usable, promised, {.processors = size, .max_machines = max_machines});
            EXPECT_EQ(placement.has_value(), free.processors >= ranks);
            if (!placement) {
                EXPECT_EQ(placement.error().code, ErrorCode::kRejected);
                for (int r = 0; r < slots; ++r)
                    EXPECT_LT(most_in_row(usable, static_cast<std::size_t>(r), zone, max_machines),
                              static_cast<std::size_t>(ranks));
                continue;
            }
            const Promise promise{placement->processors, promised.when, promised.when.end};
            ASSERT_EQ(promise.processors.size(), static_cast<std::size_t>(ranks));
            EXPECT_EQ(std::set(promise.processors.begin(), promise.processors.end()).size(), promise.processors.size());
            for (const std::int32_t p : promise.processors) {
                EXPECT_TRUE(usable.contains(static_cast<std::size_t>(p)));
                EXPECT_EQ(p / zone.processor_count(), promise.processors.front() / zone.processor_count());
            }
            for (const auto& [id, other] : calendar.promises())
                EXPECT_FALSE(other.when.meets(promise.when) && share_a_processor(other, promise));
            std::set<MachineName> names;
            for (const RankPlace& place : placement->assignment) names.insert(place.machine);
            EXPECT_TRUE(max_machines == 0 || std::cmp_less_equal(names.size(), max_machines));
            EXPECT_TRUE(ledger.check(part(number), promise.processors, placement->assignment));
            EXPECT_EQ(ledger.processors_of(placement->assignment, promise.processors), promise.processors);
            calendar.set(part(number), promise);
        }
    }
}

}  // namespace
}  // namespace zbs::test
