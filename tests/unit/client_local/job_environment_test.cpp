#include "client/cli/submission/job_environment.hpp"

#include <gtest/gtest.h>

namespace zbs::cli {
namespace {

using Environment = std::map<std::string, std::string>;

Result<Environment> environment_of(const std::vector<std::string>& own, const std::vector<std::string>& exports,
                                   bool all) {
    std::vector<std::string> left_out;
    return job_environment(own, exports, all, left_out);
}

TEST(JobEnvironment, VariablesOfAZoneOrItsLauncherAreRefusedByName) {
    for (const std::string name : {"PMI_RANK", "PMIX_RANK", "ZBS_ZONE", "ZBS_STAGED", "HYDRA_DEBUG", "X509_USER_PROXY"})
        for (const std::string& item : {name + "=7", name}) {
            const auto refused = environment_of({name + "=7"}, {item}, false);
            ASSERT_FALSE(refused) << item;
            EXPECT_EQ(refused.error().pointer, "--env");
            EXPECT_EQ(refused.error().message, "'" + name +
                                                   "' belongs to the zone and its MPI launcher, so the program would "
                                                   "not get this value");
        }
}

TEST(JobEnvironment, AllLeavesOutTheStateOfTheSubmittingHost) {
    std::vector<std::string> own = {"A=1", "PATH=/bin"};
    for (const std::string name :
         {"XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "SSH_AUTH_SOCK", "SSH_CONNECTION",
          "KRB5CCNAME", "KRB5_CONFIG", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "TMUX", "TMUX_PANE", "STY",
          "TERM_PROGRAM", "HOSTNAME", "HOME", "GPG_AGENT_INFO", "PMI_RANK", "ZBS_ZONE"})
        own.push_back(name + "=here");
    const auto environment = environment_of(own, {"DISPLAY"}, true);
    ASSERT_TRUE(environment);
    EXPECT_EQ(*environment, (Environment{{"A", "1"}, {"DISPLAY", "here"}, {"PATH", "/bin"}}));
}

TEST(JobEnvironment, WithoutAllOnlyNeedsOfProgramsGoAlong) {
    const auto environment = environment_of({"A=1", "PATH=/bin", "OMP_NUM_THREADS=2", "SSH_AUTH_SOCK=x"}, {}, false);
    ASSERT_TRUE(environment);
    EXPECT_EQ(*environment, (Environment{{"OMP_NUM_THREADS", "2"}, {"PATH", "/bin"}}));
}

}  // namespace
}  // namespace zbs::cli
