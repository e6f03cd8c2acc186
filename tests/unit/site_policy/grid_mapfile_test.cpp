#include "services/zone_scheduler/trust/site_policy/grid_mapfile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/common/messages/limits.hpp"

namespace zbs {
namespace {
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

TEST(GridMapfile, GivesEachSubjectItsUser) {
    const auto map = parse_grid_mapfile(R"(# the physicists
"/C=BR/O=Grid/CN=Ana Souza" ana
  "/O=Grid/CN=Bob"	bob   # left soon
/O=Grid/CN=eve eve

"CN=Zoe\\, M.D.,O=Grid" zoe
"/O=Grid/CN=J\xC3\xBAlia \"Ju\"" julia
"/O=Grid/CN=Bob" bob
)",
                                        "map");
    ASSERT_TRUE(map) << map.error();
    EXPECT_THAT(*map, ElementsAre(Pair("/C=BR/O=Grid/CN=Ana Souza", "ana"), Pair("/O=Grid/CN=Bob", "bob"),
                                  Pair(R"(/O=Grid/CN=J\xC3\xBAlia "Ju")", "julia"), Pair("/O=Grid/CN=eve", "eve"),
                                  Pair(R"(CN=Zoe\, M.D.,O=Grid)", "zoe")));
}

TEST(GridMapfile, AnEmptyFileGivesNobody) { EXPECT_TRUE(parse_grid_mapfile("\n# nobody\r\n", "map")->empty()); }

struct FaultyMap {
    const char* name;
    std::string text;
    const char* place;
    const char* reason;
};
class GridMapfileFault : public testing::TestWithParam<FaultyMap> {};

INSTANTIATE_TEST_SUITE_P(
    , GridMapfileFault,
    testing::Values(FaultyMap{"NoName", "\n\"/CN=a\"", "map:2", "is no user name"},
                    FaultyMap{"QuoteWithoutEnd", "\"/CN=a ana", "map:1", "does not end"},
                    FaultyMap{"NoBlankBehindTheQuote", "\"/CN=a\"ana", "map:1", "needs a blank"},
                    FaultyMap{"NoSubject", "\"ana\" ana", "map:1", "no subject"},
                    FaultyMap{"BlankWithoutQuotes", "/CN=Ana Souza ana", "map:1", "is no user name"},
                    FaultyMap{"SeveralNames", "/CN=a ana,bob", "map:1", "several names"},
                    FaultyMap{"PoolOfAccounts", "/CN=a .phys", "map:1", "account map"},
                    FaultyMap{"NameInCapitals", "/CN=a Ana", "map:1", "is no user name"},
                    FaultyMap{"TwoUsers", "/CN=a ana\n\n\"/CN=a\" bob", "map:3", "line 1 gives 'ana'"},
                    FaultyMap{"ControlByte", "\"/CN=a\x1b[2J\" ana", "map:1", "no subject"},
                    FaultyMap{"Nul", std::string("\"/CN=a\0b\" ana", 12), "map:1", "no subject"},
                    FaultyMap{"LongSubject", "/CN=" + std::string(limits::kMaxSubjectBytes, 'a') + " ana", "map:1",
                              "longer than"},
                    FaultyMap{"LongFile", std::string(limits::kMaxGridMapBytes + 1, '\n'), "map:1", "longer than"}),
    [](const auto& param_info) { return param_info.param.name; });

TEST_P(GridMapfileFault, IsToldWithItsLine) {
    const auto map = parse_grid_mapfile(GetParam().text, "map");
    ASSERT_FALSE(map);
    EXPECT_EQ(map.error().pointer, GetParam().place);
    EXPECT_THAT(map.error().message, HasSubstr(GetParam().reason));
    EXPECT_EQ(map.error().message.find('\x1b'), std::string::npos);
}

TEST(GridMapfile, TheLongestSubjectAndTheMostEntriesAreTaken) {
    const std::string longest = "/CN=" + std::string(limits::kMaxSubjectBytes - 4, 'a');
    EXPECT_TRUE(parse_grid_mapfile(longest + " ana", "map"));
    std::string many;
    for (std::size_t i = 0; i < limits::kMaxSubjectMapEntries; ++i)
        many += "/CN=" + std::to_string(i) + " u" + std::to_string(i) + "\n";
    EXPECT_EQ(parse_grid_mapfile(many, "map")->size(), limits::kMaxSubjectMapEntries);
    const auto over = parse_grid_mapfile(many + "/CN=one-more u", "map");
    ASSERT_FALSE(over);
    EXPECT_EQ(over.error().code, ErrorCode::kTooLarge);
}

}  // namespace
}  // namespace zbs
