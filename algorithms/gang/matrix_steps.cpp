#include "algorithms/gang/matrix_steps.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <vector>

#include "algorithms/gang/idle_processors.hpp"

namespace zbs::gang {

void clean_matrix(TraceDiagram& diagram) { diagram.remove_alternatives(); }

namespace {

/// Moves one job out of `row` into the fullest other row that is at least as full; false where none takes any.
bool move_one(TraceDiagram& diagram, std::int32_t row, Migration migration) {
    const auto free = diagram.free_counts();
    const std::int32_t row_free = free[static_cast<std::size_t>(row)];
    // A row that is at least as full has room for no job larger than that.
    std::vector<TraceDiagram::Entry> jobs;
    for (const TraceDiagram::Entry& entry : diagram.entries(row))
        if (entry.processors <= row_free) jobs.push_back(entry);
    std::ranges::stable_sort(jobs, std::ranges::greater{}, &TraceDiagram::Entry::processors);
    for (const TraceDiagram::Entry& job : jobs) {
        const std::vector<std::int32_t> own = diagram.processors_of(row, job.job);
        std::int32_t best = -1;
        for (std::int32_t other = 0; other < diagram.row_count(); ++other) {
            const std::int32_t other_free = free[static_cast<std::size_t>(other)];
            if (other == row || other_free < job.processors) continue;
            // Equally full rows give to the lower one, so that a move is never taken back.
            if (other_free > row_free || (other_free == row_free && other > row)) continue;
            if (migration == Migration::kNone && !diagram.all_free(other, own)) continue;
            if (best < 0 || other_free < free[static_cast<std::size_t>(best)]) best = other;
        }
        if (best < 0) continue;
        const std::vector<std::int32_t> target =
            migration == Migration::kNone ? own : lowest_idle(diagram, best, job.processors);
        diagram.remove(job.job);
        diagram.place(best, job.job, target);
        return true;
    }
    return false;
}

}  // namespace

std::int32_t compact_matrix(TraceDiagram& diagram, Migration migration) {
    for (bool moved = true; moved;) {
        moved = false;
        std::vector<std::int32_t> rows(static_cast<std::size_t>(diagram.row_count()));
        std::iota(rows.begin(), rows.end(), 0);
        std::ranges::stable_sort(rows, std::ranges::greater{},
                                 [&](std::int32_t r) { return diagram.free_counts()[static_cast<std::size_t>(r)]; });
        for (const std::int32_t row : rows) {
            while (move_one(diagram, row, migration)) moved = true;
            if (moved) break;  // the order of the rows has changed
        }
    }
    return diagram.erase_empty_rows();
}

void fill_matrix(TraceDiagram& diagram, std::span<const JobId> order, Migration migration) {
    std::unordered_map<JobId, std::int32_t> home;
    for (std::int32_t row = 0; row < diagram.row_count(); ++row)
        for (const TraceDiagram::Entry& entry : diagram.entries(row))
            if (entry.stay == TraceDiagram::Stay::kHome) home.emplace(entry.job, row);
    struct Candidate {
        JobId job;
        std::vector<std::int32_t> own;
    };
    std::vector<Candidate> candidates;
    for (const JobId job : order)
        if (const auto found = home.find(job); found != home.end())
            candidates.push_back({job, diagram.processors_of(found->second, job)});
    const auto need_of = [&](std::size_t candidate) {
        return static_cast<std::int32_t>(candidates[candidate].own.size());
    };
    // Most rows are nearly full: only the smallest candidates come into question there.
    std::vector<std::size_t> by_need(candidates.size());
    std::iota(by_need.begin(), by_need.end(), std::size_t{0});
    std::ranges::stable_sort(by_need, {}, need_of);
    std::unordered_map<std::int32_t, std::vector<std::size_t>> by_first;  // their lowest processor
    if (migration == Migration::kNone)
        for (const std::size_t candidate : by_need) by_first[candidates[candidate].own.front()].push_back(candidate);
    std::vector<std::size_t> fitting;
    for (std::int32_t row = 0; row < diagram.row_count(); ++row) {
        fitting.clear();
        const auto add_fitting = [&](const std::vector<std::size_t>& smallest_first) {
            for (const std::size_t candidate : smallest_first) {
                if (need_of(candidate) > diagram.free_counts()[static_cast<std::size_t>(row)]) break;
                if (migration == Migration::kAllowed || diagram.all_free(row, candidates[candidate].own))
                    fitting.push_back(candidate);
            }
        };
        if (migration == Migration::kAllowed)
            add_fitting(by_need);
        else
            visit_idle(diagram, row, [&](std::int32_t processor) {
                if (const auto found = by_first.find(processor); found != by_first.end()) add_fitting(found->second);
                return true;
            });
        std::ranges::sort(fitting);
        for (const std::size_t number : fitting) {
            const Candidate& candidate = candidates[number];
            if (diagram.free_counts()[static_cast<std::size_t>(row)] < need_of(number)) continue;
            const auto there = diagram.entries(row);
            if (std::ranges::any_of(there, [&](const auto& entry) { return entry.job == candidate.job; })) continue;
            if (diagram.all_free(row, candidate.own))
                diagram.place(row, candidate.job, candidate.own, TraceDiagram::Stay::kAlternative);
            else if (migration == Migration::kAllowed)
                diagram.place(row, candidate.job, lowest_idle(diagram, row, need_of(number)),
                              TraceDiagram::Stay::kAlternative);
        }
    }
}

}  // namespace zbs::gang
