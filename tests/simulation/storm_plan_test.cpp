#include "tests/simulation/storm_plan.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace zbs::simulation {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class StormFileTest : public testing::Test {
  protected:
    ~StormFileTest() override { std::filesystem::remove_all(folder_); }
    std::string file(const std::string& text) {
        std::filesystem::create_directories(folder_);
        std::ofstream(folder_ / "some.toml") << text;
        return (folder_ / "some.toml").string();
    }
    const std::filesystem::path folder_ =
        std::filesystem::temp_directory_path() / ("zbs-storm-" + std::to_string(getpid()));
};

TEST_F(StormFileTest, KeysThatAreLeftOutHaveTheirDefaults) {
    const auto storm = read_storm(file("storm_min = 5\n[[fault]]\nkinds = [\"stop\"]\nmost_s = 7\nuntil_min = 2\n"));
    ASSERT_TRUE(storm) << storm.error();
    EXPECT_EQ(storm->name, "some");
    EXPECT_EQ(storm->storm, minutes{5});
    ASSERT_EQ(storm->entries.size(), 1U);
    const StormEntry& entry = storm->entries.front();
    EXPECT_EQ(entry.from, Duration{0});
    EXPECT_EQ(entry.until, minutes{2});
    EXPECT_EQ(entry.faults.front().least, seconds{1});
    EXPECT_EQ(entry.faults.front().most, seconds{7});
    EXPECT_EQ(entry.faults.front().hosts, "all");
}

struct BadFile {
    const char* name;
    const char* text;
    const char* place;    ///< behind the file's name
    const char* message;  ///< a part of it
};
class BadStormFileTest : public StormFileTest, public testing::WithParamInterface<BadFile> {};

TEST_P(BadStormFileTest, IsRefusedWithPlaceAndRemedy) {
    const std::string path = file(GetParam().text);
    const auto storm = read_storm(path);
    ASSERT_FALSE(storm);
    EXPECT_EQ(storm.error().pointer, path + GetParam().place);
    EXPECT_NE(storm.error().message.find(GetParam().message), std::string::npos) << storm.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    , BadStormFileTest,
    testing::Values(
        BadFile{"UnknownKey", "[[fault]]\nkinds = [\"stop\"]\nhost = \"a\"\n", ":3", "did you mean"},
        BadFile{"KeyOfAnotherKind", "[[fault]]\nkinds = [\"stop\"]\nloss = 0.1\n", ":3", "fault.0.loss"},
        BadFile{"UnknownKind", "[[fault]]\nkinds = [\"crsh\"]\n", ":2", "crash, stop, partition"},
        BadFile{"OutOfRange", "[[fault]]\nkinds = [\"bad_lines\"]\nloss = 1.5\n", ":3", "from 0 to 1"},
        BadFile{"LeastBeyondMost", "[[fault]]\nkinds = [\"stop\"]\nleast_s = 9\nmost_s = 2\n", ":4", "from 9 to"},
        BadFile{"UnknownHost", "[[fault]]\nkinds = [\"stop\"]\nhosts = \"z\"\n", ":3", "all, zones"},
        BadFile{"LostRegistry", "[[fault]]\nkinds = [\"lost_host\"]\nhosts = \"registry\"\n", ":3", "must be zones"},
        BadFile{"AllLost", "[[fault]]\nkinds = [\"lost_host\"]\nat_most = 2\n", ":3", "from 1 to 1"},
        BadFile{"NoFault", "storm_min = 5\n", "", "[[fault]]"}),
    [](const auto& param_info) { return std::string(param_info.param.name); });

TEST(StormFolderTest, HasNoStorms) {
    const auto storms = read_storms("/nonexistent");
    ASSERT_FALSE(storms);
    EXPECT_EQ(storms.error().pointer, "/nonexistent");
}

TEST(StormFolderTest, MixedStormIsTheOneNamedAll) {
    EXPECT_EQ(mixed_storm().name, "all");
    EXPECT_EQ(mixed_storm().entries.size(), 7U);
}

}  // namespace
}  // namespace zbs::simulation
