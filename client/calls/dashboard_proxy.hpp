#pragma once
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "services/common/http/call.hpp"
#include "services/common/messages/application.hpp"
#include "services/common/ports/http_client.hpp"

namespace zbs::client {

/// Passes a browser's calls on to the home zone, as the user whose credentials `zone` has. A browser shows a secret: it
/// is in the address that the user opens first, and from then on in a cookie that no page can read and no other site
/// makes it send.
class DashboardProxy {
  public:
    /// `host`: HOST:PORT as the browser names it; others are refused, because a name that some site resolves to this
    /// machine would make its pages ours. `zone` must outlive all answers.
    DashboardProxy(HttpClient& zone, ServiceAddress home, std::string host, std::string secret);
    /// Called before an application is submitted, on the thread of the call: signs what no browser can sign. Where it
    /// fails nothing is submitted.
    using BeforeSubmit = std::function<Result<void>(const ApplicationRequest&)>;
    void before_submit(BeforeSubmit act) { before_submit_ = std::move(act); }
    /// How many bytes of a call's body may be read; none without the cookie, and of what is not JSON.
    std::optional<std::size_t> body_limit(const http::Call& head) const;
    /// Answers once, on any thread.
    void serve(const http::Call& call, http::Respond respond) const;
    /// What the user opens.
    std::string address() const;

  private:
    Result<void> prepare(const http::Call& call) const;
    Result<void> check(const http::Call& call) const;
    bool shows_cookie(const http::Call& call) const;
    http::Reply let_in() const;
    void pass_on(const http::Call& call, http::Respond respond) const;
    void pass_stream_on(HttpCall call, http::Respond respond) const;

    HttpClient& zone_;
    ServiceAddress home_;
    std::string host_, secret_, cookie_;
    BeforeSubmit before_submit_;
};

}  // namespace zbs::client
