#include "services/common/adapters/hardware/machine_sensor.hpp"

#include <gtest/gtest.h>
#include <sched.h>

namespace zbs::hardware {
namespace {
using namespace std::chrono_literals;

constexpr const char* kStat =
    "cpu  60 6 60 600 60 6 6 6 0 0\n"
    "cpu0 10 1 10 100 10 1 1 1 0 0\n"
    "cpu1 20 2 20 200 20 2 2 2 0 0\n"
    "cpu10 30 3 30 300 30 3 3 3 0 0\n"
    "intr 123 cpu0\n";

TEST(ReadTimes, SumsTheProcessorsThatAreAskedFor) {
    EXPECT_EQ(read_times(kStat, {0}), (ProcessorTimes{24, 110}));
    EXPECT_EQ(read_times(kStat, {0, 10}), (ProcessorTimes{96, 440}));
    EXPECT_EQ(read_times(kStat, {7}), ProcessorTimes{});
    EXPECT_EQ(read_times("", {0}), ProcessorTimes{});
}

struct Availability {
    const char* name;
    ProcessorTimes before, after;
    Duration own;
    double expected;
};
class AvailableProcessors : public testing::TestWithParam<Availability> {};
TEST_P(AvailableProcessors, AreThoseThatOthersLeftFree) {
    const Availability& a = GetParam();
    EXPECT_DOUBLE_EQ(available_processors(a.before, a.after, a.own, 4, 100), a.expected);
}
INSTANTIATE_TEST_SUITE_P(, AvailableProcessors,
                         testing::Values(Availability{"AllIdle", {5, 5}, {5, 405}, 0s, 4},
                                         Availability{"HalfUsedByOthers", {5, 5}, {205, 205}, 0s, 2},
                                         Availability{"HalfUsedByOurs", {5, 5}, {205, 205}, 2s, 4},
                                         Availability{"AQuarterByOurs", {5, 5}, {205, 205}, 1s, 3},
                                         Availability{"OursIsNoMoreThanWasBusy", {5, 5}, {205, 205}, 100s, 4},
                                         Availability{"OwnTimeThatWentBack", {5, 5}, {205, 205}, -3s, 2},
                                         Availability{"NoTimeHasPassed", {5, 5}, {5, 5}, 0s, 4},
                                         Availability{"CountersThatWentBack", {50, 50}, {5, 5}, 0s, 4}),
                         [](const auto& param_info) { return param_info.param.name; });

TEST(MemoryLine, IsReadInBytes) {
    EXPECT_EQ(memory_line("MemTotal:   1000 kB\nMemFree: 5 kB\nMemAvailable:    7 kB\n", "MemAvailable"), 7U * 1024);
    EXPECT_FALSE(memory_line("MemTotal:   1000 kB\n", "Mem"));
    EXPECT_FALSE(memory_line("MemTotal: much\n", "MemTotal"));
}

TEST(ProcessorsOfQuota, AreRoundedUp) {
    EXPECT_EQ(processors_of_quota("150000 100000\n"), 2);
    EXPECT_EQ(processors_of_quota("50000 100000\n"), 1);
    EXPECT_EQ(processors_of_quota("max 100000\n"), std::nullopt);
    EXPECT_EQ(processors_of_quota(""), std::nullopt);
    EXPECT_EQ(processors_of_quota("100000 0\n"), std::nullopt);
}

TEST(MachineSensor, DescribesThisMachine) {
    const auto sensor = make_machine_sensor();
    ASSERT_TRUE(sensor) << sensor.error();
    const NodeDescription node = (*sensor)->describe();
    cpu_set_t set;
    ASSERT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
    EXPECT_LE(node.processors, CPU_COUNT(&set));
    EXPECT_GE(node.processors, 1);
    EXPECT_LE(node.cores, CPU_COUNT(&set));
    EXPECT_LE(node.sockets, node.cores);
    EXPECT_GT(node.memory_bytes, 1U << 24U);
    EXPECT_EQ(node.hwloc_version.front(), '2');
    EXPECT_NE(node.clock_source, "");
    const NodeLoad load = (*sensor)->load(0s);
    EXPECT_GE(load.cpu_available, 0);
    EXPECT_LE(load.cpu_available, node.processors);
    EXPECT_GT(load.memory_available_bytes, 0U);
    EXPECT_LE(load.memory_available_bytes, node.memory_bytes);
}

TEST(MachineSensor, CountsWhatItMayUseOnly) {
    cpu_set_t before, one;
    ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE; ++i) {
        if (CPU_COUNT(&one) == 0 && CPU_ISSET(i, &before)) CPU_SET(i, &one);
    }
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    const auto sensor = make_machine_sensor();
    ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
    ASSERT_TRUE(sensor);
    const NodeDescription node = (*sensor)->describe();
    EXPECT_EQ(std::tuple(node.processors, node.cores, node.sockets), std::tuple(1, 1, 1));
}

}  // namespace
}  // namespace zbs::hardware
