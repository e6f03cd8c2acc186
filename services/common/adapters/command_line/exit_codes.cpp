#include "services/common/adapters/command_line/exit_codes.hpp"

namespace zbs::command_line {

int exit_code_of(const Error& error) {
    switch (error.code) {
        case ErrorCode::kInvalidArgument:
        case ErrorCode::kTooLarge:
            return kUsage;
        case ErrorCode::kUnauthenticated:
        case ErrorCode::kDenied:
            return kDenied;
        case ErrorCode::kNotFound:
            return kNotFound;
        case ErrorCode::kConflict:
        case ErrorCode::kIdReused:
            return kConflict;
        case ErrorCode::kTooManyRequests:
        case ErrorCode::kRejected:
            return kRejected;
        case ErrorCode::kUnavailable:
            return kUnreachable;
        case ErrorCode::kTimeout:
            return kTimedOut;
        case ErrorCode::kInternal:
            return kFailed;
    }
    return kFailed;
}

}  // namespace zbs::command_line
