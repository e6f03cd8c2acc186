#pragma once
#include <functional>

#include "algorithms/base/result.hpp"
#include "services/common/messages/registry.hpp"

namespace zbs {

enum class SchedulerRole { kActive, kStandby };

/// Whether the zone of an entry really answers at the entry's address: a TLS handshake there shows its certificate and
/// proves its key.
class AddressProver {
  public:
    virtual ~AddressProver() = default;
    /// `respond` is called once, on the domain's strand, never from inside the call. Result: the role that the
    /// scheduler there reports of itself, which nothing proves. Errors: nobody answers in time, somebody else does, an
    /// address that may not be called.
    virtual void prove(const ZoneEntry& entry, std::function<void(Result<SchedulerRole>)> respond) = 0;
};

}  // namespace zbs
