#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/base/rng.hpp"
#include "algorithms/formats/profile_log.hpp"
#include "algorithms/formats/rank_profile.hpp"
#include "tests/fuzz/mutation.hpp"

// Any bytes: no crash, no fault of a sanitizer; the log means the same however it is cut into chunks; every refusal has
// a message and a place. With libFuzzer this is the whole program; without, a replay over generated and mutated logs.

namespace {
using namespace zbs;
using namespace zbs::formats;

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "profile_log_fuzz: broken: %s\n", what);
    std::abort();
}

Result<ApplicationModel> read(std::string_view text, std::size_t piece) {
    // Few ranks, so that one number in a small input cannot ask for the memory of ten million.
    ProfileLogReader reader("fuzz", {.max_line_bytes = 256, .max_ranks = 5000, .max_pairs = 1000});
    for (std::size_t at = 0; at < text.size(); at += piece) {
        if (Result<void> fed = reader.feed(text.substr(at, piece)); !fed) return fed.error();
    }
    return reader.finish();
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const Result<ApplicationModel> whole = read(text, size + 1);
    const Result<ApplicationModel> pieces = read(text, 1 + size % 13);
    require(whole.has_value() == pieces.has_value(), "chunks change the verdict");
    if (whole) {
        require(*whole == *pieces, "chunks change the model");
    } else {
        require(!whole.error().message.empty() && whole.error().pointer.starts_with("fuzz"),
                "a refusal without message or place");
        require(whole.error().pointer == pieces.error().pointer, "chunks change the place");
    }
    const std::string_view files[] = {text};
    if (const auto merged = merge_rank_files(files)) require(merged->graph.task_count() > 0, "a model without ranks");
    return 0;
}

#ifndef ZBS_LIBFUZZER
namespace {
std::string random_log(Rng& rng) {
    std::string text;
    ProfileLogWriter writer(text);
    for (std::uint64_t i = 0, n = rng.below(30); i < n; ++i) {
        const ProfileLogWriter::Message message{static_cast<int>(rng.below(40)), static_cast<int>(rng.below(40)),
                                                rng.below(1U << 30), 5};
        switch (rng.below(3)) {
            case 0:
                writer.send(message);
                break;
            case 1:
                writer.receive(message);
                break;
            default:
                writer.compute(message.from, 1000, 5);
        }
    }
    return text;
}

void mutate(std::string& text, Rng& rng) {
    static const std::vector<std::string> pieces = {"-",
                                                    "\n",
                                                    " ",
                                                    "\r\n",
                                                    std::string(1, '\0'),
                                                    "99999999999999999999",
                                                    "PAPI",
                                                    "SZ",
                                                    "-101",
                                                    "-102",
                                                    "#",
                                                    ":",
                                                    "4999",
                                                    "5000",
                                                    "ZBSPROF1",
                                                    "\xff",
                                                    "S 0 D",
                                                    "node:3\n",
                                                    "\nzbs-log/1 unseen 3 MPI_Bcast_c\n"};
    fuzz::mutate(text, rng, pieces);
}
}  // namespace

int main(int argc, char** argv) {
    const std::uint64_t runs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 20000;
    for (std::uint64_t seed = 0; seed < runs; ++seed) {
        Rng rng(seed);
        std::string text = random_log(rng);
        mutate(text, rng);
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    }
    std::printf("profile_log_fuzz: %llu inputs, all answered\n", static_cast<unsigned long long>(runs));
    return 0;
}
#endif
