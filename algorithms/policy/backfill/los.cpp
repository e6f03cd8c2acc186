#include "algorithms/policy/backfill/los.hpp"

#include <algorithm>
#include <bit>
#include <string>

namespace zbs {

LookaheadTable::LookaheadTable(std::span<const LookaheadJob> jobs, std::int32_t capacity, std::int32_t extra)
    : jobs_(jobs.begin(), jobs.end()),
      capacity_(capacity),
      extra_(std::min(extra, capacity)),
      stride_(static_cast<std::size_t>(capacity) / 64 + 1),
      words_(stride_) {
    ZBS_EXPECTS(capacity >= 0 && extra >= 0);
    words_[0] = 1;  // the empty sum
    short_version_.assign(1, 0);
    long_version_.assign(1, 0);
    short_total_.assign(1, 0);
    for (const LookaheadJob& job : jobs_) {
        std::vector<std::size_t>& own = job.runs_past_shadow ? long_version_ : short_version_;
        std::vector<std::size_t>& other = job.runs_past_shadow ? short_version_ : long_version_;
        const std::size_t before = own.back();
        other.push_back(other.back());
        own.push_back(before);
        short_total_.push_back(short_total_.back());
        if (job.processors > capacity_ || (job.runs_past_shadow && job.processors > extra_)) continue;
        own.back() = words_.size() / stride_;
        words_.resize(words_.size() + stride_);
        const Word* from = &words_[before * stride_];
        Word* to = &words_[own.back() * stride_];
        const std::size_t shift_words = static_cast<std::size_t>(job.processors) / 64;
        const int shift_bits = job.processors % 64;
        for (std::size_t w = 0; w < stride_; ++w) {
            Word shifted = 0;
            if (w >= shift_words) shifted = from[w - shift_words] << shift_bits;
            if (shift_bits > 0 && w > shift_words) shifted |= from[w - shift_words - 1] >> (64 - shift_bits);
            to[w] = from[w] | shifted;
        }
        if (!job.runs_past_shadow) short_total_.back() = largest_up_to(to, capacity_);
    }
}

/// The largest member of a set of sums that is at most `limit` >= 0; 0 is always one.
std::int32_t LookaheadTable::largest_up_to(const Word* sums, std::int32_t limit) const {
    std::size_t word = static_cast<std::size_t>(limit) / 64;
    Word bits = sums[word] & (~Word{0} >> (63 - limit % 64));
    while (bits == 0) bits = sums[--word];
    return static_cast<std::int32_t>(word * 64) + 63 - std::countl_zero(bits);
}

std::int32_t LookaheadTable::util(std::size_t count, std::int32_t capacity, std::int32_t extra) const {
    ZBS_EXPECTS(count <= jobs_.size() && capacity >= 0 && capacity <= capacity_ && extra >= 0);
    const Word* const short_sums = this->short_sums(count);
    const Word* const long_sums = this->long_sums(count);
    std::int32_t best = 0;
    for (std::int32_t limit = std::min(extra, capacity);;) {
        const std::int32_t past_shadow = largest_up_to(long_sums, limit);
        best = std::max(best, past_shadow + largest_up_to(short_sums, capacity - past_shadow));
        // Smaller sums of long jobs can reach this much at most.
        if (past_shadow == 0 || best == capacity || past_shadow - 1 + short_total_[count] <= best) return best;
        limit = past_shadow - 1;
    }
}

bool LookaheadTable::selected(std::size_t count, std::int32_t capacity, std::int32_t extra) const {
    return count > 0 && util(count, capacity, extra) > util(count - 1, capacity, extra);
}

std::vector<std::size_t> LookaheadTable::best_set() const {
    std::vector<std::size_t> chosen;
    std::int32_t capacity = capacity_, extra = extra_;
    for (std::size_t count = jobs_.size(); count > 0; --count) {
        if (!selected(count, capacity, extra)) continue;
        chosen.push_back(count - 1);
        capacity -= jobs_[count - 1].processors;
        if (jobs_[count - 1].runs_past_shadow) extra -= jobs_[count - 1].processors;
    }
    std::reverse(chosen.begin(), chosen.end());
    return chosen;
}

Result<void> Los::serves(std::int32_t processors) const {
    constexpr double kMaxBits = 8.0 * (1 << 30);
    if (static_cast<double>(options_.lookahead) * processors <= kMaxBits) return {};
    return invalid("a lookahead of " + std::to_string(options_.lookahead) + " jobs on " + std::to_string(processors) +
                   " processors would take more than 1 GiB of memory; look at fewer jobs");
}

void Los::plan(const ZoneSnapshot& zone, Plan& plan) {
    plan.clear();
    CapacityProfile profile = running_.follow(zone);
    std::int32_t free = zone.free_processors;
    const WaitingJob* head = nullptr;
    std::vector<WaitingJob> candidates;
    zone.waiting.visit([&](const WaitingJob& job) {
        if (options_.reserve && head == nullptr) {
            if (job.processors > free) {
                head = &job;
                return free > 0;
            }
            plan.starts.push_back(zone.record(job.handle).job.id);
            profile.add(zone.now, zone.now + job.walltime, -job.processors);
            free -= job.processors;
            return true;
        }
        candidates.push_back(job);
        return candidates.size() < options_.lookahead;
    });
    Shadow shadow{kNever, free};
    if (head != nullptr) {
        shadow.at = profile.first_with(zone.now, head->processors);
        if (shadow.at != kNever) shadow.extra_processors = profile.free_at(shadow.at) - head->processors;
        const JobRecord& record = zone.record(head->handle);
        if (record.reserved != shadow.at) plan.reservations.push_back({record.job.id, shadow.at});
    }
    if (free == 0 || candidates.empty()) return;
    std::vector<LookaheadJob> jobs;
    for (const WaitingJob& job : candidates)
        jobs.push_back({job.processors, shadow.at != kNever && zone.now + job.walltime > shadow.at});
    // More than all of them cannot be used, so the table need not be wider.
    std::int64_t all = 0;
    for (const LookaheadJob& job : jobs) all += job.processors;
    const std::int32_t capacity = static_cast<std::int32_t>(std::min<std::int64_t>(all, free));
    for (const std::size_t index : LookaheadTable(jobs, capacity, shadow.extra_processors).best_set())
        plan.starts.push_back(zone.record(candidates[index].handle).job.id);
}

}  // namespace zbs
