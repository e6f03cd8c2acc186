#include "services/zone_scheduler/sensors/node_directory.hpp"

#include <gtest/gtest.h>

#include "services/common/messages/limits.hpp"
#include "tests/support/node_messages.hpp"
#include "tests/support/silent_log.hpp"
#include "tests/support/virtual_clock.hpp"

namespace zbs {
namespace {
using namespace std::chrono_literals;

class NodeDirectoryTest : public testing::Test {
  protected:
    Result<NodeLease> put(const MachineName& name, double available = 1) {
        NodeRegistration registration = test::some_node_registration();
        registration.description.name = name;
        registration.load.cpu_available = available;
        return directory.put(name, registration);
    }
    test::VirtualClock clock;
    test::SilentLog log;
    NodeDirectory directory{{"a", "b", "c"}, clock, log};
};

TEST_F(NodeDirectoryTest, KeepsTheLastWordOfEveryNodeByName) {
    ASSERT_TRUE(put("b"));
    ASSERT_TRUE(put("a", 1));
    clock.advance(10s);
    const auto lease = put("a", 2);
    ASSERT_TRUE(lease);
    EXPECT_EQ(*lease, (NodeLease{"a", NodeDirectory::kLease}));
    const auto nodes = directory.nodes();
    ASSERT_EQ(nodes.size(), 2U);
    EXPECT_EQ(nodes[0].registration.load.cpu_available, 2);
    EXPECT_EQ(nodes[0].seen, clock.now());
    EXPECT_EQ(nodes[1].registration.description.name, "b");
    EXPECT_EQ(log.count("node_registered"), 2) << "not each time";
    EXPECT_NE(directory.find("a"), nullptr);
    EXPECT_EQ(directory.find("c"), nullptr);
}

TEST_F(NodeDirectoryTest, TellsWhatOthersLeaveOfTheZonesMachines) {
    for (const double available : {2, 1, 2}) {
        ASSERT_TRUE(put("a", available));
        ASSERT_TRUE(put("d", available));
        clock.advance(10s);
    }
    const auto nodes = directory.nodes();
    ASSERT_TRUE(nodes.at(0).available);
    const int processors = test::some_node_registration().description.processors;
    EXPECT_EQ(nodes[0].available->values, (std::vector<double>{2.0 / processors, 1.0 / processors, 2.0 / processors}));
    EXPECT_TRUE(nodes[0].available->error);
    EXPECT_FALSE(nodes.at(1).available) << "the zone does not use d";
}

TEST_F(NodeDirectoryTest, ALeaseRunsOutOnTheMonotonicClock) {
    ASSERT_TRUE(put("a"));
    clock.set_wall(clock.now() + 24h);
    clock.advance(NodeDirectory::kLease - 1us);
    EXPECT_TRUE(directory.is_live("a"));
    clock.advance(1us);
    EXPECT_FALSE(directory.is_live("a"));
    EXPECT_FALSE(directory.nodes().at(0).is_live) << "it stays in the list";
    ASSERT_TRUE(put("a"));
    EXPECT_TRUE(directory.is_live("a"));
    EXPECT_EQ(log.count("node_registered"), 2);
}

TEST_F(NodeDirectoryTest, ADescriptionOfAnotherNodeIsRefused) {
    const auto refused = directory.put("a", test::some_node_registration());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().pointer, "/description/name");
    EXPECT_FALSE(directory.is_live("a"));
}

TEST_F(NodeDirectoryTest, AMachineHasWhatItsAgentSays) {
    const int has = test::some_node_registration().description.processors;
    const std::vector<Machine> machines = {{"a", has, 1.0}, {"b", has + 1, 1.0}, {"c", 1, 1.0}, {"here", 4, 1.0}};
    for (int i = 0; i < 4; ++i) {
        ASSERT_TRUE(put("a", 0.5 * has));
        ASSERT_TRUE(put("b"));
        clock.advance(10s);
    }
    const std::vector<MachineUse> uses = directory.uses_of(machines);
    ASSERT_EQ(uses.size(), 3U) << "not of one that has none";
    EXPECT_EQ(uses[0].fault, "");
    EXPECT_NEAR(uses[0].speed, 0.5, 0.01);
    EXPECT_NE(uses[1].fault.find("may use " + std::to_string(has) + " processors"), std::string::npos);
    EXPECT_EQ(uses[2].fault, "no agent has registered");
    clock.advance(NodeDirectory::kLease);
    EXPECT_EQ(directory.uses_of(machines)[0].fault, "its agent does not answer");
}

TEST_F(NodeDirectoryTest, KeepsOnlySoMany) {
    for (int i = 0; i < limits::kMaxNodes; ++i) ASSERT_TRUE(put(MachineName("n" + std::to_string(i))));
    EXPECT_EQ(put("one-more").error().code, ErrorCode::kTooManyRequests);
    EXPECT_TRUE(put("n0"));
}

}  // namespace
}  // namespace zbs
