#include "client/api/staged_files.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temporary_folder.hpp"

namespace zbs::client {
namespace {

TEST(CheckUnchanged, NamesAChangeOfTheFileAndNoChecksum) {
    const test::TemporaryFolder folder;
    const std::string path = folder.path("in.dat");
    std::ofstream(path) << "first";
    const Result<StagedFile> file = describe_file(path, "in.dat");
    ASSERT_TRUE(file);
    EXPECT_TRUE(check_unchanged(path, *file));
    for (const char* text : {"again", "", "first and more"}) {
        std::ofstream(path) << text;
        const Result<void> same = check_unchanged(path, *file);
        ASSERT_FALSE(same) << text;
        EXPECT_EQ(same.error().code, ErrorCode::kConflict);
        EXPECT_TRUE(same.error().message.starts_with("the file changed while it was read")) << same.error();
    }
}

}  // namespace
}  // namespace zbs::client
