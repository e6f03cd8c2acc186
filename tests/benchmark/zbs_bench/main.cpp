#include <benchmark/benchmark.h>

#include <iostream>
#include <string_view>
#include <thread>

#ifdef ZBS_MAPPING_BENCH
#include "tests/benchmark/zbs_bench/mapping/mapping_bench.hpp"
#endif

#ifdef ZBS_STORAGE_BENCH
#include "tests/benchmark/zbs_bench/storage/storage_bench.hpp"
#endif

int main(int argc, char** argv) {
#ifdef ZBS_MAPPING_BENCH
    if (argc > 1 && std::string_view(argv[1]) == "mapping") return zbs::bench::run_mapping_bench(argc - 1, argv + 1);
#endif
#ifdef ZBS_STORAGE_BENCH
    if (argc > 1 && std::string_view(argv[1]) == "restart") return zbs::bench::run_restart_bench(argc - 1, argv + 1);
    if (argc > 1 && std::string_view(argv[1]) == "durability")
        return zbs::bench::run_durability_bench(argc - 1, argv + 1);
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
