#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "algorithms/formats/launchers/hostfile.hpp"
#include "algorithms/formats/launchers/jsdl.hpp"
#include "algorithms/formats/launchers/rsl.hpp"
#include "services/common/codec/psij_codec.hpp"
#include "tests/unit/launch_formats/requests.hpp"

// Every format against every awkward case: what it must hold, or that it is refused.

namespace zbs::formats {
namespace {

using testing::HasSubstr;
using testing::Not;

/// All documents of a launch in one format, one a zone where the format has one a zone.
using Texts = Result<std::vector<std::string>>;
template <class Write>
Texts per_zone(const LaunchRequest& request, Write write) {
    std::vector<std::string> texts;
    for (std::size_t z = 0; z < request.zones.size(); ++z) {
        Result<std::string> text = write(z);
        if (!text) return text.error();
        texts.push_back(*std::move(text));
    }
    return texts;
}
Texts one(const Result<std::string>& text) {
    if (!text) return text.error();
    return std::vector<std::string>{*text};
}

const std::map<std::string, std::function<Texts(const LaunchRequest&)>>& writers() {
    using R = const LaunchRequest&;
    static const std::map<std::string, std::function<Texts(R)>> all = {
        {"rsl", [](R r) { return one(write_launch_rsl(r)); }},
        {"jsdl", [](R r) { return per_zone(r, [&](std::size_t z) { return write_jsdl(r, z); }); }},
        {"psij",
         [](R r) -> Texts {
             const auto specs = codec::encode_psij(r);
             if (!specs) return specs.error();
             std::vector<std::string> texts;
             for (const codec::Json& spec : *specs) texts.push_back(codec::dump(spec));
             return texts;
         }},
        {"slurm", [](R r) { return per_zone(r, [&](std::size_t z) { return write_slurm_hostfile(r.zones[z]); }); }},
        {"openmpi_hostfile",
         [](R r) { return per_zone(r, [&](std::size_t z) { return write_openmpi_hostfile(r.zones[z]); }); }},
        {"rankfile", [](R r) { return per_zone(r, [&](std::size_t z) { return write_rankfile(r.zones[z]); }); }},
        {"hydra", [](R r) { return per_zone(r, [&](std::size_t z) { return write_hydra_hostfile(r.zones[z]); }); }}};
    return all;
}

/// What one format makes of one case: the documents hold `holds[i]` each and nothing of `lacks`; or it is refused.
struct Cell {
    std::vector<std::vector<std::string>> holds = {};
    std::vector<std::string> lacks = {};
    std::string refused = {};  ///< part of the message
};
Cell is(const std::vector<std::string>& texts) {  // whole texts, marked
    Cell cell;
    for (const std::string& text : texts) cell.holds.push_back({"=" + text});
    return cell;
}
Cell refused(const std::string& message) { return {.refused = message}; }

struct Row {
    const char* name;
    LaunchRequest request;
    std::map<std::string, Cell> cells;
};

LaunchRequest with(LaunchRequest request, const std::function<void(LaunchRequest&)>& change) {
    change(request);
    return request;
}
const std::string kAwkward = "\"'#$ \n\xc3\xa9";

std::vector<Row> rows() {
    std::vector<Row> all;
    all.push_back({"OneRankOneSite",
                   launch({"a/n1"}),
                   {{"rsl", {{{"+\n( &", "(count=1)(hostCount=1)", "(GLOBUS_DUROC_SUBJOB_INDEX 0)"}}, {"ZBS_RANKS"}}},
                    {"jsdl", {{{"<spmd:NumberOfProcesses>1<", "<spmd:ProcessesPerHost>1<"}}}},
                    {"psij", {{{"\"process_count\":1", "\"node_count\":1", "\"duration\":\"1800 s\""}}}},
                    {"slurm", is({"n1\n"})},
                    {"openmpi_hostfile", is({"n1 slots=1\n"})},
                    {"rankfile", is({"rank 0=n1 slot=0\n"})},
                    {"hydra", is({"n1:1\n"})}}});
    all.push_back(
        {"EvenSplitTwoSites",
         launch({"a/n1", "a/n2", "b/m1", "b/m1"}),
         {{"rsl",
           {{{"(label=\"subjob 0\")(count=2)(hostCount=2)", "(label=\"subjob 1\")(count=2)(hostCount=1)",
              "(GLOBUS_LAN_ID \"a\")", "(GLOBUS_LAN_ID \"b\")"}},
            {"ZBS_RANKS"}}},
          {"jsdl",
           {{{"<jsdl:JobName>heat<", "zbs.zone_index=0<", "zbs.zone_count=2<", "zbs.ranks=0-1<", "HostName>n2<",
              "<spmd:ProcessesPerHost>1<"},
             {"<jsdl:JobName>heat<", "zbs.zone_index=1<", "zbs.ranks=2-3<", "<spmd:ProcessesPerHost>2<"}}}},
          {"psij",
           {{{"\"node_count\":2", "\"processes_per_node\":1", "\"process_count\":2", "\"zbs.ranks\":\"0-1\""},
             {"\"node_count\":1", "\"processes_per_node\":2", "\"process_count\":2", "\"zbs.ranks\":\"2-3\""}}}},
          {"slurm", is({"n1\nn2\n", "m1\nm1\n"})},
          {"openmpi_hostfile", is({"n1 slots=1\nn2 slots=1\n", "m1 slots=2\n"})},
          {"rankfile", is({"rank 0=n1 slot=0\nrank 1=n2 slot=0\n", "rank 0=m1 slot=0\nrank 1=m1 slot=1\n"})},
          {"hydra", is({"n1:1\nn2:1\n", "m1:2\n"})}}});
    all.push_back({"UnevenRanksPerNode",
                   launch({"a/n1", "a/n1", "a/n2"}),
                   {{"rsl", {{{"(count=3)"}}, {"hostCount"}}},
                    {"jsdl", {{{"<spmd:NumberOfProcesses>3<", "<jsdl:Exact>2<"}}, {"ProcessesPerHost"}}},
                    {"psij", {{{"\"process_count\":3"}}, {"node_count", "processes_per_node"}}},
                    {"slurm", is({"n1\nn1\nn2\n"})},
                    {"openmpi_hostfile", is({"n1 slots=2\nn2 slots=1\n"})},
                    {"rankfile", is({"rank 0=n1 slot=0\nrank 1=n1 slot=1\nrank 2=n2 slot=0\n"})},
                    {"hydra", is({"n1:2\nn2:1\n"})}}});
    all.push_back({"InterleavedHosts",
                   launch({"a/A", "a/B", "a/A", "a/B"}),
                   {{"rsl", {{{"(count=4)(hostCount=2)"}}}},
                    {"jsdl", {{{"zbs.ranks=0-3<"}}}},
                    {"psij", {{{"\"zbs.ranks\":\"0-3\""}}}},
                    {"slurm", is({"A\nB\nA\nB\n"})},
                    {"openmpi_hostfile", refused("use a rankfile")},
                    {"rankfile", is({"rank 0=A slot=0\nrank 1=B slot=0\nrank 2=A slot=1\nrank 3=B slot=1\n"})},
                    {"hydra", is({"A:1\nB:1\nA:1\nB:1\n"})}}});
    all.push_back({"InterleavedSites",
                   launch({"a/A", "b/B", "a/A", "b/B"}),
                   {{"rsl", {{{"(\"ZBS_RANKS\" \"0,2\")", "(\"ZBS_RANKS\" \"1,3\")"}}}},
                    {"jsdl", {{{"zbs.ranks=0,2<"}, {"zbs.ranks=1,3<"}}}},
                    {"psij", {{{"\"zbs.ranks\":\"0,2\""}, {"\"zbs.ranks\":\"1,3\""}}}},
                    {"slurm", is({"A\nA\n", "B\nB\n"})},
                    {"openmpi_hostfile", is({"A slots=2\n", "B slots=2\n"})},
                    {"rankfile", is({"rank 0=A slot=0\nrank 1=A slot=1\n", "rank 0=B slot=0\nrank 1=B slot=1\n"})},
                    {"hydra", is({"A:2\n", "B:2\n"})}}});
    all.push_back({"AwkwardArgument",
                   with(launch({"a/n1"}),
                        [](LaunchRequest& r) {
                            r.arguments = {kAwkward, "&<>"};
                        }),
                   {{"rsl", {{{"(arguments=\"\"\"'#$ \n\xc3\xa9\" \"&<>\")"}}}},
                    {"jsdl", {{{"<posix:Argument>&quot;'#$ &#10;\xc3\xa9<", "<posix:Argument>&amp;&lt;&gt;<"}}}},
                    {"psij", {{{"\"arguments\":[\"\\\"'#$ \\n\xc3\xa9\",\"&<>\"]"}}}},
                    {"slurm", is({"n1\n"})},
                    {"openmpi_hostfile", is({"n1 slots=1\n"})},
                    {"rankfile", is({"rank 0=n1 slot=0\n"})},
                    {"hydra", is({"n1:1\n"})}}});
    all.push_back({"EmptyArgument",
                   with(launch({"a/n1"}), [](LaunchRequest& r) { r.arguments = {""}; }),
                   {{"rsl", {{{"(arguments=\"\")"}}}},
                    {"jsdl", {{{"<posix:Argument></posix:Argument>"}}}},
                    {"psij", {{{"\"arguments\":[\"\"]"}}}},
                    {"slurm", is({"n1\n"})},
                    {"openmpi_hostfile", is({"n1 slots=1\n"})},
                    {"rankfile", is({"rank 0=n1 slot=0\n"})},
                    {"hydra", is({"n1:1\n"})}}});
    for (const auto& [name, host] :
         {std::pair<const char*, const char*>{"HostWithPort", "n1:2119"}, {"Ipv6", "fe80::1"}}) {
        all.push_back(
            {name,
             with(launch({std::string("a/") + host}), [h = host](LaunchRequest& r) { r.zones[0].contact = h; }),
             {{"rsl", {{{std::string("(resourceManagerContact=\"") + host + "\")"}}}},
              {"jsdl", {{{std::string("<jsdl:HostName>") + host + "</jsdl:HostName>"}}}},
              {"psij", {{{"\"process_count\":1"}}}},
              {"slurm", refused("no port, no IPv6")},
              {"openmpi_hostfile", refused("no port, no IPv6")},
              {"rankfile", refused("no port, no IPv6")},
              {"hydra", refused("no port, no IPv6")}}});
    }
    std::vector<std::string> many;
    for (int r = 0; r < 10'000; ++r) many.push_back("z" + std::to_string(r % 2) + "/n" + std::to_string(r % 500));
    all.push_back({"TenThousandRanks",
                   launch(many),
                   {{"rsl", {{{"(count=5000)(hostCount=250)", "9996,9998\"", "9997,9999\""}}}},
                    {"jsdl", {{{"Processes>5000<", "PerHost>20<", "9996,9998<"}, {"9997,9999<"}}}},
                    {"psij", {{{"\"node_count\":250"}, {"\"process_count\":5000"}}}},
                    {"slurm", {{{"n0\nn2\nn4\n"}, {"n1\nn3\n"}}}},
                    {"openmpi_hostfile", refused("comes back")},
                    {"rankfile", {{{"rank 4999=n498 slot=19\n"}, {"rank 4999=n499 slot=19\n"}}}},
                    {"hydra", {{{"n496:1\nn498:1\nn0:1\n"}, {"n499:1\n"}}}}}});
    for (const auto& [name, byte] : {std::pair<const char*, char>{"Nul", '\0'}, {"Cr", '\r'}}) {
        const std::string bad = std::string("n") + byte + "1";
        const Cell psij = byte == '\0' ? refused("NUL") : Cell{{{"\"n\\r1\""}}};
        all.push_back({byte == '\0' ? "NulInArgument" : "CrInArgument",
                       with(launch({"a/n1"}), [&](LaunchRequest& r) { r.arguments = {bad}; }),
                       {{"rsl", refused(byte == '\0' ? "NUL" : "carriage return")},
                        {"jsdl", refused(byte == '\0' ? "NUL" : "carriage return")},
                        {"psij", psij},
                        {"slurm", is({"n1\n"})},
                        {"openmpi_hostfile", is({"n1 slots=1\n"})},
                        {"rankfile", is({"rank 0=n1 slot=0\n"})},
                        {"hydra", is({"n1:1\n"})}}});
        all.push_back({byte == '\0' ? "NulInHost" : "CrInHost",
                       launch({"a/" + bad}),
                       {{"rsl", {{{"(count=1)"}}}},  // RSL names sites, not hosts
                        {"jsdl", refused("XML")},
                        {"psij", {{{"\"process_count\":1"}}}},
                        {"slurm", refused("no host name")},
                        {"openmpi_hostfile", refused("no host name")},
                        {"rankfile", refused("no host name")},
                        {"hydra", refused("no host name")}}});
        static_cast<void>(name);
    }
    return all;
}

class AcceptanceMatrix : public testing::TestWithParam<Row> {};
INSTANTIATE_TEST_SUITE_P(, AcceptanceMatrix, testing::ValuesIn(rows()),
                         [](const auto& param_info) { return std::string(param_info.param.name); });

TEST_P(AcceptanceMatrix, HoldsInEveryFormat) {
    ASSERT_EQ(GetParam().cells.size(), writers().size()) << "a format has no cell";
    for (const auto& [format, cell] : GetParam().cells) {
        SCOPED_TRACE(format);
        const Texts texts = writers().at(format)(GetParam().request);
        if (!cell.refused.empty()) {
            ASSERT_FALSE(texts);
            EXPECT_THAT(texts.error().message, HasSubstr(cell.refused));
            EXPECT_THAT(texts.error().pointer, testing::StartsWith("/"));
            continue;
        }
        ASSERT_TRUE(texts) << texts.error();
        ASSERT_EQ(texts->size(), cell.holds.size());
        for (std::size_t i = 0; i < texts->size(); ++i) {
            EXPECT_EQ((*texts)[i].find('\r'), std::string::npos);
            for (const std::string& part : cell.holds[i]) {
                if (part.starts_with("=") && format != "psij") {
                    EXPECT_EQ((*texts)[i], part.substr(1));
                } else {
                    EXPECT_THAT((*texts)[i], HasSubstr(part));
                }
            }
            for (const std::string& part : cell.lacks) EXPECT_THAT((*texts)[i], Not(HasSubstr(part)));
        }
    }
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const LaunchRequest& request) { return out << request.name; }
}  // namespace zbs::formats
