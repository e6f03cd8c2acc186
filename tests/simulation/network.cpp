#include "tests/simulation/network.hpp"

#include <memory>

namespace zbs::simulation {
namespace {

constexpr std::string_view kScheme = "https://";

}  // namespace

/// Calls of one host. The caller's answer is whichever comes first: the reply, the refusal, the deadline.
class Network::Client : public HttpClient {
  public:
    Client(Network& network, Host& host, Caller self) : network_(network), host_(host), self_(std::move(self)) {}

    void call(HttpCall call, std::function<void(Result<HttpAnswer>)> respond) override {
        if (!host_.step()) return;
        auto answered = std::make_shared<bool>(false);
        const auto answer = [answered, respond = std::move(respond)](Result<HttpAnswer> result) {
            if (std::exchange(*answered, true)) return;
            respond(std::move(result));
        };
        const std::string to = call.to.url.starts_with(kScheme) ? call.to.url.substr(kScheme.size()) : call.to.url;
        host_.after(call.deadline, [answer, to] {
            answer(Error{ErrorCode::kTimeout, to + " did not answer in time", {}});
        });
        const int copies = network_.rng_.uniform() < network_.weather.duplicates ? 2 : 1;
        for (int copy = 0; copy < copies; ++copy) send(call, to, answer);
    }

  private:
    void send(const HttpCall& call, const std::string& to, const std::function<void(Result<HttpAnswer>)>& answer) {
        Network& network = network_;
        ++network.messages_;
        const std::string from = host_.name();
        if (network.lost(from, to)) return;
        Result<http::Call> read = http::read_call(call, self_);
        network.time_.after(network.travel(), [&network, &host = host_, life = host_.life(), from, to, answer,
                                               expected = call.to.who, read = std::move(read)]() mutable {
            const auto back = [&network, &host, life, from, to, answer](Result<HttpAnswer> result) {
                ++network.messages_;
                if (network.lost(to, from) || life != host.life()) return;
                network.time_.after(network.travel(), [&host, life, answer, result = std::move(result)]() mutable {
                    if (life != host.life()) return;
                    host.after(Duration{0}, [answer, result = std::move(result)] { answer(result); });
                });
            };
            const auto place = network.served_.find(to);
            if (place == network.served_.end() || !place->second.host->is_up())
                return back(Error{ErrorCode::kUnavailable, to + " refused the connection", {}});
            if (!read) return back(read.error());
            Host& target = *place->second.host;
            // In the order in which they came, once the host is awake and free.
            target.after(Duration{0}, [&network, to, back, read = *std::move(read)]() mutable {
                const auto bend = network.bent_calls.find(read.caller().name);
                if (bend != network.bent_calls.end()) bend->second(read);
                const auto& serve = network.served_.at(to).serve;
                const http::Call seen = read;
                serve(std::move(read), [&network, to, back, seen](http::Reply reply) {
                    if (network.on_served) network.on_served(to, seen, reply);
                    const auto bent = network.bent_replies.find(to);
                    if (bent != network.bent_replies.end()) bent->second(seen, reply);
                    const bool later = reply.status == 429;
                    HttpAnswer served{reply.status, std::move(reply.body), {}, false, later};
                    served.date = std::chrono::floor<std::chrono::seconds>(network.served_.at(to).host->wall_now());
                    back(std::move(served));
                });
            });
        });
    }

    Network& network_;
    Host& host_;
    Caller self_;
};

std::unique_ptr<HttpClient> Network::client(Host& host, Caller self) {
    return std::make_unique<Client>(*this, host, std::move(self));
}

bool Network::lost(const std::string& from, const std::string& to) {
    if (gone.contains(from) || gone.contains(to)) return true;
    return cut.contains({from, to}) || rng_.uniform() < weather.loss;
}

Duration Network::travel() {
    Duration time =
        weather.delay +
        Duration{static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(weather.jitter.count()) + 1))};
    if (rng_.uniform() < weather.stragglers) time += Duration{static_cast<std::int64_t>(rng_.below(20'000'000))};
    return time;
}

}  // namespace zbs::simulation
