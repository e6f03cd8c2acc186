#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "algorithms/base/result.hpp"
#include "services/common/messages/identity.hpp"

namespace zbs::cpprest {

struct HttpCall {
    std::string url;  ///< base address, e.g. http://127.0.0.1:8001
    std::string method = "GET";
    std::string path;                            ///< with query
    std::string body;                            ///< sent as application/json; empty = none
    std::chrono::milliseconds deadline{10'000};  ///< total, from now to the last byte of the answer
};

struct HttpAnswer {
    int status = 0;
    std::string body;
    std::string next_offset;  ///< header Zbs-Next-Offset of the log route
    bool complete = false;    ///< header Zbs-Complete of the log route
};

/// The one wrapper of cpprestsdk's client: no redirects, a total deadline, a cap on the answer, no reuse of a
/// connection that the other side closed, identity header on plain loopback connections. Safe from any thread.
class HttpCaller {
  public:
    explicit HttpCaller(Caller self, std::size_t max_reply_bytes);
    ~HttpCaller();
    /// `respond` is called exactly once, on a thread of cpprestsdk's pool. Errors: kUnavailable (refused, reset),
    /// kTimeout, kTooLarge, kInvalidArgument (bad address; plain HTTP to another host).
    void call(HttpCall call, std::function<void(Result<HttpAnswer>)> respond);
    /// The same, waiting.
    Result<HttpAnswer> call(HttpCall call);

  private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace zbs::cpprest
