#pragma once
#include <map>
#include <string>

#include <functional>

#include "services/common/authorisation/action.hpp"
#include "services/common/http/call.hpp"
#include "services/common/ports/clock.hpp"
#include "services/common/ports/log.hpp"
#include "services/common/ports/storage/audit.hpp"

namespace zbs::http {

/// True for calls that change something. A question for capacity does not, though it has a body.
bool changes_something(Action action, const Call& call);

/// Puts a service's decisions on record. Lives on the domain's strand.
class DecisionLog {
  public:
    /// Refusals recorded a second: of one organisation (all its users, operators and zones), of one address without a
    /// name, and of all of either kind together. One that is noisy uses up its own share, not the others'; nobody fills
    /// the disk by being refused.
    static constexpr int kPerOrganisation = 20, kPerAddress = 10;
    static constexpr int kAllOrganisations = 200, kAllAddresses = 50;
    static constexpr std::size_t kMaxCounted = 256;  ///< counted separately in one second, of either kind

    /// All must outlive this. `self` is the URI of the service: who says that refusals were left out. `record_waits`:
    /// makes records durable instead of each `allow`: it is called for every record, and holds back the call that it
    /// allows until then.
    DecisionLog(Clock& clock, AuditLog& audit, Log& log, std::string self, std::function<void()> record_waits = {})
        : clock_(clock), audit_(audit), log_(log), self_(std::move(self)), record_waits_(std::move(record_waits)) {}

    /// What changes something is on record before it is done. Errors: kUnavailable; then it must not be done.
    Result<void> allow(Action action, const Call& call);
    /// A refusal or a failure. What is over the shares above is counted, and one entry at the end of the second says
    /// how many that were, and of whom the most.
    void refuse(Action action, const Call& call, const char* decision, const std::string& detail);
    /// The end of a call that was allowed: one that changes something and failed is on record with its status.
    void done(Action action, const Call& call, int status);

  private:
    Result<void> record(Action action, const Call& call, const char* decision, const std::string& detail,
                        AuditUrgency urgency);
    void flush_soon();
    void flush();
    void begin_second();

    Clock& clock_;
    AuditLog& audit_;
    Log& log_;
    std::string self_;
    std::function<void()> record_waits_;
    bool flush_is_due_ = false;
    struct Count {
        int recorded = 0;
        int left_out = 0;
    };
    struct CallerCounts {
        Count all;
        std::map<std::string, Count> by_name;  ///< at most `kMaxCounted`, and one for the rest
    };
    bool take(CallerCounts& counts, const std::string& name, int each, int together);
    Duration second_{};           ///< of the monotonic clock: the one that the counts are of
    CallerCounts organisations_;  ///< by name
    CallerCounts addresses_;      ///< of those without a name
};

}  // namespace zbs::http
