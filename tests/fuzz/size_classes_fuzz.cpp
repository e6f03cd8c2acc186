#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "algorithms/base/rng.hpp"
#include "algorithms/sim/workload_generators.hpp"
#include "tests/fuzz/mutation.hpp"

// Parameter files of the hyper-Erlang generator. Any bytes: no crash, no fault of a sanitizer; every refusal has a
// message and a line; what is read has finite moments, and makes a workload in order that fits its machine, or a
// refusal. With libFuzzer this is the whole program; without, a replay over mutated files.

namespace {
using namespace zbs;

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "size_classes_fuzz: broken: %s\n", what);
    std::abort();
}
std::uint64_t accepted = 0, made = 0;
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const Result<std::vector<SizeClass>> classes = parse_size_classes(text, "fuzz");
    if (!classes) {
        require(!classes.error().message.empty() && classes.error().pointer.starts_with("fuzz:"),
                "a refusal without message or line");
        return 0;
    }
    ++accepted;
    for (const SizeClass& sizes : *classes) {
        require(sizes.least >= 1 && sizes.least <= sizes.most && sizes.memory_bytes >= 0, "a class out of range");
        for (const HyperErlang& v : {sizes.gap, sizes.runtime})
            require(HyperErlang::make(v.p, v.rate1, v.rate2, v.order).has_value(), "a variable out of range");
    }
    const Result<Workload> workload =
        generate(HyperErlangWorkload{.common = {.jobs = 20, .processors = 64}, .classes = *classes});
    if (!workload) {
        require(!workload.error().message.empty(), "a refused workload without message");
        return 0;
    }
    ++made;
    require(workload->jobs.size() == 20, "a workload of another length");
    for (std::size_t i = 0; i < 20; ++i) {
        const auto& [job, runtime] = workload->jobs[i];
        require(i == 0 || workload->jobs[i - 1].job.submit <= job.submit, "a workload out of order");
        require(job.processors >= 1 && job.processors <= 64, "a job that does not fit");
        require(job.submit >= Time{} && runtime > Duration::zero() && runtime <= job.walltime, "a job out of range");
    }
    return 0;
}

#ifndef ZBS_LIBFUZZER
int main(int argc, char** argv) {
    const std::uint64_t runs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 20000;
    const std::vector<std::string> pieces = {
        " ",  "\n",   "0", "-1",  "1e300", "1e-300",      "nan",         "inf", "moments 1 2 6", "rates 0.5 1 2 3",
        "cv", "mean", "#", "9-8", "1000",  "memory_mb 3", "sizes 1 gap "};
    for (std::uint64_t seed = 0; seed < runs; ++seed) {
        Rng rng(seed);
        std::string text = "zbs-hyper-erlang/1\n";
        const auto variable = [&] {
            const auto number = [&] { return std::to_string(std::exp(12 * rng.uniform() - 4)); };
            switch (rng.below(3)) {
                case 0:
                    return "rates " + std::to_string(rng.uniform()) + " " + number() + " " + number() + " " +
                           std::to_string(1 + rng.below(20));
                case 1:
                    return "mean " + number() + " cv " + std::to_string(0.04 + 3 * rng.uniform());
                default: {  // of a gamma variable, most of them; others no variable has
                    const double m = std::exp(10 * rng.uniform()), c = 0.01 + 4 * rng.uniform();
                    const double third = m * m * m * (1 + c) * (1 + 2 * c) * (rng.below(4) == 0 ? rng.uniform() : 1);
                    return "moments " + std::to_string(m) + " " + std::to_string(m * m * (1 + c)) + " " +
                           std::to_string(third);
                }
            }
        };
        for (std::uint64_t line = 1 + rng.below(3); line > 0; --line) {
            const std::uint64_t least = 1 + rng.below(40);
            text += "sizes " + std::to_string(least) + "-" + std::to_string(least + rng.below(30)) + " gap " +
                    variable() + " runtime " + variable() + (rng.below(2) == 0 ? " memory_mb 8\n" : "\n");
        }
        fuzz::mutate(text, rng, pieces, 3);
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    }
    require(accepted > runs / 20 && made > runs / 40, "hardly anything was read: the inputs are no use");
    std::printf("size_classes_fuzz: %llu inputs, %llu read, %llu workloads\n", static_cast<unsigned long long>(runs),
                static_cast<unsigned long long>(accepted), static_cast<unsigned long long>(made));
    return 0;
}
#endif
