#pragma once
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "algorithms/base/words.hpp"
#include "algorithms/model/resource_graph.hpp"
#include "services/common/ports/clock.hpp"
#include "services/common/ports/log.hpp"
#include "services/common/ports/transport/trust_transport.hpp"
#include "services/zone_scheduler/records/zone_config.hpp"
#include "services/zone_scheduler/sensors/measured_series.hpp"

namespace zbs {

/// One link as this zone sees it now.
struct LinkView {
    enum class Source { kDeclared, kMeasured, kAssumed };
    ZoneName zone;
    Link link;  ///< what plans are made with
    Source source = Source::kAssumed;
    using Series = SeriesView;
    std::optional<Series> delay_s, bandwidth_Bps;  ///< what was measured, whatever counts
    std::optional<Time> measured;
    int failures = 0;  ///< probes without an answer since the last good one
};
constexpr auto words_of(LinkView::Source) { return std::array{"declared", "measured", "assumed"}; }

/// Measures delay and bandwidth to other zones by small probes, a zone at a time and at most one probe under way: three
/// short calls, of which the fastest is the round trip, and one that brings some hundred KiB. What the operator has
/// declared counts more than what is measured, and that more than the default. Bandwidth is what such a transfer gets
/// on a connection that was idle: on long links less than a long transfer would.
///
/// Lives on the domain's strand. Memory: some 1,300 numbers a zone.
class LinkSensor {
  public:
    using Targets = std::function<std::vector<ServiceAddress>()>;
    static constexpr std::size_t kKept = MeasuredLink::kKept;

    LinkSensor(const ZoneConfig& config, Clock& clock, ProbeTransport& transport, Targets targets, Log& log)
        : config_(config), clock_(clock), transport_(transport), targets_(std::move(targets)), log_(log) {}
    /// Begins to probe, if the configuration wants that.
    void start();

    Link link_to(const ZoneName& zone) const;
    std::vector<LinkView> links() const;  ///< to declared and to measured zones, by name

  private:
    struct Probe {
        ServiceAddress to;
        int small_left = 0;
        Duration round_trip{};
        Duration asked{};
    };

    void begin_round();
    void probe_next();
    void send_small(const std::shared_ptr<Probe>& probe);
    void send_large(const std::shared_ptr<Probe>& probe);
    void failed(const Probe& probe, const Error& why);
    std::optional<Link> measured_link(const ZoneName& zone) const;

    const ZoneConfig& config_;
    Clock& clock_;
    ProbeTransport& transport_;
    Targets targets_;
    Log& log_;
    std::deque<ServiceAddress> waiting_;  ///< to be probed in this round
    std::map<ZoneName, MeasuredLink> measured_;
};

}  // namespace zbs
