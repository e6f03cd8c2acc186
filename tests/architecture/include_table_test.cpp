#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/source_folder.hpp"
#include "tests/support/temporary_folder.hpp"

// Reads every #include below algorithms/, services/, client/ and studies/ and holds it against includes.tsv: who may
// include whom, and which third-party headers a module may see. `main.cpp` of a service sees both sides and is exempt.

namespace {
using namespace zbs;
namespace fs = std::filesystem;

struct Rule {
    std::set<std::string> modules;
    std::vector<std::string> third_party;
};
using Table = std::map<std::string, Rule>;

std::vector<std::string> words(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> out;
    for (std::string word; in >> word;) {
        if (word != "-") out.push_back(word);
    }
    return out;
}

Table read_table(const fs::path& path) {
    std::ifstream in(path);
    Table table;
    for (std::string line; std::getline(in, line);) {
        if (line.empty() || line[0] == '#') continue;
        std::istringstream row(line);
        std::string module, inner, outer;
        std::getline(row, module, '\t');
        std::getline(row, inner, '\t');
        std::getline(row, outer, '\t');
        const auto allowed = words(inner);
        table[module] = {{allowed.begin(), allowed.end()}, words(outer)};
    }
    return table;
}

/// The longest module whose folder holds `path` (relative to the root); empty where none does.
std::string module_of(const std::string& path, const Table& table) {
    std::string best;
    for (const auto& [module, rule] : table) {
        if (path.starts_with(module + "/") && module.size() > best.size()) best = module;
    }
    return best;
}

bool is_standard_header(const std::string& header) {
    static const std::regex plain(
        "[a-z_]+|c[a-z]+|(assert|errno|stdint|stdlib|stdio|string|stddef|time|limits|math|ctype|inttypes|stdbool|"
        "stdatomic|float)\\.h");
    return std::regex_match(header, plain);
}

std::vector<std::string> violations(const std::string& file, const std::string& text, const Table& table) {
    static const std::regex include_line("^\\s*#\\s*include\\s*([<\"])([^>\"]+)[>\"]");
    std::vector<std::string> found;
    const std::string module = module_of(file, table);
    if (module.empty()) return {file + ": is in no module of the include table"};
    const Rule& rule = table.at(module);
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        std::smatch match;
        if (!std::regex_search(line, match, include_line)) continue;
        const std::string header = match[2];
        if (match[1] == "\"") {
            const std::string target = module_of(header, table);
            if (target.empty()) {
                found.push_back(file + ": \"" + header + "\" is not written from the repository root");
            } else if (target != module && !rule.modules.contains(target)) {
                found.push_back(file + ": " + module + " may not include " + target + " (" + header + ")");
            }
        } else if (!is_standard_header(header) &&
                   std::none_of(rule.third_party.begin(), rule.third_party.end(),
                                [&](const std::string& prefix) { return header.starts_with(prefix); })) {
            found.push_back(file + ": " + module + " may not include <" + header + ">");
        }
    }
    return found;
}

TEST(IncludeTable, EveryIncludeIsAllowed) {
    const fs::path root = zbs::test::source_folder();
    const Table table = read_table(root / "tests/architecture/includes.tsv");
    ASSERT_FALSE(table.empty());
    int files = 0;
    for (const char* top : {"algorithms", "services", "client", "studies"}) {
        for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
            const std::string extension = entry.path().extension();
            if (extension != ".hpp" && extension != ".cpp" && extension != ".h" && extension != ".c") continue;
            if (entry.path().filename() == "main.cpp") continue;
            ++files;
            std::ifstream in(entry.path());
            std::stringstream text;
            text << in.rdbuf();
            for (const std::string& line : violations(fs::relative(entry.path(), root).string(), text.str(), table)) {
                ADD_FAILURE() << line;
            }
        }
    }
    EXPECT_GT(files, 5);
}

/// Modules of the table that are there and have no README.md of their own.
std::vector<std::string> modules_without_readme(const fs::path& root, const Table& table) {
    std::vector<std::string> found;
    for (const auto& [module, rule] : table) {
        std::ifstream in(root / module / "README.md");
        std::string title;
        if (fs::exists(root / module) && !std::getline(in, title)) found.push_back(module);
    }
    return found;
}

TEST(IncludeTable, EveryModuleHasAReadmeOfItsOwn) {
    const fs::path root = zbs::test::source_folder();
    for (const std::string& module : modules_without_readme(root, read_table(root / "tests/architecture/includes.tsv")))
        ADD_FAILURE() << module << " has no README.md: what it is for, a map of its files, decisions";
}

TEST(IncludeTable, CatchesAModuleWithoutReadme) {
    const test::TemporaryFolder folder;
    const fs::path root = folder.path();
    for (const char* module : {"one", "one/inner", "empty", "good"}) fs::create_directories(root / module);
    for (const char* module : {"one", "good"}) std::ofstream(root / module / "README.md") << "# one/inner, good\n";
    std::ofstream(root / "empty/README.md").flush();
    const Table table = {{"one/inner", {}}, {"empty", {}}, {"good", {}}, {"not_there", {}}};
    EXPECT_EQ(modules_without_readme(root, table), (std::vector<std::string>{"empty", "one/inner"}));
}

TEST(IncludeTable, CatchesAForbiddenInclude) {
    const Table table = {{"algorithms/base", {}}, {"algorithms/model", {{"algorithms/base"}, {}}}};
    EXPECT_EQ(violations("algorithms/base/x.hpp", "#include \"algorithms/model/y.hpp\"\n", table).size(), 1U);
    EXPECT_EQ(violations("algorithms/base/x.hpp", "#include <nlohmann/json.hpp>\n", table).size(), 1U);
    EXPECT_EQ(violations("algorithms/base/x.hpp", "#include \"x.hpp\"\n", table).size(), 1U);
    EXPECT_EQ(
        violations("algorithms/model/x.hpp", "#include \"algorithms/base/y.hpp\"\n#include <vector>\n", table).size(),
        0U);
}

}  // namespace
