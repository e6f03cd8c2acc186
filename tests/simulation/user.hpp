#pragma once
#include <map>
#include <string>
#include <vector>

#include "client/calls/repeated_call.hpp"
#include "services/common/messages/application.hpp"
#include "tests/simulation/network.hpp"
#include "tests/simulation/timeline.hpp"

namespace zbs::simulation {

/// A scientist at her own machine: submits with ids that she keeps before she sends, asks again with the same id until
/// she is answered, looks at what she has, and now and then cancels.
class User {
  public:
    /// What she knows of one application.
    struct Known {
        ApplicationRequest request;
        bool accepted = false;  ///< the home zone said so
        bool refused = false;   ///< it said no, for good
        bool cancel_asked = false;
        bool cancelled = false;   ///< the home zone said that it will
        std::string state;        ///< last seen
        std::size_t history = 0;  ///< length of its history, last seen
        std::string complaint;    ///< what she saw that cannot be; empty: nothing
        bool ended() const;       ///< as far as she has seen
    };

    User(Timeline& time, Network& network, Rng rng, const std::string& organisation, const std::string& home,
         std::uint64_t id_stream);
    /// Submits an application of so many ranks now.
    void submit(int ranks);
    void cancel_one();
    const std::map<ApplicationId, Known>& known() const { return known_; }
    Host& host() { return host_; }
    const Caller& self() const { return self_; }

  private:
    void send(const ApplicationId& id);
    void look(const ApplicationId& id);
    void cancel(const ApplicationId& id);
    void call(HttpCall call, std::function<void(Result<HttpAnswer>)> respond);
    void make(HttpCall call, client::RepeatedCall repeated, std::function<void(Result<HttpAnswer>)> respond);

    Rng rng_;
    Caller self_;
    ServiceAddress zone_;
    Host host_;
    HostIds ids_;
    std::unique_ptr<HttpClient> client_;
    std::map<ApplicationId, Known> known_;
};

}  // namespace zbs::simulation
