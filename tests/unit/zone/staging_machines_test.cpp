// Files of applications on machines with agents, and what goes when nobody needs it any more.
#include "tests/unit/zone/staging_world.hpp"

namespace zbs::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

TEST_F(StagingTest, WhatCannotBeRemovedKeepsNothingElse) {
    run_for(5s);
    for (const char* zone : {"a", "b", "c"}) leave(zone, {{"r", zone}});
    const StagedFile first = bring("one", "111"), second = bring("two", "222");
    std::vector<std::string> shelves;
    for (int i = 0; i < 2; ++i) {
        shelves.push_back(results_shelf(submit(request({.inputs = {first, second}, .results = {"r"}}))));
        world.run(1min);
    }
    FederationWorld::Node& node = world.node("a");
    ASSERT_EQ(node.depot.list(shelves[1])->size(), 3U);
    node.depot.unremovable = {std::min(first.digest, second.digest), shelves[0]};
    node.config.results_kept = 1h;
    SilentLog log;
    Retention retention{node.config, world.clock,    node.store,   node.store,
                        node.store,  *node.executor, &*node.files, log};
    ASSERT_TRUE(node.store.record_believed_time(world.clock.now()));
    retention.start();
    world.run(3h);
    EXPECT_EQ(node.depot.list(shelves[1])->size(), 0U);
    EXPECT_EQ(node.depot.list("user+org-a+ana")->size(), 1U);
    EXPECT_GE(log.count("results_not_removed"), 1U);
    EXPECT_EQ(node.depot.list(shelves[0])->size(), 3U);
    node.depot.unremovable.clear();
    Retention next{node.config, world.clock, node.store, node.store, node.store, *node.executor, &*node.files, log};
    next.start();
    EXPECT_EQ(node.depot.list(shelves[0])->size(), 0U) << "the next start finds what has no record";
}

TEST_F(StagingTest, AStartRemovesResultsWithoutARecordOnly) {
    run_for(5s);
    leave("b", {{"r", "b"}});
    const ApplicationId id = submit(request({.inputs = {bring("in", "input")}, .results = {"r"}}));
    world.run(1min);
    FederationWorld::Node& node = world.node("a");
    const std::string orphan = results_shelf(PartId{world.ids.fresh(home)}),
                      other = results_shelf(ApplicationId{world.ids.fresh(world.user())});
    for (const std::string& shelf : {orphan, other, std::string("unknown+x")}) node.depot.put(shelf, "r", "x");
    SilentLog log;
    Retention retention{node.config, world.clock,    node.store,   node.store,
                        node.store,  *node.executor, &*node.files, log};
    retention.start();
    EXPECT_EQ(node.depot.list(orphan)->size(), 1U) << "beside a new store: the old one may be put back";
    ASSERT_TRUE(node.store.record_believed_time(world.clock.now()));
    retention.start();
    EXPECT_EQ(node.depot.list(orphan)->size() + node.depot.list(other)->size(), 0U);
    EXPECT_EQ(node.depot.list("unknown+x")->size(), 1U);
    EXPECT_EQ(node.depot.list(results_shelf(id))->size(), 1U);
    EXPECT_EQ(node.depot.list("user+org-a+ana")->size(), 1U);
}

TEST_F(StagingTest, CopiesOfInputsGoOnceResultsAreLaidAsideAndGrowthIsBounded) {
    run_for(5s);
    const StagedFile file = bring("in.dat", "input");
    for (const bool with_results : {true, false}) {
        for (const char* zone : {"a", "b", "c"}) leave(zone, {{"r", zone}});
        const ApplicationId id = submit(request(
            {.inputs = {file}, .results = with_results ? std::vector<std::string>{"*"} : std::vector<std::string>{}}));
        world.run(3s);
        ASSERT_EQ(world.status(id).state, ApplicationState::kRunning) << world.status(id).reason;
        const StepSpec step = *first_step("b");
        EXPECT_EQ(step.folder_bytes, world.node("b").config.staging.job_bytes + file.size);
        EXPECT_TRUE(world.node("b").executor->read(step.step_id, "in.dat", 0, 1));
        world.run(1min);
        EXPECT_EQ(world.status(id).state, ApplicationState::kCompleted);
        EXPECT_FALSE(world.node("b").executor->read(step.step_id, "in.dat", 0, 1));
        EXPECT_TRUE(world.node("b").executor->read(step.step_id, "r", 0, 1));
        if (with_results) {
            EXPECT_THAT(result(id, "in.dat"), HasSubstr("copy of"));
        }
        ASSERT_TRUE(world.node("b").executor->remove(step.step_id, 100));
    }
}

/// Zone b has two machines with agents.
struct AgentStagingTest : StagingTest {
    AgentStagingTest() {
        FederationWorld::Node& b = world.node("b");
        world.crash("b");
        b.config.zone.machines = {{"m0", 2, 1.0}, {"m1", 2, 1.0}};
        b.config.agents = {"m0", "m1"};
        world.restart("b");
        world.run(2s);
    }
    /// The steps of zone b that ranks run in, by machine.
    std::map<std::string, StepSpec> steps() {
        std::map<std::string, StepSpec> found;
        const PartId part = world.status(last).parts[1].id;
        const std::vector<PartRecord> records = world.node("b").store.all_parts();
        for (const PartRecord& record : records) {
            if (record.request.id != part) continue;
            const std::vector<StepId> steps = step_ids(record.operation, record.proxies);
            for (std::size_t i = 0; i < steps.size(); ++i)
                found[record.machines.at(i)] = world.node("b").executor->steps().at(steps[i]).spec;
        }
        return found;
    }
    ApplicationId last;
};

TEST_F(AgentStagingTest, EachMachineHasTheFilesInAFolderOfItsOwnBeforeTheLaunch) {
    run_for(10s);
    const StagedFile file = bring("in.dat", "input");
    last = submit(request({.inputs = {file}, .results = {}}));
    world.run(4s);
    ASSERT_EQ(world.status(last).state, ApplicationState::kRunning) << world.status(last).reason;
    for (const char* machine : {"m0", "m1"}) {
        const StepSpec step = steps().at(machine);
        ASSERT_EQ(step.inputs.size(), 1U) << machine;
        EXPECT_EQ(step.inputs[0].digest, file.digest);
        EXPECT_EQ(step.inputs[0].size, 5U);
        EXPECT_THAT(step.environment,
                    testing::Contains(std::pair<std::string, std::string>("ZBS_STAGED", "/steps/" + step.step_id)));
        EXPECT_EQ(world.node("b").executor->brought[machine]["in.dat"].digest, file.digest);
    }
}

TEST_F(AgentStagingTest, NothingIsLaunchedWhileFilesAreOnTheirWayToAMachine) {
    run_for(10s);
    world.node("b").executor->bring_answer = false;
    last = submit(request({.inputs = {bring("in.dat", "input")}, .results = {}}));
    world.run(1min);
    EXPECT_LT(world.status(last).state, ApplicationState::kRunning);
    EXPECT_TRUE(world.node("b").executor->steps().empty());
    world.node("b").executor->bring_answer = true;
    world.run(3s);
    EXPECT_EQ(world.status(last).state, ApplicationState::kRunning) << world.status(last).reason;
    EXPECT_TRUE(world.node("b").executor->needed.empty()) << "a part that runs needs nothing more";
}

TEST_F(AgentStagingTest, WhatIsGivenBackNeedsItsFilesNoMore) {
    run_for(10s);
    world.node("b").executor->bring_answer = false;
    last = submit(request({.inputs = {bring("in.dat", "input")}, .results = {}}));
    world.run(10s);
    EXPECT_EQ(world.node("b").executor->needed, std::set<std::string>{to_string(world.status(last).parts[1].id)});
    ASSERT_TRUE(world.node("a").applications->cancel(world.user(), last));
    world.run(10s);
    EXPECT_TRUE(world.node("b").executor->needed.empty());
}

TEST_F(AgentStagingTest, AMachineThatTakesNoFilesIsPlannedAround) {
    run_for(10s);
    world.node("b").executor->bring_answer = Error{ErrorCode::kRejected, "file in.dat: the disk of m1 is full", {}};
    last = submit(request({.inputs = {bring("in.dat", "input")}, .results = {}}, 8));
    world.run(1min);
    EXPECT_EQ(world.status(last).state, ApplicationState::kCompleted) << world.status(last).reason;
    EXPECT_EQ(world.node("b").executor->steps().size(), 0U);
}

TEST_F(AgentStagingTest, ResultsOfAllMachinesComeHome) {
    run_for(5s);
    last = submit(request({.inputs = {}, .results = {"r.*"}}));
    world.run(3s);
    ASSERT_EQ(world.status(last).state, ApplicationState::kRunning) << world.status(last).reason;
    const std::map<std::string, StepSpec> of = steps();
    FakeExecutor& executor = *world.node("b").executor;
    for (const auto& [machine, step] : of) {
        executor.write(step.step_id, "r." + machine, "from " + machine);
        executor.write(step.step_id, "r.both", machine);
    }
    world.run(1min);
    EXPECT_EQ(result(last, "r.m0"), "from m0");
    EXPECT_EQ(result(last, "r.m1"), "from m1");
    EXPECT_THAT(result(last, "r.both"), testing::AnyOf("m0", "m1"));
    EXPECT_THAT(world.status(last).results->notes,
                testing::ElementsAre(HasSubstr("r.both: several machines of zone b have left one")));
    for (const auto& [machine, step] : of)
        EXPECT_TRUE(executor.list(step.step_id, "r.").empty()) << "what was fetched is laid aside once";
}

TEST_F(AgentStagingTest, OnlyNamesOfTheZoneItselfAreLeftOutAndNamed) {
    run_for(5s);
    last = submit(request({.inputs = {}, .results = {"*", ".*"}}));
    world.run(3s);
    const StepSpec step = steps().at("m0");
    for (const char* name : {"-rf", "a\\b", "out.7", "profile.json", ".hid", ".zbs-mine", ".zbs-out.0"})
        world.node("b").executor->write(step.step_id, name, "x");
    world.run(1min);
    EXPECT_EQ(result(last, "out.7"), "x");
    const auto status = world.status(last);
    ASSERT_TRUE(status.results);
    std::vector<std::string> names;
    for (const ResultFile& file : status.results->files) names.push_back(file.name);
    EXPECT_THAT(names, testing::UnorderedElementsAre("-rf", "a\\b", "out.7", "profile.json", ".hid"));
    EXPECT_THAT(status.results->notes, testing::ElementsAre(HasSubstr(".zbs-mine: is a name that the zone uses")));
}

TEST_F(AgentStagingTest, WhatCouldNotBeFetchedFromAMachineIsTold) {
    run_for(5s);
    last = submit(request({.inputs = {}, .results = {"r"}}));
    world.run(3s);
    const StepSpec step = steps().at("m0");
    world.node("b").executor->lost["r"] = "its agent sends less of it than it announced";
    world.node("b").executor->write(step.step_id, "r", "x");
    world.run(1min);
    EXPECT_EQ(world.status(last).state, ApplicationState::kCompleted);
    EXPECT_THAT(world.status(last).results->notes,
                testing::Contains(HasSubstr("r: its agent sends less of it than it announced")));
}

}  // namespace
}  // namespace zbs::test
