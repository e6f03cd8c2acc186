#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/source_folder.hpp"

// Documents are in plain technical English (CONTRIBUTING.md). Each pattern has its replacement.

namespace {
namespace fs = std::filesystem;

struct Banned {
    const char* pattern;
    const char* instead;
};
constexpr Banned kBanned[] = {
    {"\\b([Tt]ells?|[Tt]old|[Tt]elling)\\b", "return, report, print, announce, send"},
    {"\\bhears? (of|about)\\b", "receive"},
    {"\\blay(s|ing)? aside\\b|\\blaid aside\\b", "store"},
};

/// "12: told: report", a line each.
std::vector<std::string> banned_words(const std::string& text) {
    std::vector<std::string> found;
    std::istringstream lines(text);
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        for (const Banned& banned : kBanned) {
            std::smatch match;
            if (std::regex_search(line, match, std::regex(banned.pattern)))
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
        for (const std::string& fault : banned_words(text)) ADD_FAILURE() << document.string() << ":" << fault;
    }
}

TEST(Language, CatchesABannedWord) {
    EXPECT_EQ(banned_words("The zone tells it.\nfine\nHe heard of it, and is told.").size(), 2U);
    EXPECT_EQ(banned_words("A teller, an untold retelling").size(), 0U);
}

}  // namespace
