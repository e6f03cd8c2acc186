#include "services/zone_scheduler/program/commands/peer_options.hpp"
#include "services/common/adapters/command_line/values.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "tests/support/temporary_folder.hpp"

namespace zbs::test {
namespace {
using testing::HasSubstr;

/// What the options say, or why they are refused.
Result<PeeringChange> read_options(std::vector<std::string> words) {
    CLI::App app;
    zone_program::PeerWish wish;
    zone_program::add_rights(&app, wish);
    app.add_option("--fingerprint", wish.fingerprint)->check(command_line::something("leave it out"));
    std::reverse(words.begin(), words.end());
    try {
        app.parse(words);
    } catch (const CLI::ParseError& fault) {
        return invalid(fault.what());
    }
    return zone_program::change_of(wish, PeeringVerb::kSet);
}

TEST(PeerOptions, WhatIsLeftOutStaysAsItIs) {
    const auto change = read_options({});
    ASSERT_TRUE(change) << change.error();
    EXPECT_EQ(change->rights, RightsChange{});
    EXPECT_FALSE(change->initial_trust);
}

TEST(PeerOptions, AllIsSaidByTheWord) {
    const auto change = read_options({"--hours", "all", "--weekdays", "all", "--partitions", "all"});
    ASSERT_TRUE(change) << change.error();
    EXPECT_EQ(change->rights.hours, std::vector<DayWindow>{});
    EXPECT_EQ(change->rights.weekdays, kEveryWeekday);
    EXPECT_EQ(change->rights.partitions, std::vector<std::string>{});
}

TEST(PeerOptions, AnEmptyTextSaysNeitherAllNorNone) {
    struct Case {
        const char* option;
        const char* remedy;
    };
    const Case cases[] = {{"--hours", "write 'all' for all day; for none, 'zbs-zone peer suspend'"},
                          {"--weekdays", "write 'all' for every day; for none"},
                          {"--partitions", "write 'all' for all partitions; for none"},
                          {"--walltime", "write a time as 2h; for none"},
                          {"--floor-walltime", "write a time as 2h"},
                          {"--account", "write 'map' for the account map"},
                          {"--fingerprint", "leave it out"}};
    for (const Case& c : cases) {
        const auto change = read_options({c.option, ""});
        ASSERT_FALSE(change) << c.option;
        EXPECT_THAT(change.error().message,
                    testing::AllOf(HasSubstr(c.option), HasSubstr("empty"), HasSubstr(c.remedy)));
        EXPECT_FALSE(read_options({std::string(c.option) + "="})) << c.option;
    }
}

TEST(PeerOptions, FaultsNameTheOptionOrTheFile) {
    EXPECT_EQ(read_options({"--hours", "nights"}).error().pointer, "--hours");
    EXPECT_EQ(read_options({"--weekdays", "monday"}).error().pointer, "--weekdays");
    EXPECT_EQ(read_options({"--walltime", "long"}).error().pointer, "--walltime");
    const TemporaryFolder folder;
    const zone_program::PeerWish wish{.bundle_file = folder.path("none.pem")};
    EXPECT_EQ(zone_program::change_of(wish, PeeringVerb::kAccept).error().pointer, folder.path("none.pem"));
}

}  // namespace
}  // namespace zbs::test
