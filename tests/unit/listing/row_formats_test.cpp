#include <gtest/gtest.h>

#include "services/common/listing/rows.hpp"

namespace zbs::listing {
namespace {

using codec::Json;

Listing one(Cell cell) { return {"jobs", {"NAME", {"SIZE", true}}, {{std::move(cell), 5}}, Json::array()}; }

TEST(Written, AlignsTablesByCharactersAndShowsWideColumnsOnlyWhereAsked) {
    const Listing listing{
        "jobs", {"NAME", {"SIZE", true}, "STATE"}, {{"\u00e9t\u00e9s", 5, "ok"}, {"b", 10, "-"}}, Json::array()};
    EXPECT_EQ(written(listing, "table"), "NAME  STATE\n\u00e9t\u00e9s  ok\nb     -\n");
    EXPECT_EQ(written(listing, "wide"), "NAME  SIZE  STATE\n\u00e9t\u00e9s  5     ok\nb     10    -\n");
}

TEST(Written, FitsTablesIntoTheWidthAndCutsTheLongestTexts) {
    const std::string reason = "waits for processors that others have", program = "/home/ana/solver/bin/heat_2d";
    const Listing listing{"jobs",
                          {"ID", "PROGRAM", "RANKS", "REASON"},
                          {{"01JJJJJJJJJJJJJJJJJJJJJJJJ", program, 8, reason}, {"b", "heat", 10, "-"}},
                          Json::array()};
    EXPECT_EQ(written(listing, "table", 80),
              "ID                          PROGRAM                 RANKS  REASON\n"
              "01JJJJJJJJJJJJJJJJJJJJJJJJ  /home/ana/solver/bi...  8      waits for processo...\n"
              "b                           heat                    10     -\n");
    EXPECT_EQ(written(listing, "table", 40),
              "ID                          PROGRAM  ...\n"
              "01JJJJJJJJJJJJJJJJJJJJJJJJ  /home/a.....\n"
              "b                           heat     ...\n");
    EXPECT_EQ(written(listing, "table", 200), written(listing, "table"));
    EXPECT_EQ(written(listing, "wide", 40), written(listing, "table")) << "nothing is cut";
    EXPECT_EQ(written(listing, "csv", 40), written(listing, "csv"));
}

TEST(Written, PutsExplanationsBelowTheirRowsWhereATerminalIsTooNarrow) {
    Column reason("REASON");
    reason.explains = true;
    const Listing listing{"jobs",
                          {"ID", reason, "RANKS"},
                          {{"a", "waits for processors that others have", 8}, {"b", "", 10}, {"c", "no room", 1}},
                          Json::array()};
    EXPECT_EQ(written(listing, "table", 30, true),
              "ID  RANKS\n"
              "a   8\n"
              "  waits for processors that\n"
              "  others have\n"
              "b   10\n"
              "c   1\n"
              "  no room\n");
    EXPECT_EQ(written(listing, "table", 80, true), written(listing, "table")) << "there is room";
    EXPECT_EQ(written(listing, "wide", 30, true), written(listing, "wide"));
    EXPECT_EQ(written(listing, "table", 30).find("others"), std::string::npos) << "a file has a line for each row";
}

TEST(Written, QuotesCsvAsRfc4180AndKeepsSpreadsheetsFromCalculating) {
    const std::pair<Cell, const char*> cases[] = {
        {"plain", "plain"},
        {"a,b", "\"a,b\""},
        {"say \"x\"", "\"say \"\"x\"\"\""},
        {"two\nlines", "\"two\nlines\""},
        {"=1+1", "'=1+1"},
        {"-x", "'-x"},
        {"-", ""},
        {"", ""},
        {-3, "-3"},
        {Cell("2 B", 2), "2"},
        {"a\rb", "a?b"},
        {"@x,y", "\"'@x,y\""},
    };
    for (const auto& [cell, expected] : cases)
        EXPECT_EQ(written(one(cell), "csv"), std::string("NAME,SIZE\n") + expected + ",5\n") << cell.text;
}

TEST(Written, MakesItemsOfCellsWhereTheServiceGaveNone) {
    EXPECT_EQ(written(one("x"), "json"), "{\"version\":1,\"jobs\":[{\"name\":\"x\",\"size\":5}]}\n");
    EXPECT_EQ(written(Listing{"jobs", {"NAME"}, {}, Json::array()}, "json"), "{\"version\":1,\"jobs\":[]}\n");
    EXPECT_EQ(written(Listing{"jobs", {"NAME"}, {}, Json::array()}, "name"), "");
}

TEST(Written, LetsNoNameDriveATerminal) {
    const std::string evil =
        "a\x1b[2Jb\nc\xc2\x9b"
        "31m\x7f\xe2\x80\xae\xff";
    EXPECT_EQ(harmless_line(evil), "a?[2Jb?c?31m???");
    for (const std::string& format : output_formats()) {
        const std::string text = written(one(evil), format);
        EXPECT_EQ(text.find('\x1b'), std::string::npos) << format;
        if (format == "json" || format == "jsonl") continue;  // JSON of others is passed on as JSON
        EXPECT_EQ(text.find("\xc2\x9b"), std::string::npos) << format;
        EXPECT_EQ(text.find('\xff'), std::string::npos) << format;
    }
    EXPECT_EQ(written(one("two\nrows"), "name"), "two?rows\n");
}

TEST(Written, ListThatServiceTellsAsNullIsEmpty) {
    EXPECT_EQ(written(Listing{"jobs", {"NAME"}, {}, Json()}, "json"), "{\"version\":1,\"jobs\":[]}\n");
}

TEST(RowFormats, RowsAloneHaveTheWidthsOfRows) {
    const Listing listing{"users", {"A LONG TITLE", "B"}, {{"x", "1"}, {"yy", "2"}}};
    const RowChoice rows_alone{.no_header = true};
    EXPECT_EQ(written(*chosen(listing, rows_alone), "table"), "x   1\nyy  2\n");
    EXPECT_EQ(written(*chosen(listing, rows_alone), "csv"), "x,1\nyy,2\n");
    EXPECT_EQ(written(*chosen(listing, rows_alone), "json"), written(listing, "json"));
    EXPECT_EQ(written(*chosen({"users", {"A"}, {}}, rows_alone), "table"), "");
}

}  // namespace
}  // namespace zbs::listing
