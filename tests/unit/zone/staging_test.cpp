// Files that go with an application and come back.
#include "tests/unit/zone/staging_world.hpp"

namespace zbs::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr std::uint64_t kMiB = 1 << 20;

TEST_F(StagingTest, EveryZoneHasTheFilesBeforeItsRanksBegin) {
    run_for(10s);
    Staging staging{.inputs = {bring("solver", std::string(3 * kMiB, 's')), bring("in.dat", "input")}, .results = {}};
    staging.inputs[0].executable = true;
    staging.program = "solver";
    const ApplicationId id = submit(request(staging));
    world.run(3s);
    ASSERT_EQ(world.status(id).state, ApplicationState::kRunning) << world.status(id).reason;
    for (const char* zone : {"a", "b", "c"}) {
        const StepSpec* step = first_step(zone);
        ASSERT_NE(step, nullptr) << zone;
        ASSERT_EQ(step->inputs.size(), 2U);
        EXPECT_TRUE(step->inputs[0].executable);
        EXPECT_FALSE(step->inputs[1].executable);
        EXPECT_THAT(step->environment,
                    testing::Contains(std::pair<std::string, std::string>("ZBS_STAGED", "/steps/" + step->step_id)));
        EXPECT_TRUE(files(zone).look(world.user(), staging.inputs[0].digest)->complete);
    }
    world.run(30s);
    EXPECT_EQ(world.status(id).state, ApplicationState::kCompleted);
}

TEST_F(StagingTest, WhatAZoneHasIsNotSentAgain) {
    run_for(1s);
    const Staging staging{.inputs = {bring("in.dat", std::string(3 * kMiB, 'x'))}, .results = {}};
    submit(request(staging));
    world.run(30s);
    EXPECT_EQ(messages["file b"], 6);  // pieces of half a MiB
    submit(request(staging));
    world.run(30s);
    EXPECT_EQ(messages["file b"], 6);
    EXPECT_GE(messages["stage b"], 2);
}

TEST_F(StagingTest, WhatIsNotAtHomeIsRefusedByName) {
    const StagedFile missing{.name = "in.dat", .digest = std::string(64, 'a'), .size = 3};
    const auto refused = try_submit({.inputs = {missing}, .results = {}});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kConflict);
    EXPECT_EQ(refused.error().pointer, "/staging/inputs/0/digest");
    EXPECT_THAT(refused.error().message, HasSubstr("in.dat"));
    StagedFile other_size = bring("in.dat", "input");
    other_size.size = 4;
    EXPECT_EQ(try_submit({.inputs = {other_size}, .results = {}}).error().pointer, "/staging/inputs/0/size");
}

TEST_F(StagingTest, NobodyLearnsWhatAnotherUserBrought) {
    const StagedFile file = bring("in.dat", "input");
    const Caller other{CallerKind::kUser, "org-a", "bob"};
    EXPECT_EQ(files("a").find(other, file.digest).error().code, ErrorCode::kNotFound);
    EXPECT_FALSE(files("a").look(other, file.digest)->complete);
}

TEST_F(StagingTest, AnUploadGoesOnWhereItStopped) {
    const std::string bytes = "0123456789";
    const std::string digest = MemoryDepot::digest_of(bytes);
    FileLibrary& library = files("a");
    EXPECT_EQ(library.put(world.user(), digest, {0, 10, 0, "0123"})->have, 4U);
    EXPECT_EQ(library.put(world.user(), digest, {0, 10, 6, "6789"}).error().code, ErrorCode::kConflict);
    EXPECT_EQ(library.put(world.user(), digest, {0, 10, 2, "2345"})->have, 6U);  // a part of it is there
    EXPECT_TRUE(library.put(world.user(), digest, {0, 10, 6, "6789"})->complete);
    EXPECT_TRUE(library.put(world.user(), digest, {0, 10, 0, "0123"})->complete);  // a late repeat
    EXPECT_EQ(*library.read(world.user(), digest, 0, 100), bytes);
}

TEST_F(StagingTest, AWrongChecksumIsThrownAway) {
    const std::string digest(64, 'b');
    EXPECT_EQ(files("a").put(world.user(), digest, {0, 5, 0, "input"}).error().code, ErrorCode::kConflict);
    EXPECT_EQ(files("a").look(world.user(), digest)->have, 0U);
}

TEST_F(StagingTest, BoundsOfAFileAndOfAnApplication) {
    world.node("a").config.staging.file_bytes = 10;
    world.node("a").config.staging.job_bytes = 15;
    EXPECT_TRUE(files("a").put(world.user(), std::string(64, 'a'), {0, 10, 0, "x"}));
    const auto over = files("a").put(world.user(), std::string(64, 'b'), {0, 11, 0, "x"});
    EXPECT_EQ(over.error().code, ErrorCode::kTooLarge);
    EXPECT_EQ(over.error().pointer, "/size");
    const StagedFile one = bring("one", "12345678"), two = bring("two", "abcdefg"), three = bring("three", "ABCDEFGH");
    EXPECT_TRUE(try_submit({.inputs = {one, two}, .results = {}}));
    const auto refused = try_submit({.inputs = {one, three}, .results = {}});
    EXPECT_EQ(refused.error().code, ErrorCode::kTooLarge);
    EXPECT_EQ(refused.error().pointer, "/staging/inputs");
}

TEST_F(StagingTest, AUsersOldestUnneededFilesGiveWay) {
    world.node("a").config.staging.user_bytes = 10;
    run_for(1h);
    const StagedFile oldest = bring("a", "aaaa"), needed = bring("b", "bbbb");
    world.cut = {{"a", "b"}, {"a", "c"}, {"a", "a"}};
    submit(request({.inputs = {needed}, .results = {}}, 1));
    bring("c", "cccc");
    EXPECT_FALSE(files("a").look(world.user(), oldest.digest)->complete);
    EXPECT_TRUE(files("a").look(world.user(), needed.digest)->complete);
    const auto refused = files("a").put(world.user(), std::string(64, 'd'), {0, 8, 0, "dddd"});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kTooLarge);
    EXPECT_TRUE(files("a").look(world.user(), needed.digest)->complete);
}

TEST_F(StagingTest, AFileOnItsWayCountsWholeAndKeepsItsSize) {
    world.node("a").config.staging.user_bytes = 10;
    FileLibrary& library = files("a");
    const std::string first(64, 'a'), second(64, 'b');
    ASSERT_TRUE(library.put(world.user(), first, {0, 8, 0, "x"}));
    const auto grown = library.put(world.user(), first, {0, 10, 1, "x"});
    EXPECT_EQ(grown.error().code, ErrorCode::kConflict);
    EXPECT_EQ(grown.error().pointer, "/size");
    ASSERT_TRUE(library.put(world.user(), second, {0, 8, 0, "x"}));  // both would be too much: the older gives way
    EXPECT_EQ(library.look(world.user(), first)->have, 0U);
    EXPECT_EQ(library.put(world.user(), first, {0, 8, 1, "x"}).error().code, ErrorCode::kConflict);
}

TEST_F(StagingTest, UsersOfAPeerShareABound) {
    world.node("a").config.staging.user_bytes = 10;
    const auto put = [&](const OrganisationName& organisation, char user) {
        return files("a").put({CallerKind::kUser, organisation, std::string("u") + user}, std::string(64, user),
                              {0, 10, 0, "x"});
    };
    for (const char user : {'a', 'b', 'c', 'd'}) ASSERT_TRUE(put("org-z", user)) << user;
    EXPECT_EQ(put("org-z", 'e').error().code, ErrorCode::kTooLarge);
    EXPECT_TRUE(put("org-y", 'e'));
    for (const char user : {'a', 'b', 'c', 'd', 'e'}) EXPECT_TRUE(put(world.user().organisation, user)) << user;
}

TEST_F(StagingTest, UsersOfAPeerShareABoundOfFilesTooWhoeverTheyAre) {
    const auto put = [&](std::size_t user, std::size_t number) {
        const std::string bytes = std::to_string(number);
        return files("a").put({CallerKind::kUser, "org-z", "u" + std::to_string(user)}, MemoryDepot::digest_of(bytes),
                              {0, bytes.size(), 0, bytes});
    };
    for (std::size_t i = 0; i < 4 * 4'096; ++i) ASSERT_TRUE(put(i / 64, i % 64)) << i;
    const auto refused = put(4'096, 0);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("16384 files"));
    EXPECT_TRUE(put(0, 0)) << "it is there";
    const std::string wrong(64, 'f');
    ASSERT_TRUE(files("a").remove_unused_since(time_from_microseconds(INT64_MAX)));
    for (int i = 0; i < 3; ++i)
        EXPECT_FALSE(files("a").put({CallerKind::kUser, "org-z", "eve"}, wrong, {0, 1, 0, "x"})) << "a wrong checksum";
    EXPECT_TRUE(put(4'096, 0)) << "room is there again";
}

TEST_F(StagingTest, OfFilesThatAUserOnlyBeginsTheOldestGiveWay) {
    const auto digest = [](std::size_t number) { return MemoryDepot::digest_of(std::to_string(number)); };
    const std::string whole = MemoryDepot::digest_of("whole");
    ASSERT_TRUE(files("a").put(world.user(), whole, {0, 5, 0, "whole"}));
    for (std::size_t i = 0; i < 70; ++i) ASSERT_TRUE(files("a").put(world.user(), digest(i), {0, 9, 0, "x"}));
    EXPECT_TRUE(files("a").look(world.user(), whole)->complete);
    for (std::size_t i = 0; i < 70; ++i)
        EXPECT_EQ(files("a").look(world.user(), digest(i))->have, i < 6 ? 0U : 1U) << i;
}

TEST_F(StagingTest, AFileOfAnotherSizeBeginsAnew) {
    const std::string bytes = "0123456789", digest = MemoryDepot::digest_of(bytes);
    ASSERT_TRUE(files("a").put(world.user(), digest, {0, 99, 0, "01234"}));
    EXPECT_TRUE(files("a").put(world.user(), digest, {0, 10, 0, bytes})->complete);
}

TEST_F(StagingTest, ATokenThatIsNotTheHoldsSendsNothing) {
    const PartStatus part = committed();
    const StagedFile file{.name = "x", .digest = MemoryDepot::digest_of("abc"), .size = 3};
    PartService& zone = *world.node("b").parts;
    const Staging staging{.inputs = {file}, .results = {}};
    EXPECT_EQ(zone.stage(home, part.id, {part.token + 1, staging}).error().pointer, "/token");
    const Caller stranger{CallerKind::kZone, "org-c", "c"};
    EXPECT_EQ(zone.stage(stranger, part.id, {part.token, staging}).error().code, ErrorCode::kNotFound);
    ASSERT_TRUE(zone.stage(home, part.id, {part.token, staging}));
    EXPECT_EQ(zone.put_file(home, part.id, file.digest, {part.token + 1, 3, 0, "abc"}).error().pointer, "/token");
    EXPECT_EQ(zone.put_file(home, part.id, std::string(64, 'c'), {part.token, 3, 0, "abc"}).error().code,
              ErrorCode::kInvalidArgument);
    EXPECT_TRUE(zone.put_file(home, part.id, file.digest, {part.token, 3, 0, "abc"})->complete);
    Staging other = staging;
    other.results = {"*"};
    EXPECT_EQ(zone.stage(home, part.id, {part.token, other}).error().code, ErrorCode::kConflict);
}

TEST_F(StagingTest, NothingIsLaunchedBeforeAllFilesAreThere) {
    const PartStatus part = committed();
    PartService& zone = *world.node("b").parts;
    const StagedFile file{.name = "x", .digest = MemoryDepot::digest_of("abc"), .size = 3};
    ASSERT_TRUE(zone.stage(home, part.id, {part.token, {.inputs = {file}, .results = {}}}));
    const LaunchRequest launch{.token = part.token,
                               .operation = launch_operation(part.id),
                               .options = {{"control-port", "127.0.0.1:9"}},
                               .proxies = {{0, part.assignment[0].machine}}};
    EXPECT_THAT(zone.launch(home, part.id, launch).error().message, HasSubstr("has not come"));
    ASSERT_TRUE(zone.put_file(home, part.id, file.digest, {part.token, 3, 0, "abc"}));
    EXPECT_TRUE(zone.launch(home, part.id, launch));
}

TEST_F(StagingTest, ARestartInTheMiddleGoesOnWithWhatIsThere) {
    run_for(10s);
    const StagedFile file = bring("big", std::string(20 * kMiB, 'b'));
    for (const char* dying : {"b", "a"}) {
        messages.clear();
        const ApplicationId id = submit(request({.inputs = {file}, .results = {}}));
        const std::string victim = dying;
        bool crashed = false;
        for (int i = 0; i < 4'000 && !crashed; ++i) {
            world.run(5ms);
            if (messages["file b"] >= 10 && !crashed) {
                crashed = true;
                world.crash(victim);
                world.run(1s);
                world.restart(victim);
            }
        }
        ASSERT_TRUE(crashed) << victim;
        world.run(1min);
        EXPECT_EQ(world.status(id).state, ApplicationState::kCompleted) << victim << world.status(id).reason;
        EXPECT_LT(messages["file b"], 40 + 10) << victim;  // 40 pieces, some of them lost
        for (const char* zone : {"b", "c"}) ASSERT_TRUE(files(zone).depot().remove_shelf("user+org-a+ana"));
    }
}

TEST_F(StagingTest, LostMessagesAreSentAgain) {
    run_for(10s);
    world.loss = 0.05;
    const ApplicationId id = submit(request({.inputs = {bring("big", std::string(8 * kMiB, 'b'))}, .results = {}}));
    world.run(10min);
    EXPECT_EQ(world.status(id).state, ApplicationState::kCompleted) << world.status(id).reason;
}

TEST_F(StagingTest, AZoneWithAFullDiskIsPlannedAround) {
    run_for(10s);
    const StagedFile file = bring("big", std::string(2 * kMiB, 'b'));
    world.node("b").depot.room = kMiB;
    const ApplicationId id = submit(request({.inputs = {file}, .results = {}}, 8));
    world.run(1min);
    EXPECT_EQ(world.status(id).state, ApplicationState::kCompleted) << world.status(id).reason;
    EXPECT_EQ(world.node("b").executor->steps().size(), 0U);
}

TEST_F(StagingTest, AZoneThatDoesNotTakeTheFilesIsLeftOutBeforeAnythingIsHeld) {
    run_for(10s);
    const StagedFile file = bring("big", std::string(2 * kMiB, 'b'));
    const auto reason = [&](const StagingConfig& config) {
        world.node("b").config.staging = config;
        messages.clear();
        const ApplicationId id = submit(request({.inputs = {file}, .results = {}}));  // it needs all three zones
        world.run(10min);
        EXPECT_EQ(world.status(id).state, ApplicationState::kRejected);
        EXPECT_EQ(messages["hold a"] + messages["hold b"] + messages["hold c"], 0);
        return world.status(id).reason;
    };
    EXPECT_THAT(reason({.file_bytes = kMiB}), HasSubstr("one of its files is larger than zone b takes"));
    EXPECT_THAT(reason({.file_bytes = 2 * kMiB, .job_bytes = kMiB}),
                HasSubstr("its files together are larger than zone b takes"));
    EXPECT_THAT(reason({.job_bytes = 0}), HasSubstr("zone b takes no files of users"));
    EXPECT_GT(messages["capacity b"], 0);
    world.node("b").config.staging = {.job_bytes = 0, .shared_file_system = "lustre"};
    world.node("a").config.staging.shared_file_system = "lustre";
    const ApplicationId id = submit(request({.inputs = {file}, .results = {}}));
    world.run(1min);
    EXPECT_EQ(world.status(id).state, ApplicationState::kCompleted) << "what it has already it need not take";
}

TEST_F(StagingTest, AZoneThatDoesNotTakeTheFilesIsPlannedAround) {
    run_for(10s);
    const StagedFile file = bring("big", std::string(2 * kMiB, 'b'));
    world.node("b").config.staging.file_bytes = kMiB;
    const ApplicationId id = submit(request({.inputs = {file}, .results = {}}, 8));
    world.run(1min);
    EXPECT_EQ(world.status(id).state, ApplicationState::kCompleted) << world.status(id).reason;
    EXPECT_EQ(messages["hold b"], 0);
}

TEST_F(StagingTest, AHoldForFilesThatAreNotTakenIsRefused) {
    PartRequest r{.id = PartId{world.ids.fresh(home)},
                  .application = ApplicationId{world.ids.fresh(world.user())},
                  .user = world.user(),
                  .home = "a",
                  .ranks = {0}};
    r.graph = *TaskGraph::make({1.0}, {});
    r.walltime = 1min;
    r.staging = StagingNeed{.bytes = 300 * kMiB, .largest = 300 * kMiB};
    const auto refused = world.node("b").parts->hold(home, r);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kTooLarge);
    EXPECT_EQ(refused.error().pointer, "/staging");
    EXPECT_THAT(refused.error().message, testing::Not(HasSubstr("256"))) << "another organisation does not receive it";
    EXPECT_EQ(world.held(), 0);
    r.home = "b";
    r.user = {CallerKind::kUser, "org-b", "bob"};
    const Caller own{CallerKind::kZone, "org-b", "b"};
    r.id = PartId{world.ids.fresh(own)};
    const auto inside = world.node("b").parts->hold(own, r);
    ASSERT_FALSE(inside);
    EXPECT_THAT(inside.error().message, HasSubstr("256 MiB"));
}

TEST_F(StagingTest, BetweenZonesWithOneFileSystemNothingIsSent) {
    run_for(1s);
    for (const char* zone : {"a", "b"}) world.node(zone).config.staging.shared_file_system = "lustre";
    Staging staging{.inputs = {bring("in.dat", "input")}, .results = {}};
    submit(request(staging));
    world.run(30s);
    EXPECT_EQ(messages["stage a"] + messages["stage b"], 0);
    EXPECT_GT(messages["stage c"], 0);
    staging.always = true;
    submit(request(staging));
    world.run(30s);
    EXPECT_GT(messages["stage b"], 0);
}

TEST_F(StagingTest, ResultsComeHomeBeforeTheJobCountsAsCompleted) {
    run_for(5s);
    leave("a", {{".zbs-stdout", "mine"}, {"r.a", "from a"}, {"out.7", "a program's own"}});
    leave("b", {{"r.b", std::string(3 * kMiB, 'b')}, {"other", "no"}});
    leave("c", {{"r.empty", ""}});
    const ApplicationId id = submit(request({.inputs = {}, .results = {"r.*", ".zbs-s*", "out.*", "nothing"}}));
    for (int i = 0; i < 600 && world.status(id).state != ApplicationState::kCompleted; ++i) {
        EXPECT_FALSE(world.node("a").applications->results(world.user(), id)->complete);
        world.run(100ms);
    }
    const StagedResults results = world.node("a").applications->results(world.user(), id).value();
    ASSERT_TRUE(results.complete);
    ASSERT_EQ(results.files.size(), 4U);
    EXPECT_EQ(result(id, "r.a"), "from a");
    EXPECT_EQ(result(id, "out.7"), "a program's own");
    EXPECT_EQ(result(id, "r.b"), std::string(3 * kMiB, 'b'));
    EXPECT_EQ(result(id, "r.empty"), "");
    EXPECT_THAT(result(id, "other"), HasSubstr("error"));
    EXPECT_THAT(results.notes,
                testing::UnorderedElementsAre("nothing came back for .zbs-s*", "nothing came back for nothing"));
    EXPECT_EQ(results.left_out, 2U);
    EXPECT_EQ(world.node("b").depot.list("part+" + to_string(world.status(id).parts[1].id))->size(), 0U);
}

TEST_F(StagingTest, ResultsWithBlanksAndInFoldersComeHome) {
    run_for(5s);
    const std::map<std::string, std::string> left = {
        {"a b.out", "1"}, {"\xc3\xbc.out", "2"}, {"a=b%20c.out", "3"}, {"out/x y/z.dat", "4"}, {"out/.h", "5"}};
    std::map<std::string, std::string> all = left;
    all["deep/a.out"] = "not asked for";
    leave("b", all);
    const ApplicationId id = submit(request({.inputs = {}, .results = {"*.out", "out/**"}}));
    world.run(1min);
    for (const auto& [name, text] : left) EXPECT_EQ(result(id, name), text) << name;
    const StagedResults results = *world.status(id).results;
    EXPECT_EQ(results.files.size(), left.size());
    EXPECT_EQ(results.left_out, 0U);
    EXPECT_THAT(results.notes, testing::IsEmpty());
}

TEST_F(StagingTest, EachThatWasAskedForAndDoesNotComeIsNamedAndCounted) {
    run_for(5s);
    leave("b", {{"caf\xe9.out", "1"},
                {"link.out", ""},
                {std::string(201, 'q') + ".out", "2"},
                {"good.out", "3"},
                {"other", ""},
                {"links/x", ""}});
    world.node("b").executor->lost["links/x"] = "is a link, and links are not followed";
    world.node("b").executor->lost["link.out"] = "is a link, and links are not followed";
    world.node("b").executor->lost["other"] = "is a link, and links are not followed";
    const ApplicationId id =
        submit(request({.inputs = {}, .results = {"*.out", "absent.dat", "other", "links/*", "none.*"}}));
    world.run(1min);
    EXPECT_EQ(world.status(id).state, ApplicationState::kCompleted);
    EXPECT_EQ(result(id, "good.out"), "3");
    EXPECT_EQ(world.status(id).results->left_out, 7U) << "also by its exact name each counts once";
    EXPECT_THAT(world.status(id).results->notes,
                testing::UnorderedElementsAre(
                    HasSubstr("caf\\xe9.out: must be UTF-8"), HasSubstr("link.out: is a link"),
                    HasSubstr("q.out: is longer than 200 bytes"), HasSubstr("absent.dat"),
                    HasSubstr("other: is a link"), HasSubstr("links/x: is a link"), HasSubstr("none.*")));
}

TEST_F(StagingTest, AFailedRunBringsItsResultsToo) {
    run_for(5s, 3);
    for (const char* zone : {"b", "c"}) leave(zone, {{"core.txt", zone}});
    const ApplicationId id = submit(request({.inputs = {}, .results = {"core.txt"}}));
    world.run(1min);
    EXPECT_EQ(world.status(id).state, ApplicationState::kFailed);
    EXPECT_EQ(world.status(id).exit_code, 3);
    EXPECT_EQ(result(id, "core.txt"), "b");
    EXPECT_EQ(result(id, "core.txt.c"), "c");
    EXPECT_THAT(world.status(id).results->notes, testing::ElementsAre(HasSubstr("is called core.txt.c")));
}

TEST_F(StagingTest, AResultWhoseNewNameIsTakenGetsTheNextFreeOne) {
    run_for(5s);
    leave("a", {{"out", "1"}, {"out.b", "2"}});
    leave("b", {{"out", "3"}, {"out.b", "4"}, {"out.b.2", "5"}});
    leave("c", {{"out", "6"}, {"out.c", "7"}});
    const ApplicationId id = submit(request({.inputs = {}, .results = {"out", "out.*"}}));
    world.run(1min);
    EXPECT_EQ(result(id, "out"), "1");
    EXPECT_EQ(result(id, "out.b"), "2");
    EXPECT_EQ(result(id, "out.b.3"), "3");
    EXPECT_EQ(result(id, "out.b.b"), "4");
    EXPECT_EQ(result(id, "out.b.2"), "5") << "a name that the zone itself has left is not given away";
    EXPECT_EQ(result(id, "out.c.2"), "6");
    EXPECT_EQ(result(id, "out.c"), "7");
    EXPECT_EQ(world.status(id).results->left_out, 0U);
    EXPECT_THAT(world.status(id).results->notes, testing::ElementsAre(HasSubstr("out of zone b is called out.b.3,"),
                                                                      HasSubstr("out.b of zone b is called out.b.b,"),
                                                                      HasSubstr("out of zone c is called out.c.2,")));
}

TEST_F(StagingTest, AResultOfAnotherNameIsNamedAlsoWhereItsContentIsKnown) {
    run_for(5s);
    for (const char* zone : {"b", "c"}) leave(zone, {{"core.txt", "equal"}});
    const ApplicationId id = submit(request({.inputs = {}, .results = {"core.txt"}}));
    world.run(1min);
    EXPECT_EQ(result(id, "core.txt"), "equal");
    EXPECT_EQ(result(id, "core.txt.c"), "equal");
    EXPECT_THAT(world.status(id).results->notes,
                testing::ElementsAre(HasSubstr("core.txt of zone c is called core.txt.c")));
}

TEST_F(StagingTest, ResultsOverTheBoundsStayWhereTheyAreAndAreTold) {
    run_for(5s);
    world.node("b").config.staging.file_bytes = kMiB;
    leave("b", {{"big", std::string(2 * kMiB, 'b')}, {"small", "s"}});
    const ApplicationId id = submit(request({.inputs = {}, .results = {"*"}}));
    world.run(1min);
    EXPECT_EQ(world.status(id).state, ApplicationState::kCompleted);
    EXPECT_EQ(result(id, "small"), "s");
    EXPECT_THAT(world.status(id).results->notes, testing::Contains(HasSubstr("big: larger than zone b hands on")));
}

TEST_F(StagingTest, RestartsWhileResultsComeLoseNothing) {
    run_for(5s);
    leave("b", {{"big", std::string(20 * kMiB, 'b')}});
    for (const char* dying : {"b", "a"}) {
        messages.clear();
        const ApplicationId id = submit(request({.inputs = {}, .results = {"big"}}));
        bool crashed = false;
        for (int i = 0; i < 8'000 && !crashed; ++i) {
            world.run(5ms);
            if (messages["result b"] < 10) continue;
            crashed = true;
            world.crash(dying);
            world.run(1s);
            world.restart(dying);
        }
        ASSERT_TRUE(crashed) << dying;
        world.run(1min);
        EXPECT_EQ(world.status(id).state, ApplicationState::kCompleted) << dying << world.status(id).reason;
        EXPECT_EQ(result(id, "big"), std::string(20 * kMiB, 'b')) << dying;
        EXPECT_LT(messages["result b"], 50) << dying;
    }
}

TEST_F(StagingTest, AResultThatIsHomeIsNotTakenForAnotherZones) {
    run_for(5s);
    world.node("a").config.staging.window = 1min;
    leave("b", {{"r", std::string(2 * kMiB, 'b')}});
    leave("c", {{"r", std::string(2 * kMiB, 'c')}});
    const ApplicationId id = submit(request({.inputs = {}, .results = {"r"}}));
    for (int i = 0; i < 8'000 && messages["result c"] < 2; ++i) world.run(5ms);
    ASSERT_GE(messages["result c"], 2);  // that of b is at home
    world.crash("b");
    world.crash("a");
    world.run(1s);
    world.restart("a");
    world.run(5min);
    EXPECT_EQ(world.status(id).state, ApplicationState::kCompleted);
    EXPECT_TRUE(result(id, "r") == std::string(2 * kMiB, 'c'));
    EXPECT_THAT(world.status(id).results->notes, testing::Contains(HasSubstr("zone b: results did not come")));
}

TEST_F(StagingTest, AZoneKeepsItsResultsUntilHomeHasStoredThatTheyCame) {
    run_for(5s);
    leave("b", {{"r", "b"}});
    leave("c", {{"big", std::string(20 * kMiB, 'c')}});
    const ApplicationId id = submit(request({.inputs = {}, .results = {"r", "big"}}));
    for (int i = 0; i < 8'000 && messages["result c"] < 10; ++i) world.run(5ms);
    ASSERT_GE(messages["result c"], 10);
    const std::string shelf = "part+" + to_string(world.status(id).parts[1].id);
    EXPECT_EQ(world.node("b").depot.list(shelf)->size(), 1U);
    world.run(1min);
    EXPECT_EQ(world.status(id).state, ApplicationState::kCompleted);
    EXPECT_EQ(world.node("b").depot.list(shelf)->size(), 0U);
}

TEST_F(StagingTest, AZonesShorterWindowIsKeptWhileOthersGetTheirFiles) {
    run_for(10s);
    world.node("b").config.launch_window = 4s;
    const StagedFile file = bring("big", std::string(2 * kMiB, 'b'));
    bool cut = false;
    world.on_message = [&](const std::string&, const std::string& to, const char* what) {
        if (!cut && to == "c" && std::string(what) == "file") {
            cut = true;
            world.cut = {{"a", "c"}};
        }
    };
    const ApplicationId id = submit(request({.inputs = {file}, .results = {}}));
    for (int i = 0; i < 1'000 && !cut; ++i) world.run(5ms);
    ASSERT_TRUE(cut);
    const PartId part = world.status(id).parts[1].id;
    world.run(15s);
    EXPECT_EQ(world.node("b").parts->status(home, part)->state, PartState::kCommitted);
}

TEST_F(StagingTest, AZoneThatStaysAwayDoesNotKeepTheJobForEver) {
    run_for(5s);
    world.node("a").config.staging.window = 1min;
    for (const char* zone : {"b", "c"}) leave(zone, {{"r", zone}});
    const ApplicationId id = submit(request({.inputs = {}, .results = {"r"}}));
    world.run(3s);
    ASSERT_EQ(world.status(id).state, ApplicationState::kRunning);
    world.crash("b");
    world.run(5min);
    EXPECT_EQ(world.status(id).state, ApplicationState::kCompleted);
    EXPECT_EQ(result(id, "r"), "c");
    EXPECT_THAT(world.status(id).results->notes, testing::Contains(HasSubstr("zone b: results did not come")));
}

TEST_F(StagingTest, ResultsOfACancelledRunComeHome) {
    run_for(1h);
    const StagedFile save = bring("save", "as it was sent");
    leave("a", {{"save", "as it was saved"}}, 1h);  // the first zone has the name, of all that bring such a file
    leave("b", {{"r", "saved in its grace"}}, 1h);
    const ApplicationId id = submit(request({.inputs = {save}, .results = {"r", "save"}}));
    world.run(10s);
    ASSERT_EQ(world.status(id).state, ApplicationState::kRunning);
    ASSERT_TRUE(world.node("a").applications->cancel(world.user(), id));
    world.run(2min);
    EXPECT_EQ(world.status(id).state, ApplicationState::kCancelled);
    EXPECT_EQ(result(id, "r"), "saved in its grace");
    EXPECT_EQ(result(id, "save"), "as it was saved") << "a result may have the name of an input";
}

TEST_F(StagingTest, OfAnOwnerWhoIsBlockedNoResultsAreRequested) {
    run_for(1h);
    const ApplicationId id = submit(request({.inputs = {}, .results = {"r"}}));
    world.run(10s);
    ASSERT_EQ(world.status(id).state, ApplicationState::kRunning);
    world.block("a", world.user());
    world.run(2min);
    EXPECT_EQ(world.status(id).state, ApplicationState::kCancelled);
    EXPECT_EQ(messages["results b"], 0);
}

TEST_F(StagingTest, ACancelWhileFilesAreSentEndsIt) {
    const ApplicationId id = submit(request({.inputs = {bring("big", std::string(40 * kMiB, 'b'))}, .results = {}}));
    world.run(150ms);
    ASSERT_GT(messages["file b"], 0);
    ASSERT_TRUE(world.node("a").applications->cancel(world.user(), id));
    world.run(1min);
    EXPECT_EQ(world.status(id).state, ApplicationState::kCancelled);
    EXPECT_EQ(world.held(), 0);
}

TEST_F(StagingTest, ABlockOfItsOwnerWhileFilesAreSentEndsIt) {
    const ApplicationId id = submit(request({.inputs = {bring("big", std::string(40 * kMiB, 'b'))}, .results = {}}));
    world.run(150ms);
    ASSERT_GT(messages["file b"], 0);
    ASSERT_LT(messages["file b"], 40);
    world.block("a", world.user());
    world.run(300ms);
    EXPECT_EQ(world.status(id).state, ApplicationState::kCancelled);
    EXPECT_LT(messages["file b"], 80);
}

TEST_F(StagingTest, RetentionTakesResultsAndUnusedFiles) {
    run_for(5s);
    leave("b", {{"r", "b"}});
    const ApplicationId id = submit(request({.inputs = {bring("in", "input")}, .results = {"r"}}));
    world.run(1min);
    ASSERT_EQ(result(id, "r"), "b");
    FederationWorld::Node& node = world.node("a");
    EXPECT_TRUE(node.files->remove_unused_since(time_from_microseconds(0)));
    EXPECT_EQ(node.depot.list("user+org-a+ana")->size(), 1U);
    const std::string of_part = results_shelf(world.status(id).parts[0].id);
    node.depot.put(of_part, "r", "not given back");
    ASSERT_EQ(node.depot.list(results_shelf(id))->size(), 1U);
    node.config.results_kept = 1h;
    SilentLog log;
    Retention retention{node.config, world.clock,    node.store,   node.store,
                        node.store,  *node.executor, &*node.files, log};
    ASSERT_TRUE(node.store.record_believed_time(world.clock.now()));
    retention.start();
    world.look_rarely();
    world.run(3h);
    EXPECT_EQ(node.depot.list(results_shelf(id))->size(), 0U);
    EXPECT_EQ(node.depot.list(of_part)->size(), 0U);
    EXPECT_EQ(node.depot.list("user+org-a+ana")->size(), 0U);
}

}  // namespace
}  // namespace zbs::test
