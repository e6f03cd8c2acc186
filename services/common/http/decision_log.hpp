#pragma once
#include "services/common/authorisation/action.hpp"
#include "services/common/http/call.hpp"
#include "services/common/ports/audit.hpp"
#include "services/common/ports/clock.hpp"
#include "services/common/ports/log.hpp"

namespace zbs::http {

/// True for calls that change something.
bool changes_something(const Call& call);

/// Puts a service's decisions on record. Lives on the domain's strand.
class DecisionLog {
  public:
    /// All must outlive this.
    DecisionLog(Clock& clock, AuditLog& audit, Log& log) : clock_(clock), audit_(audit), log_(log) {}
    void start();  ///< writes down what was kept back, every 50 ms

    /// What changes something is on record before it is done. Errors: kUnavailable; then it must not be done.
    Result<void> allow(Action action, const Call& call);
    /// A refusal or a failure. At most 50 a second are recorded, more are counted: nobody fills the disk by being
    /// refused.
    void refuse(Action action, const Call& call, const char* decision, const std::string& detail);
    /// The end of a call that was allowed: one that changes something and failed is on record with its status.
    void done(Action action, const Call& call, int status);

  private:
    Result<void> record(Action action, const Call& call, const char* decision, const std::string& detail,
                        AuditUrgency urgency);
    void flush();
    void begin_second();

    Clock& clock_;
    AuditLog& audit_;
    Log& log_;
    Duration second_{};      ///< of the monotonic clock: the one that `refusals_` counts in
    int refusals_ = 0;       ///< recorded in that second
    int refusals_left_ = 0;  ///< counted, not recorded
};

}  // namespace zbs::http
