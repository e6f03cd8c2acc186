#include "client/cli/submission/probe_program.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temporary_folder.hpp"

namespace zbs::cli {
namespace {

TEST(ProgramMpi, IsFoundBehindOtherLibraries) {
    EXPECT_EQ(mpi_of(ZBS_USES_OPEN_MPI), (LoadedMpi{"", "libmpi.so.40"}));
    EXPECT_EQ(mpi_of(ZBS_USES_MPICH), (LoadedMpi{"libmpich.so.12", ""}));
    EXPECT_EQ(mpi_of(ZBS_USES_RELATIVE), (LoadedMpi{"libmpi.so.12", ""}));
}

TEST(ProgramMpi, IsNoneWhereNoneIsLoaded) {
    const test::TemporaryFolder folder;
    std::ofstream(folder.path("script")) << "#!/bin/sh\n# libmpi.so.40\n";
    for (const std::string& program : {std::string("/usr/bin/env"), folder.path("script"), std::string("/no/such")})
        EXPECT_EQ(mpi_of(program), LoadedMpi{}) << program;
}

TEST(ProgramMpi, StaticMpichIsKnownByATextOfIts) {
    const test::TemporaryFolder folder;
    const std::string text = "before initializing or after finalizing MPICH";
    std::ofstream(folder.path("static"), std::ios::binary)
        << std::ifstream(ZBS_USES_MPICH, std::ios::binary).rdbuf() << text;
    std::ofstream(folder.path("script"), std::ios::binary) << "#!/bin/sh\n# " << text;
    EXPECT_TRUE(has_static_mpich(folder.path("static")));
    EXPECT_FALSE(has_static_mpich(folder.path("script")));
    EXPECT_FALSE(has_static_mpich(ZBS_USES_OPEN_MPI));
    EXPECT_FALSE(has_static_mpich("/no/such/program"));
}

}  // namespace
}  // namespace zbs::cli
