#pragma once
#include <functional>
#include <vector>

#include "services/common/ports/clock.hpp"
#include "services/common/ports/log.hpp"
#include "services/common/ports/zone_transport.hpp"
#include "services/zone_scheduler/domain/zone_config.hpp"

namespace zbs {

/// The zone's side of discovery: publishes the zone in the registry, renews its lease, and looks around for others. A
/// registry that is down stops nothing else; it is asked again for as long as it takes.
class RegistrySession {
  public:
    /// `found` gets what the registry lists, after every look.
    RegistrySession(const ZoneConfig& config, Clock& clock, ZoneTransport& transport, Log& log,
                    std::function<void(const std::vector<ZoneEntry>&)> found);
    void start();
    void leave();  ///< tells the registry, once, on an orderly stop
    bool enrolled() const { return enrolled_; }

  private:
    void enrol();
    void renew();
    void discover();

    const ZoneConfig& config_;
    Clock& clock_;
    ZoneTransport& transport_;
    Log& log_;
    std::function<void(const std::vector<ZoneEntry>&)> found_;
    bool enrolled_ = false;
    bool leaving_ = false;
};

}  // namespace zbs
