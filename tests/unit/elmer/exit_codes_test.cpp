#include "studies/models/exit_codes.hpp"

#include <gtest/gtest.h>

#include "algorithms/base/rng.hpp"

namespace zbs::elmer {
namespace {

TEST(ExitCodes, AreTheRemainderAbove100) {
    ExitCodes codes;
    EXPECT_EQ(codes.assign(JobId{5}), 105);
    EXPECT_EQ(codes.assign(JobId{151}), 100);
    EXPECT_EQ(codes.status_of(JobId{151}), 100);
    EXPECT_EQ(codes.take(105), JobId{5});
    EXPECT_EQ(codes.take(105), std::nullopt) << "it has left";
}

TEST(ExitCodes, JobsWithEqualRemaindersAreToldApart) {
    ExitCodes codes(7);
    EXPECT_EQ(codes.assign(JobId{6}), 106);
    EXPECT_EQ(codes.assign(JobId{13}), 100);
    EXPECT_EQ(codes.assign(JobId{7}), 101);
    EXPECT_EQ(codes.take(100), JobId{13});
    EXPECT_EQ(codes.take(101), JobId{7});
    EXPECT_EQ(codes.take(106), JobId{6});
}

TEST(ExitCodes, HelpersAndStrangersAreIgnored) {
    ExitCodes codes;
    codes.assign(JobId{1});
    for (const int status : {-1, 0, 1, 99, 100, 102, 251, 255, 1'000'000})
        EXPECT_EQ(codes.take(status), std::nullopt) << status;
    EXPECT_EQ(codes.take(101), JobId{1});
}

TEST(ExitCodes, FitEightBitsForUpTo151Jobs) {  // claim 35
    EXPECT_TRUE(ExitCodes::serves(151));
    for (const int slots : {0, 1, 4, 150, 152, 157}) EXPECT_FALSE(ExitCodes::serves(slots)) << slots;
    ExitCodes codes;
    Rng rng(1);
    std::vector<std::pair<int, JobId>> live;
    for (std::int64_t id = 0; live.size() < 151; id += 1 + static_cast<std::int64_t>(rng.below(400))) {
        ASSERT_FALSE(codes.full());
        live.emplace_back(codes.assign(JobId{id}), JobId{id});
        ASSERT_LE(live.back().first, 255);
    }
    EXPECT_TRUE(codes.full());
    rng.shuffle(live);
    for (const auto& [status, job] : live) EXPECT_EQ(codes.take(status), job);
}

}  // namespace
}  // namespace zbs::elmer
