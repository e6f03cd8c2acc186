#include "client/calls/repeated_call.hpp"

#include <algorithm>

#include "algorithms/base/text.hpp"
#include "services/common/codec/message_codec.hpp"
#include "services/common/http/call.hpp"
#include "services/common/http/reply.hpp"

namespace zbs::client {

namespace {
constexpr Duration kLongestPause = std::chrono::seconds{1};
}

Result<HttpAnswer> success_of(const Result<HttpAnswer>& answer) {
    if (answer && answer->status >= 300) return http::read_problem_of_call(answer->status, answer->body);
    return answer;
}

bool is_passing(const Result<HttpAnswer>& answer) {
    if (answer && answer->try_later) return true;
    const Result<HttpAnswer> success = success_of(answer);
    return !success && (success.error().code == ErrorCode::kUnavailable || success.error().code == ErrorCode::kTimeout);
}

std::optional<Duration> RepeatedCall::pause_after(const Result<HttpAnswer>& answer, Duration now) {
    if (!is_passing(answer) || now + pause_ > give_up_) return std::nullopt;
    const Duration pause = pause_;
    pause_ = std::min(pause_ * 2, kLongestPause);
    return pause;
}

HomeAddresses::HomeAddresses(std::string_view list) {
    for (std::string_view url : split(list, ',')) {
        while (url.starts_with(' ')) url.remove_prefix(1);
        while (url.ends_with(' ')) url.remove_suffix(1);
        urls_.emplace_back(url);
    }
}

namespace {
constexpr std::chrono::seconds kDeadline{15};
}

HttpCall submit_call(const ServiceAddress& home, const ApplicationRequest& request) {
    return {home, "POST", "/v1/applications", codec::dump(codec::encode(request)), kDeadline};
}

HttpCall show_call(const ServiceAddress& home, const std::string& id) {
    return {home, "GET", "/v1/applications/" + http::encode_percent(id), {}, kDeadline};
}

HttpCall cancel_call(const ServiceAddress& home, const std::string& id) {
    return {home, "DELETE", "/v1/applications/" + http::encode_percent(id), {}, kDeadline};
}

bool is_ended(const std::string& state) {
    return state == to_string(ApplicationState::kCompleted) || state == to_string(ApplicationState::kFailed) ||
           state == to_string(ApplicationState::kCancelled) || state == to_string(ApplicationState::kRejected);
}

}  // namespace zbs::client
