// zbs_experiments DIRECTORY [LARGEST]: writes experiments.md, its tables and plots; Z7 up to LARGEST tasks (2048).
#include <cstdlib>
#include <fstream>
#include <iostream>

#include "studies/experiments/prabhakar_experiments.hpp"

int main(int argc, char** argv) {
    if (argc < 2 || argc > 3 || argv[1][0] == '-') {
        std::cerr << "usage: zbs_experiments DIRECTORY [LARGEST]\n";
        return 2;
    }
    const std::string folder = std::string(argv[1]) + "/";
    bool good = true;
    const auto write = [&](const std::string& name, const std::string& text) {
        std::ofstream file(folder + name, std::ios::binary | std::ios::trunc);
        file << text;
        file.close();
        if (!file) std::cerr << "zbs_experiments: " << folder << name << " cannot be written\n";
        good = good && file;
    };
    std::vector<zbs::experiments::Experiment> all = zbs::experiments::deterministic_experiments();
    all.push_back(zbs::experiments::scheduling_time(argc > 2 ? std::atoi(argv[2]) : 2048));
    for (const auto& experiment : all) {
        for (const auto& table : experiment.tables) write(table.name + ".csv", csv_of(table));
        for (const auto& plot : experiment.plots) write(plot.name + ".svg", plot.svg);
    }
    write("experiments.md", page_of(all));
    return good ? 0 : 1;
}
