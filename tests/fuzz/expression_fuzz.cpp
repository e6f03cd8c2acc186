#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "algorithms/base/rng.hpp"
#include "client/cli/expression.hpp"

// Any text as a condition: a refusal has a message, a place and an option; what is accepted holds or not, and
// its opposite does the opposite.

namespace {
using namespace zbs;
using namespace zbs::cli;

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "expression_fuzz: broken: %s\n", what);
    std::abort();
}
std::uint64_t accepted = 0;
constexpr std::string_view kNames[] = {"zone", "policy", "mpi", "usable"};
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const Attributes zone = {{"zone", "a"}, {"policy", "gang"}, {"mpi", "4.0.2"}, {"mpi", "5.0rc1"}};
    const std::string text(reinterpret_cast<const char*>(data), size);
    const Result<Expression> expression = Expression::parse(text, kNames);
    if (!expression) {
        require(expression.error().pointer == "--where" && !expression.error().message.empty(),
                "a refusal without message or option");
        return 0;
    }
    ++accepted;
    const Result<Expression> opposite = Expression::parse("not (" + text + ")", kNames);
    if (opposite) require(opposite->holds(zone) != expression->holds(zone), "an expression and its opposite agree");
    return 0;
}

#ifndef ZBS_LIBFUZZER
int main(int argc, char** argv) {
    static constexpr std::string_view kWords[] = {
        "zone", "policy", "mpi", "usable", "=",     "!=", "<",   "<=",    ">", ">=",   "and", "or",
        "not",  "(",      ")",   "gang",   "4.0.2", "4",  "'a'", "\"b\"", "'", "\xc3", "\n",  "99999999999999999999"};
    const std::uint64_t runs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 20000;
    for (std::uint64_t seed = 0; seed < runs; ++seed) {
        Rng rng(seed);
        std::string text;
        // Half of them are comparisons with a word or two of anything; the others are anything.
        if (rng.below(2) == 0) {
            for (std::uint64_t n = 1 + rng.below(4); n > 0; --n)
                text += std::string(rng.below(3) == 0 ? "not " : "") + (rng.below(2) == 0 ? "zone = a " : "mpi >= 4 ") +
                        (n == 1              ? ""
                         : rng.below(2) == 0 ? "and "
                                             : "or ");
            if (rng.below(2) == 0) text.insert(rng.below(text.size()), kWords[rng.below(std::size(kWords))]);
        } else {
            for (std::uint64_t n = rng.below(12); n > 0; --n)
                text += std::string(kWords[rng.below(std::size(kWords))]) + " ";
        }
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    }
    require(accepted > runs / 10, "hardly anything was read: the inputs are no use");
    std::printf("expression_fuzz: %llu inputs, %llu read\n", static_cast<unsigned long long>(runs),
                static_cast<unsigned long long>(accepted));
    return 0;
}
#endif
