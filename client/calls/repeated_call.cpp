#include "client/calls/repeated_call.hpp"

#include <algorithm>

#include "algorithms/base/text.hpp"
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

}  // namespace zbs::client
