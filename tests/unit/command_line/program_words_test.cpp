#include "services/common/adapters/command_line/pages/program_words.hpp"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

namespace zbs::command_line {
namespace {

using Words = std::vector<std::string>;

/// A tool with two commands that run programs, one of them behind an argument of its own.
struct Tool {
    Tool() {
        app.add_option("--url", url, "");
        app.add_option("-o,--output", format, "");
        app.add_flag("--json", json, "");
        app.fallthrough();
        app.require_subcommand(1);
        CLI::App* const run = app.add_subcommand("run", "");
        run->add_option("-n,--ntasks", ranks, "");
        run->add_option("--name", name, "");
        run->add_option("--env", variables, "")->take_all()->allow_extra_args(false);
        run->add_flag("-q,--quiet", quiet, "");
        add_program(*run, program, "")->required();
        CLI::App* const import = app.add_subcommand("import", "");
        import->add_option("model", model, "")->required();
        add_program(*import, program, "");
        app.add_subcommand("list", "");
    }
    void read(const Words& words) { read_words(app, "tool", divide_words(app, words)); }

    CLI::App app;
    std::string url, format, name = "none", model;
    bool json = false, quiet = false;
    int ranks = 1;
    Words program, variables;
};

TEST(ProgramWords, ReachTheProgramAsTheyAre) {
    for (const Words& words : std::vector<Words>{{"./p"},
                                                 {"./p", "[1,2,3]"},
                                                 {"./p", "[]", "[[1],[2]]", "[ ]"},
                                                 {"[a,b]", "[]"},
                                                 {"./p", "-n", "100", "--ntasks=7", "-q", "--help"},
                                                 {"./p", "--", "--", "-x"},
                                                 {"./p", "", " ", "\n", "++", "list", "run"},
                                                 {"./p", "{}", "%%"},
                                                 {"list", "-o", "json", "--json"},
                                                 {"-", "-"},
                                                 {"-5", "-n", "3"},
                                                 {"", "x"}}) {
        for (const bool marked : {false, true}) {
            Tool tool;
            Words line = {"run", "-n", "4"};
            if (marked) line.emplace_back("--");
            line.insert(line.end(), words.begin(), words.end());
            tool.read(line);
            EXPECT_EQ(tool.program, words);
            EXPECT_EQ(tool.ranks, 4);
            EXPECT_FALSE(tool.quiet || tool.json);
        }
    }
}

TEST(ProgramWords, WhatLooksLikeAnOptionIsTheProgramBehindTheMark) {
    Tool tool;
    tool.read({"run", "--", "-n", "3"});
    EXPECT_EQ(tool.program, (Words{"-n", "3"}));
    EXPECT_EQ(tool.ranks, 1);
}

TEST(ProgramWords, ValuesOfOptionsBeginNoProgram) {
    const std::vector<std::pair<Words, Words>> cases = {{{"--url", "u", "run", "-qn", "2", "p"}, {"p"}},
                                                        {{"run", "-n2", "p", "-n3"}, {"p", "-n3"}},
                                                        {{"run", "--ntasks=2", "p"}, {"p"}},
                                                        {{"run", "--env", "--", "-n", "2", "p"}, {"p"}},
                                                        {{"run", "-o", "json", "-n", "2", "p"}, {"p"}},
                                                        {{"--json", "run", "-qqn2", "p"}, {"p"}}};
    for (const auto& [line, program] : cases) {
        Tool tool;
        tool.read(line);
        EXPECT_EQ(tool.program, program) << testing::PrintToString(line);
    }
}

TEST(ProgramWords, AnEmptyValueDoesNotTakeTheNextWord) {
    Tool tool;
    tool.read({"run", "--name=", "-n", "2", "p"});
    EXPECT_EQ(tool.name, "");
    EXPECT_EQ(tool.ranks, 2);
    EXPECT_EQ(tool.program, Words{"p"});
}

TEST(ProgramWords, StandBehindTheArgumentsOfTheCommand) {
    for (const Words& line : {Words{"import", "m", "p", "-o", "[1]"}, Words{"import", "m", "--", "p", "-o", "[1]"},
                              Words{"import", "--", "m", "p", "-o", "[1]"}}) {
        Tool tool;
        tool.read(line);
        EXPECT_EQ(tool.model, "m");
        EXPECT_EQ(tool.program, (Words{"p", "-o", "[1]"}));
    }
    Tool tool;
    tool.read({"import", "m"});
    EXPECT_TRUE(tool.program.empty());
}

TEST(ProgramWords, AreNoneOfOtherCommands) {
    Tool tool;
    const DividedWords words = divide_words(tool.app, {"list", "x", "-o", "json"});
    EXPECT_EQ(words.own, (Words{"list", "x", "-o", "json"}));
    EXPECT_TRUE(words.program.empty());
}

TEST(ProgramWords, AMissingProgramIsAFault) {
    for (const Words& line : {Words{"run"}, Words{"run", "-n", "2"}, Words{"run", "--"}})
        EXPECT_THROW(Tool().read(line), CLI::ParseError);
}

}  // namespace
}  // namespace zbs::command_line
