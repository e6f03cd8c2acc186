#include "algorithms/formats/hostfile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "algorithms/base/rng.hpp"

namespace zbs::formats {
namespace {

using Hosts = std::vector<std::string>;

TEST(HydraHostfile, IsRunLengthEncodedInRankOrder) {
    EXPECT_EQ(*write_hydra_hostfile(Hosts{"a", "a", "b", "a"}), "a:2\nb:1\na:1\n");
    EXPECT_TRUE(has_returning_host(Hosts{"a", "a", "b", "a"}));
    EXPECT_FALSE(has_returning_host(Hosts{"a", "a", "b", "b"}));
}

TEST(HydraHostfile, ReadsWhatOthersWrite) {
    const auto hosts = read_hydra_hostfile(
        "# machines\r\nnode-1:2 user=ana binding=core\r\n\n node_2.example.org # spare\n10.0.0.1:1", "f");
    ASSERT_TRUE(hosts) << hosts.error();
    EXPECT_THAT(*hosts, testing::ElementsAre("node-1", "node-1", "node_2.example.org", "10.0.0.1"));
}

TEST(HydraHostfile, WriterThenReaderGivesTheHostsBack) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        Rng rng(seed);
        Hosts hosts(1 + rng.below(100));
        for (std::string& host : hosts) host = "n" + std::to_string(rng.below(3));
        EXPECT_EQ(*read_hydra_hostfile(*write_hydra_hostfile(hosts), "f"), hosts);
    }
}

TEST(HydraHostfile, RefusesHostsThatALauncherMisreads) {
    for (const char* host : {"", "::1", "host:1", "a b", "-a", "a-", "a..b", ".a", "a.", "h\xc3\xa9", "a\n", "a#"}) {
        EXPECT_FALSE(is_host_name(host)) << host;
        EXPECT_EQ(write_hydra_hostfile(Hosts{"ok", host}).error().pointer, "/1") << host;
    }
    EXPECT_TRUE(is_host_name(std::string(63, 'a') + ".b"));
    EXPECT_FALSE(is_host_name(std::string(64, 'a')));
    EXPECT_FALSE(write_hydra_hostfile(Hosts{}));
}

TEST(HydraHostfile, RefusesWhatHydraDoesNotRun) {
    for (const char* line :
         {"b:0", "b:-1", "b:x", "b:", "b:1x", "b slots=2", "fe80::1", "b:10000000", "b:99999999999999999999999"}) {
        const auto hosts = read_hydra_hostfile(std::string("a\n") + line + "\n", "f");
        ASSERT_FALSE(hosts) << line;
        EXPECT_EQ(hosts.error().pointer, "f:2") << line;
    }
    EXPECT_FALSE(read_hydra_hostfile("# nothing\n", "f"));
}

}  // namespace
}  // namespace zbs::formats
