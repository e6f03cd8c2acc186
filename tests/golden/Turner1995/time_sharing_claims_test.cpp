#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "studies/claims/turner_time_sharing.hpp"
#include "tests/support/source_folder.hpp"

// What chapters 5 and 6 of the source claim, judged with a quick effort. Claims that do not hold are named below.
namespace zbs::claims {
namespace {

const std::vector<Claim>& all_claims() {
    static const std::vector<Claim> claims = [] {
        std::vector<Claim> all;
        for (const auto study : {turner_time_sharing_model, turner_time_sharing_layouts, turner_elmer_decisions})
            for (const Claim& claim : study(Effort::quick()).claims) all.push_back(claim);
        return all;
    }();
    return claims;
}

std::string text_of(const Claim& claim) { return claim.id + " (" + claim.claim + "): " + claim.ours; }

/// What the realtime kernel adds to messages is not modelled.
TEST(TurnerTimeSharing, OnlyTheTimeOfMessagesOnThePreemptiveKernelFails) {
    for (const Claim& claim : all_claims())
        EXPECT_EQ(claim.verdict == Verdict::kFails, claim.id == "elmer-21f") << text_of(claim);
}

TEST(TurnerTimeSharing, FittedAndCopiedValuesAreInputs) {
    std::set<std::string> inputs;
    for (const Claim& claim : all_claims())
        if (claim.verdict == Verdict::kInput) inputs.insert(claim.id);
    EXPECT_THAT(inputs, testing::ElementsAre("elmer-21b", "elmer-21c", "elmer-21d", "elmer-21e", "elmer-36a"));
}

TEST(TurnerTimeSharing, GapsAreTheKnownOnes) {
    std::set<std::string> gaps;
    for (const Claim& claim : all_claims())
        if (claim.verdict == Verdict::kGap || claim.verdict == Verdict::kContested) gaps.insert(claim.id);
    EXPECT_THAT(gaps, testing::ElementsAre("elmer-23a", "elmer-26d", "elmer-33a"));
}

TEST(TurnerTimeSharing, EveryClaimFrom21To36IsJudgedOnce) {
    std::set<std::string> ids;
    for (const Claim& claim : all_claims()) {
        EXPECT_TRUE(ids.insert(claim.id).second) << claim.id << " is there twice";
        for (const std::string& text : {claim.source, claim.claim, claim.published, claim.ours, claim.spread})
            EXPECT_FALSE(text.empty()) << claim.id;
        if (claim.verdict != Verdict::kHolds) {
            EXPECT_FALSE(claim.remark.empty()) << claim.id;
        }
    }
    for (int number = 21; number <= 36; ++number) {
        const std::string id = "elmer-" + std::to_string(number);
        EXPECT_TRUE(ids.contains(id) || ids.contains(id + "a")) << id;
    }
    for (const std::string layout : {"E1", "E2", "E3", "E4", "E5"})
        for (const std::string kernel : {"stock", "preemptive"})
            EXPECT_TRUE(ids.contains("elmer-" + layout + "-" + kernel));
}

TEST(TurnerTimeSharing, TestsThatClaimsNameExist) {
    for (const Claim& claim : all_claims()) {
        if (claim.see.empty()) continue;
        const std::size_t hash = claim.see.find('#');
        ASSERT_NE(hash, std::string::npos) << claim.id;
        const std::filesystem::path path =
            std::filesystem::path(zbs::test::source_folder()) / claim.see.substr(0, hash);
        std::ifstream file(path);
        ASSERT_TRUE(file.good()) << claim.id << " names " << path;
        std::stringstream text;
        text << file.rdbuf();
        std::string name = claim.see.substr(hash + 1);
        name.replace(name.find('.'), 1, ", ");
        EXPECT_THAT(text.str(), testing::HasSubstr("TEST(" + name + ")")) << claim.id;
    }
}

TEST(TurnerTimeSharing, LayoutsAreAsTheTableShows) {
    std::ifstream file(std::filesystem::path(zbs::test::source_folder()) /
                       "tests/golden/Turner1995/time_sharing_layouts.csv");
    std::string kept, line;
    while (std::getline(file, line))
        if (!line.starts_with("#")) kept += line + "\n";
    EXPECT_EQ(turner_time_sharing_layouts(Effort::quick()).files.at(0).text, kept);
}

TEST(TurnerTimeSharing, EqualEffortsGiveEqualClaims) {
    for (const auto study : {turner_time_sharing_layouts, turner_elmer_decisions}) {
        const Part first = study(Effort::quick()), second = study(Effort::quick());
        ASSERT_EQ(first.claims.size(), second.claims.size());
        for (std::size_t i = 0; i < first.claims.size(); ++i) EXPECT_EQ(first.claims[i].ours, second.claims[i].ours);
    }
}

}  // namespace
}  // namespace zbs::claims
