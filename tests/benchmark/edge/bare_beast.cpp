// The least that Boost.Beast can do: an HTTPS server that answers {"status":"ok"} to everything, on as many threads as
// a zone uses, with none of the checks, limits and records of ours. bare_beast CERTIFICATE KEY prints its port.
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <cstdio>
#include <memory>
#include <thread>

namespace {

namespace asio = boost::asio;
namespace bb = boost::beast;
namespace bh = boost::beast::http;
using tcp = asio::ip::tcp;

class Session : public std::enable_shared_from_this<Session> {
  public:
    Session(tcp::socket socket, asio::ssl::context& tls) : stream_(std::move(socket), tls) {}
    void run() {
        stream_.async_handshake(asio::ssl::stream_base::server, [self = shared_from_this()](bb::error_code fault) {
            if (!fault) self->read();
        });
    }

  private:
    void read() {
        request_ = {};
        bh::async_read(stream_, buffer_, request_, [self = shared_from_this()](bb::error_code fault, std::size_t) {
            if (!fault) self->write();
        });
    }
    void write() {
        response_ = {};
        response_.version(11);
        response_.result(bh::status::ok);
        response_.set(bh::field::content_type, "application/json");
        response_.body() = R"({"status":"ok"})";
        response_.keep_alive(request_.keep_alive());
        response_.prepare_payload();
        bh::async_write(stream_, response_, [self = shared_from_this()](bb::error_code fault, std::size_t) {
            if (!fault && self->request_.keep_alive()) self->read();
        });
    }

    bb::ssl_stream<bb::tcp_stream> stream_;
    bb::flat_buffer buffer_;
    bh::request<bh::string_body> request_;
    bh::response<bh::string_body> response_;
};

void accept(asio::io_context& io, tcp::acceptor& acceptor, asio::ssl::context& tls) {
    acceptor.async_accept(asio::make_strand(io), [&](bb::error_code fault, tcp::socket socket) {
        if (fault) return;
        bb::error_code ignored;
        socket.set_option(tcp::no_delay(true), ignored);
        std::make_shared<Session>(std::move(socket), tls)->run();
        accept(io, acceptor, tls);
    });
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    asio::io_context io;
    asio::ssl::context tls(asio::ssl::context::tls_server);
    tls.use_certificate_chain_file(argv[1]);
    tls.use_private_key_file(argv[2], asio::ssl::context::pem);
    SSL_CTX_set_session_cache_mode(tls.native_handle(), SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(tls.native_handle(), SSL_OP_NO_TICKET);
    SSL_CTX_set_num_tickets(tls.native_handle(), 0);
    tcp::acceptor acceptor(io, {asio::ip::make_address("127.0.0.1"), 0});
    accept(io, acceptor, tls);
    std::printf("%u\n", acceptor.local_endpoint().port());
    std::fflush(stdout);
    asio::signal_set signals(io, SIGTERM, SIGINT);
    signals.async_wait([&io](bb::error_code, int) { io.stop(); });
    std::thread other([&io] { io.run(); });
    io.run();
    other.join();
}
