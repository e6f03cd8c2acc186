// A whole zone as its callers see it, without sockets: when it is ready, and how its lists are paged.
#include "services/zone_scheduler/assembly/zone_core.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/common/codec/json/json.hpp"
#include "services/common/codec/node_codec.hpp"
#include "tests/support/fake_executor.hpp"
#include "tests/support/fake_trust.hpp"
#include "tests/support/memory_audit_log.hpp"
#include "tests/support/memory_depot.hpp"
#include "tests/support/memory_store.hpp"
#include "tests/support/messages.hpp"
#include "tests/support/node_messages.hpp"
#include "tests/support/registry_fakes.hpp"
#include "tests/support/silent_log.hpp"
#include "tests/support/virtual_background.hpp"
#include "tests/support/virtual_clock.hpp"

namespace zbs::test {
namespace {

using codec::Json;
using testing::ElementsAre;

/// Nothing else is there.
class NobodyThere : public HttpClient {
  public:
    void call(HttpCall, std::function<void(Result<HttpAnswer>)> respond) override {
        respond(Error{ErrorCode::kUnavailable, "nobody is there", {}});
    }
};
class NothingToSync : public Journal {
  public:
    bool is_dirty() const override { return false; }
    bool is_ours() const override { return true; }
    Result<void> commit() override { return {}; }
};

class ZoneCoreTest : public testing::Test {
  protected:
    explicit ZoneCoreTest(ZoneConfig used = alpha_one(), const OwnKeys* own = nullptr)
        : config(std::move(used)), keys(own) {}
    static ZoneConfig alpha_one() {
        ZoneConfig config;
        config.zone = {"alpha-one", {{"m0", 4, 1.0}}};
        config.organisation = "alpha";
        config.contact = "operators of alpha";
        return config;
    }
    struct Answer {
        int status = 0;
        Json json;
    };
    Answer get(const std::string& path, const Caller& caller = {}) { return ask({.path = path}, caller); }
    Answer put_node(const std::string& name, const Caller& caller) {
        NodeRegistration registration = some_node_registration();
        registration.description.name = MachineName(name);
        return ask({.method = "PUT", .path = "/v1/nodes/" + name, .body = codec::dump(codec::encode(registration))},
                   caller);
    }
    Answer ask(const HttpCall& asked, const Caller& caller) {
        Answer answer;
        Result<http::Call> call = http::read_call(asked, caller);
        EXPECT_TRUE(call);
        core.serve(*std::move(call), [&](const http::Reply& reply) {
            answer = {reply.status, *codec::parse(reply.body)};
        });
        clock.settle();
        return answer;
    }
    /// One that has ended, as the store keeps it.
    std::string stored(const Caller& owner) { return stored(owner, clock.now()); }
    std::string stored(const Caller& owner, Time at) {
        Application made{owner, some_application_request(), {}};
        made.request.id = {ids.fresh(owner)};
        made.status.state = ApplicationState::kCompleted;
        made.status.history = {{ApplicationState::kAccepted, at}, {ApplicationState::kCompleted, at}};
        EXPECT_TRUE(store.insert(made));
        return to_string(made.request.id);
    }
    std::vector<std::string> listed(const Answer& answer) {
        std::vector<std::string> listed;
        for (const Json& row : answer.json.at("applications")) listed.push_back(row.at("id"));
        return listed;
    }

    const Caller ana{CallerKind::kUser, "alpha", "ana"};
    const Caller bob{CallerKind::kUser, "alpha", "bob"};
    const ZoneConfig config;
    const OwnKeys* const keys;
    VirtualClock clock;
    VirtualBackground background{clock};
    CountingIds ids;
    MemoryZoneStore store;
    MemorySiteStore site;
    NothingToSync journal;
    FakeExecutor executor{clock};
    MemoryDepot depot;
    NobodyThere client;
    FakeTrust trust;
    CountingSecrets secrets;
    MemoryAuditLog audit;
    SilentLog log;
    ZoneCore core{config,
                  {.clock = clock,
                   .background = background,
                   .ids = ids,
                   .store = store,
                   .site = site,
                   .journal = journal,
                   .executor = executor,
                   .depot = depot,
                   .client = client,
                   .post = [this](std::function<void()> work) { clock.after(Duration{0}, std::move(work)); },
                   .trust = trust,
                   .keys = keys,
                   .secrets = secrets,
                   .audit = audit,
                   .log = log,
                   .storage_failed = [](const Error&) {}},
                  "{}"};
};

TEST_F(ZoneCoreTest, IsReadyFromTheEndOfItsStartUntilItEnds) {
    const auto ready = [&] { return get("/readyz").status; };
    EXPECT_EQ(ready(), 503) << "before it has taken up what is stored";
    EXPECT_EQ(get("/healthz").status, 503);
    ASSERT_TRUE(core.resume());
    EXPECT_EQ(ready(), 503) << "before it has begun its own work";
    core.start();
    EXPECT_EQ(ready(), 200);
    EXPECT_EQ(get("/healthz").status, 200);
    core.leave();
    EXPECT_EQ(get("/healthz").status, 503);
    const Answer ending = get("/readyz");
    EXPECT_EQ(ending.status, 503);
    EXPECT_EQ(ending.json.at("code"), "unavailable");
    EXPECT_EQ(get("/livez").status, 200) << "it lives until it is gone";
}

class ZoneWithRegistry : public ZoneCoreTest {
  protected:
    ZoneWithRegistry() : ZoneCoreTest(listed(), &own_keys()) {}
    static const FakeKeys& own_keys() {
        static const FakeKeys made{{CallerKind::kZone, "alpha", "alpha-one"}, "BUNDLE of alpha"};
        return made;
    }
    static ZoneConfig listed() {
        ZoneConfig config = alpha_one();
        config.registry = {"https://reg:1", {CallerKind::kRegistry, "reg", "main"}};
        return config;
    }
};

TEST_F(ZoneWithRegistry, ShowsInsidersWithItsReadinessHowItStandsThere) {
    ASSERT_TRUE(core.resume());
    core.start();
    clock.settle();
    EXPECT_EQ(get("/readyz").json.dump(), R"({"status":"ok"})") << "anybody may ask that";
    const Json ready = get("/readyz", ana).json;
    EXPECT_EQ(ready.at("registry"), get("/v1/peerings", ana).json.at("registry"));
    EXPECT_EQ(ready.at("registry").at("url"), "https://reg:1");
    EXPECT_EQ(ready.at("registry").at("enrolled"), false);
}

TEST_F(ZoneCoreTest, AZoneThatCannotReadItsStoreNeverBecomesReady) {
    store.fault = Error{ErrorCode::kUnavailable, "disk", {}};
    EXPECT_FALSE(core.resume());
    EXPECT_EQ(get("/readyz").status, 503);
}

TEST_F(ZoneCoreTest, ANodeRegistersItselfAndIsOnRecordOnceALease) {
    ASSERT_TRUE(core.resume());
    core.start();
    const Caller node{CallerKind::kNode, "alpha", "n1"};
    const auto recorded = [&] {
        int count = 0;
        const std::vector<AuditRecord> records = *audit.read(1, 100);
        for (const AuditRecord& record : records) count += record.entry.action == "registerNode";
        return count;
    };
    ASSERT_EQ(put_node("n1", node).status, 200);
    EXPECT_EQ(recorded(), 1);
    clock.advance(std::chrono::seconds{10});
    EXPECT_EQ(put_node("n1", node).json.at("lease_s"), 40);
    EXPECT_EQ(recorded(), 1) << "that it is still there is no decision";
    EXPECT_EQ(put_node("n2", node).status, 404) << "another one's name";
    EXPECT_EQ(put_node("n1", {CallerKind::kNode, "beta", "n1"}).status, 403);
    EXPECT_EQ(put_node("n1", ana).status, 403);
    EXPECT_EQ(recorded(), 4) << "refusals are";
    clock.advance(std::chrono::seconds{41});
    const Json agents = get("/v1/nodes", ana).json.at("agents");
    ASSERT_EQ(agents.size(), 1U);
    EXPECT_EQ(agents[0].at("live"), false);
    EXPECT_FALSE(agents[0].contains("url")) << "for operators only";
    EXPECT_TRUE(get("/v1/nodes", {CallerKind::kOperator, "alpha", "olga"}).json.at("agents")[0].contains("url"));
    ASSERT_EQ(put_node("n1", node).status, 200);
    EXPECT_EQ(recorded(), 5);
}

TEST_F(ZoneCoreTest, ApplicationsAreListedInPagesNewestFirst) {
    std::vector<std::string> made;
    for (int i = 0; i < 5; ++i) {
        made.push_back(stored(ana));
        stored(bob);
    }
    ASSERT_TRUE(core.resume());
    core.start();
    const Answer first = get("/v1/applications?limit=2", ana);
    EXPECT_THAT(listed(first), ElementsAre(made[4], made[3]));
    const Answer second = get("/v1/applications?limit=2&after=" + first.json.at("next").get<std::string>(), ana);
    EXPECT_THAT(listed(second), ElementsAre(made[2], made[1]));
    const Answer last = get("/v1/applications?limit=2&after=" + second.json.at("next").get<std::string>(), ana);
    EXPECT_THAT(listed(last), ElementsAre(made[0]));
    EXPECT_FALSE(last.json.contains("next"));
    EXPECT_EQ(listed(get("/v1/applications", ana)).size(), 5U) << "others' are not hers";
    EXPECT_EQ(listed(get("/v1/applications", {CallerKind::kOperator, "alpha", "olga"})).size(), 10U);
}

TEST_F(ZoneCoreTest, AListGoesByTheZonesClockWhateverTheClockOfWhoMadeTheIds) {
    const Time noon = clock.now();
    std::vector<std::string> made;
    for (const int minute : {30, 10, 20, 10}) made.push_back(stored(ana, noon + std::chrono::minutes{minute}));
    ASSERT_TRUE(core.resume());
    core.start();
    const std::vector<std::string> newest_first = {made[0], made[2], made[3], made[1]};
    std::vector<std::string> seen;
    for (std::string query = "/v1/applications?limit=1", next;; query = "/v1/applications?limit=1&after=" + next) {
        const Answer page = get(query, ana);
        for (const std::string& id : listed(page)) seen.push_back(id);
        if (!page.json.contains("next")) break;
        next = page.json.at("next");
        stored(ana, noon + std::chrono::minutes{40});  // meanwhile
    }
    EXPECT_EQ(seen, newest_first);
}

TEST_F(ZoneCoreTest, AListBeginsAtAnInstantOfTheZonesClock) {
    const Time noon = clock.now();  // 2023-11-14T22:13:20Z
    std::vector<std::string> made;
    for (const int second : {2, 1, 0}) made.push_back(stored(ana, noon + std::chrono::seconds{second}));
    ASSERT_TRUE(core.resume());
    core.start();
    EXPECT_THAT(listed(get("/v1/applications?since=2023-11-14T22:13:21Z", ana)), ElementsAre(made[0], made[1]));
    EXPECT_THAT(listed(get("/v1/applications?since=2023-11-14T23:13:21.000001%2B01:00", ana)), ElementsAre(made[0]));
    EXPECT_FALSE(get("/v1/applications?limit=3&since=2023-11-14T22:13:21Z", ana).json.contains("next"))
        << "the list ends there";
}

TEST_F(ZoneCoreTest, APageThatEndsWithTheLastOneLeadsToAnEmptyOne) {
    const std::string only = stored(ana);
    ASSERT_TRUE(core.resume());
    core.start();
    const Answer full = get("/v1/applications?limit=1", ana);
    const Answer after = get("/v1/applications?limit=1&after=" + full.json.at("next").get<std::string>(), ana);
    EXPECT_TRUE(listed(after).empty());
    EXPECT_FALSE(after.json.contains("next"));
    for (const char* bad :
         {"limit=-1", "limit=x", "after=x", "after=01J9Z3V7Q0ABCDEFGHJKMNPQRS", "next=1", "after=-1", "after=5-",
          "after=-01J9Z3V7Q0ABCDEFGHJKMNPQRS", "after=99999999999999999999-01J9Z3V7Q0ABCDEFGHJKMNPQRS",
          "after=5-01J9Z3V7Q0", "since=1h", "since=2026-11-24", "since=2026-11-24T13:00:00", "since=1795525205000000"})
        EXPECT_EQ(get(std::string("/v1/applications?") + bad, ana).status, 400) << bad;
}

}  // namespace
}  // namespace zbs::test
