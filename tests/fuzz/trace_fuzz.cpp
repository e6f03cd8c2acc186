#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/base/rng.hpp"
#include "algorithms/base/trace_layout.hpp"
#include "algorithms/formats/trace_log.hpp"
#include "algorithms/sim/generators.hpp"
#include "algorithms/sim/rank_trace.hpp"
#include "algorithms/sim/replay.hpp"
#include "tests/fuzz/mutation.hpp"

// Any bytes as a trace, as the trace file of a rank and as a parameter file: no crash, no fault of a sanitizer, no
// hang; what is read is written and read back; it replays or says why not. With libFuzzer this is the whole program;
// without, a replay over generated and mutated inputs.

namespace {
using namespace zbs;

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "trace_fuzz: broken: %s\n", what);
    std::abort();
}

void replay_it(const Trace& trace) {
    static const ResourceGraph resources =
        ResourceGraph::make(
            {{.name = "a", .machines = {{"m", 2, 1}, {"n", 1, 3}}}, {.name = "b", .machines = {{"m", 1, 1}}}}, {})
            .value();
    Mapping mapping;
    for (std::int32_t r = 0; r < trace.rank_count(); ++r) mapping.processor_of.push_back(r % 4);
    const Result<ReplayReport> report = replay(trace, resources, mapping);
    if (report)
        require(report->run_time_s >= 0 && report->events <= trace.event_count(), "a replay without sense");
    else
        require(!report.error().message.empty(), "a refusal without message");
    (void)task_graph_of(trace);
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    // Few ranks, so that one number in a small input cannot ask for the memory of a million.
    if (const Result<Trace> trace =
            formats::read_trace(text, "fuzz", {.max_ranks = 1000, .max_events = 10'000, .max_channels = 1000})) {
        const std::string written = formats::write_trace(*trace);
        const Result<Trace> again = formats::read_trace(written, "again");
        require(again.has_value() && formats::write_trace(*again) == written, "a trace changes on the way");
        replay_it(*trace);
    } else {
        require(!trace.error().message.empty() && trace.error().pointer.starts_with("fuzz:"),
                "a refusal without message or place");
    }
    if (size >= sizeof(RankTraceHeader)) {
        RankTraceHeader header{};
        std::memcpy(&header, data, sizeof header);
        const std::string_view files[] = {text};
        if (header.world_size < 1000) {
            if (const Result<Trace> trace = merge_rank_traces(files)) replay_it(*trace);
        }
    }
    if (const auto kernel = parse_transport_parameters(text, "fuzz"); !kernel)
        require(kernel.error().pointer.starts_with("fuzz:"), "a refusal without place");
    return 0;
}

#ifndef ZBS_LIBFUZZER
namespace {
std::string random_text(Rng& rng) {
    std::string text = "zbs-trace/1 " + std::to_string(1 + rng.below(5)) + "\nrank 0\n";
    static const std::vector<std::string> lines = {"c 0.5",
                                                   "s 1 100",
                                                   "s 0 1e3 7",
                                                   "r 0",
                                                   "r * 7",
                                                   "r 1 *",
                                                   "p 0 7",
                                                   "w 0",
                                                   "w 1",
                                                   "rank 1",
                                                   "c 1",
                                                   "# x",
                                                   "p 1",
                                                   "rank 2",
                                                   "s 2 0",
                                                   "program x y",
                                                   "unseen 3 MPI_Bcast_c"};
    for (std::uint64_t n = rng.below(30); n > 0; --n) text += lines[rng.below(lines.size())] + "\n";
    return text;
}

std::string random_file(Rng& rng) {
    RankTraceHeader header{};
    std::memcpy(header.magic, RankTraceHeader::kMagic, sizeof header.magic);
    header.version = RankTraceHeader::kVersion;
    header.header_bytes = sizeof header;
    header.world_size = static_cast<std::uint32_t>(1 + rng.below(4));
    std::string text(reinterpret_cast<const char*>(&header), sizeof header);
    for (std::uint64_t n = rng.below(12); n > 0; --n) {
        const RankTraceRecord record{rng.below(5),
                                     rng.below(2),
                                     static_cast<std::int32_t>(rng.below(3)),
                                     static_cast<std::int32_t>(rng.below(3)),
                                     static_cast<RankTraceRecord::Kind>(1 + rng.below(7)),
                                     static_cast<std::uint32_t>(rng.below(40))};
        text.append(reinterpret_cast<const char*>(&record), sizeof record);
    }
    return text;
}

void mutate(std::string& text, Rng& rng) {
    static const std::vector<std::string> pieces = {
        "-",   "\n",           " ", "*",     "99999999999999999999", "nan",
        "inf", "zbs-trace/1 ", "#", "1e400", "NO_OF_TEAMS=2",        std::string(1, '\0'),
        "\xff"};
    fuzz::mutate(text, rng, pieces);
}
}  // namespace

int main(int argc, char** argv) {
    const std::uint64_t runs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 20000;
    for (std::uint64_t seed = 0; seed < runs; ++seed) {
        Rng rng(seed);
        std::string text = seed % 2 == 0 ? random_text(rng) : random_file(rng);
        mutate(text, rng);
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    }
    std::printf("trace_fuzz: %llu inputs, all answered\n", static_cast<unsigned long long>(runs));
    return 0;
}
#endif
