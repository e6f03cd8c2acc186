#include "client/cli/submission/directives.hpp"

#include <gtest/gtest.h>

namespace zbs::cli {
namespace {

/// "LINE:word|word" of each directive, or the error.
std::string parsed(std::string_view text) {
    const Result<ScriptHead> head = read_script_head(text);
    if (!head) return head.error().pointer + ": " + head.error().message;
    std::string out;
    for (const Directive& directive : head->directives) {
        out += std::to_string(directive.line) + ":";
        for (const std::string& word : directive.words) out += word + "|";
        out += "\n";
    }
    return out;
}

TEST(ReadScriptHead, TakesTheDirectivesAboveTheFirstCommand) {
    EXPECT_EQ(
        parsed("#!/bin/sh\n# my job\n#ZBS -n 8 --walltime 1h\n\n  \t\n#ZBS\t--env 'A=x y'\r\necho hi\n#ZBS -n 9\n"),
        "3:-n|8|--walltime|1h|\n6:--env|A=x y|\n");
    EXPECT_EQ(parsed("#!/bin/sh\n#ZBS -n 8"), "2:-n|8|\n");
}

TEST(ReadScriptHead, SplitsWordsAsAShellWithoutExpandingThem) {
    const std::pair<const char*, const char*> cases[] = {
        {"--env \"A=b \\\" c\"", "2:--env|A=b \" c|\n"},
        {"a\\ b ''", "2:a b||\n"},
        {"\"A=a\\d+b\" 'c\\d' e\\ f", "2:A=a\\d+b|c\\d|e f|\n"},
        {"\"\\$x \\`y\\` \\\\ \\\" \\n \\'\"", "2:$x `y` \\ \" \\n \\'|\n"},
        {"a\\d \\' \\#x", "2:ad|'|#x|\n"},
        {"'a'\"b\"c d'#'e", "2:abc|d#e|\n"},
        {"-n 8 # ranks", "2:-n|8|\n"},
        {"a#b", "2:a#b|\n"},
        {"$HOME `x` *", "2:$HOME|`x`|*|\n"},
        {"'a\\'", "2:a\\|\n"},
        {"# nothing", ""},
        {"", ""},
    };
    for (const auto& [words, expected] : cases)
        EXPECT_EQ(parsed(std::string("#!/bin/sh\n#ZBS ") + words), expected) << words;
}

TEST(ReadScriptHead, NamesTheMarksOfOtherSchedulersOnce) {
    const auto marks = [](const std::string& text) { return read_script_head("#!/bin/sh\n" + text)->foreign; };
    using Marks = std::vector<std::string>;
    EXPECT_EQ(marks("#SBATCH -n 3\n#SBATCH --time=5\n#PBS -l walltime=1\n#ZBS -n 1\n"), (Marks{"#SBATCH", "#PBS"}));
    EXPECT_EQ(marks("#$ -N x\n#BSUB\n#flux: -n 4\n"), (Marks{"#$", "#BSUB", "#flux:"}));
    EXPECT_EQ(marks("# SBATCH -n 3\n##SBATCH -n 3\n#SBATCHES\n#$x\necho\n#SBATCH -n 4\n"), Marks{});
}

TEST(ReadScriptHead, NamesCommentsThatWouldBeDirectivesWithOtherBlanksOrLetters) {
    const auto mistyped = [](const std::string& text) {
        const Result<ScriptHead> head = read_script_head("#!/bin/sh\n" + text);
        std::string out;
        for (const MistypedDirective& one : head->mistyped) out += std::to_string(one.line) + ":" + one.options + "|";
        return out;
    };
    EXPECT_EQ(mistyped("#ZBS-n 2\n# ZBS -n 2\n#zbs -n 3\r\n #ZBS\t--walltime 1h\n#Zbs--name x\n#zbs -n4\n"),
              "2:-n 2|3:-n 2|4:-n 3|5:--walltime 1h|6:--name x|7:-n4|");
    EXPECT_EQ(mistyped("#ZBS -n 2\n##ZBS -n 2\n#\n# zbs-zone\n# zbs - text\n# zbs\n#zb\n#ZBSX -n 2\n#zbs --\n"), "");
    EXPECT_EQ(mistyped("cd x\n#zbs -n 2\n"), "") << "below the first command";
}

TEST(ReadScriptHead, FindsTheFirstDirectiveThatIsTooLate) {
    EXPECT_EQ(read_script_head("#!/bin/sh\n#ZBS -n 1\ncd x\n# more\n#ZBS -n 2\n#ZBS -n 3\n")->too_late, 5U);
    EXPECT_EQ(read_script_head("#!/bin/sh\n#ZBS -n 1\ncd x\n# ZBS -n 2\n#ZBSX\n")->too_late, 0U);
    EXPECT_EQ(parsed("#!/bin/sh\n#ZBS -n 1\ncd x\n#ZBS 'never read\n"), "2:-n|1|\n");
}

TEST(ReadScriptHead, LeavesCommentsThatOnlyLookAlike) {
    EXPECT_EQ(parsed("#!/bin/sh\n# ZBS -n 1\n#ZBSX -n 2\n##ZBS -n 3\n #ZBS -n 4\n#zbs -n 5\n"), "");
}

TEST(ReadScriptHead, HasNothingInFilesThatAreNoScripts) {
    for (const std::string& text : {std::string(), std::string("#ZBS -n 8\n"),
                                    std::string("\x7f"
                                                "ELF\n#ZBS -n 8\n"),
                                    std::string("#!/bin/sh\0\n#ZBS -n 8\n", 21)}) {
        const Result<ScriptHead> head = read_script_head(text);
        ASSERT_TRUE(head.has_value());
        EXPECT_FALSE(head->is_script);
        EXPECT_TRUE(head->directives.empty());
    }
}

TEST(ReadScriptHead, NamesTheLineOfAFault) {
    EXPECT_EQ(parsed("#!/bin/sh\n\n#ZBS --env 'A\n"), "line 3: the quote ' does not end");
    EXPECT_EQ(parsed("#!/bin/sh\n#ZBS a\\\n"), "line 2: the backslash at the end of the line has nothing behind it");
    std::string many = "#!/bin/sh\n";
    for (std::size_t i = 0; i <= kMaxDirectives; ++i) many += "#ZBS -n 1\n";
    EXPECT_EQ(parsed(many), "line 202: more than 200 directives");
}

TEST(ReadScriptHead, StopsAtItsLimitAndTakesNoCutLine) {
    const std::string padding = "#!/bin/sh\n#" + std::string(kMaxScriptHead - 20, 'x') + "\n";
    EXPECT_EQ(parsed(padding + "#ZBS -n 8888888888888\n"), "");
}

}  // namespace
}  // namespace zbs::cli
