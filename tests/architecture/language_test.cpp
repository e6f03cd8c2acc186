#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/source_folder.hpp"

// Documents and the code are in plain technical English (CONTRIBUTING.md). Each pattern has its replacement.

namespace {
namespace fs = std::filesystem;

struct Banned {
    std::regex pattern;
    const char* instead;
};
using BannedWords = std::vector<Banned>;
constexpr const char* kForTell = "return, report, print, announce, send";

const BannedWords& banned_in_documents() {
    static const BannedWords words{
        {std::regex("\\b([Tt]ells?|[Tt]old|[Tt]elling)\\b"), kForTell},
        {std::regex("\\bhears? (of|about)\\b"), "receive"},
        {std::regex("\\blay(s|ing)? aside\\b|\\blaid aside\\b"), "store"},
    };
    return words;
}

/// Also in identifiers: `tell_again`, `told_`, `kNamesTold`; not `tellg`, `untold` or `constellation`.
const BannedWords& banned_in_code() {
    static const BannedWords words{
        {std::regex("(T|(^|[^A-Za-z])t)(old|elling|ellers?|ells?)(?![a-z])|TOLD|TELL"), kForTell}};
    return words;
}

/// "12: 'told'; write report", one for each line and pattern.
std::vector<std::string> found_in(const std::string& text, const BannedWords& words) {
    std::vector<std::string> found;
    std::istringstream lines(text);
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        for (const Banned& banned : words) {
            std::smatch match;
            if (std::regex_search(line, match, banned.pattern))
                found.push_back(std::to_string(number) + ": '" + match.str() + "'; write " + banned.instead);
        }
    }
    return found;
}

std::string text_of(const fs::path& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Language, DocumentsHaveNoBannedWords) {
    const fs::path root = zbs::test::source_folder();
    std::vector<fs::path> documents;
    for (const char* name : {"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"})
        documents.push_back(root / name);
    for (const auto& entry : fs::directory_iterator(root / "docs"))
        if (entry.path().extension() == ".md") documents.push_back(entry.path());
    for (const char* folder : {"algorithms", "services", "client", "studies", "schemas", "docker", "tests"})
        for (const auto& entry : fs::recursive_directory_iterator(root / folder))
            if (entry.path().filename() == "README.md" &&
                entry.path().string().find("node_modules") == std::string::npos)
                documents.push_back(entry.path());
    for (const fs::path& document : documents) {
        const std::string text = text_of(document);
        EXPECT_FALSE(text.empty()) << document;
        for (const std::string& fault : found_in(text, banned_in_documents()))
            ADD_FAILURE() << document.string() << ":" << fault;
    }
}

TEST(Language, CodeHasNoBannedWords) {
    std::size_t files = 0;
    for (const char* folder : {"algorithms", "services", "client", "studies"}) {
        for (const auto& entry : fs::recursive_directory_iterator(fs::path(zbs::test::source_folder()) / folder)) {
            const fs::path& file = entry.path();
            if (file.extension() != ".cpp" && file.extension() != ".hpp") continue;
            if (file.string().find("node_modules") != std::string::npos) continue;
            ++files;
            for (const std::string& fault : found_in(text_of(file), banned_in_code()))
                ADD_FAILURE() << file.string() << ":" << fault;
        }
    }
    EXPECT_GT(files, 100U);
}

TEST(Language, CatchesABannedWord) {
    const BannedWords& words = banned_in_documents();
    EXPECT_EQ(found_in("The zone tells it.\nfine\nHe heard of it, and is told.", words).size(), 2U);
    EXPECT_EQ(found_in("A teller, an untold retelling", words).size(), 0U);
}

TEST(Language, CatchesABannedWordInAnIdentifier) {
    for (const char* line : {"// it tells", "void tell_again();", "bool told_;", "kNamesTold", "struct ToldBlock {",
                             "Caller was_told_by;", "\"TOLD BY\"", "teller"})
        EXPECT_EQ(found_in(line, banned_in_code()).size(), 1U) << line;
    EXPECT_EQ(found_in("log.tellg(); untold, constellation, Holding, StellarCell", banned_in_code()).size(), 0U);
}

}  // namespace
