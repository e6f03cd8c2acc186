#include "services/zone_scheduler/config/zone_config_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "services/common/messages/limits.hpp"
#include "tests/support/temporary_folder.hpp"

namespace zbs::test {
namespace {
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// The least that a zone needs, and what a test adds in front of the tables.
class ZoneConfigFileTest : public testing::Test {
  protected:
    void put(const std::string& name, const std::string& content) { std::ofstream(temporary.path(name)) << content; }
    Result<ZoneSettings> read(const std::string& keys, const std::string& tables = "") {
        put("zone.toml", "name = 'alpha'\norganisation = 'org-a'\nstate = '/tmp/none'\n" + keys +
                             "\n[[machine]]\nname = 'm0'\nprocessors = 4\n" + tables);
        return read_zone_settings(temporary.path("zone.toml"), "/usr/bin");
    }
    std::string fault(const std::string& keys, const std::string& tables = "") {
        const Result<ZoneSettings> settings = read(keys, tables);
        return settings ? "accepted" : settings.error().pointer + " " + settings.error().message;
    }

    TemporaryFolder temporary;
};

TEST_F(ZoneConfigFileTest, AnUnknownKeyIsToldWithItsLine) {
    EXPECT_THAT(fault("proccessors = 3"), HasSubstr("zone.toml:4 "));
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
                               "[[ask]]\norganisation = 'org-c'\nfingerprint = 'sha256:12'\n");
    ASSERT_TRUE(settings) << settings.error();
    EXPECT_THAT(settings->zone.asks,
                ElementsAre(AskedOrganisation{"org-b", "", "BUNDLE b"}, AskedOrganisation{"org-c", "sha256:12", ""}));
}

TEST_F(ZoneConfigFileTest, FaultyAsksAreRefused) {
    const std::string known = "fingerprint = 'sha256:12'\n";
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

TEST_F(ZoneConfigFileTest, SharedMemoryIsLeftToTheHostUnlessSaid) {
    EXPECT_EQ(read("")->shared_memory, std::nullopt);
    EXPECT_EQ(read("shared_memory = true")->shared_memory, true);
    EXPECT_EQ(read("shared_memory = false")->shared_memory, false);
    EXPECT_THAT(fault("shared_memory = 'yes'"), HasSubstr("must be true or false"));
}

TEST_F(ZoneConfigFileTest, RatesAreSetOneByOne) {
    const http::RateLimits defaults;
    EXPECT_EQ(read("")->rates, defaults);
    const auto settings = read("", "[rates]\nuser_per_s = 5\nuser_burst = 7\nanonymous_per_s = 0\n");
    ASSERT_TRUE(settings) << settings.error();
    EXPECT_EQ(settings->rates.user, (http::Rate{5, 7}));
    EXPECT_EQ(settings->rates.anonymous, (http::Rate{0, defaults.anonymous.burst}));
    EXPECT_EQ(settings->rates.zone, defaults.zone);
    EXPECT_THAT(fault("", "[rates]\nzone_per_s = -1\n"), HasSubstr("must be a number from 0"));
    EXPECT_THAT(fault("", "[rates]\nzone_burst = 0\n"), HasSubstr("must be a number from 1"));
}

}  // namespace
}  // namespace zbs::test
