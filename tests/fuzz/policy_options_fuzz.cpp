#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "algorithms/policy/registry.hpp"
#include "algorithms/sim/workload_simulation.hpp"
#include "tests/fuzz/mutation.hpp"

// Any text as NAME:option=value:...: a refusal has a message; what is accepted schedules a small workload to its end.

namespace {
using namespace zbs;

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "policy_options_fuzz: broken: %s\n", what);
    std::abort();
}
std::uint64_t accepted = 0;

Workload small_workload() {
    Rng rng(1);
    Workload made{.name = "small", .processors = 16, .jobs = {}};
    for (int i = 0; i < 24; ++i) {
        const std::chrono::seconds walltime{1 + static_cast<int>(rng.below(5'000))};
        made.jobs.push_back({.job = {.id = JobId{i},
                                     .submit = Time{std::chrono::seconds{i / 3 * 40}},
                                     .walltime = walltime,
                                     .processors = static_cast<std::int32_t>(1 + rng.below(16)),
                                     .priority = static_cast<std::int32_t>(rng.below(3)),
                                     .queue = static_cast<std::int32_t>(rng.below(3)),
                                     .flexibility = static_cast<Flexibility>(i % 3)},
                             .runtime = walltime});
    }
    return made;
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const Workload workload = small_workload();
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    std::string name;
    PolicyOptions options;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(':', begin), text.size());
        const std::string_view part = text.substr(begin, end - begin);
        const std::size_t equals = std::min(part.find('='), part.size());
        if (begin == 0)
            name = part;
        else
            options.emplace_back(part.substr(0, equals), part.substr(std::min(equals + 1, part.size())));
        begin = end + 1;
    }
    const Result<std::unique_ptr<Policy>> policy = make_policy(name, options);
    if (!policy) {
        require(!policy.error().message.empty(), "a refusal without message");
        return 0;
    }
    ++accepted;
    const Result<SimulationOutcome> outcome = simulate(workload, **policy, {.slice = std::chrono::minutes{10}});
    if (!outcome) std::fprintf(stderr, "%s: %s\n", std::string(text).c_str(), outcome.error().message.c_str());
    require(outcome.has_value(), "an accepted policy does not finish");
    return 0;
}

#ifndef ZBS_LIBFUZZER
int main(int argc, char** argv) {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 20'000;
    std::vector<std::string> seeds,
        pieces{":", "=", ",", "+", "unlimited", "true", "0", "-1", "1e9", "999999999999", "1h", "1d2h", "0.5", "\xff"};
    for (const PolicyInfo& policy : policies()) {
        std::string all(policy.name);
        for (const PolicyOption& option : policy.options) {
            const std::string one = std::string(option.name) + "=" + std::string(option.default_value);
            seeds.push_back(std::string(policy.name) + ":" + one);
            pieces.emplace_back(option.name);
            for (const std::string_view choice : option.choices) {
                seeds.push_back(std::string(policy.name) + ":" + std::string(option.name) + "=" + std::string(choice));
                pieces.emplace_back(choice);
            }
            all += ":" + one;
        }
        seeds.push_back(all);
    }
    Rng rng(4);
    for (int round = 0; round < rounds; ++round) {
        std::string text = seeds[rng.below(seeds.size())];
        zbs::fuzz::mutate(text, rng, pieces);
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    }
    require(accepted > static_cast<std::uint64_t>(rounds) / 10,
            "hardly anything is accepted: the fuzzer tries nothing");
    std::printf("%d texts, %llu accepted\n", rounds, static_cast<unsigned long long>(accepted));
}
#endif
