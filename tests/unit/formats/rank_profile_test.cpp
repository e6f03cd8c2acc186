#include "algorithms/formats/rank_profile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "algorithms/base/profile_layout.hpp"

namespace zbs::formats {
namespace {

struct RankFile {
    ProfileHeader header{};
    std::vector<ProfilePeer> peers;

    RankFile(std::uint32_t rank, std::vector<ProfilePeer> sent) : peers(std::move(sent)) {
        std::memcpy(header.magic, ProfileHeader::kMagic, sizeof header.magic);
        header.version = ProfileHeader::kVersion;
        header.header_bytes = sizeof header;
        header.run_id = 77;
        header.world_size = static_cast<std::uint32_t>(peers.size());
        header.rank = rank;
        header.state = RankState::kFinalized;
        header.compute_ns = 3000 * (rank + 1);
        header.compute_count = 3;
        std::strcpy(header.program, "/opt/app/heat");
    }
    std::string bytes() const {
        std::string text(rank_file_bytes(static_cast<std::uint32_t>(peers.size())), '\0');
        std::memcpy(text.data(), &header, sizeof header);
        std::memcpy(text.data() + sizeof header, peers.data(), peers.size() * sizeof(ProfilePeer));
        return text;
    }
};
RankFile rank0() { return {0, {{99, 9}, {100, 1}, {0, 2}}}; }
RankFile rank1() { return {1, {{50, 2}, {0, 0}, {0, 0}}}; }
RankFile rank2() { return {2, {{0, 0}, {7, 1}, {0, 0}}}; }

Result<ApplicationModel> merge(const std::vector<std::string>& files) {
    const std::vector<std::string_view> views(files.begin(), files.end());
    return merge_rank_files(views);
}

TEST(MergeRankFiles, SumsBothDirectionsAndSkipsSelf) {
    const auto model = merge({rank2().bytes(), rank0().bytes(), rank1().bytes()});
    ASSERT_TRUE(model) << model.error();
    EXPECT_TRUE(model->complete);
    EXPECT_EQ(model->program, "/opt/app/heat");
    EXPECT_THAT(model->graph.edges(),
                testing::ElementsAre(TaskEdge{0, 1, 150, 3}, TaskEdge{0, 2, 0, 2}, TaskEdge{1, 2, 7, 1}));
    EXPECT_DOUBLE_EQ(model->graph.compute(1), 2e-6);
}

TEST(MergeRankFiles, AMissingOrRunningRankMakesItPartial) {
    const auto missing = merge({rank0().bytes(), rank1().bytes()});
    ASSERT_TRUE(missing);
    EXPECT_FALSE(missing->complete);
    EXPECT_EQ(missing->graph.task_count(), 3);
    EXPECT_EQ(missing->graph.compute(2), 0);
    RankFile killed = rank2();
    killed.header.state = RankState::kRunning;
    EXPECT_FALSE(merge({rank0().bytes(), rank1().bytes(), killed.bytes()})->complete);
}

TEST(MergeRankFiles, AProgramNameThatIsNoTextIsMadeReadable) {
    RankFile odd = rank0();
    std::memcpy(odd.header.program, "a\xff\nb", 5);
    EXPECT_EQ(merge({odd.bytes()})->program, "a??b");
    std::memset(odd.header.program, 'x', sizeof odd.header.program);
    EXPECT_EQ(merge({odd.bytes()})->program, std::string(256, 'x'));
}

TEST(MergeRankFiles, RefusesWhatIsNoRankFile) {
    const auto refused = [](auto change, const char* message, const char* pointer) {
        RankFile bad = rank1();
        change(bad);
        const auto model = merge({rank0().bytes(), bad.bytes()});
        ASSERT_FALSE(model) << message;
        EXPECT_THAT(model.error().message, testing::HasSubstr(message));
        EXPECT_EQ(model.error().pointer, pointer);
    };
    refused([](RankFile& f) { f.header.magic[0] = 'X'; }, "not a rank file", "/1");
    refused([](RankFile& f) { f.header.version = 2; }, "version 2", "/1");
    refused([](RankFile& f) { f.header.header_bytes = 1; }, "version", "/1");
    refused([](RankFile& f) { f.header.world_size = 0; }, "world of 0", "/1");
    refused([](RankFile& f) { f.header.world_size = 0xffffffff; }, "world of 4294967295", "/1");
    refused([](RankFile& f) { f.header.world_size = 4; }, "wrong length", "/1");
    refused([](RankFile& f) { f.header.rank = 3; }, "outside its world", "/1");
    refused([](RankFile& f) { f.header.rank = 0; }, "two rank files", "/1");
    refused([](RankFile& f) { f.header.run_id = 78; }, "another run", "/1");
    EXPECT_FALSE(merge({}));
    EXPECT_FALSE(merge({""}));
    EXPECT_FALSE(merge({rank0().bytes().substr(0, 335)}));
}

}  // namespace
}  // namespace zbs::formats
