#pragma once
#include <cstdint>
#include <string>

#include "services/common/messages/capacity.hpp"
#include "services/common/messages/part.hpp"
#include "services/common/messages/registry.hpp"
#include "services/common/ports/transport/respond.hpp"

namespace zbs {

/// Calls of a home to the zones of its parts. Deadline and errors: as of `ZoneTransport`.
class PartTransport {
  public:
    virtual ~PartTransport() = default;

    virtual void ask_capacity(const ServiceAddress& to, const CapacityRequest& request, Respond<Capacity> respond) = 0;
    virtual void hold_part(const ServiceAddress& to, const PartRequest& request, Respond<PartStatus> respond) = 0;
    virtual void commit_part(const ServiceAddress& to, const PartId& id, std::uint64_t token,
                             Respond<PartStatus> respond) = 0;
    virtual void launch_part(const ServiceAddress& to, const PartId& id, const LaunchRequest& request,
                             Respond<PartStatus> respond) = 0;
    virtual void part_status(const ServiceAddress& to, const PartId& id, Respond<PartStatus> respond) = 0;
    /// Gives a part back, stopping what runs. Released, unknown and ended parts all answer well.
    virtual void release_part(const ServiceAddress& to, const PartId& id, const std::string& reason,
                              Respond<PartStatus> respond) = 0;
    virtual void part_profile(const ServiceAddress& to, const PartId& id, Respond<ApplicationModel> respond) = 0;
};

}  // namespace zbs
