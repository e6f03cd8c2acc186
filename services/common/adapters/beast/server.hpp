#pragma once
#include <boost/asio/io_context.hpp>
#include <boost/system/error_code.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "services/common/adapters/beast/byte_budget.hpp"
#include "services/common/http/call.hpp"

namespace zbs::beast {

class ServerTls;

/// What says where a server listens, for messages to whoever can change it.
struct ListenSetting {
    std::string address = "its setting";  ///< "'listen'"
    std::string port = address;
    std::string place{};  ///< "zone.toml:3"; empty where no file says it
};

/// What to do where an address cannot be listened on because of `fault`.
std::string listen_remedy(const boost::system::error_code& fault, const ListenSetting& setting);

/// Whether this host has the IP address `address`, and this process the right to listen on `port`, which is not tried:
/// another program, or this service itself, may have that one. Binds a free port of it for a moment. Errors are those
/// of `Server::start`.
Result<void> check_listen_address(const std::string& address, unsigned short port, const ListenSetting& setting);

/// True for a literal address that only this host reaches; plain HTTP is for these.
bool is_loopback_address(const std::string& address);

struct ServerOptions {
    std::string address = "127.0.0.1";
    unsigned short port = 0;  ///< 0 = any free port
    ListenSetting setting;
    int max_connections = 4096;  ///< a further one takes the place of the one that has been silent longest
    /// The same among callers without an identity; each costs some 90 KiB with TLS.
    int max_anonymous_connections = 1024;
    std::size_t max_header_bytes = 16 * 1024;
    std::size_t max_body_bytes = 16 * 1024 * 1024;
    std::chrono::milliseconds handshake_deadline{5'000};
    std::chrono::milliseconds header_deadline{10'000};  ///< to send the whole head, also the idle time between requests
    std::chrono::milliseconds body_deadline{60'000};
    /// A body that arrives slower than this in the mean, after the first `body_patience`, ends its connection.
    std::size_t body_bytes_per_second = 16 * 1024;
    std::chrono::milliseconds body_patience{10'000};
    /// How many bytes of the body of a call may be read, by its head and caller; none: the handler answers without the
    /// body. Called on any thread. Default, and upper bound: `max_body_bytes`.
    std::function<std::optional<std::size_t>(const http::Call& head)> body_limit;
    /// Bytes of requests and replies that the server keeps, of each caller and in all: of each address without an
    /// identity, of each name with one.
    ByteBudget::Limits anonymous_bytes{4 * 1024 * 1024, 32 * 1024 * 1024};
    ByteBudget::Limits named_bytes{128 * 1024 * 1024, 512 * 1024 * 1024};
    std::chrono::milliseconds handler_deadline{60'000};
    std::chrono::milliseconds write_deadline{30'000};
    std::chrono::milliseconds linger_deadline{2'000};  ///< for the rest of a refused request, read and thrown away
    /// What the other side has shown counts for so long before it is looked at again.
    std::chrono::milliseconds identity_age{30'000};
    /// Asked for each new connection, with where it comes from as in `http::Call::address`; one that is refused is
    /// closed before its handshake. None: all may come.
    std::function<bool(const std::string& address)> admit;
    std::shared_ptr<const ServerTls> tls;  ///< none: plain HTTP, on loopback addresses only
    /// Plain HTTP: what a caller must show in `Zbs-Token` beside the name in `Zbs-Identity`. Whoever can read it may be
    /// any user or operator; empty: names are not taken at all.
    std::string local_token;
};

/// HTTP/1.1 server on Boost.Beast with a limit or deadline on everything. This is the edge: framing, sizes, times and
/// the caller's identity are settled here; what reaches the handler is a `Call`.
///
/// With TLS the identity comes from the client's certificate, once per connection. Plain HTTP is for loopback addresses
/// only: `start` refuses any other address. There the caller names itself in the header `Zbs-Identity` and shows the
/// token of the service's own folder; zones and registries have no name there.
class Server {
  public:
    /// Called on a thread of `io`; answers through the Respond, once, from any thread.
    using Handler = std::function<void(http::Call, http::Respond)>;

    Server(boost::asio::io_context& io, ServerOptions options, Handler handler);
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    /// Binds, listens and accepts. Errors: no address, plain HTTP beyond loopback, port taken.
    Result<void> start();
    unsigned short port() const;  ///< the real one, after start
    /// Stops accepting; connections end after the reply they are at, idle ones at once.
    void drain();
    /// Connections open now.
    int connections() const;
    /// Bytes of requests and replies that the server keeps now for callers without an identity.
    std::size_t bytes_kept() const;

  private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace zbs::beast
