#include "algorithms/formats/launchers/rsl.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zbs::formats {
namespace {

RslSubjob subjob(const std::string& label) {
    return {.contact = "zone-a.example.org:2119/jobmanager-slurm",
            .label = label,
            .count = 4,
            .executable = "/opt/app/heat"};
}

TEST(WriteRsl, WritesOneSubjobASite) {
    RslSubjob a = subjob("subjob 0"), b = subjob("subjob 1");
    a.host_count = 2;
    a.lan_id = "zone-a";
    a.directory = "/home/ana/run 1";
    a.arguments = {"-n", "512", ""};
    a.environment = {{"OMP_NUM_THREADS", "1"}};
    a.walltime = std::chrono::seconds(1741);
    const auto text = write_rsl({{a, b}});
    ASSERT_TRUE(text) << text.error();
    EXPECT_EQ(*text, R"(+
( &(resourceManagerContact="zone-a.example.org:2119/jobmanager-slurm")
   (label="subjob 0")(count=4)(hostCount=2)(jobType=mpi)
   (subjobStartType=strict-barrier)(subjobCommsType=blocking-join)
   (environment=(GLOBUS_DUROC_SUBJOB_INDEX 0)(GLOBUS_LAN_ID "zone-a")("OMP_NUM_THREADS" "1"))
   (directory="/home/ana/run 1")(executable="/opt/app/heat")
   (arguments="-n" "512" "")(maxWallTime=30) )
( &(resourceManagerContact="zone-a.example.org:2119/jobmanager-slurm")
   (label="subjob 1")(count=4)(jobType=mpi)
   (subjobStartType=strict-barrier)(subjobCommsType=blocking-join)
   (environment=(GLOBUS_DUROC_SUBJOB_INDEX 1))
   (executable="/opt/app/heat") )
)");
}

TEST(WriteRsl, RoundsTheWalltimeUpToMinutes) {
    for (const auto& [us, minutes] : std::vector<std::pair<std::int64_t, const char*>>{
             {1, "=1)"}, {60'000'000, "=1)"}, {60'000'001, "=2)"}, {3'600'000'000, "=60)"}}) {
        RslSubjob job = subjob("x");
        job.walltime = Duration{us};
        EXPECT_THAT(*write_rsl({{job}}), testing::HasSubstr(std::string("(maxWallTime") + minutes)) << us;
    }
}

TEST(RslQuoted, DoublesTheDelimiterAndNothingElse) {
    EXPECT_EQ(*rsl_quoted("say \"hi\" $(X) # 'a' \\ \n \xc3\xa9"), "\"say \"\"hi\"\" $(X) # 'a' \\ \n \xc3\xa9\"");
    EXPECT_EQ(*rsl_quoted(""), "\"\"");
    EXPECT_FALSE(rsl_quoted(std::string("a\0b", 3)));
    EXPECT_FALSE(rsl_quoted("a\r\n"));
}

struct BadRsl {
    const char* name;
    void (*change)(RslSubjob&);
    const char* pointer;
};
class RslRefuses : public testing::TestWithParam<BadRsl> {};
TEST_P(RslRefuses, WithThePlaceAtFault) {
    RslSubjob good = subjob("good"), bad = subjob("bad");
    GetParam().change(bad);
    const auto text = write_rsl({{good, bad}});
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().pointer, GetParam().pointer);
}
INSTANTIATE_TEST_SUITE_P(
    , RslRefuses,
    testing::Values(BadRsl{"NoContact", [](RslSubjob& j) { j.contact.clear(); }, "/subjobs/1/contact"},
                    BadRsl{"NoLabel", [](RslSubjob& j) { j.label.clear(); }, "/subjobs/1/label"},
                    BadRsl{"SameLabel", [](RslSubjob& j) { j.label = "good"; }, "/subjobs/1/label"},
                    BadRsl{"NoExecutable", [](RslSubjob& j) { j.executable.clear(); }, "/subjobs/1/executable"},
                    BadRsl{"NoProcess", [](RslSubjob& j) { j.count = 0; }, "/subjobs/1/count"},
                    BadRsl{"MoreHostsThanProcesses", [](RslSubjob& j) { j.host_count = 5; }, "/subjobs/1/host_count"},
                    BadRsl{"SpaceInLan", [](RslSubjob& j) { j.lan_id = "a b"; }, "/subjobs/1/lan_id"},
                    BadRsl{"NegativeWalltime", [](RslSubjob& j) { j.walltime = Duration{-1}; }, "/subjobs/1/walltime"},
                    BadRsl{"CrInArgument",
                           [](RslSubjob& j) {
                               j.arguments = {"a", "\r"};
                           },
                           "/subjobs/1/arguments/1"},
                    BadRsl{"NulInDirectory", [](RslSubjob& j) { j.directory = std::string(1, '\0'); },
                           "/subjobs/1/directory"},
                    BadRsl{"EnvironmentTwice",
                           [](RslSubjob& j) {
                               j.environment = {{"A", "1"}, {"A", "2"}};
                           },
                           "/subjobs/1/environment/1"},
                    BadRsl{"ReservedEnvironment",
                           [](RslSubjob& j) {
                               j.environment = {{"GLOBUS_LAN_ID", "1"}};
                           },
                           "/subjobs/1/environment/0"},
                    BadRsl{"EnvironmentName",
                           [](RslSubjob& j) {
                               j.environment = {{"A=B", "1"}};
                           },
                           "/subjobs/1/environment/0"}),
    [](const auto& param_info) { return std::string(param_info.param.name); });

TEST(WriteRsl, RefusesARequestWithoutSubjob) { EXPECT_EQ(write_rsl({}).error().pointer, "/subjobs"); }

}  // namespace
}  // namespace zbs::formats
