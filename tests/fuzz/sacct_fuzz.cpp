#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "algorithms/base/rng.hpp"
#include "algorithms/formats/sacct.hpp"
#include "algorithms/formats/swf_cleaning.hpp"
#include "tests/fuzz/mutation.hpp"

// Any bytes as an output of sacct and as a slurm.conf: no crash, no fault of a sanitizer; every refusal has a message
// and a place; a lenient reader takes what a strict one takes, and finds the same first fault; what is read can be
// written as a workload log and read back. With libFuzzer this is the whole program; without, a replay.

namespace {
using namespace zbs;
using namespace zbs::formats;

std::uint64_t accepted = 0, refused = 0;

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "sacct_fuzz: broken: %s\n", what);
    std::abort();
}

void check_refusal(const Error& error) {
    ++refused;
    require(!error.message.empty() && error.pointer.starts_with("fuzz"), "a refusal without message or place");
}

void check_log(std::string_view text, const SlurmMachine* machine) {
    const Result<SacctLog> log = read_sacct(text, "fuzz", machine);
    const Result<SacctLog> lenient = read_sacct(text, "fuzz", machine, {.lenient = true});
    if (!log) {
        check_refusal(log.error());
        require(!lenient || lenient->trace.first_skipped == log.error(), "a lenient reader finds another fault");
        return;
    }
    ++accepted;
    require(lenient && lenient->trace.records == log->trace.records, "strict and lenient readers disagree");
    const Result<SwfTrace> again = read_swf(write_swf(log->trace), "again");
    require(again && again->records == log->trace.records, "a log changes on the way");
    const Result<CleanedSwf> cleaned = clean_swf(log->trace, "fuzz", {.processors = 64});
    require(cleaned || !cleaned.error().message.empty(), "a refused log without message");
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    check_log(text, nullptr);
    const Result<SlurmMachine> machine = read_slurm_conf(text, "fuzz");
    if (!machine) {
        check_refusal(machine.error());
        return 0;
    }
    ++accepted;
    require(machine->processors > 0 && machine->processors <= SlurmMachine::kMaxProcessors, "a machine of no size");
    for (const SlurmPartition& partition : machine->partitions)
        require(partition.max_time_s.value_or(1) > 0, "a limit of no time");
    check_log("JobID|Submit|Start|End|NCPUS|Partition\n1|10|20|30|4|short\n", &*machine);
    return 0;
}

#ifndef ZBS_LIBFUZZER
int main(int argc, char** argv) {
    const std::uint64_t runs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 20'000;
    const std::vector<std::string> seeds = {
        "JobIDRaw|Submit|Eligible|Start|End|Timelimit|ReqCPUS|AllocCPUS|State|User|Account|Partition\n"
        "7|2026-01-01T00:00:10|2026-01-01T00:00:20|2026-01-01T00:01:00|Unknown|1-06:00:00|4|8|RUNNING|a|b|long\n"
        "7.batch|2026-01-01T00:00:10||2026-01-01T00:01:00|2026-01-01T00:02:00||4|8|COMPLETED||b|\n"
        "8|1767225610|1767225610|1767225620|1767225630|UNLIMITED|2|2|CANCELLED by 7|a|b|short\n",
        "JobID|Submit|Start|End|NCPUS|TimelimitRaw\n12_[3-9]|2026-01-01T00:00:10|Unknown|Unknown|0|60\n",
        "NodeName=DEFAULT CPUs=4\nNodeName=n[1-3,07-09],r[0-1]x[2-4] State=UNKNOWN \\\n Sockets=2\n"
        "PartitionName=short Nodes=ALL MaxTime=1-00:00:00 # all\nPartitionName=\"free\" MaxTime=UNLIMITED\n"};
    const std::vector<std::string> pieces = {"|",
                                             "\n",
                                             "\r\n",
                                             "-",
                                             ":",
                                             "T",
                                             "Unknown",
                                             "99999999999999999999",
                                             "999999999999",
                                             "[",
                                             "]",
                                             "[0-999999]",
                                             ",",
                                             "=",
                                             "\"",
                                             "\\\n",
                                             "#",
                                             "NodeName=",
                                             "Partition_Limit",
                                             "\xff",
                                             std::string(1, '\0')};
    for (std::uint64_t seed = 0; seed < runs; ++seed) {
        Rng rng(seed);
        std::string text = seeds[rng.below(seeds.size())];
        fuzz::mutate(text, rng, pieces, 4, 4);
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    }
    require(accepted > runs / 10 && refused > runs / 10, "hardly anything was read or refused: the inputs are no use");
    std::printf("sacct_fuzz: %llu inputs, %llu readings, %llu refusals\n", static_cast<unsigned long long>(runs),
                static_cast<unsigned long long>(accepted), static_cast<unsigned long long>(refused));
    return 0;
}
#endif
