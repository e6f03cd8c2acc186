#pragma once
#include <functional>
#include <memory>

#include "services/common/adapters/cpprest/http_caller.hpp"
#include "services/common/http/call.hpp"
#include "services/common/ports/zone_transport.hpp"

namespace zbs::cpprest {

struct ZoneTransportOptions {
    HttpCallerOptions calls;
    Caller self;                                      ///< of the zone
    std::function<void(std::function<void()>)> post;  ///< puts a callback on the domain's strand
    /// Calls to the zone itself come here instead of going over a socket: the same handlers, the same messages.
    std::function<void(http::Call, http::Respond)> own;
};

/// ZoneTransport over REST.
std::unique_ptr<ZoneTransport> make_zone_transport(ZoneTransportOptions options);

}  // namespace zbs::cpprest
