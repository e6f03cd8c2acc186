#include "services/node_agent/domain/input_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/memory_depot.hpp"
#include "tests/support/silent_log.hpp"
#include "tests/support/virtual_clock.hpp"

namespace zbs::test {
namespace {
using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr std::uint64_t kMiBOfInputs = 1 << 20;

struct InputStoreTest : testing::Test {
    InputStoreTest() {
        depot.now = [this] { return clock.now(); };
    }
    /// All of a file of so many MiB, whose content is this letter.
    Result<FilePresence> put(char letter, std::uint64_t mib) {
        const std::string bytes(mib * kMiBOfInputs, letter);
        return inputs.put(MemoryDepot::digest_of(bytes), {0, bytes.size(), 0, bytes});
    }
    bool has(char letter, std::uint64_t mib) {
        const auto file = depot.find("inputs", MemoryDepot::digest_of(std::string(mib * kMiBOfInputs, letter)));
        return file->has_value() && (*file)->complete;
    }
    static StepSpec::Input input(const std::string& bytes) {
        return {.name = "in.dat", .digest = MemoryDepot::digest_of(bytes), .size = bytes.size()};
    }

    VirtualClock clock{time_from_microseconds(1'700'000'000'000'000)};
    MemoryDepot depot;
    SilentLog log;
    InputStore inputs{depot, clock, log, 4 * kMiBOfInputs};
};

TEST_F(InputStoreTest, AFileComesInPiecesAndGoesOnWhereItStopped) {
    const std::string bytes = "0123456789", digest = MemoryDepot::digest_of(bytes);
    EXPECT_EQ(inputs.find(digest)->have, 0U);
    EXPECT_EQ(inputs.put(digest, {0, 10, 0, "0123"})->have, 4U);
    EXPECT_EQ(inputs.put(digest, {0, 10, 6, "6789"}).error().code, ErrorCode::kConflict);
    EXPECT_EQ(inputs.find(digest)->have, 4U);
    EXPECT_TRUE(inputs.put(digest, {0, 10, 4, "456789"})->complete);
    EXPECT_TRUE(inputs.put(digest, {0, 10, 0, "0123"})->complete) << "a late repeat";
}

TEST_F(InputStoreTest, AWrongChecksumLeavesNothing) {
    const std::string digest(64, 'a');
    EXPECT_EQ(inputs.put(digest, {0, 3, 0, "abc"}).error().code, ErrorCode::kConflict);
    EXPECT_EQ(inputs.find(digest)->have, 0U);
}

TEST_F(InputStoreTest, AnotherSizeBeginsAnewOnlyAtTheBeginning) {
    const std::string bytes = "0123456789", digest = MemoryDepot::digest_of(bytes);
    ASSERT_TRUE(inputs.put(digest, {0, 99, 0, "01234"}));
    EXPECT_EQ(inputs.put(digest, {0, 10, 5, "56789"}).error().code, ErrorCode::kConflict);
    EXPECT_EQ(inputs.find(digest)->have, 5U) << "a refused piece changes nothing";
    EXPECT_TRUE(inputs.put(digest, {0, 10, 0, bytes})->complete);
}

TEST_F(InputStoreTest, WhatWasUnusedForLongestGivesWay) {
    ASSERT_TRUE(put('a', 2) && put('b', 2));
    clock.advance(2min);
    ASSERT_TRUE(inputs.find(MemoryDepot::digest_of(std::string(2 * kMiBOfInputs, 'a'))));
    ASSERT_TRUE(put('c', 2));
    EXPECT_TRUE(has('a', 2) && has('c', 2));
    EXPECT_FALSE(has('b', 2));
}

TEST_F(InputStoreTest, WhatWasUsedJustNowWaitsForItsStep) {
    ASSERT_TRUE(put('a', 3));
    const auto refused = put('b', 2);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable) << "asked again later it is taken";
    EXPECT_THAT(refused.error().message, HasSubstr("files_MiB"));
    EXPECT_TRUE(has('a', 3));
    clock.advance(2min);
    EXPECT_TRUE(put('b', 2));
    EXPECT_FALSE(has('a', 3));
}

TEST_F(InputStoreTest, AClockThatIsSetBackKeepsNothingFromGivingWay) {
    ASSERT_TRUE(put('a', 4));
    clock.set_wall(clock.now() - std::chrono::hours{5});
    EXPECT_TRUE(put('b', 4));
    EXPECT_FALSE(has('a', 4));
}

TEST_F(InputStoreTest, AFileOnItsWayCountsWhole) {
    ASSERT_TRUE(inputs.put(std::string(64, 'a'), {0, 3 * kMiBOfInputs, 0, "x"}));
    EXPECT_FALSE(put('b', 2));
}

TEST_F(InputStoreTest, MoreThanIsEverKeptIsRefusedWithTheRemedy) {
    const auto refused = inputs.put(std::string(64, 'a'), {0, 4 * kMiBOfInputs + 1, 0, "x"});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kTooLarge);
    EXPECT_EQ(refused.error().pointer, "/size");
    EXPECT_THAT(refused.error().message, HasSubstr("4 MiB; 'files_MiB'"));
    EXPECT_TRUE(put('a', 4));
}

TEST_F(InputStoreTest, WhatNobodyUsesGoesAfterADay) {
    ASSERT_TRUE(put('a', 1));
    inputs.resume();
    clock.advance(20h);
    ASSERT_TRUE(put('b', 1));
    EXPECT_TRUE(has('a', 1));
    clock.advance(6h);
    EXPECT_FALSE(has('a', 1));
    EXPECT_TRUE(has('b', 1));
}

TEST_F(InputStoreTest, WhatIsNotHereIsToldAtItsPlace) {
    ASSERT_TRUE(inputs.put(input("abc").digest, {0, 3, 0, "abc"}));
    std::vector<StepSpec::Input> wanted = {input("abc"), input("missing")};
    EXPECT_EQ(inputs.locate(wanted).error().pointer, "/inputs/1/digest");
    wanted.pop_back();
    ASSERT_TRUE(inputs.locate(wanted));
    EXPECT_EQ(wanted[0].path, depot.path("inputs", wanted[0].digest));
    wanted[0].size = 4;
    EXPECT_EQ(inputs.locate(wanted).error().pointer, "/inputs/0/size");
}

}  // namespace
}  // namespace zbs::test
