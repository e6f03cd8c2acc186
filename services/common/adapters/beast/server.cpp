#include "services/common/adapters/beast/server.hpp"

#include <utility>

#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <mutex>
#include <optional>
#include <set>

#include "services/common/http/reply.hpp"

namespace zbs::beast {
namespace {

namespace asio = boost::asio;
namespace bb = boost::beast;
namespace bh = boost::beast::http;
using tcp = asio::ip::tcp;

constexpr const char* kIdentityHeader = "Zbs-Identity";

bool has_control_bytes(bb::string_view text) {
    for (const char c : text) {
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return true;
    }
    return false;
}

/// The checks of a head that Beast leaves to its user.
Result<http::Call> read_head(const bh::request<bh::string_body>& request) {
    http::Call call;
    const bb::string_view method = request.method_string();
    call.method = std::string(method.data(), method.size());
    const bb::string_view target = request.target();
    if (target.empty() || target[0] != '/' || has_control_bytes(target))
        return invalid("the request target must be a path");
    if (request.version() != 11 && request.version() != 10) return invalid("only HTTP/1.1 is spoken here");
    if (request.version() == 11 && request.count(bh::field::host) != 1)
        return invalid("exactly one Host header is needed");
    if (request.count(bh::field::content_length) > 1) return invalid("Content-Length is given twice");
    const bb::string_view length = request[bh::field::content_length];  // "4, 4" would pass Beast
    if (length.find_first_not_of("0123456789") != bb::string_view::npos)
        return invalid("Content-Length must be one number");
    if (request.count(bh::field::content_length) == 1 && request.count(bh::field::transfer_encoding) > 0) {
        return invalid("Content-Length and Transfer-Encoding exclude each other");
    }
    const std::string_view text(target.data(), target.size());
    const std::size_t question = std::min(text.find('?'), text.size());
    Result<std::string> path = http::decode_percent(text.substr(0, question));
    if (!path) return path.error();
    call.path = *std::move(path);
    if (question < text.size()) {
        auto query = http::parse_query(text.substr(question + 1));
        if (!query) return query.error();
        call.query = *std::move(query);
    }
    const auto identities = request.count(kIdentityHeader);
    if (identities > 1) return invalid("Zbs-Identity is given twice");
    if (identities == 1) {
        const bb::string_view value = request[kIdentityHeader];
        const std::optional<Caller> caller = parse_identity({value.data(), value.size()});
        if (!caller)
            return Error{ErrorCode::kUnauthenticated, "Zbs-Identity must be spiffe://ORGANISATION/user/NAME", {}};
        call.caller = *caller;
    }
    return call;
}

}  // namespace

struct Server::Impl : std::enable_shared_from_this<Server::Impl> {
    class Session;

    asio::io_context& io;
    ServerOptions options;
    Handler handler;
    asio::strand<asio::io_context::executor_type> strand;  // guards acceptor and sessions
    tcp::acceptor acceptor;
    asio::steady_timer back_off;
    std::set<std::shared_ptr<Session>> sessions;
    std::atomic<int> open{0};
    std::atomic<bool> draining{false};
    bool accepting = false;
    unsigned short bound_port = 0;

    Impl(asio::io_context& context, ServerOptions o, Handler h)
        : io(context),
          options(std::move(o)),
          handler(std::move(h)),
          strand(asio::make_strand(context)),
          acceptor(strand),
          back_off(strand) {}

    void accept();
    void on_accept(const bb::error_code& fault, tcp::socket socket);
    void closed(const std::shared_ptr<Session>& session);
};

/// One connection: read head, read body, hand over, write, again. All on its own strand.
class Server::Impl::Session : public std::enable_shared_from_this<Server::Impl::Session> {
  public:
    Session(std::shared_ptr<Impl> server, tcp::socket socket)
        : server_(std::move(server)), stream_(std::move(socket)), deadline_(stream_.get_executor()) {}

    void run() {
        asio::dispatch(stream_.get_executor(), [self = shared_from_this()] { self->read_head(); });
    }
    /// Ends the connection unless a request is under way.
    void drain() {
        asio::post(stream_.get_executor(), [self = shared_from_this()] {
            if (self->idle_) self->close();
        });
    }

  private:
    void read_head() {
        if (server_->draining) return close();
        parser_.emplace();
        is_head_ = false;
        parser_->header_limit(static_cast<std::uint32_t>(server_->options.max_header_bytes));
        parser_->body_limit(server_->options.max_body_bytes);
        idle_ = buffer_.size() == 0;
        stream_.expires_after(server_->options.header_deadline);
        bh::async_read_header(
            stream_, buffer_, *parser_,
            [self = shared_from_this()](bb::error_code fault, std::size_t size) { self->on_head(fault, size); });
    }

    void on_head(bb::error_code fault, std::size_t size) {
        idle_ = false;
        if (fault == bh::error::end_of_stream || fault == bb::error::timeout ||
            fault == asio::error::operation_aborted || fault == asio::error::connection_reset ||
            fault == asio::error::eof || fault == bh::error::partial_message) {
            return close();
        }
        // Beast's own limit stops a head that does not end, but lets one that came whole be somewhat larger.
        if (fault == bh::error::header_limit || (!fault && size > server_->options.max_header_bytes)) {
            return write(http::problem({ErrorCode::kTooLarge,
                                        "the request head is over " +
                                            std::to_string(server_->options.max_header_bytes) + " bytes",
                                        {}},
                                       431),
                         false);
        }
        if (fault == bh::error::body_limit) return refuse_body();
        if (fault) return write(http::problem(invalid("not an HTTP request: " + fault.message())), false);

        if (parser_->get().count(bh::field::content_length) > 0 &&
            parser_->get().count(bh::field::transfer_encoding) > 0) {
            return write(http::problem(invalid("Content-Length and Transfer-Encoding exclude each other")), false);
        }
        if (const auto length = parser_->content_length(); length && *length > server_->options.max_body_bytes)
            return refuse_body();
        if (bb::iequals(parser_->get()[bh::field::expect], "100-continue") && !parser_->is_done()) {
            continue_ = {bh::status::continue_, 11};
            stream_.expires_after(server_->options.write_deadline);
            return bh::async_write(stream_, continue_, [self = shared_from_this()](bb::error_code e, std::size_t) {
                if (e) return self->close();
                self->read_body();
            });
        }
        read_body();
    }

    void read_body() {
        stream_.expires_after(server_->options.body_deadline);
        bh::async_read(stream_, buffer_, *parser_,
                       [self = shared_from_this()](bb::error_code fault, std::size_t) { self->on_request(fault); });
    }

    void on_request(bb::error_code fault) {
        if (fault == bh::error::body_limit) return refuse_body();
        if (fault == bb::error::timeout || fault == asio::error::operation_aborted || fault == asio::error::eof ||
            fault == asio::error::connection_reset || fault == bh::error::end_of_stream ||
            fault == bh::error::partial_message) {
            return close();
        }
        if (fault) return write(http::problem(invalid("the request body is malformed: " + fault.message())), false);
        stream_.expires_never();

        bh::request<bh::string_body> request = parser_->release();
        const bool keep_alive = request.keep_alive();
        is_head_ = request.method() == bh::verb::head;
        Result<http::Call> call = zbs::beast::read_head(request);
        if (!call) return write(http::problem(call.error()), false);
        call->body = std::move(request.body());

        // The reply may come from any thread, late, or never; the deadline answers in its place.
        auto answered = std::make_shared<std::atomic<bool>>(false);
        deadline_.expires_after(server_->options.handler_deadline);
        deadline_.async_wait([self = shared_from_this(), answered](bb::error_code e) {
            if (e || answered->exchange(true)) return;
            self->write(
                http::problem(
                    {ErrorCode::kTimeout, "the service did not answer in time; ask again with the same id", {}}),
                false);
        });
        server_->handler(*std::move(call), [self = shared_from_this(), answered, keep_alive](http::Reply reply) {
            if (answered->exchange(true)) return;
            asio::post(self->stream_.get_executor(), [self, keep_alive, reply = std::move(reply)]() mutable {
                self->deadline_.cancel();
                self->write(std::move(reply), keep_alive);
            });
        });
    }

    void refuse_body() {
        write(http::problem({ErrorCode::kTooLarge,
                             "the request body is over " + std::to_string(server_->options.max_body_bytes) + " bytes",
                             {}}),
              false);
    }

    void write(http::Reply reply, bool keep_alive) {
        if (server_->draining) keep_alive = false;
        response_ = {};
        response_.version(11);
        response_.result(static_cast<unsigned>(reply.status));
        response_.set(bh::field::content_type, reply.content_type);
        response_.set("X-Content-Type-Options", "nosniff");
        response_.set(bh::field::cache_control, "no-store");
        for (const auto& [name, value] : reply.headers) {
            if (!has_control_bytes(value)) response_.set(name, value);
        }
        response_.body() = std::move(reply.body);
        response_.keep_alive(keep_alive);
        response_.prepare_payload();
        if (is_head_) response_.body().clear();  // Content-Length stays: a body here would be read as the next reply
        stream_.expires_after(server_->options.write_deadline);
        bh::async_write(stream_, response_, [self = shared_from_this(), keep_alive](bb::error_code fault, std::size_t) {
            if (fault) return self->close();
            if (!keep_alive) return self->linger();
            self->read_head();
        });
    }

    /// Ends the connection so that the last reply arrives: closing while bytes of the request are unread would reset it
    /// and take the reply with it. Reads them away, for a short while and up to a limit.
    void linger() {
        bb::error_code ignored;
        stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
        stream_.expires_after(server_->options.linger_deadline);
        discard();
    }
    void discard() {
        buffer_.clear();
        stream_.async_read_some(buffer_.prepare(64 * 1024),
                                [self = shared_from_this()](bb::error_code fault, std::size_t got) {
                                    self->discarded_ += got;
                                    if (fault || self->discarded_ > 2 * self->server_->options.max_body_bytes)
                                        return self->close();
                                    self->discard();
                                });
    }

    void close() {
        bb::error_code ignored;
        stream_.socket().shutdown(tcp::socket::shutdown_both, ignored);
        stream_.close();
        server_->closed(shared_from_this());
    }

    std::shared_ptr<Impl> server_;
    bb::tcp_stream stream_;
    asio::steady_timer deadline_;
    bb::flat_buffer buffer_{1024 * 1024};
    std::optional<bh::request_parser<bh::string_body>> parser_;
    bh::response<bh::string_body> response_;
    bh::response<bh::empty_body> continue_;
    bool idle_ = true;
    bool is_head_ = false;
    std::size_t discarded_ = 0;
};

void Server::Impl::accept() {
    if (draining || accepting || open >= options.max_connections) return;
    accepting = true;
    acceptor.async_accept(asio::make_strand(io), [self = shared_from_this()](bb::error_code fault, tcp::socket socket) {
        asio::dispatch(self->strand, [self, fault, socket = std::move(socket)]() mutable {
            self->on_accept(fault, std::move(socket));
        });
    });
}

void Server::Impl::on_accept(const bb::error_code& fault, tcp::socket socket) {
    accepting = false;
    if (draining) return;
    if (fault) {  // e.g. no file descriptors left: a tight loop would burn a core
        back_off.expires_after(std::chrono::milliseconds(100));
        back_off.async_wait([self = shared_from_this()](bb::error_code e) {
            if (!e) self->accept();
        });
        return;
    }
    bb::error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    const auto session = std::make_shared<Session>(shared_from_this(), std::move(socket));
    sessions.insert(session);
    ++open;
    session->run();
    accept();
}

void Server::Impl::closed(const std::shared_ptr<Session>& session) {
    asio::post(strand, [self = shared_from_this(), session] {
        if (self->sessions.erase(session) == 0) return;
        --self->open;
        self->accept();
    });
}

Server::Server(asio::io_context& io, ServerOptions options, Handler handler)
    : impl_(std::make_shared<Impl>(io, std::move(options), std::move(handler))) {}
Server::~Server() = default;

Result<void> Server::start() {
    bb::error_code fault;
    const asio::ip::address address = asio::ip::make_address(impl_->options.address, fault);
    if (fault) return invalid("listen address '" + impl_->options.address + "' is not an IP address");
    if (!address.is_loopback()) {
        return invalid("refusing to listen on " + impl_->options.address +
                       " without TLS: plain HTTP is for loopback addresses only (127.0.0.1 or ::1)");
    }
    const tcp::endpoint endpoint(address, impl_->options.port);
    const auto failed = [&](const char* what) {
        return Error{ErrorCode::kUnavailable,
                     "cannot " + std::string(what) + " " + impl_->options.address + ":" +
                         std::to_string(impl_->options.port) + ": " + fault.message(),
                     {}};
    };
    if (impl_->acceptor.open(endpoint.protocol(), fault)) return failed("open a socket for");
    impl_->acceptor.set_option(asio::socket_base::reuse_address(true), fault);
    if (impl_->acceptor.bind(endpoint, fault)) return failed("bind");
    if (impl_->acceptor.listen(asio::socket_base::max_listen_connections, fault)) return failed("listen on");
    impl_->bound_port = impl_->acceptor.local_endpoint(fault).port();
    asio::post(impl_->strand, [impl = impl_] { impl->accept(); });
    return {};
}

unsigned short Server::port() const { return impl_->bound_port; }
int Server::connections() const { return impl_->open; }

void Server::drain() {
    impl_->draining = true;
    asio::post(impl_->strand, [impl = impl_] {
        bb::error_code ignored;
        impl->acceptor.close(ignored);
        impl->back_off.cancel();
        for (const auto& session : impl->sessions) session->drain();
    });
}

}  // namespace zbs::beast
