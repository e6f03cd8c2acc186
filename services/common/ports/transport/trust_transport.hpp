#pragma once
#include "services/common/messages/registry.hpp"
#include "services/common/messages/site.hpp"
#include "services/common/ports/transport/respond.hpp"

namespace zbs {

/// Calls about the trust between organisations. Deadline and errors: as of `ZoneTransport`.
class TrustTransport {
  public:
    virtual ~TrustTransport() = default;

    virtual void request_peering(const ServiceAddress& to, const PeeringRequest& request,
                                 Respond<PeeringAnswer> respond) = 0;

    /// That zone's statement about its organisation: bundle, revocations, blocks.
    virtual void fetch_trust(const ServiceAddress& to, Respond<TrustStatement> respond) = 0;
};

}  // namespace zbs
