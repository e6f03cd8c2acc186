#include "services/zone_scheduler/home/profile_library.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "algorithms/learning/merge_profiles.hpp"
#include "tests/support/made_graph.hpp"
#include "tests/support/memory_store.hpp"
#include "tests/support/messages.hpp"
#include "tests/support/silent_log.hpp"
#include "tests/support/virtual_clock.hpp"

namespace zbs::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// Each rank with the next, the same volume everywhere.
TaskGraph chain(int ranks, double bytes) {
    std::vector<TaskEdge> edges;
    for (TaskIndex r = 0; r + 1 < ranks; ++r) edges.push_back({r, r + 1, bytes, 10});
    return made(std::vector<double>(static_cast<std::size_t>(ranks), 0.5), std::move(edges));
}

struct ProfileLibraryTest : testing::Test {
    VirtualClock clock;
    MemoryZoneStore store;
    SilentLog log;
    std::map<std::string, std::string> files;  // path to digest
    ProfileLibrary library{clock, store, store, log,
                           [this](const std::string& path) { return files.contains(path) ? files.at(path) : ""; }};
    std::uint64_t next = 100;

    ApplicationRequest request(int ranks, std::vector<std::string> argv = {"/app", "100"}) {
        ApplicationRequest made{.id = {some_id(next++)}, .ranks = ranks, .argv = std::move(argv), .directory = "/"};
        return made;
    }
    struct Ran {
        int ranks = 4;
        double bytes = 1000;
        std::optional<Duration> measured{};
        std::vector<std::string> argv = {"/app", "100"};
        bool complete = true;
    };
    /// A run from its plan to the profile that it leaves.
    ProfileId run(const Ran& ran) {
        Application application{some_user(), request(ran.ranks, ran.argv), {}};
        const ProfileLibrary::Choice choice = library.choose(some_user(), application.request);
        application.status.plan = ApplicationPlan{};
        application.status.plan->digest = choice.digest;
        application.status.plan->predicted = choice.predicted;
        const Profile left = library.of_run({some_id(next++)}, application,
                                            {"", ran.complete, chain(ran.ranks, ran.bytes)}, ran.measured);
        EXPECT_TRUE(store.insert(left));
        return left.id;
    }
    ProfileLibrary::Choice choose(int ranks, std::vector<std::string> argv = {"/app", "100"}) {
        return library.choose(some_user(), request(ranks, std::move(argv)));
    }
};

double first_bytes(const ProfileLibrary::Choice& choice) { return choice.model->graph.edges()[0].bytes; }

TEST_F(ProfileLibraryTest, WithoutRunsThereIsNothing) {
    const ProfileLibrary::Choice none = choose(4);
    EXPECT_FALSE(none.model);
    EXPECT_EQ(none.source, "none");
    EXPECT_FALSE(none.predicted);
}

TEST_F(ProfileLibraryTest, NewestRunsOfItsKindAreMerged) {
    run({.bytes = 1000});
    run({.bytes = 77'000});
    const ProfileId newest = run({.bytes = 1100});
    const ProfileLibrary::Choice choice = choose(4);
    ASSERT_TRUE(choice.model);
    EXPECT_EQ(first_bytes(choice), 1100);
    EXPECT_EQ(choice.source, to_string(newest));
    EXPECT_EQ(choice.learned, "merged from 3 runs");
    EXPECT_EQ(choice.model->program, "/app");
}

TEST_F(ProfileLibraryTest, ArgumentsOfTheSameClassAreOneKindOthersTheNextBest) {
    run({.bytes = 1000, .argv = {"/app", "250"}});
    run({.bytes = 50'000, .argv = {"/app", "9000"}});
    EXPECT_EQ(first_bytes(choose(4)), 1000);
    EXPECT_EQ(choose(4).learned, "");
    const ProfileLibrary::Choice other = choose(4, {"/app", "--help"});
    EXPECT_EQ(first_bytes(other), 50'000) << "the newest";
    EXPECT_EQ(other.learned, "a run with other arguments or input");
}

TEST_F(ProfileLibraryTest, RunsThatWereCutShortAreNotTakenForOtherArguments) {
    run({.bytes = 50'000, .argv = {"/app", "9000"}, .complete = false});
    EXPECT_FALSE(choose(4).model);
    run({.bytes = 1000, .argv = {"/app", "70000"}});
    run({.bytes = 50'000, .argv = {"/app", "9000"}, .complete = false});
    EXPECT_EQ(first_bytes(choose(4)), 1000);
    EXPECT_EQ(first_bytes(choose(4, {"/app", "9000"})), 50'000);  // better than nothing for its own arguments
}

TEST_F(ProfileLibraryTest, AnotherInputThatTravelsAlongIsAnotherKind) {
    const auto with_input = [&](std::string digits) {
        digits.resize(64, '0');
        ApplicationRequest made = request(4);
        made.staging.inputs = {{.name = "solver.in", .digest = digits, .size = 1}};
        return made;
    };
    for (const auto& [digits, bytes] : {std::pair{"111", 1000.0}, std::pair{"222", 50'000.0}}) {
        const Application application{some_user(), with_input(digits), {}};
        ASSERT_TRUE(
            store.insert(library.of_run({some_id(next++)}, application, {"", true, chain(4, bytes)}, std::nullopt)));
    }
    const ProfileLibrary::Choice first = library.choose(some_user(), with_input("111"));
    EXPECT_EQ(first_bytes(first), 1000);
    EXPECT_EQ(first.learned, "");
    EXPECT_EQ(library.choose(some_user(), with_input("333")).learned, "a run with other arguments or input");
}

TEST_F(ProfileLibraryTest, ZonesOfTheNewestRunAreKnownWhileItsRecordIs) {
    Application application{some_user(), request(4), {}};
    application.status.plan = ApplicationPlan{};
    application.status.plan->zone_of_rank = {"a", "a", "b", "b"};
    const Profile left = library.of_run({some_id(next++)}, application, {"", true, chain(4, 1000)}, std::nullopt);
    ASSERT_TRUE(store.insert(left));
    EXPECT_THAT(library.choose(some_user(), request(4)).last_zones, testing::IsEmpty());
    ASSERT_TRUE(store.insert(application));
    const Profile again = library.of_run({some_id(next++)}, application, {"", true, chain(4, 1000)}, std::nullopt);
    ASSERT_TRUE(store.insert(again));
    EXPECT_EQ(choose(4).last_zones, application.status.plan->zone_of_rank);
    EXPECT_THAT(choose(5).last_zones, testing::IsEmpty());
}

TEST_F(ProfileLibraryTest, OtherNumbersOfRanksAreExtrapolated) {
    run({.ranks = 8});
    run({.ranks = 16});
    const ProfileLibrary::Choice choice = choose(32);
    ASSERT_TRUE(choice.model) << choice.learned;
    EXPECT_EQ(choice.model->graph.task_count(), 32);
    EXPECT_EQ(choice.model->graph.edge_count(), 31U);
    EXPECT_NEAR(first_bytes(choice), 1000, 1e-6);
    EXPECT_THAT(choice.learned,
                testing::AllOf(HasSubstr("extrapolated: chain, from runs of 8 and 16 ranks"), HasSubstr("confidence")));
}

TEST_F(ProfileLibraryTest, WhatCannotBeExtrapolatedIsSaid) {
    run({.ranks = 2});
    const ProfileLibrary::Choice choice = choose(64);
    EXPECT_FALSE(choice.model);
    EXPECT_EQ(choice.source, "none");
    EXPECT_THAT(choice.learned, HasSubstr("not extrapolated"));
}

TEST_F(ProfileLibraryTest, TheFileIsTheKeyNotItsPath) {
    files = {{"/app", std::string(64, 'a')}, {"/copy", std::string(64, 'a')}, {"/other", std::string(64, 'b')}};
    run({.bytes = 1000});
    EXPECT_EQ(first_bytes(choose(4, {"/copy", "100"})), 1000);
    EXPECT_EQ(choose(4, {"/copy", "100"}).model->program, "/copy");
    EXPECT_FALSE(choose(4, {"/other", "100"}).model);
}

TEST_F(ProfileLibraryTest, AChangedFileUsesWhatItsPathHasUntilItHasRun) {
    files = {{"/app", std::string(64, 'a')}};
    run({.bytes = 1000});
    files = {{"/app", std::string(64, 'b')}};
    EXPECT_EQ(first_bytes(choose(4)), 1000);
    EXPECT_THAT(choose(4).learned, HasSubstr("another file under this path"));
    run({.bytes = 9000});
    EXPECT_EQ(first_bytes(choose(4)), 9000) << "the old file's runs are not mixed in";
    EXPECT_EQ(choose(4).learned, "");
}

TEST_F(ProfileLibraryTest, ProfilesWithoutADigestAreFoundByThePath) {
    run({.bytes = 1000});
    files = {{"/app", std::string(64, 'a')}};
    EXPECT_EQ(first_bytes(choose(4)), 1000);
    EXPECT_EQ(choose(4).learned, "") << "whether the file is another is not known";
}

TEST_F(ProfileLibraryTest, RunsThatWereCutShortCountOnlyWhereThereAreNoOthers) {
    run({.bytes = 10, .complete = false});
    EXPECT_EQ(choose(4).learned, "a run that was cut short");
    EXPECT_FALSE(choose(4).model->complete);
    run({.bytes = 1000});
    run({.bytes = 20, .complete = false});
    EXPECT_EQ(first_bytes(choose(4)), 1000);
}

TEST_F(ProfileLibraryTest, ARequestsOwnModelComesFirstAndNoneIsTakenWhereNoneIsWanted) {
    run({.bytes = 1000});
    ApplicationRequest own = request(4);
    own.model = ApplicationModel{"x", true, chain(4, 5)};
    EXPECT_EQ(library.choose(some_user(), own).source, "request");
    EXPECT_EQ(first_bytes(library.choose(some_user(), own)), 5);
    ApplicationRequest bare = request(4);
    bare.use_profile = false;
    EXPECT_EQ(library.choose(some_user(), bare).source, "none");
}

TEST_F(ProfileLibraryTest, OtherUsersRunsAreNotTaken) {
    run({.bytes = 1000});
    EXPECT_EQ(library.choose({CallerKind::kUser, "alpha", "eve"}, request(4)).source, "none");
}

TEST_F(ProfileLibraryTest, AStoreThatFailsIsAnEmptyOne) {
    run({.bytes = 1000});
    store.fault = Error{ErrorCode::kInternal, "disk", {}};
    EXPECT_EQ(choose(4).source, "none");
    EXPECT_EQ(log.count("profiles_unreadable"), 1);
}

TEST_F(ProfileLibraryTest, RunTimesArePredictedAndTheErrorsTold) {
    run({.measured = 100s});
    EXPECT_EQ(choose(4).predicted, Duration{100s});
    run({.measured = 150s});
    const std::vector<ProfileRow> rows = *library.list(some_user());
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].profile.predicted, Duration{100s});
    EXPECT_EQ(rows[0].profile.measured, Duration{150s});
    ASSERT_TRUE(rows[0].error);
    EXPECT_EQ(rows[0].error->runs, 1);
    EXPECT_NEAR(rows[0].error->mean, 0.5, 1e-9);
    EXPECT_EQ(rows[1].error, rows[0].error) << "it is of the kind, not of the run";
    EXPECT_FALSE(rows[1].profile.predicted);
}

TEST_F(ProfileLibraryTest, AnImportedModelIsPlannedWith) {
    files = {{"/app", std::string(64, 'a')}};
    const ProfileImport wanted{
        {some_id_of(some_user(), 1)}, {"/app", "100"}, {"other", true, chain(4, 123)}, Duration{5s}};
    const Result<ProfileSummary> made = library.import(some_user(), wanted);
    ASSERT_TRUE(made) << made.error();
    EXPECT_EQ(made->program, "/app");
    EXPECT_EQ(made->digest, std::string(64, 'a'));
    EXPECT_EQ(made->arguments, "{2}");
    EXPECT_FALSE(made->application);
    EXPECT_EQ(first_bytes(choose(4)), 123);
    EXPECT_EQ(choose(4).predicted, Duration{5s});
}

TEST_F(ProfileLibraryTest, TheIdOfAnotherIsAnsweredAsOneThatNobodyUses) {
    const ProfileImport used{{some_id_of(some_user(), 1)}, {"/app"}, {"", true, chain(4, 1)}, {}};
    ASSERT_TRUE(library.import(some_user(), used));
    ProfileImport unused = used;
    unused.id = {some_id_of(some_user(), 2)};
    const Caller eve{CallerKind::kUser, "alpha", "eve"};
    const Error answer = library.import(eve, used).error();
    EXPECT_EQ(answer.code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(answer.pointer, "/id");
    EXPECT_EQ(answer, library.import(eve, unused).error());
}

TEST_F(ProfileLibraryTest, TheSameImportAgainIsTheSameAnswerAnotherIsRefused) {
    ProfileImport wanted{{some_id_of(some_user(), 1)}, {"/app"}, {"", true, chain(4, 1)}, {}};
    const ProfileSummary first = *library.import(some_user(), wanted);
    clock.advance(1h);
    files = {{"/app", std::string(64, 'c')}};
    EXPECT_EQ(*library.import(some_user(), wanted), first);
    wanted.model.graph = chain(4, 2);
    EXPECT_EQ(library.import(some_user(), wanted).error().code, ErrorCode::kIdReused);
    EXPECT_EQ(library.import(some_user(), {{some_id_of(some_user(), 2)}, {}, {"", true, chain(4, 1)}, {}}).error().code,
              ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace zbs::test
