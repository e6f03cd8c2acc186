#include "services/zone_scheduler/config/zone_config_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "services/common/messages/limits.hpp"
#include "tests/support/fake_trust.hpp"
#include "tests/support/temporary_folder.hpp"

namespace zbs::test {
namespace {
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kPrint = "sha256:" + std::string(64, '1');

/// The least that a zone needs, and what a test adds in front of the tables.
class ZoneConfigFileTest : public testing::Test {
  protected:
    void put(const std::string& name, const std::string& content) { std::ofstream(temporary.path(name)) << content; }
    Result<ZoneSettings> read(const std::string& keys, const std::string& tables = "") {
        put("zone.toml", "name = 'alpha'\norganisation = 'org-a'\nstate = '/tmp/none'\n" + keys +
                             "\n[[machine]]\nname = 'm0'\nprocessors = 4\n" + tables);
        return read_zone_settings(temporary.path("zone.toml"), "/usr/bin", {.trust = &trust});
    }
    std::string fault(const std::string& keys, const std::string& tables = "") {
        const Result<ZoneSettings> settings = read(keys, tables);
        return settings ? "accepted" : settings.error().pointer + " " + settings.error().message;
    }

    TemporaryFolder temporary;
    FakeTrust trust;
};

TEST_F(ZoneConfigFileTest, AnUnknownKeyIsToldWithItsLine) {
    EXPECT_THAT(fault("proccessors = 3"), HasSubstr("zone.toml:4 "));
}

TEST_F(ZoneConfigFileTest, PartsBringTheirOwnFilesAndLines) {
    std::filesystem::create_directory(temporary.path("zone.d"));
    put("zone.d/10-org-b.toml", "queue = 'easy'\n[[ask]]\norganisation = 'org-b'\nbundle = 'org-b.pem'\n");
    put("zone.d/org-b.pem", "BUNDLE");
    put("zone.d/20.toml", "[[machine]]\nname = 'm1'\n");
    const auto settings = read("queue = 'fcfs'");
    ASSERT_TRUE(settings) << settings.error();
    EXPECT_EQ(settings->zone.asks.at(0).bundle, "BUNDLE");
    EXPECT_EQ(settings->zone.zone.machines.size(), 2u);
    EXPECT_EQ(settings->zone.queue, "easy");
    EXPECT_EQ(settings->place_of("queue"), temporary.path("zone.d/10-org-b.toml") + ":1");
    EXPECT_THAT(settings->place_of("ask"), HasSubstr("zone.d/10-org-b.toml:"));
    EXPECT_EQ(settings->place_of("listen"), "") << "is a default";
    put("zone.d/20.toml", "[[machine]]\nname = 'm1'\nprocessors = 0\n");
    EXPECT_THAT(fault(""), HasSubstr("zone.d/20.toml:3 "));
}

TEST_F(ZoneConfigFileTest, WhatIsMissingOrTwiceIsToldInTheFileAndLineOfItsTable) {
    std::filesystem::create_directory(temporary.path("zone.d"));
    for (const auto& [part, message] : std::vector<std::pair<std::string, std::string>>{
             {"\n[[machine]]\nname = 'm0'\n", "zone.d/10.toml:3 a [[machine]] is called 'm0' already, in "},
             {"\n[[machine]]\nname = 'm0'\n", "zone.toml:6: give this one another name"},
             {"\n[[machine]]\nprocessors = 2\n", "zone.d/10.toml:2 'machine.1.name' is missing"},
             {"\n\n[[peering]]\n", "zone.d/10.toml:3 'organisations' must name at least one"},
             {"[[peering]]\norganisation = 'o'\n",
              "zone.d/10.toml:2 'peering.0.organisation' is not a setting of this program; did you mean "
              "'peering.0.organisations'?"},
             {"\n[database]\nschema = 'x'\n", "zone.d/10.toml:2 'database.url' is missing"}}) {
        put("zone.d/10.toml", part);
        EXPECT_THAT(fault(""), HasSubstr(message)) << part;
    }
}

TEST_F(ZoneConfigFileTest, AMisspeltKeyIsToldBeforeWhatItLeavesMissing) {
    const std::string good = "name = 'alpha'\norganisation = 'org-a'\nstate = '/tmp/none'\n[[machine]]\nname = 'm0'\n";
    for (const auto& [key, misspelt, message] : std::vector<std::tuple<std::string, std::string, std::string>>{
             {"name", "nane", ":1 'nane' is not a setting of this program; did you mean 'name'?"},
             {"organisation", "organisationx", ":2 'organisationx' is not a setting of this program; did you mean "},
             {"state", "sate", ":3 'sate' is not a setting of this program; did you mean 'state'?"},
             {"[[machine]]", "[[machin]]", ":4 'machin' is not a setting of this program; did you mean 'machine'?"}}) {
        std::string text = good;
        put("zone.toml", text.replace(text.find(key), key.size(), misspelt));
        const auto settings = read_zone_settings(temporary.path("zone.toml"), "/usr/bin", {.trust = &trust});
        ASSERT_FALSE(settings) << misspelt;
        EXPECT_THAT(settings.error().pointer + " " + settings.error().message, HasSubstr("zone.toml" + message));
    }
}

TEST_F(ZoneConfigFileTest, WhatIsMissingIsToldWhereNothingIsMisspelt) {
    put("zone.toml", "name = 'alpha'\norganisation = 'org-a'\nstate = '/tmp/none'\n");
    const auto machines = read_zone_settings(temporary.path("zone.toml"), "/usr/bin", {.trust = &trust});
    EXPECT_THAT(machines.error().message, HasSubstr("at least one [[machine]] is needed"));
    put("zone.toml", "organisation = 'org-a'\nstate = '/tmp/none'\n[[machine]]\nname = 'm0'\n");
    const auto name = read_zone_settings(temporary.path("zone.toml"), "/usr/bin", {.trust = &trust});
    EXPECT_EQ(name.error().message, "'name' is missing");
}

TEST_F(ZoneConfigFileTest, WhatIsNeededMustNotBeEmpty) {
    put("zone.toml", "name = 'alpha'\norganisation = 'org-a'\nstate = ''\n[[machine]]\nname = 'm0'\n");
    const auto settings = read_zone_settings(temporary.path("zone.toml"), "/usr/bin", {.trust = &trust});
    ASSERT_FALSE(settings) << "its state would be in whatever folder it is started in";
    EXPECT_THAT(settings.error().pointer + " " + settings.error().message,
                HasSubstr("zone.toml:3 'state' must not be empty"));
}

TEST_F(ZoneConfigFileTest, AMisspeltTableIsToldAsOne) {
    EXPECT_THAT(fault("", "[timming]\nhold_ttl_s = 3\n"),
                HasSubstr("'timming' is not a setting of this program; did you mean 'timing'?"));
    EXPECT_THAT(fault("", "[slrum]\npartition = 'x'\n"), HasSubstr("did you mean 'slurm'?"));
}

TEST_F(ZoneConfigFileTest, AFileThatCannotBeReadIsNamedOnceWithTheReason) {
    const std::string path = temporary.path("none.toml");
    const auto absent = read_zone_settings(path, "/usr/bin", {.trust = &trust});
    EXPECT_EQ(absent.error(),
              (Error{ErrorCode::kNotFound, "the configuration file cannot be read: No such file or directory", path}));
    const auto folder = read_zone_settings(temporary.path(), "/usr/bin", {.trust = &trust});
    EXPECT_THAT(folder.error().message, HasSubstr("Is a directory"));
}

TEST_F(ZoneConfigFileTest, AnAddressOfIpv6StandsInBracketsAsInAnUrl) {
    const auto settings = read("listen = '[::1]:8001'");
    ASSERT_TRUE(settings) << settings.error();
    EXPECT_EQ(settings->listen_address, "::1");
    EXPECT_EQ(settings->listen_port, 8001);
    EXPECT_THAT(fault("listen = '::1'"), HasSubstr("ADDRESS:PORT"));
}

TEST_F(ZoneConfigFileTest, WhatOthersAreToldMustBeAHostThatTheyCanCall) {
    EXPECT_EQ(read("advertise = 'zone-a.example.org'")->advertised_host, "zone-a.example.org");
    EXPECT_EQ(read("listen = '[::1]:0'\nadvertise = '2001:db8::7'")->advertised_host, "2001:db8::7");
    for (const char* bad : {"0.0.0.0", "::", "*", "", "https://zone-a", "zone-a:7001", "zone-a/x"})
        EXPECT_THAT(fault("advertise = '" + std::string(bad) + "'"),
                    testing::AllOf(HasSubstr("zone.toml:4 "), HasSubstr("'advertise'")))
            << bad;
}

TEST_F(ZoneConfigFileTest, TheLinkBetweenMachinesIsDeclaredOnlyWhereItIsWritten) {
    EXPECT_FALSE(read("")->zone.declares_within_zone);
    EXPECT_FALSE(read("", "[network]\nmachine_delay_s = 1e-6\n")->zone.declares_within_zone);
    EXPECT_TRUE(read("", "[network]\nzone_delay_s = 5e-5\n")->zone.declares_within_zone);
    EXPECT_TRUE(read("", "[network]\nzone_bandwidth_Bps = 1e9\n")->zone.declares_within_zone);
}

TEST_F(ZoneConfigFileTest, ADatabaseInPostgresqlHasTheUsualNamesAndTimes) {
    EXPECT_FALSE(read("")->database);
    const auto settings = read("", "[database]\nurl = 'postgresql://zbs@db/zbs'\n");
    ASSERT_TRUE(settings) << settings.error();
    EXPECT_EQ(settings->database->schema, "alpha");
    EXPECT_NE(settings->database->node, "");
}

TEST_F(ZoneConfigFileTest, ADatabaseThatCannotBeIsNamedWithItsKey) {
    const std::string good = "[database]\nurl = 'postgresql://zbs@db/zbs'\n";
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"[database]\nschema = 'a'\n", "url"},
        {"[database]\nurl = 'mysql://db'\n", "must begin with postgresql://"},
        {good + "schema = 'No Name'\n", "'schema' of [database]"},
        {good + "schema = '" + std::string(64, 'a') + "'\n", "1 to 63"},
        {"[high_availability]\nnode = 'one'\n", "set 'url' of [database]"},
        {good + "[high_availability]\nnode = ''\n", "'node' of [high_availability]"},
    };
    for (const auto& [tables, word] : cases) EXPECT_THAT(fault("", tables), HasSubstr(word)) << tables;
}

TEST_F(ZoneConfigFileTest, GridUsersComeFromAFileBesideIt) {
    put("map", "\"/O=Grid/CN=Ana\" ana\n");
    put("map-b", "/O=Grid/CN=Bob bob\n");
    const auto settings =
        read("", "[[grid_mapfile]]\nfile = 'map'\n[[grid_mapfile]]\nfile = 'map-b'\norganisation = 'org-b'\n");
    ASSERT_TRUE(settings) << settings.error();
    EXPECT_THAT(settings->grid_users, ElementsAre(GridUsers{"org-a", {{"/O=Grid/CN=Ana", "ana"}}},
                                                  GridUsers{"org-b", {{"/O=Grid/CN=Bob", "bob"}}}));
    EXPECT_THAT(read("")->grid_users, IsEmpty());
}

TEST_F(ZoneConfigFileTest, AFaultyGridMapfileIsToldWithBothPlaces) {
    put("map", "# users\n\"/O=Grid/CN=Ana\" Ana\n");
    const std::string once = "[[grid_mapfile]]\nfile = 'map'\n";
    EXPECT_THAT(fault("", once), testing::AllOf(HasSubstr("zone.toml:9"), HasSubstr("map:2: 'Ana'")));
    EXPECT_THAT(fault("", "[[grid_mapfile]]\nfile = 'none'\n"), HasSubstr("cannot be read"));
    EXPECT_THAT(fault("", "[[grid_mapfile]]\norganisation = 'org-b'\n"), HasSubstr("is missing"));
    put("map", "");
    EXPECT_THAT(fault("", once + once), HasSubstr("has a grid-mapfile already"));
}

TEST_F(ZoneConfigFileTest, AsksNameAnOrganisationAndHowItIsKnown) {
    put("org-b.pem", "BUNDLE b");
    const auto settings = read("",
                               "[[ask]]\norganisation = 'org-b'\nbundle = 'org-b.pem'\n"
                               "[[ask]]\norganisation = 'org-c'\nfingerprint = '" +
                                   kPrint + "'\n");
    ASSERT_TRUE(settings) << settings.error();
    EXPECT_THAT(settings->zone.asks,
                ElementsAre(AskedOrganisation{"org-b", "", "BUNDLE b"}, AskedOrganisation{"org-c", kPrint, ""}));
}

TEST_F(ZoneConfigFileTest, InterfaceMayBeANetwork) {
    EXPECT_EQ(read("", "[mpi]\ninterface = '127.0.0.0/8'\n")->zone.mpi_interface, "lo");
    EXPECT_EQ(read("", "[mpi]\ninterface = '203.0.113.0/24'\n")->zone.mpi_interface, "203.0.113.0/24")
        << "reported at the start";
    EXPECT_THAT(fault("", "[mpi]\ninterface = '10.0.0/99'\n"), HasSubstr("is no network"));
}

TEST_F(ZoneConfigFileTest, FaultyAsksAreRefused) {
    const std::string known = "fingerprint = '" + kPrint + "'\n";
    EXPECT_THAT(fault("", "[[ask]]\norganisation = 'org-b'\n"), HasSubstr("needs 'bundle' or 'fingerprint'"));
    EXPECT_THAT(fault("", "[[ask]]\norganisation = 'org-a'\n" + known), HasSubstr("another organisation"));
    EXPECT_THAT(fault("", "[[ask]]\norganisation = 'Org B'\n" + known), HasSubstr("another organisation"));
    EXPECT_THAT(fault("", "[[ask]]\n" + known), HasSubstr("is missing"));
    const std::string once = "[[ask]]\norganisation = 'org-b'\n" + known;
    EXPECT_THAT(fault("", once + once), HasSubstr("already"));
    std::string many;
    for (std::size_t i = 0; i < limits::kMaxAskedOrganisations; ++i)
        many += "[[ask]]\norganisation = 'o" + std::to_string(i) + "'\n" + known;
    EXPECT_EQ(fault("", many), "accepted");
    EXPECT_THAT(fault("", many + once), HasSubstr("more than"));
}

TEST_F(ZoneConfigFileTest, AGoodRuleIsReadWithItsRights) {
    put("org-b.pem", "BUNDLE of org-b");
    const auto settings = read("",
                               "partition = 'batch'\n[[peering]]\norganisations = ['org-b', 'org-*']\nbundle = "
                               "'org-b.pem'\nprocessors = 2\nhours = '22:00-06:00'\npartitions = ['batch']\n");
    ASSERT_TRUE(settings) << settings.error();
    ASSERT_EQ(settings->zone.rules.size(), 1U);
    const AutomaticRule& rule = settings->zone.rules.front();
    EXPECT_EQ(rule.bundle, "BUNDLE of org-b");
    EXPECT_EQ(rule.rights.ceiling.processors, 2);
    EXPECT_EQ(rule.rights.ceiling.hours.size(), 2U);
    EXPECT_THAT(rule.rights.ceiling.partitions, ElementsAre("batch"));
}

TEST_F(ZoneConfigFileTest, FaultyRulesAreRefusedWithTheLineTheKeyAndTheRemedy) {
    put("org-b.pem", "BUNDLE of org-b");
    put("empty.pem", "");
    put("text.pem", "hello");
    put("map", "pool physics = phys1\norg-b * * -> pool:physics\n");
    const std::string known = "fingerprint = '" + kPrint + "'\n", to_b = "organisations = ['org-b']\n";
    struct Case {
        std::string rule;
        int line;  ///< of the file, where the rule begins at line 8
        std::string message;
    };
    const Case cases[] = {
        {"", 0, "must name at least one"},
        {"organisations = []\n" + known, 9, "must name at least one"},
        {"organisations = 'org-b'\n" + known, 9, "must be a list of texts"},
        {"organisations = ['Org B']\n" + known, 9, "'Org B' names no organisation"},
        {"organisations = ['']\n" + known, 9, "names no organisation"},
        {"organisations = ['org-[ab]']\n" + known, 9, "'*' in it stands for any letters"},
        {"organisations = ['org-a']\n" + known, 9, "own organisation"},
        {to_b, 9, "needs 'bundle' or 'fingerprint'"},
        {to_b + known + "trust_on_first_use = true\n", 11, "leave one of them out"},
        {to_b + "fingerprint = ''\n", 10, "is empty"},
        {to_b + "fingerprint = 'sha256:12'\n", 10, "64 of 0-9 a-f"},
        {to_b + "fingerprint = '" + std::string(64, '1') + "'\n", 10, "must be sha256:"},
        {to_b + "bundle = ''\n", 10, "is empty"},
        {to_b + "bundle = 'none.pem'\n", 10, "none.pem' cannot be read"},
        {to_b + "bundle = 'empty.pem'\n", 10, "names an empty file"},
        {to_b + "bundle = 'text.pem'\n", 10, "is no bundle"},
        {to_b + "bundle = 'org-b.pem'\n" + known, 11, "is not that of the bundle, which is sha256:"},
        {"organisations = ['org-c']\nbundle = 'org-b.pem'\n", 10, "is of 'org-b', not of 'org-c'"},
        {"organisations = ['grid-*']\nbundle = 'org-b.pem'\n", 10, "is of 'org-b', not of 'grid-*'"},
        {to_b + known + "procesors = 3\n", 11, "is not a setting of this program"},
        {to_b + known + "rights = {}\n", 11, "is not a setting of this program"},
        {to_b + known + "processors = -1\n", 11, "must be a whole number from 0"},
        {to_b + known + "hours = ''\n", 11, "leave the key out for all day; to take nobody"},
        {to_b + known + "hours = 'nights'\n", 11, "must be windows of the day"},
        {to_b + known + "weekdays = ''\n", 11, "leave the key out for every day; to take nobody"},
        {to_b + known + "walltime = ''\n", 11, "leave the key out for 24 h; to take nobody"},
        {to_b + known + "partitions = []\n", 11, "leave the key out for all partitions; to take nobody"},
        {to_b + known + "partitions = ['gpu']\n", 11, "which no machine of this zone is in; its partitions are main"},
        {to_b + known + "account = ''\n", 11, "leave the key out for 'map'"},
        {to_b + known + "account = 'pool:chemistry'\n", 11, "its pools are physics"},
        {to_b + known + "account = 'guest'\n", 11, "account:NAME"},
        {to_b + known + "floor_processors = 9\n", 11, "must be 0 to the ceiling's"},
    };
    for (const Case& c : cases) {
        const std::string message = fault("account_map = 'map'", "[[peering]]\n" + c.rule);
        EXPECT_THAT(message, HasSubstr(c.message)) << c.rule;
        const std::string place = "zone.toml" + (c.line > 0 ? ":" + std::to_string(c.line) + " " : "");
        EXPECT_THAT(message, HasSubstr(place)) << c.rule;
    }
}

TEST_F(ZoneConfigFileTest, AsksWithTheBundleOfAnotherAreRefused) {
    put("org-b.pem", "BUNDLE of org-b");
    EXPECT_EQ(fault("", "[[ask]]\norganisation = 'org-b'\nbundle = 'org-b.pem'\n"), "accepted");
    EXPECT_THAT(fault("", "[[ask]]\norganisation = 'org-c'\nbundle = 'org-b.pem'\n"),
                HasSubstr("is of 'org-b', not of 'org-c'"));
    EXPECT_THAT(fault("", "[[ask]]\norganisation = 'org-c'\nfingerprint = 'sha256:12'\n"), HasSubstr("64 of 0-9 a-f"));
}

TEST_F(ZoneConfigFileTest, TooManyRulesAreRefused) {
    const auto rules = [](std::size_t count) {
        std::string many;
        for (std::size_t i = 0; i < count; ++i)
            many += "[[peering]]\norganisations = ['o" + std::to_string(i) + "']\ntrust_on_first_use = true\n";
        return many;
    };
    EXPECT_EQ(fault("", rules(limits::kMaxAutomaticRules)), "accepted");
    EXPECT_THAT(fault("", rules(limits::kMaxAutomaticRules + 1)), HasSubstr("more than"));
    std::string patterns;
    for (std::size_t i = 0; i <= limits::kMaxRulePatterns; ++i) patterns += "'o" + std::to_string(i) + "',";
    EXPECT_THAT(fault("", "[[peering]]\norganisations = [" + patterns + "]\ntrust_on_first_use = true\n"),
                HasSubstr("more than"));
}

TEST_F(ZoneConfigFileTest, AnEmptyTableThatNobodyKnowsIsRefused) {
    EXPECT_EQ(fault("", "[rates]\n"), "accepted");
    EXPECT_THAT(fault("", "[rate]\n"), HasSubstr("'rate' is not a setting of this program; did you mean 'rates'?"));
    EXPECT_THAT(fault("", "[timing]\nleaze_s = 4\n"), HasSubstr("; did you mean 'timing.lease_s'?"));
    EXPECT_THAT(fault("", "[rates]\nlease_s = 4\n"), HasSubstr("; did you mean 'timing.lease_s'?")) << "elsewhere";
    EXPECT_THAT(fault("nonsense = 1"), testing::EndsWith("is not a setting of this program"));
    EXPECT_THAT(fault("", "[[peerings]]\n"),
                HasSubstr("'peerings' is not a setting of this program; did you mean 'peering'?"));
    EXPECT_THAT(fault("accepted = []"), HasSubstr("'accepted' is not a setting"));
    EXPECT_THAT(fault("peering = []"), HasSubstr("[[peering]]"));
}

TEST_F(ZoneConfigFileTest, PolicyOfTheQueueSaysHowPartsShareProcessors) {
    using Sharing = ZoneState::Sharing;
    EXPECT_EQ(read("")->zone.slots, 1);
    for (const auto& [queue, slots, sharing] :
         {std::tuple{"easy", 1, Sharing::kSpace}, std::tuple{"gang:packing=best-fit", 5, Sharing::kTime},
          std::tuple{"lazy-gang", 1, Sharing::kSpace},
          std::tuple{"adaptive-scojo:strategy=pri-b-wa-fa", 2, Sharing::kTime},
          std::tuple{"scojo:level=4", 4, Sharing::kShare}, std::tuple{"elmer", 2, Sharing::kPriority}}) {
        const auto settings = read(std::string("queue = '") + queue + "'\n", "agent = true\n");
        ASSERT_TRUE(settings) << settings.error();
        EXPECT_EQ(settings->zone.slots, slots) << queue;
        EXPECT_EQ(settings->zone.sharing, sharing) << queue;
        const std::string without = fault(std::string("queue = '") + queue + "'\n", "");
        EXPECT_THAT(without, HasSubstr(queue == std::string("easy") ? "accepted" : "needs agent = true"));
    }
    EXPECT_THAT(fault("queue = 'gang:packing=ffd'\n", "agent = true\n"), HasSubstr("moves jobs"));
}

TEST_F(ZoneConfigFileTest, TimeSharingGoesWithAPolicyWhoseJobsShareProcessors) {
    const auto filled =
        read("queue = 'gang'\n", "agent = true\n[time_sharing]\nslice_s = 0.5\nconcurrent_gang = true\n");
    ASSERT_TRUE(filled) << filled.error();
    EXPECT_TRUE(filled->zone.concurrent_gang);
    EXPECT_EQ(filled->zone.slice, std::chrono::milliseconds{500});
    EXPECT_EQ(filled->zone.slots, 5);
    EXPECT_THAT(fault("queue = 'gang'\n", "agent = true\n[time_sharing]\nslots = 3\n"),
                HasSubstr("'time_sharing.slots' is not a setting"));
    EXPECT_THAT(fault("queue = 'gang'\n", "agent = true\n[time_sharing]\nmode = 'shares'\n"),
                HasSubstr("'time_sharing.mode' is not a setting"));
    EXPECT_THAT(fault("queue = 'scojo'\n", "agent = true\n[time_sharing]\nconcurrent_gang = true\n"),
                HasSubstr("leave 'concurrent_gang' out"));
    EXPECT_THAT(fault("queue = 'gang'\n", "agent = true\n[time_sharing]\nslice_s = 0.01\n"), HasSubstr("slice_s"));
    for (const char* queue : {"", "queue = 'easy'\n"})
        EXPECT_THAT(fault(queue, "agent = true\n[time_sharing]\n"), HasSubstr("processors alone"));
}

TEST_F(ZoneConfigFileTest, SharedMemoryIsLeftToTheHostUnlessSaid) {
    EXPECT_EQ(read("")->shared_memory, std::nullopt);
    EXPECT_EQ(read("shared_memory = true")->shared_memory, true);
    EXPECT_EQ(read("shared_memory = false")->shared_memory, false);
    EXPECT_THAT(fault("shared_memory = 'yes'"), HasSubstr("must be true or false"));
}

TEST_F(ZoneConfigFileTest, StagingHasBoundsAndAName) {
    const StagingConfig usual = read("")->zone.staging;
    EXPECT_EQ(usual, StagingConfig{});
    const StagingConfig staging = read("",
                                       "[staging]\nfile_MiB = 1\njob_MiB = 0\nuser_MiB = 3\n"
                                       "shared_file_system = 'lustre-1'\nnodes_share_state = true\n")
                                      ->zone.staging;
    EXPECT_EQ(staging, (StagingConfig{.file_bytes = 1 << 20,
                                      .job_bytes = 0,
                                      .user_bytes = 3 << 20,
                                      .shared_file_system = "lustre-1",
                                      .nodes_share_state = true}));
    for (const char* bad : {"file_MiB = 0", "file_MiB = 1048577", "job_MiB = -1", "user_MiB = 0",
                            "shared_file_system = '/lustre'", "limit = 1"})
        EXPECT_THAT(fault("", "[staging]\n" + std::string(bad) + "\n"), HasSubstr("zone.toml:")) << bad;
}

TEST_F(ZoneConfigFileTest, BoundsOfStagingFitIntoOneAnother) {
    const auto bounds = [&](const std::string& text) {
        const StagingConfig staging = read("", "[staging]\n" + text + "\n")->zone.staging;
        return std::vector{staging.file_bytes >> 20, staging.job_bytes >> 20, staging.user_bytes >> 20};
    };
    EXPECT_EQ(bounds("job_MiB = 100"), (std::vector<std::uint64_t>{100, 100, 4'096})) << "what is not given follows";
    EXPECT_EQ(bounds("file_MiB = 9000"), (std::vector<std::uint64_t>{9'000, 9'000, 9'000}));
    EXPECT_EQ(bounds("user_MiB = 50"), (std::vector<std::uint64_t>{50, 50, 50}));
    EXPECT_EQ(bounds("job_MiB = 5000"), (std::vector<std::uint64_t>{256, 5'000, 5'000}));
    EXPECT_THAT(fault("", "[staging]\nfile_MiB = 2\njob_MiB = 1\n"), HasSubstr("raise 'job_MiB'"));
    EXPECT_THAT(fault("", "[staging]\njob_MiB = 2\nuser_MiB = 1\n"), HasSubstr("lower 'job_MiB'"));
    EXPECT_THAT(fault("", "[staging]\nfile_MiB = 2\nuser_MiB = 1\n"), HasSubstr("zone.toml:"));
}

TEST_F(ZoneConfigFileTest, RatesAreSetOneByOne) {
    const http::RateLimits defaults;
    EXPECT_EQ(read("")->rates, defaults);
    const auto settings = read("", "[rates]\nuser_per_s = 5\nanonymous_per_s = 0\n");
    ASSERT_TRUE(settings) << settings.error();
    EXPECT_EQ(settings->rates.user, (http::Rate{5, defaults.user.burst}));
    EXPECT_EQ(settings->rates.anonymous, (http::Rate{0, defaults.anonymous.burst}));
    EXPECT_EQ(settings->rates.zone, defaults.zone);
    EXPECT_THAT(fault("", "[rates]\nzone_per_s = -1\n"), HasSubstr("must be a number from 0"));
}

TEST_F(ZoneConfigFileTest, APartitionHasAQueueOfItsOwn) {
    const auto settings = read("queue = 'easy'\nmapper = 'block'\n",
                               "agent = true\npartition = 'batch'\n"
                               "[[machine]]\nname = 'm1'\npartition = 'debug'\n"
                               "[[partition]]\nname = 'batch'\nqueue = 'gang:slices=2'\nslice_s = 1\n"
                               "concurrent_gang = true\nmapper = 'hier'\n"
                               "[[partition]]\nname = 'debug'\nmax_walltime_s = 600\n");
    ASSERT_TRUE(settings) << settings.error();
    const ZoneConfig& zone = settings->zone;
    ASSERT_EQ(zone.partitions.size(), 2u);
    const ZoneConfig batch = config_of(zone, &zone.partitions[0]), debug = config_of(zone, &zone.partitions[1]);
    EXPECT_EQ(std::tie(batch.queue, batch.level_two_mapper, batch.slots, batch.concurrent_gang),
              std::tuple("gang:slices=2", "hier", 2, true));
    EXPECT_EQ(batch.slice, std::chrono::seconds{1});
    EXPECT_EQ(batch.sharing, ZoneState::Sharing::kTime);
    EXPECT_EQ(batch.agents.size(), 1u);
    EXPECT_EQ(std::tie(debug.queue, debug.level_two_mapper, debug.slots), std::tuple("easy", "block", 1))
        << "as in the zone";
    EXPECT_EQ(debug.max_walltime, std::chrono::minutes{10});
    ASSERT_EQ(debug.zone.machines.size(), 1u);
    EXPECT_EQ(debug.zone.machines[0].name, "m1");
    EXPECT_TRUE(config_of(zone, nullptr).zone.machines.empty());
    EXPECT_EQ(processors_with_slots(zone), 2 * 4 + 1);
    EXPECT_EQ(processors_with_slots(debug), 9) << "shares are of the whole zone";
}

TEST_F(ZoneConfigFileTest, AFaultOfAPartitionIsToldWithItsNameAndPlace) {
    const std::string debug = "partition = 'debug'\n[[partition]]\nname = 'debug'\n";
    EXPECT_EQ(fault("", debug), "accepted");
    EXPECT_THAT(fault("", "[[partition]]\nname = 'debug'\n"),
                AllOf(HasSubstr("zone.toml:9 [[partition]] 'debug' has no machines"),
                      HasSubstr("set partition = \"debug\" in a [[machine]]")));
    EXPECT_THAT(fault("", debug + "queue = 'fastest'\n"),
                AllOf(HasSubstr("zone.toml:11 [[partition]] 'debug': "), HasSubstr("fastest")));
    EXPECT_THAT(fault("", debug + "queue = 'easy:depth=3'\n"), HasSubstr("[[partition]] 'debug': "));
    EXPECT_THAT(fault("", debug + "queue = 'gang'\n"),
                AllOf(HasSubstr("[[partition]] 'debug': "), HasSubstr("agent = true")));
    EXPECT_THAT(fault("queue = 'easy'\n", debug + "slice_s = 1\n"), HasSubstr("zone.toml:12 [[partition]] 'debug': "));
    EXPECT_THAT(fault("", debug + "concurrent_gang = true\n"),
                HasSubstr("leave 'slice_s' and 'concurrent_gang' of the partition out"));
    EXPECT_THAT(fault("", debug + "mapper = 'fastest'\n"), HasSubstr("'mapper' must be one of"));
    EXPECT_THAT(fault("", debug + "max_walltime_s = 0\n"), HasSubstr("max_walltime_s"));
    EXPECT_THAT(fault("", debug + "slots = 2\n"), HasSubstr("slots"));
    EXPECT_THAT(fault("", debug + "[[partition]]\nname = 'debug'\n"), HasSubstr("is called 'debug' already"));
    EXPECT_THAT(fault("", debug + "[slurm]\n"), HasSubstr("leave [[partition]] out, or [slurm]"));
}

}  // namespace
}  // namespace zbs::test
