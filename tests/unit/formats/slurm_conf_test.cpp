#include "algorithms/formats/slurm_conf.hpp"

#include <gtest/gtest.h>

namespace zbs::formats {
namespace {

TEST(ReadSlurmConf, SumsNodesAndListsPartitions) {
    const Result<SlurmMachine> machine = read_slurm_conf(
        "# a machine\n"
        "ClusterName=c\n"
        "NodeName=DEFAULT CPUs=4\n"
        "NodeName=n[1-3,07-09],login State=UNKNOWN   # 7 nodes of 4\r\n"
        "nodename=r[0-1]x[2-4] Sockets=2 CoresPerSocket=8 \\\n"
        "   ThreadsPerCore=2 CPUs=16\n"
        "NodeName=later[1-99] CPUs=64 State=FUTURE\n"
        "PartitionName=DEFAULT MaxTime=1-00:00:00\n"
        "PartitionName=day Nodes=ALL Default=YES\n"
        "PartitionName=short Nodes=n[1-3] MaxTime=90\n"
        "PartitionName=\"free\" MaxTime=UNLIMITED Nodes=login",
        "conf");
    ASSERT_TRUE(machine) << machine.error();
    EXPECT_EQ(machine->processors, 7 * 4 + 6 * 16);
    EXPECT_EQ(machine->partitions,
              (std::vector<SlurmPartition>{{"day", 86'400}, {"short", 5'400}, {"free", std::nullopt}}));
}

TEST(ReadSlurmConf, CountsProcessorsFromTheirParts) {
    EXPECT_EQ(
        read_slurm_conf("NodeName=a Boards=2 SocketsPerBoard=2 CoresPerSocket=8 ThreadsPerCore=2\n", "c")->processors,
        64);
    EXPECT_EQ(read_slurm_conf("NodeName=a[1-1000000]\n", "c")->processors, 1'000'000);
}

TEST(ReadSlurmConf, FaultsNameLineAndRemedy) {
    struct Case {
        std::string_view text, place, message;
    };
    for (const auto& [text, place, message] :
         {Case{"", "c", "no line NodeName"}, Case{"Include nodes.conf\n", "c", "all of them in one file"},
          Case{"\nNodeName=n[1-", "c:2", "write a list"}, Case{"NodeName=n[3-1]", "c:1", "write a list"},
          Case{"NodeName=n[1-1000000],m", "c:1", "write a list"}, Case{"NodeName=", "c:1", "write a list"},
          Case{"NodeName=a,,b", "c:1", "write a list"}, Case{"NodeName=a[1-9][1-999999]", "c:1", "write a list"},
          Case{"NodeName=a CPUs=0", "c:1", "1 to 65535"}, Case{"NodeName=a Sockets=x", "c:1", "1 to 65535"},
          Case{"NodeName=a[1-999999] CPUs=65535", "c:1", "more than 100000000 processors"},
          Case{"NodeName=a Boards=65535 Sockets=65535 CoresPerSocket=65535 ThreadsPerCore=65535", "c:1",
               "more than 100000000 processors"},
          Case{"NodeName=a\nPartitionName=p MaxTime=soon", "c:2", "days-hours"}}) {
        const Result<SlurmMachine> machine = read_slurm_conf(text, "c");
        ASSERT_FALSE(machine) << text;
        EXPECT_EQ(machine.error().pointer, place) << text;
        EXPECT_NE(machine.error().message.find(message), std::string::npos) << machine.error();
    }
}

TEST(ParseSlurmTime, TakesEveryForm) {
    struct Case {
        std::string_view text;
        std::optional<std::int64_t> seconds;
    };
    for (const auto& [text, seconds] :
         {Case{"90", 5'400}, Case{"90:30", 5'430}, Case{"1:30:30", 5'430}, Case{"00:01:00", 60}, Case{"2-12", 216'000},
          Case{"2-12:30", 217'800}, Case{"2-12:30:05", 217'805}, Case{"365-00:00:00", 31'536'000}, Case{"UNLIMITED", 0},
          Case{"infinite", 0}, Case{"", std::nullopt}, Case{"1:2:3:4", std::nullopt}, Case{"-1", std::nullopt},
          Case{"x-1", std::nullopt}, Case{"1-", std::nullopt}, Case{"9999999-1", std::nullopt},
          Case{"4000000000", std::nullopt}, Case{"Partition_Limit", std::nullopt}})
        EXPECT_EQ(parse_slurm_time(text), seconds) << text;
}

}  // namespace
}  // namespace zbs::formats
