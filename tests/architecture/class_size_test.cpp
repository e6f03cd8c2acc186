#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/source_folder.hpp"

// A class that does one thing has few functions; a larger one is cut along the states that it has.

namespace {
namespace fs = std::filesystem;

constexpr int kMaxPublic = 25, kMaxPrivate = 40;

struct Class {
    std::string name;
    bool is_public = false;                       ///< what follows
    int public_functions = 0, own_functions = 0;  ///< each overload; protected ones are its own
    std::set<std::string> accessors{};            ///< without arguments
};

/// Whether a statement of a class declares a function that the class adds: no override (ports are bounded by
/// themselves), none that is left to the compiler, no member of a type with parentheses.
bool is_function(std::string statement) {
    static const std::regex arguments("<[^<>]*>"), symbol("\\boperator\\s*(?:\\(\\)|[^\\s\\w(]+)"),
        other(
            "^\\s*(?:,|using\\b|friend\\b|static_assert\\b|class\\b|struct\\b|enum\\b)|\\(\\s*\\*|"
            "\\boverride\\b|=\\s*(?:delete|default)\\s*$");
    statement = std::regex_replace(statement, symbol, "symbol");
    for (std::string before; before != statement;) {
        before = statement;
        statement = std::regex_replace(statement, arguments, "");
    }
    const std::size_t parenthesis = statement.find('(');
    return parenthesis != std::string::npos && parenthesis < statement.find('=') &&
           !std::regex_search(statement, other);
}

/// The end of a literal that begins at `at`; of anything else the next character.
std::size_t end_of_literal(const std::string& source, std::size_t at) {
    const char quote = source[at];
    const bool is_in_word = at > 0 && std::isalnum(static_cast<unsigned char>(source[at - 1])) != 0;
    if (quote == '"' && is_in_word && source[at - 1] == 'R') {
        const std::string end = ")" + source.substr(at + 1, source.find('(', at) - at - 1) + "\"";
        return source.find(end, at) + end.size();
    }
    if (quote != '"' && (quote != '\'' || is_in_word)) return at + 1;
    for (++at; at < source.size() && source[at] != quote; ++at) at += source[at] == '\\';
    return at + 1;
}

/// A source without comments, directives and what is in literals.
std::string code_of(const std::string& source) {
    std::string code;
    bool is_line_empty = true;
    for (std::size_t at = 0; at < source.size();) {
        if (source.compare(at, 2, "//") == 0 || (source[at] == '#' && is_line_empty)) {
            at = std::min(source.find('\n', at), source.size());
            continue;
        }
        is_line_empty = source[at] == '\n' || (is_line_empty && source[at] == ' ');
        code += source[at];
        at = end_of_literal(source, at);
    }
    return code;
}

/// All classes of a source, in the order of their ends: also nested and local ones. An accessor for what is const and
/// for what is not counts once.
std::vector<Class> classes_in(const std::string& source) {
    static const std::regex access("^\\s*(public|private|protected)\\s*:"),
        accessor("(\\w+)\\s*\\(\\)(?:\\s*const)?\\s*$"),
        type("\\b(class|struct)\\s+([\\w:]+)(?:\\s+final)?\\s*(?::[^()=;]*)?$");
    std::vector<Class> found, open;  // `open`: one for each brace; without a name where it is of no class
    std::string statement;
    for (const char letter : code_of(source)) {
        if (letter != '{' && letter != '}' && letter != ';') {
            statement += letter;
            continue;
        }
        std::smatch match;
        if (!open.empty() && !open.back().name.empty()) {
            Class& one = open.back();
            for (; std::regex_search(statement, match, access); statement = match.suffix())
                one.is_public = match[1] == "public";
            const bool is_pair =
                std::regex_search(statement, match, accessor) && !one.accessors.insert(match[1]).second;
            if (!is_pair && is_function(statement)) ++(one.is_public ? one.public_functions : one.own_functions);
        }
        if (letter == '{') {
            const bool may_be_one =
                statement.find("class") != std::string::npos || statement.find("struct") != std::string::npos;
            const bool is_class = may_be_one && std::regex_search(statement, match, type);
            open.push_back({is_class ? match[2].str() : "", is_class && match[1] == "struct"});
        }
        if (letter == '}' && !open.empty()) {
            if (!open.back().name.empty()) found.push_back(std::move(open.back()));
            open.pop_back();
        }
        statement.clear();
    }
    return found;
}

TEST(ClassSize, IsAtMostTwentyFivePublicAndFortyOtherFunctions) {
    std::size_t classes = 0;
    for (const char* folder : {"algorithms", "services", "client"}) {
        for (const auto& entry : fs::recursive_directory_iterator(fs::path(zbs::test::source_folder()) / folder)) {
            const fs::path& file = entry.path();
            if (file.extension() != ".cpp" && file.extension() != ".hpp") continue;
            if (file.string().find("node_modules") != std::string::npos) continue;
            std::ifstream in(file);
            for (const Class& one : classes_in({std::istreambuf_iterator<char>(in), {}})) {
                ++classes;
                EXPECT_LE(one.public_functions, kMaxPublic) << file << ": " << one.name << " has too many public ones";
                EXPECT_LE(one.own_functions, kMaxPrivate) << file << ": " << one.name << " has too many of its own";
            }
        }
    }
    EXPECT_GT(classes, 1'000U);
}

TEST(ClassSize, CountsOverloadsAlsoOfNestedAndLocalClasses) {
    const std::vector<Class> found = classes_in(
        "#include <x>\nclass Outer final : public Base<int> {\n  public:\n"
        "    explicit Outer(int a) : a_(a), b_{a}, c_(a) {}\n    Outer(const Outer&) = delete;\n"
        "    void on(const A&);\n    void on(const B& b) { f(b.x()); }\n    template <class T>\n    T get() const;\n"
        "    bool operator==(const Outer&) const = default;\n    bool operator()(int) const;\n"
        "    void place(int) override;\n    friend void g(int);\n"
        "    struct Inner {\n        Inner();\n        int f(int x = g(1));\n        int count = f(2);\n    };\n"
        "  private:\n    std::function<void(int)> done_ = [](int x) { use(x); };\n    void (*check_)(int);\n"
        "    static int h();\n    int a_, b_{f(1)};\n};\n"
        "void Outer::f() {\n    struct Local {\n        void g();\n    };\n    if (a(1)) b(2);\n}\n"
        "struct Outer::Late {\n    void operator()(int) const { f(\"}{\", '}'); }\n    std::array<int, h(3)> k;\n};\n");
    ASSERT_EQ(found.size(), 4U);
    const auto expect = [](const Class& one, const char* name, int public_functions, int own) {
        EXPECT_EQ(one.name, name);
        EXPECT_EQ(one.public_functions, public_functions) << name;
        EXPECT_EQ(one.own_functions, own) << name;
    };
    expect(found[0], "Inner", 2, 0);
    expect(found[1], "Outer", 5, 1);
    expect(found[2], "Local", 1, 0);
    expect(found[3], "Outer::Late", 1, 0);
}

}  // namespace
