#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

// What one MPI call costs bare and with the profiler preloaded, from two runs of the same program, one after the other.

#ifdef ZBS_PROFILER

namespace {

/// Nanoseconds of the call `kind` (the word that the program prints before the figure); negative where the program
/// failed.
double call_cost(const std::string& kind, bool profiled) {
    const std::string folder = "/tmp/zbs_bench_profiler." + std::to_string(getpid());
    std::string command = ZBS_MPIEXEC " -n 1 ";
    if (profiled) command += "-genv LD_PRELOAD '" ZBS_PROFILER "' -genv ZBS_PROFILE_OUT " + folder + ".json ";
    command += "'" ZBS_PROFILER_COST "' 1000000";
    std::FILE* pipe = popen(command.c_str(), "r");
    char words[2][32] = {};
    double ns[2] = {-1, -1};
    const bool good = pipe && std::fscanf(pipe, "%31s %lf %31s %lf", words[0], &ns[0], words[1], &ns[1]) == 4;
    if (!pipe || pclose(pipe) != 0 || !good) return -1;
    if (profiled && unlink((folder + ".json").c_str()) != 0) return -1;  // no model: the profiler was not loaded
    return kind == words[0] ? ns[0] : kind == words[1] ? ns[1] : -1;
}

void mpi_call(benchmark::State& state, const char* kind) {
    double bare = 0, profiled = 0;
    for (auto _ : state) {
        bare = call_cost(kind, false);
        profiled = call_cost(kind, true);
    }
    if (bare < 0 || profiled < 0) return state.SkipWithError("the MPI program failed");
    state.counters["bare_ns"] = bare;
    state.counters["profiled_ns"] = profiled;
    state.counters["added_ns"] = profiled - bare;
}
BENCHMARK_CAPTURE(mpi_call, message, "message_call_ns")->Iterations(1)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(mpi_call, iprobe, "iprobe_call_ns")->Iterations(1)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace

#endif
