#include "services/common/adapters/cpprest/http_caller.hpp"

#include <cpprest/http_client.h>
#include <cpprest/producerconsumerstream.h>
#include <pplx/pplxtasks.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/ip/address.hpp>
#include <cerrno>
#include <condition_variable>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include "algorithms/base/text.hpp"
#include "services/common/adapters/cpprest/address_rules.hpp"
#include "services/common/adapters/openssl/no_system_authorities.hpp"
#include "services/common/adapters/openssl/tls.hpp"
#include "services/common/codec/site_codec.hpp"
#include "services/common/http/reply.hpp"
#include "services/common/http/trace.hpp"

namespace zbs::cpprest {
namespace {

namespace wh = web::http;
using SteadyClock = std::chrono::steady_clock;

/// Wakes calls at their time: ends those whose total deadline has passed (cpprestsdk's own time-out starts anew with
/// every byte), sends those again whose answer asked for a wait. Its own thread may destroy it, by a callback.
class Watchdog {
  public:
    Watchdog() : thread_([state = state_] { run(*state); }) {}
    ~Watchdog() {
        {
            const std::lock_guard lock(state_->mutex);
            state_->stop = true;
        }
        state_->wake.notify_one();
        if (thread_.get_id() == std::this_thread::get_id())
            thread_.detach();
        else
            thread_.join();
    }
    void watch(SteadyClock::time_point at, std::function<void()> act) {
        const std::lock_guard lock(state_->mutex);
        const bool first = state_->due.empty() || at < state_->due.begin()->first;
        state_->due.emplace(at, std::move(act));
        if (first) state_->wake.notify_one();
    }

  private:
    struct State {
        std::mutex mutex;
        std::condition_variable wake;
        std::multimap<SteadyClock::time_point, std::function<void()>> due;
        bool stop = false;
    };

    static void run(State& state) {
        std::unique_lock lock(state.mutex);
        while (!state.stop) {
            if (state.due.empty()) {
                state.wake.wait(lock);
                continue;
            }
            const auto at = state.due.begin()->first;
            if (SteadyClock::now() < at) {
                state.wake.wait_until(lock, at);
                continue;
            }
            auto act = std::move(state.due.begin()->second);
            state.due.erase(state.due.begin());
            lock.unlock();
            act();
            act = nullptr;  // what it held may end the watchdog: not under the lock
            lock.lock();
        }
    }

    std::shared_ptr<State> state_ = std::make_shared<State>();
    std::thread thread_;
};

bool is_loopback(const std::string& host) {
    boost::system::error_code fault;
    const auto address = boost::asio::ip::make_address(host, fault);
    return host == "localhost" || (!fault && address.is_loopback());
}

constexpr int kStaleRetries = 4;

/// True for faults that a connection kept from earlier shows when the other side has closed it meanwhile.
bool is_stale_connection(const std::string& fault) {
    for (const char* sign : {"Failed to write request", "Failed to read HTTP status line", "Broken pipe",
                             "Connection reset", "End of file"}) {
        if (fault.find(sign) != std::string::npos) return true;
    }
    return false;
}

/// True for a fault before a connection: nothing was sent.
bool is_no_connection(std::string_view fault) {
    return fault.find("Failed to connect to any resolved endpoint") != std::string_view::npos;
}

/// The call for an error: with the port, also if its URL names none, and without the query.
std::string place_of(const HttpCall& call) {
    const Result<ServiceUrl> url = parse_service_url(call.to.url);
    return call.method + " " + (url ? url->text() : "an address") + call.path.substr(0, call.path.find('?'));
}

/// Why nothing came back, for a reader who does not know cpprestsdk. `host` with its port.
std::string text_of_fault(const std::exception& fault, const std::string& host) {
    const auto* const http_fault = dynamic_cast<const wh::http_exception*>(&fault);
    if (std::string_view(fault.what()).find("Error resolving address") != std::string_view::npos)
        return "host " + host + " cannot be found";
    if (http_fault == nullptr || !is_no_connection(fault.what())) return fault.what();
    const int code = http_fault->error_code().value();
    // cpprestsdk reports a refused connection under this code, too.
    const bool is_refused = code == EHOSTUNREACH || code == ECONNREFUSED;
    return "cannot connect to " + host + ": " +
           (is_refused ? "connection refused, or no route to the host" : std::generic_category().message(code));
}

/// One call on its way; answers once, whoever comes first: the reply, a fault or the deadline.
struct Pending {
    int tries = 0;
    std::shared_ptr<wh::client::http_client> client;  ///< that it was last sent with; under the caller's mutex
    std::size_t addresses_tried = 1;
    std::atomic<std::size_t> addresses{1};  ///< that the name of the service has
    SteadyClock::time_point until;          ///< the total deadline
    std::atomic<bool> answered{false};
    std::atomic<bool> begun{false};   ///< the head of an answer that counts has come
    std::atomic<bool> pieces{false};  ///< of a body that is handed over as it comes
    std::function<void()> on_cut;
    pplx::cancellation_token_source cancel;
    std::function<void(Result<HttpAnswer>)> respond;

    void answer(Result<HttpAnswer> result) {
        if (answered.exchange(true)) return;
        // Lets go of the caller: the watchdog remembers this call until its deadline.
        const auto on_answer = std::move(respond);
        const auto on_cut_short = std::move(on_cut);
        const bool timed_out = !result && result.error().code == ErrorCode::kTimeout;
        if (timed_out && begun && on_cut_short) on_cut_short();
        on_answer(std::move(result));
    }
};

/// Reads the body in pieces until its end or one byte over the limit.
pplx::task<bool> read_body(concurrency::streams::istream stream, std::shared_ptr<std::string> body, std::size_t limit) {
    constexpr std::size_t kPiece = 64 * 1024;
    concurrency::streams::container_buffer<std::string> piece;
    return stream.read(piece, kPiece).then([stream, body, limit, piece](std::size_t got) {
        if (got == 0) return pplx::task_from_result(true);
        body->append(piece.collection().data(), got);
        if (body->size() > limit) return pplx::task_from_result(false);
        return read_body(stream, body, limit);
    });
}

/// Hands over what there is of the body, as soon as there is something, until its end or until that is enough.
pplx::task<bool> read_pieces(concurrency::streams::istream stream, std::function<bool(std::string_view)> on_piece) {
    concurrency::streams::container_buffer<std::string> piece;
    return stream.read(piece, 1)
        .then([stream, piece](std::size_t got) {
            // Asked for more than there is, cpprestsdk would wait for all of it.
            const std::size_t more = got == 0 ? 0 : stream.streambuf().in_avail();
            if (more == 0) return pplx::task_from_result(got);
            return stream.read(piece, more).then([got](std::size_t rest) { return got + rest; });
        })
        .then([stream, piece, on_piece](std::size_t size) {
            // The buffer is as long as what was asked for, also at the end of the stream.
            if (size == 0 || !on_piece(std::string_view(piece.collection()).substr(0, size)))
                return pplx::task_from_result(true);
            return read_pieces(stream, on_piece);
        });
}

}  // namespace

/// All callbacks of a caller pass through it until it is closed.
class HttpCaller::Gate {
  public:
    void pass(const std::function<void()>& callback) {
        {
            const std::lock_guard lock(mutex_);
            if (!is_open_) return;
            ++inside_;
        }
        const std::unique_ptr<Gate, void (*)(Gate*)> leaving(this, [](Gate* gate) { gate->leave(); });
        callback();
    }
    void close() {
        std::unique_lock lock(mutex_);
        is_open_ = false;
        nobody_inside_.wait(lock, [this] { return inside_ == 0; });
    }

  private:
    void leave() {
        const std::lock_guard lock(mutex_);
        if (--inside_ == 0) nobody_inside_.notify_all();
    }

    std::mutex mutex_;
    std::condition_variable nobody_inside_;
    int inside_ = 0;  // one call may be made inside another's answer
    bool is_open_ = true;
};

struct HttpCaller::Impl {
    /// cpprestsdk's client of one service, and why its last handshake was given up.
    struct Client {
        std::shared_ptr<wh::client::http_client> client;
        std::shared_ptr<openssl::TlsClient::Expectation> expected;  // none on plain connections
        std::string host;                                           // for the header of that name
        std::size_t addresses = 1;                                  // that the name has
    };

    HttpCallerOptions options;
    Watchdog watchdog;
    std::mutex mutex;
    std::shared_ptr<Gate> gate = std::make_shared<Gate>();
    std::map<std::string, Client> clients;      // by base address and who must answer: keeps connections
    std::map<std::string, std::size_t> faults;  // by base address: of several addresses of a name the next one
    /// Of all clients, also of forgotten ones: cpprestsdk's threads end after main and may still shake hands.
    std::vector<std::weak_ptr<openssl::TlsClient::Expectation>> expectations;

    /// Sends the call to the service's address, or to the next one if it has several.
    static void start(const std::shared_ptr<Impl>& impl, const std::shared_ptr<Pending>& pending, const HttpCall& call);

    explicit Impl(HttpCallerOptions o) : options(std::move(o)) {
        openssl::read_no_system_authorities();
        openssl::set_up();  // before the first client makes cpprestsdk's threads, which end after main
    }

    static std::string key_of(const ServiceAddress& to, bool in_pieces) {
        return to.url + " " + to_uri(to.who) + (in_pieces ? " in pieces" : "");
    }
    /// Next time the name is resolved anew, and of several addresses another one is called. Nothing if another call has
    /// forgotten this client already.
    void forget(const ServiceAddress& to, const Pending& call) {
        const std::lock_guard lock(mutex);
        const auto is_it = [&call](const auto& entry) { return entry.second.client == call.client; };
        if (std::erase_if(clients, is_it) == 0) return;
        constexpr std::size_t kMaxFaults = 1'000;
        if (faults.size() > kMaxFaults) faults.clear();  // some callers ask for any address that they are given
        ++faults[to.url];
    }

    void close_expectations() {
        const std::lock_guard lock(mutex);
        for (const auto& one : expectations)
            if (const auto expectation = one.lock()) expectation->close();
    }

    Result<Client> client(const ServiceAddress& to, bool in_pieces) {
        const std::string key = key_of(to, in_pieces);
        {
            const std::lock_guard lock(mutex);
            if (const auto at = clients.find(key); at != clients.end()) return at->second;
        }
        const Result<ServiceUrl> url = parse_service_url(to.url);
        if (!url) return url.error();
        try {
            const bool plain = url->scheme == "http";
            if (plain && !is_loopback(url->at.host)) {
                return invalid("refusing plain HTTP to " + url->at.host +
                               ": without TLS only loopback addresses are called");
            }
            std::string host = url->at.host;
            std::size_t addresses = 1;
            if (!options.allow_private_addresses) {
                // Resolved once, and then called by number: a name that changes cannot lead elsewhere.
                const Result<std::vector<std::string>> numbers = resolve_service(*url, false);
                if (!numbers) return numbers.error();
                const std::lock_guard lock(mutex);
                addresses = numbers->size();
                host = (*numbers)[faults[to.url] % addresses];
            }
            // Without the brackets of an IPv6 address: cpprestsdk resolves the host as it stands there.
            const web::uri uri(url->scheme + "://" + host + ":" + std::to_string(url->at.port));
            if (!plain && options.tls == nullptr)
                return invalid("'" + to.url + "' needs certificates, and there are none; get them with 'zbs login'");
            wh::client::http_client_config config;
            config.set_timeout(std::chrono::seconds(30));
            config.set_max_redirects(0);
            // Of a body without a length cpprestsdk hands nothing over before it has a whole chunk: 64 KiB of events
            // are minutes or hours.
            if (in_pieces) config.set_chunksize(1);
            Client made{.client = {}, .expected = {}, .host = url->at.text(), .addresses = addresses};
            if (!plain) {
                made.expected = options.tls->expect(to.who);
                config.set_ssl_context_callback(
                    [tls = options.tls, expected = made.expected](boost::asio::ssl::context& context) {
                        tls->configure(context.native_handle(), *expected);
                    });
            }
            made.client = std::make_shared<wh::client::http_client>(uri, config);
            const std::lock_guard lock(mutex);
            std::erase_if(expectations, [](const auto& one) { return one.expired(); });
            if (made.expected != nullptr) expectations.push_back(made.expected);
            return clients.emplace(key, made).first->second;
        } catch (const std::exception& fault) {
            return invalid("'" + to.url + "' is not an address: " + fault.what());
        }
    }
};

HttpCaller::HttpCaller(HttpCallerOptions options) : impl_(std::make_shared<Impl>(std::move(options))) {}
HttpCaller::~HttpCaller() { impl_->close_expectations(); }

void HttpCaller::close() {
    impl_->gate->close();
    impl_->close_expectations();
}

void HttpCaller::forget_connections() {
    const std::lock_guard lock(impl_->mutex);
    impl_->clients.clear();
}

namespace {

struct Sending {
    std::shared_ptr<wh::client::http_client> client;
    std::shared_ptr<openssl::TlsClient::Expectation> expected;
    std::string host;
    Caller self;
    std::string token;
    std::size_t limit = 0;
    std::function<void(SteadyClock::time_point, std::function<void()>)> wake_at;
    std::function<void()> call_next_address;
};

/// How long a service that limits this caller's rate wants it to wait; none where it does not, or names no seconds.
std::optional<std::chrono::seconds> wait_asked_for(const wh::http_response& response) {
    std::string text;
    if (response.status_code() != 429 || !response.headers().match("Retry-After", text)) return std::nullopt;
    const auto seconds = parse_number<unsigned>(text);
    if (!seconds) return std::nullopt;
    return std::chrono::seconds{std::clamp(*seconds, 1U, 3'600U)};
}

/// What the header Date says; none where it is not there or is no date.
std::optional<Time> date_of(const wh::http_response& response) {
    std::string text;
    if (!response.headers().match("Date", text)) return std::nullopt;
    const auto date = utility::datetime::from_string(text, utility::datetime::RFC_1123);
    if (!date.is_initialized()) return std::nullopt;
    constexpr std::int64_t kSecondsFrom1601To1970 = 11'644'473'600;
    const auto seconds = static_cast<std::int64_t>(date.to_interval() / 10'000'000) - kSecondsFrom1601To1970;
    return Time{std::chrono::seconds{seconds}};
}

wh::http_request request_of(const Sending& how, const HttpCall& call) {
    wh::http_request request(call.method);
    request.set_request_uri(web::uri(call.path));
    request.headers().add("Host", how.host);
    request.headers().add("Accept", "application/json");
    if (how.expected == nullptr && how.self.kind != CallerKind::kAnonymous) {
        request.headers().add("Zbs-Identity", to_uri(how.self));
        request.headers().add("Zbs-Token", how.token);
    }
    if (!call.trace.id.empty()) request.headers().add("traceparent", http::traceparent_of(call.trace));
    if (!call.if_none_match.empty()) request.headers().add("If-None-Match", call.if_none_match);
    if (!call.body.empty()) request.set_body(call.body, "application/json");
    return request;
}

/// What the head of a response says; the time that it asks to wait.
std::optional<std::chrono::seconds> read_head(const wh::http_response& response, HttpAnswer& answer) {
    answer.status = response.status_code();
    const std::optional<std::chrono::seconds> wait = wait_asked_for(response);
    answer.try_later = wait.has_value();
    response.headers().match("Zbs-Next-Offset", answer.next_offset);
    answer.content_type = response.headers().content_type();
    response.headers().match("ETag", answer.etag);
    answer.date = date_of(response);
    std::string complete;
    answer.complete = response.headers().match("Zbs-Complete", complete) && complete == "true";
    return wait;
}

/// Sends once; sends again where a kept connection turned out to be closed. That is safe: every call that changes
/// something carries an id, and the total deadline holds over all tries.
void send(const Sending& how, const std::shared_ptr<Pending>& pending, const HttpCall& call) {
    const std::string where = place_of(call);
    try {
        const auto answer = std::make_shared<HttpAnswer>();
        const auto body = std::make_shared<std::string>();
        const auto wait = std::make_shared<std::optional<std::chrono::seconds>>();
        how.client->request(request_of(how, call), pending->cancel.get_token())
            .then(
                [answer, body, wait, pending, limit = how.limit, on_piece = call.on_piece](wh::http_response response) {
                    pending->begun = true;
                    *wait = read_head(response, *answer);
                    pending->pieces = on_piece && answer->status == 200;
                    if (pending->pieces) return read_pieces(response.body(), on_piece);
                    return read_body(response.body(), body, limit);
                })
            .then([how, pending, call, answer, body, wait, where](const pplx::task<bool>& done) {
                try {
                    if (!done.get())
                        return pending->answer(
                            Error{ErrorCode::kTooLarge,
                                  where + " answered with more than " + std::to_string(how.limit) + " bytes",
                                  {}});
                    if (*wait && SteadyClock::now() + **wait < pending->until) {
                        pending->begun = false;  // it was complete, and asks for another call
                        return how.wake_at(SteadyClock::now() + **wait, [how, pending, call] {
                            if (!pending->answered) send(how, pending, call);
                        });
                    }
                    answer->body = std::move(*body);
                    pending->answer(std::move(*answer));
                } catch (const std::exception& fault) {
                    if (how.expected != nullptr) {
                        if (const std::string refusal = how.expected->take_refusal(); !refusal.empty())
                            return pending->answer(Error{ErrorCode::kUnauthenticated, where + ": " + refusal, {}});
                    }
                    pending->begun = false;
                    if (is_no_connection(fault.what()) && !pending->answered &&
                        pending->addresses_tried++ < pending->addresses)
                        return how.call_next_address();
                    const bool has_pieces = call.on_piece && pending->pieces;  // the caller goes on from what it has
                    if (!has_pieces && !pending->answered && is_stale_connection(fault.what()) &&
                        ++pending->tries <= kStaleRetries)
                        return send(how, pending, call);
                    pending->answer(
                        Error{ErrorCode::kUnavailable, where + " failed: " + text_of_fault(fault, how.host), {}});
                }
            });
    } catch (const web::uri_exception& fault) {
        pending->answer(invalid("'" + call.path + "' is no path of an address: " + fault.what()));
    } catch (const std::exception& fault) {
        pending->answer(Error{ErrorCode::kUnavailable, where + " failed: " + fault.what(), {}});
    }
}

}  // namespace

void HttpCaller::Impl::start(const std::shared_ptr<Impl>& impl, const std::shared_ptr<Pending>& pending,
                             const HttpCall& call) {
    const auto client = impl->client(call.to, call.on_piece != nullptr);
    if (!client) return pending->answer(client.error());
    {
        const std::lock_guard lock(impl->mutex);
        pending->client = client->client;
    }
    pending->addresses = client->addresses;
    const std::weak_ptr weak = impl;
    const auto gone = [pending] { pending->answer(Error{ErrorCode::kUnavailable, "the caller has gone", {}}); };
    send({.client = client->client,
          .expected = client->expected,
          .host = client->host,
          .self = impl->options.self,
          .token = impl->options.local_token,
          .limit = impl->options.max_reply_bytes,
          .wake_at =
              [weak, gone](SteadyClock::time_point at, std::function<void()> act) {
                  if (const auto alive = weak.lock()) return alive->watchdog.watch(at, std::move(act));
                  gone();
              },
          .call_next_address =
              [weak, gone, pending, call] {
                  const auto alive = weak.lock();
                  if (!alive) return gone();
                  alive->forget(call.to, *pending);
                  start(alive, pending, call);
              }},
         pending, call);
}

void HttpCaller::call(HttpCall call, std::function<void(Result<HttpAnswer>)> respond) {
    auto pending = std::make_shared<Pending>();
    // A service that could not be reached may have moved: its name is resolved anew next time. Of several addresses one
    // may lose all packets.
    pending->respond = [impl = impl_, to = call.to, pending = std::weak_ptr(pending),
                        respond = std::move(respond)](Result<HttpAnswer> answer) {
        const auto ended = pending.lock();
        const bool has_more_addresses = ended != nullptr && ended->addresses > 1 && !ended->begun;
        if (ended != nullptr && !answer &&
            (answer.error().code == ErrorCode::kUnavailable ||
             (answer.error().code == ErrorCode::kTimeout && has_more_addresses)))
            impl->forget(to, *ended);
        impl->gate->pass([&] { respond(std::move(answer)); });
    };
    const std::string where = place_of(call);
    if (call.on_cut) pending->on_cut = [gate = impl_->gate, on_cut = std::move(call.on_cut)] { gate->pass(on_cut); };
    if (call.on_piece)
        call.on_piece = [gate = impl_->gate, on_piece = std::move(call.on_piece)](std::string_view piece) {
            bool goes_on = false;
            gate->pass([&] { goes_on = on_piece(piece); });
            return goes_on;
        };
    pending->until = SteadyClock::now() + call.deadline;
    impl_->watchdog.watch(pending->until, [pending, where, deadline = call.deadline] {
        pending->answer(Error{
            ErrorCode::kTimeout, where + " did not answer within " + std::to_string(deadline.count()) + " ms", {}});
        pending->cancel.cancel();
    });
    if (impl_->options.allow_private_addresses) return Impl::start(impl_, pending, call);
    // Looks names up, which may take a while.
    pplx::create_task([impl = impl_, pending, call = std::move(call)] { Impl::start(impl, pending, call); });
}

Result<HttpAnswer> HttpCaller::call(HttpCall call) {
    std::promise<Result<HttpAnswer>> promise;
    auto future = promise.get_future();
    this->call(std::move(call), [&promise](Result<HttpAnswer> answer) { promise.set_value(std::move(answer)); });
    return future.get();
}

Result<std::string> fetch_bundle(const JoinToken& token, Time (*now)()) {
    HttpCaller anybody({.tls = std::make_shared<openssl::TlsClient>()});
    const auto published = http::read_answer(anybody.call({{token.url, token.service}, "GET", "/v1/trust"}));
    if (!published) return published.error();
    Result<TrustStatement> statement = codec::decode_trust_statement(*published);
    if (!statement) return statement.error();
    const Result<std::string> fingerprint = openssl::TrustStore(now).fingerprint(statement->bundle);
    if (!fingerprint) return fingerprint.error();
    if (*fingerprint != token.fingerprint)
        return Error{ErrorCode::kDenied,
                     token.url + " shows the bundle " + *fingerprint + ", but the token is of " + token.fingerprint +
                         ": somebody else answers there; nothing was sent",
                     {}};
    return std::move(statement->bundle);
}

}  // namespace zbs::cpprest
