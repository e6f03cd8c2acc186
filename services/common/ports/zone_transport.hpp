#pragma once
#include <functional>
#include <string>
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/common/messages/capacity.hpp"
#include "services/common/messages/part.hpp"
#include "services/common/messages/registry.hpp"
#include "services/common/messages/site.hpp"
#include "services/common/messages/staging.hpp"

namespace zbs {

/// Called exactly once, on the domain's strand, never from inside the call that asked.
template <class T>
using Respond = std::function<void(Result<T>)>;

enum class ProbeSize { kSmall, kLarge };

/// Typed messages to other zones and to the registry. Every call has a total deadline; a lost answer comes back as
/// kTimeout or kUnavailable and says nothing about whether the other side acted: ask again with the same id.
/// `to` is the other service. kUnauthenticated: it showed no certificate that counts here, another one answers at its
/// address, or this zone's certificate does not count there.
class ZoneTransport {
  public:
    virtual ~ZoneTransport() = default;

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

    virtual void request_peering(const ServiceAddress& to, const PeeringRequest& request,
                                 Respond<PeeringAnswer> respond) = 0;

    /// That zone's statement about its organisation: bundle, revocations, blocks.
    virtual void fetch_trust(const ServiceAddress& to, Respond<TrustStatement> respond) = 0;

    /// Fetches something short, or of some hundred KiB, and gives its size in bytes: to measure the way there.
    virtual void probe(const ServiceAddress& to, ProbeSize size, Respond<std::size_t> respond) = 0;

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
