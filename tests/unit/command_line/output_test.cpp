#include "services/common/adapters/command_line/output.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <iostream>
#include <sstream>

#include "services/common/adapters/command_line/check.hpp"
#include "services/common/adapters/command_line/check_codec.hpp"
#include "services/common/adapters/command_line/pages/command_pages.hpp"

namespace zbs::command_line {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class OutputTest : public testing::Test {
  protected:
    OutputTest() { unsetenv("ZBS_OUTPUT"); }
    ~OutputTest() override {
        std::cout.rdbuf(before_);
        unsetenv("ZBS_OUTPUT");
    }

    /// What is wrong with the words; empty where nothing is.
    std::string parse(Output& output, std::vector<std::string> words) {
        CLI::App app("tool");
        output.add_to(app);
        std::reverse(words.begin(), words.end());
        try {
            app.parse(words);
        } catch (const CLI::ParseError& fault) {
            return fault.what();
        }
        return {};
    }
    std::string printed() {
        std::string text = text_.str();
        text_.str({});
        return text;
    }
    static listing::Listing users() {
        return {"users",
                {"NAME", {"SINCE", "added_us"}},
                {{"ana", "2026"}, {"bo", "2025"}},
                {{{"name", "ana"}, {"added_us", 7}}, {{"name", "bo"}, {"added_us", 5}}}};
    }
    static codec::Json whole() { return {{"users", users().items}, {"next", 3}}; }

  private:
    std::ostringstream text_;
    std::streambuf* before_ = std::cout.rdbuf(text_.rdbuf());
};

TEST_F(OutputTest, OptionsGoBeforeTheVariableAndThatBeforeThePreset) {
    const auto format = [&](const std::vector<std::string>& words, const char* said = nullptr) {
        said == nullptr ? unsetenv("ZBS_OUTPUT") : setenv("ZBS_OUTPUT", said, 1);
        Output output(Output::Kind::kDocument, "jsonl");
        EXPECT_EQ(parse(output, words), "");
        return output.format();
    };
    EXPECT_EQ(format({}), "jsonl");
    EXPECT_EQ(format({}, ""), "jsonl");
    EXPECT_EQ(format({}, "wide"), "wide");
    EXPECT_EQ(format({"-o", "table"}, "wide"), "table");
    EXPECT_EQ(format({"--json"}, "wide"), "json");
    EXPECT_EQ(format({"--json", "-o", "json"}), "json");
}

TEST_F(OutputTest, AWordThatIsNoFormatIsToldWithTheNearestAndTheRemedy) {
    Output list(Output::Kind::kList), document(Output::Kind::kDocument);
    EXPECT_EQ(parse(list, {"-o", "jsno"}), "--output: there is no format 'jsno'; did you mean 'json'?");
    EXPECT_EQ(parse(document, {"-o", "csv"}),
              "--output: csv is for lists; this command prints table, wide, json or jsonl");
    Output twice(Output::Kind::kList);
    EXPECT_EQ(parse(twice, {"-o", "wide", "--json"}), "--json: contradicts -o wide; give one of them");
    EXPECT_THAT(parse(document, {"--columns", "name"}), HasSubstr("--columns")) << "a document has none";
}

TEST_F(OutputTest, WhatTheVariableSaysIsCheckedBeforeAnythingIsDoneButNotByTheParser) {
    setenv("ZBS_OUTPUT", "tabel", 1);
    Output output(Output::Kind::kList);
    EXPECT_EQ(parse(output, {}), "") << "a service starts whatever it says";
    EXPECT_EQ(output.check().error().pointer, "ZBS_OUTPUT");
    EXPECT_EQ(output.check().error().message, "there is no format 'tabel'; did you mean 'table'?");
    EXPECT_EQ(parse(output, {"-o", "csv"}), "");
    EXPECT_TRUE(output.check());
}

TEST_F(OutputTest, AListIsPartOfItsDocumentUntilSomebodyChooses) {
    Output json(Output::Kind::kList);
    EXPECT_EQ(parse(json, {"--json"}), "");
    EXPECT_TRUE(json.print(users(), whole()));
    EXPECT_EQ(
        printed(),
        "{\"version\":1,\"next\":3,\"users\":[{\"added_us\":7,\"name\":\"ana\"},{\"added_us\":5,\"name\":\"bo\"}]}\n");
    Output chosen(Output::Kind::kList);
    EXPECT_EQ(parse(chosen, {"--json", "--filter", "added_us<6"}), "");
    EXPECT_TRUE(chosen.print(users(), whole()));
    EXPECT_EQ(printed(), "{\"version\":1,\"users\":[{\"added_us\":5,\"name\":\"bo\"}]}\n");
    Output csv(Output::Kind::kList);
    EXPECT_EQ(parse(csv, {"-o", "csv", "--sort", "since"}), "");
    EXPECT_TRUE(csv.print(users(), whole()));
    EXPECT_EQ(printed(), "NAME,SINCE\nbo,2025\nana,2026\n");
    Output wrong(Output::Kind::kList);
    EXPECT_EQ(parse(wrong, {"--columns", "nam"}), "");
    const Result<void> refused = wrong.print(users(), whole());
    EXPECT_EQ(refused.error().pointer + ": " + refused.error().message,
              "--columns: there is no column 'nam'; did you mean 'name'?");
    EXPECT_EQ(printed(), "");
}

TEST_F(OutputTest, ADocumentIsATextForPeopleAndHasItsVersionForPrograms) {
    Output table(Output::Kind::kDocument), json(Output::Kind::kDocument);
    table.print_document(whole(), "all\n");
    EXPECT_EQ(printed(), "all\n");
    EXPECT_EQ(parse(json, {"-o", "json"}), "");
    json.print_document({{"next", 3}}, "all\n");
    EXPECT_EQ(printed(), "{\"version\":1,\"next\":3}\n");
}

TEST_F(OutputTest, ManPagesAndCompletionKnowTheFormats) {
    CLI::App app("tool");
    Output output(Output::Kind::kDocument);
    output.add_to(app);
    const Command tree = command_tree(app, "tool");
    EXPECT_THAT(tree.options.at(0).words, ElementsAre("table", "wide", "json", "jsonl"));
    EXPECT_THAT(tree.options.at(0).text, HasSubstr("ZBS_OUTPUT"));
}

TEST(Checks, AreTextListAndDocument) {
    const std::vector<Check> checks{{"clock", CheckResult::kOk, "right", {}},
                                    {"peer \x1b[2J", CheckResult::kFail, "gone", "wait"}};
    EXPECT_EQ(text_of(checks, false), "ok    clock: right\nfail  peer ?[2J: gone\n      -> wait\n");
    EXPECT_THAT(text_of(checks, true), HasSubstr("\x1b[31mfail\x1b[0m"));
    EXPECT_EQ(written(listing_of(checks), "csv"),
              "CHECK,VERDICT,FOUND,REMEDY\nclock,ok,right,\npeer ?[2J,fail,gone,wait\n");
    EXPECT_EQ(document_of(checks).at("verdict"), "fail");
}

TEST_F(OutputTest, ADocumentIgnoresAVariableThatIsAboutLists) {
    Output output(Output::Kind::kDocument);
    setenv("ZBS_OUTPUT", "csv", 1);
    EXPECT_TRUE(output.check());
    EXPECT_EQ(output.format(), "table");
    setenv("ZBS_OUTPUT", "json", 1);
    EXPECT_TRUE(output.for_json());
    setenv("ZBS_OUTPUT", "jsn", 1);
    EXPECT_FALSE(output.check());
}

TEST_F(OutputTest, WhetherJsonIsAskedForIsSeenInWordsThatCouldNotBeParsed) {
    const auto asks = [](const std::vector<std::string>& words) { return asks_for_json(words); };
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {"x", "-o", "json"}, {"-ojson"}, {"-o=jsonl"}, {"--output", "json"}, {"--output=json", "x"}, {"--json"}})
        EXPECT_TRUE(asks(words)) << words.front();
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {}, {"json"}, {"-o"}, {"-o", "csv", "--json"}, {"--", "-o", "json"}, {"--out", "json"}})
        EXPECT_FALSE(asks(words));
    setenv("ZBS_OUTPUT", "json", 1);
    EXPECT_TRUE(asks({"x"}));
    EXPECT_FALSE(asks({"-o", "table"}));
}

}  // namespace
}  // namespace zbs::command_line
