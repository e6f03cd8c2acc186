#pragma once
#include <string>

namespace zbs {

/// What a call belongs to, as its first caller named it (W3C Trace Context); only for logs of several services to be
/// put together.
struct TraceContext {
    std::string id;           ///< 32 lower-case hexadecimal digits; empty: none
    bool is_sampled = false;  ///< the first caller keeps its own record
    bool operator==(const TraceContext&) const = default;
};

}  // namespace zbs
