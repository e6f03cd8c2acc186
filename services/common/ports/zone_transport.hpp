#pragma once
#include <cstdint>
#include <string>

#include "services/common/messages/capacity.hpp"
#include "services/common/messages/part.hpp"
#include "services/common/messages/registry.hpp"
#include "services/common/messages/staging.hpp"
#include "services/common/ports/transport/trust_transport.hpp"

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

/// Files of a part, on the way to its zone and back. Deadline and errors: as of `ZoneTransport`.
class StagingTransport {
  public:
    virtual ~StagingTransport() = default;

    /// Sends a committed part's zone the list of its files, and asks which of them are there; its launch window begins
    /// anew.
    virtual void stage_part(const ServiceAddress& to, const PartId& id, const StagingRequest& request,
                            Respond<StagingStatus> respond) = 0;
    virtual void put_part_file(const ServiceAddress& to, const PartId& id, const std::string& digest,
                               const FileChunk& chunk, Respond<FilePresence> respond) = 0;
    /// What a part that has ended left; not complete while its zone lays it aside.
    virtual void part_results(const ServiceAddress& to, const PartId& id, Respond<StagedResults> respond) = 0;
    virtual void part_result(const ServiceAddress& to, const PartId& id, const std::string& name, std::uint64_t offset,
                             Respond<FileChunk> respond) = 0;
};

/// Typed messages to other zones and to the registry. Every call has a total deadline; a lost answer comes back as
/// kTimeout or kUnavailable and says nothing about whether the other side acted: ask again with the same id.
/// `to` is the other service. kUnauthenticated: it showed no certificate that counts here, another one answers at its
/// address, or this zone's certificate does not count there.
class ZoneTransport : public PartTransport,
                      public StagingTransport,
                      public TrustTransport,
                      public ProbeTransport,
                      public RegistryTransport {};

}  // namespace zbs
