#include "services/zone_scheduler/program/commands/match_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "services/common/messages/limits.hpp"
#include "tests/support/temporary_folder.hpp"

namespace zbs::zone_program {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::SizeIs;

const std::string kPart = "\n[[part]]\nname = 'p'\nranks = 2\nwalltime = '1h'\n";

class MatchFileTest : public testing::Test {
  protected:
    Result<MatchFile> read(const std::string& tables, const std::string& keys = "queue = 'easy'\n",
                           const std::string& machines = "[[machine]]\nname = 'm0'\nprocessors = 4\n") {
        std::ofstream(folder.path("zone.toml"))
            << "name = 'alpha'\norganisation = 'org-a'\nstate = '/tmp/none'\n" + keys + machines + tables;
        return read_match_file(folder.path("zone.toml"));
    }
    std::string fault(const std::string& tables, const std::string& keys = "queue = 'easy'\n",
                      const std::string& machines = "[[machine]]\nname = 'm0'\nprocessors = 4\n") {
        const Result<MatchFile> file = read(tables, keys, machines);
        return file ? "accepted" : file.error().pointer + " " + file.error().message;
    }
    static std::string many(std::size_t count) {
        std::string tables;
        for (std::size_t i = 0; i < count; ++i)
            tables += "[[part]]\nname = 'p" + std::to_string(i) + "'\nranks = 1\nwalltime = '1m'\n";
        return tables;
    }

    test::TemporaryFolder folder;
};

TEST_F(MatchFileTest, APartHasTheValuesOfItsTableAndTheUsualOnes) {
    const auto file = read(kPart +
                           "[[part]]\nname = 'q'\nranks = 4\nwalltime = '10m'\nruntime = '90s'\nsubmit = '1h30m'\n"
                           "start_in = '2h'\norganisation = 'org-b'\n");
    ASSERT_TRUE(file) << file.error();
    const MatchPart &p = file->parts.at(0), &q = file->parts.at(1);
    EXPECT_EQ(std::tuple(p.name, p.organisation, p.ranks), std::tuple("p", "org-a", 2));
    EXPECT_EQ(std::tuple(p.walltime, p.runtime, p.submit, p.start_in),
              std::tuple(Duration{1h}, Duration{1h}, Duration{}, Duration{}));
    EXPECT_EQ(q.organisation, "org-b");
    EXPECT_EQ(std::tuple(q.walltime, q.runtime, q.submit, q.start_in),
              std::tuple(Duration{10min}, Duration{90s}, Duration{90min}, Duration{2h}));
    EXPECT_EQ(file->zone.queue, "easy");
}

TEST_F(MatchFileTest, FaultsNameTheTableAndTheRemedy) {
    EXPECT_THAT(fault(""), HasSubstr("at least one [[part]] is needed"));
    EXPECT_THAT(fault(kPart, ""), HasSubstr("set 'queue' to a discipline, e.g. queue = \"easy\""));
    EXPECT_THAT(fault(kPart, "", "[slurm]\n"), HasSubstr("put [[machine]] in place of [slurm]"));
    EXPECT_THAT(fault(kPart, "queue = 'gang'\n"), HasSubstr("zone.toml:4 "));
    EXPECT_THAT(fault(kPart, "queue = 'gang'\n", "[[machine]]\nname = 'm0'\nprocessors = 4\nagent = true\n"),
                HasSubstr("none has the run time of the file; use zbs simulate"));
    EXPECT_THAT(fault(kPart + kPart), HasSubstr("zone.toml:15 a [[part]] is called 'p' already, in "));
    EXPECT_THAT(fault(kPart + "[[part]]\nranks = 1\nwalltime = '1m'\n"), HasSubstr("zone.toml:13 "));
    EXPECT_THAT(fault(kPart + "[[part]]\nname = 'q'\nranks = 1\n"), HasSubstr("walltime"));
    EXPECT_THAT(fault("[[part]]\nname = 'q'\nranks = 5\nwalltime = '1m'\n"),
                HasSubstr("zone.toml:10 part 'q' has 5 ranks, the zone 4 processors"));
    EXPECT_THAT(fault("[[part]]\nname = 'q'\nranks = 0\nwalltime = '1m'\n"), HasSubstr("zone.toml:10 "));
    EXPECT_THAT(fault(kPart + "runtime = '61m'\n"), HasSubstr("zone.toml:13 'runtime' must be more than 0"));
    EXPECT_THAT(fault(kPart + "submit = 'soon'\n"), HasSubstr("zone.toml:13 'part.0.submit': 'soon' is no duration"));
    EXPECT_THAT(fault(kPart + "start_in = '25h'\n"), HasSubstr("is more than the 1d for which the zone promises"));
    EXPECT_THAT(fault(kPart + "priority = 3\n"), HasSubstr("priority"));
    EXPECT_THAT(fault("[[part]]\nname = 'q'\nranks = 1\nwalltime = '0s'\n"), HasSubstr("'walltime' must be more"));
    EXPECT_THAT(fault("[[part]]\nname = '" + std::string(33, 'x') + "'\nranks = 1\nwalltime = '1m'\n"),
                HasSubstr("'name' of a [[part]] must be 1 to 32"));
}

TEST_F(MatchFileTest, SizesHaveLimits) {
    EXPECT_EQ(fault(many(limits::kMaxMatchParts)), "accepted");
    EXPECT_THAT(fault(many(limits::kMaxMatchParts + 1)), HasSubstr("more than 200 [[part]] tables"));
    const std::string large = "[[machine]]\nname = 'm0'\nprocessors = 1000000\n";
    EXPECT_EQ(fault(kPart, "queue = 'easy'\n", large), "accepted");
    EXPECT_THAT(fault(kPart, "queue = 'easy'\n", large + "[[machine]]\nname = 'm1'\nprocessors = 1\n"),
                HasSubstr("all machines together have more than 1000000 processors"));
}

TEST_F(MatchFileTest, ARowHasAtMost120Columns) {
    MatchPart part{.name = std::string(32, 'x'), .organisation = "org-a", .ranks = 40, .submit = 99 * 24h};
    Match match{.start = part.submit, .end = part.submit, .waits_for = WaitsFor::kReservation};
    for (int p = 0; p < 40; ++p) {
        match.processors.push_back(p);
        match.places.push_back({p, MachineName((p % 2 > 0 ? "longer-name-" : "m") + std::to_string(p)), 0});
    }
    const std::string text = written(matches_of({part}, {match}), "table");
    EXPECT_LE(text.size() - text.find('\n') - 2, 120U);  // the row, without the ends of lines
    EXPECT_THAT(text, HasSubstr("reservation\n"));
}

TEST_F(MatchFileTest, ATableShowsInstantsAndAsManyMachinesAsFit) {
    MatchPart part{.name = "p", .organisation = "org-a", .ranks = 4, .submit = 1500ms};
    Match match{.start = 26h, .end = 26h + 61s, .waits_for = WaitsFor::kReservation};
    for (const int processor : {5, 0, 1, 3}) {
        match.processors.push_back(processor);
        match.places.push_back({0, processor < 4 ? "m0" : "m1", processor % 4});
    }
    MatchPart wide{.name = "wide", .organisation = "org-a", .ranks = 20};
    Match spread{.start = 0s, .end = 1s};
    for (int machine = 0; machine < 20; ++machine) {
        spread.processors.push_back(machine);
        spread.places.push_back({machine, MachineName("node-" + std::to_string(machine)), 0});
    }
    const listing::Listing found = matches_of({part, wide, wide}, {match, spread, Match{.refused = "no"}});
    EXPECT_EQ(written(found, "table"),
              "PART  SUBMITTED  START       END         MACHINES                        WAITS FOR\n"
              "p     00:00:01   1-02:00:00  1-02:01:01  m0:0-1,3 m1:1                   reservation\n"
              "wide  00:00:00   00:00:00    00:00:01    node-0:0 node-1:0 +18 machines  -\n"
              "wide  00:00:00   -           -           -                               refused\n");
    EXPECT_EQ(found.items[0]["machines"][0], (codec::Json{{"name", "m0"}, {"processors", {0, 1, 3}}}));
    EXPECT_EQ(found.items[2]["refused"], "no");
    EXPECT_TRUE(found.items[2]["start_s"].is_null());
}

TEST_F(MatchFileTest, APartitionHasItsQueueAndItsMachines) {
    const std::string machines =
        "[[machine]]\nname = 'm0'\nprocessors = 4\npartition = 'batch'\n[[machine]]\nname = 'm1'\nprocessors = 2\n";
    const std::string tables = kPart + "[[partition]]\nname = 'batch'\nqueue = 'conservative'\n";
    const auto others = read(tables, "queue = 'easy'\n", machines);
    ASSERT_TRUE(others) << others.error();
    EXPECT_EQ(others->zone.queue, "easy");
    EXPECT_EQ(others->zone.zone.processor_count(), 2);
    const auto batch = read_match_file(folder.path("zone.toml"), "batch");
    ASSERT_TRUE(batch) << batch.error();
    EXPECT_EQ(batch->zone.queue, "conservative");
    EXPECT_EQ(batch->zone.zone.processor_count(), 4);
    EXPECT_THAT(read_match_file(folder.path("zone.toml"), "debug").error().message, HasSubstr("one of batch"));
    EXPECT_THAT(fault(tables, "queue = 'easy'\n", "[[machine]]\nname = 'm0'\nprocessors = 4\npartition = 'batch'\n"),
                HasSubstr("name a queue by --partition, one of batch"));
    ASSERT_TRUE(read(kPart));
    EXPECT_THAT(read_match_file(folder.path("zone.toml"), "batch").error().message, HasSubstr("leave --partition out"));
}

}  // namespace
}  // namespace zbs::zone_program
