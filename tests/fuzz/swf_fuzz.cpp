#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "algorithms/base/rng.hpp"
#include "algorithms/formats/swf.hpp"
#include "algorithms/formats/swf_cleaning.hpp"
#include "tests/fuzz/mutation.hpp"

// Any bytes: no crash, no fault of a sanitizer; every refusal has a message and a line; what is read is written and
// read back the same; a lenient reader takes every text and the same jobs; a cleaned workload is in order, fits its
// machine, and survives being written. With libFuzzer this is the whole program; without, a replay over mutated logs.

namespace {
using namespace zbs;
using namespace zbs::formats;

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "swf_fuzz: broken: %s\n", what);
    std::abort();
}
std::uint64_t accepted = 0, cleaned_jobs = 0;

void check_workload(const SwfTrace& trace, const SwfCleaning& rules) {
    const Result<CleanedSwf> cleaned = clean_swf(trace, "fuzz", rules);
    if (!cleaned) {
        require(!cleaned.error().message.empty() && cleaned.error().pointer.starts_with("fuzz"),
                "a refused log without message or place");
        return;
    }
    const std::vector<WorkloadJob>& jobs = cleaned->workload.jobs;
    require(!jobs.empty() && jobs.size() == cleaned->record_of_job.size(), "a workload without jobs");
    require(jobs.size() + cleaned->dropped_in_all() == trace.records.size(), "a job that is neither kept nor dropped");
    cleaned_jobs += jobs.size();
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        const auto& [job, runtime] = jobs[i];
        require(i == 0 || jobs[i - 1].job.submit < job.submit ||
                    (jobs[i - 1].job.submit == job.submit && jobs[i - 1].job.id < job.id),
                "a workload out of order");
        require(job.processors >= 1 && job.processors <= cleaned->workload.processors, "a job that does not fit");
        require(runtime > Duration::zero() && runtime <= job.walltime, "a run time out of its walltime");
        require(job.submit >= Time{} && job.id.value >= 0 && job.memory_bytes >= 0, "a negative value");
    }
    const Result<SwfTrace> written = read_swf(write_swf(make_swf(cleaned->workload)), "again");
    require(written.has_value(), "a written workload cannot be read");
    const Result<CleanedSwf> again = clean_swf(*written, "fuzz");
    require(again.has_value() && again->workload.jobs.size() == jobs.size(), "a written workload loses jobs");
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        WorkloadJob job = again->workload.jobs[i];
        job.job.memory_bytes = jobs[i].job.memory_bytes;  // requested and used memory become one field
        require(job == jobs[i], "a job changes on the way");
    }
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const Result<SwfTrace> trace = read_swf(text, "fuzz");
    const Result<SwfTrace> lenient = read_swf(text, "fuzz", {.lenient = true});
    require(lenient.has_value(), "a lenient reader refuses");
    require(trace.has_value() == (lenient->skipped_lines == 0), "lenient and strict reading disagree");
    if (!trace) {
        require(!trace.error().message.empty() && trace.error().pointer.starts_with("fuzz:"),
                "a refusal without message or line");
        require(trace.error() == *lenient->first_skipped, "lenient reading tells of another fault");
    } else {
        ++accepted;
        const Result<SwfTrace> again = read_swf(write_swf(*trace), "again");
        require(again.has_value(), "what is written cannot be read");
        require(again->records == trace->records && again->comments == trace->comments, "a log changes on the way");
    }
    check_workload(*lenient, {});
    check_workload(*lenient, {.processors = 64,
                              .repeated_id = SwfCleaning::Action::kDrop,
                              .impossible = SwfCleaning::Action::kDrop,
                              .allocated_size = true,
                              .past_estimate = SwfCleaning::PastEstimate::kRaised,
                              .shift_to_zero = true});
    check_workload(*lenient, {.renumber = true, .zero_runtime_counts = true});
    check_workload(*lenient, {.processors = 4,
                              .oversized = SwfCleaning::Action::kRefuse,
                              .out_of_order = false,
                              .exact_estimates = true,
                              .drop_cancelled = true});
    return 0;
}

#ifndef ZBS_LIBFUZZER
int main(int argc, char** argv) {
    const std::uint64_t runs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 20000;
    const std::vector<std::string> pieces = {" ",
                                             "\n",
                                             "\t-1 ",
                                             "0",
                                             ".",
                                             "-",
                                             "\r\n",
                                             ";",
                                             "; MaxProcs: 3\n",
                                             "e",
                                             "+",
                                             "0.0000005",
                                             "999999999999",
                                             "1 2 3 4 5 6 7 8 9 1 1 1 1 1 1 1 1\n"};
    for (std::uint64_t seed = 0; seed < runs; ++seed) {
        Rng rng(seed);
        std::string text = "; Version: 2.2\n; MaxNodes: 16\n; MaxProcs: " + std::to_string(rng.below(20)) + "\n";
        for (std::uint64_t job = 1 + rng.below(12); job > 0; --job) {
            for (std::size_t field = 0; field < kSwfFields; ++field) {
                const std::uint64_t value = field == 0 ? job : rng.below(rng.below(8) == 0 ? 100'000 : 20);
                text += rng.below(6) == 0 && field > 0 ? "-1" : std::to_string(value);
                if (field == 5 && rng.below(2) == 0) text += "." + std::to_string(rng.below(1000));
                text += field + 1 < kSwfFields ? " " : "\n";
            }
        }
        fuzz::mutate(text, rng, pieces);
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    }
    require(accepted > runs / 10 && cleaned_jobs > runs, "hardly anything was read: the inputs are no use");
    std::printf("swf_fuzz: %llu inputs, %llu read, %llu jobs\n", static_cast<unsigned long long>(runs),
                static_cast<unsigned long long>(accepted), static_cast<unsigned long long>(cleaned_jobs));
    return 0;
}
#endif
