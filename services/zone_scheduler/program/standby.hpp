#pragma once
#include <functional>
#include <memory>
#include <string>

#include "services/common/http/call.hpp"
#include "services/zone_scheduler/program/active_zone.hpp"

namespace zbs::zone_program {

/// A zone scheduler beside an active one, on the same database and state folder: it waits for its turn.
class Standby {
  public:
    /// Looks for the database. The settings have one, and the zone's URL. Errors: the database's.
    static Result<std::unique_ptr<Standby>> make(const ZoneSettings& settings, Log& log);
    /// `taken` is called once, on a thread of the lease's, when this is the active one; `could_take_over` is asked
    /// there before the lease is, which goes to others while it says no. Where the lease is lost, or the database, the
    /// process ends at once.
    void start(std::function<void(std::int64_t epoch)> taken, std::function<bool()> could_take_over);
    /// Whether this one could take over as things are now, by the last check, about once a second; reported with
    /// "/livez", to the service manager, and in the log where it changes, again and again where nobody is active
    /// because of it. On the strand, as `answer` is.
    void record(const Result<void>& could_take_over);
    /// To a caller while another is active: 503, and to who has an identity who is active, and where; "/livez" only is
    /// well. `id` names the call, as a router does.
    http::Reply answer(const http::Call& call, const std::string& id) const;
    const postgresql::Lease& lease() const { return *lease_; }
    /// For the end of an orderly stop: the next one need not wait.
    void release() { lease_->release(); }

  private:
    Standby(std::unique_ptr<postgresql::Lease> lease, std::string zone, Log& log)
        : lease_(std::move(lease)), zone_(std::move(zone)), log_(log) {}
    std::unique_ptr<postgresql::Lease> lease_;
    std::string zone_;
    /// "nobody is active": for so long that no other one is about to be.
    bool is_zone_without() const { return notes_without_ >= kReportWithout; }
    void report_status() const;

    static constexpr int kReportWithout = 3, kReportAgain = 60;  ///< notes
    std::string fault_;                                          ///< why it could not take over; empty where it could
    int notes_without_ = 0;  ///< one after the other, of a lease that is free and left to others
    Log& log_;
};

/// Makes a zone of the turn that came: settings and certificates as they are now, and what the database holds. Errors:
/// what of it cannot be used.
Result<std::unique_ptr<ActiveZone>> take_over(ServiceHost& host, ZoneSettings& settings, const StateFolder& state,
                                              const WriteLease& write_lease, const std::string& config_path, Log& log);

}  // namespace zbs::zone_program
