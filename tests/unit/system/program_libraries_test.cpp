#include "services/common/adapters/system/program_libraries.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/support/temporary_folder.hpp"

namespace zbs::system {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::StartsWith;

std::string bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

TEST(ProgramLibraries, AreThoseThatTheProgramNames) {
    EXPECT_THAT(needed_libraries(bytes_of("/proc/self/exe")), Contains(StartsWith("libstdc++.so.")));
    EXPECT_THAT(needed_libraries(bytes_of(ZBS_USES_OPEN_MPI)), Contains("libmpi.so.40"));
}

TEST(ProgramLibraries, OfWhatIsNoProgramThereAreNone) {
    const std::string whole = bytes_of(ZBS_USES_OPEN_MPI);
    for (const std::string& text : {std::string{}, std::string("#!/bin/sh\n"), std::string(64, '\x7f'),
                                    whole.substr(0, 63), whole.substr(0, 100)})
        EXPECT_THAT(needed_libraries(text), IsEmpty());
}

TEST(ProgramLibraries, StaticMpichIsKnownByATextOfIts) {
    const test::TemporaryFolder folder;
    const std::string text = "before initializing or after finalizing MPICH";
    const std::string program = bytes_of(ZBS_USES_OPEN_MPI);
    std::ofstream(folder.path("static"), std::ios::binary) << program << text;
    std::ofstream(folder.path("script"), std::ios::binary) << "#!/bin/sh\n# " << text;
    EXPECT_TRUE(has_static_mpich(folder.path("static")));
    EXPECT_FALSE(has_static_mpich(folder.path("script")));
    EXPECT_FALSE(has_static_mpich(ZBS_USES_OPEN_MPI));
    EXPECT_FALSE(has_static_mpich("/no/such/program"));
}

TEST(ProgramLibraries, OpenMpiIsKnownByItsNumber) {
    EXPECT_EQ(open_mpi_of(ZBS_USES_OPEN_MPI), "libmpi.so.40");
    EXPECT_EQ(open_mpi_of("/proc/self/exe"), std::nullopt);
    EXPECT_EQ(open_mpi_of("/no/such/program"), std::nullopt);
    // The common ABI of MPICH's kin has the same name and another number.
    std::string other = bytes_of(ZBS_USES_OPEN_MPI);
    for (std::size_t i = 0; (i = other.find("libmpi.so.40", i)) != std::string::npos; i += 1)
        other.replace(i, 12, "libmpi.so.12");
    const test::TemporaryFolder folder;
    std::ofstream(folder.path("other"), std::ios::binary) << other;
    EXPECT_THAT(needed_libraries(other), Contains("libmpi.so.12"));
    EXPECT_EQ(open_mpi_of(folder.path("other")), std::nullopt);
}

}  // namespace
}  // namespace zbs::system
