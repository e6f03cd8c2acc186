// Answers to a zone of another organisation, byte for byte: nothing of the inside of this zone.
#include <gtest/gtest.h>

#include "services/common/codec/message_codec.hpp"
#include "services/common/codec/model_codec.hpp"
#include "services/zone_scheduler/records/part_view.hpp"
#include "tests/support/federation_world.hpp"

namespace zbs::test {
namespace {

using namespace std::chrono_literals;

/// Zone b, whose machines, partitions, accounts and other users have names that must not be heard outside.
class LeakTest : public testing::Test {
  protected:
    LeakTest() {
        FederationWorld::Node& b = world.node("b");
        b.config.zone.machines = {{"canary-machine-one", 2, 1.0}, {"canary-machine-two", 2, 1.0}};
        b.config.partition_of = {"canary-partition", "canary-partition"};
        b.config.accounts = *AccountMap::parse("org-a ana * -> canaryaccount\norg-a * canary* -> deny\n", "canary-map");
        b.config.rules.front().rights.ceiling.account_rule = "map";
        world.crash("b");
        EXPECT_TRUE(b.site.peerings().remove(key_of(b.peerings->views("org-a").at(0).record)));
        world.restart("b");
        world.run(40s);  // a asks again
    }
    template <class T>
    T hear(const Result<T>& answer) {
        if (answer)
            said += codec::dump(codec::encode(*answer)) + "\n";
        else
            said += std::string(to_string(answer.error().code)) + " " + answer.error().message + " " +
                    answer.error().pointer + "\n";
        return answer ? *answer : T{};
    }
    PartRequest part(const std::string& name, int ranks) { return part(name, ranks, home); }
    PartRequest part(const std::string& name, int ranks, const Caller& by) {
        PartRequest r{.id = PartId{world.ids.fresh(by)},
                      .application = ApplicationId{world.ids.fresh(world.user())},
                      .user = {CallerKind::kUser, "org-a", name},
                      .home = "a"};
        for (int i = 0; i < ranks; ++i) r.ranks.push_back(i);
        r.graph = *TaskGraph::make(std::vector<double>(static_cast<std::size_t>(ranks), 1.0), {});
        r.walltime = 10min;
        return r;
    }
    LaunchRequest launch(const PartStatus& held) {
        return {.token = held.token,
                .operation = launch_operation(held.id),
                .options = {{"control-port", "127.0.0.1:9"}},
                .proxies = {{0, held.assignment.at(0).machine}}};
    }
    PartService& parts() { return *world.node("b").parts; }

    FederationWorld world{{4, 4}};
    const Caller home{CallerKind::kZone, "org-a", "a"};
    std::string said;
};

TEST_F(LeakTest, NothingOfTheInsideIsToldInAnyAnswer) {
    FederationWorld::Node& b = world.node("b");
    // A job of b's own user holds a processor, too.
    b.filter->set_accounts(std::nullopt);
    const Caller inside{CallerKind::kZone, "org-b", "b"};
    PartRequest own = part("canary-user", 1, inside);
    own.user.organisation = "org-b";
    ASSERT_TRUE(parts().hold(inside, own));
    b.filter->set_accounts(b.config.accounts);

    for (const char* name : {"ana", "nobody", "mallory"})
        hear(parts().capacity(home, {.user = {CallerKind::kUser, "org-a", name}, .zones = {"a", "b"}}));
    const PartStatus good = hear(parts().hold(home, part("ana", 3)));
    ASSERT_EQ(good.assignment.size(), 3U);
    EXPECT_EQ(good.assignment[0].machine, "n0");
    hear(parts().hold(home, part("ana", 3)));  // too many now
    hear(parts().hold(home, part("mallory", 1)));
    hear(parts().commit(home, good.id, good.token + 1));
    hear(parts().commit(home, good.id, good.token));
    LaunchRequest bad = launch(good);
    bad.proxies[0].machine = "m9";
    hear(parts().launch(home, good.id, bad));
    hear(parts().launch(home, good.id, launch(good)));
    hear(parts().status(home, good.id));
    b.executor->end(launch_operation(good.id) + "-p0", 3);
    world.run(2s);
    EXPECT_EQ(hear(parts().status(home, good.id)).state, PartState::kFailed);
    hear(parts().profile(home, good.id));

    const PartStatus second = hear(parts().hold(home, part("ana", 1)));
    hear(parts().commit(home, second.id, second.token));
    b.executor->script(launch_operation(second.id), {.refusal = "canary-state/steps/run-2: no such folder"});
    EXPECT_EQ(hear(parts().launch(home, second.id, launch(second))).state, PartState::kFailed);
    hear(parts().release(home, second.id, "enough"));
    b.store.fault = Error{ErrorCode::kUnavailable, "canary-state/zone.db: disk full", {}};
    hear(parts().hold(home, part("ana", 1)));
    b.store.fault.reset();
    PeeringRequest request{.zone = "a", .organisation = "org-a", .url = "https://a"};
    hear(b.peerings->request(home, request));

    EXPECT_EQ(said.find("canary"), std::string::npos) << said;
    EXPECT_NE(said.find("n0"), std::string::npos);
}

TEST_F(LeakTest, HomeOfTheSameOrganisationSeesRealNames) {
    const Caller sister{CallerKind::kZone, "org-b", "b2"};
    world.node("b").filter->set_accounts(std::nullopt);
    PartRequest request = part("li", 1, sister);
    request.user.organisation = "org-b";
    const auto held = parts().hold(sister, request);
    ASSERT_TRUE(held) << held.error();
    EXPECT_TRUE(held->assignment.at(0).machine.str().starts_with("canary-machine"));
}

TEST(OutsideView, CountsMachinesAndProcessorsInTheOrderOfRanks) {
    PartStatus inside{.zone = "b",
                      .state = PartState::kFailed,
                      .assignment = {{0, "zeta", 5}, {1, "alpha", 2}, {2, "zeta", 3}, {3, "zeta", 5}},
                      .reason = "/var/lib: full"};
    const PartStatus out = outside_view(inside, false);
    EXPECT_EQ(out.assignment, (std::vector<RankPlace>{{0, "n0", 0}, {1, "n1", 0}, {2, "n0", 1}, {3, "n0", 0}}));
    EXPECT_EQ(out.reason.find("/var"), std::string::npos);
}

TEST(OutsideView, WalltimeIsNoSecretOfTheZone) {
    const PartStatus inside{.zone = "b", .state = PartState::kFailed, .reason = "walltime of 60 s reached in zone b"};
    EXPECT_EQ(outside_view(inside, false).reason, "walltime reached in zone b");
    for (const std::string& rest :
         {std::string(kNoneExitsReason), std::string(": the program had ended, but not all")}) {
        PartStatus with_ranks = inside;
        with_ranks.reason += rest;
        EXPECT_EQ(outside_view(with_ranks, false).reason, "walltime reached in zone b" + rest);
    }
    PartStatus slurm = inside;
    slurm.reason = "walltime of Slurm job 7 is over in zone b";
    EXPECT_EQ(outside_view(slurm, false).reason, "walltime reached in zone b");
}

}  // namespace
}  // namespace zbs::test
