#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/source_folder.hpp"

// A port (a class in a folder `ports`) has a handful of methods, and each adapter and each fake implements all of them.

namespace {
namespace fs = std::filesystem;

constexpr int kMaxMethods = 10;

struct Port {
    std::string name;
    int methods = 0;                    ///< pure ones of its own
    std::vector<std::string> bodies{};  ///< virtual methods with a body, but for the destructor
};

/// The classes of a header, in the order of their ends. It is formatted by clang-format and has no braces in literals.
std::vector<Port> ports_in(const std::string& header) {
    static const std::regex comment("//[^\n]*"), type("\\b(?:class|struct)\\s+(\\w+)(?:\\s+final)?\\s*(?::[^()=;]*)?$"),
        method("\\bvirtual\\b[^~]*?(\\w+)\\s*\\(");
    const std::string text = std::regex_replace(header, comment, "");
    std::vector<Port> found, open;  // `open`: one for each brace; without a name where it is of no class
    std::string statement;
    for (const char letter : text) {
        if (letter != '{' && letter != '}' && letter != ';') {
            statement += letter;
            continue;
        }
        std::smatch match;
        const bool is_method = !open.empty() && std::regex_search(statement, match, method);
        const std::string name = is_method ? match[1].str() : "";
        if (is_method && letter == ';') ++open.back().methods;
        if (is_method && letter == '{') open.back().bodies.push_back(name);
        if (letter == '{') open.push_back({std::regex_search(statement, match, type) ? match[1].str() : ""});
        if (letter == '}' && !open.empty()) {
            if (!open.back().name.empty()) found.push_back(std::move(open.back()));
            open.pop_back();
        }
        statement.clear();
    }
    return found;
}

std::vector<std::string> faults_in(const std::string& header) {
    std::vector<std::string> faults;
    for (const Port& port : ports_in(header)) {
        if (port.methods > kMaxMethods)
            faults.push_back(port.name + " has " + std::to_string(port.methods) + " methods; split it by what its " +
                             "callers need, at most " + std::to_string(kMaxMethods) + " each");
        for (const std::string& body : port.bodies)
            faults.push_back(port.name + "::" + body + " has a body; implement it in each adapter and fake");
    }
    return faults;
}

TEST(Ports, HaveAtMostTenMethodsAndNoDefaults) {
    std::size_t ports = 0;
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(zbs::test::source_folder()) / "services")) {
        if (entry.path().extension() != ".hpp" || entry.path().string().find("/ports/") == std::string::npos) continue;
        std::ifstream in(entry.path());
        const std::string text{std::istreambuf_iterator<char>(in), {}};
        for (const Port& port : ports_in(text)) ports += port.methods > 0;
        for (const std::string& fault : faults_in(text)) ADD_FAILURE() << entry.path().string() << ": " << fault;
    }
    EXPECT_GT(ports, 20U);
}

TEST(Ports, CatchesAPortWithTooManyMethods) {
    std::string methods;
    for (int i = 0; i < kMaxMethods; ++i)
        methods += "    virtual Result<int> f" + std::to_string(i) + "() const = 0;\n";
    const std::string head =
        "namespace zbs {\nclass Few {\n    virtual void f() = 0;\n};\n/// virtual void g() = 0;\n"
        "class Wide : public Few {\n  public:\n    virtual ~Wide() = default;\n"
        "    struct Inner {\n        int count = 0;\n        std::string text{};\n    };\n";
    EXPECT_TRUE(faults_in(head + methods + "};\n}\n").empty());
    const auto faults = faults_in(head + methods + "    virtual void last(\n        int number) = 0;\n};\n}\n");
    ASSERT_EQ(faults.size(), 1U);
    EXPECT_TRUE(faults[0].starts_with("Wide has 11 methods")) << faults[0];
}

TEST(Ports, CatchesADefaultImplementation) {
    const std::string head = "template <class T>\nclass Port {\n    virtual ~Port() {}\n";
    EXPECT_TRUE(faults_in(head + "    int plain() { return 1; }\n    void own() override {}\n};\n").empty());
    EXPECT_EQ(faults_in(head + "    virtual void place(int /*to*/) {}\n};\n"),
              std::vector<std::string>{"Port::place has a body; implement it in each adapter and fake"});
    EXPECT_EQ(faults_in(head + "    virtual bool is_ours() const { return true; }\n};\n").size(), 1U);
}

}  // namespace
