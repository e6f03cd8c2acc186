#include "services/common/messages/names/name_types.hpp"

#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <type_traits>
#include <unordered_set>
#include <vector>

namespace zbs {
namespace {

template <class A, class B>
concept Compares = requires(const A& a, const B& b) {
    a == b;
};
template <class A, class B>
concept Orders = requires(const A& a, const B& b) {
    a < b;
};

TEST(NameTypes, AnotherKindNeitherConvertsNorCompares) {
    static_assert(!std::is_convertible_v<ZoneName, MachineName>);
    static_assert(!std::is_constructible_v<ZoneName, MachineName>);
    static_assert(!std::is_assignable_v<ZoneName&, MachineName>);
    static_assert(!Compares<ZoneName, MachineName>);
    static_assert(!Orders<ZoneName, MachineName>);
    static_assert(!Compares<OrganisationName, MachineName>);
    static_assert(!Compares<AccountName, OrganisationName>);
    static_assert(!Compares<StepId, AccountName>);
    static_assert(Compares<ZoneName, ZoneName>);
}

TEST(NameTypes, TextBecomesANameExplicitlyOnly) {
    static_assert(std::is_constructible_v<ZoneName, std::string>);
    static_assert(!std::is_convertible_v<std::string, ZoneName>);
    static_assert(!std::is_convertible_v<const char*, ZoneName>);
    static_assert(!std::is_assignable_v<ZoneName&, std::string>);
    const ZoneName literal = "alpha";
    EXPECT_EQ(literal, ZoneName(std::string("alpha")));
    EXPECT_TRUE(ZoneName().empty());
}

TEST(NameTypes, NameReadsAsText) {
    const ZoneName zone = "alpha";
    const std::string copy = zone;
    const std::string& same = zone;
    const std::string_view view = zone;
    EXPECT_EQ(&same, &zone.str());
    EXPECT_EQ(copy, view);
    std::vector<std::string> texts;
    texts.push_back(zone);
    texts[0] = zone;
    texts[0] += zone;
    EXPECT_EQ(texts[0], "alphaalpha");
    std::ostringstream out;
    out << zone;
    EXPECT_EQ(out.str(), "alpha");
}

TEST(NameTypes, NameComparesWithItsKindAndWithText) {
    const ZoneName zone = "alpha";
    EXPECT_EQ(zone, "alpha");
    EXPECT_EQ("alpha", zone);
    EXPECT_EQ(zone, std::string("alpha"));
    EXPECT_EQ(std::string_view("alpha"), zone);
    EXPECT_NE(zone, "beta");
    EXPECT_LT(zone, ZoneName("beta"));
    EXPECT_LT(zone, std::string("beta"));
    EXPECT_GT("beta", zone);
}

TEST(NameTypes, NameJoinsText) {
    const ZoneName zone = "alpha";
    EXPECT_EQ("zone " + zone + ": up", "zone alpha: up");
    EXPECT_EQ(zone + " is up", "alpha is up");
    EXPECT_EQ(std::string("in ") + zone, "in alpha");
    EXPECT_EQ(zone + std::string_view("."), "alpha.");
}

TEST(NameTypes, NameIsAKey) {
    const std::map<ZoneName, int, std::less<>> by_zone{{"alpha", 1}, {"beta", 2}};
    EXPECT_EQ(by_zone.at("beta"), 2);
    EXPECT_TRUE(by_zone.contains(std::string("alpha")));
    const std::map<std::string, int, std::less<>> by_text{{"alpha", 1}};
    EXPECT_TRUE(by_text.contains(ZoneName("alpha")));
    EXPECT_TRUE(std::unordered_set<MachineName>({"m1", "m2"}).contains("m2"));
}

}  // namespace
}  // namespace zbs
