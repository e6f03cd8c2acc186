#include "algorithms/formats/launchers/hostfile.hpp"

#include <gtest/gtest.h>

namespace zbs::formats {
namespace {

using Hosts = std::vector<std::string>;

TEST(HydraHostfile, IsRunLengthEncodedInRankOrder) {
    EXPECT_EQ(*write_hydra_hostfile(Hosts{"a", "a", "b", "a"}), "a:2\nb:1\na:1\n");
    EXPECT_TRUE(has_returning_host(Hosts{"a", "a", "b", "a"}));
    EXPECT_FALSE(has_returning_host(Hosts{"a", "a", "b", "b"}));
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

}  // namespace
}  // namespace zbs::formats
