#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "services/common/authorisation/action.hpp"
#include "services/common/metrics/metrics.hpp"
#include "services/zone_scheduler/assembly/metered.hpp"
#include "services/zone_scheduler/http/zone_routes.hpp"
#include "services/zone_scheduler/records/zone_observer.hpp"

namespace zbs {

/// What the program around a zone knows of its resources, where it does.
struct ZoneResources {
    std::function<std::uint64_t()> store_bytes;              ///< size of the database's files
    std::function<std::optional<Time>()> certificate_until;  ///< end of the own certificate; none: there is no such
};

/// The zone's figures. What happens is counted as it happens; what is, is read when somebody asks. Lives on the
/// domain's strand, and begins anew with the process, as readers of such figures expect.
class ZoneMetrics : public ZoneObserver {
  public:
    ZoneMetrics(const ZoneConfig& config, const Clock& clock, ZoneResources resources);

    void application_entered(const Application& application) override;
    void part_entered(const PartRecord& part) override;
    void cycle_took(Cycle cycle, Duration took) override;
    /// A call to this zone was answered.
    void answered(Action action, int status);
    /// A call of this zone to another service has come to its end.
    void called(const MeteredCall& call);
    void committed(Duration took);

    /// What was counted, without what is read from the services.
    std::string counted(metrics::TextFormat format) const { return all_.text(format); }
    /// All of it.
    std::string text(metrics::TextFormat format, const ZoneServices& services);

  private:
    void begin_at_zero();
    void watch_start(const Application& application);
    void read(const ZoneServices& services);

    const Clock& clock_;
    ZoneResources resources_;
    metrics::Registry all_;
    metrics::Family<metrics::Counter>& submitted_;
    metrics::Family<metrics::Counter>& ended_;
    metrics::Family<metrics::Histogram>& wait_;
    metrics::Family<metrics::Histogram>& turnaround_;
    metrics::Family<metrics::Histogram>& start_error_;
    metrics::Family<metrics::Gauge>& open_;
    metrics::Family<metrics::Gauge>& processors_;
    metrics::Family<metrics::Gauge>& parts_;
    metrics::Family<metrics::Gauge>& waiting_parts_;
    metrics::Family<metrics::Counter>& holds_;
    metrics::Family<metrics::Counter>& refusals_;
    metrics::Family<metrics::Counter>& parts_ended_;
    metrics::Family<metrics::Histogram>& cycle_;
    metrics::Family<metrics::Counter>& requests_;
    metrics::Family<metrics::Histogram>& peer_call_;
    metrics::Family<metrics::Counter>& peer_errors_;
    metrics::Family<metrics::Histogram>& commit_;
    metrics::Family<metrics::Gauge>& store_bytes_;
    metrics::Family<metrics::Gauge>& staged_bytes_;
    metrics::Family<metrics::Gauge>& certificate_left_;
    std::map<ApplicationId, Time> announced_starts_;  ///< of those that wait
};

}  // namespace zbs
