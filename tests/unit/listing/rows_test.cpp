#include "services/common/listing/rows.hpp"

#include <gtest/gtest.h>

namespace zbs::listing {
namespace {

Listing jobs() {
    Listing listing{"jobs", {"ID", "STATE", "RANKS", "EXIT", {"MOST MEMORY", true}}, {}, codec::Json::array()};
    listing.rows.push_back({"a", "running", 8, "-", Cell("1.0 MiB", 1048576)});
    listing.rows.push_back({"b", "failed", 16, 3, Cell("2 B", 2)});
    listing.rows.push_back({"c", "running", 100, 0, "-"});
    for (const char* id : {"a", "b", "c"}) listing.items.push_back({{"id", id}, {"told", true}});
    return listing;
}

/// The ids that are left, in order.
std::string ids(const RowChoice& choice) {
    const Result<Listing> found = chosen(jobs(), choice);
    if (!found) return found.error().pointer + ": " + found.error().message;
    std::string text;
    for (const auto& row : found->rows) text += row[0].text;
    return text;
}

TEST(RowsFilter, ComparesNumbersAsNumbersAndTextsAsTexts) {
    const std::pair<const char*, const char*> cases[] = {
        {"state=running", "ac"}, {"state!=running", "b"}, {"ranks<16", "a"},        {"ranks>16", "c"},
        {"ranks<=16", "ab"},     {"ranks>=16", "bc"},     {"state~unn", "ac"},      {"id>a", "bc"},
        {"exit=", "a"},          {"exit=0", "c"},         {"exit>=0", "bc"},        {"exit!=0", "ab"},
        {"STATE==failed", "b"},  {"most-memory>2", "a"},  {"Most Memory<100", "b"}, {"id=", ""},
    };
    for (const auto& [filter, expected] : cases) EXPECT_EQ(ids({.filters = {filter}}), expected) << filter;
    EXPECT_EQ(ids({.filters = {"state=running", "ranks>8"}}), "c");
}

TEST(RowsSort, OrdersByEachColumnInTurnAndPutsNothingLast) {
    EXPECT_EQ(ids({.sort = {"ranks"}}), "abc");
    EXPECT_EQ(ids({.sort = {"-ranks"}}), "cba");
    EXPECT_EQ(ids({.sort = {"state", "-ranks"}}), "bca");
    EXPECT_EQ(ids({.sort = {"exit"}}), "cba");
    EXPECT_EQ(ids({.sort = {"-exit"}}), "bca");
}

TEST(RowsChoice, KeepsWhatTheServiceSaidWithItsRow) {
    const Result<Listing> found = chosen(jobs(), {.sort = {"-id"}, .filters = {"state=running"}});
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(written(*found, "json"),
              "{\"version\":1,\"jobs\":[{\"id\":\"c\",\"told\":true},{\"id\":\"a\",\"told\":true}]}\n");
}

TEST(RowsChoice, MakesItemsOfTheColumnsThatWereAskedFor) {
    const Result<Listing> found = chosen(jobs(), {.columns = {"most_memory", "id", "exit"}, .filters = {"ranks<20"}});
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(written(*found, "jsonl"),
              "{\"exit\":null,\"id\":\"a\",\"most_memory\":1048576}\n{\"exit\":3,\"id\":\"b\",\"most_memory\":2}\n");
    EXPECT_EQ(written(*found, "table"), "MOST MEMORY  ID  EXIT\n1.0 MiB      a   -\n2 B          b   3\n");
    EXPECT_EQ(written(*found, "name"), "1.0 MiB\n2 B\n");
}

TEST(RowsChoice, NamesTheOptionAndTheNearestColumnWhereThereIsNone) {
    EXPECT_EQ(ids({.columns = {"stat"}}), "--columns: there is no column 'stat'; did you mean 'state'?");
    EXPECT_TRUE(ids({.sort = {"-rnaks"}}).starts_with("--sort: there is no column 'rnaks'; did you mean 'ranks'?"));
    EXPECT_TRUE(
        ids({.filters = {"zzz=1"}}).starts_with("--filter: there is no column 'zzz'; known are id, state, ranks"));
    for (const char* filter : {"state", "", "=1", "state!running", "!"})
        EXPECT_TRUE(ids({.filters = {filter}}).starts_with("--filter: '" + std::string(filter) + "' is no filter"))
            << filter;
}

}  // namespace
}  // namespace zbs::listing
