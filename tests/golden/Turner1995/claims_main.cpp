// zbs_turner_claims DIRECTORY: writes README.md, tables and plots of [Turner1995, chapter 4]; about two minutes.
#include <fstream>
#include <iostream>

#include "tests/golden/Turner1995/claims.hpp"

int main(int argc, char** argv) {
    using namespace zbs::turner;
    if (argc != 2 || argv[1][0] == '-') {
        std::cerr << "usage: zbs_turner_claims DIRECTORY\n";
        return 2;
    }
    const Effort effort;
    std::vector<Part> parts;
    std::cerr << "figure 4.1\n";
    parts.push_back(constant_workload(effort));
    std::cerr << "figures 4.2 to 4.5\n";
    parts.push_back(uniform_workloads(effort));
    std::cerr << "figures 4.6 to 4.27\n";
    parts.push_back(interval_workloads(effort));
    bool good = true;
    const auto write = [&](const std::string& name, const std::string& text) {
        const std::string path = std::string(argv[1]) + "/" + name;
        std::ofstream file(path, std::ios::binary | std::ios::trunc);
        file << text;
        file.close();
        if (!file) std::cerr << "zbs_turner_claims: " << path << " cannot be written\n";
        good = good && file;
    };
    for (const Part& part : parts)
        for (const File& file : part.files) write(file.name, file.text);
    write("README.md", page_of(parts, effort));
    return good ? 0 : 1;
}
