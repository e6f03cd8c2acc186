#include "services/common/messages/steps/job_limits.hpp"

#include <gtest/gtest.h>

namespace zbs {
namespace {

TEST(ParseUmask, IsOctal) {
    EXPECT_EQ(*parse_umask("027"), 027U);
    EXPECT_EQ(*parse_umask("0"), 0U);
    EXPECT_EQ(*parse_umask("777"), 0777U);
    for (const char* text : {"", "8", "1000", "-1", "0x1", "27 ", "u=rwx"}) EXPECT_FALSE(parse_umask(text)) << text;
}

TEST(ParseJobLimits, NamesNumbersAndUnits) {
    using Limits = std::vector<JobLimit>;
    EXPECT_EQ(*parse_job_limits("stack=unlimited,nofile=4096,memlock=64M"),
              (Limits{{"stack", {}}, {"nofile", 4'096}, {"memlock", 64ULL << 20}}));
    EXPECT_EQ(*parse_job_limits(""), Limits{});
    EXPECT_EQ(*parse_job_limits("data=3G"), (Limits{{"data", 3ULL << 30}}));
    for (const char* text : {"stack", "stack=", "=1", "stacks=1", "stack=1T", "stack=-1", "stack=1.5M", "stack=M",
                             "stack=99999999999G", "stack=1 ,nofile=2", "STACK=1"})
        EXPECT_FALSE(parse_job_limits(text)) << text;
}

}  // namespace
}  // namespace zbs
