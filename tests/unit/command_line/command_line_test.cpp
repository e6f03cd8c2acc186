#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "services/common/adapters/command_line/completion.hpp"
#include "services/common/adapters/command_line/man_page.hpp"
#include "services/common/adapters/command_line/refusal.hpp"

namespace zbs::command_line {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// A program with what a parser can have: arguments, flags, words, a group, what is hidden.
class CommandLine : public testing::Test {
  protected:
    CommandLine() {
        app_.add_option("--state", text_, "folder of keys. Second sentence")->envname("TOOL_STATE")->required();
        CLI::App* const show = app_.add_subcommand(
            "show", ".tells what is; it's \\fine\n\nMore of it.\n\nExample: tool show x -o json\nExample: tool show y");
        show->add_option("NAMES", names_, "whose")->required();
        show->add_option("-o,--output", text_, "how")->check(CLI::IsMember({"json", "table"}))->default_str("table");
        show->add_flag("--all", all_, "also what has ended");
        show->add_option("--secret", text_, "not told of")->group("");
        show->add_option_group("more")->add_option("--limit", count_, "at most so many");
        app_.add_subcommand("hidden", "for machines")->group("");
        app_.require_subcommand(1);
        tree_ = command_tree(app_, "tool");
    }

    const CommandOption& option(const std::string& name) const {
        for (const Command* command : {&tree_, &tree_.commands.at(0)})
            for (const CommandOption& option : command->options)
                if (std::find(option.names.begin(), option.names.end(), name) != option.names.end()) return option;
        throw std::runtime_error("no option " + name);
    }

    CLI::App app_{"A tool"};
    std::string text_;
    std::vector<std::string> names_;
    bool all_ = false;
    int count_ = 0;
    Command tree_;
};

TEST_F(CommandLine, TreeHasWhatHelpShowsAndNothingElse) {
    ASSERT_EQ(tree_.commands.size(), 1U) << "the hidden command is there";
    const Command& show = tree_.commands[0];
    EXPECT_EQ(show.path, "tool show");
    EXPECT_EQ(show.text, ".tells what is; it's \\fine\n\nMore of it.");
    EXPECT_THAT(show.examples, ElementsAre("tool show x -o json", "tool show y"));
    EXPECT_TRUE(tree_.needs_command);
    EXPECT_FALSE(show.needs_command);
    EXPECT_THROW(option("--secret"), std::runtime_error);
    EXPECT_EQ(option("--limit").value, "INT") << "of an option group";
}

TEST_F(CommandLine, TreeTellsWhatAnOptionTakes) {
    EXPECT_THAT(option("--output").names, ElementsAre("-o", "--output"));
    EXPECT_THAT(option("--output").words, ElementsAre("json", "table"));
    EXPECT_EQ(option("--output").default_value, "table");
    EXPECT_EQ(option("--all").value, "");
    EXPECT_EQ(option("--state").environment, "TOOL_STATE");
    EXPECT_TRUE(option("--state").is_required);
    EXPECT_TRUE(option("NAMES").is_argument);
    EXPECT_TRUE(option("NAMES").may_repeat);
    EXPECT_FALSE(option("--output").is_argument);
}

TEST_F(CommandLine, ManPageIsLiteral) {
    const std::string page = man_page(tree_.commands[0], tree_, {1, "tool 1", "Tools"});
    EXPECT_THAT(page, HasSubstr(".TH \"TOOL\\-SHOW\" 1 \"\" \"tool 1\" \"Tools\"\n"));
    EXPECT_THAT(page, HasSubstr("\n\\&.tells what is; it's \\efine\n.PP\nMore of it.\n"));
    EXPECT_THAT(page, HasSubstr("\n\\fINAMES\\fR ...\n"));
    EXPECT_THAT(page, HasSubstr("how.\nOne of json, table.\nDefault: table."));
    EXPECT_THAT(page, HasSubstr(".SH OPTIONS OF ALL COMMANDS\n"));
    EXPECT_THAT(page, HasSubstr("Environment: \\fBTOOL_STATE\\fR."));
    EXPECT_THAT(page, HasSubstr(".nf\ntool show x \\-o json\n.fi\n"));
    EXPECT_THAT(page, Not(HasSubstr("secret")));
    EXPECT_EQ(page.find("help"), page.rfind("help")) << "told of once";
    EXPECT_EQ(page_name(tree_.commands[0]), "tool-show");
}

TEST_F(CommandLine, ProgramsPageListsItsCommands) {
    const std::string page = man_page(tree_, tree_, {8, "tool 1", "Tools"});
    EXPECT_THAT(page, HasSubstr("\\fBtool\\-show\\fR(8)"));
    EXPECT_THAT(page, HasSubstr("\\fB\\-\\-state\\fR \\fITEXT\\fR\n")) << "a required option in the synopsis";
    EXPECT_THAT(page, Not(HasSubstr("OF ALL COMMANDS")));
}

TEST_F(CommandLine, CompletionQuotesForItsShell) {
    EXPECT_THAT(completion_script(tree_, Shell::kBash), HasSubstr("'tool show') commands=''; options='"));
    EXPECT_THAT(completion_script(tree_, Shell::kFish), HasSubstr("-d '.tells what is'"));
    EXPECT_THAT(completion_script(tree_, Shell::kZsh), testing::StartsWith("#compdef tool\n"));
    EXPECT_EQ(parse_shell("fish"), Shell::kFish);
    EXPECT_EQ(parse_shell("tcsh"), std::nullopt);
}

TEST_F(CommandLine, PagesTellTheExitCodes) {
    constexpr ExitCode kCodes[] = {{0, "good"}, {3, "not found"}};
    const std::string page = man_page(tree_.commands[0], tree_, {1, "tool 1", "Tools", kCodes, "run gives others."});
    EXPECT_THAT(
        page, HasSubstr(".SH EXIT STATUS\n.TP\n\\fB0\\fR\ngood\n.TP\n\\fB3\\fR\nnot found\n.PP\nrun gives others.\n"));
    EXPECT_THAT(man_page(tree_, tree_, {1, "tool 1", "Tools"}), Not(HasSubstr("EXIT STATUS")));
}

TEST(Refusal, NamesTheFirstWordThatIsUnknownAndTheNearest) {
    const auto told = [](std::vector<std::string> words) -> std::string {
        CLI::App app{"A tool"};
        std::string text;
        app.add_option("--state", text, "folder");
        app.fallthrough();
        app.require_subcommand(0, 1);
        CLI::App* const user = app.add_subcommand("user", "people")->require_subcommand(1);
        user->add_subcommand("add", "one more")->add_option("NAME", text, "whose")->required();
        app.add_subcommand("pages", "for packages")->group("");
        std::vector<std::string> backwards(words.rbegin(), words.rend());
        try {
            app.parse(backwards);
        } catch (const CLI::ParseError&) {
            return unknown_word(app, "tool", words);
        }
        return "accepted";
    };
    EXPECT_EQ(told({"user", "add", "x"}), "accepted");
    EXPECT_EQ(told({"usr", "add", "x"}), "there is no command 'usr' of tool; did you mean 'user'?");
    EXPECT_EQ(told({"user", "ad", "x"}), "there is no command 'ad' of 'user'; did you mean 'add'?");
    EXPECT_EQ(told({"--stat", "x"}), "there is no option '--stat' of tool; did you mean '--state'?");
    EXPECT_EQ(told({"user", "add", "x", "y", "z"}), "'y' is too much: 'add' takes no more");
    EXPECT_EQ(told({"usr", "user", "add", "x"}), "there is no command 'usr' of tool; did you mean 'user'?")
        << "words behind it are known";
    EXPECT_EQ(told({"user", "ad", "add", "x"}), "there is no command 'ad' of 'user'; did you mean 'add'?");
    EXPECT_EQ(told({"user", "add"}), "") << "all words were understood";
    EXPECT_EQ(told({"page\x1b"}), "there is no command 'page?' of tool; known are user")
        << "what is hidden is not told, and nothing drives a terminal";
}

}  // namespace
}  // namespace zbs::command_line
