#include "services/common/http/rest_transport.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/common/codec/message_codec.hpp"
#include "tests/support/messages.hpp"

namespace zbs::test {
namespace {

/// Gives every call the same answer.
class OneAnswer : public HttpClient {
  public:
    explicit OneAnswer(Result<HttpAnswer> answer) : answer_(std::move(answer)) {}
    void call(HttpCall, std::function<void(Result<HttpAnswer>)> respond) override { respond(answer_); }

  private:
    Result<HttpAnswer> answer_;
};

struct HoldCase {
    const char* name;
    std::function<Result<HttpAnswer>(PartStatus honest)> answer;
    bool is_bad;
};

Result<HttpAnswer> created(const PartStatus& status) {
    return HttpAnswer{.status = 201, .body = codec::dump(codec::encode(status))};
}

class HoldAnswers : public testing::TestWithParam<HoldCase> {};
INSTANTIATE_TEST_SUITE_P(
    , HoldAnswers,
    testing::Values(
        HoldCase{"Honest", [](PartStatus s) { return created(s); }, false},
        HoldCase{"RefusedWithAReason",
                 [](PartStatus) {
                     return Result<HttpAnswer>(
                         HttpAnswer{.status = 422, .body = "{\"code\":\"rejected\",\"detail\":\"full\"}"});
                 },
                 false},
        HoldCase{"NoAnswer",
                 [](PartStatus) {
                     return Result<HttpAnswer>(Error{ErrorCode::kTimeout, "silence", {}});
                 },
                 false},
        HoldCase{"FarTooLarge",
                 [](PartStatus) {
                     return Result<HttpAnswer>(Error{ErrorCode::kTooLarge, "400 MB", {}});
                 },
                 true},
        HoldCase{"NoJson", [](PartStatus) { return Result<HttpAnswer>(HttpAnswer{.status = 201, .body = "{held"}); },
                 true},
        HoldCase{"WrongTypes",
                 [](PartStatus) { return Result<HttpAnswer>(HttpAnswer{.status = 201, .body = "{\"id\":7}"}); }, true},
        HoldCase{"AnotherPart",
                 [](PartStatus s) {
                     s.id = PartId{some_id(9)};
                     return created(s);
                 },
                 true},
        HoldCase{"OtherRanks",
                 [](PartStatus s) {
                     s.assignment[1].rank = 5;
                     return created(s);
                 },
                 true},
        HoldCase{"TooFewRanks",
                 [](PartStatus s) {
                     s.assignment.pop_back();
                     return created(s);
                 },
                 true},
        HoldCase{"OneProcessorTwice",
                 [](PartStatus s) {
                     s.assignment[1].machine = s.assignment[0].machine;
                     s.assignment[1].processor = s.assignment[0].processor;
                     return created(s);
                 },
                 true}),
    [](const auto& param_info) { return param_info.param.name; });

/// Begins to answer, and is still at it when the deadline comes.
class Drip : public HttpClient {
  public:
    explicit Drip(bool begins) : begins_(begins) {}
    void call(HttpCall call, std::function<void(Result<HttpAnswer>)> respond) override {
        if (begins_) call.on_cut();
        respond(Error{ErrorCode::kTimeout, "late", {}});
    }

  private:
    bool begins_;
};

TEST(RestTransport, WhoseAnswerIsCutIsToldAndWhoIsSilentIsNot) {
    for (const bool begins : {true, false}) {
        std::vector<std::string> cut, bad;
        http::RestTransportOptions options{.client = std::make_unique<Drip>(begins),
                                           .self = {CallerKind::kZone, "alpha", "alpha-one"},
                                           .post = [](const std::function<void()>& work) { work(); }};
        options.cut_answer = [&](const Caller& who, const Error&) { cut.push_back(who.name); };
        options.bad_answer = [&](const Caller& who, const Error&) { bad.push_back(who.name); };
        const auto transport = http::make_rest_transport(std::move(options));
        std::optional<Result<PartStatus>> answer;
        transport->part_status({"https://beta", {CallerKind::kZone, "beta", "beta-one"}}, PartId{some_id(1)},
                               [&](const Result<PartStatus>& status) { answer = status; });
        ASSERT_TRUE(answer);
        EXPECT_EQ(answer->error().code, ErrorCode::kTimeout);
        EXPECT_EQ(cut, begins ? std::vector<std::string>{"beta-one"} : std::vector<std::string>{});
        EXPECT_TRUE(bad.empty());
    }
}

/// A refusal has the header Date as well: a certificate may count for nothing because of a clock.
TEST(RestTransport, TheClockOfAServiceIsSeenWithItsAnswersAndRefusals) {
    const Time sent = time_from_microseconds(1'700'000'000'000'000);
    for (const int status : {200, 401}) {
        for (const auto& [date, expected] : {std::pair{sent + std::chrono::seconds{75}, std::chrono::seconds{74}},
                                             {sent - std::chrono::seconds{75}, std::chrono::seconds{-74}},
                                             {sent + std::chrono::seconds{1}, std::chrono::seconds{0}}}) {
            std::vector<std::pair<std::string, Duration>> seen;
            http::RestTransportOptions options{
                .client = std::make_unique<OneAnswer>(HttpAnswer{.status = status, .body = "{}", .date = date}),
                .self = {CallerKind::kZone, "alpha", "alpha-one"},
                .post = [](const std::function<void()>& work) { work(); }};
            Time now = sent;
            options.now = [&now] { return std::exchange(now, now + std::chrono::seconds{1}); };
            options.clock_seen = [&](const Caller& who, Duration ahead) { seen.emplace_back(who.name, ahead); };
            const auto transport = http::make_rest_transport(std::move(options));
            transport->fetch_trust({"https://beta", {CallerKind::kZone, "beta", "beta-one"}},
                                   [](const Result<TrustStatement>&) {});
            EXPECT_EQ(seen, (std::vector<std::pair<std::string, Duration>>{{"beta-one", expected}}));
        }
    }
}

/// Keeps the traces of the calls that it gets; answers none well.
class TracesOfCalls : public HttpClient {
  public:
    explicit TracesOfCalls(std::vector<std::string>& seen) : seen_(seen) {}
    void call(HttpCall call, std::function<void(Result<HttpAnswer>)> respond) override {
        seen_.push_back(call.path.substr(0, 9) + " " + call.trace.id);
        respond(Error{ErrorCode::kTimeout, "late", {}});
    }

  private:
    std::vector<std::string>& seen_;
};

TEST(RestTransport, CallsAboutATracedApplicationBelongToItsTrace) {
    std::vector<std::string> seen;
    http::TraceBook traces;
    http::RestTransportOptions options{.client = std::make_unique<TracesOfCalls>(seen),
                                       .self = {CallerKind::kZone, "alpha", "alpha-one"},
                                       .post = [](const std::function<void()>& work) { work(); },
                                       .traces = &traces};
    const auto transport = http::make_rest_transport(std::move(options));
    const ServiceAddress beta{"https://beta", {CallerKind::kZone, "beta", "beta-one"}};
    const PartRequest request = some_part_request();
    const auto status = [](const Result<PartStatus>&) {};
    transport->ask_capacity(beta, {.application = request.application}, [](const Result<Capacity>&) {});
    const std::string id(32, 'a');
    traces.record(request.application, {id, true});
    transport->ask_capacity(beta, {.application = request.application}, [](const Result<Capacity>&) {});
    transport->hold_part(beta, request, status);
    transport->commit_part(beta, request.id, 1, status);
    transport->launch_part(beta, request.id, {}, status);
    transport->part_status(beta, request.id, status);
    transport->release_part(beta, request.id, "", status);
    transport->part_profile(beta, request.id, [](const Result<ApplicationModel>&) {});
    transport->part_results(beta, request.id, [](const Result<StagedResults>&) {});
    transport->part_status(beta, PartId{some_id(77)}, status);
    std::vector<std::string> expected(9, "/v1/parts " + id);
    expected[0] = "/v1/capac ";
    expected[1] = "/v1/capac " + id;
    expected.push_back("/v1/parts ");
    EXPECT_EQ(seen, expected);
}

TEST(RestTransport, NamesAndReasonsReachTheZoneItselfAsTheyReachOthers) {
    const Caller self{CallerKind::kZone, "alpha", "alpha-one"};
    std::vector<std::string> seen;
    http::RestTransportOptions options{.client = std::make_unique<Drip>(false),
                                       .self = self,
                                       .post = [](const std::function<void()>& work) { work(); }};
    options.own = [&](const http::Call& call, const http::Respond& respond) {
        seen.push_back(call.query.contains("reason") ? call.query.at("reason")
                                                     : call.path.substr(call.path.rfind('/') + 1));
        respond({.status = 404, .body = "{}"});
    };
    const auto transport = http::make_rest_transport(std::move(options));
    const PartId id{some_id(1)};
    std::vector<std::string> expected{"a=b 50%.out", std::string(999, 'a')};
    transport->part_result({"https://alpha", self}, id, expected[0], 0, [](const Result<FileChunk>&) {});
    // A long reason is cut between two letters: half a letter would be refused as no UTF-8.
    transport->release_part({"https://alpha", self}, id, expected[1] + "\xc3\xbc", [](const Result<PartStatus>&) {});
    EXPECT_EQ(seen, expected);
}

TEST_P(HoldAnswers, ThatNoHonestZoneGivesAreToldAndNotTaken) {
    PartRequest request = some_part_request();
    request.overcommit = 1;
    PartStatus honest = some_part_status();
    honest.id = request.id;
    honest.state = PartState::kHeld;
    std::vector<std::string> reported;
    http::RestTransportOptions options{.client = std::make_unique<OneAnswer>(GetParam().answer(honest)),
                                       .self = {CallerKind::kZone, "alpha", "alpha-one"},
                                       .post = [](const std::function<void()>& work) { work(); }};
    options.bad_answer = [&](const Caller& who, const Error&) { reported.push_back(who.name); };
    const auto transport = http::make_rest_transport(std::move(options));
    std::vector<bool> taken;
    transport->hold_part({"https://beta", {CallerKind::kZone, "beta", "beta-one"}}, request,
                         [&](const Result<PartStatus>& status) { taken.push_back(status.has_value()); });
    EXPECT_EQ(taken, std::vector<bool>{std::string(GetParam().name) == "Honest"});
    EXPECT_EQ(reported, GetParam().is_bad ? std::vector<std::string>{"beta-one"} : std::vector<std::string>{});
}

}  // namespace
}  // namespace zbs::test
