#include "client/calls/application_calls.hpp"

#include "services/common/codec/message_codec.hpp"
#include "services/common/http/call.hpp"

namespace zbs::client {
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
