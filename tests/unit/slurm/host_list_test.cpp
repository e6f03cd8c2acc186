#include "services/zone_scheduler/adapters/slurm/host_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/common/messages/limits.hpp"

namespace zbs::slurm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> names_in(std::string_view text) {
    Result<std::vector<std::string>> names = parse_host_list(text);
    EXPECT_TRUE(names) << text << ": " << names.error();
    return names ? *names : std::vector<std::string>{};
}

TEST(HostList, StandsForNamesInItsOrder) {
    EXPECT_THAT(names_in("n1"), ElementsAre("n1"));
    EXPECT_THAT(names_in("n[3,1-2],login"), ElementsAre("n3", "n1", "n2", "login"));
    EXPECT_THAT(names_in("n[08-11]"), ElementsAre("n08", "n09", "n10", "n11"));
    EXPECT_THAT(names_in("r[0-1]x[7-8]-ib"), ElementsAre("r0x7-ib", "r0x8-ib", "r1x7-ib", "r1x8-ib"));
    EXPECT_THAT(names_in("gpu-a.site,cpu_1"), ElementsAre("gpu-a.site", "cpu_1"));
}

TEST(HostList, NothingIsNoNames) {
    for (const char* text : {"", "(null)", "None"}) EXPECT_THAT(names_in(text), IsEmpty()) << text;
}

TEST(HostList, WhatIsNoListIsRefusedWithItsPlace) {
    for (const char* text :
         {",",   "n1,",   ",n1",  "n[",  "n[]", "n[1",           "n[1-]", "n[2-1]", "n[1,]",   "n]",    "n[1]]",
          "n 1", "n1;n2", "n[a]", "-n1", ".n",  "n[1234567890]", "n|1",   "n\n",    "n[1--2]", "n[[1]]"}) {
        const Result<std::vector<std::string>> names = parse_host_list(text);
        ASSERT_FALSE(names) << text;
        EXPECT_EQ(names.error().code, ErrorCode::kInvalidArgument) << text;
        EXPECT_THAT(names.error().message, HasSubstr("fault at byte")) << text;
    }
}

TEST(HostList, ShortTextsThatStandForTooManyAreRefused) {
    EXPECT_EQ(names_in("n[1-100000]").size(), limits::kMaxSlurmNodes);
    for (const char* text : {"n[1-100001]", "n[0-999999999]", "a[1-60000],b[1-60000]", "a[1-400]b[1-400]",
                             "a[0-9]b[0-9]c[0-9]d[0-9]e[0-9]f[0-9]"}) {
        const Result<std::vector<std::string>> names = parse_host_list(text);
        ASSERT_FALSE(names) << text;
        EXPECT_EQ(names.error().code, ErrorCode::kTooLarge) << text;
    }
    EXPECT_EQ(parse_host_list(std::string(limits::kMaxSlurmListBytes + 1, 'n')).error().code, ErrorCode::kTooLarge);
}

TEST(HostList, WhatIsWrittenIsReadBack) {
    const std::vector<std::string> names = {"n1", "r0x08-ib", "login"};
    EXPECT_EQ(names_in(write_host_list(names)), names);
}

}  // namespace
}  // namespace zbs::slurm
