#include "services/zone_scheduler/peer/part_service.hpp"

#include <gtest/gtest.h>

#include "services/common/messages/steps/rank_end.hpp"
#include "services/zone_scheduler/trust/peering_request.hpp"
#include "tests/support/federation_world.hpp"

namespace zbs::test {
namespace {

ZoneConfig zone_b() {
    ZoneConfig config;
    config.zone = {"b", {{"m0", 2, 1.0}, {"m1", 2, 2.0}}};
    config.organisation = "org-b";
    config.contact = "operator";
    config.rules = {FederationWorld::accept_all({"org-a"})};
    return config;
}

class PartServiceTest : public testing::Test {
  protected:
    PartServiceTest() {
        node.adjust = [this](DomainPorts& ports) {
            ports.check_address = [this](const std::string& host) { return check_address(host); };
        };
        world.restart("b");
        const FakeKeys keys(home, "BUNDLE org-a");
        const Caller self{CallerKind::kZone, "org-b", "b"};
        EXPECT_TRUE(node.peerings->request(
            {}, *make_peering_request({"a", "org-a", "https://a"}, self, clock.now(), keys, node.trust)));
    }
    /// Like kill -9 and a new start on the same store and the same live steps.
    void restart() {
        world.crash("b");
        world.restart("b");
    }
    PartRequest request(int ranks) {
        PartRequest r{.id = PartId{ids.fresh(home)},
                      .application = ApplicationId{ids.fresh(home)},
                      .user = {CallerKind::kUser, "org-a", "ana"},
                      .home = "a"};
        for (int i = 0; i < ranks; ++i) r.ranks.push_back(i);
        r.graph = *TaskGraph::make(std::vector<double>(static_cast<std::size_t>(ranks), 1.0), {});
        r.walltime = std::chrono::minutes{5};
        return r;
    }
    LaunchRequest launch(const PartStatus& held) {
        return {.token = held.token,
                .operation = launch_operation(held.id),
                .options = {{"control-port", "127.0.0.1:9"}},
                .proxies = {{0, held.assignment[0].machine}}};
    }

    const Caller home{CallerKind::kZone, "org-a", "a"};
    std::function<Result<void>(const std::string&)> check_address = [](const std::string&) { return Result<void>{}; };
    FederationWorld world{{}};
    FederationWorld::Node& node = world.add(zone_b());
    ZoneConfig& config = node.config;
    VirtualClock& clock = world.clock;
    CountingIds& ids = world.ids;
    MemoryZoneStore& store = node.store;
    FakeExecutor& executor = *node.executor;
    PartService* const& parts = node.parts;  // another one after a restart
};

TEST_F(PartServiceTest, CapacityIsOneAggregate) {
    const auto c =
        parts->capacity(home, {.user = {CallerKind::kUser, "org-a", "ana"}, .processors = 4, .zones = {"a", "b"}});
    ASSERT_TRUE(c) << c.error();
    EXPECT_EQ(c->processors, 4);
    EXPECT_EQ(c->speed_sum, 6);
    EXPECT_EQ(c->speed_mean, 1.5);
    EXPECT_EQ(c->speed_variance, 0.25);
    EXPECT_EQ(c->largest_machine, 2);
    EXPECT_EQ(c->links.size(), 1U);  // to a, not to itself
}

TEST_F(PartServiceTest, RanksShareProcessorsWhereTheZoneAllowsIt) {
    PartRequest shared = request(8);
    shared.overcommit = 2;
    const auto refused = parts->hold(home, shared);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kRejected);
    EXPECT_EQ(refused.error().pointer, "/overcommit");
    EXPECT_EQ(refused.error().message,
              "zone b puts at most 1 of the ranks on a processor, not 2; plan with so many, or ask its operator to "
              "raise 'max_overcommit'");
    config.max_overcommit = 2;
    const CapacityRequest question{.user = {CallerKind::kUser, "org-a", "ana"}, .processors = 8};
    EXPECT_EQ(parts->capacity(home, question)->max_overcommit, 2);
    shared.ranks.resize(6);
    shared.graph = *TaskGraph::make(std::vector<double>(6, 1.0), {});
    const auto held = parts->hold(home, shared);
    ASSERT_TRUE(held) << held.error();
    EXPECT_EQ(held->assignment.size(), 6U);
    EXPECT_EQ(processors_in(held->assignment).size(), 3U);
    EXPECT_EQ(parts->capacity(home, question)->processors, 1) << "processors count, not ranks";
    restart();
    EXPECT_EQ(parts->capacity(home, question)->processors, 1);
}

TEST_F(PartServiceTest, WhatIsFreeNowAndReservedForLaterIsNotOfferedForLater) {
    PartRequest later = request(4);
    later.start_in = std::chrono::hours{1};
    const auto reserved = parts->hold(home, later);
    ASSERT_TRUE(reserved) << reserved.error();
    const auto c = parts->capacity(home, {.user = {CallerKind::kUser, "org-a", "ana"},
                                          .processors = 5,  // more than there are: it looks at later starts, too
                                          .walltime = std::chrono::minutes{5},
                                          .zones = {"a", "b"}});
    ASSERT_TRUE(c) << c.error();
    EXPECT_EQ(c->processors, 4);
    ASSERT_GE(c->windows.size(), 2U);
    EXPECT_EQ(c->windows[0].processors, 0) << "too late to end before the reservation";
    EXPECT_LT(c->windows[0].after, std::chrono::hours{1});
    EXPECT_EQ(c->windows[1].processors, 4);
    EXPECT_GT(c->windows[1].after, std::chrono::hours{1});
}

TEST_F(PartServiceTest, OnlyAcceptedZonesForTheirOwnUsers) {
    const CapacityRequest mine{.user = {CallerKind::kUser, "org-a", "ana"}};
    EXPECT_EQ(parts->capacity({CallerKind::kZone, "org-x", "x"}, mine).error().code, ErrorCode::kDenied);
    EXPECT_EQ(parts->capacity({CallerKind::kUser, "org-a", "ana"}, mine).error().code, ErrorCode::kUnauthenticated);
    EXPECT_EQ(parts->capacity(home, {.user = {CallerKind::kUser, "org-c", "eve"}}).error().code, ErrorCode::kDenied);
    EXPECT_TRUE(parts->capacity({CallerKind::kZone, "org-b", "b2"}, {.user = {CallerKind::kUser, "org-b", "bo"}}));
}

TEST_F(PartServiceTest, TheIdOfAnotherHomeIsAnsweredAsOneThatNobodyUses) {
    const PartRequest used = request(1);
    ASSERT_TRUE(parts->hold(home, used));
    const Caller own{CallerKind::kZone, "org-b", "b2"};
    const auto asked_by_another = [&](PartRequest wanted) {
        wanted.user = {CallerKind::kUser, "org-b", "bo"};
        wanted.home = "b2";
        return parts->hold(own, wanted).error();
    };
    const Error answer = asked_by_another(used);
    EXPECT_EQ(answer.code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(answer.pointer, "/id");
    EXPECT_EQ(answer, asked_by_another(request(1)));
    EXPECT_EQ(parts->table().free_processors(), 3);
}

TEST_F(PartServiceTest, HoldIsIdempotentAndNeverPromisesTwice) {
    const PartRequest first = request(3);
    const auto held = parts->hold(home, first);
    ASSERT_TRUE(held) << held.error();
    EXPECT_EQ(parts->hold(home, first)->token, held->token);
    EXPECT_EQ(parts->table().free_processors(), 1);
    PartRequest other = first;
    other.seed = 99;
    EXPECT_EQ(parts->hold(home, other).error().code, ErrorCode::kIdReused);
    EXPECT_EQ(parts->hold(home, request(2)).error().code, ErrorCode::kRejected);
    const auto last = parts->hold(home, request(1));
    ASSERT_TRUE(last);
    EXPECT_GT(last->token, held->token);
    EXPECT_EQ(parts->table().free_processors(), 0);
}

TEST_F(PartServiceTest, HoldNamesTheGraceIfItIsLessThanAskedFor) {
    config.max_grace = std::chrono::minutes{1};
    PartRequest given = request(1), cut = request(1);
    given.grace = config.max_grace;
    cut.grace = std::chrono::minutes{10};
    EXPECT_FALSE(parts->hold(home, given)->grace);
    EXPECT_EQ(parts->hold(home, cut)->grace, config.max_grace);
    EXPECT_EQ(parts->status(home, cut.id)->grace, config.max_grace);
}

TEST_F(PartServiceTest, UncommittedHoldExpiresAndItsTokenIsWorthless) {
    const auto held = parts->hold(home, request(4));
    clock.advance(config.hold_ttl - std::chrono::seconds{1});
    EXPECT_EQ(parts->table().free_processors(), 0);
    clock.advance(std::chrono::seconds{2});
    EXPECT_EQ(parts->table().free_processors(), 4);
    EXPECT_EQ(parts->status(home, held->id)->state, PartState::kExpired);
    EXPECT_EQ(parts->commit(home, held->id, held->token).error().code, ErrorCode::kConflict);
    EXPECT_EQ(parts->launch(home, held->id, launch(*held)).error().code, ErrorCode::kConflict);
}

TEST_F(PartServiceTest, TokenWhoseTimeIsOverIsWorthlessBeforeTheWatchHasLooked) {
    config.poll_every = std::chrono::hours{1};  // as after a stop of the whole zone
    const auto held = parts->hold(home, request(1)), committed = parts->hold(home, request(2));
    ASSERT_TRUE(parts->commit(home, committed->id, committed->token));
    clock.advance(std::max(config.hold_ttl, config.launch_window));
    ASSERT_EQ(parts->status(home, held->id)->state, PartState::kHeld);
    EXPECT_EQ(parts->commit(home, held->id, held->token).error().code, ErrorCode::kConflict);
    EXPECT_EQ(parts->launch(home, committed->id, launch(*committed)).error().code, ErrorCode::kConflict);
    EXPECT_EQ(parts->status(home, held->id)->state, PartState::kExpired);
    EXPECT_EQ(parts->status(home, committed->id)->state, PartState::kReleased);
    EXPECT_EQ(parts->table().free_processors(), 4);
}

TEST_F(PartServiceTest, TimeWhileDownCountsAgainstNobody) {
    const auto held = parts->hold(home, request(4));
    clock.advance(config.hold_ttl - std::chrono::seconds{1});
    restart();
    clock.advance(config.hold_ttl - std::chrono::seconds{1});
    EXPECT_EQ(parts->status(home, held->id)->state, PartState::kHeld);
    EXPECT_EQ(parts->table().free_processors(), 0);
    clock.advance(std::chrono::seconds{2});
    EXPECT_EQ(parts->table().free_processors(), 4);
}

TEST_F(PartServiceTest, StaleTokenAndForeignCallerDoNothing) {
    const auto held = parts->hold(home, request(2));
    EXPECT_EQ(parts->commit(home, held->id, held->token + 1).error().code, ErrorCode::kConflict);
    const Caller stranger{CallerKind::kZone, "org-b", "b2"};
    EXPECT_EQ(parts->commit(stranger, held->id, held->token).error().code, ErrorCode::kNotFound);
    EXPECT_EQ(parts->release(stranger, held->id, "").error().code, ErrorCode::kNotFound);
    EXPECT_EQ(parts->status(home, held->id)->state, PartState::kHeld);
}

TEST_F(PartServiceTest, LaunchWithAStaleTokenStartsNothing) {
    const auto held = parts->hold(home, request(2));
    ASSERT_TRUE(held) << held.error();
    ASSERT_TRUE(parts->commit(home, held->id, held->token));
    for (const std::uint64_t token : {held->token - 1, held->token + 1, std::uint64_t{0}}) {
        LaunchRequest stale = launch(*held);
        stale.token = token;
        const auto refused = parts->launch(home, held->id, stale);
        ASSERT_FALSE(refused) << token;
        EXPECT_EQ(refused.error().code, ErrorCode::kConflict);
        EXPECT_EQ(refused.error().pointer, "/token");
    }
    EXPECT_EQ(executor.running(), 0);
    EXPECT_EQ(parts->status(home, held->id)->state, PartState::kCommitted);
    const auto reasons = node.peerings->views("org-a").at(0).trust.reasons;
    EXPECT_TRUE(std::ranges::any_of(reasons, [](const auto& r) { return r.event == TrustEvent::kFailedCheck; }));
    EXPECT_TRUE(parts->launch(home, held->id, launch(*held)));
    EXPECT_EQ(executor.running(), 1);
}

TEST_F(PartServiceTest, CommittedPartThatNobodyLaunchesIsGivenBack) {
    const auto held = parts->hold(home, request(2));
    ASSERT_TRUE(parts->commit(home, held->id, held->token));
    clock.advance(config.hold_ttl - std::chrono::seconds{1});
    EXPECT_EQ(parts->status(home, held->id)->state, PartState::kCommitted);
    clock.advance(config.launch_window);
    EXPECT_EQ(parts->status(home, held->id)->state, PartState::kReleased);
    EXPECT_EQ(parts->launch(home, held->id, launch(*held)).error().code, ErrorCode::kConflict);
}

TEST_F(PartServiceTest, RunningPartIsFoundAgainAfterACrash) {
    const auto held = parts->hold(home, request(2));
    ASSERT_TRUE(parts->commit(home, held->id, held->token));
    ASSERT_TRUE(parts->launch(home, held->id, launch(*held)));
    EXPECT_EQ(executor.running(), 1);
    restart();
    ASSERT_TRUE(parts->launch(home, held->id, launch(*held)));  // asked again: nothing starts twice
    EXPECT_EQ(executor.steps().size(), 1U);
    clock.advance(std::chrono::minutes{2});  // home is silent: that kills nothing
    EXPECT_EQ(parts->status(home, held->id)->state, PartState::kRunning);
    executor.end(launch_operation(held->id) + "-p0", 0);
    clock.advance(std::chrono::seconds{1});
    EXPECT_EQ(parts->status(home, held->id)->state, PartState::kCompleted);
    EXPECT_EQ(parts->table().free_processors(), 4);
}

TEST_F(PartServiceTest, CrashBetweenIntentAndStartLeavesNothingStuck) {
    const auto held = parts->hold(home, request(2));
    ASSERT_TRUE(parts->commit(home, held->id, held->token));
    PartRecord record = store.all_parts().at(0);  // the intent was stored, the step never started
    record.status.state = PartState::kRunning;
    record.operation = "run-1";
    record.proxies = {0};
    ASSERT_TRUE(store.save(record));
    restart();
    clock.advance(std::chrono::seconds{1});
    EXPECT_TRUE(is_final(parts->status(home, held->id)->state));
    EXPECT_EQ(parts->table().free_processors(), 4);
}

TEST_F(PartServiceTest, ReleaseOfARunningPartFreesNothingBeforeTheProcessesAreGone) {
    executor.script("run-", {.stop_takes = std::chrono::seconds{1}});
    PartRequest asked = request(2);
    asked.grace = std::chrono::seconds{30};
    const auto held = parts->hold(home, asked);
    ASSERT_TRUE(parts->commit(home, held->id, held->token));
    ASSERT_TRUE(parts->launch(home, held->id, launch(*held)));
    EXPECT_EQ(parts->release(home, held->id, "")->state, PartState::kRunning);
    EXPECT_EQ(parts->table().free_processors(), 2);
    clock.advance(std::chrono::seconds{2});
    EXPECT_EQ(parts->status(home, held->id)->state, PartState::kReleased);
    EXPECT_EQ(parts->table().free_processors(), 4);
}

TEST_F(PartServiceTest, FailedStartStopsTheRestAndTellsTheCauseInside) {
    const auto held = parts->hold(home, request(2));
    executor.script(launch_operation(held->id) + "-p1", {.refusal = "no such program"});
    ASSERT_TRUE(parts->commit(home, held->id, held->token));
    LaunchRequest both = launch(*held);
    both.proxies.push_back({1, held->assignment[0].machine});
    const auto answer = parts->launch(home, held->id, both);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->state, PartState::kFailed);
    EXPECT_EQ(answer->reason.find("no such program"), std::string::npos);
    EXPECT_FALSE(answer->reason.empty());
    EXPECT_NE(store.all_parts().at(0).status.reason.find("no such program"), std::string::npos);
    clock.advance(std::chrono::seconds{3});
    EXPECT_EQ(executor.running(), 0);
    EXPECT_EQ(parts->table().free_processors(), 4);
}

TEST_F(PartServiceTest, LaunchRefusesMachinesAndOptionsThatAreNotItsOwn) {
    const auto held = parts->hold(home, request(1));
    ASSERT_TRUE(parts->commit(home, held->id, held->token));
    LaunchRequest odd = launch(*held);
    odd.proxies[0].machine = "m9";
    EXPECT_EQ(parts->launch(home, held->id, odd).error().code, ErrorCode::kInvalidArgument);
    odd = launch(*held);
    odd.options.emplace_back("launcher-exec", "/bin/sh");
    EXPECT_EQ(parts->launch(home, held->id, odd).error().code, ErrorCode::kInvalidArgument);
    EXPECT_TRUE(executor.steps().empty());
    EXPECT_EQ(parts->status(home, held->id)->state, PartState::kCommitted);
}

TEST_F(PartServiceTest, LimitsOfTheSitesSchedulerBoundEveryPart) {
    config.max_machines = 1;
    config.max_walltime = std::chrono::minutes{10};
    CapacityRequest question{.user = request(1).user, .processors = 3, .walltime = std::chrono::minutes{5}};
    EXPECT_EQ(parts->capacity(home, question)->processors, 2);
    EXPECT_EQ(parts->capacity(home, question)->total_processors, 2);
    EXPECT_FALSE(parts->hold(home, request(3)));
    const auto held = parts->hold(home, request(2));
    ASSERT_TRUE(held) << held.error();
    EXPECT_EQ(held->assignment[0].machine, held->assignment[1].machine);
    EXPECT_EQ(parts->capacity(home, question)->processors, 2) << "the other machine";
    question.walltime = std::chrono::minutes{11};
    EXPECT_EQ(parts->capacity(home, question)->processors, 0);
    PartRequest longer = request(1);
    longer.walltime = std::chrono::minutes{11};
    EXPECT_FALSE(parts->hold(home, longer));
}

TEST_F(PartServiceTest, LaunchersOfOneZoneAreForItsOwnHomeOnly) {
    const auto held = parts->hold(home, request(1));
    ASSERT_TRUE(parts->commit(home, held->id, held->token));
    LaunchRequest daemon = launch(*held);
    daemon.launcher = Launcher::kOpenMpi;
    daemon.options = {{"orte_hnp_uri", "7.0;tcp://127.0.0.1:9"}};
    EXPECT_EQ(parts->launch(home, held->id, daemon).error().code, ErrorCode::kDenied);
    LaunchRequest program = launch(*held);
    program.launcher = Launcher::kSrunPmi2;
    EXPECT_EQ(parts->launch(home, held->id, program).error().pointer, "/program") << "no program";
    program.program = {{"/bin/id"}, "/", {}};
    EXPECT_EQ(parts->launch(home, held->id, program).error().code, ErrorCode::kDenied);
    program.launcher = Launcher::kMpich;
    EXPECT_EQ(parts->launch(home, held->id, program).error().pointer, "/program") << "proxies name no program";
    EXPECT_TRUE(executor.steps().empty());
}

TEST_F(PartServiceTest, DaemonsOfOpenMpiOnOneHostShareNoMemory) {
    const Caller own{CallerKind::kZone, "org-b", "b"};
    PartRequest wanted = request(4);
    wanted.id = PartId{ids.fresh(own)};
    wanted.user = {CallerKind::kUser, "org-b", "bo"};
    wanted.home = "b";
    const auto held = parts->hold(own, wanted);
    ASSERT_TRUE(held) << held.error();
    ASSERT_TRUE(parts->commit(own, held->id, held->token));
    LaunchRequest daemons = launch(*held);
    daemons.launcher = Launcher::kOpenMpi;
    daemons.options = {{"orte_hnp_uri", "7.0;tcp://127.0.0.1:9"}};
    daemons.proxies = {{0, "m0"}, {1, "m1"}};
    const auto launched = parts->launch(own, held->id, daemons);
    ASSERT_TRUE(launched) << launched.error();
    std::set<std::string> folders;
    for (const auto& [operation, step] : executor.steps()) {
        EXPECT_EQ(step.spec.argv[0], config.orted);
        for (const auto& [name, value] : step.spec.environment)
            if (name == "OMPI_MCA_btl_vader_backing_directory") folders.insert(value);
    }
    EXPECT_EQ(folders.size(), 2U);
}

TEST_F(PartServiceTest, AnotherOrganisationSendsProxiesOnlyWhereTheyMayConnect) {
    check_address = [](const std::string& host) -> Result<void> {
        if (host == "203.0.113.7") return {};
        return Error{ErrorCode::kDenied, "loopback", {}};
    };
    const auto held = parts->hold(home, request(1));
    ASSERT_TRUE(parts->commit(home, held->id, held->token));
    LaunchRequest wanted = launch(*held);
    for (const char* port : {"127.0.0.1:9", "here:1"}) {
        wanted.options = {{"control-port", port}};
        EXPECT_EQ(parts->launch(home, held->id, wanted).error().code, ErrorCode::kDenied) << port;
    }
    for (const char* none : {"203.0.113.7", "203.0.113.7:0", "203.0.113.7:99999", ":7", "203.0.113.7:7x"}) {
        wanted.options = {{"control-port", none}};
        EXPECT_EQ(parts->launch(home, held->id, wanted).error().pointer, "/options") << none;
    }
    EXPECT_TRUE(executor.steps().empty());
    wanted.options = {{"control-port", "203.0.113.7:7"}};
    EXPECT_TRUE(parts->launch(home, held->id, wanted));
}

TEST_F(PartServiceTest, WorkOfABlockedUserOrHomeIsStoppedAndRefused) {
    for (const Caller& subject : {request(1).user, home}) {
        const auto waiting = parts->hold(home, request(1));
        const auto committed = parts->hold(home, request(1));
        const auto running = parts->hold(home, request(2));
        for (const auto& part : {committed, running}) ASSERT_TRUE(parts->commit(home, part->id, part->token));
        LaunchRequest start_it = launch(*running);
        start_it.operation = "run-" + to_string(running->id);
        ASSERT_TRUE(parts->launch(home, running->id, start_it));
        world.block("b", subject);
        EXPECT_EQ(parts->commit(home, waiting->id, waiting->token).error().code, ErrorCode::kDenied);
        EXPECT_EQ(parts->launch(home, committed->id, launch(*committed)).error().code, ErrorCode::kDenied);
        clock.advance(std::chrono::seconds{5});
        for (const auto& part : {waiting, committed, running})
            EXPECT_EQ(parts->status(home, part->id)->state, PartState::kReleased);
        EXPECT_EQ(executor.running(), 0);
        EXPECT_EQ(parts->table().free_processors(), 4);
        ASSERT_TRUE(node.domain->membership.unblock(to_uri(subject)));
    }
}

TEST_F(PartServiceTest, NobodyLaunchesUnderTheNameOfAnotherPart) {
    const auto victim = parts->hold(home, request(1)), own = parts->hold(home, request(1));
    for (const auto& part : {victim, own}) ASSERT_TRUE(parts->commit(home, part->id, part->token));
    ASSERT_TRUE(parts->launch(home, victim->id, launch(*victim)));
    LaunchRequest wanted = launch(*own);
    wanted.operation = launch_operation(victim->id);
    EXPECT_EQ(parts->launch(home, own->id, wanted).error().pointer, "/operation");
    ASSERT_TRUE(parts->release(home, own->id, ""));
    EXPECT_EQ(executor.running(), 1);
    EXPECT_EQ(parts->status(home, victim->id)->state, PartState::kRunning);
}

TEST_F(PartServiceTest, NoMoreProxiesThanRanksAndEachOnce) {
    const auto held = parts->hold(home, request(2));
    ASSERT_TRUE(parts->commit(home, held->id, held->token));
    LaunchRequest many = launch(*held);
    many.proxies = {{0, "m0"}, {1, "m0"}, {2, "m0"}};
    EXPECT_EQ(parts->launch(home, held->id, many).error().pointer, "/proxies");
    many.proxies = {{4, held->assignment[0].machine}, {4, held->assignment[0].machine}};
    EXPECT_EQ(parts->launch(home, held->id, many).error().pointer, "/proxies");
    EXPECT_TRUE(executor.steps().empty());
}

TEST_F(PartServiceTest, AFolderOverItsBoundIsTheReason) {
    const auto held = parts->hold(home, request(2));
    ASSERT_TRUE(held) << held.error();
    const std::string why = std::string(kFolderReason) + ": more than 1024 MiB";
    executor.script(launch_operation(held->id) + "-p0",
                    {.runtime = std::chrono::seconds{1}, .exit_code = 143, .reason = why});
    ASSERT_TRUE(parts->commit(home, held->id, held->token));
    ASSERT_TRUE(parts->launch(home, held->id, launch(*held)));
    clock.advance(std::chrono::minutes{1});
    EXPECT_EQ(parts->status(home, held->id)->reason, std::string(kFolderReason) + " in zone b");
    EXPECT_EQ(store.all_parts().at(0).status.reason, why + " in zone b") << "how much is not reported outside";
}

TEST_F(PartServiceTest, ALostMachineIsTheReasonThoughAnotherRankEndsFirst) {
    const auto held = parts->hold(home, request(2));
    ASSERT_TRUE(held) << held.error();
    LaunchRequest both = launch(*held);
    both.proxies.push_back({1, held->assignment[0].machine});
    const std::string operation = launch_operation(held->id);
    executor.script(operation + "-p0", {.runtime = std::chrono::seconds{1}, .exit_code = 9, .reason = "reset"});
    executor.script(operation + "-p1", {.runtime = std::chrono::seconds{30},
                                        .exit_code = 137,
                                        .reason = "lost machine: m1 is silent",
                                        .hears_no_stop = true});
    ASSERT_TRUE(parts->commit(home, held->id, held->token));
    const auto launched = parts->launch(home, held->id, both);
    ASSERT_TRUE(launched) << launched.error();
    clock.advance(std::chrono::minutes{1});
    const auto status = parts->status(home, held->id);
    EXPECT_EQ(status->state, PartState::kFailed);
    EXPECT_EQ(status->reason, "lost machine in zone b") << "which one is not reported outside";
    EXPECT_EQ(store.all_parts().at(0).status.reason, "lost machine: m1 is silent in zone b");
}

TEST_F(PartServiceTest, ARankThatLeavesEarlyEndsThoseOfOtherProxies) {
    const auto held = parts->hold(home, request(2));
    ASSERT_TRUE(held) << held.error();
    LaunchRequest both = launch(*held);
    both.proxies.push_back({1, held->assignment[0].machine});
    const RankEnd end{.rank = held->assignment[0].rank, .code = 7, .before_finalize = true};
    const std::string operation = launch_operation(held->id);
    executor.script(operation + "-p0",
                    {.runtime = std::chrono::seconds{1}, .files = {{rank_end_file(end.rank), rank_end_text(end)}}});
    ASSERT_TRUE(parts->commit(home, held->id, held->token));
    ASSERT_TRUE(parts->launch(home, held->id, both));
    clock.advance(std::chrono::seconds{10});
    const auto status = parts->status(home, held->id);
    EXPECT_EQ(status->state, PartState::kFailed) << "the other proxy waits for that rank";
    ASSERT_TRUE(status->first_end);
    EXPECT_EQ(*status->first_end, end);
    EXPECT_NE(status->reason.find("exited with code 7 before MPI_Finalize"), std::string::npos) << status->reason;
    EXPECT_EQ(executor.running(), 0);
}

TEST_F(PartServiceTest, ABadEndAfterFinalizeLeavesTimeToOtherProxies) {
    for (const int seconds : {5, 600}) {
        PartRequest asked = request(2);
        asked.grace = std::chrono::seconds{20};
        const auto held = parts->hold(home, asked);
        ASSERT_TRUE(held) << held.error();
        LaunchRequest both = launch(*held);
        both.proxies.push_back({1, held->assignment[0].machine});
        const RankEnd end{.rank = held->assignment[0].rank, .code = 3, .at = clock.now() + std::chrono::seconds{1}};
        const std::string operation = launch_operation(held->id);
        executor.script(operation + "-p0", {.runtime = std::chrono::seconds{1},
                                            .exit_code = 3,
                                            .files = {{rank_end_file(end.rank), rank_end_text(end)}}});
        executor.script(operation + "-p1", {.runtime = std::chrono::seconds{seconds}});
        ASSERT_TRUE(parts->commit(home, held->id, held->token));
        ASSERT_TRUE(parts->launch(home, held->id, both));
        clock.advance(std::chrono::seconds{4});
        EXPECT_EQ(parts->status(home, held->id)->state, PartState::kRunning);
        EXPECT_EQ(executor.running(), 1);
        clock.advance(std::chrono::seconds{20});
        const auto status = parts->status(home, held->id);
        EXPECT_EQ(status->state, PartState::kFailed) << "its grace is over";
        EXPECT_EQ(status->first_end, end);
        EXPECT_EQ(executor.running(), 0);
    }
}

TEST_F(PartServiceTest, AKilledProxyCountsMoreThanThoseThatEndBecauseOfIt) {
    const auto held = parts->hold(home, request(2));
    ASSERT_TRUE(held) << held.error();
    LaunchRequest both = launch(*held);
    both.proxies.push_back({1, held->assignment[0].machine});
    const std::string operation = launch_operation(held->id);
    executor.script(operation + "-p0", {.runtime = std::chrono::seconds{1}, .exit_code = 7});
    executor.script(operation + "-p1", {.runtime = std::chrono::seconds{1}, .exit_code = 137});
    ASSERT_TRUE(parts->commit(home, held->id, held->token));
    ASSERT_TRUE(parts->launch(home, held->id, both));
    clock.advance(std::chrono::minutes{1});
    EXPECT_EQ(parts->status(home, held->id)->exit_code, 137) << "home names the zone of a proxy that a signal ended";
}

TEST_F(PartServiceTest, ASigtermThatNobodyAskedForIsNoGoodEnd) {
    for (const bool is_of_supervisor : {false, true}) {
        const auto held = parts->hold(home, request(2));
        ASSERT_TRUE(held) << held.error();
        const RankEnd end{
            .rank = held->assignment[0].rank, .how = RankEndKind::kSignalled, .code = 15, .in_stop = true};
        FakeExecutor::Script script{.runtime = std::chrono::seconds{1}};
        if (is_of_supervisor)
            script.reason = "stopped";
        else
            script.files = {{rank_end_file(end.rank), rank_end_text(end)}};
        executor.script(launch_operation(held->id) + "-p0", script);
        ASSERT_TRUE(parts->commit(home, held->id, held->token));
        ASSERT_TRUE(parts->launch(home, held->id, launch(*held)));
        clock.advance(std::chrono::minutes{1});
        const auto status = parts->status(home, held->id);
        EXPECT_EQ(status->state, PartState::kFailed);
        EXPECT_EQ(status->reason, "ended by somebody else (SIGTERM) in zone b");
        EXPECT_EQ(status->exit_code, 143);
        EXPECT_FALSE(status->first_end.has_value());
    }
}

TEST_F(PartServiceTest, ARankThatEndedBadlyBeforeTheWalltimeIsNamedAfterIt) {
    for (const bool in_stop : {false, true}) {
        const auto held = parts->hold(home, request(2));
        ASSERT_TRUE(held) << held.error();
        RankEnd end{.rank = held->assignment[0].rank, .code = 7, .before_finalize = true};
        end.in_stop = in_stop;
        executor.script(launch_operation(held->id) + "-p0",
                        {.runtime = std::chrono::seconds{9},
                         .exit_code = 143,
                         .reason = "walltime of 9 s reached",
                         .files = {{rank_end_file(end.rank), rank_end_text(end)},
                                   {rank_end_file(end.rank + 1), rank_end_text({.how = RankEndKind::kAborted})}}});
        ASSERT_TRUE(parts->commit(home, held->id, held->token));
        ASSERT_TRUE(parts->launch(home, held->id, launch(*held)));
        clock.advance(std::chrono::minutes{1});
        const auto status = parts->status(home, held->id);
        const std::string rank = "rank " + std::to_string(end.rank), how = " exited with code 7 before MPI_Finalize";
        EXPECT_EQ(status->reason, "walltime reached in zone b" + (in_stop ? "" : "; before it " + rank + how));
        EXPECT_EQ(status->first_end.has_value(), !in_stop) << "what the walltime itself did is no news";
        const PartStatus own = store.find_part(held->id).value()->status;
        EXPECT_EQ(own.reason, "walltime of 9 s reached in zone b" +
                                  (in_stop ? "" : "; before it " + rank + " on b." + own.assignment[0].machine + how));
    }
}

TEST_F(PartServiceTest, StoreThatFailsMeansNothingHappened) {
    store.fault = Error{ErrorCode::kUnavailable, "disk full", {}};
    EXPECT_EQ(parts->hold(home, request(2)).error().code, ErrorCode::kUnavailable);
    EXPECT_EQ(parts->table().free_processors(), 4);
    store.fault.reset();
    const auto held = parts->hold(home, request(2));
    ASSERT_TRUE(parts->commit(home, held->id, held->token));
    store.fault = Error{ErrorCode::kUnavailable, "disk full", {}};
    EXPECT_FALSE(parts->launch(home, held->id, launch(*held)));
    EXPECT_TRUE(executor.steps().empty());
}

TEST_F(PartServiceTest, AnEndedPartIsAnsweredFromTheStore) {
    const PartRequest asked = request(2);
    ASSERT_TRUE(parts->hold(home, asked));
    ASSERT_TRUE(parts->release(home, asked.id, "not needed"));
    for (const bool restarted : {false, true}) {
        if (restarted) restart();
        EXPECT_TRUE(parts->table().records().empty());
        EXPECT_EQ(parts->status(home, asked.id)->state, PartState::kReleased);
        EXPECT_EQ(parts->hold(home, asked)->state, PartState::kReleased) << "the old answer, and no new hold";
        EXPECT_EQ(parts->release(home, asked.id, "again")->state, PartState::kReleased);
        EXPECT_EQ(**parts->home_of(asked.id), home);
        PartRequest other = asked;
        other.seed = 77;
        EXPECT_EQ(parts->hold(home, other).error().code, ErrorCode::kIdReused);
        EXPECT_EQ(parts->table().free_processors(), 4);
    }
    EXPECT_EQ(store.all_parts().front().ended, clock.now());
}

TEST_F(PartServiceTest, AStoreThatCannotBeReadIsNotTakenForAPartThatIsNotThere) {
    const PartRequest asked = request(2);
    ASSERT_TRUE(parts->hold(home, asked));
    ASSERT_TRUE(parts->release(home, asked.id, "not needed"));
    store.fault = Error{ErrorCode::kUnavailable, "disk", {}};
    EXPECT_EQ(parts->release(home, asked.id, "again").error().code, ErrorCode::kUnavailable);
    EXPECT_EQ(parts->status(home, asked.id).error().code, ErrorCode::kUnavailable);
}

// A part that ended well without ever having run would leave its launcher waiting at the barrier for ever.
TEST_F(PartServiceTest, PartWhoseProcessesNeverStartedHasFailedAfterARestart) {
    const PartStatus held = *parts->hold(home, request(2));
    ASSERT_TRUE(parts->commit(home, held.id, held.token));
    PartRecord stored = store.all_parts().front();  // as a crash leaves it between the write and the start
    stored.status.state = PartState::kRunning;
    stored.operation = "run-1";
    stored.proxies = {0};
    ASSERT_TRUE(store.save(stored));
    restart();
    clock.advance(config.poll_every * 2);
    EXPECT_EQ(parts->status(home, held.id)->state, PartState::kFailed);
    EXPECT_EQ(parts->table().free_processors(), 4);
}

TEST_F(PartServiceTest, PartOfWhichOneProxyNeverStartedIsStopped) {
    const PartStatus held = *parts->hold(home, request(4));
    ASSERT_TRUE(parts->commit(home, held.id, held.token));
    ASSERT_TRUE(parts->launch(home, held.id, launch(held)));
    ASSERT_EQ(executor.running(), 1);
    PartRecord stored = store.all_parts().front();
    stored.proxies.push_back(1);
    ASSERT_TRUE(store.save(stored));
    restart();
    clock.advance(config.poll_every * 2 + std::chrono::seconds{3});
    EXPECT_EQ(parts->status(home, held.id)->state, PartState::kFailed);
    EXPECT_EQ(executor.running(), 0);
    EXPECT_EQ(parts->table().free_processors(), 4);
}

}  // namespace
}  // namespace zbs::test
