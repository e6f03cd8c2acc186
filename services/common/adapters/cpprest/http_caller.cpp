#include "services/common/adapters/cpprest/http_caller.hpp"

#include <cpprest/http_client.h>
#include <cpprest/producerconsumerstream.h>
#include <pplx/pplxtasks.h>

#include <atomic>
#include <boost/asio/ip/address.hpp>
#include <condition_variable>
#include <future>
#include <map>
#include <mutex>
#include <thread>

#include "services/common/adapters/cpprest/address_rules.hpp"
#include "services/common/adapters/openssl/tls.hpp"

namespace zbs::cpprest {
namespace {

namespace wh = web::http;
using SteadyClock = std::chrono::steady_clock;

/// Cancels calls whose total deadline has passed: cpprestsdk's own time-out starts anew with every byte.
class Watchdog {
  public:
    Watchdog() : thread_([this] { run(); }) {}
    ~Watchdog() {
        {
            const std::lock_guard lock(mutex_);
            stop_ = true;
        }
        wake_.notify_one();
        thread_.join();
    }
    void watch(SteadyClock::time_point at, std::function<void()> cancel) {
        const std::lock_guard lock(mutex_);
        const bool first = due_.empty() || at < due_.begin()->first;
        due_.emplace(at, std::move(cancel));
        if (first) wake_.notify_one();
    }

  private:
    void run() {
        std::unique_lock lock(mutex_);
        while (!stop_) {
            if (due_.empty()) {
                wake_.wait(lock);
                continue;
            }
            const auto at = due_.begin()->first;
            if (SteadyClock::now() < at) {
                wake_.wait_until(lock, at);
                continue;
            }
            const auto cancel = std::move(due_.begin()->second);
            due_.erase(due_.begin());
            lock.unlock();
            cancel();
            lock.lock();
        }
    }

    std::mutex mutex_;
    std::condition_variable wake_;
    std::multimap<SteadyClock::time_point, std::function<void()>> due_;
    bool stop_ = false;
    std::thread thread_;
};

bool is_loopback(const std::string& host) {
    boost::system::error_code fault;
    std::string bare = host;
    if (bare.size() > 2 && bare.front() == '[') bare = bare.substr(1, bare.size() - 2);
    const auto address = boost::asio::ip::make_address(bare, fault);
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

/// One call on its way; answers once, whoever comes first: the reply, a fault or the deadline.
struct Pending {
    int tries = 0;
    std::atomic<bool> answered{false};
    pplx::cancellation_token_source cancel;
    std::function<void(Result<HttpAnswer>)> respond;

    void answer(Result<HttpAnswer> result) {
        if (!answered.exchange(true)) respond(std::move(result));
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

}  // namespace

struct HttpCaller::Impl {
    /// cpprestsdk's client of one service, and why its last handshake was given up.
    struct Client {
        std::shared_ptr<wh::client::http_client> client;
        std::shared_ptr<openssl::TlsClient::Expectation> expected;  // none on plain connections
    };

    HttpCallerOptions options;
    Watchdog watchdog;
    std::mutex mutex;
    std::map<std::string, Client> clients;  // by base address and who must answer: keeps connections

    explicit Impl(HttpCallerOptions o) : options(std::move(o)) {}

    void forget(const ServiceAddress& to) {
        const std::lock_guard lock(mutex);
        clients.erase(to.url + " " + to_uri(to.who));
    }

    Result<Client> client(const ServiceAddress& to) {
        const std::string key = to.url + " " + to_uri(to.who);
        {
            const std::lock_guard lock(mutex);
            if (const auto at = clients.find(key); at != clients.end()) return at->second;
        }
        const Result<ServiceUrl> url = parse_service_url(to.url);
        if (!url) return url.error();
        try {
            const bool plain = url->scheme == "http";
            if (plain && !is_loopback(url->host)) {
                return invalid("refusing plain HTTP to " + url->host +
                               ": without TLS only loopback addresses are called");
            }
            std::string base = to.url;
            if (!options.allow_private_addresses) {
                // Resolved once, and then called by number: a name that changes cannot lead elsewhere.
                const Result<std::vector<std::string>> numbers = resolve_service(*url, false);
                if (!numbers) return numbers.error();
                const std::string& first = numbers->front();
                base = url->scheme + "://" + (first.find(':') == std::string::npos ? first : "[" + first + "]") + ":" +
                       std::to_string(url->port);
            }
            const web::uri uri(base);
            if (!plain && options.tls == nullptr)
                return invalid("'" + to.url + "' needs certificates, and there are none; get them with 'zbs login'");
            wh::client::http_client_config config;
            config.set_timeout(std::chrono::seconds(30));
            config.set_max_redirects(0);
            Client made;
            if (!plain) {
                made.expected = options.tls->expect(to.who);
                config.set_ssl_context_callback(
                    [tls = options.tls, expected = made.expected](boost::asio::ssl::context& context) {
                        tls->configure(context.native_handle(), *expected);
                    });
            }
            made.client = std::make_shared<wh::client::http_client>(uri, config);
            const std::lock_guard lock(mutex);
            return clients.emplace(key, made).first->second;
        } catch (const std::exception& fault) {
            return invalid("'" + to.url + "' is not an address: " + fault.what());
        }
    }
};

HttpCaller::HttpCaller(HttpCallerOptions options) : impl_(std::make_shared<Impl>(std::move(options))) {}
HttpCaller::~HttpCaller() = default;

void HttpCaller::forget_connections() {
    const std::lock_guard lock(impl_->mutex);
    impl_->clients.clear();
}

namespace {

struct Sending {
    std::shared_ptr<wh::client::http_client> client;
    std::shared_ptr<openssl::TlsClient::Expectation> expected;
    Caller self;
    std::string token;
    std::size_t limit = 0;
};

/// Sends once; sends again where a kept connection turned out to be closed. That is safe: every call that changes
/// something carries an id, and the total deadline holds over all tries.
void send(const Sending& how, const std::shared_ptr<Pending>& pending, const HttpCall& call) {
    const std::string where = call.method + " " + call.to.url + call.path.substr(0, call.path.find('?'));
    try {
        wh::http_request request(call.method);
        request.set_request_uri(web::uri(call.path));
        request.headers().add("Accept", "application/json");
        if (how.expected == nullptr && how.self.kind != CallerKind::kAnonymous) {
            request.headers().add("Zbs-Identity", to_uri(how.self));
            request.headers().add("Zbs-Token", how.token);
        }
        if (!call.body.empty()) request.set_body(call.body, "application/json");
        const auto answer = std::make_shared<HttpAnswer>();
        const auto body = std::make_shared<std::string>();
        how.client->request(request, pending->cancel.get_token())
            .then([answer, body, limit = how.limit](wh::http_response response) {
                answer->status = response.status_code();
                response.headers().match("Zbs-Next-Offset", answer->next_offset);
                std::string complete;
                answer->complete = response.headers().match("Zbs-Complete", complete) && complete == "true";
                return read_body(response.body(), body, limit);
            })
            .then([how, pending, call, answer, body, where](const pplx::task<bool>& done) {
                try {
                    if (!done.get())
                        return pending->answer(
                            Error{ErrorCode::kTooLarge,
                                  where + " answered with more than " + std::to_string(how.limit) + " bytes",
                                  {}});
                    answer->body = std::move(*body);
                    pending->answer(std::move(*answer));
                } catch (const std::exception& fault) {
                    if (how.expected != nullptr) {
                        if (const std::string refusal = how.expected->take_refusal(); !refusal.empty())
                            return pending->answer(Error{ErrorCode::kDenied, where + ": " + refusal, {}});
                    }
                    if (!pending->answered && is_stale_connection(fault.what()) && ++pending->tries <= kStaleRetries)
                        return send(how, pending, call);
                    pending->answer(Error{ErrorCode::kUnavailable, where + " failed: " + fault.what(), {}});
                }
            });
    } catch (const web::uri_exception& fault) {
        pending->answer(invalid("'" + call.path + "' is no path of an address: " + fault.what()));
    } catch (const std::exception& fault) {
        pending->answer(Error{ErrorCode::kUnavailable, where + " failed: " + fault.what(), {}});
    }
}

}  // namespace

void HttpCaller::call(HttpCall call, std::function<void(Result<HttpAnswer>)> respond) {
    auto pending = std::make_shared<Pending>();
    // A service that could not be reached may have moved: its name is resolved anew next time.
    pending->respond = [impl = impl_, to = call.to, respond = std::move(respond)](Result<HttpAnswer> answer) {
        if (!answer && answer.error().code == ErrorCode::kUnavailable) impl->forget(to);
        respond(std::move(answer));
    };
    const std::string where = call.method + " " + call.to.url + call.path.substr(0, call.path.find('?'));
    impl_->watchdog.watch(SteadyClock::now() + call.deadline, [pending, where, deadline = call.deadline] {
        pending->answer(Error{
            ErrorCode::kTimeout, where + " did not answer within " + std::to_string(deadline.count()) + " ms", {}});
        pending->cancel.cancel();
    });
    const auto start = [impl = impl_, pending, call = std::move(call)] {
        const auto client = impl->client(call.to);
        if (!client) return pending->answer(client.error());
        send({client->client, client->expected, impl->options.self, impl->options.local_token,
              impl->options.max_reply_bytes},
             pending, call);
    };
    if (impl_->options.allow_private_addresses) return start();
    pplx::create_task(start);  // looks names up, which may take a while
}

Result<HttpAnswer> HttpCaller::call(HttpCall call) {
    std::promise<Result<HttpAnswer>> promise;
    auto future = promise.get_future();
    this->call(std::move(call), [&promise](Result<HttpAnswer> answer) { promise.set_value(std::move(answer)); });
    return future.get();
}

}  // namespace zbs::cpprest
