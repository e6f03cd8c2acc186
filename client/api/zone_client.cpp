#include "client/api/zone_client.hpp"

#include <charconv>
#include <thread>

#include "services/common/adapters/cpprest/http_caller.hpp"
#include "services/common/codec/message_codec.hpp"
#include "services/common/codec/model_codec.hpp"
#include "services/common/http/reply.hpp"
#include "services/common/messages/limits.hpp"

namespace zbs::client {

ZoneClient::ZoneClient(std::string url, const Caller& self, std::string token, std::chrono::milliseconds patience)
    : home_{std::move(url), {}},
      caller_(std::make_unique<cpprest::HttpCaller>(cpprest::HttpCallerOptions{
          .self = self, .local_token = std::move(token), .tls = {}, .max_reply_bytes = limits::kMaxReplyBytes})),
      patience_(patience) {}
ZoneClient::ZoneClient(Credentials credentials, std::chrono::milliseconds patience)
    : home_(credentials.home()),
      credentials_(std::make_unique<Credentials>(std::move(credentials))),
      caller_(std::make_unique<cpprest::HttpCaller>(cpprest::HttpCallerOptions{
          .self = {}, .local_token = {}, .tls = credentials_->tls(), .max_reply_bytes = limits::kMaxReplyBytes})),
      patience_(patience) {}
ZoneClient::~ZoneClient() = default;

Result<std::string> ZoneClient::text(const std::string& method, const std::string& path, const std::string& body) {
    const auto give_up = std::chrono::steady_clock::now() + patience_;
    for (auto pause = std::chrono::milliseconds{100};; pause = std::min(pause * 2, std::chrono::milliseconds{1'000})) {
        const Result<HttpAnswer> answer = caller_->call({home_, method, path, body, std::chrono::seconds{15}});
        if (answer && answer->status < 300) {
            last_ = {{}, 0, answer->complete};
            std::from_chars(answer->next_offset.data(), answer->next_offset.data() + answer->next_offset.size(),
                            last_.next_offset);
            return answer->body;
        }
        const Error error = answer ? http::read_problem(answer->status, answer->body) : answer.error();
        const bool passing =
            (answer && answer->try_later) || error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kTimeout;
        if (!passing || std::chrono::steady_clock::now() + pause > give_up) return error;
        std::this_thread::sleep_for(pause);
    }
}

Result<codec::Json> ZoneClient::json(const std::string& method, const std::string& path, const std::string& body) {
    const Result<std::string> answer = text(method, path, body);
    if (!answer) return answer.error();
    return codec::parse(*answer);
}

Result<codec::Json> ZoneClient::submit(const ApplicationRequest& request) {
    return json("POST", "/v1/applications", codec::dump(codec::encode(request)));
}

Result<ApplicationPlan> ZoneClient::dry_run(const ApplicationRequest& request) {
    const Result<codec::Json> plan = json("POST", "/v1/applications?dry_run=true", codec::dump(codec::encode(request)));
    if (!plan) return plan.error();
    return codec::decode_application_plan(*plan);
}

Result<codec::Json> ZoneClient::show(const std::string& id) { return json("GET", "/v1/applications/" + id); }
Result<codec::Json> ZoneClient::list(int limit) {
    return json("GET", "/v1/applications?limit=" + std::to_string(limit));
}
Result<codec::Json> ZoneClient::explain(const std::string& id) {
    return json("GET", "/v1/applications/" + id + "/explain");
}
Result<codec::Json> ZoneClient::cancel(const std::string& id) { return json("DELETE", "/v1/applications/" + id); }
Result<std::string> ZoneClient::assignment(const std::string& id, const std::string& format) {
    return text("GET", "/v1/applications/" + id + "/assignment?format=" + format);
}
Result<codec::Json> ZoneClient::get(const std::string& path) { return json("GET", path); }

Result<codec::Json> ZoneClient::call(const std::string& method, const std::string& path, const codec::Json& body) {
    return json(method, path, body.is_null() ? std::string{} : codec::dump(body));
}

Result<ZoneClient::LogChunk> ZoneClient::log(const std::string& id, const std::string& rank, const std::string& stream,
                                             std::uint64_t offset) {
    Result<std::string> bytes = text(
        "GET", "/v1/applications/" + id + "/logs/" + rank + "?stream=" + stream + "&offset=" + std::to_string(offset));
    if (!bytes) return bytes.error();
    last_.bytes = *std::move(bytes);
    return std::move(last_);
}

Result<ApplicationModel> ZoneClient::profile(const std::string& profile_id) {
    const Result<codec::Json> model = json("GET", "/v1/profiles/" + profile_id);
    if (!model) return model.error();
    return codec::decode_model(*model);
}

}  // namespace zbs::client
