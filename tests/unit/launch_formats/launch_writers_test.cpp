#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "algorithms/formats/launchers/hostfile.hpp"
#include "algorithms/formats/launchers/jsdl.hpp"
#include "algorithms/formats/launchers/rsl.hpp"
#include "services/common/codec/psij_codec.hpp"
#include "tests/unit/launch_formats/requests.hpp"

namespace zbs::formats {
namespace {

using testing::HasSubstr;

TEST(LaunchRequest, RankListsAreShort) {
    EXPECT_EQ(rank_list(launch({"a/x", "a/x", "a/x"}).zones[0]), "0-2");
    const LaunchRequest mixed = launch({"a/x", "b/x", "a/x", "a/x", "b/x", "a/x"});
    EXPECT_EQ(rank_list(mixed.zones[0]), "0,2-3,5");
    EXPECT_TRUE(is_renumbered(mixed));
    EXPECT_FALSE(is_renumbered(launch({"a/x", "a/y", "b/x"})));
}

struct BadRequest {
    const char* name;
    std::function<void(LaunchRequest&)> spoil;
    const char* pointer;
};
class LaunchRequestRefuses : public testing::TestWithParam<BadRequest> {};
INSTANTIATE_TEST_SUITE_P(
    , LaunchRequestRefuses,
    testing::Values(
        BadRequest{"NoZone", [](LaunchRequest& r) { r.zones.clear(); }, "/zones"},
        BadRequest{"EmptyZone",
                   [](LaunchRequest& r) {
                       r.zones.push_back({"c", {}, {}});
                   },
                   "/zones/2/ranks"},
        BadRequest{"ZoneTwice", [](LaunchRequest& r) { r.zones[1].name = "a"; }, "/zones/1/name"},
        BadRequest{"RankTwice", [](LaunchRequest& r) { r.zones[1].ranks[0].rank = 0; }, "/zones/1/ranks/0"},
        BadRequest{"RankOutOfRange", [](LaunchRequest& r) { r.zones[1].ranks[0].rank = 3; }, "/zones/1/ranks/0"},
        BadRequest{"RanksOutOfOrder", [](LaunchRequest& r) { std::swap(r.zones[0].ranks[0], r.zones[0].ranks[1]); },
                   "/zones/0/ranks/1"},
        BadRequest{"NegativeSlot", [](LaunchRequest& r) { r.zones[0].ranks[1].slot = -1; }, "/zones/0/ranks/1/slot"},
        BadRequest{"NoExecutable", [](LaunchRequest& r) { r.executable.clear(); }, "/executable"},
        BadRequest{"EnvironmentTwice",
                   [](LaunchRequest& r) {
                       r.environment = {{"A", "1"}, {"A", "2"}};
                   },
                   "/environment/1"},
        BadRequest{"EnvironmentName",
                   [](LaunchRequest& r) {
                       r.environment = {{"A=", "1"}};
                   },
                   "/environment/0"},
        BadRequest{"NegativeWalltime", [](LaunchRequest& r) { r.walltime = Duration{-1}; }, "/walltime"}),
    [](const auto& param_info) { return std::string(param_info.param.name); });

TEST_P(LaunchRequestRefuses, InEveryFormatThatNamesTheProgram) {
    LaunchRequest request = launch({"a/n1", "a/n2", "b/n1"});
    GetParam().spoil(request);
    const auto rsl = write_launch_rsl(request);
    ASSERT_FALSE(rsl);
    EXPECT_EQ(rsl.error().pointer, GetParam().pointer);
    EXPECT_EQ(codec::encode_psij(request).error().pointer, GetParam().pointer);
    if (!request.zones.empty()) {
        EXPECT_EQ(write_jsdl(request, 0).error().pointer, GetParam().pointer);
    }
}

TEST(WriteRsl, RefusesRankListsThatNoEnvironmentHolds) {
    std::vector<std::string> hosts;
    for (int r = 0; r < 60'000; ++r) hosts.push_back(r % 2 ? "a/n" : "b/n");
    const auto rsl = write_launch_rsl(launch(hosts));
    ASSERT_FALSE(rsl);
    EXPECT_THAT(rsl.error().message, HasSubstr("too scattered"));
}

TEST(WriteRsl, RoundsTheWalltimeUpAndTakesTheContact) {
    LaunchRequest request = launch({"a/n1"});
    request.zones[0].contact = "zone-a.example.org:2119/jobmanager-slurm";
    request.walltime = std::chrono::seconds(61);
    EXPECT_THAT(*write_launch_rsl(request),
                HasSubstr("(resourceManagerContact=\"zone-a.example.org:2119/jobmanager-slurm\")"));
    EXPECT_THAT(*write_launch_rsl(request), HasSubstr("(maxWallTime=2)"));
}

TEST(WriteJsdl, IsThisDocument) {
    LaunchRequest request = launch({"a/n1", "a/n2"});
    request.environment = {{"A", "x \"y\"\n"}};
    EXPECT_EQ(*write_jsdl(request, 0), R"(<?xml version="1.0" encoding="UTF-8"?>
<jsdl:JobDefinition xmlns:jsdl="http://schemas.ggf.org/jsdl/2005/11/jsdl" xmlns:posix="http://schemas.ggf.org/jsdl/2005/11/jsdl-posix" xmlns:spmd="http://schemas.ogf.org/jsdl/2007/02/jsdl-spmd">
  <jsdl:JobDescription>
    <jsdl:JobIdentification>
      <jsdl:JobName>heat</jsdl:JobName>
      <jsdl:JobAnnotation>zbs.zone=a</jsdl:JobAnnotation>
      <jsdl:JobAnnotation>zbs.zone_index=0</jsdl:JobAnnotation>
      <jsdl:JobAnnotation>zbs.zone_count=1</jsdl:JobAnnotation>
      <jsdl:JobAnnotation>zbs.ranks=0-1</jsdl:JobAnnotation>
      <jsdl:JobAnnotation>zbs.walltime_s=1800</jsdl:JobAnnotation>
    </jsdl:JobIdentification>
    <jsdl:Application>
      <spmd:SPMDApplication>
        <posix:Executable>/opt/app/heat</posix:Executable>
        <posix:Argument>-n</posix:Argument>
        <posix:Argument>512</posix:Argument>
        <posix:WorkingDirectory>/home/ana</posix:WorkingDirectory>
        <posix:Environment name="A">x &quot;y&quot;&#10;</posix:Environment>
        <spmd:NumberOfProcesses>2</spmd:NumberOfProcesses>
        <spmd:ProcessesPerHost>1</spmd:ProcessesPerHost>
        <spmd:SPMDVariation>http://www.ogf.org/jsdl/2007/02/jsdl-spmd/MPICH2</spmd:SPMDVariation>
      </spmd:SPMDApplication>
    </jsdl:Application>
    <jsdl:Resources>
      <jsdl:CandidateHosts>
        <jsdl:HostName>n1</jsdl:HostName>
        <jsdl:HostName>n2</jsdl:HostName>
      </jsdl:CandidateHosts>
      <jsdl:TotalResourceCount>
        <jsdl:Exact>2</jsdl:Exact>
      </jsdl:TotalResourceCount>
    </jsdl:Resources>
  </jsdl:JobDescription>
</jsdl:JobDefinition>
)");
}

TEST(WriteJsdl, RefusesWhatXmlCannotCarry) {
    for (const std::string bad : {"\x01", "\x1f", "\r", "\xff", "\xef\xbf\xbf", "\xef\xbf\xbe", "\xed\xa0\x80"}) {
        LaunchRequest request = launch({"a/n1"});
        request.arguments = {"fine", bad};
        const auto text = write_jsdl(request, 0);
        ASSERT_FALSE(text);
        EXPECT_EQ(text.error().pointer, "/arguments/1");
    }
    LaunchRequest request = launch({"a/n1"});
    request.arguments = {"\t\n", "\x7f", "\xef\xbf\xbd", "\xf0\x9f\x98\x80"};
    EXPECT_TRUE(write_jsdl(request, 0));
}

TEST(EncodePsij, HasNoKeyThatPsijDoesNotKnow) {
    LaunchRequest request = launch({"a/n1", "a/n1", "a/n2", "b/n1", "b/n2"});
    request.environment = {{"A", "1"}};
    const auto specs = codec::encode_psij(request);
    ASSERT_TRUE(specs) << specs.error();
    static const std::set<std::string> known = {
        "name",        "executable",  "arguments", "directory",  "inherit_environment", "environment", "stdin_path",
        "stdout_path", "stderr_path", "resources", "attributes", "pre_launch",          "post_launch", "launcher"};
    static const std::set<std::string> known_resources = {"__version",
                                                          "node_count",
                                                          "process_count",
                                                          "processes_per_node",
                                                          "cpu_cores_per_process",
                                                          "gpu_cores_per_process",
                                                          "exclusive_node_use",
                                                          "memory"};
    static const std::set<std::string> known_attributes = {"duration", "queue_name", "account", "reservation_id",
                                                           "custom_attributes"};
    for (const codec::Json& spec : *specs) {
        for (const auto& [key, value] : spec.items()) EXPECT_TRUE(known.count(key)) << key;
        for (const auto& [key, value] : spec["resources"].items()) EXPECT_TRUE(known_resources.count(key)) << key;
        for (const auto& [key, value] : spec["attributes"].items()) EXPECT_TRUE(known_attributes.count(key)) << key;
        if (spec["resources"].contains("node_count")) {
            EXPECT_EQ(spec["resources"]["process_count"].get<int>(),
                      spec["resources"]["node_count"].get<int>() * spec["resources"]["processes_per_node"].get<int>());
        }
    }
    EXPECT_FALSE((*specs)[0]["resources"].contains("node_count"));
    EXPECT_TRUE((*specs)[1]["resources"].contains("node_count"));
}

TEST(EncodePsij, WritesWholeSecondsRoundedUp) {
    LaunchRequest request = launch({"a/n1"});
    request.walltime = std::chrono::milliseconds(2'519'001);
    EXPECT_EQ((*codec::encode_psij(request))[0]["attributes"]["duration"], "2520 s");
    request.walltime = {};
    EXPECT_FALSE((*codec::encode_psij(request))[0]["attributes"].contains("duration"));
    request.arguments = {"\xff"};
    EXPECT_EQ(codec::encode_psij(request).error().pointer, "/arguments/0");
}

TEST(OpenMpiSlots, GoWithARankfileInAnyOrder) {
    const LaunchRequest request = launch({"a/A", "a/B", "a/A"});
    EXPECT_EQ(write_openmpi_hostfile(request.zones[0]).error().pointer, "/ranks/2");
    EXPECT_EQ(*write_openmpi_slots(request.zones[0]), "A slots=2\nB slots=1\n");
}

TEST(SlurmHostfile, WantsALetterOrDigitFirst) {
    EXPECT_EQ(write_slurm_hostfile(launch({"a/n1", "a/_n"}).zones[0]).error().pointer, "/ranks/1");
    EXPECT_TRUE(write_slurm_hostfile(launch({"a/1n"}).zones[0]));
}

TEST(HostFormats, RefuseAZoneWithoutRanks) {
    const LaunchZone none{"a", {}, {}};
    EXPECT_FALSE(write_slurm_hostfile(none));
    EXPECT_FALSE(write_openmpi_hostfile(none));
    EXPECT_FALSE(write_rankfile(none));
    EXPECT_FALSE(write_hydra_hostfile(none));
}

}  // namespace
}  // namespace zbs::formats
