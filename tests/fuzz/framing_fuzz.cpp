#include <sys/socket.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "algorithms/base/rng.hpp"
#include "services/common/adapters/beast/server.hpp"

// Any bytes on a connection: where one request ends and the next one begins is the same for the real server and for a
// second reader of RFC 9112, written here without a look at the first. A request that the server hands over and the
// second reader does not see there, or with another body, is one that was smuggled. What the second reader finds
// faultless the server takes. With libFuzzer this is the whole program; without, a replay over generated requests.

namespace {
using namespace zbs;
namespace asio = boost::asio;

void require(bool holds, const char* what, std::string_view input) {
    if (holds) return;
    std::fprintf(stderr, "framing_fuzz: broken: %s: %.*s\n", what, static_cast<int>(input.size()), input.data());
    std::abort();
}

struct Seen {
    std::string method, target, body;
    bool operator==(const Seen&) const = default;
};

/// The second reader: the requests of a connection, up to the first that cannot be framed.
class Reference {
  public:
    explicit Reference(std::string_view bytes) : left_(bytes) {
        while (!is_closed_ && read_one()) {
        }
    }
    std::vector<Seen> requests;
    /// Of these so many are of the plain form that nobody may refuse.
    std::size_t plain = 0;
    bool is_unsure = false;  ///< whether the connection goes on depends on more than framing

  private:
    static bool is_digit(char c) { return c >= '0' && c <= '9'; }
    static bool is_token(std::string_view text) {
        for (const char c : text)
            if (!is_digit(c) && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') &&
                std::string_view("!#$%&'*+-.^_`|~").find(c) == std::string_view::npos)
                return false;
        return !text.empty();
    }
    static std::string lower(std::string_view text) {
        std::string out(text);
        for (char& c : out)
            if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
        return out;
    }
    static std::string_view trim(std::string_view text) {
        while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
        while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
        return text;
    }
    /// A line that ends with CRLF.
    std::optional<std::string_view> line() {
        const std::size_t end = left_.find("\r\n");
        if (end == std::string_view::npos) return std::nullopt;
        const std::string_view found = left_.substr(0, end);
        left_.remove_prefix(end + 2);
        return found;
    }
    std::optional<std::string_view> take(std::size_t size) {
        if (left_.size() < size) return std::nullopt;
        const std::string_view found = left_.substr(0, size);
        left_.remove_prefix(size);
        return found;
    }
    /// RFC 9112, 7.1.
    std::optional<std::string> chunked() {
        std::string body;
        for (;;) {
            const auto head = line();
            if (!head) return std::nullopt;
            std::size_t size = 0, digits = 0;
            for (; digits < head->size(); ++digits) {
                const char c = (*head)[digits];
                const int value = is_digit(c)              ? c - '0'
                                  : (c >= 'a' && c <= 'f') ? c - 'a' + 10
                                  : (c >= 'A' && c <= 'F') ? c - 'A' + 10
                                                           : -1;
                if (value < 0) break;
                if (size > (std::size_t{1} << 40)) return std::nullopt;
                size = size * 16 + static_cast<std::size_t>(value);
            }
            const std::string_view extension = trim(head->substr(digits));
            if (digits == 0 || (!extension.empty() && extension[0] != ';')) return std::nullopt;
            is_plain_ = is_plain_ && digits == head->size() && digits < 8;
            if (size == 0) break;
            const auto data = take(size);
            const auto end = take(2);
            if (!data || !end || *end != "\r\n") return std::nullopt;
            body += *data;
        }
        for (;;) {  // trailers
            const auto trailer = line();
            if (!trailer) return std::nullopt;
            if (trailer->empty()) return body;
            is_plain_ = false;
        }
    }
    bool read_one() {
        is_plain_ = true;
        const auto start = line();
        if (!start) return false;
        const std::size_t first = start->find(' ');
        const std::size_t second = first == std::string_view::npos ? first : start->find(' ', first + 1);
        if (second == std::string_view::npos) return false;
        const std::string_view version = start->substr(second + 1);
        if (version != "HTTP/1.1" && version != "HTTP/1.0") return false;
        std::vector<std::string> lengths, codings;
        std::size_t hosts = 0;
        bool closes = version == "HTTP/1.0";
        std::vector<std::string> fields;
        for (;;) {
            const auto field = line();
            if (!field) return false;
            if (field->empty()) break;
            const bool is_folded = field->front() == ' ' || field->front() == '\t';  // RFC 9112, 5.2
            if (is_folded && fields.empty()) return false;
            is_plain_ = is_plain_ && !is_folded;
            if (is_folded)
                fields.back() += " " + std::string(trim(*field));
            else
                fields.emplace_back(*field);
        }
        for (const std::string_view field : fields) {
            const std::size_t colon = field.find(':');
            if (colon == std::string_view::npos || !is_token(field.substr(0, colon))) return false;
            const std::string name = lower(field.substr(0, colon));
            const std::string value(trim(field.substr(colon + 1)));
            for (const char c : value) is_plain_ = is_plain_ && c > ' ' && c < 127;
            if (name == "content-length")
                lengths.push_back(value);
            else if (name == "transfer-encoding")
                codings.push_back(lower(value));
            else if (name == "host")
                ++hosts;
            else if (name == "connection")
                (lower(value) == "close" ? closes : is_unsure) = true;
            else
                is_plain_ = false;
        }
        if (!lengths.empty() && !codings.empty()) return false;
        if (codings.size() > 1 || (codings.size() == 1 && (codings[0] != "chunked" || version == "HTTP/1.0")))
            return false;
        if (lengths.size() > 1) return false;
        Seen seen{std::string(start->substr(0, first)), std::string(start->substr(first + 1, second - first - 1)), {}};
        if (!codings.empty()) {
            const auto body = chunked();
            if (!body) return false;
            seen.body = *body;
        } else if (!lengths.empty()) {
            if (lengths[0].empty() || lengths[0].size() > 9) return false;
            for (const char c : lengths[0])
                if (!is_digit(c)) return false;
            const auto body = take(std::strtoul(lengths[0].c_str(), nullptr, 10));
            if (!body) return false;
            seen.body = *body;
        }
        is_plain_ = is_plain_ && hosts == 1 && version == "HTTP/1.1" && seen.target.starts_with("/p") &&
                    seen.target.find_first_not_of("/abcdefghijklmnopqrstuvwxyz0123456789") == std::string::npos &&
                    (seen.method == "POST" || seen.method == "GET");
        if (is_plain_ && plain == requests.size()) ++plain;
        requests.push_back(std::move(seen));
        is_closed_ = closes;
        return true;
    }

    std::string_view left_;
    bool is_closed_ = false;
    bool is_plain_ = true;
};

/// The real server; what its handler is given by one connection.
class RealServer {
  public:
    RealServer()
        : server_(io_, {.max_body_bytes = 4096, .linger_deadline = std::chrono::milliseconds{50}},
                  [this](http::Call call, const http::Respond& respond) {
                      {
                          const std::lock_guard lock(mutex_);
                          seen_.push_back({call.method, call.path, call.body});
                      }
                      respond({200, "text/plain", "", {}});
                  }),
          work_(io_.get_executor()) {
        require(server_.start().has_value(), "no server", {});
        thread_ = std::thread([this] { io_.run(); });
    }
    ~RealServer() {
        work_.reset();
        io_.stop();
        thread_.join();
    }
    std::vector<Seen> read(std::string_view bytes) {
        asio::io_context io;
        asio::ip::tcp::socket socket(io);
        socket.connect({asio::ip::make_address("127.0.0.1"), server_.port()});
        boost::system::error_code fault;
        asio::write(socket, asio::buffer(bytes.data(), bytes.size()), fault);
        socket.shutdown(asio::ip::tcp::socket::shutdown_send, fault);
        char reply[4096];
        do socket.read_some(asio::buffer(reply), fault);
        while (!fault);  // the end of the connection: all that is handed over has been
        const std::lock_guard lock(mutex_);
        return std::exchange(seen_, {});
    }

  private:
    asio::io_context io_;
    std::mutex mutex_;
    std::vector<Seen> seen_;
    beast::Server server_;
    asio::executor_work_guard<asio::io_context::executor_type> work_;
    std::thread thread_;
};

std::uint64_t taken = 0, refused = 0;
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static RealServer server;
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const Reference reference(bytes);
    if (reference.is_unsure) return 0;
    const std::vector<Seen> seen = server.read(bytes);
    require(seen.size() <= reference.requests.size(), "a request that is none was handed over", bytes);
    for (std::size_t i = 0; i < seen.size(); ++i) {
        const Seen& wanted = reference.requests[i];
        require(seen[i].method == wanted.method && seen[i].body == wanted.body, "read as another request", bytes);
        require(i >= reference.plain || seen[i].target == wanted.target, "read as one for another path", bytes);
    }
    require(seen.size() >= reference.plain, "a request without fault was refused", bytes);
    taken += seen.size();
    refused += reference.requests.empty();
    return 0;
}

#ifndef ZBS_LIBFUZZER
int main(int argc, char** argv) {
    const std::uint64_t runs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 5000;
    static const std::vector<std::string> fields = {"Transfer-Encoding: chunked",
                                                    "Transfer-Encoding: chunked",
                                                    "transfer-encoding:Chunked\t",
                                                    "Transfer-Encoding: xchunked",
                                                    "Transfer-Encoding: identity",
                                                    "Transfer-Encoding: gzip",
                                                    "Transfer-Encoding: gzip, chunked",
                                                    "Transfer-Encoding: chunked, identity",
                                                    "Transfer-Encoding: chunked,",
                                                    "Transfer-Encoding : chunked",
                                                    "Transfer-Encoding: \x0b"
                                                    "chunked",
                                                    "Transfer-Encoding:",
                                                    "Content-Length: 5",
                                                    "Content-Length: 0",
                                                    "content-length:\t5 ",
                                                    "Content-Length: 5, 5",
                                                    "Content-Length: +5",
                                                    "Content-Length: 0x5",
                                                    "Content-Length: 5\x00",
                                                    "Content-Length:",
                                                    "Content-Length: 18446744073709551621",
                                                    "Connection: close",
                                                    "Expect: 100-continue",
                                                    " folded",
                                                    "X: y\n",
                                                    "X"};
    static const std::vector<std::string> bodies = {"5\r\nhello\r\n0\r\n\r\n",
                                                    "5;a=b\r\nhello\r\n0\r\n\r\n",
                                                    "05\r\nhello\r\n0\r\nX: y\r\n\r\n",
                                                    "5 \r\nhello\r\n0\r\n\r\n",
                                                    "5\nhello\n0\n\n",
                                                    "5\r\nhelloX\r\n0\r\n\r\n",
                                                    "fffffffffffffffff\r\n",
                                                    "0x5\r\nhello\r\n0\r\n\r\n",
                                                    "0\r\n\r\n",
                                                    "-1\r\n\r\n",
                                                    "hello",
                                                    "hell",
                                                    ""};
    for (std::uint64_t seed = 0; seed < runs; ++seed) {
        Rng rng(seed);
        std::string text;
        for (std::uint64_t n = 1 + rng.below(3); n > 0; --n) {
            text += rng.below(2) > 0 ? "POST /p" + std::to_string(n) : "GET /p";
            text += rng.below(16) > 0 ? " HTTP/1.1\r\n" : " HTTP/1.0\r\n";
            if (rng.below(16) > 0) text += "Host: a\r\n";
            for (std::uint64_t f = rng.below(3); f > 0; --f) text += fields[rng.below(fields.size())] + "\r\n";
            text += "\r\n" + (rng.below(2) > 0 ? bodies[rng.below(bodies.size())] : std::string{});
        }
        if (rng.below(4) == 0 && !text.empty()) text[rng.below(text.size())] = static_cast<char>(rng.below(256));
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    }
    require(taken > runs / 4 && refused > runs / 10, "hardly anything was read: the inputs are no use", {});
    std::printf("framing_fuzz: %llu connections, %llu requests read alike\n", static_cast<unsigned long long>(runs),
                static_cast<unsigned long long>(taken));
    return 0;
}
#endif
