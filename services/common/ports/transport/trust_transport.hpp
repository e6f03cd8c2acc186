#pragma once
#include <cstddef>
#include <functional>
#include <string>

#include "algorithms/base/result.hpp"
#include "services/common/messages/registry.hpp"
#include "services/common/messages/site.hpp"

namespace zbs {

/// Called exactly once, on the domain's strand, never from inside the call that asked.
template <class T>
using Respond = std::function<void(Result<T>)>;

enum class ProbeSize { kSmall, kLarge };

/// Measures the way to another zone. Deadline and errors: as of `ZoneTransport`.
class ProbeTransport {
  public:
    virtual ~ProbeTransport() = default;

    /// Fetches something short, or of some hundred KiB, and gives its size in bytes: to measure the way there.
    virtual void probe(const ServiceAddress& to, ProbeSize size, Respond<std::size_t> respond) = 0;
};

/// Calls about the trust between organisations. Deadline and errors: as of `ZoneTransport`.
class TrustTransport {
  public:
    virtual ~TrustTransport() = default;

    virtual void request_peering(const ServiceAddress& to, const PeeringRequest& request,
                                 Respond<PeeringAnswer> respond) = 0;

    /// That zone's statement about its organisation: bundle, revocations, blocks.
    virtual void fetch_trust(const ServiceAddress& to, Respond<TrustStatement> respond) = 0;
};

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
