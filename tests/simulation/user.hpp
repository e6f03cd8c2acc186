#pragma once
#include <map>
#include <string>
#include <vector>

#include "client/calls/repeated_call.hpp"
#include "services/common/messages/application.hpp"
#include "tests/simulation/network.hpp"
#include "tests/simulation/observed_history.hpp"
#include "tests/simulation/timeline.hpp"

namespace zbs::simulation {

/// A scientist at her own machine: submits with ids that she keeps before she sends, asks again with the same id until
/// she is answered, looks at what she has, and now and then cancels. A second machine of hers looks, too, whenever it
/// likes; what the two see of one application must fit together.
class User {
  public:
    /// What she knows of one application.
    struct Known {
        ApplicationRequest request;
        bool accepted = false;  ///< the home zone said so
        bool refused = false;   ///< it said no, for good
        bool cancel_asked = false;
        bool cancelled = false;  ///< the home zone said that it will
        std::string state;       ///< last seen at her own machine
        Duration sent{};         ///< when she submitted it
        ObservedHistory observed;
        std::string complaint;  ///< what she saw that cannot be; empty: nothing
        bool ended() const;     ///< as far as she has seen
    };

    User(Timeline& time, Network& network, Rng rng, const OrganisationName& organisation, const std::string& home,
         std::uint64_t id_stream);
    /// Submits an application of so many ranks now.
    void submit(int ranks);
    void cancel_one();
    /// The second machine looks at one of her applications, and does so again until then.
    void glance_until(Duration end);
    const std::map<ApplicationId, Known>& known() const { return known_; }
    const Caller& self() const { return self_; }

  private:
    struct Machine {
        Host host;
        std::unique_ptr<HttpClient> client;
    };
    void send(const ApplicationId& id);
    void hand_in(const ApplicationId& id);
    void look(const ApplicationId& id);
    void cancel(const ApplicationId& id);
    void glance();
    void call(Machine& from, HttpCall call, std::function<void(Result<HttpAnswer>)> respond);
    void make(Machine& from, HttpCall call, client::RepeatedCall repeated,
              std::function<void(Result<HttpAnswer>)> respond);
    void observe(Known& mine, const ObservedHistory::Question& question, const Result<HttpAnswer>& answer);

    Timeline& time_;
    Rng rng_;
    Caller self_;
    ServiceAddress zone_;
    Machine own_, second_;
    HostIds ids_;
    std::map<ApplicationId, Known> known_;
};

}  // namespace zbs::simulation
