// How an application ends, and the reason that its user reads: ranks, walltimes, signals, hosts and programs that are
// not there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/common/messages/steps/own_files.hpp"
#include "tests/support/federation_world.hpp"

namespace zbs::test {
namespace {

using namespace std::chrono_literals;

struct ApplicationEndTest : testing::Test {
    FederationWorld world{{4, 4, 4}};

    ApplicationId submit(int ranks) {
        const ApplicationRequest request = world.request(ranks);
        EXPECT_TRUE(world.node("a").applications->submit(world.user(), request));
        return request.id;
    }
    void run_for(Duration runtime, int exit_code = 0) {
        for (const char* zone : {"a", "b", "c"})
            world.node(zone).executor->script("", {.runtime = runtime, .exit_code = exit_code});
    }
    void expect_nothing_left() {
        EXPECT_EQ(world.held(), 0);
        EXPECT_EQ(world.running_steps(), 0);
    }
};

TEST_F(ApplicationEndTest, LostProxyStopsAllWithinFiveSeconds) {
    const ApplicationId id = submit(12);
    world.run(3s);
    ASSERT_EQ(world.status(id).state, ApplicationState::kRunning);
    for (const auto& [step_id, step] : world.node("b").executor->steps())
        world.node("b").executor->end(step_id, 137, "killed");
    world.run(5s);
    EXPECT_EQ(world.running_steps(), 0);
    world.run(10s);
    EXPECT_EQ(world.status(id).state, ApplicationState::kFailed);
    EXPECT_NE(world.status(id).reason.find("zone b"), std::string::npos) << world.status(id).reason;
    expect_nothing_left();
}

TEST_F(ApplicationEndTest, WalltimeThatOneZoneCountsFirstIsTheReasonOfTheEnd) {
    run_for(21s, 1);
    world.node("b").executor->script("", {.runtime = 20s, .exit_code = 143, .reason = "walltime of 20 s reached"});
    world.node("a").executor->script("mpi-", {.runtime = 20s, .exit_code = 1});  // gone before b has looked
    ApplicationRequest request = world.request(12);
    request.profile = false;
    ASSERT_TRUE(world.node("a").applications->submit(world.user(), request));
    world.run(40s);
    EXPECT_EQ(world.status(request.id).state, ApplicationState::kFailed);
    EXPECT_EQ(world.status(request.id).reason, "walltime of 600 s reached in zone b");
    EXPECT_EQ(world.status(request.id).exit_code, 143);
    expect_nothing_left();
}

TEST_F(ApplicationEndTest, PartsThatEndedAtTheWalltimeHaveOneReason) {
    run_for(60s);  // the part of c is there when the launcher has ended, and is released
    for (const char* zone : {"a", "b"})
        world.node(zone).executor->script("run-",
                                          {.runtime = 20s, .exit_code = 143, .reason = "walltime of 20 s reached"});
    world.node("a").executor->script("mpi-", {.runtime = 21s, .exit_code = 1});
    ApplicationRequest request = world.request(12);
    request.profile = false;
    ASSERT_TRUE(world.node("a").applications->submit(world.user(), request));
    world.run(60s);
    const ApplicationStatus status = world.status(request.id);
    EXPECT_EQ(status.state, ApplicationState::kFailed);
    ASSERT_EQ(status.parts.size(), 3U);
    for (const ApplicationPart& part : status.parts)
        EXPECT_EQ(part.status.reason, "walltime of 600 s reached in zone " + part.zone) << to_string(part.status.state);
    expect_nothing_left();
}

TEST_F(ApplicationEndTest, WalltimeOfAProgramThatHadFinalizedAndStayedSaysSo) {
    for (const auto& [finalized, at_work] : {std::pair(3U, false), {4U, false}, {4U, true}}) {
        run_for(21s, 1);
        std::map<std::string, std::string> files = {{".zbs-profile.json.finalized", std::string(finalized, '.')}};
        if (at_work) files[".zbs-at-work"] = "3";  // it finalized because of the walltime
        for (const char* zone : {"a", "b", "c"})
            world.node(zone).executor->script(
                "run-", {.runtime = 20s, .exit_code = 143, .reason = "walltime of 20 s reached", .files = files});
        ApplicationRequest request = world.request(12);
        request.profile = false;
        ASSERT_TRUE(world.node("a").applications->submit(world.user(), request));
        world.run(60s);
        EXPECT_EQ(world.status(request.id).state, ApplicationState::kFailed);
        EXPECT_EQ(world.status(request.id).reason.ends_with("returned from MPI_Finalize, and not all had exited"),
                  finalized == 4 && !at_work)
            << world.status(request.id).reason;
        expect_nothing_left();
    }
}

TEST_F(ApplicationEndTest, ARankThatEndedBadlyBeforeTheWalltimeIsNamedAfterIt) {
    for (const char* zone : {"a", "b"}) {
        run_for(21s, 1);
        std::map<std::string, std::string> files;  // of all ranks: those of the part count
        for (TaskIndex rank = 0; rank < 12; ++rank)
            files[rank_end_file(rank)] =
                rank_end_text({.rank = rank, .code = 7, .before_finalize = true, .at = time_from_microseconds(rank)});
        for (const char* each : {"a", "b", "c"}) {
            const auto left = each == std::string(zone) ? files : std::map<std::string, std::string>{};
            world.node(each).executor->script(
                "run-", {.runtime = 20s, .exit_code = 143, .reason = "walltime of 20 s reached", .files = left});
        }
        ApplicationRequest request = world.request(12);
        request.profile = false;
        ASSERT_TRUE(world.node("a").applications->submit(world.user(), request));
        world.run(60s);
        const ApplicationStatus status = world.status(request.id);
        const auto part = std::ranges::find(status.parts, ZoneName(zone), &ApplicationPart::zone);
        ASSERT_NE(part, status.parts.end());
        EXPECT_EQ(status.exit_code, 143);
        EXPECT_EQ(status.reason, "walltime of 600 s reached in zone c; before it rank " +
                                     std::to_string(part->ranks.front()) + " on " + zone + "." +
                                     part->status.assignment.front().machine +
                                     " exited with code 7 before MPI_Finalize");
        expect_nothing_left();
    }
}

TEST_F(ApplicationEndTest, HomeSaysSoOfItsOwnRanksWhereItsLauncherIsEndedFirst) {
    for (const std::size_t finalized : {3U, 4U}) {
        run_for(21s);
        world.node("a").executor->script(
            "run-", {.runtime = 20s, .files = {{".zbs-profile.json.finalized", std::string(finalized, '.')}}});
        world.node("a").executor->script("mpi-",
                                         {.runtime = 20s, .exit_code = 143, .reason = "walltime of 20 s reached"});
        ApplicationRequest request = world.request(12);
        request.profile = false;
        ASSERT_TRUE(world.node("a").applications->submit(world.user(), request));
        world.run(60s);
        EXPECT_EQ(world.status(request.id).reason,
                  std::string("walltime of 600 s reached") +  // of the request: the launcher's own is longer
                      (finalized == 4 ? "; in zone a" + std::string(kNoneExitsReason) : ""));
    }
}

TEST_F(ApplicationEndTest, WalltimeNamesARankThatRanWithoutTheLibrary) {
    run_for(21s, 1);
    for (const char* zone : {"a", "b", "c"})
        world.node(zone).executor->script("run-", {.runtime = 20s,
                                                   .exit_code = 143,
                                                   .reason = "walltime of 20 s reached",
                                                   .files = {{".zbs-unusual", "3 removed\n"}}});
    ApplicationRequest request = world.request(12);
    request.profile = false;
    ASSERT_TRUE(world.node("a").applications->submit(world.user(), request));
    world.run(60s);
    EXPECT_TRUE(
        world.status(request.id).reason.ends_with(": rank 3 runs without ZBS's library (LD_PRELOAD was removed)"))
        << world.status(request.id).reason;
    expect_nothing_left();
}

TEST_F(ApplicationEndTest, AKilledProcessOfTheLauncherIsNotTheProgramsEnd) {
    struct Case {
        int launcher;
        const char* launcher_reason;
        const char* errors;
        int b, c;  ///< codes of the proxies of zone b and of the others
        const char* b_reason;
        const char* reason;
    };
    constexpr const char* kGaveUp = "[mpiexec@a] control_cb (pm/x.c:206): assert (!closed) failed\n";
    for (const Case& one : {Case{255, "", kGaveUp, 137, 7, "", "lost proxy of the MPI launcher in zone b (signal 9)"},
                            Case{255, "", kGaveUp, 137, 7, "lost supervisor", "lost supervisor in zone b"},
                            Case{255, "", kGaveUp, 7, 7, "", "lost connection between the MPI launcher and a proxy"},
                            Case{137, "", "", 7, 7, "", "lost MPI launcher in zone a (signal 9)"},
                            Case{137, "lost supervisor", "", 7, 7, "", "lost supervisor of the MPI launcher in zone a"},
                            Case{137, "", "", 0, 0, "", "the program ended with exit code 137"}}) {
        SCOPED_TRACE(one.reason);
        run_for(21s);
        for (const char* zone : {"a", "b", "c"}) {
            const bool is_b = zone == std::string("b");
            world.node(zone).executor->script(
                "run-", {.runtime = 20s, .exit_code = is_b ? one.b : one.c, .reason = is_b ? one.b_reason : ""});
        }
        world.node("a").executor->script("mpi-", {.runtime = 20s,
                                                  .exit_code = one.launcher,
                                                  .reason = one.launcher_reason,
                                                  .files = {{".zbs-stderr", one.errors}}});
        ApplicationRequest request = world.request(12);
        request.profile = false;
        ASSERT_TRUE(world.node("a").applications->submit(world.user(), request));
        world.run(40s);
        EXPECT_EQ(world.status(request.id).state, ApplicationState::kFailed);
        EXPECT_EQ(world.status(request.id).reason, one.reason);
        EXPECT_EQ(world.status(request.id).exit_code, one.b == 0 ? 137 : 1);
        for (const ApplicationPart& part : world.status(request.id).parts) {
            if (one.b == 0) continue;
            const bool is_named = std::string(one.reason).find(" in zone " + part.zone) != std::string::npos;
            EXPECT_EQ(part.status.reason, (is_named ? "" : "ended because of a ") + std::string(one.reason));
            EXPECT_EQ(part.status.state, PartState::kFailed);
        }
        expect_nothing_left();
    }
}

/// No zone has a record of the end that the launcher reports, because the supervisor of the rank was killed.
TEST_F(ApplicationEndTest, AKilledSupervisorOfARankIsNamedWithItsZone) {
    run_for(20s);
    world.node("a").executor->script("mpi-", {.runtime = 20s, .exit_code = 9});
    ApplicationRequest request = world.request(12);
    request.profile = false;
    ASSERT_TRUE(world.node("a").applications->submit(world.user(), request));
    world.run(10s);
    world.node("a").executor->write("mpi-" + to_string(request.id), ".zbs-stdout",
                                    "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n"
                                    "=   PID 7 RUNNING AT b.n0\n"
                                    "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)\n");
    world.run(30s);
    const ApplicationStatus status = world.status(request.id);
    EXPECT_EQ(status.state, ApplicationState::kFailed);
    EXPECT_EQ(status.reason, "lost supervisor of a rank in zone b on machine n0 (signal 9)");
    EXPECT_EQ(status.exit_code, 137);
    for (const ApplicationPart& part : status.parts) {
        EXPECT_EQ(part.status.state == PartState::kFailed, part.zone == "b");
        EXPECT_EQ(part.status.reason, part.zone == "b" ? status.reason : "");
    }
    expect_nothing_left();
}

TEST_F(ApplicationEndTest, ASigtermOfSomebodyElseInOneZoneEndsTheJob) {
    const ApplicationId id = submit(12);  // its launcher waits for the ranks of other zones
    world.run(3s);
    ASSERT_EQ(world.status(id).state, ApplicationState::kRunning);
    for (const auto& [step_id, step] : world.node("b").executor->steps())
        world.node("b").executor->end(step_id, 0, "stopped");
    world.run(15s);
    EXPECT_EQ(world.status(id).state, ApplicationState::kFailed);
    EXPECT_EQ(world.status(id).reason, "ended by somebody else (SIGTERM) in zone b");
    EXPECT_EQ(world.status(id).exit_code, 143);
    expect_nothing_left();
}

/// The supervisors of ranks that got a SIGTERM end with 0, and so do proxies and launcher.
TEST_F(ApplicationEndTest, ASigtermOfSomebodyElseIsNoGoodEnd) {
    const std::string by_other = "ended by somebody else (SIGTERM) in zone ";
    struct Case {
        std::string stopped;  ///< zones whose ranks got it
        int launcher;
        const char* launcher_reason;
        std::string reason;
    };
    for (const Case& one : {Case{"abc", 0, "", "the MPI launcher was " + by_other + "a"},
                            Case{"", 0, "stopped", "the MPI launcher was " + by_other + "a"},
                            Case{"", 255, "stopped", "the MPI launcher was " + by_other + "a"},
                            Case{"b", 0, "", by_other + "b"}, Case{"", 0, "", ""}}) {
        SCOPED_TRACE(one.stopped + " " + one.launcher_reason);
        run_for(20s, 1);
        std::map<std::string, std::string> files;  // of all ranks: those of the part count
        for (TaskIndex rank = 0; rank < 12; ++rank)
            files[rank_end_file(rank)] =
                rank_end_text({.rank = rank, .how = RankEndKind::kSignalled, .code = 15, .in_stop = true});
        for (const char* zone : {"a", "b", "c"}) {
            const bool is_stopped = one.stopped.find(zone) != std::string::npos;
            world.node(zone).executor->script(
                "run-", {.runtime = 20s, .files = is_stopped ? files : std::map<std::string, std::string>{}});
        }
        world.node("a").executor->script("mpi-",
                                         {.runtime = 20s, .exit_code = one.launcher, .reason = one.launcher_reason});
        ApplicationRequest request = world.request(12);
        request.profile = false;
        ASSERT_TRUE(world.node("a").applications->submit(world.user(), request));
        world.run(40s);
        const ApplicationStatus status = world.status(request.id);
        EXPECT_EQ(status.state, one.reason.empty() ? ApplicationState::kCompleted : ApplicationState::kFailed);
        EXPECT_EQ(status.reason, one.reason);
        EXPECT_EQ(status.exit_code, one.reason.empty() ? 0 : 143);
        for (const ApplicationPart& part : status.parts)
            EXPECT_EQ(part.status.state == PartState::kFailed, one.stopped.find(part.zone) != std::string::npos);
        expect_nothing_left();
    }
}

/// A machine that is lost answers nothing: the kernel's probes end the launcher's connection to its proxy.
TEST_F(ApplicationEndTest, AZoneThatIsLostWithItsHostIsNamed) {
    run_for(300s);
    world.node("a").executor->script(
        "mpi-",
        {.runtime = 50s,
         .exit_code = 255,
         .files = {{".zbs-stderr", "[mpiexec@a] control_cb (pm/x.c:205): unable to read command from proxy\n"}}});
    for (const char* zone : {"a", "c"}) world.node(zone).executor->script("run-", {.runtime = 50s, .exit_code = 7});
    ApplicationRequest request = world.request(12);
    request.profile = false;
    ASSERT_TRUE(world.node("a").applications->submit(world.user(), request));
    world.run(10s);
    ASSERT_EQ(world.status(request.id).state, ApplicationState::kRunning);
    for (const char* other : {"a", "c"}) world.cut.insert({{"b", other}, {other, "b"}});
    world.run(30s);
    EXPECT_EQ(world.status(request.id).state, ApplicationState::kRunning) << "silence alone ends nothing";
    world.run(30s);
    const ApplicationStatus status = world.status(request.id);
    constexpr const char* kReason =
        "lost zone b (no answer from there, and the MPI launcher lost its connection to a proxy)";
    EXPECT_EQ(status.state, ApplicationState::kFailed);
    EXPECT_EQ(status.reason, kReason);
    EXPECT_EQ(status.exit_code, 1);
    for (const ApplicationPart& part : status.parts) {
        if (part.zone == "b") continue;
        EXPECT_EQ(part.status.reason, std::string("ended because of a ") + kReason);
    }
}

/// A rank that ended by itself is why, and not what became of the launcher then.
TEST_F(ApplicationEndTest, ALostProxyDoesNotHideARankThatEndedBadly) {
    run_for(21s);
    std::map<std::string, std::string> files;  // of all ranks: those of the part count
    for (TaskIndex rank = 0; rank < 12; ++rank)
        files[rank_end_file(rank)] = rank_end_text({.rank = rank, .how = RankEndKind::kSignalled, .code = 11});
    world.node("b").executor->script("run-", {.runtime = 20s, .exit_code = 137, .files = files});
    world.node("c").executor->script("run-", {.runtime = 20s, .exit_code = 7});
    world.node("a").executor->script(
        "mpi-", {.runtime = 20s,
                 .exit_code = 255,
                 .files = {{".zbs-stderr", "[mpiexec@a] control_cb (pm/x.c:206): assert (!closed) failed\n"}}});
    ApplicationRequest request = world.request(12);
    request.profile = false;
    ASSERT_TRUE(world.node("a").applications->submit(world.user(), request));
    world.run(40s);
    const ApplicationStatus status = world.status(request.id);
    EXPECT_TRUE(status.reason.ends_with("ended by signal 11")) << status.reason;
    EXPECT_EQ(status.exit_code, 139);
    for (const ApplicationPart& part : status.parts) {
        if (part.status.state != PartState::kFailed) continue;
        EXPECT_EQ(part.status.reason, (part.zone == "b" ? "" : "ended because ") + status.reason);
    }
}

/// As under mpiexec: ranks that have passed MPI_Finalize may still write files.
TEST_F(ApplicationEndTest, ABadEndAfterFinalizeLeavesTimeToOtherZones) {
    for (const bool has_finalized : {true, false}) {
        run_for(10s);
        world.node("a").executor->script("mpi-", {.runtime = 10s, .exit_code = 3});
        std::map<std::string, std::string> files;  // of all ranks: those of the part count
        for (TaskIndex rank = 0; rank < 12; ++rank)
            files[rank_end_file(rank)] = rank_end_text({.rank = rank, .code = 3, .before_finalize = !has_finalized});
        world.node("b").executor->script("run-", {.runtime = 1s, .exit_code = 3, .files = files});
        ApplicationRequest request = world.request(12);
        request.profile = false;
        request.grace = 30s;
        ASSERT_TRUE(world.node("a").applications->submit(world.user(), request));
        world.run(6s);
        EXPECT_EQ(is_final(world.status(request.id).state), !has_finalized);
        world.run(30s);
        const ApplicationStatus status = world.status(request.id);
        EXPECT_EQ(status.state, ApplicationState::kFailed);
        EXPECT_NE(status.reason.find(" exited with code 3"), std::string::npos) << status.reason;
        EXPECT_EQ(status.exit_code, 3);
        for (const ApplicationPart& part : status.parts)
            EXPECT_EQ(part.status.state == PartState::kCompleted, has_finalized && part.zone != "b");
        expect_nothing_left();
    }
}

/// Two zones know of ranks that ended badly, and the launcher only of those that were killed for it.
TEST_F(ApplicationEndTest, TheRankThatEndedFirstIsWhatTheApplicationEndsWith) {
    // A proxy of MPICH may end with 0 after a rank that exited early; the launcher may then never end.
    for (const auto& [launcher_stays, proxy_code] : {std::pair{false, 9}, {true, 9}, {true, 0}}) {
        SCOPED_TRACE(proxy_code);
        run_for(21s);
        const auto ends = [](RankEndKind how, int code, std::int64_t first) {
            std::map<std::string, std::string> files;  // of all ranks: those of the part count
            for (TaskIndex rank = 0; rank < 12; ++rank)
                files[rank_end_file(rank)] = rank_end_text({.rank = rank,
                                                            .how = how,
                                                            .code = code,
                                                            .before_finalize = true,
                                                            .at = time_from_microseconds(first + rank)});
            files[".zbs-end.x"] = "1 exited 1\n";
            return files;
        };
        world.node("b").executor->script(
            "run-", {.runtime = 20s, .exit_code = proxy_code, .files = ends(RankEndKind::kExited, 7, 5'000)});
        world.node("c").executor->script(
            "run-", {.runtime = 20s, .exit_code = proxy_code, .files = ends(RankEndKind::kSignalled, 9, 6'000)});
        world.node("a").executor->script("mpi-", {.runtime = launcher_stays ? 60s : 20s, .exit_code = 9});
        ApplicationRequest request = world.request(12);
        request.profile = false;
        ASSERT_TRUE(world.node("a").applications->submit(world.user(), request));
        world.run(40s);
        const ApplicationStatus status = world.status(request.id);
        const auto part = std::ranges::find(status.parts, "b", &ApplicationPart::zone);
        ASSERT_NE(part, status.parts.end());
        EXPECT_EQ(status.state, ApplicationState::kFailed);
        EXPECT_EQ(status.exit_code, 7) << status.reason;
        EXPECT_EQ(status.reason, "rank " + std::to_string(part->ranks.front()) + " on b." +
                                     part->status.assignment.front().machine +
                                     " exited with code 7 before MPI_Finalize");
        if (is_final(part->status.state)) {
            EXPECT_EQ(part->status.state, PartState::kFailed) << "its proxy may have ended with 0";
            EXPECT_EQ(part->status.reason, status.reason) << "no operator is asked to help";
        }
        expect_nothing_left();
    }
}

TEST_F(ApplicationEndTest, AProgramThatNeverBeganIsNotSaidToHaveEnded) {
    for (const auto& [left, why] :
         {std::pair{"cannot enter folder /data/run: No such file or directory\n",
                    "cannot enter folder /data/run: No such file or directory"},
          {"cannot run /data/\x1bprog: Permission denied\nmore\n", "cannot run /data/?prog: Permission denied"}}) {
        std::map<std::string, std::string> files;
        for (TaskIndex rank = 0; rank < 12; ++rank)
            files[rank_end_file(rank)] = rank_end_text({.rank = rank, .code = 127}) + left;
        for (const int proxy_code : {255, 0}) {
            const Duration launcher = proxy_code == 0 ? 60s : 1s;
            run_for(20s);
            world.node("b").executor->script("run-", {.runtime = 1s, .exit_code = proxy_code, .files = files});
            world.node("a").executor->script("mpi-", {.runtime = launcher, .exit_code = 255});
            const ApplicationId id = submit(12);
            world.run(40s);
            EXPECT_EQ(world.status(id).state, ApplicationState::kFailed);
            EXPECT_EQ(world.status(id).reason, std::string("the program did not begin in zone b: ") + why);
            EXPECT_EQ(world.status(id).exit_code, 127);
            expect_nothing_left();
        }
    }
}

TEST_F(ApplicationEndTest, APartThatItsZoneNoLongerKnowsFailsTheApplicationAtOnce) {
    for (const ErrorCode code : {ErrorCode::kNotFound, ErrorCode::kUnavailable}) {
        run_for(60s);
        const ApplicationId id = submit(12);
        world.run(5s);
        ASSERT_EQ(world.status(id).state, ApplicationState::kRunning);
        world.bend = [code](const std::string& from, const std::string& what, Result<PartStatus>& answer) {
            if (from == "b" && (what == "status" || what == "release")) answer = Error{code, "no part of yours", {}};
        };
        world.run(15s);
        world.bend = nullptr;
        if (code == ErrorCode::kNotFound) {
            EXPECT_EQ(world.status(id).state, ApplicationState::kFailed);
            EXPECT_EQ(world.status(id).reason,
                      "zone b lost its part: it no longer knows the part; was the zone restored from a backup?");
        } else {
            EXPECT_EQ(world.status(id).state, ApplicationState::kRunning) << "a zone that is away comes back";
        }
        world.run(10min);
        expect_nothing_left();
    }
}

TEST_F(ApplicationEndTest, AMissingLibraryIsTheReasonOfTheEnd) {
    constexpr const char* kLine =
        "app: error while loading shared libraries: libx.so.1: cannot open shared object file: No such file or "
        "directory";
    std::map<std::string, std::string> ends;
    for (TaskIndex rank = 0; rank < 12; ++rank) ends[rank_end_file(rank)] = rank_end_text({.rank = rank, .code = 127});
    for (const std::string& program : {std::string("/bin/"), std::string("/bin/other-"), std::string()}) {
        std::map<std::string, std::string> errors;
        for (TaskIndex rank = 0; rank < 12; ++rank)
            errors[std::string(own_files::kErr) + std::to_string(rank)] = program + kLine + "\n";
        const bool is_printed = !program.empty();
        run_for(20s);
        world.node("b").executor->script("run-", {.runtime = 1s, .exit_code = 255, .files = ends});
        world.node("a").executor->script(
            "mpi-",
            {.runtime = 1s, .exit_code = 127, .files = is_printed ? errors : std::map<std::string, std::string>{}});
        const ApplicationId id = submit(12);
        world.run(40s);
        EXPECT_EQ(world.status(id).state, ApplicationState::kFailed);
        EXPECT_EQ(world.status(id).exit_code, 127);
        if (program == "/bin/")
            EXPECT_EQ(world.status(id).reason, "the program did not begin in zone b: " + program + kLine);
        else if (is_printed)
            EXPECT_THAT(world.status(id).reason,
                        testing::AllOf(testing::HasSubstr("exited with code 127"), testing::EndsWith(program + kLine)));
        else
            EXPECT_THAT(world.status(id).reason, testing::EndsWith("exited with code 127"));
        expect_nothing_left();
    }
}

TEST_F(ApplicationEndTest, WalltimeOfOneZoneIsToldAlsoWhereTheLauncherEndsWithZero) {
    run_for(21s);
    world.node("b").executor->script("", {.runtime = 20s, .exit_code = 143, .reason = "walltime of 20 s reached"});
    world.node("a").executor->script("mpi-", {.runtime = 20s});
    ApplicationRequest request = world.request(12);
    request.profile = false;
    request.walltime = 25s;
    ASSERT_TRUE(world.node("a").applications->submit(world.user(), request));
    world.run(40s);
    EXPECT_EQ(world.status(request.id).state, ApplicationState::kFailed);
    EXPECT_EQ(world.status(request.id).reason, "walltime of 25 s reached in zone b");
}

TEST_F(ApplicationEndTest, AProcessThatWasLeftBehindIsPartOfTheReason) {
    const std::string left = ": the program had ended, but process 12 (sleep) that it left behind had not";
    run_for(21s, 1);
    for (const char* zone : {"a", "b", "c"})
        world.node(zone).executor->script(
            "run-", {.runtime = 20s, .exit_code = 143, .reason = "walltime of 20 s reached" + left});
    ApplicationRequest request = world.request(12);
    request.profile = false;
    request.walltime = 25s;
    ASSERT_TRUE(world.node("a").applications->submit(world.user(), request));
    world.run(60s);
    EXPECT_EQ(world.status(request.id).state, ApplicationState::kFailed);
    EXPECT_THAT(world.status(request.id).reason, testing::StartsWith("walltime of 25 s reached in zone "));
    EXPECT_THAT(world.status(request.id).reason, testing::HasSubstr(left));
}

}  // namespace
}  // namespace zbs::test
