#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/source_folder.hpp"

// Names of JSON fields are in codecs only: files `*_codec.cpp` and `.hpp`, services/common/codec and client/api.

namespace {
namespace fs = std::filesystem;

/// Modules that may not include services/common/codec (includes.tsv) have no JSON.
/// services/zone_scheduler/adapters/slurm is left out: it reads the JSON of the tools of Slurm, whose names are no
/// names of ours. Other folders that may are added as soon as they are clean.
constexpr std::array kFolders = {"client/cli",
                                 "services/common/adapters/command_line",
                                 "services/common/adapters/cpprest",
                                 "services/common/adapters/sql",
                                 "services/common/adapters/sqlite",
                                 "services/common/http",
                                 "services/common/listing",
                                 "services/node_agent/http",
                                 "services/node_agent/program",
                                 "services/registry/http",
                                 "services/registry/program",
                                 "services/zone_scheduler/assembly",
                                 "services/zone_scheduler/http",
                                 "services/zone_scheduler/program"};

/// The text with comments blanked out. Strings stay, raw ones too.
std::string without_comments(std::string text) {
    char quote = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (quote != 0) {
            if (text[i] == '\\')
                ++i;
            else if (text[i] == quote)
                quote = 0;
        } else if (text[i] == '"' ||
                   (text[i] == '\'' && (i == 0 || !std::isalnum(static_cast<unsigned char>(text[i - 1]))))) {
            quote = text[i];
        } else if (text.compare(i, 2, "//") == 0) {
            for (; i < text.size() && text[i] != '\n'; ++i) text[i] = ' ';
        } else if (text.compare(i, 2, "/*") == 0) {
            const std::size_t end = std::min(text.find("*/", i), text.size());
            for (; i < end; ++i)
                if (text[i] != '\n') text[i] = ' ';
        }
    }
    return text;
}

/// What is called with the argument at `at`: "log_.warn", "push_back", "" where it is no argument.
std::string callee_of(std::string_view text, std::size_t at) {
    int open = 0;
    for (std::size_t i = at; i-- > 0;) {
        if (text[i] == ')') ++open;
        if (text[i] == ';') return {};
        if (text[i] != '(' || open-- > 0) continue;
        std::size_t begin = i;
        const auto is_in_name = [&](char c) {
            return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '>' || c == '-';
        };
        while (begin > 0 && is_in_name(text[begin - 1])) --begin;
        return std::string(text.substr(begin, i - begin));
    }
    return {};
}

/// Fields of log entries and labels of metrics have names, too.
bool is_of_a_log(const std::string& callee) {
    static const std::regex kLog("(^|.*[.>])(debug|info|warn|error)");
    return std::regex_match(callee, kLog);
}

/// Members of a call are no JSON.
bool is_of_a_call(std::string_view text, std::size_t at) {
    for (const std::string_view owner : {"parameters", "query"})
        if (at >= owner.size() && text.substr(at - owner.size(), owner.size()) == owner) return true;
    return false;
}

/// "12: .value("state"", one for each name of a field.
std::vector<std::string> names_in(const std::string& source) {
    static const std::regex kNames(R"re((\.|->)(at|value|contains|find|erase)\("[a-z]\w*")re"
                                   R"re(|\["[a-z]\w*"\])re"
                                   R"re(|\{\{"[a-z]\w*",)re"
                                   R"re(|\bJsonReader\b|\bReplyView\b)re");
    const std::string text = without_comments(source);
    std::vector<std::string> names;
    for (std::sregex_iterator match(text.begin(), text.end(), kNames), end; match != end; ++match) {
        const auto at = static_cast<std::size_t>(match->position());
        if (is_of_a_call(text, at)) continue;
        if (match->str().starts_with("{{") && is_of_a_log(callee_of(text, at))) continue;
        names.push_back(std::to_string(1 + std::count(text.begin(), text.begin() + match->position(), '\n')) + ": " +
                        match->str());
    }
    return names;
}

TEST(JsonNames, AreInCodecsOnly) {
    std::size_t files = 0;
    for (const char* folder : kFolders) {
        for (const auto& entry : fs::recursive_directory_iterator(fs::path(zbs::test::source_folder()) / folder)) {
            const fs::path& file = entry.path();
            if (file.extension() != ".cpp" && file.extension() != ".hpp") continue;
            if (file.stem().string().ends_with("_codec")) continue;
            ++files;
            std::ifstream in(file);
            for (const std::string& name : names_in({std::istreambuf_iterator<char>(in), {}}))
                ADD_FAILURE() << file.string() << ":" << name << " is for a codec";
        }
    }
    EXPECT_GT(files, 120U);
}

TEST(JsonNames, AreFoundWhereverTheyAreWrittenOrRead) {
    for (const char* line :
         {R"(json.at("zone"))", R"(answer->value("zones", Json::array()))", R"(json.contains("zone"))",
          R"(json->find("zone"))", R"(json.erase("bundle"))", R"(json["zone"] = 1;)", R"(Json{{"zone", 1}})",
          R"(http::ok({{"status", "ok"}}))", R"(return {{"zone", zone},)", R"(rows.push_back({{"name", 1}});)",
          R"(const Json json = {{"zone", f(1)}};)", R"(JsonReader in(json);)", R"(log.info("x", y); ok({{"a", 1}});)"})
        EXPECT_EQ(names_in(line).size(), 1U) << line;
}

TEST(JsonNames, AreNotThoseOfLogsParametersHeadersAndTables) {
    for (const char* line :
         {R"(log_.warn("lost", {{"zone", zone}, {"reason", "a"}});)",
          R"(log_->info(f ? "a" : "b", {{"zone", to(x)}});)", R"(call.parameters.at("zone"))",
          R"(call.query.contains("after"))", R"(call.query.find("subject"))",
          R"(Reply{200, {{"Zbs-Next-Offset", next}}})", R"({{"ZONE", "name"}, "URL"})", R"({{"/name", "NAME"}})",
          R"(// json["zone"])", R"(/* json["zone"] */)", R"(text.find("cmd=init"))", "return codec::encode(status);"})
        EXPECT_EQ(names_in(line).size(), 0U) << line << names_in(line).front();
}

}  // namespace
