#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/source_folder.hpp"

// A function fits on a screen or two; a longer one is split into named steps.

namespace {
namespace fs = std::filesystem;

constexpr int kMaxLines = 80;
constexpr int kManyLines = 60;  ///< and fewer than so many functions have more than these
constexpr std::size_t kMaxLong = 15;

/// "12: int f() {", one for each function with more lines than `most`, from its signature to its last brace, at
/// namespace scope or in the body of a class there. The source is formatted by clang-format: such a function begins and
/// ends in column 0 or, in a class, 4, and nothing in between does but raw strings and directives. Classes and tables
/// end with "};", namespaces with a comment.
std::vector<std::string> long_functions_in(const std::string& source, int most = kMaxLines) {
    static const std::regex raw_begin("R\"(\\w*)\\(");
    static const std::regex class_begin("(class|struct)\\b[^;]*");
    std::vector<std::string> found;
    std::istringstream lines(source);
    std::string first, member, raw_end;
    int number = 0, begin = 0;  // `begin`: the line of `first`, 0 where no function can have begun
    int member_begin = 0;       // the same of `member`, in a class
    bool is_class = false;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        const bool is_raw = !raw_end.empty();
        std::size_t at = 0;
        if (is_raw) {
            at = line.find(raw_end);
            if (at == std::string::npos) continue;
            at += raw_end.size();
            raw_end.clear();
        }
        std::smatch match;
        for (std::string rest = line.substr(at); std::regex_search(rest, match, raw_begin);) {
            const std::string end = ")" + match[1].str() + "\"";
            rest = match.suffix();
            const std::size_t closed = rest.find(end);
            if (closed == std::string::npos) {
                raw_end = end;
                break;
            }
            rest = rest.substr(closed + end.size());
        }
        if (is_raw || line.empty()) continue;
        if (line == "}" && begin > 0 && number - begin + 1 > most)
            found.push_back(std::to_string(begin) + ": " + first);
        if (line.front() == '}') begin = 0, is_class = false;
        if (std::isalpha(static_cast<unsigned char>(line.front())) != 0 || line.front() == '[') {
            begin = number;
            first = line;
            is_class = std::regex_match(line, class_begin);
            member_begin = 0;
        }
        if (!is_class || !line.starts_with("    ") || line.size() < 5) continue;
        if (line == "    }" && member_begin > 0 && number - member_begin + 1 > most)
            found.push_back(std::to_string(member_begin) + ": " + member);
        if (std::isalpha(static_cast<unsigned char>(line[4])) != 0 || line[4] == '[') {
            member_begin = number;
            member = line.substr(4);
        } else if (line[4] == '}') {
            member_begin = 0;
        }
    }
    return found;
}

TEST(FunctionLength, IsAtMostEightyLinesAndSeldomOverSixty) {
    std::size_t files = 0;
    std::vector<std::string> many;
    for (const char* folder : {"algorithms", "services", "client"}) {
        for (const auto& entry : fs::recursive_directory_iterator(fs::path(zbs::test::source_folder()) / folder)) {
            const fs::path& file = entry.path();
            if (file.extension() != ".cpp" && file.extension() != ".hpp") continue;
            if (file.string().find("node_modules") != std::string::npos) continue;
            ++files;
            std::ifstream in(file);
            const std::string text{std::istreambuf_iterator<char>(in), {}};
            for (const std::string& function : long_functions_in(text))
                ADD_FAILURE() << file.string() << ":" << function << " has over " << kMaxLines
                              << " lines; split it into named steps";
            for (const std::string& function : long_functions_in(text, kManyLines))
                many.push_back("\n" + file.string() + ":" + function);
        }
    }
    EXPECT_GT(files, 100U);
    EXPECT_LT(many.size(), kMaxLong) << testing::PrintToString(many);
}

std::string lines_of(int count, const std::string& line) {
    std::string text;
    for (int i = 0; i < count; ++i) text += line + "\n";
    return text;
}

TEST(FunctionLength, CatchesALongFunction) {
    const auto function = [](int lines) {
        return "namespace zbs {\n\nint f(int number,\n      int other) {\n" + lines_of(lines - 3, "    ++number;") +
               "}\n\n}  // namespace zbs\n";
    };
    EXPECT_TRUE(long_functions_in(function(kMaxLines)).empty());
    EXPECT_EQ(long_functions_in(function(kMaxLines + 1)), std::vector<std::string>{"3: int f(int number,"});
    EXPECT_EQ(long_functions_in(function(20) + function(kMaxLines + 1) + function(90)).size(), 2U);
}

TEST(FunctionLength, CatchesALongFunctionInAClass) {
    const std::string body = "    int f() {\n" + lines_of(kMaxLines, "        ++number;") + "    }\n";
    EXPECT_EQ(long_functions_in("class C {\n    int a = 0;\n" + body + "};\n"),
              std::vector<std::string>{"3: int f() {"});
    EXPECT_EQ(long_functions_in("struct C : D {\n" + body + body + "};\n").size(), 2U);
    EXPECT_TRUE(long_functions_in("struct C;\nint f() {\n    int a;\n    {\n    }\n}\n").empty());
}

TEST(FunctionLength, CountsDirectivesAndRawStrings) {
    const std::string json = "    return R\"(\n{\n}\n)\" + text;\n";
    const std::string rest = lines_of(kMaxLines, "    ++number;") + "}\n";
    EXPECT_EQ(long_functions_in("int f() {\n#if 1\n" + json + "#endif\n" + rest).size(), 1U);
    EXPECT_EQ(long_functions_in("int f() {\n    return R\"x(\nint g();\n)\" \n)x\";\n" + rest).size(), 1U);
}

TEST(FunctionLength, LeavesOutTablesClassesAndNamespaces) {
    const std::string many = lines_of(2 * kMaxLines, "    {1, 2},");
    EXPECT_TRUE(long_functions_in("constexpr int kTable[] = {\n" + many + "};\n").empty());
    EXPECT_TRUE(long_functions_in("class Many {\n" + lines_of(kMaxLines, "    int f() {\n    }") + "};\n").empty());
    EXPECT_TRUE(long_functions_in("namespace {\n" + lines_of(kMaxLines, "int f() {\n}") + "}  // namespace\n").empty());
    EXPECT_TRUE(long_functions_in("extern \"C\" {\n" + lines_of(kMaxLines, "int f() {\n}") + "}\n").empty());
}

}  // namespace
