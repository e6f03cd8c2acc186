#pragma once
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "services/common/http/call.hpp"

namespace zbs::beast {

struct ServerOptions {
    std::string address = "127.0.0.1";
    unsigned short port = 0;     ///< 0 = any free port
    int max_connections = 1024;  ///< further ones wait in the accept queue
    std::size_t max_header_bytes = 16 * 1024;
    std::size_t max_body_bytes = 16 * 1024 * 1024;
    std::chrono::milliseconds header_deadline{10'000};  ///< to send the whole head, also the idle time between requests
    std::chrono::milliseconds body_deadline{60'000};
    std::chrono::milliseconds handler_deadline{60'000};
    std::chrono::milliseconds write_deadline{30'000};
    std::chrono::milliseconds linger_deadline{2'000};  ///< for the rest of a refused request, read and thrown away
};

/// HTTP/1.1 server on Boost.Beast with a limit or deadline on everything. This is the edge: framing, sizes, times and
/// the caller's identity are settled here; what reaches the handler is a `Call`.
///
/// Plain HTTP is for loopback addresses only: `start` refuses any other address. There the caller names itself in the
/// header `Zbs-Identity`, because no certificate can; the header is read here and nowhere else.
class Server {
  public:
    /// Called on a thread of `io`; answers through the Respond, once, from any thread.
    using Handler = std::function<void(http::Call, http::Respond)>;

    Server(boost::asio::io_context& io, ServerOptions options, Handler handler);
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    /// Binds, listens and accepts. Errors: address not loopback or not an address, port taken.
    Result<void> start();
    unsigned short port() const;  ///< the real one, after start
    /// Stops accepting; connections end after the reply they are at, idle ones at once.
    void drain();
    /// Connections open now.
    int connections() const;

  private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace zbs::beast
