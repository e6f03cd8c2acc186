#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>

#include "services/common/adapters/command_line/pages/command_pages.hpp"
#include "services/common/adapters/command_line/pages/man_page.hpp"
#include "services/common/adapters/command_line/refusal.hpp"
#include "services/common/adapters/command_line/values.hpp"

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
        show->add_option("--secret", text_, "hidden")->group("");
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
    EXPECT_EQ(page.find("help"), page.rfind("help")) << "named once";
    EXPECT_EQ(page_name(tree_.commands[0]), "tool-show");
}

TEST_F(CommandLine, ProgramsPageListsItsCommands) {
    const std::string page = man_page(tree_, tree_, {8, "tool 1", "Tools"});
    EXPECT_THAT(page, HasSubstr("\\fBtool\\-show\\fR(8)"));
    EXPECT_THAT(page, HasSubstr("\\fB\\-\\-state\\fR \\fITEXT\\fR\n")) << "a required option in the synopsis";
    EXPECT_THAT(page, Not(HasSubstr("OF ALL COMMANDS")));
}

TEST_F(CommandLine, CompletionQuotesForTheShell) {
    EXPECT_THAT(completion_script(tree_), HasSubstr("'tool show') commands=''; options='"));
}

TEST_F(CommandLine, PagesTellTheExitCodes) {
    constexpr ExitCode kCodes[] = {{0, "good"}, {3, "not found"}};
    const std::string page = man_page(tree_.commands[0], tree_, {1, "tool 1", "Tools", kCodes, "run gives others."});
    EXPECT_THAT(
        page, HasSubstr(".SH EXIT STATUS\n.TP\n\\fB0\\fR\ngood\n.TP\n\\fB3\\fR\nnot found\n.PP\nrun gives others.\n"));
    EXPECT_THAT(man_page(tree_, tree_, {1, "tool 1", "Tools"}), Not(HasSubstr("EXIT STATUS")));
}

TEST(Refusal, NamesTheFirstWordThatIsUnknownAndTheNearest) {
    const auto message = [](std::vector<std::string> words) -> std::string {
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
    EXPECT_EQ(message({"user", "add", "x"}), "accepted");
    EXPECT_EQ(message({"usr", "add", "x"}), "there is no command 'usr' of tool; did you mean 'user'?");
    EXPECT_EQ(message({"user", "ad", "x"}), "there is no command 'ad' of 'user'; did you mean 'add'?");
    EXPECT_EQ(message({"--stat", "x"}), "there is no option '--stat' of tool; did you mean '--state'?");
    EXPECT_EQ(message({"user", "add", "x", "y", "z"}), "'y' is too much: 'add' takes no more");
    EXPECT_EQ(message({"usr", "user", "add", "x"}), "there is no command 'usr' of tool; did you mean 'user'?")
        << "words behind it are known";
    EXPECT_EQ(message({"user", "ad", "add", "x"}), "there is no command 'ad' of 'user'; did you mean 'add'?");
    EXPECT_EQ(message({"user", "add"}), "") << "all words were understood";
    EXPECT_EQ(message({"page\x1b"}), "there is no command 'page?' of tool; known are user")
        << "hidden commands are not listed, and nothing drives a terminal";
}

/// The message for a command line of a program with all kinds of options.
std::string message(const std::vector<std::string>& words) {
    CLI::App app{"A tool"};
    std::string text, format, key, certificate;
    std::vector<std::string> names;
    int count = 1, seed = 0;
    double share = 0;
    std::int64_t bytes = 0;
    bool all = false;
    app.fallthrough();
    app.require_subcommand(1);
    app.add_option("--format", format, "how")->envname("TOOL_FORMAT")->check(one_of({"json", "table"}));
    CLI::App* const add = app.add_subcommand("add", "one more");
    add->add_option("NAMES", names, "whose\nmore")->required();
    add->add_option("-n,--count", count, "ranks")->check(whole_number_in(1, 9));
    add->add_option("--share", share)->check(number_in(0, 0.5));
    add->add_option("--seed", seed, "of the mapping");
    add->add_option("--memory", bytes, "of one")->transform(amount_of_bytes());
    add->add_option("--time", text, "longest run: 2h");
    add->add_option("--file", text, "a file")->check(existing_file());
    add->add_option("--note", text, "why")->check(something("say why"));
    CLI::Option* const flag = add->add_flag("--all", all, "everybody");
    CLI::Option* const one = add->add_option("--key", key, "private key")->excludes(flag);
    one->needs(add->add_option("--certificate", certificate, "of the key"));
    CLI::App* const user = app.add_subcommand("user", "people")->require_subcommand(1);
    user->add_subcommand("list", "all")->add_option("--state", text, "folder")->required();
    user->add_subcommand("remove", "one");
    app.add_subcommand("pages", "for packages")->group("");
    std::vector<std::string> backwards(words.rbegin(), words.rend());
    try {
        app.parse(backwards);
    } catch (const CLI::ParseError& fault) {
        return fault_text(app, fault, "tool", words);
    }
    return "";
}

TEST(NaturalNumber, HasNoSign) {
    for (const std::string good : {"0", "7", "18446744073709551615"}) EXPECT_EQ(natural_number()(good), "");
    for (const std::string bad : {"-1", "-0", "+1", "010", "0x10", "1e3", "", "18446744073709551616"})
        EXPECT_NE(natural_number()(bad), "") << bad;
}

TEST(FaultText, NamesThePlaceAndWhatToGiveInstead) {
    EXPECT_EQ(message({"add", "x", "-n", "2", "--share", "0.5", "--seed", "-3", "--memory", "2GiB"}), "");
    EXPECT_EQ(message({"add", "x", "-n", "0"}), "--count: 0 is out of range; give 1 to 9");
    EXPECT_EQ(message({"add", "x", "-n", "four"}), "--count: 'four' is not a whole number; give 1 to 9");
    EXPECT_EQ(message({"add", "x", "-n", "07"}),
              "--count: '07' is not a decimal number, or begins with 0; give 1 to 9");
    EXPECT_EQ(message({"add", "x", "-n", "0x7"}),
              "--count: '0x7' is not a decimal number, or begins with 0; give 1 to 9");
    EXPECT_EQ(message({"add", "x", "-np", "2"}),
              "--count: 'p' is not a whole number; give 1 to 9; '-np' is read as '-n p', write -n and then the value");
    EXPECT_EQ(message({"add", "x", "-n", "p"}), "--count: 'p' is not a whole number; give 1 to 9");
    EXPECT_EQ(message({"add", "x", "-n"}), "--count: its value is missing; give a whole number from 1 to 9 (ranks)");
    EXPECT_EQ(message({"add", "x", "-n", "1", "-n", "2"}), "--count: given 2 times; give it once");
    EXPECT_EQ(message({"add", "x", "--share", "nan"}), "--share: nan is out of range; give 0 to 0.5");
    EXPECT_EQ(message({"add", "x", "--share"}), "--share: its value is missing; give a number from 0 to 0.5");
    EXPECT_EQ(message({"add", "x", "--seed", "y"}), "--seed: 'y' is not a whole number");
    EXPECT_EQ(message({"add", "x", "--seed", "3000000000"}),
              "--seed: '3000000000' is out of range; it takes a whole number");
    EXPECT_EQ(message({"add", "x", "--time"}), "--time: its value is missing (longest run: 2h)");
    EXPECT_EQ(message({"add", "x", "--memory", "5\x1b"}),
              "--memory: '5?' is no amount of bytes; write the bytes, or a number with its unit: 512MB, 2GiB");
    EXPECT_EQ(message({"add", "x", "--file", "/"}), "--file: '/' is a folder; give a file");
    EXPECT_EQ(message({"add", "x", "--file", "/dev/null/x"}), "--file: there is no file '/dev/null/x'");
    EXPECT_EQ(message({"add", "x", "--note", ""}), "--note: it is empty; say why");
    EXPECT_EQ(message({"add", "x", "--all=some"}), "--all: takes no value; give it alone");
    EXPECT_EQ(message({"add", "x", "--format", "jsn"}), "--format: there is no 'jsn'; did you mean 'json'?");
    EXPECT_EQ(message({"add", "x", "--format"}), "--format: its value is missing; give json or table (how)");
    EXPECT_EQ(message({"add", "x", "--key", "k"}), "--key: needs --certificate, too; give both");
    EXPECT_EQ(message({"add", "x", "--key", "k", "--certificate", "c", "--all"}),
              "--all and --key contradict each other; give one of them");
    EXPECT_EQ(message({"add"}), "the argument 'NAMES' is missing (whose)");
    EXPECT_EQ(message({"user", "list"}), "the option '--state' is missing (folder)");
    EXPECT_EQ(message({"user"}), "which command? 'tool user' has list and remove");
    EXPECT_EQ(message({}), "which command? 'tool' has add and user") << "hidden commands are not listed";
    EXPECT_EQ(message({"user", "remove", "--", "x"}), "'x' is too much: 'remove' takes no more");
    EXPECT_EQ(message({"user", "list", "--sate", "x"}),
              "there is no option '--sate' of 'list'; did you mean '--state'?");
}

TEST(FaultText, NamesTheVariableThatGaveTheValue) {
    ::setenv("TOOL_FORMAT", "xml", 1);
    EXPECT_EQ(message({"add", "x"}), "TOOL_FORMAT: there is no 'xml'; known are json, table");
    EXPECT_EQ(message({"--format=yml", "add", "x"}), "--format: there is no 'yml'; known are json, table");
    ::unsetenv("TOOL_FORMAT");
}

}  // namespace
}  // namespace zbs::command_line
