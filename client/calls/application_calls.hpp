#pragma once
#include <string>

#include "services/common/messages/application.hpp"
#include "services/common/ports/http_client.hpp"

namespace zbs::client {

/// Safe to repeat: the id is in the request.
HttpCall submit_call(const ServiceAddress& home, const ApplicationRequest& request);
HttpCall show_call(const ServiceAddress& home, const std::string& id);
HttpCall cancel_call(const ServiceAddress& home, const std::string& id);

/// Whether an application in this state, as the home zone words it, changes no more.
bool is_ended(const std::string& state);

}  // namespace zbs::client
