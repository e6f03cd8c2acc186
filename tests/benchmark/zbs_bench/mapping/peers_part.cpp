#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <limits>
#include <sstream>

#include "algorithms/formats/metis_graph.hpp"
#include "tests/benchmark/zbs_bench/mapping/mapping_bench.hpp"

namespace zbs::bench {
namespace {

struct PeerRow {
    std::string peer;
    double j_mean = 0, j_min = 0, seconds = 0;
    bool feasible = false;
};

struct Case {
    std::string graph, hierarchy, distances;
    double imbalance = 0;
    std::vector<PeerRow> peers;

    std::string name() const { return graph.substr(0, graph.find(".graph")) + " " + hierarchy; }
    double best_peer() const {
        double best = std::numeric_limits<double>::infinity();
        for (const PeerRow& row : peers)
            if (row.feasible && row.j_min > 0) best = std::min(best, row.j_min);
        return best;
    }
};

/// Empty where the file cannot be read.
std::vector<Case> read_cases(const std::string& path) {
    std::ifstream file(path);
    std::vector<Case> cases;
    std::string line;
    std::getline(file,
                 line);  // graph,hierarchy,distances,imbalance_allowed,peer,runs,J_mean,J_min,seconds_mean,feasible
    while (std::getline(file, line)) {
        std::vector<std::string> cell;
        std::stringstream cells(line);
        for (std::string text; std::getline(cells, text, ',');) cell.push_back(text);
        if (cell.size() != 10) continue;
        const auto number = [&](std::size_t i) { return cell[i].empty() ? 0 : std::stod(cell[i]); };
        if (cases.empty() || cases.back().graph != cell[0] || cases.back().hierarchy != cell[1])
            cases.push_back({cell[0], cell[1], cell[2], number(3), {}});
        cases.back().peers.push_back({cell[4], number(6), number(7), number(8), number(9) != 0});
    }
    return cases;
}

/// What one setting did over all cases.
struct Record {
    std::vector<double> ratios, seconds, cpu_seconds;
    int infeasible = 0, missing = 0;
};

std::vector<nlohmann::json> row_of(const std::string& name, const Record& record) {
    return {name,
            record.ratios.empty() ? nlohmann::json() : nlohmann::json(geometric_mean(record.ratios)),
            record.ratios.empty() ? nlohmann::json() : nlohmann::json(*std::ranges::max_element(record.ratios)),
            mean(record.seconds),
            record.cpu_seconds.empty() ? nlohmann::json() : nlohmann::json(mean(record.cpu_seconds)),
            record.infeasible,
            record.ratios.size(),
            record.missing};
}

}  // namespace

void bench_peers(const Setup& setup) {
    const std::vector<Case> cases = setup.data.empty() ? std::vector<Case>{} : read_cases(setup.data + "/peers.csv");
    if (cases.empty()) {
        setup.report->say(
            setup.data.empty()
                ? "peers: skipped; give the folder with the graphs and peers.csv by --data or in ZBS_MAPPING_DATA"
                : "peers: skipped; " + setup.data + "/peers.csv cannot be read");
        return;
    }
    const std::vector<Contender> all = contenders(setup, {"metis", "greedy", "block", "round-robin"});
    std::map<std::string, Record> ours, peers;
    Table detail{"every case: J, r = J / best feasible peer J",
                 {"case", "mapper", "J", "best peer J", "r", "CPU s", "balanced"},
                 {}};
    for (const Case& in : cases) {
        if (!setup.wants(in.name())) continue;
        std::ifstream file(setup.data + "/" + in.graph);
        std::stringstream text;
        text << file.rdbuf();
        const auto graph = formats::read_metis_graph(text.str(), in.graph);
        if (!graph) {
            setup.report->say(in.name() + ": left out, " + graph.error().message);
            continue;
        }
        const ProcessorTree tree = tree_of(in.hierarchy, in.distances);
        const double best = in.best_peer();
        for (const Contender& contender : all) {
            const Outcome outcome = measure(setup, contender, *graph, tree, in.imbalance);
            Record& record = ours[contender.name];
            record.ratios.push_back(outcome.cost / best);
            record.seconds.push_back(outcome.seconds);
            record.cpu_seconds.push_back(outcome.cpu_seconds);
            record.infeasible += outcome.balanced ? 0 : 1;
            if (contender.algorithm != "multilevel" && contender.algorithm != "auto") continue;
            detail.rows.push_back({in.name(), contender.name, outcome.cost, best, outcome.cost / best,
                                   outcome.cpu_seconds, outcome.balanced});
        }
        for (const PeerRow& row : in.peers) {
            Record& record = peers[row.peer];
            if (row.j_mean <= 0) {
                ++record.missing;
                continue;
            }
            record.ratios.push_back(row.j_mean / best);
            record.seconds.push_back(row.seconds);
            record.infeasible += row.feasible ? 0 : 1;
        }
    }
    setup.report->add(detail);
    Table table{
        "all cases: r against the best feasible peer of each (peers: mean J of their runs, as recorded)",
        {"setting", "r (geometric mean)", "worst r", "mean seconds", "mean CPU s", "infeasible", "cases", "left out"},
        {}};
    for (const Contender& contender : all) table.rows.push_back(row_of(contender.name, ours[contender.name]));
    std::vector<std::pair<double, std::string>> order;
    for (const auto& [name, record] : peers) order.emplace_back(geometric_mean(record.ratios), name);
    std::ranges::sort(order);
    for (const auto& [r, name] : order) table.rows.push_back(row_of("peer " + name, peers[name]));
    setup.report->add(table);
}

}  // namespace zbs::bench
