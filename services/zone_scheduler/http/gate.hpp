#pragma once
#include "services/common/ports/audit.hpp"
#include "services/common/ports/clock.hpp"
#include "services/common/ports/log.hpp"
#include "services/zone_scheduler/http/zone_routes.hpp"

namespace zbs {

/// What every call to the zone passes before a handler sees it: is the caller blocked, may it do this to that object,
/// and is it on record. Lives on the domain's strand.
class ZoneGate {
  public:
    /// All must outlive the gate.
    ZoneGate(ZoneServices& services, Clock& clock, AuditLog& audit, Log& log);
    void start();  ///< writes down what was kept back, every 50 ms

    /// What changes something is on record before it is done; where it cannot be recorded it is refused (kUnavailable).
    Result<void> check(Action action, const http::Call& call);
    /// The end of a call that passed: one that changes something and failed is on record with its status.
    void done(Action action, const http::Call& call, int status);

  private:
    Result<void> record(Action action, const http::Call& call, const char* decision, const std::string& detail,
                        AuditUrgency urgency);
    void record_refusal(Action action, const http::Call& call, const char* decision, const std::string& detail);
    void flush();

    ZoneServices& services_;
    Clock& clock_;
    AuditLog& audit_;
    Log& log_;
    Duration second_{};      ///< of the monotonic clock: the one that `refusals_` counts in
    int refusals_ = 0;       ///< recorded in that second
    int refusals_left_ = 0;  ///< counted, not recorded
};

}  // namespace zbs
