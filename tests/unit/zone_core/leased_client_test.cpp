#include "services/zone_scheduler/assembly/leased_client.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace zbs {
namespace {

class Seen : public HttpClient {
  public:
    void call(HttpCall call, std::function<void(Result<HttpAnswer>)> respond) override {
        paths.push_back(call.method + " " + call.path);
        respond(HttpAnswer{200, "{}"});
    }
    std::vector<std::string> paths;
};

struct OwnedJournal : Journal {
    bool ours = true;
    bool is_dirty() const override { return false; }
    Result<void> commit() override { return {}; }
    bool is_ours() const override { return ours; }
};

struct LeasedClientTest : testing::Test {
    Seen agents;
    OwnedJournal journal;
    int lost = 0, answers = 0;
    void send(std::int64_t turn, const char* method, const char* path) {
        LeasedClient client(agents, journal, turn, [this](const Error&) { ++lost; });
        client.call({.to = {}, .method = method, .path = path}, [this](const Result<HttpAnswer>&) { ++answers; });
    }
};

TEST_F(LeasedClientTest, NothingReachesAnAgentOnceAnotherHasTakenOver) {
    send(2, "PUT", "/v1/steps/a");
    journal.ours = false;
    send(2, "PUT", "/v1/steps/b");
    send(2, "GET", "/v1/steps");
    EXPECT_EQ(agents.paths, (std::vector<std::string>{"PUT /v1/steps/a?turn=2"}));
    EXPECT_EQ(lost, 2);
    EXPECT_EQ(answers, 1);
}

TEST_F(LeasedClientTest, OrdersNameTheTurnWhereThereIsOne) {
    send(7, "POST", "/v1/steps/a/stop");
    send(7, "PUT", "/v1/files/0?x=1");
    send(7, "GET", "/v1/steps?since=1");
    send(7, "DELETE", "/v1/steps/a?at_most=5");  // what has ended needs no turn
    send(0, "PUT", "/v1/slices");
    EXPECT_EQ(agents.paths,
              (std::vector<std::string>{"POST /v1/steps/a/stop?turn=7", "PUT /v1/files/0?x=1&turn=7",
                                        "GET /v1/steps?since=1", "DELETE /v1/steps/a?at_most=5", "PUT /v1/slices"}));
    EXPECT_EQ(lost, 0);
}

}  // namespace
}  // namespace zbs
