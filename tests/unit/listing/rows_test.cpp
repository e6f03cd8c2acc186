#include "services/common/listing/rows.hpp"

#include <gtest/gtest.h>

namespace zbs::listing {
namespace {

Listing jobs() {
    Listing listing{"jobs", {"ID", "STATE", "RANKS", "EXIT", {"MOST MEMORY", true}}, {}, codec::Json::array()};
    listing.rows.push_back({"a", "running", 8, "-", Cell("1.0 MiB", 1048576)});
    listing.rows.push_back({"b", "failed", 16, 3, Cell("2 B", 2)});
    listing.rows.push_back({"c", "running", 100, 0, "-"});
    for (const char* id : {"a", "b", "c"}) listing.items.push_back({{"id", id}, {"ready", true}});
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
              "{\"version\":1,\"jobs\":[{\"id\":\"c\",\"ready\":true},{\"id\":\"a\",\"ready\":true}]}\n");
}

TEST(RowsChoice, MakesItemsOfTheColumnsThatWereAskedFor) {
    const Result<Listing> found = chosen(jobs(), {.columns = {"most_memory", "id", "exit"}, .filters = {"ranks<20"}});
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(written(*found, "jsonl"),
              "{\"exit\":null,\"id\":\"a\",\"most_memory\":1048576}\n{\"exit\":3,\"id\":\"b\",\"most_memory\":2}\n");
    EXPECT_EQ(written(*found, "table"), "MOST MEMORY  ID  EXIT\n1.0 MiB      a   -\n2 B          b   3\n");
    EXPECT_EQ(written(*found, "name"), "1.0 MiB\n2 B\n");
}

/// As the service says it under other names.
Listing renamed() {
    Listing listing{"jobs", {"ID", {"EXIT", "exit_code"}, {"MAY USE", "usable"}, {"TRUST", "trust.score"}}, {}, {}};
    const codec::Json items[] = {{{"id", "a"}, {"exit_code", 3}, {"usable", true}, {"trust", {{"score", 0.25}}}},
                                 {{"id", "b"}, {"exit_code", 12}, {"usable", false}, {"trust", nullptr}},
                                 {{"id", "c"}, {"usable", true}, {"trust", {{"score", 0.75}}}}};
    for (const codec::Json& item : items) {
        listing.items.push_back(item);
        listing.rows.push_back({item.at("id").get<std::string>(), item.contains("exit_code") ? "some" : "-",
                                item.at("usable") ? "yes (home)" : "no", "a little"});
    }
    return listing;
}

TEST(RowsMember, IsAnotherNameOfItsColumnAndHasTheValueThatTheServiceSaid) {
    const auto ids_of = [](const RowChoice& choice) {
        const Result<Listing> found = chosen(renamed(), choice);
        return found ? written(*found, "name") : found.error().message;
    };
    EXPECT_EQ(ids_of({.filters = {"exit_code>3"}}), "b\n");
    EXPECT_EQ(ids_of({.filters = {"exit_code="}}), "c\n");
    EXPECT_EQ(ids_of({.filters = {"exit=some"}}), "a\nb\n") << "the column by its own name";
    EXPECT_EQ(ids_of({.filters = {"usable=true"}}), "a\nc\n");
    EXPECT_EQ(ids_of({.filters = {"may_use~home"}}), "a\nc\n");
    EXPECT_EQ(ids_of({.sort = {"-exit_code"}}), "b\na\nc\n");
    EXPECT_EQ(ids_of({.sort = {"-trust.score"}}), "c\na\nb\n");
}

TEST(RowsMember, IsTheKeyOfItemsAndCsvThatAskForIt) {
    const Result<Listing> found = chosen(renamed(), {.columns = {"exit_code", "usable", "trust.score", "exit", "id"}});
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(codec::dump(found->items[0]),
              R"({"exit":"some","exit_code":3,"id":"a","trust.score":0.25,"usable":true})");
    EXPECT_EQ(codec::dump(found->items[1]),
              R"({"exit":"some","exit_code":12,"id":"b","trust.score":null,"usable":false})");
    EXPECT_EQ(written(*found, "csv").substr(0, 40), "exit_code,usable,trust.score,EXIT,ID\n3,y");
    EXPECT_TRUE(written(*found, "table").starts_with("EXIT  MAY USE     TRUST     EXIT  ID\nsome  yes (home)"));
}

TEST(RowsMember, OfRowsWithoutItemsIsTheCell) {
    Listing listing = renamed();
    listing.items = codec::Json::array();
    const Result<Listing> found = chosen(listing, {.columns = {"exit_code"}, .filters = {"exit_code=some"}});
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(written(*found, "jsonl"), "{\"exit_code\":\"some\"}\n{\"exit_code\":\"some\"}\n");
}

TEST(RowsMember, IsNamedWhereAColumnIsNotFound) {
    const auto said = chosen(renamed(), {.columns = {"zzzzzz"}});
    EXPECT_EQ(said.error().message,
              "there is no column 'zzzzzz'; known are id, exit, exit_code, may_use, usable, trust, trust.score");
    EXPECT_TRUE(chosen(renamed(), {.filters = {"exit_cod=1"}}).error().message.ends_with("did you mean 'exit_code'?"));
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
