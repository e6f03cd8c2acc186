#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "services/common/adapters/beast/request_head.hpp"
#include "services/common/adapters/beast/server.hpp"
#include "services/common/http/reply.hpp"

// The real server on a loopback port, and clients that are bare sockets: what arrives is byte for byte what stands
// here.

namespace zbs::beast {
namespace asio = boost::asio;
using asio::ip::tcp;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

inline constexpr milliseconds kPatience{10'000};

/// A client's end of one connection.
class Client {
  public:
    explicit Client(unsigned short port) : socket_(io_) {
        socket_.connect({asio::ip::make_address("127.0.0.1"), port});
    }

    /// False where the server has closed.
    bool send(std::string_view text) {
        boost::system::error_code fault;
        asio::write(socket_, asio::buffer(text), fault);
        return !fault;
    }
    /// The next whole reply, head and body as they came; what there is of it where the connection ends or nothing
    /// comes.
    std::string reply(milliseconds patience = kPatience) {
        const auto end = Clock::now() + patience;
        for (;;) {
            if (const auto whole = take_reply()) return *whole;
            if (!read_more(end)) return std::exchange(buffer_, {});
        }
    }
    /// True once `text` is the next that comes.
    bool comes(const std::string& text) {
        const auto end = Clock::now() + kPatience;
        while (buffer_.size() < text.size() && read_more(end)) {
        }
        if (!buffer_.starts_with(text)) return false;
        buffer_.erase(0, text.size());
        return true;
    }
    /// True once the server has closed its end and all it sent has been read.
    bool closed(milliseconds patience = kPatience) {
        const auto end = Clock::now() + patience;
        while (read_more(end)) {
        }
        return ended_;
    }
    void finish() { socket_.shutdown(tcp::socket::shutdown_send); }

  private:
    std::optional<std::string> take_reply() {
        const std::size_t head = buffer_.find("\r\n\r\n");
        if (head == std::string::npos) return std::nullopt;
        const std::size_t at = buffer_.find("Content-Length: ");
        const std::size_t body = at < head ? std::stoul(buffer_.substr(at + 16)) : 0;
        if (buffer_.size() < head + 4 + body) return std::nullopt;
        std::string whole = buffer_.substr(0, head + 4 + body);
        buffer_.erase(0, whole.size());
        return whole;
    }
    bool read_more(Clock::time_point end) {
        const auto left = std::chrono::duration_cast<milliseconds>(end - Clock::now()).count();
        pollfd waiting{socket_.native_handle(), POLLIN, 0};
        if (ended_ || left <= 0 || poll(&waiting, 1, static_cast<int>(left)) <= 0) return false;
        char chunk[4096];
        boost::system::error_code fault;
        const std::size_t got = socket_.read_some(asio::buffer(chunk), fault);
        if (fault) return ended_ = true, false;
        buffer_.append(chunk, got);
        return true;
    }

    asio::io_context io_;
    tcp::socket socket_;
    std::string buffer_;
    bool ended_ = false;
};

/// A body whose pieces the test gives.
class PiecesOfTest : public http::Stream {
  public:
    explicit PiecesOfTest(std::atomic<int>& open) : open_(open) { ++open_; }
    ~PiecesOfTest() override { --open_; }
    void next(std::function<void(std::string)> give) override {
        std::unique_lock lock(mutex_);
        ++asked_;
        if (pieces_.empty()) {
            waiting_ = std::move(give);
            return;
        }
        std::string piece = endless_ ? pieces_.front() : std::move(pieces_.front());
        if (!endless_) pieces_.erase(pieces_.begin());
        lock.unlock();
        give(std::move(piece));
    }
    void push(std::string piece) {
        std::unique_lock lock(mutex_);
        if (const auto give = std::exchange(waiting_, nullptr)) {
            lock.unlock();
            return give(std::move(piece));
        }
        pieces_.push_back(std::move(piece));
    }
    void repeat(std::string piece) {
        endless_ = true;
        push(std::move(piece));
    }
    int asked() const { return asked_; }

  private:
    std::atomic<int>& open_;
    std::mutex mutex_;
    std::vector<std::string> pieces_;
    std::function<void(std::string)> waiting_;
    std::atomic<bool> endless_{false};
    std::atomic<int> asked_{0};
};

/// A server with two threads that answers every call with what it was given.
class ServerTest : public testing::Test {
  protected:
    ~ServerTest() override { stop(); }

    void start(ServerOptions options = {}) {
        if (options.local_token.empty()) options.local_token = "token-of-this-folder";
        server_.emplace(io_, options, [this](http::Call call, http::Respond respond) {
            handle(std::move(call), std::move(respond));
        });
        const auto started = server_->start();
        ASSERT_TRUE(started) << started.error();
        work_.emplace(io_.get_executor());
        for (int i = 0; i < 2; ++i) threads_.emplace_back([this] { io_.run(); });
    }
    void stop() {
        if (threads_.empty()) return;
        answer_held();
        server_->drain();
        work_.reset();
        const auto end = Clock::now() + kPatience;
        while (server_->connections() > 0 && Clock::now() < end) std::this_thread::yield();
        io_.stop();
        for (std::thread& thread : threads_) thread.join();
        threads_.clear();
    }
    Client connect() { return Client(server_->port()); }
    /// One request of the connection, with these further header lines, gets 200.
    static void expect_good_reply(Client& client, const std::string& headers = {}) {
        client.send("GET / HTTP/1.1\r\nHost: a\r\n" + headers + "\r\n");
        EXPECT_TRUE(client.reply().starts_with("HTTP/1.1 200"));
    }
    std::string ask(std::string_view request) {
        Client client = connect();
        client.send(request);
        return client.reply();
    }
    bool wait_for_kept(std::size_t bytes) {
        const auto end = Clock::now() + kPatience;
        while (server_->bytes_kept() < bytes && Clock::now() < end) std::this_thread::yield();
        return server_->bytes_kept() >= bytes;
    }
    bool wait_until_nothing_is_kept() {
        const auto end = Clock::now() + kPatience;
        while (server_->bytes_kept() > 0 && Clock::now() < end) std::this_thread::yield();
        return server_->bytes_kept() == 0;
    }
    bool wait_for_connections(int count) {
        const auto end = Clock::now() + kPatience;
        while (server_->connections() != count && Clock::now() < end) std::this_thread::yield();
        return server_->connections() == count;
    }
    /// Calls of /hold get no answer before this.
    void answer_held() {
        std::vector<http::Respond> held;
        {
            const std::lock_guard lock(mutex_);
            held.swap(held_);
        }
        for (const http::Respond& respond : held) respond({200, "text/plain", "late", {}});
    }
    bool wait_for_held(std::size_t count) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, kPatience, [&] { return held_.size() == count; });
    }
    int handled() const { return handled_; }
    /// What calls of /stream get, from the second on nothing; and how many of such are held by anybody.
    std::shared_ptr<PiecesOfTest> make_stream() { return stream_ = std::make_shared<PiecesOfTest>(streams_); }
    bool wait_for_streams(int count) {
        const auto end = Clock::now() + kPatience;
        while (streams_ != count && Clock::now() < end) std::this_thread::yield();
        return streams_ == count;
    }

    asio::io_context io_;  // outlives the server
    std::optional<Server> server_;

  private:
    void handle(http::Call call, http::Respond respond) {
        ++handled_;
        if (call.path == "/hold") {
            const std::lock_guard lock(mutex_);
            held_.push_back(std::move(respond));
            changed_.notify_all();
            return;
        }
        if (call.path == "/json") return respond({200, "application/json", "{}", {}});
        if (call.path == "/stream") return respond({200, "text/plain", "begin", {}, std::exchange(stream_, nullptr)});
        if (call.path == "/twice") respond({200, "text/plain", "first", {}});
        if (call.path == "/inject")
            return respond({200, "text/plain", "", {{"X-Bad", "a\r\nX-Evil: 1"}, {"X-Good", "b"}}});
        std::string text = call.method + " " + call.path + " [" + call.body + "] " + to_uri(call.caller());
        for (const auto& [key, value] : call.query) text += " " + key + "=" + value;
        respond({200, "text/plain", text, {}});
    }

    std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work_;
    std::vector<std::thread> threads_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<http::Respond> held_;
    std::shared_ptr<PiecesOfTest> stream_;
    std::atomic<int> streams_{0};
    std::atomic<int> handled_{0};
};

inline constexpr const char* kToken = "token-of-this-folder";
/// A named call on a plain connection.
inline std::string as(const std::string& name, const std::string& token = kToken) {
    return "Zbs-Identity: " + name + "\r\nZbs-Token: " + token + "\r\n";
}
inline std::string get(const std::string& target, const std::string& headers = {}) {
    return "GET " + target + " HTTP/1.1\r\nHost: a\r\n" + headers + "\r\n";
}
inline std::string post(const std::string& body) {
    return "POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}
inline testing::Matcher<const std::string&> HasStatus(int status) {
    return StartsWith("HTTP/1.1 " + std::to_string(status) + " ");
}

}  // namespace zbs::beast
