#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/base/rng.hpp"
#include "algorithms/formats/metis_graph.hpp"
#include "tests/support/metis_graph_text.hpp"

// Any bytes: no crash, no fault of a sanitizer; what is read is written and read back the same; every refusal has a
// message and a line. With libFuzzer this is the whole program; without, a replay over generated and mutated graphs.

namespace {
using namespace zbs;
using namespace zbs::formats;

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "metis_graph_fuzz: broken: %s\n", what);
    std::abort();
}
std::uint64_t accepted = 0;
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const Result<GraphFile> any = read_graph_file(text, "fuzz");
    require(any || (!any.error().message.empty() && any.error().pointer.starts_with("fuzz:")),
            "a refusal of any graph without message or line");
    const Result<TaskGraph> graph = read_metis_graph(text, "fuzz");
    if (!graph) {
        require(!graph.error().message.empty() && graph.error().pointer.starts_with("fuzz:"),
                "a refusal without message or line");
        return 0;
    }
    ++accepted;
    require(any && any->graph == *graph, "a METIS graph is read as another kind");
    const Result<TaskGraph> again = read_metis_graph(write_metis_graph(*graph), "again");
    require(again.has_value(), "what is written cannot be read");
    require(*again == *graph, "a graph changes on the way");
    return 0;
}

#ifndef ZBS_LIBFUZZER
namespace {
/// The edges as a MatrixMarket file, or as one of the SNAP collection.
std::string list_of(const std::vector<TaskEdge>& edges, std::size_t tasks, bool matrix) {
    std::string text = "# Nodes: 1 Edges: 1\n";
    if (matrix)
        text = "%%MatrixMarket matrix coordinate real symmetric\n" + std::to_string(tasks) + " " +
               std::to_string(tasks) + " " + std::to_string(edges.size()) + "\n";
    const TaskIndex first = matrix ? 1 : 0;
    for (const TaskEdge& edge : edges)
        text += std::to_string(edge.v + first) + " " + std::to_string(edge.u + first) + " " +
                std::to_string(edge.bytes) + "\n";
    return text;
}
}  // namespace

int main(int argc, char** argv) {
    const std::uint64_t runs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 20000;
    for (std::uint64_t seed = 0; seed < runs; ++seed) {
        Rng rng(seed);
        std::vector<double> compute(1 + rng.below(8), 1);
        const bool weighted = rng.below(2) > 0;
        if (weighted) {
            for (double& c : compute) c = static_cast<double>(rng.below(1000)) / 8;
        }
        std::vector<TaskEdge> edges;
        for (TaskIndex u = 0; u < static_cast<TaskIndex>(compute.size()); ++u) {
            for (TaskIndex v = u + 1; v < static_cast<TaskIndex>(compute.size()); ++v) {
                if (rng.below(3) == 0) edges.push_back({u, v, weighted ? static_cast<double>(rng.below(100)) : 1, 0});
            }
        }
        std::string text = write_metis_graph(*TaskGraph::make(compute, edges));
        if (rng.below(8) == 0) text = list_of(edges, compute.size(), rng.below(2) == 0);
        static constexpr std::string_view kBytes = "0123456789 \n%.-e\rx\t";
        for (std::uint64_t n = rng.below(4); n > 0; --n) {
            const std::size_t at = rng.below(text.size());
            switch (rng.below(4)) {
                case 0:
                    text[at] = kBytes[rng.below(kBytes.size())];
                    break;
                case 1:
                    text.insert(at, 1, kBytes[rng.below(kBytes.size())]);
                    break;
                case 2:
                    text.erase(at, 1 + rng.below(3));
                    break;
                default:
                    text[at] = static_cast<char>(rng.below(256));
            }
            if (text.empty()) text.push_back('\n');
        }
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    }
    require(accepted > runs / 10, "hardly anything was read: the inputs are no use");
    std::printf("metis_graph_fuzz: %llu inputs, %llu read\n", static_cast<unsigned long long>(runs),
                static_cast<unsigned long long>(accepted));
    return 0;
}
#endif
