#pragma once
#include <functional>
#include <optional>
#include <utility>

#include "services/common/http/reply.hpp"
#include "services/common/ports/clock.hpp"
#include "services/common/ports/http_client.hpp"
#include "services/common/ports/storage/journal.hpp"

namespace zbs {

/// A Journal whose commits are timed.
class MeteredJournal : public Journal {
  public:
    MeteredJournal(Journal& journal, const Clock& clock, std::function<void(Duration)> took)
        : journal_(journal), clock_(clock), took_(std::move(took)) {}
    bool is_dirty() const override { return journal_.is_dirty(); }
    Result<void> commit() override {
        const Duration begin = clock_.steady_now();
        Result<void> done = journal_.commit();
        took_(clock_.steady_now() - begin);
        return done;
    }
    bool is_ours() const override { return journal_.is_ours(); }

  private:
    Journal& journal_;
    const Clock& clock_;
    std::function<void(Duration)> took_;
};

/// One call to another service, and what came of it.
struct MeteredCall {
    HttpCall call;  ///< without its body
    std::optional<ErrorCode> fault;
    Duration took{};
};

/// An HttpClient whose calls are timed; `called` may be called on any thread.
class MeteredClient : public HttpClient {
  public:
    using Called = std::function<void(MeteredCall)>;
    MeteredClient(HttpClient& client, const Clock& clock, Called called)
        : client_(client), clock_(clock), called_(std::move(called)) {}
    void call(HttpCall call, std::function<void(Result<HttpAnswer>)> respond) override {
        HttpCall asked{.to = call.to, .method = call.method, .path = call.path};
        client_.call(std::move(call), [this, asked = std::move(asked), begin = clock_.steady_now(),
                                       respond = std::move(respond)](Result<HttpAnswer> answer) mutable {
            std::optional<ErrorCode> fault;
            if (!answer)
                fault = answer.error().code;
            else if (answer->status < 200 || answer->status > 299)
                fault = http::code_of_status(answer->status);
            called_({std::move(asked), fault, clock_.steady_now() - begin});
            respond(std::move(answer));
        });
    }

  private:
    HttpClient& client_;
    const Clock& clock_;
    Called called_;
};

}  // namespace zbs
