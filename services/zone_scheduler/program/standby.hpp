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
    /// `taken` is called once, on a thread of the lease's, when this is the active one. Where the lease is lost, or the
    /// database, the process ends at once.
    void start(std::function<void(std::int64_t epoch)> taken);
    /// Whether this one could take over as things are now, as it was found last; it is told with "/livez", and in the
    /// log where it changes. On the strand, as `answer` is.
    void note(const Result<void>& could_take_over);
    /// To a caller while another is active: 503, and to who has an identity who is active, and where; "/livez" only is
    /// well. `id` names the call, as a router does.
    http::Reply answer(const http::Call& call, const std::string& id) const;
    const postgresql::Lease& lease() const { return *lease_; }
    /// For the end of an orderly stop: the next one need not wait.
    void give_back() { lease_->give_back(); }

  private:
    Standby(std::unique_ptr<postgresql::Lease> lease, std::string zone, Log& log)
        : lease_(std::move(lease)), zone_(std::move(zone)), log_(log) {}
    std::unique_ptr<postgresql::Lease> lease_;
    std::string zone_;
    std::string fault_;  ///< why it could not take over; empty where it could
    Log& log_;
};

/// Makes a zone of the turn that came: settings and certificates as they are now, and what the database holds. Errors:
/// what of it cannot be used.
Result<std::unique_ptr<ActiveZone>> take_over(Engine& engine, ZoneSettings& settings, const StateFolder& state,
                                              const Turn& turn, const std::string& config_path, Log& log);

}  // namespace zbs::zone_program
