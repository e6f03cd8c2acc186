#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "algorithms/base/rng.hpp"
#include "services/common/adapters/system/program_libraries.hpp"
#include "tests/fuzz/mutation.hpp"

// Any bytes as a program: no crash, no fault of a sanitizer; few names, none of them empty or long. With libFuzzer this
// is the whole program; without, a replay over mutated heads of this very program.

namespace {
using namespace zbs;

std::uint64_t named = 0;

void check(std::string_view bytes) {
    const std::vector<std::string> names = system::needed_libraries(bytes);
    bool good = names.size() <= 1'024;
    for (const std::string& name : names) good = good && !name.empty() && name.size() <= 255;
    named += !names.empty();
    if (good) return;
    std::fprintf(stderr, "program_libraries_fuzz: broken: names without bound\n");
    std::abort();
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    check({reinterpret_cast<const char*>(data), size});
    return 0;
}

#ifndef ZBS_LIBFUZZER
int main(int argc, char** argv) {
    const int runs = argc > 1 ? std::atoi(argv[1]) : 20'000;
    std::ifstream file("/bin/true", std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    const std::string seed = text.str();
    check(seed);
    Rng rng(1);
    for (int i = 0; i < runs; ++i) {
        // The tables are small beside the rest: bytes of the head and of the tables are what matters.
        std::string bytes = seed;
        for (int k = 0; k < 4; ++k) {
            const auto at = static_cast<std::size_t>(rng.below(k < 2 ? 1'024 : bytes.size()));
            bytes[at] = static_cast<char>(rng.below(256));
        }
        if (rng.below(4) == 0) bytes.resize(static_cast<std::size_t>(rng.below(bytes.size())));
        check(bytes);
    }
    std::printf("%d inputs, %llu with names\n", runs, static_cast<unsigned long long>(named));
    return named > 0 ? 0 : 1;
}
#endif
