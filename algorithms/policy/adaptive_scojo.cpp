#include "algorithms/policy/adaptive_scojo.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <string>

namespace zbs {

Load classify_load(const LoadDemand& demand, std::int32_t processors, std::int32_t level) {
    if (demand.needed + demand.growth < processors) return Load::kLow;
    return demand.needed > std::int64_t{processors} * level ? Load::kHigh : Load::kNormal;
}

std::int32_t shrunk(const SizeRange& range, std::int32_t size) { return range.least + (size - range.least) / 2; }
std::int32_t expanded(const SizeRange& range, std::int32_t size) { return range.most - (range.most - size) / 2; }

std::int32_t target_size(const SizeRange& range, Load load) {
    switch (load) {
        case Load::kLow:
            return expanded(range, range.best);
        case Load::kHigh:
            return shrunk(range, range.best);
        case Load::kNormal:
            break;
    }
    return range.best;
}

std::int32_t fill_row(std::span<Newcomer> newcomers, std::int32_t idle) {
    const auto take = [&idle](Newcomer& job) {
        const std::int32_t more = std::min(idle, job.range.most - job.size);
        job.size += more;
        idle -= more;
    };
    for (Newcomer& job : newcomers)
        if (job.flexibility == Flexibility::kMoldable) take(job);
    for (Newcomer& job : newcomers)
        if (job.flexibility == Flexibility::kMalleable && !job.is_long) take(job);
    return idle;
}

namespace {

/// Idle slots of a row from now on, as far as jobs that run and jobs that have been promised a start there leave some.
class RowFuture {
  public:
    /// Counts the steps that it looks at in `examined_count`, which outlives it.
    RowFuture(Time now, std::int32_t idle, std::uint64_t& examined_count)
        : steps_{{now, idle}}, examined_count_(&examined_count) {}

    /// A job that runs leaves the row. To be called in any order, before all else but `close`.
    void add_end(Time at, std::int32_t processors) { steps_.push_back({at, processors}); }
    void close() {
        std::ranges::sort(steps_.begin() + 1, steps_.end(), {}, &Step::at);
        for (std::size_t i = 1; i < steps_.size(); ++i) steps_[i].idle += steps_[i - 1].idle;
    }

    /// Whether so many slots stay idle from now until `end`.
    bool admits(std::int32_t size, Time end) const {
        for (const Step& step : steps_) {
            ++*examined_count_;
            if (step.at >= end) return true;
            if (step.idle < size) return false;
        }
        return true;
    }
    /// When so many slots are idle for so long at first; kNever if they never are.
    Time first_fit(std::int32_t size, Duration length) const {
        std::optional<Time> begin;
        for (const Step& step : steps_) {
            ++*examined_count_;
            if (begin && step.at - *begin >= length) return *begin;
            if (step.idle < size)
                begin.reset();
            else if (!begin)
                begin = step.at;
        }
        return begin.value_or(kNever);
    }
    /// Takes so many slots from `begin` until `end`.
    void take(std::int32_t size, Time begin, Time end) {
        const std::size_t first = step_at(begin), last = step_at(end);
        *examined_count_ += last - first;
        for (std::size_t i = first; i < last; ++i) steps_[i].idle -= size;
    }

  private:
    struct Step {
        Time at;
        std::int32_t idle;  ///< from then on
    };
    /// The step of this instant, which is put in if it is missing.
    std::size_t step_at(Time at) {
        const auto found = std::ranges::lower_bound(steps_, at, {}, &Step::at);
        const auto index = static_cast<std::size_t>(found - steps_.begin());
        *examined_count_ += steps_.size() - index;  // which move up
        if (found == steps_.end() || found->at != at) steps_.insert(found, {at, steps_[index - 1].idle});
        return index;
    }

    std::vector<Step> steps_;  ///< by time; of steps at one instant the last one counts
    std::uint64_t* examined_count_;
};

}  // namespace

/// One plan in the making.
class AdaptiveScojo::Making {
  public:
    Making(const Options& options, const ZoneSnapshot& zone, Plan& plan, Work& work)
        : options_(options), zone_(zone), plan_(plan), work_(work), matrix_(*zone.diagram) {
        zone.running.visit([&](const RunningJob& job) {
            running_.push_back({zone.record(job.handle).job.id, job.handle});
            return true;
        });
        std::ranges::sort(running_, {}, &Resident::id);
        const std::int64_t idle_before = matrix_.idle_slots();
        matrix_.remove_alternatives();  // of a policy that has been here before
        std::vector<JobId> ended;
        for (std::int32_t row = 0; row < matrix_.row_count(); ++row)
            for (const TraceDiagram::Entry& entry : matrix_.entries(row))
                if (running(entry.job) == nullptr) ended.push_back(entry.job);
        for (const JobId job : ended) matrix_.remove(job);
        changed_ = matrix_.idle_slots() != idle_before;
        newcomers_.resize(static_cast<std::size_t>(matrix_.row_count()));
        find_most_idle();
    }

    LoadDemand demand(const std::vector<Waiting>& queue) const {
        LoadDemand demand;
        const auto count = [&demand](Flexibility flexibility, const SizeRange& range, std::int32_t size) {
            demand.needed += size;
            if (flexibility == Flexibility::kMalleable) demand.growth += expanded(range, size) - size;
        };
        for (const Resident& resident : running_) {
            const JobRecord& record = zone_.record(resident.handle);
            if (record.job.walltime < options_.reconfigure) continue;
            count(record.job.flexibility, size_range(record.job, zone_.processors), record.allocated);
        }
        for (const Waiting& job : queue)
            if (job.counts) count(job.flexibility, job.range, job.range.best);
        return demand;
    }

    /// Shrinks or expands all malleable jobs that run by one step, as far as their rows have room.
    void adapt(Load load) {
        if (load == Load::kNormal) return;
        for (std::int32_t row = 0; row < matrix_.row_count(); ++row) {
            const std::span<const TraceDiagram::Entry> entries = matrix_.entries(row);
            for (const auto& [job, size, stay] : std::vector(entries.begin(), entries.end())) {
                const JobRecord& record = zone_.record(running(job)->handle);
                if (record.job.flexibility != Flexibility::kMalleable) continue;
                const SizeRange range = size_range(record.job, zone_.processors);
                const std::int32_t wanted = load == Load::kHigh ? shrunk(range, size) : expanded(range, size);
                const std::int32_t next = std::min(wanted, size + idle(row));
                if (next == size) continue;
                change_size(row, job, next);
                plan_.resizes.push_back({job, next});
            }
        }
        find_most_idle();
    }

    /// Gives places to those who wait, as far as order and backfilling allow.
    void populate(const std::vector<Waiting>& queue, Load load) {
        std::size_t promised = 0;
        bool blocked = false;
        for (const Waiting& job : queue) {
            ++work_.jobs;
            const bool chooses = options_.adapt && job.flexibility != Flexibility::kRigid;
            const std::int32_t size = chooses ? target_size(job.range, load) : job.range.best;
            const std::optional<std::int32_t> row = blocked ? backfill(job, size) : first_fit(size);
            if (row) {
                enter(job, size, *row);
                continue;
            }
            blocked = true;
            if (options_.backfill == Backfill::kNone || most_idle_ == 0) return;
            if (promised < most_promises()) {
                promise(zone_.record(job.handle), size);
                ++promised;
            }
        }
    }

    /// Lets newcomers take idle slots, and writes down what has come about.
    void finish() {
        for (std::size_t row = 0; row < newcomers_.size(); ++row) {
            std::vector<Newcomer> jobs;
            for (const Entering& entering : newcomers_[row]) jobs.push_back(entering.job);
            if (options_.fill) fill_row(jobs, idle(static_cast<std::int32_t>(row)));
            for (std::size_t i = 0; i < jobs.size(); ++i) {
                const JobRecord& record = zone_.record(newcomers_[row][i].handle);
                if (jobs[i].size != newcomers_[row][i].job.size)
                    change_size(static_cast<std::int32_t>(row), record.job.id, jobs[i].size);
                if (jobs[i].size != record.allocated) plan_.resizes.push_back({record.job.id, jobs[i].size});
            }
        }
        matrix_.erase_empty_rows();
        if (!changed_) return;
        if (const std::int32_t rows = matrix_.row_count(); rows > 0)
            plan_.slice = slice_length(options_.slice, options_.level, rows);
        plan_.diagram = std::make_shared<TraceDiagram>(std::move(matrix_));
    }

  private:
    struct Resident {
        JobId id;
        JobHandle handle;
    };
    struct Entering {
        Newcomer job;
        JobHandle handle;
    };

    const Resident* running(JobId id) const {
        const auto found = std::ranges::lower_bound(running_, id, {}, &Resident::id);
        return found == running_.end() || found->id != id ? nullptr : &*found;
    }
    std::int32_t idle(std::int32_t row) const { return matrix_.free_counts()[static_cast<std::size_t>(row)]; }
    void find_most_idle() {
        const auto counts = matrix_.free_counts();
        most_idle_ = counts.empty() ? 0 : *std::ranges::max_element(counts);
    }

    std::optional<std::int32_t> first_fit(std::int32_t size) {
        for (std::int32_t row = 0; row < matrix_.row_count(); ++row)
            if (idle(row) >= size) return row;
        if (matrix_.row_count() >= options_.level) return std::nullopt;
        newcomers_.emplace_back();
        return matrix_.add_row();
    }
    /// The first row that has room, and where nobody ahead is delayed if somebody must not be.
    std::optional<std::int32_t> backfill(const Waiting& job, std::int32_t size) const {
        if (size > most_idle_) return std::nullopt;
        const Time end = expected_end(zone_.record(job.handle), size);
        for (std::int32_t row = 0; row < matrix_.row_count(); ++row)
            if (idle(row) >= size && (futures_.empty() || futures_[static_cast<std::size_t>(row)].admits(size, end)))
                return row;
        return std::nullopt;
    }

    void enter(const Waiting& job, std::int32_t size, std::int32_t row) {
        const JobRecord& record = zone_.record(job.handle);
        const auto at = static_cast<std::size_t>(row);
        matrix_.place(row, record.job.id, lowest_idle(row, size));
        newcomers_[at].push_back({{job.flexibility, job.cls == options_.classes.size(), job.range, size}, job.handle});
        if (!futures_.empty()) futures_[at].take(size, zone_.now, expected_end(record, size));
        plan_.starts.push_back(record.job.id);
        changed_ = true;
        find_most_idle();
    }

    /// How many of those who stay behind are not to be delayed.
    std::size_t most_promises() const {
        switch (options_.backfill) {
            case Backfill::kEasy:
                return 1;
            case Backfill::kConservative:
                return options_.lookahead;
            case Backfill::kNone:
            case Backfill::kAggressive:
                break;
        }
        return 0;
    }
    /// Keeps the slots for a job where it can start first; those who come later must do without them.
    void promise(const JobRecord& record, std::int32_t size) {
        if (futures_.empty()) foresee();
        const Duration length = expected_end(record, size) - zone_.now;
        Time begin = kNever;
        RowFuture* where = nullptr;
        for (RowFuture& future : futures_)
            if (const Time at = future.first_fit(size, length); at < begin) {
                begin = at;
                where = &future;
            }
        if (where != nullptr) where->take(size, begin, begin > kNever - length ? kNever : begin + length);
    }
    /// Idle slots over time as the jobs of the matrix leave them.
    void foresee() {
        for (std::int32_t row = 0; row < matrix_.row_count(); ++row) {
            RowFuture& future = futures_.emplace_back(zone_.now, idle(row), work_.steps);
            for (const TraceDiagram::Entry& entry : matrix_.entries(row))
                if (const Resident* const resident = running(entry.job))
                    future.add_end(expected_end(zone_.record(resident->handle), entry.processors), entry.processors);
            for (const Entering& entering : newcomers_[static_cast<std::size_t>(row)])
                future.add_end(expected_end(zone_.record(entering.handle), entering.job.size), entering.job.size);
            future.close();
        }
    }
    /// When the job ends if it has this size from now on, and the matrix as many rows as now.
    Time expected_end(const JobRecord& record, std::int32_t size) const {
        const Duration done = record.phase == JobPhase::kRunning ? served(record, zone_.now) : record.served;
        const Duration left = std::max(record.job.walltime - done, ZoneState::kOverdueGrace);
        double factor = matrix_.row_count();
        if (size != record.job.processors) factor /= relative_speed(size_range(record.job, zone_.processors), size);
        const double us =
            std::min(static_cast<double>(left.count()) * factor, 2 * static_cast<double>(ZoneState::kMaxTimeUs));
        return zone_.now + Duration{static_cast<std::int64_t>(us)};
    }

    std::vector<std::int32_t> lowest_idle(std::int32_t row, std::int32_t count) const {
        std::vector<std::int32_t> found;
        const std::span<const std::uint64_t> words = matrix_.free_set(row);
        for (std::size_t w = 0; w < words.size(); ++w)
            for (std::uint64_t left = words[w]; left != 0; left &= left - 1) {
                if (std::ssize(found) == count) return found;
                found.push_back(static_cast<std::int32_t>(64 * w) + std::countr_zero(left));
            }
        return found;
    }
    /// The job keeps the lowest of its processors, and gets the lowest idle ones besides.
    void change_size(std::int32_t row, JobId job, std::int32_t size) {
        std::vector<std::int32_t> mine = matrix_.processors_of(row, job);
        if (size > std::ssize(mine)) {
            const std::vector<std::int32_t> more = lowest_idle(row, size - static_cast<std::int32_t>(mine.size()));
            mine.insert(mine.end(), more.begin(), more.end());
        } else {
            mine.resize(static_cast<std::size_t>(size));
        }
        matrix_.remove(job);
        matrix_.place(row, job, mine);
        changed_ = true;
    }

    const Options& options_;
    const ZoneSnapshot& zone_;
    Plan& plan_;
    Work& work_;
    TraceDiagram matrix_;
    bool changed_ = false;
    std::int32_t most_idle_ = 0;                    ///< of a row
    std::vector<Resident> running_;                 ///< by id
    std::vector<std::vector<Entering>> newcomers_;  ///< by row, in the order in which they came
    std::vector<RowFuture> futures_;                ///< by row, once somebody has been promised a start
};

AdaptiveScojo::AdaptiveScojo(const Options& options) : options_(options) {
    ZBS_EXPECTS(options.level >= 1 && options.level <= kMaxLevel && options.slice > Duration::zero());
}

std::span<const AdaptiveScojo::Strategy> AdaptiveScojo::strategies() {
    using enum Backfill;
    static constexpr Strategy kStrategies[] = {
        {"fcfs", Order::kFcfs, kNone, false, false, 5},
        {"fcfs-b", Order::kFcfs, kConservative, false, false, 5},
        {"pri-b", Order::kPriority, kConservative, false, false, 5},
        {"pri-eb", Order::kPriority, kAggressive, false, false, 5},
        {"pri-b-wa-fa", Order::kPriority, kConservative, true, true, 2},
        {"pri-eb-wa-fa", Order::kPriority, kAggressive, true, true, 2},
        {"pri-b-wa", Order::kPriority, kConservative, true, false, 2},
        {"pri-b-fa", Order::kPriority, kConservative, false, true, 2},
        {"pri-wa-fa", Order::kPriority, kNone, true, true, 2},
        {"fcfs-b-wa-fa", Order::kFcfs, kConservative, true, true, 2},
    };
    return kStrategies;
}

Result<void> AdaptiveScojo::serves(std::int32_t processors) const {
    if (processors > TraceDiagram::kMaxProcessors)
        return invalid("a slice matrix has at most " + std::to_string(TraceDiagram::kMaxProcessors) +
                       " processors, not " + std::to_string(processors));
    return {};
}

void AdaptiveScojo::plan(const ZoneSnapshot& zone, Plan& plan) {
    ZBS_EXPECTS(zone.diagram != nullptr);
    plan.clear();
    follow(zone);
    Making making(options_, zone, plan, work_);
    Load load = Load::kNormal;
    if (options_.adapt) {
        if (zone.load && zone.now - zone.load->at < options_.reconfigure) {
            load = zone.load->load;
        } else {
            load = classify_load(making.demand(queue_), zone.processors, options_.level);
            plan.load = load;
            making.adapt(load);
        }
    }
    making.populate(ordered(zone), load);
    making.finish();
}

std::uint32_t AdaptiveScojo::class_of(Duration walltime) const {
    const auto found = std::ranges::lower_bound(options_.classes, walltime);
    return static_cast<std::uint32_t>(found - options_.classes.begin());
}

/// Brings the queue up to the snapshot.
void AdaptiveScojo::follow(const ZoneSnapshot& zone) {
    const auto waiting_of = [&](JobHandle handle) {
        const JobRecord& record = zone.record(handle);
        const std::uint32_t cls = class_of(record.job.walltime);
        return Waiting{.rank = options_.order == Order::kPriority ? cls : 0,
                       .cls = cls,
                       .arrival = record.arrival,
                       .handle = handle,
                       .flexibility = record.job.flexibility,
                       .counts = record.job.walltime >= options_.reconfigure,
                       .range = size_range(record.job, zone.processors)};
    };
    // A rigid job larger than what is left of the machine waits where it harms nobody.
    const auto can_fit = [&](const Job& job) {
        return job.flexibility != Flexibility::kRigid || job.processors <= zone.processors;
    };
    if (!index_age_.follows(zone)) {
        queue_.clear();
        zone.waiting.visit([&](const WaitingJob& job) {
            if (can_fit(zone.record(job.handle).job)) queue_.push_back(waiting_of(job.handle));
            return true;
        });
        std::ranges::stable_sort(queue_, {}, &Waiting::key);
    } else {
        for (const ZoneChange& change : zone.changes) {
            const JobRecord& record = zone.record(change.handle);
            if (change.kind == ZoneChange::Kind::kStarted || change.kind == ZoneChange::Kind::kWithdrawn) {
                drop(change.arrival);
            } else if (change.kind == ZoneChange::Kind::kSubmitted && record.arrival == change.arrival &&
                       record.phase == JobPhase::kWaiting && can_fit(record.job)) {
                const Waiting job = waiting_of(change.handle);
                queue_.insert(std::ranges::upper_bound(queue_, job.key(), {}, &Waiting::key), job);
            }
        }
    }
    index_age_.update(zone);
}

void AdaptiveScojo::drop(std::uint64_t arrival) {
    for (std::uint32_t rank = 0; rank <= options_.classes.size(); ++rank) {
        const std::pair key{rank, arrival};
        const auto found = std::ranges::lower_bound(queue_, key, {}, &Waiting::key);
        if (found == queue_.end() || found->key() != key) continue;
        queue_.erase(found);
        return;
    }
}

/// The queue as it is served now.
const std::vector<AdaptiveScojo::Waiting>& AdaptiveScojo::ordered(const ZoneSnapshot& zone) {
    if (options_.age <= Duration::zero() || options_.order == Order::kFcfs) return queue_;
    aged_ = queue_;
    for (Waiting& job : aged_) {
        const std::int64_t steps = (zone.now - zone.record(job.handle).waiting_since) / options_.age;
        job.rank -= static_cast<std::uint32_t>(std::min<std::int64_t>(steps, job.rank));
    }
    std::ranges::stable_sort(aged_, {}, &Waiting::key);
    return aged_;
}

}  // namespace zbs
