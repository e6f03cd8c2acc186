#pragma once
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "algorithms/base/result.hpp"
#include "algorithms/base/time.hpp"
#include "services/common/messages/registry.hpp"
#include "services/common/ports/trace_context.hpp"

namespace zbs {

struct HttpCall {
    ServiceAddress to;  ///< base address, e.g. https://127.0.0.1:8001, and who must answer there
    std::string method = "GET";
    std::string path;                            ///< with query
    std::string body;                            ///< sent as application/json; empty = none
    std::chrono::milliseconds deadline{10'000};  ///< total, from now to the last byte of the answer
    /// Called on any thread and before the answer kTimeout, when the other side had begun to answer: its head had come,
    /// its body was not complete.
    std::function<void()> on_cut{};
    /// Receives, on any thread and one at a time, the pieces of a body of status 200 as they come; the answer has none
    /// then. False: enough, the call ends.
    std::function<bool(std::string_view piece)> on_piece{};
    std::string
        if_none_match{};   ///< answered by 304 where the answer's ETag is one of these; empty: the answer is wanted
    TraceContext trace{};  ///< what the call belongs to; none: no header traceparent
};

struct HttpAnswer {
    int status = 0;
    std::string body;
    std::string next_offset;     ///< header Zbs-Next-Offset of the log route
    bool complete = false;       ///< header Zbs-Complete of the log route
    bool try_later = false;      ///< 429 with Retry-After: the service did nothing, and will when asked again later
    std::string content_type{};  ///< header Content-Type, or empty
    std::string etag{};          ///< header ETag, or empty
    std::optional<Time> date{};  ///< header Date: the other side's clock, to a second
};

/// Makes HTTP calls to other services. A network, or a simulated one.
class HttpClient {
  public:
    virtual ~HttpClient() = default;
    /// `respond` is called exactly once, on any thread, never from inside the call. Errors: kUnavailable (refused,
    /// reset), kTimeout (says nothing about whether the other side acted), kTooLarge, kUnauthenticated (no certificate
    /// of the service that counts was shown there), kDenied and kInvalidArgument (an address that may not be called).
    virtual void call(HttpCall call, std::function<void(Result<HttpAnswer>)> respond) = 0;
};

}  // namespace zbs
