// Whoever waits for answers may end once the caller is closed.
#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <future>

#include "services/common/adapters/cpprest/http_caller.hpp"

namespace zbs::test {
namespace {
namespace asio = boost::asio;

const Caller kZone{CallerKind::kZone, "org-a", "a"};

/// Takes connections and says nothing.
struct SilentPeer {
    asio::io_context io;
    asio::ip::tcp::acceptor acceptor{io, {asio::ip::make_address("127.0.0.1"), 0}};

    HttpCall call(int milliseconds) const {
        return {.to = {"http://127.0.0.1:" + std::to_string(acceptor.local_endpoint().port()), {}},
                .path = "/x",
                .deadline = std::chrono::milliseconds{milliseconds}};
    }
};

TEST(ClosedCaller, TellsNobodyOfWhatComesLater) {
    const SilentPeer peer;
    std::atomic<int> answers = 0;
    cpprest::HttpCaller caller({.self = kZone});
    caller.call(peer.call(100), [&](const Result<HttpAnswer>&) { ++answers; });
    caller.close();
    cpprest::HttpCaller other({.self = kZone});
    EXPECT_FALSE(other.call(peer.call(400))) << "later than the first one's deadline";
    EXPECT_EQ(answers, 0);
}

TEST(RefusedCall, NamesHostPortAndTheFaultOfTheSystem) {
    HttpCall call;
    {
        const SilentPeer gone;
        call = gone.call(5'000);
    }
    cpprest::HttpCaller caller({.self = kZone});
    const Result<HttpAnswer> answer = caller.call(call);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().message, "GET " + call.to.url + "/x failed: cannot connect to " + call.to.url.substr(7) +
                                          ": connection refused, or no route to the host");
}

TEST(ClosedCaller, WaitsForTheOneThatIsBeingTold) {
    const SilentPeer peer;
    std::promise<void> inside, go_on;
    std::atomic<bool> is_done = false;
    cpprest::HttpCaller caller({.self = kZone});
    caller.call(peer.call(50), [&](const Result<HttpAnswer>&) {
        inside.set_value();
        go_on.get_future().wait();
        is_done = true;
    });
    inside.get_future().wait();
    std::future<bool> closed = std::async(std::launch::async, [&] {
        caller.close();
        return is_done.load();
    });
    EXPECT_EQ(closed.wait_for(std::chrono::milliseconds{100}), std::future_status::timeout);
    go_on.set_value();
    EXPECT_TRUE(closed.get());
}

}  // namespace
}  // namespace zbs::test
