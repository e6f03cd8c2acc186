#include "algorithms/policy/elmer_policy.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>

namespace zbs {
namespace {

using elmer::AllocationRule;
using elmer::Cluster;
using elmer::VirtualClusters;

/// The clusters of a zone in the making of a plan. Jobs go by their place in the order of arrival, J of the source.
class Clusters {
  public:
    Clusters(const ZoneSnapshot& zone, const ElmerPolicy::Options& options)
        : options_(options),
          table_(*VirtualClusters::make({.hosts = zone.processors,
                                         .degree = options.degree,
                                         .rule = options.rule,
                                         .threshold = options.threshold})) {
        zone.running.visit([&](const RunningJob& job) {
            const JobRecord& record = zone.record(job.handle);
            running_.emplace(record.job.id, &record);
            return true;
        });
        for (std::int32_t row = 0; row < zone.diagram->row_count(); ++row) restore(*zone.diagram, row);
        std::ranges::sort(members_, {}, &Cluster::job);
        for (const Cluster& member : members_) table_.place(member);
    }

    bool start(const JobRecord& record) {
        const JobId place{static_cast<std::int64_t>(record.arrival)};
        Rng rng(options_.seed * 0x9e3779b97f4a7c15ULL + record.arrival);
        std::optional<Cluster> cluster = table_.allocate(
            {.job = place, .user = record.job.user, .processors = record.allocated}, utilization(), rng);
        if (!cluster) return false;
        names_.emplace(place, record.job.id);
        members_.insert(std::ranges::upper_bound(members_, place, {}, &Cluster::job), *std::move(cluster));
        return true;
    }

    /// Rows are the levels; under the rules by arrival, a job has the first row below all older ones of its processors.
    TraceDiagram diagram() const {
        TraceDiagram diagram(table_.options().hosts);
        std::vector<std::int32_t> below(static_cast<std::size_t>(diagram.processors()));
        for (const Cluster& member : members_) {
            std::int32_t row = member.level;
            if (options_.rule >= AllocationRule::kArrival) {
                row = 0;
                for (const std::int32_t host : member.hosts) row = std::max(row, below[static_cast<std::size_t>(host)]);
                for (const std::int32_t host : member.hosts) below[static_cast<std::size_t>(host)] = row + 1;
            }
            while (diagram.row_count() <= row) diagram.add_row();
            diagram.place(row, names_.at(member.job), member.hosts);
        }
        return diagram;
    }

  private:
    void restore(const TraceDiagram& diagram, std::int32_t row) {
        std::unordered_map<JobId, std::size_t> at;
        const std::span<const JobId> slots = diagram.slots(row);
        for (std::size_t host = 0; host < slots.size(); ++host) {
            const auto runs = running_.find(slots[host]);
            if (runs == running_.end()) continue;  // idle, or its job has ended
            const auto [member, first] = at.try_emplace(slots[host], members_.size());
            if (first) {
                const JobRecord& record = *runs->second;
                const JobId place{static_cast<std::int64_t>(record.arrival)};
                names_.emplace(place, slots[host]);
                members_.push_back({.job = place, .user = record.job.user, .level = row, .hosts = {}});
            }
            members_[member->second].hosts.push_back(static_cast<std::int32_t>(host));
        }
    }

    std::vector<double> utilization() const {
        std::vector<double> busy;
        if (options_.rule == AllocationRule::kLevels) return busy;
        busy.resize(static_cast<std::size_t>(table_.options().hosts));
        for (const Cluster& member : members_) {
            const auto on_top = [&](std::int32_t host) { return table_.top(host).job == member.job; };
            if (!std::ranges::all_of(member.hosts, on_top)) continue;
            for (const std::int32_t host : member.hosts) busy[static_cast<std::size_t>(host)] = 1;
        }
        return busy;
    }

    const ElmerPolicy::Options& options_;
    VirtualClusters table_;
    std::unordered_map<JobId, const JobRecord*> running_;
    std::unordered_map<JobId, JobId> names_;  ///< by place in the order of arrival
    std::vector<Cluster> members_;            ///< by arrival
};

}  // namespace

Result<void> ElmerPolicy::serves(std::int32_t processors) const {
    if (processors > TraceDiagram::kMaxProcessors)
        return invalid("virtual clusters have at most " + std::to_string(TraceDiagram::kMaxProcessors) +
                       " processors, not " + std::to_string(processors));
    return {};
}

void ElmerPolicy::plan(const ZoneSnapshot& zone, Plan& plan) {
    ZBS_EXPECTS(zone.diagram != nullptr);
    plan.clear();
    Clusters clusters(zone, options_);
    zone.waiting.visit([&](const WaitingJob& job) {
        const JobRecord& record = zone.record(job.handle);
        // A head without processors blocks all behind it.
        if (record.allocated > zone.processors || !clusters.start(record)) return false;
        plan.starts.push_back(record.job.id);
        return true;
    });
    if (TraceDiagram diagram = clusters.diagram(); !plan.starts.empty() || diagram != *zone.diagram)
        plan.diagram = std::make_shared<TraceDiagram>(std::move(diagram));
}

}  // namespace zbs
