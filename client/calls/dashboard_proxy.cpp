#include "client/calls/dashboard_proxy.hpp"

#include <algorithm>
#include <memory>
#include <mutex>

#include "algorithms/base/text.hpp"
#include "services/common/codec/message_codec.hpp"
#include "services/common/http/reply.hpp"
#include "services/common/http/router.hpp"
#include "services/common/messages/limits.hpp"

namespace zbs::client {
namespace {

constexpr std::chrono::seconds kPatience{30};
/// Of events that the browser has not taken yet; one that is further behind is cut, and goes on by the last id.
constexpr std::size_t kMaxWaiting = 1024 * 1024;

/// The address as the zone reads it: decoded at our edge, encoded again.
std::string target_of(const http::Call& call) {
    std::string target;
    std::string_view path = call.path;
    while (!path.empty()) {
        path.remove_prefix(1);
        const std::size_t end = std::min(path.find('/'), path.size());
        target += "/" + http::encode_percent(path.substr(0, end));
        path.remove_prefix(end);
    }
    char before = '?';
    for (const auto& [key, value] : call.query) {
        target += before + http::encode_percent(key) + "=" + http::encode_percent(value);
        before = '&';
    }
    if (!call.last_event_id.empty() && !call.query.contains("after"))
        target += std::string(1, before) + "after=" + http::encode_percent(call.last_event_id);
    return target;
}

bool is_page(const http::Call& call) { return call.path == "/" || call.path.starts_with("/assets/"); }

http::Reply reply_of(const HttpAnswer& answer) {
    http::Reply reply{answer.status, answer.content_type, answer.body, {}};
    if (!answer.next_offset.empty()) {
        reply.headers.emplace_back("Zbs-Next-Offset", answer.next_offset);
        reply.headers.emplace_back("Zbs-Complete", answer.complete ? "true" : "false");
    }
    if (!answer.etag.empty()) {  // as the zone gives it; our own edge makes none then
        reply.headers.emplace_back("ETag", answer.etag);
        reply.headers.emplace_back("Cache-Control", "private, no-cache");
    }
    return reply;
}

/// Pieces that come from the zone, for one that asks for them one by one.
class Pieces final : public http::Stream {
  public:
    void next(std::function<void(std::string)> give) override {
        std::unique_lock lock(mutex_);
        if (waiting_.empty() && !has_ended_) {
            give_ = std::move(give);
            return;
        }
        std::string piece = std::exchange(waiting_, {});
        lock.unlock();
        give(std::move(piece));
    }
    /// False: too much waits already.
    bool take(std::string_view piece) {
        std::unique_lock lock(mutex_);
        if (waiting_.size() + piece.size() > kMaxWaiting) return false;
        waiting_ += piece;
        if (give_) {
            const auto give = std::exchange(give_, nullptr);
            std::string all = std::exchange(waiting_, {});
            lock.unlock();
            give(std::move(all));
        }
        return true;
    }
    void end() {
        std::unique_lock lock(mutex_);
        has_ended_ = true;
        if (!give_) return;
        const auto give = std::exchange(give_, nullptr);
        lock.unlock();
        give({});
    }

  private:
    std::mutex mutex_;
    std::string waiting_;
    std::function<void(std::string)> give_;
    bool has_ended_ = false;
};

}  // namespace

DashboardProxy::DashboardProxy(HttpClient& zone, ServiceAddress home, std::string host, std::string secret)
    : zone_(zone), home_(std::move(home)), host_(std::move(host)), secret_(std::move(secret)) {
    // Cookies do not know ports: two of these on one machine must not take each other's.
    cookie_ = "zbs_dashboard_" + host_.substr(host_.rfind(':') + 1);
}

std::string DashboardProxy::address() const { return "http://" + host_ + "/?token=" + secret_; }

bool DashboardProxy::shows_cookie(const http::Call& call) const {
    std::string_view left = call.cookie;
    while (!left.empty()) {
        const std::size_t end = std::min(left.find(';'), left.size());
        std::string_view item = left.substr(0, end);
        left.remove_prefix(std::min(end + 1, left.size()));
        while (item.starts_with(' ')) item.remove_prefix(1);
        if (item.starts_with(cookie_ + "=") && is_same_secret(item.substr(cookie_.size() + 1), secret_)) return true;
    }
    return false;
}

Result<void> DashboardProxy::check(const http::Call& call) const {
    if (call.host != host_)
        return Error{ErrorCode::kDenied, "this is reached as " + host_ + " only, not by another name", {}};
    if (http::comes_from_elsewhere(call))
        return Error{ErrorCode::kDenied, "a page of another site asked your browser to do this", {}};
    return {};
}

/// By a page of our own, and not a redirection: whoever follows a link from another place would not send the cookie on.
http::Reply DashboardProxy::let_in() const {
    http::Reply reply{200, "text/html; charset=utf-8",
                      "<!doctype html><title>ZBS</title><link rel=\"icon\" href=\"data:,\"><meta "
                      "http-equiv=\"refresh\" content=\"0;url=/\">"
                      "<a href=\"/\">Go on</a>",
                      http::page_headers()};
    reply.headers.emplace_back("Set-Cookie", cookie_ + "=" + secret_ + "; Path=/; HttpOnly; SameSite=Strict");
    return reply;
}

std::optional<std::size_t> DashboardProxy::body_limit(const http::Call& head) const {
    if (!check(head) || !shows_cookie(head) || !http::is_json(head)) return std::nullopt;
    return limits::kMaxBodyBytes;
}

void DashboardProxy::serve(const http::Call& call, http::Respond respond) const {
    if (const Result<void> good = check(call); !good) return respond(http::problem(good.error()));
    if (const auto token = call.query.find("token");
        call.path == "/" && call.method == "GET" && token != call.query.end() && is_same_secret(token->second, secret_))
        return respond(let_in());
    if (!shows_cookie(call)) {
        return respond(http::problem({ErrorCode::kUnauthenticated,
                                      "open the address that 'zbs dashboard' printed: it lets this browser in",
                                      {}}));
    }
    if (call.is_body_unread) return respond(http::not_json());
    pass_on(call, std::move(respond));
}

/// What is no request the zone will refuse, with its own words.
Result<void> DashboardProxy::prepare(const http::Call& call) const {
    if (!before_submit_ || call.method != "POST" || call.path != "/v1/applications") return {};
    if (const auto dry = call.query.find("dry_run"); dry != call.query.end() && dry->second == "true") return {};
    const Result<codec::Json> json = codec::parse(call.body);
    if (!json) return {};
    const Result<ApplicationRequest> request = codec::decode_application_request(*json);
    return request ? before_submit_(*request) : Result<void>{};
}

void DashboardProxy::pass_on(const http::Call& call, http::Respond respond) const {
    if (const Result<void> ready = prepare(call); !ready) return respond(http::problem(ready.error()));
    HttpCall onward{home_, call.method, target_of(call), call.body, kPatience};
    if (call.method == "GET" || call.method == "HEAD") onward.if_none_match = call.if_none_match;
    if (call.method == "GET" && call.path.ends_with("/events"))
        return pass_stream_on(std::move(onward), std::move(respond));
    zone_.call(std::move(onward),
               [page = is_page(call), respond = std::move(respond)](const Result<HttpAnswer>& answer) {
                   if (!answer) return respond(http::problem(answer.error()));
                   http::Reply reply = reply_of(*answer);
                   if (page) reply.headers = http::page_headers();
                   respond(std::move(reply));
               });
}

/// The browser is answered with the first piece: before it nobody knows whether there are any.
void DashboardProxy::pass_stream_on(HttpCall call, http::Respond respond) const {
    call.deadline = std::chrono::hours{1};
    struct Passing {
        std::weak_ptr<Pieces> pieces;  // lives as long as the browser reads
        bool has_begun = false;
    };
    const auto passing = std::make_shared<Passing>();
    call.on_piece = [passing, respond](std::string_view piece) {
        if (!passing->has_begun) {
            passing->has_begun = true;
            const auto pieces = std::make_shared<Pieces>();
            passing->pieces = pieces;
            respond({.status = 200, .content_type = "text/event-stream", .body = std::string(piece), .stream = pieces});
            return true;
        }
        const auto pieces = passing->pieces.lock();
        return pieces != nullptr && pieces->take(piece);
    };
    zone_.call(std::move(call), [passing, respond](const Result<HttpAnswer>& answer) {
        if (const auto pieces = passing->pieces.lock()) return pieces->end();
        if (passing->has_begun) return;
        respond(answer ? reply_of(*answer) : http::problem(answer.error()));
    });
}

}  // namespace zbs::client
