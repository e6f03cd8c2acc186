#pragma once
#include "services/common/ports/transport/part_transport.hpp"
#include "services/common/ports/transport/probe_transport.hpp"
#include "services/common/ports/transport/registry_transport.hpp"
#include "services/common/ports/transport/staging_transport.hpp"
#include "services/common/ports/transport/trust_transport.hpp"

namespace zbs {

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
