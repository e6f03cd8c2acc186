#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#ifdef ZBS_MAPPING_BENCH
#include "tests/benchmark/zbs_bench/mapping/mapping_bench.hpp"
#endif

#ifdef ZBS_STORAGE_BENCH
#include "tests/benchmark/zbs_bench/plan_bench.hpp"
#include "tests/benchmark/zbs_bench/storage/storage_bench.hpp"
#endif

#ifdef ZBS_LIVE_BENCH
namespace {

/// Becomes the Python program that starts services and jobs; its arguments name the folders of the programs. Comes back
/// only where that fails.
int run_live_bench(int argc, char** argv) {
    std::error_code fault;
    const std::string bin = std::filesystem::read_symlink("/proc/self/exe", fault).parent_path();
    std::vector<std::string> words = {"/usr/bin/python3", "-B", ZBS_LIVE_BENCH, bin};
    words.insert(words.end(), argv + 1, argv + argc);
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    execv(pointers[0], pointers.data());
    std::cerr << "zbs_bench: " << words[0] << " cannot be started: " << std::strerror(errno) << "\n";
    return 1;
}

}  // namespace
#endif

int main(int argc, char** argv) {
#ifdef ZBS_LIVE_BENCH
    if (argc > 1 && std::string_view(argv[1]) == "live") return run_live_bench(argc - 1, argv + 1);
#endif
#ifdef ZBS_MAPPING_BENCH
    if (argc > 1 && std::string_view(argv[1]) == "mapping") return zbs::bench::run_mapping_bench(argc - 1, argv + 1);
#endif
#ifdef ZBS_STORAGE_BENCH
    if (argc > 1 && std::string_view(argv[1]) == "restart") return zbs::bench::run_restart_bench(argc - 1, argv + 1);
    if (argc > 1 && std::string_view(argv[1]) == "durability")
        return zbs::bench::run_durability_bench(argc - 1, argv + 1);
    if (argc > 1 && std::string_view(argv[1]) == "plan") return zbs::bench::run_plan_bench(argc - 1, argv + 1);
#endif
    std::cout << "cores: " << std::thread::hardware_concurrency() << "\ncommand:";
    for (int i = 0; i < argc; ++i) std::cout << ' ' << argv[i];
    std::cout << std::endl;
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}
