// zbs_gang_claims DIRECTORY [quick]: writes README.md and its tables; with "quick" the page and tables that the golden
// test compares, into one file.
#include <fstream>
#include <iostream>
#include <string>

#include "tests/golden/DaSilva2000/claims.hpp"

int main(int argc, char** argv) {
    const bool quick = argc == 3 && std::string(argv[2]) == "quick";
    if (argc < 2 || argc > 3 || argv[1][0] == '-' || (argc == 3 && !quick)) {
        std::cerr << "usage: zbs_gang_claims DIRECTORY [quick]\n";
        return 2;
    }
    using namespace zbs::claims;
    const Effort effort = quick ? Effort::quick() : Effort::full();
    const Report report = make_report(effort, [](std::string_view what) { std::cerr << what << '\n'; });
    bool good = true;
    const auto write = [&](const std::string& name, const std::string& text) {
        const std::string path = std::string(argv[1]) + "/" + name;
        std::ofstream file(path, std::ios::binary | std::ios::trunc);
        file << text;
        file.close();
        if (!file) std::cerr << "zbs_gang_claims: " << path << " cannot be written\n";
        good = good && file;
    };
    if (quick) {
        write("quick.md", whole_text_of(report, effort));
        return good ? 0 : 1;
    }
    write("README.md", page_of(report, effort));
    for (const Table& table : report.tables) write(table.name + ".csv", table.text);
    return good ? 0 : 1;
}
