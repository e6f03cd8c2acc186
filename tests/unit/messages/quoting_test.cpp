#include "services/common/messages/text/printable.hpp"

#include <gtest/gtest.h>

#include "services/common/messages/steps/job_limits.hpp"

namespace zbs {
namespace {

TEST(ShellWord, IsQuotedIfAShellWouldReadIt) {
    EXPECT_EQ(shell_word("/tmp/zbs-1.0_x+y,@%:"), "/tmp/zbs-1.0_x+y,@%:");
    for (const char* text : {"", "two words", "a$HOME", "a;b", "back\\slash", "say \"x\"", "a\nb", "~", "A=b", "*", "#",
                             "\xc3\xbc", "`id`", "!"})
        EXPECT_EQ(shell_word(text), "'" + std::string(text) + "'");
    EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
}

TEST(TomlString, EscapesWhatTomlReads) {
    EXPECT_EQ(toml_string("/tmp/a b$'#\xc3\xbc"), "\"/tmp/a b$'#\xc3\xbc\"");
    EXPECT_EQ(toml_string("say \"x\"\\s"), R"("say \"x\"\\s")");
    EXPECT_EQ(toml_string("a\nb\t\x01\x7f"), R"("a\u000Ab\u0009\u0001\u007F")");
}

TEST(EnvironmentName, IsOneThatShellsPassOn) {
    for (const char* name : {"A", "_x", "OMP_NUM_THREADS", "a1"}) EXPECT_EQ(environment_name_fault(name), "") << name;
    for (const char* name : {"", "1a", "a.b", "a-b", "a b", "BASH_FUNC_x%%", "\xc3\xbc", "a=b", "IFS", "PWD", "_"})
        EXPECT_NE(environment_name_fault(name), "") << name;
}

TEST(EnvironmentName, OfAZoneOrItsLauncherIsRefused) {
    for (const char* name : {"PMI_RANK", "PMIX_RANK", "HYDRA_DEBUG", "MPIEXEC_TIMEOUT", "OMPI_COMM_WORLD_RANK",
                             "ZBS_ZONE", "ZBS_APPLICATION", "ZBS_STAGED", "ZBS_RANK_ENDS", "ZBS_URL"}) {
        EXPECT_TRUE(is_set_by_zones(name)) << name;
        EXPECT_EQ(environment_name_fault(name),
                  "belongs to the zone and its MPI launcher, so the program would not get this value")
            << name;
    }
    for (const char* name : {"ZBS_UMASK", "ZBS_ULIMIT", "ZBS_PROFILE_TRACE", "OMPI_MCA_btl", "MPICH_ASYNC_PROGRESS"})
        EXPECT_EQ(environment_name_fault(name), "") << name;
}

}  // namespace
}  // namespace zbs
