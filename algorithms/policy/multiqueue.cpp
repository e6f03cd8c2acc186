#include "algorithms/policy/multiqueue.hpp"

#include <algorithm>
#include <numeric>

namespace zbs {
namespace {

/// The plan in the making: one profile of the machine, one of every partition.
class Partitions {
  public:
    Partitions(const ZoneSnapshot& zone, const std::vector<std::int32_t>& widths, const Multiqueue::Options& options,
               const CapacityProfile& machine)
        : now_(zone.now), widths_(widths), options_(options), machine_(machine) {
        for (const std::int32_t width : widths) parts_.emplace_back(zone.now, width);
        zone.running.visit([&](const RunningJob& job) {
            const std::size_t part = part_of(zone.record(job.handle).job.walltime, job.processors);
            if (part < parts_.size()) parts_[part].add(zone.now, job.expected_end, -job.processors);
            return true;
        });
    }

    /// The queue of a job, or the number of queues for jobs that span partitions.
    std::size_t part_of(Duration walltime, std::int32_t processors) const {
        std::size_t part = 0;
        while (part < options_.bounds.size() && walltime > options_.bounds[part]) ++part;
        if (options_.borrow) return part;
        while (part < widths_.size() && processors > widths_[part]) ++part;
        return part;
    }

    Time earliest_start(const WaitingJob& job) const {
        const std::size_t part = part_of(job.walltime, job.processors);
        CapacityProfile::Room room{.from = now_, .duration = job.walltime, .processors = job.processors};
        for (;;) {
            const Time machine = machine_.earliest_start(room);
            if (machine == kNever || part == parts_.size() || options_.borrow) return machine;
            room.from = machine;
            const Time own = parts_[part].earliest_start(room);
            if (own == machine || own == kNever) return own;
            room.from = own;
        }
    }

    void take(const WaitingJob& job, Time at) {
        const std::size_t part = part_of(job.walltime, job.processors);
        machine_.add(at, at + job.walltime, -job.processors);
        if (part < parts_.size()) parts_[part].add(at, at + job.walltime, -job.processors);
    }

  private:
    Time now_;
    const std::vector<std::int32_t>& widths_;
    const Multiqueue::Options& options_;
    CapacityProfile machine_;
    std::vector<CapacityProfile> parts_;
};

}  // namespace

Multiqueue::Multiqueue(const Options& options) : options_(options) {
    ZBS_EXPECTS(options.shares.size() == options.bounds.size() + 1);
}

std::vector<std::int32_t> Multiqueue::partitions(std::int32_t processors) const {
    const double total = std::accumulate(options_.shares.begin(), options_.shares.end(), 0.0);
    std::vector<std::int32_t> widths;
    double share = 0;
    std::int32_t given = 0;
    for (const double part : options_.shares) {
        share += part;
        const std::int32_t up_to = static_cast<std::int32_t>(share / total * processors + 0.5);
        widths.push_back(up_to - given);
        given = up_to;
    }
    return widths;
}

void Multiqueue::plan(const ZoneSnapshot& zone, Plan& plan) {
    plan.clear();
    const std::vector<std::int32_t> widths = partitions(zone.processors);
    Partitions partitions(zone, widths, options_, running_.follow(zone));
    std::int32_t free = zone.free_processors;
    const auto start_or_promise = [&](const WaitingJob& job) {
        const JobRecord& record = zone.record(job.handle);
        const Time at = partitions.earliest_start(job);
        if (at != kNever) partitions.take(job, at);
        if (at == zone.now && job.processors <= free) {
            plan.starts.push_back(record.job.id);
            free -= job.processors;
            return true;
        }
        if (record.reserved != at) plan.reservations.push_back({record.job.id, at});
        return false;
    };

    // Promises stand, so they come first, in the order of their instants; see promises.hpp why none moves back.
    std::vector<std::pair<Time, WaitingJob>> promised;
    zone.waiting.visit([&](const WaitingJob& job) {
        const Time at = zone.record(job.handle).reserved;
        if (at != kNever) promised.emplace_back(at, job);
        return true;
    });
    std::sort(promised.begin(), promised.end(), [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first < b.first : a.second.arrival < b.second.arrival;
    });
    std::vector<bool> has_promise(widths.size() + 1, false);
    for (const auto& [at, job] : promised)
        if (!start_or_promise(job)) has_promise[partitions.part_of(job.walltime, job.processors)] = true;

    zone.waiting.visit([&](const WaitingJob& job) {
        if (zone.record(job.handle).reserved != kNever) return true;
        const std::size_t part = partitions.part_of(job.walltime, job.processors);
        if (!has_promise[part]) {
            if (!start_or_promise(job)) has_promise[part] = true;
        } else if (job.processors <= free && partitions.earliest_start(job) == zone.now) {
            partitions.take(job, zone.now);
            plan.starts.push_back(zone.record(job.handle).job.id);
            free -= job.processors;
        }
        return true;
    });
}

}  // namespace zbs
