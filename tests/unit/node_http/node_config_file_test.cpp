#include "services/node_agent/program/node_config_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "tests/support/temporary_folder.hpp"

namespace zbs::node_program {
namespace {

const std::string kGood = "name = \"n1\"\nzone = \"https://z:1\"\nzone_name = \"alpha-one\"\nstate = \"/var/lib/n1\"\n";

Result<NodeSettings> read(const std::string& text) {
    const test::TemporaryFolder folder;
    std::ofstream(folder.path("node.toml")) << text;
    return read_node_settings(folder.path("node.toml"), "/opt/zbs");
}

TEST(NodeConfigFile, HasDefaults) {
    const auto settings = read(kGood);
    ASSERT_TRUE(settings) << settings.error();
    EXPECT_EQ(settings->identity, "/var/lib/n1/identity");
    EXPECT_EQ(settings->listen_address, "127.0.0.1");
    EXPECT_EQ(settings->advertised_host, "127.0.0.1");
    EXPECT_EQ(settings->step_supervisor, "/opt/zbs/zbs-step");
    EXPECT_EQ(settings->step_starter, "");
    EXPECT_EQ(settings->control_group, "auto");
    EXPECT_EQ(settings->most_input_bytes, 4'096ULL << 20);
    EXPECT_EQ(settings->run_as_accounts, geteuid() == 0);
    EXPECT_FALSE(settings->shared_memory);
}

TEST(NodeConfigFile, AMisspeltKeyIsToldBeforeWhatItLeavesMissing) {
    const auto settings =
        read("name = \"n1\"\nzone = \"https://z:1\"\nzone_nam = \"alpha-one\"\nstate = \"/var/lib/n1\"\n");
    ASSERT_FALSE(settings);
    EXPECT_THAT(settings.error().pointer, testing::EndsWith("node.toml:3"));
    EXPECT_EQ(settings.error().message, "'zone_nam' is not a setting of this program; did you mean 'zone_name'?");
}

TEST(NodeConfigFile, ReadsEverySetting) {
    const auto settings = read(kGood + R"(identity = "/etc/n1"
listen = "[::1]:8101"
advertise = "n1.example"
run_as = "self"
default_account = "jobs"
minimum_uid = 500
files_MiB = 7
hidden_paths = ["/secret"]
require_isolation = true
shared_memory = true
step_supervisor = "/bin/step"
step_starter = "/run/steps"
control_group = "/sys/fs/cgroup/zbs"
)");
    ASSERT_TRUE(settings) << settings.error();
    EXPECT_EQ(settings->identity, "/etc/n1");
    EXPECT_EQ(settings->listen_address, "::1");
    EXPECT_EQ(settings->listen_port, 8101);
    EXPECT_EQ(settings->advertised_host, "n1.example");
    EXPECT_FALSE(settings->run_as_accounts);
    EXPECT_EQ(settings->default_account, "jobs");
    EXPECT_EQ(settings->minimum_uid, 500);
    EXPECT_EQ(settings->most_input_bytes, 7ULL << 20);
    EXPECT_THAT(settings->hidden_paths, testing::ElementsAre("/secret"));
    EXPECT_TRUE(settings->require_isolation);
    EXPECT_EQ(settings->shared_memory, true);
    EXPECT_EQ(settings->step_supervisor, "/bin/step");
    EXPECT_EQ(settings->step_starter, "/run/steps");
    EXPECT_EQ(settings->control_group, "/sys/fs/cgroup/zbs");
}

TEST(NodeConfigFile, TakesTheAddressesOfSeveralSchedulers) {
    const auto one = read(kGood);
    ASSERT_TRUE(one) << one.error();
    EXPECT_THAT(one->zone_urls, testing::ElementsAre("https://z:1"));
    std::string text = kGood;
    text.replace(text.find("https://z:1"), 11, "https://z:1,https://y:2");
    const auto two = read(text);
    ASSERT_TRUE(two) << two.error();
    EXPECT_THAT(two->zone_urls, testing::ElementsAre("https://z:1", "https://y:2"));
}

struct Bad {
    const char* name;
    std::string text;
    const char* words;
};
class BadNodeConfigFile : public testing::TestWithParam<Bad> {};
TEST_P(BadNodeConfigFile, IsRefusedWithFileAndReason) {
    const auto settings = read(GetParam().text);
    ASSERT_FALSE(settings);
    EXPECT_THAT(settings.error().message, testing::HasSubstr(GetParam().words));
    EXPECT_THAT(settings.error().pointer, testing::HasSubstr("node.toml"));
}
INSTANTIATE_TEST_SUITE_P(, BadNodeConfigFile,
                         testing::Values(Bad{"Empty", "", "'name' is missing"}, Bad{"NoToml", "=", ""},
                                         Bad{"Unknown", kGood + "nmae = 1\n", "'nmae' is not a setting"},
                                         Bad{"PlainZone", "name = \"n\"\nzone = \"http://z:1\"\n", "https://"},
                                         Bad{"PlainSecond", "name = \"n\"\nzone = \"https://z:1,http://y:1\"\n",
                                             "https://"},
                                         Bad{"Trailing", "name = \"n\"\nzone = \"https://z:1,\"\n", "https://"},
                                         Bad{"Name", "name = \"N 1\"\n", "'name' must be 1 to 64"},
                                         Bad{"Listen", kGood + "listen = \"here\"\n", "ADDRESS:PORT"},
                                         Bad{"Everywhere", kGood + "listen = \"0.0.0.0:1\"\n", "set 'advertise'"},
                                         Bad{"RunAs", kGood + "run_as = \"root\"\n", "accounts or self"},
                                         Bad{"Group", kGood + "control_group = \"yes\"\n", "auto, none, or the folder"},
                                         Bad{"Starter", kGood + "step_starter = \"steps\"\n", "absolute path"},
                                         Bad{"Files", kGood + "files_MiB = 0\n", "files_MiB"},
                                         Bad{"Uid", kGood + "minimum_uid = 0\n", "minimum_uid"}),
                         [](const auto& param_info) { return param_info.param.name; });

}  // namespace
}  // namespace zbs::node_program
