#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "services/common/adapters/process/step_input.hpp"
#include "tests/fuzz/mutation.hpp"

// Any bytes as input of a supervisor: refused, or names that mean one thing, and the same bytes when written again
// (in groups: variables first).

namespace {
using namespace zbs::process;

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "step_input_fuzz: broken: %s\n", what);
    std::abort();
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto input = decode_step_input(text);
    if (!input) return 0;
    require(find_fault(*input).empty(), "a name that is none");
    const std::string again = encode(*input);
    require(again.size() == text.size(), "bytes lost or made up");
    require(decode_step_input(again) == input, "not read back");
    return 0;
}

#ifndef ZBS_LIBFUZZER
int main(int argc, char** argv) {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 20'000;
    const std::string small = encode({{{"PATH", "/bin"}}, {}});
    const std::vector<std::string> seeds = {small,
                                            encode({{{"A", ""}, {"B", "x=y"}}, {{"hosts", "a\nb\n"}, {"f", ""}}})};
    const std::vector<std::string> pieces = {small, "E", "F", "=", "..", std::string(8, '\0'), std::string(8, '\xff')};
    zbs::Rng rng(5);
    int accepted = 0;
    for (int round = 0; round < rounds; ++round) {
        std::string text = seeds[rng.below(seeds.size())];
        zbs::fuzz::mutate(text, rng, pieces, 4, 4);
        accepted += decode_step_input(text).has_value();
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    }
    require(accepted > rounds / 10 && accepted < rounds * 9 / 10, "hardly anything is accepted, or refused");
    std::printf("%d texts, %d accepted\n", rounds, accepted);
}
#endif
