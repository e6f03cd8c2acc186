#include <benchmark/benchmark.h>

#include <iostream>
#include <thread>

int main(int argc, char** argv) {
    std::cout << "cores: " << std::thread::hardware_concurrency() << "\ncommand:";
    for (int i = 0; i < argc; ++i) std::cout << ' ' << argv[i];
    std::cout << std::endl;
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}
