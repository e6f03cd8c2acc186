#pragma once
#include <string>

#include "services/common/messages/registry.hpp"
#include "services/common/ports/transport/respond.hpp"

namespace zbs {

/// Calls of a zone to its registry. Deadline and errors: as of `ZoneTransport`.
class RegistryTransport {
  public:
    virtual ~RegistryTransport() = default;

    /// The first time, with the code that the registry's operator gave.
    virtual void enrol(const ServiceAddress& registry, const std::string& code, const SignedText& entry,
                       Respond<ZoneLease> respond) = 0;
    virtual void publish(const ServiceAddress& registry, const SignedText& entry, Respond<ZoneLease> respond) = 0;
    virtual void renew(const ServiceAddress& registry, const ZoneName& zone, Respond<ZoneLease> respond) = 0;
    virtual void leave(const ServiceAddress& registry, const ZoneName& zone, Respond<ZoneLease> respond) = 0;
    /// One page; where the answer has `next`, ask again with it as `after`.
    virtual void list_zones(const ServiceAddress& registry, const ZoneQuery& query, Respond<ZonePage> respond) = 0;
};

}  // namespace zbs
