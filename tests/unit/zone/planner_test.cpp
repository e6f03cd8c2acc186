#include "services/zone_scheduler/home/planner.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace zbs {
namespace {

Offer offer(const ZoneName& zone, int free, int total = -1) {
    Capacity c{.zone = zone,
               .processors = free,
               .total_processors = total < 0 ? free : total,
               .speed_sum = 1.0 * free,
               .speed_mean = 1,
               .largest_machine = free};
    return {zone, c, {}, false};
}

ApplicationRequest request(int ranks, const std::string& mapper = "hier") {
    return {.ranks = ranks, .argv = {"/bin/app"}, .directory = "/", .mapper = mapper};
}

/// Two teams of three, interleaved: {0,2,4} and {1,3,5} talk a lot, everything else little.
ApplicationModel two_teams() {
    std::vector<TaskEdge> edges;
    for (TaskIndex u = 0; u < 6; ++u) {
        for (TaskIndex v = u + 1; v < 6; ++v)
            edges.push_back({u, v, u % 2 == v % 2 ? 1e7 : 1e3, u % 2 == v % 2 ? 1000.0 : 10.0});
    }
    return {"/bin/app", true, *TaskGraph::make(std::vector<double>(6, 0.01), std::move(edges))};
}
const ApplicationModel kTwoTeams = two_teams();

TEST(MakePlan, WithoutAProfileBlocksInAsFewZonesAsPossible) {
    const Offer offers[] = {offer("a", 2), offer("b", 4), offer("c", 4)};
    const auto plan = make_plan(request(4), {}, "none", offers);
    ASSERT_TRUE(plan) << plan.error();
    EXPECT_EQ(std::count(plan->zone_of_rank.begin(), plan->zone_of_rank.end(), plan->zone_of_rank[0]), 4);
    EXPECT_FALSE(plan->crossing_bytes.has_value());
}

TEST(MakePlan, KeepsTeamsTogetherAndTellsTheBaselines) {
    const Offer offers[] = {offer("a", 3), offer("b", 3)};
    const auto plan = make_plan(request(6), &kTwoTeams, "request", offers);
    ASSERT_TRUE(plan) << plan.error();
    for (const TaskIndex rank : {2, 4})
        EXPECT_EQ(plan->zone_of_rank[static_cast<std::size_t>(rank)], plan->zone_of_rank[0]);
    for (const TaskIndex rank : {3, 5})
        EXPECT_EQ(plan->zone_of_rank[static_cast<std::size_t>(rank)], plan->zone_of_rank[1]);
    EXPECT_EQ(plan->crossing_bytes, 9e3);                      // nine pairs between the teams
    EXPECT_EQ(plan->crossing_bytes_round_robin, 9e3);          // dealt one by one: by chance the teams
    EXPECT_EQ(plan->crossing_bytes_block, 4 * 1e7 + 5 * 1e3);  // {0,1,2} and {3,4,5}: four team pairs cross
}

TEST(MakePlan, EveryRankOnceAndNoZoneOverItsOffer) {
    for (const char* mapper : {"auto", "hier", "multilevel", "metis", "global", "block", "round-robin", "random"}) {
        SCOPED_TRACE(mapper);
        EXPECT_TRUE(check_plan_mapper(mapper));
        const Offer offers[] = {offer("a", 1), offer("b", 4), offer("c", 2)};
        const auto plan = make_plan(request(6, mapper), &kTwoTeams, "request", offers);
        ASSERT_TRUE(plan) << plan.error();
        ASSERT_EQ(plan->zone_of_rank.size(), 6U);
        for (const auto& [zone, free] : {std::pair<const char*, long>{"a", 1}, {"b", 4}, {"c", 2}}) {
            EXPECT_LE(std::count(plan->zone_of_rank.begin(), plan->zone_of_rank.end(), zone), free);
        }
        std::vector<TaskIndex> all;
        for (const auto& cluster : plan->clusters) all.insert(all.end(), cluster.begin(), cluster.end());
        std::sort(all.begin(), all.end());
        EXPECT_EQ(all, (std::vector<TaskIndex>{0, 1, 2, 3, 4, 5}));
        EXPECT_EQ(make_plan(request(6, mapper), &kTwoTeams, "request", offers)->zone_of_rank, plan->zone_of_rank);
    }
}

TEST(MakePlan, AZoneThatClaimsTooMuchKeepsNoPlanFromBeingMade) {
    std::vector<Offer> offers = {offer("a", 4)};
    for (int i = 0; i < 250; ++i) offers.push_back(offer(ZoneName("liar-" + std::to_string(i)), 10'000'000));
    for (const char* mapper : {"auto", "hier", "multilevel", "metis", "global", "block", "round-robin", "random"}) {
        const auto plan = make_plan(request(6, mapper), &kTwoTeams, "request", offers);
        ASSERT_TRUE(plan) << mapper << ": " << plan.error();
        EXPECT_EQ(plan->zone_of_rank.size(), 6U);
        EXPECT_EQ(plan->zones[1].processors, 10'000'000) << "as it was offered";
    }
    EXPECT_EQ(check_room(request(6), offers).has_value(), true) << "sums do not overflow";
    EXPECT_FALSE(earliest_common_start(6, offers, {std::chrono::seconds{1}, std::chrono::seconds{10}}));
}

/// Zone a lets three ranks share a processor, zone b none.
std::vector<Offer> shared_and_not(int overcommit) {
    Offer a = offer("a", 2), b = offer("b", 2);
    a.capacity->max_overcommit = 3;
    for (Offer* one : {&a, &b}) count_ranks(*one, overcommit);
    return {a, b};
}

TEST(MakePlan, AZoneTakesAsManyRanksOnAProcessorAsUserAndZoneAllow) {
    ApplicationRequest asked = request(6);
    asked.overcommit = 2;
    const auto plan = make_plan(asked, {}, "none", shared_and_not(2));
    ASSERT_TRUE(plan) << plan.error();
    EXPECT_EQ(std::count(plan->zone_of_rank.begin(), plan->zone_of_rank.end(), "a"), 4);
    EXPECT_EQ(plan->zones[0].overcommit, 2);
    EXPECT_EQ(plan->zones[0].processors, 2) << "of the zone, not places for ranks";
    EXPECT_EQ(plan->zones[1].overcommit, 1);
    EXPECT_EQ(plan->zones[1].reason,
              "puts at most 1 of the ranks on a processor, not 2 (its operator may raise 'max_overcommit')");
    asked.overcommit = 4;
    EXPECT_EQ(make_plan(asked, {}, "none", shared_and_not(4))->zones[0].overcommit, 3);
}

TEST(MakePlan, APlaceForARankHasItsShareOfTheProcessorsSpeed) {
    const Offer a = shared_and_not(2)[0];
    EXPECT_EQ(a.capacity->processors, 4);
    EXPECT_EQ(a.capacity->speed_sum, 2);
    EXPECT_EQ(a.capacity->speed_mean, 0.5);
    EXPECT_EQ(a.capacity->largest_machine, 4);
}

TEST(MakePlan, ZonesThatForbidToShareProcessorsAreNamedWhereTheyHoldTooFew) {
    ApplicationRequest asked = request(9);
    asked.overcommit = 3;
    const Error error = make_plan(asked, {}, "none", shared_and_not(3)).error();
    EXPECT_EQ(error.code, ErrorCode::kRejected);
    EXPECT_EQ(error.message,
              "the application needs 9 places for ranks, but all zones that accept it hold 8; ask for fewer ranks or "
              "for more zones; b: puts at most 1 of the ranks on a processor, not 3 (its operator may raise "
              "'max_overcommit')");
}

TEST(MakePlan, NeverAndNotNowAreTwoAnswers) {
    const Offer small[] = {offer("a", 2), offer("b", 2)};
    EXPECT_EQ(make_plan(request(5), {}, "none", small).error().code, ErrorCode::kRejected);
    const Offer busy[] = {offer("a", 2), offer("b", 0, 4)};
    const auto later = make_plan(request(5), {}, "none", busy);
    EXPECT_EQ(later.error().code, ErrorCode::kUnavailable);
    EXPECT_NE(later.error().message.find("2 of 5"), std::string::npos);
    const Offer silent[] = {offer("a", 2), {"b", {}, "did not answer", true}};
    EXPECT_EQ(make_plan(request(5), {}, "none", silent).error().code, ErrorCode::kUnavailable);
    const Offer refused[] = {offer("a", 2), {"b", {}, "organisation is not accepted", false}};
    const auto never = make_plan(request(5), {}, "none", refused);
    EXPECT_EQ(never.error().code, ErrorCode::kRejected);
    EXPECT_NE(never.error().message.find("not accepted"), std::string::npos);
}

TEST(MakePlan, ALauncherOfOneZoneIsTheReasonWhereItHoldsTooFew) {
    const Offer offers[] = {offer("a", 2), {"b", {}, "launcher openmpi works in the home zone only", false, true}};
    ApplicationRequest asked = request(5);
    asked.launcher = Launcher::kOpenMpi;
    const Error error = make_plan(asked, {}, "none", offers).error();
    EXPECT_EQ(error.code, ErrorCode::kRejected);
    EXPECT_EQ(error.message,
              "the application needs 5 processors, but launcher openmpi works in the home zone only, which holds 2; "
              "ask for fewer ranks, submit to a larger zone, or build the program with MPICH, whose launcher works "
              "over several zones");
}

TEST(MakePlan, AZoneThatRestsCountsForWhatCanRunLater) {
    Offer resting = offer("b", 0, 4);
    resting.refusal = "drains: it takes no new work now";
    const Offer offers[] = {offer("a", 2), resting};
    const auto later = make_plan(request(6), {}, "none", offers);
    EXPECT_EQ(later.error().code, ErrorCode::kUnavailable);
    EXPECT_EQ(later.error().message, "waiting for processors: 2 of 6 are free; b: drains: it takes no new work now");
    EXPECT_EQ(make_plan(request(7), {}, "none", offers).error().code, ErrorCode::kRejected);
    const auto now = make_plan(request(2), {}, "none", offers);
    ASSERT_TRUE(now);
    EXPECT_EQ(now->zones.at(1).reason, "drains: it takes no new work now");
}

TEST(MakePlan, WhereNoZoneTakesItTheReasonComesFirst) {
    const Offer refused[] = {{"nowhere", {}, "there is no such zone", false},
                             {"b", {}, "is closed", false},
                             {"c", {}, "not among the zones asked for", false, true}};
    const auto never = make_plan(request(1), {}, "none", refused);
    EXPECT_EQ(never.error().code, ErrorCode::kRejected);
    EXPECT_EQ(never.error().message, "no zone takes the application: nowhere: there is no such zone; b: is closed");
}

TEST(MakePart, HoldsInnerEdgesAndSumsTheRestByZone) {
    Application application;
    application.request = request(6);
    application.status.plan = ApplicationPlan{};
    application.status.plan->zone_of_rank = {"a", "b", "a", "b", "c", "c"};
    ApplicationPart part;
    part.zone = "a";
    part.ranks = {0, 2};
    const PartRequest made = make_part(application, &kTwoTeams, part, "home");
    ASSERT_EQ(made.graph.edge_count(), 1U);
    EXPECT_EQ(made.graph.edges()[0].bytes, 1e7);
    ASSERT_EQ(made.outside.size(), 2U);
    EXPECT_EQ(made.outside[0].zone, "b");
    EXPECT_EQ(made.outside[0].bytes, 4e3);        // 0-1, 0-3, 2-1, 2-3
    EXPECT_EQ(made.outside[1].bytes, 2e7 + 2e3);  // 0-4, 2-4 in the team; 0-5, 2-5 not
}

TEST(MakePart, OfAnApplicationOverZonesHasAnotherOneAlsoWithoutAProfile) {
    Application application;
    application.request = request(3);
    application.status.plan = ApplicationPlan{};
    application.status.plan->zone_of_rank = {"a", "b", "c"};
    ApplicationPart part;
    part.zone = "a";
    part.ranks = {0};
    const PartRequest made = make_part(application, nullptr, part, "home");
    EXPECT_EQ(made.graph.task_count(), 1);
    ASSERT_EQ(made.outside.size(), 1U);
    EXPECT_EQ(made.outside[0].zone, "b");
    EXPECT_EQ(made.outside[0].bytes, 0);
    application.status.plan->zone_of_rank = {"a", "a", "a"};
    EXPECT_TRUE(make_part(application, nullptr, part, "home").outside.empty());
}

}  // namespace
}  // namespace zbs
