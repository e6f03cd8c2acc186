#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/base/rng.hpp"
#include "services/common/failpoint/failpoint.hpp"
#include "tests/fuzz/mutation.hpp"

// Any bytes as ZBS_FAILPOINTS: no crash, no fault of a sanitizer; what is read is written and read back the same; every
// refusal has a message. With libFuzzer this is the whole program; without, a replay over good texts that are changed.

namespace {
using namespace zbs;

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "failpoint_fuzz: broken: %s\n", what);
    std::abort();
}

std::uint64_t understood = 0;
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto armings = failpoint::parse(text, failpoint::Program::kZone);
    if (!armings) {
        require(!armings.error().message.empty(), "a refusal without message");
        return 0;
    }
    ++understood;
    // Words give whole milliseconds: what is shorter is lost on the way, once.
    const std::string written = failpoint::to_text(*armings);
    const auto again = failpoint::parse(written, failpoint::Program::kZone);
    require(again.has_value(), "what is written cannot be read");
    require(failpoint::to_text(*again) == written, "an arming changes on the way");
    return 0;
}

#ifndef ZBS_LIBFUZZER
int main(int argc, char** argv) {
    const std::uint64_t runs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 20000;
    const std::vector<std::string> good = {"home.after_held=crash", "store.before_write=error@3;answer.sent=stall:5s",
                                           "step.after_fork=stall:1h30m@2", ""};
    static const std::vector<std::string> pieces = {
        "=",    ";",  "@",    ":", "stall", "crash", "error", "0", "4294967296", "-1", std::string(1, '\0'),
        "\xff", "5s", "home."};
    for (std::uint64_t seed = 0; seed < runs; ++seed) {
        Rng rng(seed);
        std::string text = good[rng.below(good.size())];
        fuzz::mutate(text, rng, pieces, 3, 8);
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    }
    require(understood > runs / 20, "hardly anything was read: the inputs are no use");
    std::printf("failpoint_fuzz: %llu inputs, all answered; %llu read\n", static_cast<unsigned long long>(runs),
                static_cast<unsigned long long>(understood));
    return 0;
}
#endif
