#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

#include "algorithms/base/rng.hpp"
#include "algorithms/formats/launchers/rsl.hpp"

// What the Globus library understands of our requests: ZBS_RSL_ORACLE parses, canonicalises and unparses.

namespace zbs::formats {
namespace {

/// The library's reading of `text`; nothing where it refuses.
std::optional<std::string> understood(const std::string& text) {
    static const std::string base =
        (std::filesystem::temp_directory_path() / ("zbs_rsl_" + std::to_string(getpid()))).string();
    std::ofstream(base + ".in", std::ios::binary) << text;
    const int status = std::system(
        ("'" + std::string(ZBS_RSL_ORACLE) + "' < " + base + ".in > " + base + ".out 2> /dev/null").c_str());
    std::ifstream in(base + ".out", std::ios::binary);
    std::ostringstream read;
    read << in.rdbuf();
    std::filesystem::remove(base + ".in");
    std::filesystem::remove(base + ".out");
    if (!WIFEXITED(status) || WEXITSTATUS(status) > 1) ADD_FAILURE() << "the oracle itself failed, status " << status;
    if (status != 0) return std::nullopt;
    return read.str();
}

using Relations = std::map<std::string, std::vector<std::string>>;  // value lists flat, with "(" and ")" for nesting

/// Reads the library's own form `+(&("a" = "1" ("b" "c" ) ))(&...)`, where every word is quoted.
class Unparsed {
  public:
    explicit Unparsed(std::string text) : text_(std::move(text)) {}
    std::vector<Relations> subjobs() {
        std::vector<Relations> all;
        expect('+');
        while (peek() == '(') {
            expect('(');
            expect('&');
            Relations relations;
            while (peek() == '(') {
                expect('(');
                const std::string name = word();
                expect('=');
                std::vector<std::string> values;
                for (int depth = 0; peek() != ')' || depth > 0;) {
                    if (peek() == '"') {
                        values.push_back("=" + word());
                    } else {
                        depth += peek() == '(' ? 1 : -1;
                        values.emplace_back(1, text_[at_++]);
                    }
                    if (at_ >= text_.size()) break;
                }
                expect(')');
                EXPECT_TRUE(relations.emplace(name, values).second) << name << " twice";
            }
            expect(')');
            all.push_back(std::move(relations));
        }
        EXPECT_EQ(peek(), '\0');
        return all;
    }

  private:
    char peek() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
        return at_ < text_.size() ? text_[at_] : '\0';
    }
    void expect(char c) {
        if (peek() != c) ADD_FAILURE() << "'" << c << "' expected at " << at_ << " of: " << text_.substr(0, 500);
        ++at_;
    }
    std::string word() {
        expect('"');
        std::string out;
        for (; at_ < text_.size(); ++at_) {
            if (text_[at_] == '"' && (at_ + 1 >= text_.size() || text_[at_ + 1] != '"')) break;
            if (text_[at_] == '"') ++at_;
            out += text_[at_];
        }
        ++at_;
        return out;
    }
    std::string text_;
    std::size_t at_ = 0;
};

/// What the library should have understood of `request`.
std::vector<Relations> wanted(const RslRequest& request) {
    std::vector<Relations> all;
    for (const RslSubjob& job : request.subjobs) {
        Relations r;
        r["resourcemanagercontact"] = {"=" + job.contact};
        r["label"] = {"=" + job.label};
        r["count"] = {"=" + std::to_string(job.count)};
        if (job.host_count > 0) r["hostcount"] = {"=" + std::to_string(job.host_count)};
        r["jobtype"] = {"=mpi"};
        r["subjobstarttype"] = {"=strict-barrier"};
        r["subjobcommstype"] = {"=blocking-join"};
        std::vector<std::string>& environment = r["environment"];
        const auto pair = [&](const std::string& name, const std::string& value) {
            environment.insert(environment.end(), {"(", "=" + name, "=" + value, ")"});
        };
        pair("GLOBUS_DUROC_SUBJOB_INDEX", std::to_string(all.size()));
        if (!job.lan_id.empty()) pair("GLOBUS_LAN_ID", job.lan_id);
        for (const auto& [name, value] : job.environment) pair(name, value);
        if (!job.directory.empty()) r["directory"] = {"=" + job.directory};
        r["executable"] = {"=" + job.executable};
        for (const std::string& argument : job.arguments) r["arguments"].push_back("=" + argument);
        if (job.walltime > Duration::zero())
            r["maxwalltime"] = {"=" + std::to_string((job.walltime.count() + 59'999'999) / 60'000'000)};
        all.push_back(std::move(r));
    }
    return all;
}

void expect_understood(const RslRequest& request) {
    const auto text = write_rsl(request);
    ASSERT_TRUE(text) << text.error();
    const auto read = understood(*text);
    ASSERT_TRUE(read) << "refused: " << text->substr(0, 2000);
    EXPECT_EQ(Unparsed(*read).subjobs(), wanted(request)) << text->substr(0, 2000);
}

RslSubjob subjob(std::size_t index) {
    return {.contact = "zone-a.example.org:2119/jobmanager-slurm:/O=Grid/CN=ana",
            .label = "subjob " + std::to_string(index),
            .count = 4,
            .host_count = 2,
            .lan_id = "zone-a",
            .directory = "/home/ana/run 1",
            .executable = "/opt/app/heat",
            .arguments = {"-n", "512"},
            .walltime = std::chrono::minutes(30)};
}

TEST(RslOracle, UnderstandsTwoSites) {
    RslSubjob other = subjob(1);
    other.contact = "zone-b.example.org";
    other.host_count = 0;
    other.lan_id.clear();
    other.arguments.clear();
    other.walltime = Duration{1};
    expect_understood({{subjob(0), other}});
}

TEST(RslOracle, UnderstandsAwkwardStrings) {
    RslSubjob job = subjob(0);
    job.arguments = {"",
                     " ",
                     "\"",
                     "\"\"",
                     "'",
                     "it's \"so\"",
                     "#",
                     "a # b",
                     "$(HOME)",
                     "$",
                     "^",
                     "^x^",
                     "(",
                     ")",
                     "(* no comment *)",
                     "&",
                     "+",
                     "|",
                     "=",
                     "!=",
                     "<>",
                     "~?*",
                     "\\",
                     "\\n",
                     "a\nb",
                     "\n",
                     "\t",
                     "\xc3\xa9\xe2\x82\xac",
                     "%s%n",
                     "-"};
    job.environment = {{"A", ""}, {"B", "\"$(A)\" # x"}, {"C", "a\nb"}};
    job.directory = "/tmp/a \"b\" $(C)";
    expect_understood({{job}});
}

TEST(RslOracle, UnderstandsAThousandSites) {
    RslRequest request;
    for (std::size_t i = 0; i < 1000; ++i) request.subjobs.push_back(subjob(i));
    expect_understood(request);
}

TEST(RslOracleProperty, RandomStringsComeBackUnchanged) {
    static constexpr std::string_view kAlphabet = "\"\"''#$()^ \n\t=!<>*?~&+|\\%abcXYZ019-_./:\xc3\xa9";
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        SCOPED_TRACE(seed);
        Rng rng(seed);
        const auto text = [&](std::size_t least) {
            std::string out;
            for (std::size_t n = least + rng.below(20); n > 0; --n) out += kAlphabet[rng.below(kAlphabet.size())];
            return out;
        };
        RslRequest request;
        for (std::size_t i = 0, n = 1 + rng.below(4); i < n; ++i) {
            RslSubjob job = subjob(i);
            job.label += text(0);
            job.contact = text(1);
            job.executable = text(1);
            job.directory = text(0);
            job.arguments.resize(rng.below(20));
            for (std::string& argument : job.arguments) argument = text(0);
            job.environment = {{"X" + std::to_string(rng.below(100)), text(0)}};
            request.subjobs.push_back(job);
        }
        expect_understood(request);
    }
}

// That the oracle can say no, and does where our writer would have to be wrong to get there.
TEST(RslOracle, RefusesWhatIsNoRsl) {
    const std::string good = *write_rsl({{subjob(0)}});
    ASSERT_TRUE(understood(good));
    std::string crlf;
    for (const char c : good) crlf += c == '\n' ? "\r\n" : std::string(1, c);
    EXPECT_FALSE(understood(crlf));
    EXPECT_FALSE(understood("+( (count=\"1\") )"));
    EXPECT_FALSE(understood("+( &(arguments=) )"));
    EXPECT_FALSE(understood("+( &(executable=\"a) )"));
    EXPECT_FALSE(understood(""));
    EXPECT_FALSE(understood(good.substr(0, good.size() / 2)));
}

}  // namespace
}  // namespace zbs::formats
