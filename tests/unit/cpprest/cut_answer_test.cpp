// A deadline that passes in the middle of an answer is distinguished from one that passes in silence.
#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>
#include <string>
#include <thread>

#include "services/common/adapters/cpprest/http_caller.hpp"

namespace zbs::test {
namespace {
namespace asio = boost::asio;

/// Takes one call, says `words` and then nothing until the caller goes away.
class Dripper {
  public:
    explicit Dripper(std::string words)
        : acceptor_(io_, {asio::ip::make_address("127.0.0.1"), 0}), thread_([this, words = std::move(words)] {
              boost::system::error_code fault;
              asio::ip::tcp::socket socket(io_);
              acceptor_.accept(socket, fault);
              asio::streambuf head;
              asio::read_until(socket, head, "\r\n\r\n", fault);
              asio::write(socket, asio::buffer(words), fault);
              char byte = 0;
              while (!fault) socket.read_some(asio::buffer(&byte, 1), fault);
          }) {}
    ~Dripper() { thread_.join(); }
    std::string url() const { return "http://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port()); }

  private:
    asio::io_context io_;
    asio::ip::tcp::acceptor acceptor_;
    std::thread thread_;
};

struct Case {
    const char* words;
    bool is_cut;
};

TEST(CutAnswer, IsToldBeforeTheDeadlineIs) {
    for (const Case& c : {Case{"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n {", true}, Case{"", false}}) {
        SCOPED_TRACE(c.words);
        Dripper peer(c.words);
        std::atomic<bool> cut = false;
        cpprest::HttpCaller caller({.self = {CallerKind::kZone, "org-a", "a"}});
        HttpCall call{.to = {peer.url(), {}}, .path = "/x", .deadline = std::chrono::milliseconds{400}};
        call.on_cut = [&] { cut = true; };
        const auto answer = caller.call(std::move(call));
        ASSERT_FALSE(answer);
        EXPECT_EQ(answer.error().code, ErrorCode::kTimeout);
        EXPECT_EQ(cut, c.is_cut);
    }
}

TEST(StreamedAnswer, EndsWithItsStream) {
    const Dripper peer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
    std::string body;
    cpprest::HttpCaller caller({.self = {CallerKind::kZone, "org-a", "a"}});
    HttpCall call{.to = {peer.url(), {}}, .path = "/x", .deadline = std::chrono::seconds{20}};
    call.on_piece = [&](std::string_view piece) {
        body += piece;
        return body.size() < 100;  // not for ever, if the end is not seen
    };
    const auto answer = caller.call(std::move(call));
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(body, "abcde");
}

}  // namespace
}  // namespace zbs::test
