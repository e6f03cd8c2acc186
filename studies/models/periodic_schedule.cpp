#include "studies/models/periodic_schedule.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace zbs::gang {
namespace {

/// Progress of every task, kept as lead over the slowest of its job.
class Progress {
  public:
    explicit Progress(const TraceDiagram& history) {
        for (std::int32_t row = 0; row < history.row_count(); ++row)
            for (std::int32_t p = 0; p < history.processors(); ++p)
                if (history.job_at(row, p) != kNoJob) leads_.try_emplace({history.job_at(row, p), p}, 0);
    }
    void run(const TraceDiagram& history, std::int32_t row) {
        for (std::int32_t p = 0; p < history.processors(); ++p)
            if (history.job_at(row, p) != kNoJob) ++leads_.at({history.job_at(row, p), p});
        for (auto job = leads_.begin(); job != leads_.end();) {
            auto end = job;
            std::int32_t slowest = job->second;
            for (; end != leads_.end() && end->first.first == job->first.first; ++end)
                slowest = std::min(slowest, end->second);
            for (; job != end; ++job) job->second -= slowest;
        }
    }
    std::vector<std::int32_t> state() const {
        std::vector<std::int32_t> leads;
        for (const auto& [task, lead] : leads_) leads.push_back(lead);
        return leads;
    }

  private:
    std::map<std::pair<JobId, std::int32_t>, std::int32_t> leads_;
};

}  // namespace

std::int32_t largest_lead(const TraceDiagram& history) {
    Progress progress(history);
    std::int32_t most = 0;
    for (std::int32_t row = 0; row < history.row_count(); ++row) {
        progress.run(history, row);
        const std::vector<std::int32_t> leads = progress.state();
        if (!leads.empty()) most = std::max(most, std::ranges::max(leads));
    }
    return most;
}

bool serves_equally(const TraceDiagram& period, const TraceDiagram& history) {
    std::map<std::pair<JobId, std::int32_t>, std::int32_t> served;
    for (const auto* diagram : {&history, &period})
        for (std::int32_t row = 0; row < diagram->row_count(); ++row)
            for (std::int32_t p = 0; p < diagram->processors(); ++p)
                if (diagram->job_at(row, p) != kNoJob)
                    served[{diagram->job_at(row, p), p}] += diagram == &period ? 1 : 0;
    for (auto task = served.begin(); task != served.end() && std::next(task) != served.end(); ++task)
        if (std::next(task)->first.first == task->first.first && std::next(task)->second != task->second) return false;
    return true;
}

std::optional<PeriodicPart> best_periodic_part(const TraceDiagram& history) {
    // Between two instants of equal state lie others of the same state, or none: of those parts that follow each other
    // one is at least as good as all together. So only neighbours are compared.
    Progress progress(history);
    std::map<std::vector<std::int32_t>, std::int32_t> last_seen{{progress.state(), 0}};
    std::vector<std::int64_t> idle_before{0};
    std::int32_t best_begin = -1, best_end = -1;
    for (std::int32_t row = 0; row < history.row_count(); ++row) {
        progress.run(history, row);
        idle_before.push_back(idle_before.back() + history.free_counts()[static_cast<std::size_t>(row)]);
        const auto [seen, fresh] = last_seen.try_emplace(progress.state(), row + 1);
        if (fresh) continue;
        const std::int32_t begin = std::exchange(seen->second, row + 1);
        const auto idle = [&](std::int32_t from, std::int32_t to) {
            return idle_before[static_cast<std::size_t>(to)] - idle_before[static_cast<std::size_t>(from)];
        };
        if (best_begin < 0 ||
            idle(begin, row + 1) * (best_end - best_begin) < idle(best_begin, best_end) * (row + 1 - begin))
            best_begin = begin, best_end = row + 1;
    }
    if (best_begin < 0) return std::nullopt;
    PeriodicPart part(history.processors());
    part.begin = best_begin;
    part.end = best_end;
    for (std::int32_t row = best_begin; row < best_end; ++row) {
        const std::int32_t to = part.period.add_row();
        for (const TraceDiagram::Entry& entry : history.entries(row))
            part.period.place(to, entry.job, history.processors_of(row, entry.job), entry.stay);
    }
    return part;
}

}  // namespace zbs::gang
