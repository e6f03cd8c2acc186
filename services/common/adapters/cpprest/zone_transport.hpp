#pragma once
#include <functional>
#include <memory>

#include "services/common/messages/identity.hpp"
#include "services/common/ports/zone_transport.hpp"

namespace zbs::cpprest {

/// ZoneTransport over REST. `post` puts a callback on the domain's strand. `self` is the zone's own identity.
std::unique_ptr<ZoneTransport> make_zone_transport(Caller self, std::function<void(std::function<void()>)> post);

}  // namespace zbs::cpprest
