#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "services/common/messages/node.hpp"
#include "services/common/ports/clock.hpp"
#include "services/common/ports/log.hpp"
#include "services/zone_scheduler/sensors/link_sensor.hpp"

namespace zbs {

/// One way between two machines of the zone, as measured.
struct NodeLinkView {
    MachineName from, to;  ///< `from` has asked; the bytes came from `to`
    std::optional<SeriesView> delay_s, bandwidth_Bps;
    std::optional<Time> measured;
    int failures = 0;  ///< probes without an answer since the last good one
};

/// Measures delay and bandwidth between machines that have agents: in each round each agent probes one other, and over
/// the rounds all others; one probe at a time in the whole zone, so that they disturb neither jobs nor each other. The
/// delay of a pair is the mean of the last ones measured from both sides: the programs that answer at the two ends are
/// not equally fast, and only together is what they take known. What counts for the zone is the median over the pairs
/// that answer and were measured within a day, of agents that are there, taken at the end of each round and after each
/// 64 probes; what the operator has declared counts more.
///
/// Lives on the domain's strand. Cost of a round: one probe per agent, some 768 KiB each. Memory: `kMaxPairs`.
class NodeLinkSensor {
  public:
    static constexpr std::size_t kMaxPairs = 1'024;  ///< the ones asked for longest ago are forgotten first
    static constexpr std::size_t kMaxShown = 64;
    static constexpr std::size_t kMaxLogged = 1'024;  ///< pairs that fail, in the log; each once until it answers
    static constexpr Duration kForgottenAfter = std::chrono::hours{24};  ///< unasked, as of machines that are gone

    struct Agent {
        MachineName name;
        std::string url;
    };
    /// Those that are there now.
    using Agents = std::function<std::vector<Agent>()>;
    /// Has an agent probe another one; answers once, on the strand, never from inside the call.
    using Ask =
        std::function<void(const Agent& from, const ProbeRequest& to, std::function<void(Result<ProbeReport>)>)>;

    NodeLinkSensor(const ZoneConfig& config, Clock& clock, Agents agents, Ask ask, Log& log)
        : config_(config), clock_(clock), agents_(std::move(agents)), ask_(std::move(ask)), log_(log) {}
    /// Begins to probe, if the configuration wants that.
    void start();

    /// Between machines of the zone, as plans take it.
    Link within_zone() const;
    LinkView::Source source() const;
    std::size_t pairs() const { return pairs_.size(); }
    int failing() const;  ///< pairs whose last probe brought nothing
    /// At most `kMaxShown`: those that fail first, then by delay, the longest first.
    std::vector<NodeLinkView> worst() const;

  private:
    using Pair = std::pair<MachineName, MachineName>;
    struct Entry {
        MeasuredLink link;
        Duration asked{};                     ///< last time, steady
        Duration answered{};                  ///< last measured, steady
        std::optional<Duration> both_ways{};  ///< round trip without overhead as last measured; may be negative
    };

    void begin_round();
    void probe_next();
    void answered(const Pair& pair, const Result<ProbeReport>& report);
    void record_failed(const Pair& pair, const Error& error);
    Duration overhead_of_both(const Pair& pair, const ProbeReport& report);
    void update_median();
    bool is_present(const MachineName& name) const;
    std::optional<Link> median_of_pairs(bool also_failing) const;
    Entry& entry_of(const Pair& pair);
    void forget_old();
    void end_round();

    const ZoneConfig& config_;
    Clock& clock_;
    Agents agents_;
    Ask ask_;
    Log& log_;
    std::vector<Agent> present_;  ///< in this round
    std::size_t next_ = 0;        ///< of `present_`: who probes next
    Duration begun_{};            ///< when this round did, steady
    Duration pace_{};             ///< from the begin of the last round to that of this one
    std::uint64_t round_ = 0;
    std::map<Pair, Entry> pairs_;
    std::optional<Link> median_;
    std::set<Pair> logged_;  ///< pairs whose failure is in the log
};

}  // namespace zbs
