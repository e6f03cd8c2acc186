#include "studies/models/allocation_simulation.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <span>
#include <sstream>
#include <string>

#include "algorithms/base/random_variates.hpp"

namespace zbs {
namespace {

Result<void> check(const MeshWorkload& workload) {
    if (workload.jobs < 1 || workload.jobs > 100'000'000)
        return invalid("a workload of mesh jobs has 1 to 100,000,000 jobs");
    if (!(workload.mean_service_s >= 1e-3 && workload.mean_service_s <= 1e6))
        return invalid("the mean service time must be 1 ms to 1,000,000 s");
    if (!(workload.load == 0 || (workload.load >= 1e-6 && workload.load <= 1e6)))
        return invalid("the load must be 0 (all jobs at once), or 1e-6 to 1e6");
    if (workload.kind == MeshWorkload::Kind::kConstant) return {};
    double sum = 0;
    for (const SideInterval& interval : workload.intervals) {
        if (interval.least < 1 || interval.most < interval.least || interval.most > 10'000)
            return invalid("sides must be 1 to 10,000, the least first");
        if (!(interval.probability >= 0)) return invalid("a probability must not be negative");
        sum += interval.probability;
    }
    if (!(std::abs(sum - 1) < 1e-9)) return invalid("the probabilities of the intervals must sum to 1");
    return {};
}

const SideInterval& choose(const std::vector<SideInterval>& intervals, double number) {
    for (const SideInterval& interval : intervals) {
        if (number < interval.probability) return interval;
        number -= interval.probability;
    }
    return intervals.back();
}

std::int32_t side_of(const SideInterval& interval, double number) {
    return interval.least + static_cast<std::int32_t>(number * (interval.most - interval.least + 1));
}

/// The integral of a step function of time over a window.
class Integral {
  public:
    Integral(Time begin, Time end) : begin_(begin), end_(end) {}
    void add(Time from, Time to, double height) {
        const Duration inside = std::min(to, end_) - std::max(from, begin_);
        if (inside > Duration::zero()) sum_ += to_seconds(inside) * height;
    }
    /// 0 where the window is empty.
    double mean() const { return end_ > begin_ ? sum_ / to_seconds(end_ - begin_) : 0; }

  private:
    Time begin_, end_;
    double sum_ = 0;
};

}  // namespace

Result<std::vector<MeshJob>> make_mesh_jobs(const MeshWorkload& workload) {
    if (Result<void> good = check(workload); !good) return good.error();
    const auto stream = [&workload](std::uint64_t number) { return Rng(Rng(workload.seed * 16 + number).next()); };
    Rng arrivals = stream(0), services = stream(1), xs = stream(2), ys = stream(3), selectors = stream(4),
        other_selectors = stream(5);
    std::vector<MeshJob> jobs;
    jobs.reserve(static_cast<std::size_t>(workload.jobs));
    double now_s = 0;
    for (std::int64_t i = 0; i < workload.jobs; ++i) {
        MeshJob job;
        if (workload.load > 0) now_s += draw_exponential(arrivals) * workload.mean_service_s / workload.load;
        job.arrival = Time{seconds_to_duration(now_s)};
        const double share = workload.service == MeshWorkload::Service::kConstant ? 1 : draw_exponential(services);
        job.service = std::max(seconds_to_duration(share * workload.mean_service_s), Duration{1});
        if (workload.kind == MeshWorkload::Kind::kConstant) {
            job.mesh = i % 2 == 0 ? MeshShape{4, 6} : MeshShape{4, 2};
        } else {
            const SideInterval& of_x = choose(workload.intervals, selectors.uniform());
            const SideInterval& of_other = choose(workload.intervals, other_selectors.uniform());
            const bool per_side = workload.selector == MeshWorkload::Selector::kPerSide;
            job.mesh.x = side_of(of_x, xs.uniform());
            const double y = ys.uniform();
            job.mesh.y = workload.square ? job.mesh.x : side_of(per_side ? of_other : of_x, y);
        }
        jobs.push_back(job);
    }
    return jobs;
}

Result<MeshOutcome> simulate_meshes(const std::vector<MeshJob>& jobs, const Allocator& allocator) {
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        const auto fault = [i](const std::string& what) {
            return invalid("mesh job " + std::to_string(i + 1) + ": " + what);
        };
        if (i > 0 && jobs[i].arrival < jobs[i - 1].arrival) return fault("it arrives before the job ahead of it");
        if (jobs[i].service <= Duration::zero()) return fault("its service time must be above zero");
        if (jobs[i].mesh.size() > allocator.capacity() || jobs[i].mesh.x < 1 || jobs[i].mesh.y < 1) {
            std::ostringstream text;
            text << "a " << jobs[i].mesh << " mesh cannot be had on " << allocator.capacity() << " processors";
            return fault(text.str());
        }
        if (Result<void> good = allocator.accepts(mesh_request(jobs[i].mesh)); !good)
            return fault(good.error().message);
    }
    MeshOutcome outcome;
    outcome.start.resize(jobs.size());
    outcome.end.resize(jobs.size());
    if (jobs.empty()) return outcome;

    const std::unique_ptr<Allocator> machine = allocator.unused();
    using End = std::pair<Time, std::size_t>;
    std::priority_queue<End, std::vector<End>, std::greater<>> ends;
    Time now = jobs.front().arrival;
    for (std::size_t head = 0; head < jobs.size();) {
        now = std::max(now, jobs[head].arrival);
        while (!ends.empty() && ends.top().first <= now) {
            ZBS_EXPECTS(machine->release(JobId{static_cast<std::int64_t>(ends.top().second)}).has_value());
            ends.pop();
        }
        const AllocationRequest request = mesh_request(jobs[head].mesh);
        const Result<const Placement*> placed = machine->allocate(JobId{static_cast<std::int64_t>(head)}, request);
        ZBS_EXPECTS(placed.has_value());
        if (*placed == nullptr) {
            if (request.processors <= machine->free_processors()) ++outcome.refusals;
            if (ends.empty())
                return Error{ErrorCode::kRejected,
                             "mesh job " + std::to_string(head + 1) +
                                 " waits for ever: no other job runs, and the allocator has lost its place",
                             {}};
            now = ends.top().first;
            continue;
        }
        outcome.start[head] = now;
        outcome.end[head] = now + jobs[head].service;
        ends.emplace(outcome.end[head], head);
        ++head;
    }

    const std::size_t first = jobs.size() / 10;
    Integral busy(jobs[first].arrival, jobs.back().arrival);
    Integral busy_started(outcome.start[first], outcome.start.back());
    Integral in_service(outcome.start[first], outcome.start.back());
    double turnaround_s = 0;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        const double share = static_cast<double>(jobs[i].mesh.size()) / allocator.capacity();
        busy.add(outcome.start[i], outcome.end[i], share);
        busy_started.add(outcome.start[i], outcome.end[i], share);
        in_service.add(outcome.start[i], outcome.end[i], 1);
        if (i >= first) turnaround_s += to_seconds(outcome.end[i] - jobs[i].arrival);
    }
    outcome.turnaround_s = turnaround_s / static_cast<double>(jobs.size() - first);
    outcome.arrivals_window_s = to_seconds(jobs.back().arrival - jobs[first].arrival);
    outcome.utilization = busy.mean();
    outcome.starts_window_s = to_seconds(outcome.start.back() - outcome.start[first]);
    outcome.jobs_in_service = in_service.mean();
    outcome.utilization_started = busy_started.mean();
    return outcome;
}

}  // namespace zbs
