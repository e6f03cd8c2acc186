#include "services/zone_scheduler/adapters/slurm/slurm_back_end.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/zone_scheduler/adapters/slurm/users.hpp"
#include "tests/unit/slurm/fake_commands.hpp"

namespace zbs::slurm {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

// What a real Slurm does is tested by tests/integration/slurm; here are answers that it does not give on demand.

HoldSpec some_hold() { return {.operation = "op", .processors = 2, .walltime = 60s, .expiry = 10s}; }

/// `squeue` that answers with the n-th of these texts when it is asked for the n-th time, then with the last one.
std::string in_turn(const FakeCommands& fake, const std::vector<std::string>& answers) {
    std::string body = "n=$(grep -c ^squeue " + fake.path("calls") + ")\n";
    for (std::size_t i = 0; i < answers.size(); ++i)
        body += (i + 1 < answers.size() ? "[ $n -gt " + std::to_string(i + 1) + " ] || " : std::string{}) +
                "{ printf '" + answers[i] + "'; exit 0; }\n";
    return body;
}
std::string line(int job, const std::string& state, const std::string& reason = "None") {
    return std::to_string(job) + "|" + state + "|" + find_user({})->name + "|p|10|70|n1|zbs-op|(null)|" + reason +
           "|zbs:held\\n";
}

TEST(SlurmBackEnd, BadHoldIsRefusedWithItsPlaceBeforeAnythingIsRun) {
    const FakeCommands fake;
    const SlurmBackEnd back_end(fake.find(), {});
    const auto pointer = [&](auto change) {
        HoldSpec spec = some_hold();
        change(spec);
        const Result<Allocation> held = back_end.hold(spec);
        return held ? "accepted" : held.error().pointer;
    };
    EXPECT_EQ(pointer([](HoldSpec& s) { s.operation = "a;b"; }), "/operation");
    EXPECT_EQ(pointer([](HoldSpec& s) { s.operation = ""; }), "/operation");
    EXPECT_EQ(pointer([](HoldSpec& s) { s.partition = "--help"; }), "/partition");
    EXPECT_EQ(pointer([](HoldSpec& s) { s.account = "a b"; }), "/account");
    EXPECT_EQ(pointer([](HoldSpec& s) { s.user = "a,b"; }), "/user");
    EXPECT_EQ(pointer([](HoldSpec& s) { s.processors = 0; }), "/processors");
    EXPECT_EQ(pointer([](HoldSpec& s) { s.nodes = 3; }), "/nodes");
    EXPECT_EQ(pointer([](HoldSpec& s) { s.shares = {{"n1", 1}, {"n[2-3]", 1}}; }), "/shares");
    EXPECT_EQ(pointer([](HoldSpec& s) { s.shares = {{"n1", 0}}; }), "/shares");
    EXPECT_EQ(pointer([](HoldSpec& s) { s.shares = {{"n1", 60'000}}; }), "/shares");
    EXPECT_EQ(pointer([](HoldSpec& s) { s.walltime = 0s; }), "/walltime");
    EXPECT_EQ(pointer([](HoldSpec& s) { s.expiry = 61s; }), "/expiry");
    EXPECT_EQ(pointer([](HoldSpec& s) { s.start = Time{} - 1s; }), "/start");
    EXPECT_EQ(fake.calls(), "");
}

TEST(SlurmBackEnd, NodesOfAHoldAreNamedAsOftenAsTheyHaveProcessors) {
    FakeCommands fake({{"sbatch", "echo 5"}});
    fake.write("squeue", in_turn(fake, {"", line(5, "PENDING", "Resources")}));
    HoldSpec spec = some_hold();
    spec.shares = {{"n2", 1}, {"n1", 2}};
    ASSERT_TRUE(SlurmBackEnd(fake.find(), {}).hold(spec));
    EXPECT_THAT(fake.calls(), HasSubstr("--distribution=arbitrary --nodelist=n2,n1,n1"));
    EXPECT_THAT(fake.calls(), HasSubstr("--ntasks=3 "));
}

TEST(SlurmBackEnd, UserThatTheHostDoesNotHaveIsRejected) {
    const FakeCommands fake;
    HoldSpec spec = some_hold();
    spec.user = "no-such-user";
    const Result<Allocation> held = SlurmBackEnd(fake.find(), {}).hold(spec);
    EXPECT_EQ(held.error().code, ErrorCode::kRejected);
    EXPECT_EQ(fake.calls(), "");
}

TEST(SlurmBackEnd, KnownOperationIsNotSubmittedAgain) {
    FakeCommands fake;
    fake.write("squeue", "printf '" + line(4, "PENDING", "Resources") + "'");
    const Result<Allocation> held = SlurmBackEnd(fake.find(), {}).hold(some_hold());
    ASSERT_TRUE(held) << held.error();
    EXPECT_EQ(held->job, 4U);
    EXPECT_EQ(held->strength, Strength::kQueued);
    EXPECT_EQ(held->reason, "Resources");
    EXPECT_THAT(fake.calls(), Not(HasSubstr("sbatch")));
}

TEST(SlurmBackEnd, LostAnswerIsLookedForAndFound) {
    FakeCommands fake(
        {{"sbatch",
          "echo 'sbatch: error: Batch job submission failed: Socket timed out on send/recv operation' >&2; exit 1"}});
    fake.write("squeue", in_turn(fake, {"", line(9, "PENDING", "Priority")}));
    const Result<Allocation> held = SlurmBackEnd(fake.find(), {}).hold(some_hold());
    ASSERT_TRUE(held) << held.error();
    EXPECT_EQ(held->job, 9U);
}

TEST(SlurmBackEnd, LostAnswerWithoutAJobIsATimeoutNotARefusal) {
    const FakeCommands fake(
        {{"sbatch",
          "echo 'sbatch: error: Batch job submission failed: Socket timed out on send/recv operation' >&2; exit 1"}});
    const Result<Allocation> held = SlurmBackEnd(fake.find(), {}).hold(some_hold());
    EXPECT_EQ(held.error().code, ErrorCode::kTimeout);
}

TEST(SlurmBackEnd, JobThatNeverStartsIsTakenBack) {
    FakeCommands fake({{"sbatch", "echo 5"}});
    fake.write("squeue", in_turn(fake, {"", line(5, "PENDING", "PartitionTimeLimit")}));
    const Result<Allocation> held = SlurmBackEnd(fake.find(), {}).hold(some_hold());
    ASSERT_FALSE(held);
    EXPECT_EQ(held.error().code, ErrorCode::kRejected);
    EXPECT_THAT(held.error().message, HasSubstr("PartitionTimeLimit"));
    EXPECT_THAT(fake.calls(), HasSubstr("scancel --name=zbs-op"));
}

TEST(SlurmBackEnd, OperationWhoseJobIsOverIsAConflict) {
    FakeCommands fake;
    fake.write("squeue", "printf '" + line(4, "COMPLETED") + "'");
    const Result<Allocation> held = SlurmBackEnd(fake.find(), {}).hold(some_hold());
    EXPECT_EQ(held.error().code, ErrorCode::kConflict);
    EXPECT_THAT(held.error().message, HasSubstr("new operation"));
}

TEST(SlurmBackEnd, JobOfAnotherUserUnderTheSameNameIsNoneOfOurs) {
    FakeCommands fake;
    fake.write("squeue", "printf '4|RUNNING|mallory|p|10|70|n1|zbs-op|(null)|None|zbs:kept\\n'");
    const Result<std::optional<Allocation>> found = SlurmBackEnd(fake.find(), {}).find({"op", ""});
    ASSERT_TRUE(found) << found.error();
    EXPECT_FALSE(*found);
}

TEST(SlurmBackEnd, OfSeveralJobsTheFirstThatLivesCounts) {
    FakeCommands fake;
    fake.write("squeue", "printf '" + line(3, "CANCELLED") + line(7, "PENDING", "Dependency") +
                             line(5, "PENDING", "Resources") + "'");
    EXPECT_EQ((*SlurmBackEnd(fake.find(), {}).find({"op", ""}))->job, 5U);
    fake.write("squeue", "printf '" + line(3, "CANCELLED") + line(7, "TIMEOUT") + line(5, "CANCELLED") + "'");
    EXPECT_EQ((*SlurmBackEnd(fake.find(), {}).find({"op", ""}))->job, 7U);
}

TEST(SlurmBackEnd, SecondJobOfALostAnswerIsTakenBackByWhoHoldsOrKeeps) {
    FakeCommands fake;
    fake.write("squeue", "printf '" + line(5, "PENDING", "Resources") + line(7, "PENDING", "Dependency") + "'");
    const SlurmBackEnd back_end(fake.find(), {});
    ASSERT_TRUE(back_end.hold(some_hold()));
    EXPECT_THAT(fake.calls(), HasSubstr("scancel 7\n"));
    ASSERT_TRUE(back_end.keep({"op", ""}));
    EXPECT_THAT(fake.calls(), HasSubstr("scancel 7\nscontrol update JobId=5"));
}

TEST(SlurmBackEnd, OptionsOfTheSiteAreThoseOfEverySubmission) {
    FakeCommands fake({{"sbatch", "echo 5"}});
    fake.write("squeue", in_turn(fake, {"", line(5, "PENDING", "Resources")}));
    ASSERT_TRUE(SlurmBackEnd(fake.find(), {.submit_options = {"--qos=grid", "--mem-per-cpu=1G"}}).hold(some_hold()));
    EXPECT_THAT(fake.calls(), HasSubstr(" --qos=grid --mem-per-cpu=1G\n"));
}

TEST(SlurmBackEnd, HoldThatExpiredWhileItWasKeptIsAConflict) {
    FakeCommands fake;
    fake.write("squeue", in_turn(fake, {line(4, "RUNNING"), line(4, "COMPLETED")}));
    const Result<void> kept = SlurmBackEnd(fake.find(), {}).keep({"op", ""});
    EXPECT_EQ(kept.error().code, ErrorCode::kConflict);
    EXPECT_THAT(fake.calls(), HasSubstr("scontrol update JobId=4 Comment=zbs:kept"));
}

TEST(SlurmBackEnd, ManyHoldsAreAskedForInOneQuestion) {
    FakeCommands fake;
    std::vector<HoldKey> keys;
    for (int i = 0; i < 400; ++i) keys.push_back({"op" + std::to_string(i), ""});
    ASSERT_TRUE(SlurmBackEnd(fake.find(), {}).look(keys));
    const std::string calls = fake.calls();
    EXPECT_EQ(std::count(calls.begin(), calls.end(), '\n'), 1);
    EXPECT_THAT(calls, HasSubstr("--name=zbs-op0,zbs-op1,"));
    EXPECT_THAT(calls, HasSubstr(",zbs-op399 "));
}

TEST(SlurmBackEnd, WhereASlurmMayNotReserveTheStrengthSaysSo) {
    FakeCommands fake(
        {{"scontrol", "echo 'Error creating the reservation: Invalid user id' >&2; exit 1"}, {"sbatch", "echo 5"}});
    fake.write("squeue", in_turn(fake, {"", line(5, "PENDING", "BeginTime")}));
    HoldSpec spec = some_hold();
    spec.start = time_from_microseconds(1'900'000'000'500'000);
    const Result<Allocation> held = SlurmBackEnd(fake.find(), {}).hold(spec);
    ASSERT_TRUE(held) << held.error();
    EXPECT_EQ(held->strength, Strength::kQueued);
    EXPECT_THAT(fake.calls(), HasSubstr("StartTime=uts1900000001"));
    EXPECT_THAT(fake.calls(), HasSubstr("--begin=uts1900000001"));
}

TEST(SlurmBackEnd, NodesThatAreNotJsonAreReadAsText) {
    const FakeCommands fake(
        {{"sinfo",
          "case \"$1\" in --version) echo slurm 22.05.8 ;; --json) echo not json ;; *) echo 'n1|4|idle|0/4/0/4|none' "
          ";; esac"},
         {"scontrol",
          "case \"$*\" in *config*) printf 'ClusterName = a\\nMinJobAge = 300 sec\\nKillWait = 30 sec\\n' ;; "
          "*) echo 'PartitionName=p Default=YES MaxNodes=1 MaxTime=10 Nodes=n1 State=UP' ;; esac"}});
    const Result<Site> site = SlurmBackEnd(fake.find(), {}).read_site();
    ASSERT_TRUE(site) << site.error();
    ASSERT_EQ(site->nodes.size(), 1U);
    EXPECT_EQ(site->nodes[0], (Node{"n1", 4, ""}));
}

}  // namespace
}  // namespace zbs::slurm
