#pragma once
#include <gtest/gtest.h>
#include <memory>

#include <optional>
#include <string>
#include <utility>

#include "schemas/contract.hpp"
#include "services/common/http/node_client.hpp"
#include "services/node_agent/http/node_routes.hpp"
#include "tests/support/fake_executor.hpp"
#include "tests/support/memory_depot.hpp"
#include "tests/support/node_fakes.hpp"
#include "tests/support/silent_log.hpp"

namespace zbs::test {

inline const Caller kZoneOfNode{CallerKind::kZone, "alpha", "alpha-one"};

/// Another agent, as one that probes it sees it: brings what it is asked for after half a millisecond, and a
/// microsecond more per byte; the agent that probes answers itself after 80 us.
class FakePeer : public HttpClient {
  public:
    explicit FakePeer(VirtualClock& clock) : clock_(clock) {}
    void call(HttpCall call, std::function<void(Result<HttpAnswer>)> respond) override {
        calls.push_back(call);
        const std::size_t bytes = std::stoul(call.path.substr(call.path.find('=') + 1));
        const bool is_own = call.to.who.name == "n1";
        if (is_own && own && own_answers-- <= 0) return respond_after(Duration{0}, *own, std::move(respond));
        if (is_own && is_deaf_to_itself)  // nothing comes before its time is over
            return respond_after(call.deadline, Error{ErrorCode::kTimeout, "no answer", {}}, std::move(respond));
        if (is_silent) return;
        const std::int64_t way = is_own ? 80 : 500;
        clock_.after(Duration{way + static_cast<std::int64_t>(bytes)}, [this, is_own, bytes,
                                                                        respond = std::move(respond)] {
            respond(answer && !is_own ? *answer : Result<HttpAnswer>(HttpAnswer{200, std::string(bytes, '\0'), {}}));
        });
    }
    std::vector<HttpCall> calls;
    std::optional<Result<HttpAnswer>> answer;  ///< in place of its own
    std::optional<Result<HttpAnswer>> own;     ///< of the agent that probes, to itself,
    int own_answers = 0;                       ///< after so many good ones
    bool is_deaf_to_itself = false;            ///< the agent that probes
    bool is_silent = false;

  private:
    void respond_after(Duration wait, Result<HttpAnswer> what, std::function<void(Result<HttpAnswer>)> respond) {
        clock_.after(wait, [what = std::move(what), respond = std::move(respond)] { respond(what); });
    }
    VirtualClock& clock_;
};

/// An agent without a network: its routes over fakes, and who calls them.
struct NodeWorld {
    VirtualClock clock;
    FakeExecutor executor{clock};
    FakeProcessControl control;
    FakeMachineSensor sensor;
    SilentLog log;
    SliceSwitcher switcher{clock, control, log};
    MemoryDepot depot;
    InputStore inputs{depot, clock, log, 64 << 20};
    NodeService node{NodePorts{.clock = clock,
                               .steps = executor,
                               .files = executor,
                               .control = control,
                               .sensor = sensor,
                               .switcher = switcher,
                               .post_switch = [](const std::function<void()>& work) { work(); },
                               .inputs = inputs,
                               .log = log},
                     "n1", "/steps/{operation}/job"};
    FakePeer peer{clock};
    LinkProbe probe{{.client = peer,
                     .clock = clock,
                     .post = [](const std::function<void()>& work) { work(); },
                     .self = {"https://n1:1", {CallerKind::kNode, "alpha", "n1"}},
                     .done = [this] { ++probes_done; }}};
    int probes_done = 0;
    ProbeBudget budget;
    NodeServices services{node,        inputs,         probe, budget, clock, {CallerKind::kNode, "alpha", "n1"},
                          kZoneOfNode, node_contract()};
    http::Router router = make_node_routes(services, {.guard = [this](Action action, const http::Call& call) {
                                               const Result<void> allowed =
                                                   to_result(check_node_call(services, action, call));
                                               return allowed ? check_turn(services, call) : allowed;
                                           }});

    NodeWorld() { node.resume(); }
};

/// Calls go to the world's routes as `who`; answers come when the clock settles, as from a network.
class LocalClient : public HttpClient {
  public:
    LocalClient(NodeWorld& world, Caller who) : world_(world), who_(std::move(who)) {}
    void call(HttpCall call, std::function<void(Result<HttpAnswer>)> respond) override {
        last = call;
        if (forged) return respond_later(std::move(respond), *forged);
        Result<http::Call> read = http::read_call(call, who_);
        ASSERT_TRUE(read);
        world_.router.dispatch(*std::move(read), [this, respond = std::move(respond)](http::Reply reply) {
            HttpAnswer answer{reply.status, std::move(reply.body), {}};
            respond_later(respond, std::move(answer));
        });
    }
    std::optional<HttpCall> last;
    std::optional<Result<HttpAnswer>> forged;  ///< in place of the agent's own answers

  private:
    void respond_later(std::function<void(Result<HttpAnswer>)> respond, Result<HttpAnswer> answer) {
        world_.clock.after(Duration{0},
                           [respond = std::move(respond), answer = std::move(answer)] { respond(answer); });
    }
    NodeWorld& world_;
    Caller who_;
};

}  // namespace zbs::test
