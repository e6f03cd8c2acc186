#include "services/zone_scheduler/trust/site_policy/glob.hpp"

#include <gtest/gtest.h>

#include <string>

#include "algorithms/base/rng.hpp"

namespace zbs {
namespace {

TEST(MatchesGlob, StarStandsForAnyLetters) {
    for (const auto& [pattern, text] : {std::pair{"*", ""},
                                        {"*", "ann"},
                                        {"ann", "ann"},
                                        {"a*", "a"},
                                        {"a*n", "ann"},
                                        {"*.physics", "chem.physics"},
                                        {"a*b*c", "a-b-b-c"},
                                        {"**", "x"}})
        EXPECT_TRUE(matches_glob(pattern, text)) << pattern << " " << text;
    for (const auto& [pattern, text] : {std::pair{"", "a"},
                                        {"ann", "anna"},
                                        {"ann", "an"},
                                        {"a*n", "anna"},
                                        {"*.physics", "physics"},
                                        {"a*b*c", "a-c-b"},
                                        {"a.n", "ann"}})
        EXPECT_FALSE(matches_glob(pattern, text)) << pattern << " " << text;
}

bool by_definition(std::string_view pattern, std::string_view text) {
    if (pattern.empty()) return text.empty();
    if (pattern[0] == '*')
        return by_definition(pattern.substr(1), text) || (!text.empty() && by_definition(pattern, text.substr(1)));
    return !text.empty() && pattern[0] == text[0] && by_definition(pattern.substr(1), text.substr(1));
}

TEST(MatchesGlobProperty, AgreesWithTheDefinition) {
    int fits = 0;
    for (std::uint64_t seed = 0; seed < 5'000; ++seed) {
        SCOPED_TRACE(seed);
        Rng rng(seed);
        std::string pattern, text;
        for (std::uint64_t n = rng.below(7); n > 0; --n) pattern += "ab*"[rng.below(3)];
        for (std::uint64_t n = rng.below(9); n > 0; --n) text += "ab"[rng.below(2)];
        const bool expected = by_definition(pattern, text);
        fits += expected ? 1 : 0;
        ASSERT_EQ(matches_glob(pattern, text), expected) << pattern << " " << text;
    }
    EXPECT_GT(fits, 500);
}

}  // namespace
}  // namespace zbs
