#pragma once
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "algorithms/base/rng.hpp"
#include "services/common/http/call.hpp"
#include "services/common/ports/http_client.hpp"
#include "tests/simulation/timeline.hpp"

namespace zbs::simulation {

/// The lines between simulated hosts: delay, loss, duplicates, reordering (by uneven delays), partitions in one or both
/// directions, and answers that somebody has bent. Carries whole HTTP calls and replies as the services write and read
/// them.
class Network {
  public:
    using Serve = std::function<void(http::Call, http::Respond)>;

    Network(Timeline& time, Chronicle& chronicle, Rng rng) : time_(time), chronicle_(chronicle), rng_(rng) {}

    struct Weather {
        Duration delay = std::chrono::milliseconds{5};    ///< shortest, one way
        Duration jitter = std::chrono::milliseconds{20};  ///< added, uniform
        double loss = 0;                                  ///< of each message, each way
        double duplicates = 0;                            ///< of each request
        double stragglers = 0;                            ///< messages that take up to 20 s
    };
    Weather weather;
    std::set<std::pair<std::string, std::string>> cut;  ///< from, to: nothing gets through
    std::set<std::string> gone;                         ///< hosts that answer nothing, not even a refusal
    /// Looks at each reply of a host on its way out and may change it.
    std::map<std::string, std::function<void(const http::Call&, http::Reply&)>> bent_replies;
    /// Looks at each call on its way in and may change it; the host that sends counts.
    std::map<std::string, std::function<void(http::Call&)>> bent_calls;
    /// Sees what a host answered to which call.
    std::function<void(const std::string& host, const http::Call&, const http::Reply&)> on_served;

    /// `serve` answers calls for the host while it is up. In place of its address there is its name.
    void attach(Host& host, Serve serve) { served_[host.name()] = {&host, std::move(serve)}; }
    /// How one life of a host calls others. Answers come to that life only.
    std::unique_ptr<HttpClient> client(Host& host, Caller self);
    std::uint64_t messages() const { return messages_; }

  private:
    class Client;
    struct Place {
        Host* host;
        Serve serve;
    };
    bool lost(const std::string& from, const std::string& to);
    Duration travel();

    Timeline& time_;
    Chronicle& chronicle_;
    Rng rng_;
    std::map<std::string, Place> served_;
    std::uint64_t messages_ = 0;
};

}  // namespace zbs::simulation
