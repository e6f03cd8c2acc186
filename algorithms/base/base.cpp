#include <cstdio>
#include <cstdlib>

#include "algorithms/base/expects.hpp"
#include "algorithms/base/result.hpp"

namespace zbs {

void contract_broken(const char* condition, const char* file, int line) noexcept {
    std::fprintf(stderr, "zbs: contract broken: %s at %s:%d\n", condition, file, line);
    std::fflush(stderr);
    std::abort();
}

std::string text_with_pointer(const Error& error) {
    return (error.pointer.empty() ? "" : error.pointer + ": ") + error.message;
}

std::ostream& operator<<(std::ostream& out, const Error& error) {
    out << to_string(error.code) << ": " << error.message;
    if (!error.pointer.empty()) out << " (at " << error.pointer << ")";
    return out;
}

}  // namespace zbs
