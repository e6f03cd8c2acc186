#include "services/zone_scheduler/launch/launchers.hpp"

#include <gtest/gtest.h>

namespace zbs {
namespace {

TEST(LoaderFault, IsTheLineOfTheDynamicLoader) {
    for (const std::string line :
         {"./solver: error while loading shared libraries: libhdf5.so.103: cannot open shared object file: No such "
          "file "
          "or directory",
          "./solver: error while loading shared libraries: /opt/lib/libx.so: file too short",
          "Error loading shared library libx.so.1: No such file or directory (needed by ./solver)",
          "./solver: /lib/libc.so.6: version `GLIBC_2.38' not found (required by ./solver)"}) {
        EXPECT_EQ(loader_fault(line), line);
        EXPECT_TRUE(is_loader_fault_of("/home/ana/solver", line));
        EXPECT_FALSE(is_loader_fault_of("./run.sh", line));
        EXPECT_EQ(loader_fault("a warning\n" + line + "\nmore\n"), line);
    }
    EXPECT_EQ(loader_fault("./a\x1b[2J: error while loading shared libraries: l: no\n"),
              "./a\\x1b[2J: error while loading shared libraries: l: no");
}

TEST(LoaderFault, IsNoOtherLine) {
    for (const char* text : {"", "\n\n", "sh: 1: solver: not found\n", "solver: libx.so.1: version 3 not found\n"})
        EXPECT_EQ(loader_fault(text), "") << text;
}

}  // namespace
}  // namespace zbs
