#include "algorithms/gang/matrix_steps.hpp"

#include <algorithm>
#include <numeric>
#include <ranges>
#include <utility>
#include <vector>

#include "algorithms/gang/idle_processors.hpp"

namespace zbs::gang {

void clean_matrix(TraceDiagram& diagram) { diagram.remove_alternatives(); }

namespace {

/// Moves one job out of `row` into the fullest other row that is at least as full; false where none takes any.
/// `by_free`: all rows, the fullest first.
bool move_one(TraceDiagram& diagram, std::int32_t row, std::span<const std::int32_t> by_free, Migration migration) {
    const auto free = diagram.free_counts();
    const std::int32_t row_free = free[static_cast<std::size_t>(row)];
    // A row that is at least as full has room for no job larger than that.
    std::vector<TraceDiagram::Entry> jobs;
    for (const TraceDiagram::Entry& entry : diagram.entries(row))
        if (entry.processors <= row_free) jobs.push_back(entry);
    std::ranges::stable_sort(jobs, std::ranges::greater{}, &TraceDiagram::Entry::processors);
    for (const TraceDiagram::Entry& job : jobs) {
        const auto free_of = [&](std::int32_t r) { return free[static_cast<std::size_t>(r)]; };
        const auto first = std::ranges::lower_bound(by_free, job.processors, {}, free_of);
        std::vector<std::int32_t> own;
        if (first != by_free.end() && free_of(*first) <= row_free) own = diagram.processors_of(row, job.job);
        std::int32_t best = -1;
        for (const std::int32_t other : std::ranges::subrange(first, by_free.end())) {
            if (free_of(other) > row_free) break;
            // Equally full rows give to the lower one, so that a move is never taken back.
            if (other == row || (free_of(other) == row_free && other > row)) continue;
            if (migration == Migration::kNone && !diagram.all_free(other, own)) continue;
            best = other;
            break;
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
        const auto free_of = [&](std::int32_t r) { return diagram.free_counts()[static_cast<std::size_t>(r)]; };
        std::vector<std::int32_t> by_free = rows;
        std::ranges::stable_sort(by_free, {}, free_of);
        std::ranges::stable_sort(rows, std::ranges::greater{}, free_of);
        for (const std::int32_t row : rows) {
            while (move_one(diagram, row, by_free, migration)) {
                moved = true;
                std::ranges::sort(by_free, {}, [&](std::int32_t r) { return std::pair(free_of(r), r); });
            }
            if (moved) break;  // the order of the rows has changed
        }
    }
    return diagram.erase_empty_rows();
}

void fill_matrix(TraceDiagram& diagram, std::span<const FillCandidate> candidates, Migration migration) {
    const auto need_of = [&](std::size_t candidate) {
        return static_cast<std::int32_t>(candidates[candidate].processors.size());
    };
    // Most rows are nearly full: only the smallest candidates come into question there.
    std::vector<std::size_t> by_need(candidates.size());
    std::iota(by_need.begin(), by_need.end(), std::size_t{0});
    std::ranges::stable_sort(by_need, {}, need_of);
    // Without migration by their lowest processor, with what they need of its word of the set of idle processors.
    struct Wanted {
        std::int32_t processors;
        bool in_one_word;
        std::uint64_t bits;
        std::size_t candidate;
    };
    std::vector<std::vector<Wanted>> by_first(static_cast<std::size_t>(diagram.processors()));
    if (migration == Migration::kNone)
        for (const std::size_t candidate : by_need) {
            const std::span<const std::int32_t> own = candidates[candidate].processors;
            Wanted wanted{need_of(candidate), own.front() / 64 == own.back() / 64, 0, candidate};
            for (const std::int32_t p : own)
                if (p / 64 == own.front() / 64) wanted.bits |= std::uint64_t{1} << (p % 64);
            by_first[static_cast<std::size_t>(own.front())].push_back(wanted);
        }
    std::vector<std::size_t> fitting;
    for (std::int32_t row = 0; row < diagram.row_count(); ++row) {
        fitting.clear();
        const std::int32_t idle = diagram.free_counts()[static_cast<std::size_t>(row)];
        if (migration == Migration::kAllowed) {
            for (const std::size_t candidate : by_need) {
                if (need_of(candidate) > idle) break;
                fitting.push_back(candidate);
            }
        } else {
            const std::span<const std::uint64_t> words = diagram.free_set(row);
            visit_idle(diagram, row, [&](std::int32_t processor) {
                const std::uint64_t word = words[static_cast<std::size_t>(processor / 64)];
                for (const Wanted& wanted : by_first[static_cast<std::size_t>(processor)]) {
                    if (wanted.processors > idle) break;
                    if ((word & wanted.bits) != wanted.bits) continue;
                    if (wanted.in_one_word || diagram.all_free(row, candidates[wanted.candidate].processors))
                        fitting.push_back(wanted.candidate);
                }
                return true;
            });
        }
        std::ranges::sort(fitting);
        for (const std::size_t number : fitting) {
            const FillCandidate& candidate = candidates[number];
            if (diagram.free_counts()[static_cast<std::size_t>(row)] < need_of(number)) continue;
            const auto there = diagram.entries(row);
            if (std::ranges::any_of(there, [&](const auto& entry) { return entry.job == candidate.job; })) continue;
            if (diagram.all_free(row, candidate.processors))
                diagram.place(row, candidate.job, candidate.processors, TraceDiagram::Stay::kAlternative);
            else if (migration == Migration::kAllowed)
                diagram.place(row, candidate.job, lowest_idle(diagram, row, need_of(number)),
                              TraceDiagram::Stay::kAlternative);
        }
    }
}

}  // namespace zbs::gang
