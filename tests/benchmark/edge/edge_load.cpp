// A client that measures one HTTPS server: edge_load PORT new|keep THREADS SECONDS [PATH]
// `new`: a full TLS 1.3 handshake, one request and the end, again and again; `keep`: requests on connections that stay.
// Prints one JSON line: requests per second, and the time of one in microseconds (median, 99th percentile).
#include <algorithm>
#include <atomic>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using Stream = asio::ssl::stream<tcp::socket>;
using Clock = std::chrono::steady_clock;

struct Plan {
    unsigned short port = 0;
    bool keep = false;
    Clock::time_point end;
    std::string request;
};

void connect(Stream& stream, unsigned short port) {
    stream.lowest_layer().connect({asio::ip::make_address("127.0.0.1"), port});
    stream.lowest_layer().set_option(tcp::no_delay(true));
    stream.handshake(asio::ssl::stream_base::client);
}

/// One request; true for a reply with status 200.
bool ask(Stream& stream, const std::string& request) {
    asio::write(stream, asio::buffer(request));
    std::string reply;
    const std::size_t head = asio::read_until(stream, asio::dynamic_buffer(reply), "\r\n\r\n");
    const std::size_t field = reply.find("Content-Length: ");
    const std::size_t length = field < head ? std::strtoul(reply.c_str() + field + 16, nullptr, 10) : 0;
    if (reply.size() < head + length)
        asio::read(stream, asio::dynamic_buffer(reply), asio::transfer_exactly(head + length - reply.size()));
    return reply.rfind("HTTP/1.1 200", 0) == 0;
}

void work(const Plan& plan, std::vector<double>& times) {
    asio::io_context io;
    asio::ssl::context tls(asio::ssl::context::tls_client);
    tls.set_verify_mode(asio::ssl::verify_none);
    SSL_CTX_set_session_cache_mode(tls.native_handle(), SSL_SESS_CACHE_OFF);
    std::unique_ptr<Stream> stream;
    while (Clock::now() < plan.end) {
        const auto begin = Clock::now();
        if (!stream) {
            stream = std::make_unique<Stream>(io, tls);
            connect(*stream, plan.port);
        }
        if (!ask(*stream, plan.request)) std::fprintf(stderr, "edge_load: a reply was not 200\n"), std::exit(1);
        if (!plan.keep) stream.reset();
        times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 5) {
        std::fprintf(stderr, "usage: edge_load PORT new|keep THREADS SECONDS [PATH]\n");
        return 2;
    }
    const std::string path = argc > 5 ? argv[5] : "/livez";
    const double seconds = std::atof(argv[4]);
    const int threads = std::atoi(argv[3]);
    const Plan plan{static_cast<unsigned short>(std::atoi(argv[1])), std::string(argv[2]) == "keep",
                    Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds)),
                    "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n"};
    std::vector<std::vector<double>> times(static_cast<std::size_t>(threads));
    std::vector<std::thread> workers;
    try {
        for (auto& own : times) workers.emplace_back([&plan, &own] { work(plan, own); });
        for (std::thread& worker : workers) worker.join();
    } catch (const std::exception& fault) {
        std::fprintf(stderr, "edge_load: %s\n", fault.what());
        return 1;
    }
    std::vector<double> all;
    for (const auto& own : times) all.insert(all.end(), own.begin(), own.end());
    if (all.empty()) return 1;
    std::sort(all.begin(), all.end());
    std::printf("{\"requests_per_s\": %.0f, \"median_us\": %.1f, \"p99_us\": %.1f}\n",
                static_cast<double>(all.size()) / seconds, all[all.size() / 2], all[all.size() * 99 / 100]);
}
