#pragma once
#include "services/common/http/decision_log.hpp"
#include "services/zone_scheduler/http/zone_routes.hpp"

namespace zbs {

/// What every call to the zone passes before a handler sees it: is the caller blocked, may it do this to that object,
/// and is it on record. Lives on the domain's strand.
class ZoneGate {
  public:
    /// Both must outlive the gate.
    ZoneGate(ZoneServices& services, http::DecisionLog& decisions);
    /// Errors: kUnauthenticated, kDenied, kNotFound as `authorise` says; kUnavailable where it cannot be recorded.
    Result<void> check(Action action, const http::Call& call);

  private:
    ZoneServices& services_;
    http::DecisionLog& decisions_;
};

}  // namespace zbs
