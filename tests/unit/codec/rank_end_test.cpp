#include "services/common/messages/steps/rank_end.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/common/codec/message_codec.hpp"

namespace zbs {
namespace {

using enum RankEndKind;

RankEnd some_end(RankEndKind how, int code, bool early = true, std::int64_t at = 1'000'000) {
    return {.rank = 3, .how = how, .code = code, .before_finalize = early, .at = time_from_microseconds(at)};
}

RankEnd before_init(int code) {
    RankEnd end = some_end(kExited, code, false);
    end.before_init = true;
    return end;
}

RankEnd in_stop(RankEnd end) {
    end.in_stop = true;
    return end;
}

TEST(RankEndRecord, GoesThereAndBack) {
    for (const RankEnd& end :
         {some_end(kExited, 7), some_end(kSignalled, 11), some_end(kAborted, 0, false),
          some_end(kExited, 255, false, 0), before_init(3), some_end(kAborted, 300), some_end(kAborted, -1),
          in_stop(some_end(kSignalled, 15)), in_stop(some_end(kExited, 7, false))})
        EXPECT_EQ(read_rank_end(rank_end_file(3), rank_end_text(end)), end) << rank_end_text(end);
}

TEST(RankEndRecord, ALineBehindItIsWhyTheProgramDidNotBegin) {
    const RankEnd end = some_end(kExited, 127, false);
    const std::string text = rank_end_text(end) + "cannot run /x: Permission denied\nmore\n";
    EXPECT_EQ(read_rank_end(rank_end_file(3), text), end);
    EXPECT_EQ(rank_fault(text), "cannot run /x: Permission denied");
    EXPECT_EQ(rank_fault(rank_end_text(end)), "");
    EXPECT_EQ(rank_fault(""), "");
}

TEST(RankEndRecord, WhatAJobHasWrittenInItsPlaceIsNone) {
    const std::string good = rank_end_text(some_end(kExited, 7));
    for (const char* name :
         {".zbs-end.", ".zbs-end.x", ".zbs-end.-1", ".zbs-end.3x", ".zbs-end.4294967296", "end.3", ""})
        EXPECT_FALSE(read_rank_end(name, good)) << name;
    for (const char* text : {"", "\n", "1 exited", "1 exited 256", "1 exited -1", "x exited 7", "1 Exited 7",
                             "-1 exited 7", "99999999999999999999 exited 7", "1  exited 7"})
        EXPECT_FALSE(read_rank_end(".zbs-end.3", text)) << text;
}

TEST(RankEndOrder, TheFirstIsWhyTheOthersEnded) {
    const RankEnd early = some_end(kExited, 7, true, 5'000'000), later = some_end(kSignalled, 9, true, 5'000'100);
    EXPECT_TRUE(comes_before(early, later));
    EXPECT_FALSE(comes_before(later, early));
    // Peers notice a broken connection, and abort, before the end of the rank at its other end is noticed.
    const RankEnd hasty = some_end(kAborted, 15, true, 4'900'000);
    EXPECT_TRUE(comes_before(early, hasty));
    EXPECT_FALSE(comes_before(hasty, early));
    EXPECT_TRUE(comes_before(some_end(kAborted, 5, true, 1'000'000), early)) << "long before";
    EXPECT_TRUE(comes_before(some_end(kAborted, 5, true, 1), some_end(kAborted, 5, true, 2)));
    EXPECT_TRUE(comes_before(later, in_stop(early))) << "whatever the clocks of their machines show";
    EXPECT_FALSE(comes_before(in_stop(early), later));
}

TEST(RankEndWords, NameRankMachineAndEnd) {
    EXPECT_EQ(describe(some_end(kExited, 7), "a.m0"), "rank 3 on a.m0 exited with code 7 before MPI_Finalize");
    EXPECT_EQ(describe(some_end(kExited, 7, false), "a.m0"), "rank 3 on a.m0 exited with code 7");
    EXPECT_EQ(describe(before_init(3), "a.m0"), "rank 3 on a.m0 exited with code 3 before MPI_Init");
    EXPECT_EQ(describe(some_end(kSignalled, 11), "b.m1"), "rank 3 on b.m1 ended by signal 11");
    EXPECT_EQ(describe(some_end(kAborted, 5), ""), "rank 3 called MPI_Abort with code 5");
    EXPECT_EQ(describe(some_end(kAborted, 300), ""), "rank 3 called MPI_Abort with code 300 (exit code 44)");
    EXPECT_EQ(describe(some_end(kAborted, -1), ""), "rank 3 called MPI_Abort with code -1 (exit code 255)");
    EXPECT_EQ(describe(some_end(kAborted, 256), ""), "rank 3 called MPI_Abort with code 256 (exit code 1)");
    EXPECT_EQ(exit_code_of(some_end(kAborted, 300)), 44);
    EXPECT_EQ(exit_code_of(some_end(kExited, 7)), 7);
    EXPECT_EQ(exit_code_of(some_end(kExited, 0)), 1) << "who leaves early has not ended well";
    EXPECT_EQ(exit_code_of(some_end(kSignalled, 11)), 139);
    EXPECT_EQ(exit_code_of(some_end(kAborted, 0)), 1);
}

TEST(RankFinding, IsReadFromItsFileAndFromNoOtherText) {
    for (const RankFinding finding : {RankFinding::kPreloadRemoved, RankFinding::kNotPreloadable, RankFinding::kAlone})
        EXPECT_EQ(describe_finding(finding_text(3, finding)), describe(3, finding, ""));
    EXPECT_EQ(describe(3, RankFinding::kNotPreloadable, "a.m0"),
              "rank 3 on a.m0 runs without ZBS's library (it is linked statically or setuid)");
    for (const char* text : {"", "3", "3 gone\n", "-1 alone\n", "x alone\n", "alone\n"})
        EXPECT_EQ(describe_finding(text), "") << text;
}

TEST(RankEndMessage, IsPartOfAPartsStatus) {
    PartStatus status;
    status.zone = "a";
    status.first_end = some_end(kSignalled, 11);
    const codec::Json json = codec::encode(status);
    EXPECT_EQ(codec::decode_part_status(json).value(), status);
    PartStatus unbegun = status;
    unbegun.first_end = before_init(3);
    EXPECT_EQ(codec::decode_part_status(codec::encode(unbegun)).value(), unbegun);
    for (const auto& [key, value] : std::vector<std::pair<const char*, codec::Json>>{{"rank", -1},
                                                                                     {"how", "ended"},
                                                                                     {"code", 2147483648},
                                                                                     {"before_finalize", 1},
                                                                                     {"before_init", 1},
                                                                                     {"at_us", -1},
                                                                                     {"why", "x"}}) {
        codec::Json bad = json;
        bad["first_end"][key] = value;
        const auto read = codec::decode_part_status(bad);
        ASSERT_FALSE(read) << key;
        EXPECT_EQ(read.error().pointer, std::string("/first_end/") + key);
    }
}

}  // namespace
}  // namespace zbs
