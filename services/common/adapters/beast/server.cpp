#include "services/common/adapters/beast/server.hpp"

#include <malloc.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/strand.hpp>
#include <unordered_map>
#include <utility>

#include "services/common/adapters/beast/port_rights.hpp"
#include "services/common/adapters/beast/session.hpp"
#include "services/common/messages/names/host_name.hpp"

namespace zbs::beast {

namespace asio = boost::asio;
namespace bb = boost::beast;
using tcp = asio::ip::tcp;

struct Server::Impl : SessionHost, std::enable_shared_from_this<Server::Impl> {
    asio::io_context& io;
    ServerOptions settings;
    Handler on_call;
    asio::strand<asio::io_context::executor_type> strand;  // guards acceptor and sessions
    tcp::acceptor acceptor;
    asio::steady_timer back_off;
    std::unordered_map<AnySession*, std::weak_ptr<AnySession>> sessions;  // their own operations keep them
    std::atomic<int> open{0};
    std::atomic<bool> stopping{false};
    bool accepting = false;
    int most_open = 0;  ///< since memory was given back
    std::chrono::steady_clock::time_point trimmed{};
    unsigned short bound_port = 0;
    const std::shared_ptr<ByteBudget> anonymous, named;

    Impl(asio::io_context& context, ServerOptions o, Handler h)
        : io(context),
          settings(std::move(o)),
          on_call(std::move(h)),
          strand(asio::make_strand(context)),
          acceptor(strand),
          back_off(strand),
          anonymous(std::make_shared<ByteBudget>(settings.anonymous_bytes)),
          named(std::make_shared<ByteBudget>(settings.named_bytes)) {}

    const ServerOptions& options() const override { return settings; }
    const Handler& handler() const override { return on_call; }
    bool draining() const override { return stopping; }
    ByteBudget::Share share_of(const PeerIdentity& peer, const std::string& address) const override {
        return peer.evidence() == Evidence::kNone ? anonymous->share_of(address) : named->share_of(to_uri(peer.name()));
    }
    void closed(std::shared_ptr<AnySession> session) override;

    void accept();
    void on_accept(const bb::error_code& fault, tcp::socket socket);
    std::shared_ptr<AnySession> make_session(tcp::socket socket, std::string origin);
    void evict_longest_silent(const AnySession* newest, bool anonymous_only);
    int count_anonymous() const;
    void accept_later();
    void give_memory_back();
};

/// After a wave of connections. The allocator keeps what they had, in pieces between what is in use.
void Server::Impl::give_memory_back() {
    constexpr int kWave = 200;
    const auto now = std::chrono::steady_clock::now();
    if (most_open < kWave || open * 10 >= most_open || now - trimmed < std::chrono::seconds{10}) return;
    most_open = open;
    trimmed = now;
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

void Server::Impl::accept() {
    if (stopping || accepting) return;
    accepting = true;
    acceptor.async_accept(asio::make_strand(io), [self = shared_from_this()](bb::error_code fault, tcp::socket socket) {
        asio::dispatch(self->strand, [self, fault, socket = std::move(socket)]() mutable {
            self->on_accept(fault, std::move(socket));
        });
    });
}

std::shared_ptr<AnySession> Server::Impl::make_session(tcp::socket socket, std::string origin) {
    if (settings.tls == nullptr)
        return std::make_shared<Session<PlainStream>>(shared_from_this(), std::move(origin), std::move(socket));
    const std::shared_ptr<ssl_ctx_st> current = settings.tls->context();
    SSL_CTX_up_ref(current.get());
    asio::ssl::context context(current.get());  // gives our reference back; the connection keeps its own
    return std::make_shared<Session<TlsStream>>(shared_from_this(), std::move(origin), std::move(socket), context);
}

/// Makes room at the limit: nobody who sends a request in time is shut out by those who send none. The newest has had
/// no time yet to send one, so it stays. O(connections), at a limit only.
void Server::Impl::evict_longest_silent(const AnySession* newest, bool anonymous_only) {
    std::shared_ptr<AnySession> longest;
    for (const auto& [key, known] : sessions) {
        const std::shared_ptr<AnySession> session = known.lock();
        if (session == nullptr || key == newest || session->silent_since_us() == 0) continue;
        if (anonymous_only && !session->is_anonymous()) continue;
        if (longest == nullptr || session->silent_since_us() < longest->silent_since_us()) longest = session;
    }
    if (longest != nullptr) longest->evict();
}

int Server::Impl::count_anonymous() const {
    return static_cast<int>(std::ranges::count_if(sessions, [](const auto& one) {
        const std::shared_ptr<AnySession> session = one.second.lock();
        return session != nullptr && session->is_anonymous();
    }));
}

/// Looks again in a while: whoever was busy may be silent by then.
void Server::Impl::accept_later() {
    back_off.expires_after(std::chrono::milliseconds(100));
    back_off.async_wait([self = shared_from_this()](bb::error_code e) {
        if (e || self->accepting || self->stopping) return;
        self->evict_longest_silent(nullptr, false);
        if (self->open < self->settings.max_connections) return self->accept();
        self->accept_later();
    });
}

void Server::Impl::on_accept(const bb::error_code& fault, tcp::socket socket) {
    accepting = false;
    if (stopping) return;
    if (fault) return accept_later();  // e.g. no file descriptors left: a tight loop would burn a core
    bb::error_code ignored;
    std::string origin = origin_of(socket.remote_endpoint(ignored).address());
    if (settings.admit && !settings.admit(origin)) {
        socket.close(ignored);
        return accept();
    }
    socket.set_option(tcp::no_delay(true), ignored);
    const std::shared_ptr<AnySession> session = make_session(std::move(socket), std::move(origin));
    sessions.emplace(session.get(), session);
    most_open = std::max(most_open, ++open);
    session->run();
    if (open < settings.max_connections) {
        if (open > settings.max_anonymous_connections && count_anonymous() > settings.max_anonymous_connections)
            evict_longest_silent(session.get(), true);
        return accept();
    }
    evict_longest_silent(session.get(), false);  // its end lets the next one in
    accept_later();
}

void Server::Impl::closed(std::shared_ptr<AnySession> session) {
    asio::post(strand, [self = shared_from_this(), gone = std::move(session)]() mutable {
        self->sessions.erase(gone.get());
        --self->open;
        gone.reset();
        self->give_memory_back();
        if (self->open < self->settings.max_connections) self->accept();
    });
}

Server::Server(asio::io_context& io, ServerOptions options, Handler handler)
    : impl_(std::make_shared<Impl>(io, std::move(options), std::move(handler))) {}
Server::~Server() = default;

namespace {

/// What keeps a server from listening there.
Error listen_fault(const char* what, const tcp::endpoint& endpoint, const bb::error_code& fault,
                   const ListenSetting& setting) {
    return {ErrorCode::kUnavailable,
            "cannot " + std::string(what) + " " + HostPort{endpoint.address().to_string(), endpoint.port()}.text() +
                ": " + fault.message() + "; " + listen_remedy(fault, setting),
            setting.place};
}

Result<tcp::endpoint> endpoint_of(const std::string& address, unsigned short port, const ListenSetting& setting) {
    bb::error_code fault;
    const asio::ip::address parsed = asio::ip::make_address(address, fault);
    if (fault)
        return invalid("'" + address + "' is not an IP address, which a service listens on; set another one with " +
                           setting.address + ", e.g. 127.0.0.1 or ::1",
                       setting.place);
    return tcp::endpoint(parsed, port);
}

}  // namespace

std::string listen_remedy(const bb::error_code& fault, const ListenSetting& setting) {
    if (fault == boost::system::errc::address_in_use)
        return "'ss -ltnp' names the program that listens there: end it, or set another port with " + setting.port;
    if (fault == boost::system::errc::address_not_available)
        return "set " + setting.address +
               " to an address of this host ('ip -br address' lists them), or to 0.0.0.0 or [::] with 'advertise' for "
               "all";
    if (fault == boost::system::errc::permission_denied) return port_remedy(own_port_rights(), setting);
    return "set another one with " + setting.address;
}

Result<void> check_listen_address(const std::string& address, unsigned short port, const ListenSetting& setting) {
    const Result<tcp::endpoint> endpoint = endpoint_of(address, port, setting);
    if (!endpoint) return endpoint.error();
    asio::io_context io;
    tcp::acceptor acceptor(io);
    bb::error_code fault;
    if (acceptor.open(endpoint->protocol(), fault)) return listen_fault("open a socket for", *endpoint, fault, setting);
    if (acceptor.bind({endpoint->address(), 0}, fault)) return listen_fault("bind", *endpoint, fault, setting);
    return check_port_right(port, own_port_rights(), setting);
}

bool is_loopback_address(const std::string& address) {
    bb::error_code fault;
    return asio::ip::make_address(address, fault).is_loopback() && !fault;
}

Result<void> Server::start() {
    bb::error_code fault;
    const ServerOptions& options = impl_->settings;
    const Result<tcp::endpoint> found = endpoint_of(options.address, options.port, options.setting);
    if (!found) return found.error();
    const tcp::endpoint& endpoint = *found;
    if (options.tls == nullptr && !endpoint.address().is_loopback()) {
        return invalid("refusing to listen on " + options.address +
                       " without TLS: plain HTTP is for loopback addresses only (127.0.0.1 or ::1)");
    }
    const auto failed = [&](const char* what) { return listen_fault(what, endpoint, fault, options.setting); };
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
std::size_t Server::bytes_kept() const { return impl_->anonymous->used(); }

void Server::drain() {
    impl_->stopping = true;
    asio::post(impl_->strand, [impl = impl_] {
        bb::error_code ignored;
        impl->acceptor.close(ignored);
        impl->back_off.cancel();
        for (const auto& [key, known] : impl->sessions) {
            if (const std::shared_ptr<AnySession> session = known.lock()) session->end_if_idle();
        }
    });
}

}  // namespace zbs::beast
