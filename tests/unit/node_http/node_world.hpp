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
                               .executor = executor,
                               .control = control,
                               .sensor = sensor,
                               .switcher = switcher,
                               .post_switch = [](const std::function<void()>& work) { work(); },
                               .inputs = inputs,
                               .log = log},
                     "n1", "/steps/{operation}/job"};
    NodeServices services{node, inputs, {CallerKind::kNode, "alpha", "n1"}, kZoneOfNode, node_contract()};
    http::Router router = make_node_routes(services);

    NodeWorld() {
        router.guard([this](Action action, const http::Call& call) {
            return to_result(check_node_call(services, action, call));
        });
        node.resume();
    }
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
        read->path = *http::decode_percent(read->path);  // as the edge does
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
