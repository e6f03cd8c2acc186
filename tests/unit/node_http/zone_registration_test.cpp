#include "services/node_agent/http/zone_registration.hpp"

#include <gtest/gtest.h>

#include "services/common/codec/node_codec.hpp"
#include "tests/support/node_messages.hpp"

namespace zbs {
namespace {

class FixedAnswer : public HttpClient {
  public:
    void call(HttpCall call, std::function<void(Result<HttpAnswer>)> respond) override {
        last = std::move(call);
        respond(answer);
    }
    HttpCall last;
    Result<HttpAnswer> answer = HttpAnswer{200, R"({"node":"node-1","lease_s":40})", {}};
};

class ZoneRegistrationTest : public testing::Test {
  protected:
    Result<NodeLease> send() {
        Result<NodeLease> got = Error{ErrorCode::kInternal, "no answer", {}};
        sender(test::some_node_registration(), [&](const Result<NodeLease>& lease) { got = lease; });
        return got;
    }
    const ServiceAddress zone{"https://z:1", {CallerKind::kZone, "alpha", "alpha-one"}};
    FixedAnswer client;
    ZoneSession::Send sender =
        make_registration_sender(client, {zone}, [](const std::function<void()>& work) { work(); });
};

TEST_F(ZoneRegistrationTest, PutsWhatTheNodeIsToItsPlaceAtTheZone) {
    const auto lease = send();
    ASSERT_TRUE(lease) << lease.error();
    EXPECT_EQ(lease->lease, std::chrono::seconds{40});
    EXPECT_EQ(client.last.method + " " + client.last.path, "PUT /v1/nodes/node-1");
    EXPECT_EQ(client.last.to, zone);
    EXPECT_EQ(*codec::decode_node_registration(*codec::parse(client.last.body)), test::some_node_registration());
}

TEST_F(ZoneRegistrationTest, AnythingButTheOwnLeaseIsAnError) {
    for (const HttpAnswer& bad : {HttpAnswer{200, "{}", {}}, HttpAnswer{200, "?", {}}, HttpAnswer{403, "{}", {}},
                                  HttpAnswer{200, R"({"node":"node-2","lease_s":40})", {}}}) {
        client.answer = bad;
        EXPECT_FALSE(send()) << bad.body;
    }
    client.answer = Error{ErrorCode::kTimeout, "late", {}};
    EXPECT_EQ(send().error().code, ErrorCode::kTimeout);
}

/// Of several schedulers one takes registrations.
class OneActive : public HttpClient {
  public:
    void call(HttpCall call, std::function<void(Result<HttpAnswer>)> respond) override {
        asked.push_back(call.to.url);
        if (call.to.url == active)
            respond(HttpAnswer{200, R"({"node":"node-1","lease_s":40})", {}});
        else
            respond(others);
    }
    std::vector<std::string> asked;
    std::string active;
    Result<HttpAnswer> others = HttpAnswer{503, R"({"status":503,"detail":"stands by"})", {}};
};

class SeveralSchedulers : public testing::Test {
  protected:
    Result<NodeLease> send() {
        client.asked.clear();
        Result<NodeLease> got = Error{ErrorCode::kInternal, "no answer", {}};
        sender(test::some_node_registration(), [&](const Result<NodeLease>& lease) { got = lease; });
        return got;
    }
    static ServiceAddress at(const char* url) { return {url, {CallerKind::kZone, "alpha", "alpha-one"}}; }
    OneActive client;
    ZoneSession::Send sender = make_registration_sender(client, {at("https://a:1"), at("https://b:1")},
                                                        [](const std::function<void()>& work) { work(); });
    using Asked = std::vector<std::string>;
};

TEST_F(SeveralSchedulers, TheOneThatTakesItIsAskedFirstTheNextTime) {
    client.active = "https://b:1";
    EXPECT_TRUE(send());
    EXPECT_EQ(client.asked, (Asked{"https://a:1", "https://b:1"}));
    EXPECT_TRUE(send());
    EXPECT_EQ(client.asked, (Asked{"https://b:1"}));
    client.active = "https://a:1";
    EXPECT_TRUE(send());
    EXPECT_EQ(client.asked, (Asked{"https://b:1", "https://a:1"}));
}

TEST_F(SeveralSchedulers, WhereNoneTakesItEachIsAskedOnceAndARefusalIsToldBeforeSilence) {
    EXPECT_EQ(send().error().code, ErrorCode::kUnavailable);
    EXPECT_EQ(client.asked.size(), 2U);
    client.others = HttpAnswer{403, R"({"status":403,"detail":"not of this zone"})", {}};
    EXPECT_EQ(send().error().code, ErrorCode::kDenied);
    EXPECT_EQ(client.asked.size(), 2U);
}

}  // namespace
}  // namespace zbs
