#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "services/common/adapters/beast/byte_budget.hpp"
#include "services/common/adapters/beast/request_head.hpp"
#include "services/common/adapters/beast/response_text.hpp"
#include "services/common/adapters/beast/server.hpp"
#include "services/common/adapters/beast/server_tls.hpp"
#include "services/common/failpoint/failpoint.hpp"
#include "services/common/http/rate_limit.hpp"
#include "services/common/http/reply.hpp"

/// One connection of `Server`; internal to this module.
namespace zbs::beast {

/// What a connection needs of its server.
class SessionHost {
  public:
    virtual ~SessionHost() = default;
    virtual const ServerOptions& options() const = 0;
    virtual const Server::Handler& handler() const = 0;
    virtual bool draining() const = 0;
    /// The share of a connection of this caller, by its name or else by its address.
    virtual ByteBudget::Share share_of(const PeerIdentity& peer, const std::string& address) const = 0;
    virtual void closed(std::shared_ptr<class AnySession> session) = 0;  ///< once
};

class AnySession {
  public:
    virtual ~AnySession() = default;
    virtual void run() = 0;
    /// Ends the connection unless a request is under way; from any thread.
    virtual void end_if_idle() = 0;
    /// Ends the connection if it still is the other side's turn; from any thread.
    virtual void evict() = 0;
    /// Since when it is the other side's turn, to send a whole request or to read its reply (steady clock); 0 while a
    /// request is with the service. From any thread.
    std::int64_t silent_since_us() const { return silent_since_us_; }
    /// Whether its caller has shown no identity, or none yet. From any thread.
    bool is_anonymous() const { return is_anonymous_; }

  protected:
    std::atomic<std::int64_t> silent_since_us_{0};
    std::atomic<bool> is_anonymous_{true};
};

/// Where a reply goes that comes while its session still is inside the handler, on the same thread.
struct EarlyReply {
    AnySession* session = nullptr;
    std::optional<http::Reply>* reply = nullptr;
};
inline thread_local EarlyReply* t_early = nullptr;

using PlainStream = boost::beast::tcp_stream;
using TlsStream = boost::beast::ssl_stream<boost::beast::tcp_stream>;

/// Handshake where there is TLS, then: read head, read body, hand over, write, again. All on its own strand.
template <class Stream>
class Session final : public AnySession, public std::enable_shared_from_this<Session<Stream>> {
    static constexpr bool kTls = std::is_same_v<Stream, TlsStream>;
    using ErrorCodeOf = boost::beast::error_code;

  public:
    template <class... StreamArguments>
    Session(std::shared_ptr<SessionHost> host, std::string origin, StreamArguments&&... arguments)
        : host_(std::move(host)),
          origin_(std::move(origin)),
          stream_(std::forward<StreamArguments>(arguments)...),
          deadline_(stream_.get_executor()),
          watch_(stream_.get_executor()) {}

    void run() override {
        wait_for_peer();
        boost::asio::dispatch(stream_.get_executor(), [self = this->shared_from_this()] { self->start(); });
    }
    void end_if_idle() override {
        boost::asio::post(stream_.get_executor(), [self = this->shared_from_this()] {
            if (self->idle_) self->close();
        });
    }

    void evict() override {
        boost::asio::post(stream_.get_executor(), [self = this->shared_from_this()] {
            if (self->silent_since_us_ != 0) self->close();
        });
    }

  private:
    using SteadyClock = std::chrono::steady_clock;

    /// The connection ends unless this is called again, or `until_` is put off, before the time has passed. One timer
    /// looks at `until_` now and then: a timer for every reading and writing costs as much as the rest of a request.
    void expire_after(std::chrono::milliseconds time) { expire_at(SteadyClock::now() + time); }
    void expire_at(SteadyClock::time_point time) {
        until_ = time;
        if (until_ < watched_) watch();
    }
    void watch() {
        watched_ = until_;
        watch_.expires_at(until_);  // ends an earlier waiting
        watch_.async_wait([weak = this->weak_from_this()](ErrorCodeOf fault) {
            const auto self = weak.lock();
            if (fault || self == nullptr || self->is_closed_) return;
            if (SteadyClock::now() >= self->until_) return self->close();
            self->watched_ = kNever;
            if (self->until_ != kNever) self->watch();
        });
    }

    boost::beast::tcp_stream& lowest() { return boost::beast::get_lowest_layer(stream_); }

    /// Who the handshake has brought, by what is believed now: a certificate that ran out or an organisation that is
    /// not trusted any more counts on open connections for half a minute at most.
    void identify() {
        if constexpr (kTls) {
            identity_ = host_->options().tls->identify(stream_.native_handle());
            identified_ = SteadyClock::now();
            is_anonymous_ = identity_.evidence() == Evidence::kNone;
        }
    }

    void wait_for_peer() {
        const auto now = SteadyClock::now().time_since_epoch();
        silent_since_us_ = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
    }

    void start() {
        if constexpr (kTls) {
            expire_after(host_->options().handshake_deadline);
            stream_.async_handshake(boost::asio::ssl::stream_base::server,
                                    [self = this->shared_from_this()](ErrorCodeOf fault) {
                                        if (fault) return self->close();
                                        self->identify();
                                        self->read_head();
                                    });
        } else {
            read_head();
        }
    }

    void read_head() {
        namespace bh = boost::beast::http;
        if (host_->draining()) return close();
        parser_.emplace();
        is_head_ = may_change_ = false;
        if_none_match_.clear();
        share_ = {};
        if constexpr (!kTls) identity_ = {};  // each request brings its own
        parser_->header_limit(static_cast<std::uint32_t>(host_->options().max_header_bytes));
        parser_->body_limit(host_->options().max_body_bytes);
        idle_ = buffer_.size() == 0;
        expire_after(host_->options().header_deadline);
        bh::async_read_header(
            stream_, buffer_, *parser_,
            [self = this->shared_from_this()](ErrorCodeOf fault, std::size_t size) { self->on_head(fault, size); });
    }

    /// The other side is gone or too slow: it would receive no reply.
    static bool is_gone(ErrorCodeOf fault) {
        namespace bh = boost::beast::http;
        return fault == bh::error::end_of_stream || fault == boost::beast::error::timeout ||
               fault == boost::asio::error::operation_aborted || fault == boost::asio::error::connection_reset ||
               fault == boost::asio::error::eof || fault == bh::error::partial_message ||
               fault.category() == boost::asio::error::get_ssl_category() ||
               fault == boost::asio::ssl::error::stream_truncated;
    }

    void on_head(ErrorCodeOf fault, std::size_t size) {
        namespace bh = boost::beast::http;
        idle_ = false;
        if (is_gone(fault)) return close();
        const ServerOptions& options = host_->options();
        // Beast's own limit stops a head that does not end, but lets one that came whole be somewhat larger.
        if (fault == bh::error::header_limit || (!fault && size > options.max_header_bytes)) {
            return write(
                http::problem({ErrorCode::kTooLarge,
                               "the request head is over " + std::to_string(options.max_header_bytes) + " bytes",
                               {}},
                              431),
                false);
        }
        if (fault == bh::error::body_limit) return refuse_body(options.max_body_bytes);
        if (fault) return write(http::problem(invalid("not an HTTP request: " + fault.message())), false);

        const auto& head = parser_->get();
        is_head_ = head.method() == bh::verb::head;
        may_change_ = !is_head_ && head.method() != bh::verb::get;
        keep_alive_ = head.keep_alive();
        Result<http::Call> call = zbs::beast::read_head(head);
        if (!call) return write(http::problem(call.error()), false);
        if_none_match_ = call->if_none_match;
        call->address = origin_;
        call->scheme = kTls ? "https" : "http";
        if constexpr (kTls) {
            if (SteadyClock::now() - identified_ > options.identity_age) identify();
            // A caller whose certificate was refused may connect again once it is valid.
            if (!identity_.refusal().empty()) keep_alive_ = false;
        } else {
            Result<PeerIdentity> identity = read_local_identity(head, options.local_token);
            if (!identity) return write(http::problem(identity.error()), false);
            identity_ = *std::move(identity);
            is_anonymous_ = identity_.evidence() == Evidence::kNone;
        }
        call->peer = identity_;
        share_ = host_->share_of(identity_, origin_);
        call_ = *std::move(call);
        if (parser_->is_done()) return on_request();

        const std::optional<std::size_t> limit =
            options.body_limit ? options.body_limit(call_) : options.max_body_bytes;
        if (!limit) {
            call_.is_body_unread = true;
            keep_alive_ = false;
            return on_request();
        }
        body_limit_ = std::min(*limit, options.max_body_bytes);
        if (const auto length = parser_->content_length(); length && *length > body_limit_)
            return refuse_body(body_limit_);
        parser_->body_limit(body_limit_);
        if (boost::beast::iequals(head[bh::field::expect], "100-continue")) {
            continue_ = {bh::status::continue_, 11};
            expire_after(options.write_deadline);
            return bh::async_write(stream_, continue_, [self = this->shared_from_this()](ErrorCodeOf e, std::size_t) {
                if (e) return self->close();
                self->read_body();
            });
        }
        read_body();
    }

    void read_body() {
        body_since_ = SteadyClock::now();
        buffer_.reserve(kRecord);
        read_piece();
    }

    /// Reads until the body is whole, within the caller's budget and faster than the minimum rate.
    void read_piece() {
        namespace bh = boost::beast::http;
        if (parser_->is_done()) return on_request();
        const ServerOptions& options = host_->options();
        const std::size_t got = parser_->get().body().size();
        if (!share_.resize(got + buffer_.capacity())) return write(too_many_bytes(), false);
        const std::chrono::milliseconds paid(got * 1000 / options.body_bytes_per_second);
        expire_at(body_since_ + std::min(options.body_deadline, options.body_patience + paid));
        bh::async_read_some(
            stream_, buffer_, *parser_, [self = this->shared_from_this()](ErrorCodeOf fault, std::size_t) {
                if (fault == bh::error::body_limit) return self->refuse_body(self->body_limit_);
                if (is_gone(fault)) return self->close();
                if (fault)
                    return self->write(http::problem(invalid("the request body is malformed: " + fault.message())),
                                       false);
                self->read_piece();
            });
    }

    void on_request() {
        until_ = kNever;
        silent_since_us_ = 0;
        call_.body = std::move(parser_->get().body());
        parser_.reset();
        buffer_.shrink_to_fit();
        hand_over(std::exchange(call_, {}), keep_alive_);
    }

    /// As for a call beyond the rate: nothing was done, and the client may send it again.
    http::Reply too_many_bytes() const { return http::too_many_requests(identity_, std::chrono::seconds{1}, "bytes"); }

    /// The reply may come from any thread, late, or never; the deadline answers in its place. Most come before the
    /// handler returns: they cost no timer and no change of threads, and are written only then, because whatever the
    /// handler holds (the domain's strand) must not wait for our encryption and sending.
    void hand_over(http::Call call, bool keep_alive) {
        auto answered = std::make_shared<std::atomic<bool>>(false);
        std::optional<http::Reply> early;
        EarlyReply place{this, &early};
        EarlyReply* const outer = std::exchange(t_early, &place);
        host_->handler()(std::move(call), [self = this->shared_from_this(), answered, keep_alive](http::Reply reply) {
            if (answered->exchange(true)) return;
            if (t_early != nullptr && t_early->session == self.get()) {
                *t_early->reply = std::move(reply);
                return;
            }
            boost::asio::dispatch(self->stream_.get_executor(), [self, keep_alive, reply = std::move(reply)]() mutable {
                self->deadline_.cancel();
                self->write(std::move(reply), keep_alive);
            });
        });
        t_early = outer;
        if (early) return write(*std::move(early), keep_alive);
        if (*answered) return;
        deadline_.expires_after(host_->options().handler_deadline);
        deadline_.async_wait([self = this->shared_from_this(), answered](ErrorCodeOf e) {
            if (e || answered->exchange(true)) return;
            self->write(
                http::problem(
                    {ErrorCode::kTimeout, "the service did not answer in time; ask again with the same id", {}}),
                false);
        });
    }

    void refuse_body(std::size_t limit) {
        write(http::problem({ErrorCode::kTooLarge, "the request body is over " + std::to_string(limit) + " bytes", {}}),
              false);
    }

    void write(http::Reply reply, bool keep_alive) {
        if (host_->draining() || reply.stream) keep_alive = false;
        if (!may_change_) reply = validated(std::move(reply), if_none_match_);
        reply_text_ = response_text(reply, keep_alive, is_head_, http_date_now());
        if (reply_text_.size() > kSmallReply && !share_.resize(reply_text_.size())) {
            keep_alive = false;
            reply = too_many_bytes();
            reply_text_ = response_text(reply, keep_alive, is_head_, http_date_now());
        }
        std::shared_ptr<http::Stream> source = is_head_ ? nullptr : std::move(reply.stream);
        wait_for_peer();  // not when the writing is known to be done: who was served first has been silent for longest
        expire_after(host_->options().write_deadline);
        boost::asio::async_write(stream_, boost::asio::buffer(reply_text_),
                                 [self = this->shared_from_this(), keep_alive, source = std::move(source)](
                                     ErrorCodeOf fault, std::size_t) mutable {
                                     if (fault) return self->close();
                                     if (source) return self->begin_stream(std::move(source));
                                     if (self->may_change_ && !failpoint::reach(failpoint::Point::kAnswerSent))
                                         return self->close();
                                     if (!keep_alive) return self->linger();
                                     self->read_head();
                                 });
    }

    /// What the source gives is sent piece by piece; it is asked for the next one once the last was taken by the other
    /// side's end of the connection, within the time of a reply. Meanwhile it may wait for as long as it wants.
    void begin_stream(std::shared_ptr<http::Stream> source) {
        source_ = std::move(source);
        see_peer_leave();
        ask_source();
    }
    void ask_source() {
        until_ = kNever;
        silent_since_us_ = 0;
        source_->next([self = this->shared_from_this()](std::string piece) {
            // Not at once: the source may be somebody's loop over many, who all would wait for our encryption.
            boost::asio::post(self->stream_.get_executor(),
                              [self, piece = std::move(piece)]() mutable { self->send_piece(std::move(piece)); });
        });
    }
    void send_piece(std::string piece) {
        if (is_closed_) return;
        wait_for_peer();
        if (piece.empty() || is_another_now()) return end_stream();
        reply_text_ = std::move(piece);
        expire_after(host_->options().write_deadline);
        boost::asio::async_write(stream_, boost::asio::buffer(reply_text_),
                                 [self = this->shared_from_this()](ErrorCodeOf fault, std::size_t) {
                                     if (self->is_closed_) return;
                                     if (fault) return self->close();
                                     self->ask_source();
                                 });
    }
    /// Whether what the other side showed means somebody else by now, or nobody: it has run out, or is not trusted any
    /// more. As with requests, looked at twice a minute at most.
    bool is_another_now() {
        if constexpr (kTls) {
            if (SteadyClock::now() - identified_ <= host_->options().identity_age) return false;
            const PeerIdentity before = identity_;
            identify();
            return identity_ != before;
        }
        return false;
    }
    /// While a stream is sent the other side has nothing to say; what it says all the same is thrown away.
    void see_peer_leave() {
        buffer_.clear();
        stream_.async_read_some(buffer_.prepare(1024),
                                [self = this->shared_from_this()](ErrorCodeOf fault, std::size_t got) {
                                    self->discarded_ += got;
                                    if (self->is_closed_) return;
                                    if (fault || self->discarded_ > self->host_->options().max_body_bytes)
                                        return self->close();
                                    self->see_peer_leave();
                                });
    }
    void end_stream() {
        expire_after(host_->options().linger_deadline);
        if constexpr (kTls) {
            stream_.async_shutdown([self = this->shared_from_this()](ErrorCodeOf) { self->close(); });
        } else {
            ErrorCodeOf ignored;
            lowest().socket().shutdown(boost::asio::ip::tcp::socket::shutdown_send, ignored);
        }
    }

    /// Ends the connection so that the last reply arrives: closing while bytes of the request are unread would reset it
    /// and take the reply with it. Says that nothing follows, then reads the rest away, for a short while and up to a
    /// limit; of TLS as raw bytes, because nothing is decrypted after our end was announced.
    void linger() {
        expire_after(host_->options().linger_deadline);
        if constexpr (kTls) {
            stream_.async_shutdown([self = this->shared_from_this()](ErrorCodeOf) { self->end_sending(); });
        } else {
            end_sending();
        }
    }
    void end_sending() {
        ErrorCodeOf ignored;
        lowest().socket().shutdown(boost::asio::ip::tcp::socket::shutdown_send, ignored);
        lowest().socket().non_blocking(true, ignored);
        buffer_.clear();
        buffer_.shrink_to_fit();
        parser_.reset();
        discard();
    }
    /// Reads into a buffer on the stack: a thousand connections that end cost no more than one.
    void discard() {
        auto& socket = lowest().socket();
        socket.async_wait(boost::asio::socket_base::wait_read, [self = this->shared_from_this()](ErrorCodeOf fault) {
            if (fault || self->is_closed_) return self->close();
            std::array<char, 16 * 1024> thrown;
            self->discarded_ += self->lowest().socket().read_some(boost::asio::buffer(thrown), fault);
            if (fault == boost::asio::error::would_block) return self->discard();
            if (fault || self->discarded_ > 2 * self->host_->options().max_body_bytes) return self->close();
            self->discard();
        });
    }

    void close() {
        if (std::exchange(is_closed_, true)) return;
        ErrorCodeOf ignored;
        lowest().socket().shutdown(boost::asio::ip::tcp::socket::shutdown_both, ignored);
        lowest().close();
        watch_.cancel();
        source_ = nullptr;
        host_->closed(this->shared_from_this());
    }

    std::shared_ptr<SessionHost> host_;
    const std::string origin_;  ///< where the connection comes from, as `http::Call::address`
    Stream stream_;
    static constexpr SteadyClock::time_point kNever = SteadyClock::time_point::max();
    boost::asio::steady_timer deadline_;           // of the service's answer
    boost::asio::steady_timer watch_;              // of what the other side has to do
    SteadyClock::time_point until_ = kNever;       // by when
    SteadyClock::time_point watched_ = kNever;     // when the timer looks
    boost::beast::flat_buffer buffer_{64 * 1024};  // more than a head; also bounds what follows a chunked body
    std::optional<boost::beast::http::request_parser<boost::beast::http::string_body>> parser_;
    static constexpr std::size_t kRecord = 16 * 1024;     // the most that TLS gives at once
    static constexpr std::size_t kSmallReply = 4 * 1024;  // a refusal is always sent
    http::Call call_;                                     // while its body is read
    bool keep_alive_ = false;
    std::size_t body_limit_ = 0;
    SteadyClock::time_point body_since_{};
    ByteBudget::Share share_;  // of body, then reply
    std::string reply_text_;
    std::string if_none_match_;  // of the request
    std::shared_ptr<http::Stream> source_;
    boost::beast::http::response<boost::beast::http::empty_body> continue_;
    PeerIdentity identity_;
    SteadyClock::time_point identified_{};
    bool idle_ = true;
    bool is_head_ = false;
    bool may_change_ = false;  // what the request asks for
    bool is_closed_ = false;
    std::size_t discarded_ = 0;
};

}  // namespace zbs::beast
