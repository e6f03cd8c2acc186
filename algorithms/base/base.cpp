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

const char* to_string(ErrorCode code) {
    switch (code) {
        case ErrorCode::kInvalidArgument:
            return "invalid_argument";
        case ErrorCode::kUnauthenticated:
            return "unauthenticated";
        case ErrorCode::kDenied:
            return "denied";
        case ErrorCode::kNotFound:
            return "not_found";
        case ErrorCode::kConflict:
            return "conflict";
        case ErrorCode::kIdReused:
            return "id_reused";
        case ErrorCode::kTooLarge:
            return "too_large";
        case ErrorCode::kTooManyRequests:
            return "too_many_requests";
        case ErrorCode::kRejected:
            return "rejected";
        case ErrorCode::kUnavailable:
            return "unavailable";
        case ErrorCode::kTimeout:
            return "timeout";
        case ErrorCode::kInternal:
            return "internal";
    }
    return "internal";
}

std::ostream& operator<<(std::ostream& out, const Error& error) {
    out << to_string(error.code) << ": " << error.message;
    if (!error.pointer.empty()) out << " (at " << error.pointer << ")";
    return out;
}

}  // namespace zbs
