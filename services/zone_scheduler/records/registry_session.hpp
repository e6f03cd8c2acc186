#pragma once
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "services/common/ports/clock.hpp"
#include "services/common/ports/log.hpp"
#include "services/common/ports/transport/trust_transport.hpp"
#include "services/common/ports/trust.hpp"
#include "services/zone_scheduler/records/zone_config.hpp"

namespace zbs {

/// How entries become signed texts and back; the domain knows no JSON.
struct EntrySigning {
    std::function<Result<SignedText>(const ZoneEntry&)> sign;
    std::function<Result<ZoneEntry>(const SignedText&)> verify;
};

/// The zone's side of discovery: brings the zone into the registry, renews its lease, and looks around for others. What
/// the registry says of others counts only where they signed it themselves, and where their organisation's bundle is
/// the one that is pinned here, if one is. A registry that is down, or lies, stops nothing else; it is asked again for
/// as long as it takes.
class RegistrySession {
  public:
    using Found = std::function<void(const std::vector<ZoneEntry>&)>;
    /// `found` gets what was verified, after every look; `missed` is called after a look that got no answer;
    /// `forget_code`, unless it is empty, once the code to enrol with was used: it need not be kept.
    RegistrySession(const ZoneConfig& config, Clock& clock, RegistryTransport& transport, const TrustBundles& trust,
                    EntrySigning signing, Log& log, Found found, std::function<void()> missed,
                    std::function<void()> forget_code);
    void start();
    /// Takes no new work, says so to the registry, and finishes what it has.
    void drain(bool on);
    bool draining() const { return draining_; }
    /// The own certificate is another now: the entry is signed with it and published at the next renewal, because
    /// readers stop believing an entry when the certificate that signed it runs out.
    void sign_anew() { ++entry_version_; }
    void leave();  ///< deregisters at the registry, once, on an orderly stop
    bool enrolled() const { return enrolled_; }
    /// The reason for which the zone is not enrolled; empty if it is, or if the registry has not yet answered.
    const std::string& fault() const { return fault_; }
    /// By how much the registry's clock is ahead, found with one of its answers; zero: no difference is proved.
    void record_clock(Duration ahead);
    /// The last difference of kClockDifferenceShown or more; negative: behind; zero: none since.
    Duration clock_ahead() const { return clock_ahead_; }
    /// Another scheduler that claims this zone's name or key, of late.
    std::optional<RivalClaim> rival() const;

  private:
    Result<SignedText> entry(ZoneStanding standing);
    void publish();
    void renew();
    void discover();
    void check_on(const ZoneName& after);
    void published(const Result<ZoneLease>& lease);
    std::vector<ZoneEntry> verified(const ZonePage& page);
    void record_rival(const RivalClaim& rival);
    void forget_ended_rival();
    /// `kind`: of reasons whose texts differ each time; empty: the reason itself.
    void warn_once(const std::string& what, const std::string& reason, const std::string& kind = {});

    const ZoneConfig& config_;
    Clock& clock_;
    RegistryTransport& transport_;
    const TrustBundles& trust_;
    EntrySigning signing_;
    Log& log_;
    Found found_;
    std::function<void()> missed_;
    std::function<void()> forget_code_;
    std::map<std::string, Time> newest_;  ///< by zone: when its newest entry was signed
    std::set<std::string> warned_;
    std::vector<ZoneEntry> listed_;  ///< verified, of the list that is being read
    std::size_t listed_texts_ = 0;   ///< entries of it, also those that are not believed
    std::string code_;
    std::string fault_;
    std::optional<RivalClaim> rival_;
    Duration rival_at_{};  ///< steady time of its last attempt
    Duration clock_ahead_{};
    Time last_signed_{};  ///< by this process
    Duration retry_ = std::chrono::seconds{2};
    bool without_code_ = false;  ///< the next attempt is made without the code
    bool enrolled_ = false;
    bool leaving_ = false;
    bool draining_ = false;
    unsigned entry_version_ = 0;
    unsigned version_sent_ = 0;  ///< what the registry has of it
    bool drain_sent_ = false;    ///< what the registry knows of `draining_`
};

}  // namespace zbs
