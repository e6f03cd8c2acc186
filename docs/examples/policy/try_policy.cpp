// A workload log under a policy of one's own and under one of the registry's, side by side.
// usage: zbs_try_policy LOG.swf PATIENCE_S [POLICY]
#include <charconv>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>

#include "algorithms/formats/swf.hpp"
#include "algorithms/formats/swf_cleaning.hpp"
#include "algorithms/metrics/schedule_metrics.hpp"
#include "algorithms/policy/registry.hpp"
#include "algorithms/sim/workload_simulation.hpp"
#include "docs/examples/policy/narrow_first.hpp"

namespace {

using namespace zbs;

int fail(const Error& error) {
    std::cerr << "zbs_try_policy: " << error.pointer << (error.pointer.empty() ? "" : ": ") << error.message << "\n";
    return 1;
}

/// One line: mean wait and mean bounded slowdown.
Result<void> print(const char* name, const Workload& workload, Policy& policy) {
    const Result<SimulationOutcome> outcome = simulate(workload, policy, {});
    if (!outcome) return outcome.error();
    const ScheduleMetrics metrics =
        schedule_metrics(workload, {.start = outcome->start, .end = outcome->end, .processors = outcome->processors});
    std::cout << name << ": mean wait " << metrics.all.wait_s.mean << " s, longest " << metrics.all.wait_s.max
              << " s, mean bounded slowdown " << metrics.all.bounded_slowdown.mean << "\n";
    return {};
}

}  // namespace

int main(int argc, char** argv) {
    int patience_s = 0;
    if (argc < 3 || argc > 4 ||
        std::from_chars(argv[2], argv[2] + std::strlen(argv[2]), patience_s).ec != std::errc{} || patience_s <= 0) {
        std::cerr << "usage: zbs_try_policy LOG.swf PATIENCE_S [POLICY]\n";
        return 2;
    }
    std::ifstream file(argv[1], std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const Result<formats::SwfTrace> trace = formats::read_swf(text, argv[1]);
    if (!trace) return fail(trace.error());
    const Result<formats::CleanedSwf> cleaned = formats::clean_swf(*trace, argv[1]);
    if (!cleaned) return fail(cleaned.error());

    examples::NarrowFirst own(std::chrono::seconds{patience_s});
    if (auto done = print("narrow-first", cleaned->workload, own); !done) return fail(done.error());
    const char* name = argc == 4 ? argv[3] : "fcfs";
    const Result<std::unique_ptr<Policy>> other = make_policy(name);
    if (!other) return fail(other.error());
    if (auto done = print(name, cleaned->workload, **other); !done) return fail(done.error());
    return 0;
}
