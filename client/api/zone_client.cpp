#include "client/api/zone_client.hpp"

#include <algorithm>
#include <charconv>
#include <future>
#include <thread>
#include <utility>

#include "algorithms/base/instant_text.hpp"
#include "services/common/adapters/cpprest/address_rules.hpp"
#include "services/common/adapters/cpprest/http_caller.hpp"
#include "services/common/codec/message_codec.hpp"
#include "services/common/codec/model_codec.hpp"
#include "services/common/http/call.hpp"
#include "services/common/messages/limits.hpp"

namespace zbs::client {
namespace {

constexpr std::chrono::seconds kPatienceWithStandby{30};  ///< twice what taking over needs
constexpr Duration kShortAbsence = std::chrono::seconds{2};
constexpr Duration kAskWhetherGivenUp = std::chrono::milliseconds{100};

}  // namespace

ZoneClient::ZoneClient(std::string url, const Caller& self, std::string token, std::chrono::milliseconds patience)
    : home_{std::move(url), {}},
      caller_(std::make_unique<cpprest::HttpCaller>(cpprest::HttpCallerOptions{
          .self = self, .local_token = std::move(token), .tls = {}, .max_reply_bytes = limits::kMaxReplyBytes})),
      patience_(patience) {
    use_addresses(home_.url);
}
ZoneClient::ZoneClient(Credentials credentials, std::string urls, std::chrono::milliseconds patience)
    : home_(credentials.home()),
      credentials_(std::make_unique<Credentials>(std::move(credentials))),
      caller_(std::make_unique<cpprest::HttpCaller>(cpprest::HttpCallerOptions{
          .self = {}, .local_token = {}, .tls = credentials_->tls(), .max_reply_bytes = limits::kMaxReplyBytes})),
      patience_(patience) {
    use_addresses(urls.empty() ? home_.url : urls);
}
ZoneClient::~ZoneClient() = default;

Result<void> ZoneClient::check_addresses(std::string_view urls) {
    // A password may hold a comma, and no piece of it may be shown: the whole text is refused.
    if (urls.find('@') != std::string_view::npos) return cpprest::parse_service_url(std::string(urls)).error();
    if (urls.empty()) return {};
    const HomeAddresses addresses(urls);
    for (const std::string& url : addresses.all()) {
        if (url.empty()) return invalid("an address is missing before or after a comma");
        if (const auto read = cpprest::parse_service_url(url); !read) return read.error();
    }
    return {};
}

HttpClient& ZoneClient::http() const { return *caller_; }

void ZoneClient::use_addresses(std::string_view urls) {
    addresses_ = HomeAddresses(urls);
    home_.url = addresses_.current();
    if (addresses_.has_several()) patience_ = std::max<std::chrono::milliseconds>(patience_, kPatienceWithStandby);
}

Error ZoneClient::unreachable(Error error) const {
    const bool is_one = !addresses_.has_several();
    if (!is_one)
        error.message = "none of the " + std::to_string(addresses_.all().size()) +
                        " addresses answers as the active scheduler; the last: " + error.message;
    error.message += std::string("; does a zone run at ") + (is_one ? "that address and port" : "one of them") +
                     "? 'zbs doctor' looks for what is wrong; --url and ZBS_URL "
                     "name another address";
    if (credentials_ != nullptr) error.message += ", else the file 'home' beside your certificate does";
    return error;
}

/// As the caller's call; `on_silence`, once where the answer takes longer than a short absence. A call that is given up
/// goes on alone until its deadline.
Result<HttpAnswer> ZoneClient::await_answer(const HttpCall& call,
                                            const std::function<void(const Error&)>& on_silence) const {
    const auto promise = std::make_shared<std::promise<Result<HttpAnswer>>>();
    auto answer = promise->get_future();
    caller_->call(call, [promise](Result<HttpAnswer> came) { promise->set_value(std::move(came)); });
    const Error silence{
        ErrorCode::kTimeout, call.method + " " + home_.url + call.path + " has no answer after 2 s", {}};
    if (answer.wait_for(kShortAbsence) == std::future_status::ready) return answer.get();
    on_silence(silence);
    while (answer.wait_for(kAskWhetherGivenUp) == std::future_status::timeout)
        if (is_given_up()) return silence;
    return answer.get();
}

bool ZoneClient::is_given_up() const { return absence_ && absence_->is_given_up && absence_->is_given_up(); }

Result<std::string> ZoneClient::text(HttpCall call) {
    const auto steady_now = [] {
        return std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch());
    };
    const Duration begin = steady_now();
    RepeatedCall repeated(begin, absence_ ? std::max(patience_, absence_->patience) : patience_);
    bool is_announced = false;
    const auto announce = [&](const Error& error) {
        if (absence_ && !std::exchange(is_announced, true)) absence_->begins(error);
    };
    for (;;) {
        bool was_silent = false;
        const Result<HttpAnswer> answer = await_answer(call, [&](const Error& error) {
            was_silent = true;
            if (!is_slow_) announce(error);
        });
        is_slow_ = is_slow_ || (was_silent && answer);
        const auto pause = repeated.pause_after(answer, steady_now());
        if (pause && !is_given_up()) {
            if (steady_now() - begin >= kShortAbsence) announce(success_of(answer).error());
            addresses_.turn();
            home_.url = call.to.url = addresses_.current();
            const Duration until = steady_now() + *pause;
            while (steady_now() < until && !is_given_up())
                std::this_thread::sleep_for(std::min(kAskWhetherGivenUp, until - steady_now()));
            continue;
        }
        if (is_announced && !is_passing(answer)) absence_->ends();
        if (!answer && answer.error().code == ErrorCode::kUnavailable) return unreachable(answer.error());
        const Result<HttpAnswer> success = success_of(answer);
        if (!success) return success.error();
        last_ = {{}, 0, success->complete};
        std::from_chars(success->next_offset.data(), success->next_offset.data() + success->next_offset.size(),
                        last_.next_offset);
        return success->body;
    }
}

Result<std::string> ZoneClient::text(const std::string& method, const std::string& path, const std::string& body) {
    return text({home_, method, path, body, std::chrono::seconds{15}});
}

void ZoneClient::stream(const std::string& path, std::function<bool(std::string_view)> on_piece,
                        std::function<void(Result<HttpAnswer>)> ended) {
    HttpCall call{home_, "GET", path, {}, std::chrono::hours{1}};
    call.on_piece = std::move(on_piece);
    caller_->call(std::move(call), std::move(ended));
}

Result<codec::Json> ZoneClient::json(const HttpCall& call) {
    const Result<std::string> answer = text(call);
    if (!answer) return answer.error();
    return codec::parse(*answer);
}

Result<codec::Json> ZoneClient::json(const std::string& method, const std::string& path, const std::string& body) {
    return json({home_, method, path, body, std::chrono::seconds{15}});
}

Result<codec::Json> ZoneClient::submit(const ApplicationRequest& request) { return json(submit_call(home_, request)); }

Result<ApplicationPlan> ZoneClient::dry_run(const ApplicationRequest& request) {
    const Result<codec::Json> plan = json("POST", "/v1/applications?dry_run=true", codec::dump(codec::encode(request)));
    if (!plan) return plan.error();
    return codec::decode_application_plan(*plan);
}

Result<codec::Json> ZoneClient::show(const std::string& id) { return json(show_call(home_, id)); }
Result<codec::Json> ZoneClient::list(const ListQuery& query) {
    std::string path = "/v1/applications?limit=" + std::to_string(query.limit);
    if (!query.states.empty()) path += "&state=" + query.states;
    if (!query.owner.empty()) path += "&owner=" + query.owner;
    if (query.since) path += "&since=" + format_instant(*query.since);
    if (!query.after.empty()) path += "&after=" + http::encode_percent(query.after);
    return json("GET", path);
}
Result<codec::Json> ZoneClient::explain(const std::string& id) {
    return json("GET", "/v1/applications/" + http::encode_percent(id) + "/explain");
}
Result<codec::Json> ZoneClient::cancel(const std::string& id) { return json(cancel_call(home_, id)); }
Result<std::string> ZoneClient::assignment(const std::string& id, const std::string& format) {
    return text("GET", "/v1/applications/" + http::encode_percent(id) + "/assignment?format=" + format);
}
Result<codec::Json> ZoneClient::get(const std::string& path) { return json("GET", path); }

Result<Time> ZoneClient::clock() {
    const Result<HttpAnswer> answer = success_of(caller_->call({home_, "GET", "/livez", {}, std::chrono::seconds{15}}));
    if (!answer) return answer.error();
    if (!answer->date) return Error{ErrorCode::kNotFound, home_.url + " does not report its time", {}};
    return *answer->date;
}

Result<std::string> ZoneClient::why_not_ready() {
    const Result<HttpAnswer> answer = caller_->call({home_, "GET", "/readyz", {}, std::chrono::seconds{15}});
    if (!answer) return answer.error();
    const Result<HttpAnswer> success = success_of(answer);
    return !success && success.error().code == ErrorCode::kUnavailable ? success.error().message : std::string{};
}

Result<codec::Json> ZoneClient::call(const std::string& method, const std::string& path, const codec::Json& body) {
    return json(method, path, body.is_null() ? std::string{} : codec::dump(body));
}

Result<ZoneClient::LogChunk> ZoneClient::log(const std::string& id, const std::string& rank, const std::string& stream,
                                             std::uint64_t offset) {
    Result<std::string> bytes =
        text("GET", "/v1/applications/" + http::encode_percent(id) + "/logs/" + http::encode_percent(rank) +
                        "?stream=" + stream + "&offset=" + std::to_string(offset));
    if (!bytes) return bytes.error();
    last_.bytes = *std::move(bytes);
    return std::move(last_);
}

Result<ApplicationModel> ZoneClient::profile(const std::string& profile_id) {
    const Result<codec::Json> model = json("GET", "/v1/profiles/" + http::encode_percent(profile_id));
    if (!model) return model.error();
    return codec::decode_model(*model);
}

Duration delegation_lifetime(Duration walltime) {
    return std::min<Duration>(std::chrono::hours{12}, walltime + std::chrono::hours{1});
}

Result<void> delegate(ZoneClient& zone, const std::string& id, const std::string& application, Duration lifetime) {
    if (zone.credentials() == nullptr) return {};
    codec::Json wanted = {{"id", id}};
    if (!application.empty()) wanted["application"] = application;
    const Result<codec::Json> made = zone.call("POST", "/v1/delegations", wanted);
    if (!made) return made.error();
    const Result<std::string> chain =
        zone.credentials()->sign_delegation(made->value("request", ""), application, lifetime);
    if (!chain) return chain.error();
    const Result<codec::Json> put = zone.call("PUT", "/v1/delegations/" + id, {{"chain", *chain}});
    if (!put) return put.error();
    return {};
}

}  // namespace zbs::client
