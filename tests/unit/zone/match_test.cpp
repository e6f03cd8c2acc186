// A workload without a zone: values in, values out, and the same as in a zone of the virtual world.
#include "services/zone_scheduler/peer/match.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "tests/support/federation_world.hpp"

namespace zbs::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Optional;

MatchPart part(int ranks, Duration walltime, Duration submit, OrganisationName organisation = "org-b") {
    return {.name = {},
            .organisation = std::move(organisation),
            .ranks = ranks,
            .walltime = walltime,
            .runtime = walltime,
            .submit = submit};
}

MatchPart reserved(MatchPart part, Duration start_in) {
    part.start_in = start_in;
    return part;
}

/// Zone b of org-b with 4 and 2 x 2 processors, which takes org-a.
ZoneConfig zone(const std::string& queue, AutomaticRule guests = FederationWorld::accept_all({"org-a"})) {
    ZoneConfig config;
    config.zone = {"b", {{"m0", 4, 1.0}, {"m1", 2, 1.0}, {"m2", 2, 1.0}}};
    config.partition_of = {"main", "fast", "fast"};
    config.organisation = "org-b";
    config.queue = queue;
    config.rules = {std::move(guests)};
    return config;
}

std::vector<Match> matched(const ZoneConfig& config, const std::vector<MatchPart>& parts) {
    return match_parts(config, parts).value();
}

std::optional<Duration> start_of(const std::string& queue, const std::vector<MatchPart>& parts, std::size_t which) {
    return matched(zone(queue), parts).at(which).start;
}

TEST(MatchParts, DisciplinesDiffer) {
    const std::vector<MatchPart> parts{part(6, 10min, 0s), part(8, 10min, 1s), part(2, 5min, 2s)};
    EXPECT_THAT(start_of("fcfs", parts, 2), Optional(Duration{20min}));
    EXPECT_THAT(start_of("easy", parts, 2), Optional(Duration{2s}));
    EXPECT_EQ(match_parts(zone("eazy"), parts).error().code, ErrorCode::kInvalidArgument);
}

TEST(MatchParts, APartThatEndsEarlyLetsTheNextOneStart) {
    std::vector<MatchPart> parts{part(8, 10min, 0s), part(8, 10min, 1s)};
    parts[0].runtime = 4min;
    const std::vector<Match> found = matched(zone("easy"), parts);
    EXPECT_THAT(found[0].end, Optional(Duration{4min}));
    EXPECT_THAT(found[1].start, Optional(Duration{4min}));
    EXPECT_THAT(found[1].waits_for, Optional(WaitsFor::kTurn));
    EXPECT_FALSE(found[0].waits_for);
}

TEST(MatchParts, ProcessorsAreThoseOfTheMachines) {
    const std::vector<Match> found = matched(zone("easy"), {part(4, 1min, 0s), part(3, 1min, 0s)});
    for (const Match& match : found) {
        ASSERT_EQ(match.processors.size(), match.places.size());
        for (std::size_t rank = 0; rank < match.places.size(); ++rank) {
            const std::int32_t processor = match.processors[rank];
            EXPECT_EQ(match.places[rank].machine, processor < 4 ? "m0" : processor < 6 ? "m1" : "m2");
            EXPECT_EQ(match.places[rank].processor, processor < 4 ? processor : processor % 2);
        }
    }
}

TEST(MatchParts, AReservationStandsAndIsRefusedWhereItFindsNoProcessors) {
    const std::vector<Match> found =
        matched(zone("easy"), {reserved(part(4, 10min, 0s, "org-a"), 30min), reserved(part(6, 10min, 1s), 35min),
                               part(5, 1h, 2s), part(5, 10min, 3s)});
    EXPECT_THAT(found[0].start, Optional(Duration{30min}));
    EXPECT_FALSE(found[1].start);
    EXPECT_THAT(found[1].refused, HasSubstr("6 processors wanted, 4 free"));
    EXPECT_THAT(found[2].waits_for, Optional(WaitsFor::kReservation));
    EXPECT_THAT(found[2].start, Optional(Duration{40min}));
    EXPECT_THAT(found[3].start, Optional(Duration{3s})) << "it ends before";
}

TEST(MatchParts, RightsOfAnotherOrganisationAreThoseOfItsRule) {
    AutomaticRule rule = FederationWorld::accept_all({"org-a"});
    rule.rights.ceiling.processors = rule.rights.floor.processors = 3;
    rule.rights.ceiling.partitions = {"fast"};
    const std::vector<Match> found =
        matched(zone("easy", rule), {part(2, 10min, 0s, "org-a"), part(2, 10min, 1s, "org-a"),
                                     part(4, 10min, 2s, "org-a"), part(1, 1min, 3s, "org-x")});
    for (const RankPlace& place : found[0].places) EXPECT_NE(place.machine, "m0");
    EXPECT_THAT(found[1].waits_for, Optional(WaitsFor::kRight));
    EXPECT_THAT(found[1].start, Optional(Duration{10min}));
    EXPECT_THAT(found[2].refused, HasSubstr("more ranks than the 3 processors"));
    EXPECT_THAT(found[3].refused, HasSubstr("not accepted"));
}

TEST(MatchParts, HoursOpenInVirtualTime) {
    AutomaticRule rule = FederationWorld::accept_all({"org-a"});
    rule.rights.ceiling.hours = {{8 * 60, 9 * 60}};
    const std::vector<MatchPart> parts{part(2, 10min, 0s, "org-a")};
    EXPECT_THAT(matched(zone("easy", rule), parts)[0].start, Optional(Duration{8h}));
    rule.rights.ceiling.weekdays = 0;
    const Match never = matched(zone("easy", rule), parts)[0];
    EXPECT_FALSE(never.start);
    EXPECT_THAT(never.waits_for, Optional(WaitsFor::kRight));
}

TEST(MatchParts, APartThatMayNeverStartDoesNotMakeTheRunEndless) {
    std::vector<AutomaticRule> rules;
    for (const char* organisation : {"org-a", "org-c", "org-x"})
        rules.push_back(FederationWorld::accept_all({organisation}));
    rules[0].rights.ceiling.hours = {{8 * 60, 9 * 60}};
    rules[1].rights.ceiling.hours = {{18 * 60, 19 * 60}};
    rules[1].rights.ceiling.weekdays = 0b100'0000;  // Sunday
    rules[2].rights.ceiling.weekdays = 0;
    ZoneConfig config = zone("easy");
    config.rules = rules;
    const std::vector<Match> found = matched(config, {part(1, 10min, 0s, "org-x"), part(1, 10min, 9h, "org-a"),
                                                      part(1, 10min, 0s, "org-c"), part(1, 25h, 0s, "org-a")});
    EXPECT_FALSE(found[0].start);
    EXPECT_THAT(found[1].start, Optional(Duration{24h + 8h}));
    EXPECT_THAT(found[2].start, Optional(Duration{6 * 24h + 18h}));
    EXPECT_THAT(found[3].refused, HasSubstr("walltime"));
}

TEST(MatchParts, OrganisationsTakeTurns) {
    const std::vector<Match> found = matched(
        zone("fcfs"), {part(8, 10min, 0s), part(8, 10min, 1s), part(8, 10min, 2s), part(8, 10min, 3s, "org-a")});
    EXPECT_THAT(found[3].start, Optional(Duration{10min})) << "org-b has had all until now";
    EXPECT_THAT(found[1].start, Optional(Duration{20min}));
}

/// The same parts in a zone of the virtual world, whose homes commit and launch at once.
class LiveZone {
  public:
    explicit LiveZone(const ZoneConfig& config) {
        FederationWorld::Node& b = world_.node("b");
        b.config.zone = config.zone;
        b.config.partition_of = config.partition_of;
        b.config.queue = config.queue;
        world_.look_rarely();
        world_.crash("b");
        world_.restart("b");
    }

    /// Starts in whole seconds. The zone polls at multiples of 200 ms from the first part on, so parts end at a poll
    /// and come between two. Precondition: the first part comes at 0, and keeps the zone polling until the others end.
    std::vector<Match> run(const std::vector<MatchPart>& parts) {
        parts_ = parts;
        matches_.resize(parts.size());
        ids_.resize(parts.size());
        submit(0);
        world_.run(50ms);
        for (Duration second{}; second < 2h && !std::ranges::all_of(parts_, [&](auto& p) { return over(p); });
             second += 1s) {
            for (std::size_t i = 1; i < parts_.size(); ++i) {
                if (parts_[i].submit != second) continue;
                submit(i);
                world_.run(10ms);
            }
            launch_all(second);
            for (int poll = 1; poll < 5; ++poll) {
                world_.run(zero_ + second + poll * 200ms - world_.clock.steady_now());
                launch_all(second);
            }
            world_.run(zero_ + second + 990ms - world_.clock.steady_now());
            for (std::size_t i = 0; i < parts_.size(); ++i)
                if (matches_[i].end == second + 1s) world_.node("b").executor->end(operation(i) + "-p0", 0);
            world_.run(10ms);
            launch_all(second + 1s);
            world_.run(50ms);
        }
        return matches_;
    }

  private:
    PartService& zone() { return *world_.node("b").parts; }
    Caller home(std::size_t i) const {
        return {CallerKind::kZone, parts_[i].organisation, parts_[i].organisation == "org-a" ? "a" : "b"};
    }
    std::string operation(std::size_t i) const { return "run-" + to_string(ids_[i]); }
    bool over(const MatchPart& part) const {
        const Match& match = matches_[static_cast<std::size_t>(&part - parts_.data())];
        const bool waits_long = part.start_in > 2h;
        return waits_long || !match.refused.empty() || (match.end && zero_ + *match.end < world_.clock.steady_now());
    }

    void submit(std::size_t i) {
        const MatchPart& part = parts_[i];
        if (i == 0) zero_ = world_.clock.steady_now();
        ids_[i] = PartId{world_.ids.fresh(home(i))};
        const Caller user{CallerKind::kUser, part.organisation, "ana"};
        PartRequest request{.id = ids_[i],
                            .application = ApplicationId{world_.ids.fresh(user)},
                            .user = user,
                            .home = ZoneName(home(i).name),
                            .walltime = part.walltime,
                            .start_in = part.start_in,
                            .queued = part.start_in == 0s,
                            .grace = kUsualGrace};
        for (int rank = 0; rank < part.ranks; ++rank) request.ranks.push_back(rank);
        request.graph = *TaskGraph::make(std::vector<double>(request.ranks.size(), 1.0), {});
        const auto held = zone().hold(home(i), request);
        if (!held) {
            matches_[i].refused = held.error().message;
            return;
        }
        EXPECT_TRUE(zone().commit(home(i), ids_[i], held->token));
    }

    void launch_all(Duration second) {
        for (std::size_t i = 0; i < parts_.size(); ++i) {
            if (matches_[i].start || ids_[i] == PartId{} || !matches_[i].refused.empty()) continue;
            const PartStatus known = zone().status(home(i), ids_[i]).value();
            if (!known.ready || known.starts_in > 0s) continue;
            for (const PartRecord* record : zone().table().records())
                if (record->request.id == ids_[i]) matches_[i].processors = record->processors;
            ASSERT_TRUE(zone().launch(home(i), ids_[i],
                                      {.token = known.token,
                                       .operation = operation(i),
                                       .options = {{"control-port", "127.0.0.1:9"}},
                                       .proxies = {{0, known.assignment.at(0).machine}}}));
            matches_[i].start = second;
            matches_[i].end = second + parts_[i].runtime;
        }
    }

    FederationWorld world_{{4, 4, 4}, {"org-a", "org-b", "org-c"}};
    std::vector<MatchPart> parts_;
    std::vector<Match> matches_;
    std::vector<PartId> ids_;
    Duration zero_{};
};

/// Of so many parts, and one far away that keeps the live zone polling. `guests`: every so many are of org-a.
std::vector<MatchPart> workload(std::uint64_t seed, int count, std::uint64_t guests) {
    Rng rng(seed);
    std::vector<MatchPart> parts{reserved(part(8, 10min, 0s), 4h)};
    for (int i = 0; i < count; ++i) {
        MatchPart next = part(1 + static_cast<int>(rng.below(8)), 10s * (1 + rng.below(30)),
                              parts.back().submit + 1s * (1 + rng.below(15)));
        if (guests > 0 && rng.below(guests) == 0) next.organisation = "org-a";
        next.runtime = 1s * (1 + rng.below(static_cast<std::uint64_t>(next.walltime / 1s)));
        if (i % 8 == 7) next.start_in = 5min + 1s * rng.below(300);
        parts.push_back(next);
    }
    return parts;
}

void compare_with_live_zone(const char* discipline, const std::vector<MatchPart>& parts, Duration most_apart) {
    const std::vector<Match> pure = matched(zone(discipline), parts);
    const std::vector<Match> live = LiveZone(zone(discipline)).run(parts);
    int waited = 0;
    for (std::size_t i = 1; i < parts.size(); ++i) {
        SCOPED_TRACE(testing::Message() << discipline << ", part " << i);
        EXPECT_EQ(pure[i].refused.empty(), live[i].refused.empty());
        EXPECT_EQ(pure[i].processors, live[i].processors);
        ASSERT_EQ(pure[i].start.has_value(), live[i].start.has_value());
        const Duration never{};
        EXPECT_LE(std::chrono::abs(pure[i].start.value_or(never) - live[i].start.value_or(never)), most_apart);
        waited += pure[i].waits_for.has_value();
    }
    EXPECT_GT(waited, 8);
}

class MatchBesideLiveZone : public testing::TestWithParam<std::tuple<const char*, std::uint64_t>> {};
std::string name_of(const testing::TestParamInfo<MatchBesideLiveZone::ParamType>& of) {
    std::string name = std::get<0>(of.param) + ("_" + std::to_string(std::get<1>(of.param)));
    std::ranges::replace_if(
        name, [](char c) { return c == ':' || c == '='; }, '_');
    return name;
}
INSTANTIATE_TEST_SUITE_P(, MatchBesideLiveZone,
                         testing::Combine(testing::Values("fcfs", "easy", "conservative", "slack", "sjbf", "los",
                                                          "easy:order=slowdown"),
                                          testing::Values(1, 2)),
                         name_of);
TEST_P(MatchBesideLiveZone, StartsPartsWhereAndWhenThatDoes) {
    const auto [discipline, seed] = GetParam();
    compare_with_live_zone(discipline, workload(seed, 24, 0), 0s);
}

class MatchOfTwoOrganisations : public MatchBesideLiveZone {};
INSTANTIATE_TEST_SUITE_P(, MatchOfTwoOrganisations,
                         testing::Combine(testing::Values("fcfs", "easy", "conservative", "los"),
                                          testing::Values(1, 2)),
                         name_of);
TEST_P(MatchOfTwoOrganisations, StartsPartsSecondsFromTheLiveZone) {
    const auto [discipline, seed] = GetParam();
    compare_with_live_zone(discipline, workload(seed, 24, 3), 2s);
}

}  // namespace
}  // namespace zbs::test
