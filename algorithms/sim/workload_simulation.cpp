#include "algorithms/sim/workload_simulation.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "algorithms/model/speedup.hpp"
#include "algorithms/sim/shared_machine.hpp"
#include "algorithms/sim/slice_rotation.hpp"

namespace zbs {
namespace {

/// The end of a running job. Ends of one instant come in the order in which the jobs started.
struct End {
    Time at;
    std::uint32_t order;
    std::uint32_t job;
    bool operator>(const End& other) const { return at != other.at ? at > other.at : order > other.order; }
};

std::string name_of(const WorkloadJob& entry, const std::string& workload) {
    return "job " + std::to_string(entry.job.id.value) + " of " + (workload.empty() ? "the workload" : workload);
}

/// The jobs from the first one that has not ended to the last one submitted, by their place in the workload.
class JobWindow {
  public:
    struct Entry {
        WorkloadJob entry;
        Time start = kNever;
        Time end = kNever;
    };
    std::size_t begin() const { return begin_; }
    std::size_t end() const { return end_; }
    Entry& operator[](std::size_t place) { return ring_[place & (ring_.size() - 1)]; }
    const Entry& operator[](std::size_t place) const { return ring_[place & (ring_.size() - 1)]; }

    void push(const WorkloadJob& entry) {
        if (end_ - begin_ == ring_.size()) {
            std::vector<Entry> larger(2 * ring_.size());
            for (std::size_t place = begin_; place < end_; ++place)
                larger[place & (larger.size() - 1)] = (*this)[place];
            ring_ = std::move(larger);
        }
        (*this)[end_++] = {entry, kNever, kNever};
    }
    void pop() { ++begin_; }

  private:
    std::vector<Entry> ring_ = std::vector<Entry>(256);  ///< a power of two; an entry is at its place modulo the size
    std::size_t begin_ = 0, end_ = 0;
};

/// What is wrong with a job, the one before it was submitted at `previous`.
Result<void> check_job(const WorkloadJob& entry, Time previous, const std::string& workload, const Policy& policy,
                       const SimulationOptions& options) {
    if (entry.job.submit < previous)
        return invalid(name_of(entry, workload) +
                       " is submitted before the job ahead of it: sort the workload by submit time");
    if (entry.runtime <= Duration::zero())
        return invalid(name_of(entry, workload) + " must have a run time above zero");
    if (entry.runtime > entry.job.walltime &&
        (options.rules == EventRules::kReference || policy.sharing() != ZoneState::Sharing::kSpace))
        return invalid(name_of(entry, workload) +
                       " runs longer than its walltime, which needs batched rules and a policy whose jobs have "
                       "their processors alone");
    if (to_microseconds(entry.job.submit) < 0 || to_microseconds(entry.job.submit) > ZoneState::kMaxTimeUs / 2)
        return invalid(name_of(entry, workload) + ": its submit time is out of range");
    if (policy.sharing() == ZoneState::Sharing::kTime && options.memory_bytes > 0 &&
        entry.job.memory_bytes > options.memory_bytes)
        return invalid(name_of(entry, workload) + " needs " + std::to_string(entry.job.memory_bytes) +
                       " bytes of memory a task, a processor has " + std::to_string(options.memory_bytes));
    if (options.allocator != nullptr)
        if (Result<void> good = options.allocator->accepts({.processors = entry.job.processors}); !good)
            return invalid(name_of(entry, workload) + " can never be placed: " + good.error().message);
    return {};
}

constexpr std::size_t kMostJobs = 0xffffffff;
Error too_many_jobs() { return {ErrorCode::kTooLarge, "a simulation takes at most 4,294,967,295 jobs", {}}; }

/// The number of processors; refuses options that do not fit the machine or the policy.
Result<std::int32_t> machine_of(std::int32_t of_workload, const Policy& policy, const SimulationOptions& options) {
    const std::int32_t processors = options.processors > 0 ? options.processors : of_workload;
    if (processors <= 0)
        return invalid("the workload does not say how many processors its machine has: name the number");
    if (processors > ZoneState::kMaxProcessors)
        return invalid("a machine has at most " + std::to_string(ZoneState::kMaxProcessors) + " processors");
    if (options.slice <= Duration::zero()) return invalid("a slice must be longer than nothing");
    if (options.resize_cost < Duration::zero()) return invalid("a change of size must not cost less than nothing");
    if (options.memory_bytes < 0) return invalid("the memory of a processor must not be negative");
    if (Result<void> served = policy.serves(processors); !served) return served.error();
    if (options.allocator == nullptr) return processors;
    if (policy.sharing() != ZoneState::Sharing::kSpace)
        return invalid(
            "jobs of this policy take turns or share processors; an allocator places jobs that have theirs alone: "
            "leave one of the two out");
    if (options.allocator->capacity() != processors)
        return invalid("the allocator is made for " + std::to_string(options.allocator->capacity()) +
                       " processors, the machine has " + std::to_string(processors));
    return processors;
}

class Run {
  public:
    /// `workload`: all jobs; nullptr: they are not known beforehand, and only their times are recorded, by `ended`.
    Run(const std::string& name, const Workload* workload, Policy& policy, const SimulationOptions& options,
        std::int32_t processors, const JobEndedCall& ended)
        : name_(name),
          workload_(workload),
          ended_call_(ended),
          policy_(policy),
          options_(options),
          zone_({.processors = processors,
                 .overdue =
                     options.rules == EventRules::kReference ? ZoneState::Overdue::kGone : ZoneState::Overdue::kHolds,
                 .sharing = policy.sharing(),
                 .memory_bytes = options.memory_bytes}) {
        const std::size_t jobs = workload == nullptr ? 0 : workload->jobs.size();
        if (policy.sharing() == ZoneState::Sharing::kTime) {
            rotation_.emplace(options.slice, processors);
            outcome_.time_with_rows.assign(1, {});
            left_.assign(jobs, {});
        }
        if (has_shares() || by_rank()) shared_.emplace();
        if (rotation_ || has_shares()) outcome_.processor_seconds.assign(jobs, 0);
        if (rotation_ || by_rank()) outcome_.first_service.assign(jobs, kNever);
        if (options.allocator != nullptr) allocator_ = options.allocator->unused();
        outcome_.processors = processors;
        outcome_.start.assign(jobs, kNever);
        outcome_.end.assign(jobs, kNever);
    }

    /// Everything up to the submission of this job, and that.
    Result<void> add(const WorkloadJob& entry) {
        const Time now = entry.job.submit;
        if (workload_ == nullptr) {
            if (submitted_ == kMostJobs) return too_many_jobs();
            if (Result<void> good = check_job(entry, last_submission_, name_, policy_, options_); !good) return good;
        }
        if (open_ && now == last_submission_) return submit(now, entry);
        Result<void> done = complete_instant();
        while (done && next_event() < now) done = pass(next_event());
        last_submission_ = now;
        if (done && one_by_one()) {
            done = submit(now, entry);
            return done ? decide(now, false) : done;
        }
        open_ = true;
        if (done) done = begin_instant(now);
        return done ? submit(now, entry) : done;
    }

    /// The rest, after the last submission.
    Result<SimulationOutcome> finish() {
        Result<void> done = complete_instant();
        while (done && next_event() != kNever) done = pass(next_event());
        if (!done) return done.error();
        if (ended_ < submitted_) return left_waiting();
        return std::move(outcome_);
    }

  private:
    bool one_by_one() const { return options_.rules == EventRules::kReference; }
    Time next_event() { return std::min(next_end(), plan_.wake_at); }

    /// An instant without submissions; under reference rules the first event of it.
    Result<void> pass(Time now) {
        if (!one_by_one()) {
            Result<void> done = begin_instant(now);
            return done ? decide(now, true) : done;
        }
        const bool ends = next_end() == now;
        Result<void> done = ends ? finish(now) : wake(now);
        return done ? decide(now, !ends) : done;
    }
    Result<void> begin_instant(Time now) {
        Result<void> done;
        if (plan_.wake_at == now) done = wake(now);
        while (done && next_end() == now) done = finish(now);
        return done;
    }
    /// Plans for the instant of the last submission, under batched rules.
    Result<void> complete_instant() {
        if (!open_) return {};
        open_ = false;
        return decide(last_submission_, true);
    }

    Result<void> submit(Time now, const WorkloadJob& entry) {
        Job job = entry.job;
        // All that is here ends by now plus these walltimes; promises and sums of two instants stay in range.
        if (job.walltime.count() > ZoneState::kMaxTimeUs / 4 - work_.count())
            return invalid(name_of(entry, name_) + ": the walltimes of the " + std::to_string(submitted_ - ended_ + 1) +
                           " jobs that run or wait when it is submitted sum up to more than 18,000 years: give shorter "
                           "ones");
        work_ += job.walltime;
        // Inside, a job goes by its place in the workload.
        job.id = JobId{static_cast<std::int64_t>(submitted_)};
        jobs_.push(entry);
        ++submitted_;
        ++outcome_.events;
        Result<void> taken = zone_.apply(now, JobSubmitted{job});
        if (!taken) return invalid(name_of(entry, name_) + ": " + taken.error().message);
        return taken;
    }

    /// So that memory stays linear in jobs.
    std::size_t most_changes() const {
        return 1'000'000 + 1'000 * (workload_ == nullptr ? submitted_ : workload_->jobs.size());
    }

    Time next_end() {
        if (rotation_) return rotation_->next_end();
        if (shared_) return shared_->next_end();
        while (!cut_short_.empty() && !ends_.empty() && is_cut_short(ends_.front())) pop_end();
        return ends_.empty() ? kNever : ends_.front().at;
    }

    std::uint32_t pop_end() {
        if (rotation_) return rotation_->pop_end();
        if (shared_) {
            top_stale_ = true;
            return shared_->pop_end();
        }
        std::pop_heap(ends_.begin(), ends_.end(), std::greater<>{});
        const std::uint32_t job = ends_.back().job;
        ends_.pop_back();
        return job;
    }

    /// Whether the job was preempted after this end was foreseen.
    bool is_cut_short(const End& end) const {
        const auto found = cut_short_.find(end.job);
        return found != cut_short_.end() && end.order < found->second.order;
    }

    Result<void> finish(Time now) {
        const std::uint32_t job = pop_end();
        jobs_[job].end = now;
        if (rotation_) outcome_.first_service[job] = rotation_->first_service(job);
        if (by_rank()) book_top(now);
        if (rotation_) use(job, zone_.find(JobId{job})->allocated, left_[job]);
        if (has_shares()) {
            book_parts(now);
            std::erase_if(parts_, [&](const Part& part) { return part.job == job; });
        }
        ++outcome_.events;
        ++ended_;
        work_ -= jobs_[job].entry.job.walltime;
        if (options_.progress && ended_ % 4096 == 0) options_.progress(ended_);
        free_place(job);
        record_ended();
        return zone_.apply(now, JobEnded{JobId{static_cast<std::int64_t>(job)}});
    }

    /// Takes the times of jobs that ended out of the window, in the order of submission.
    void record_ended() {
        for (; jobs_.begin() < jobs_.end() && jobs_[jobs_.begin()].end != kNever; jobs_.pop()) {
            const auto& [entry, start, end] = jobs_[jobs_.begin()];
            if (workload_ == nullptr) {
                ended_call_(entry, start, end);
                continue;
            }
            outcome_.start[jobs_.begin()] = start;
            outcome_.end[jobs_.begin()] = end;
        }
    }

    void start(Time now, std::uint32_t job) {
        if (jobs_[job].start == kNever) jobs_[job].start = now;
        Duration left = jobs_[job].entry.runtime;
        const Job& wanted = jobs_[job].entry.job;
        if (wanted.flexibility != Flexibility::kRigid) {
            const std::int32_t size = zone_.find(JobId{job})->allocated;
            if (size != wanted.processors) {
                left = stretched(left, 1 / speed(wanted, size));
                start_on(job, size);
            }
        }
        if (rotation_) {
            left_[job] = left;
            return rotation_->add(job, left);
        }
        if (shared_) return shared_->add(job, left);
        if (!cut_short_.empty())
            if (const auto found = cut_short_.find(job); found != cut_short_.end()) {
                left = found->second.left;
                found->second.resumed = now;
                outcome_.interruptions[found->second.interruption].resumed = now;
            }
        ends_.push_back({now + left, started_++, job});
        std::push_heap(ends_.begin(), ends_.end(), std::greater<>{});
    }

    void start_on(std::uint32_t job, std::int32_t processors) {
        if (workload_ == nullptr) return;
        if (outcome_.started_on.empty())
            for (const WorkloadJob& entry : workload_->jobs) outcome_.started_on.push_back(entry.job.processors);
        outcome_.started_on[job] = processors;
    }

    void preempt(Time now, std::uint32_t job) {
        free_place(job);
        const auto [found, first] = cut_short_.try_emplace(job);
        CutShort& cut = found->second;
        if (first) cut = {.left = jobs_[job].entry.runtime, .resumed = jobs_[job].start};
        cut.left -= now - cut.resumed;
        cut.order = started_;
        cut.interruption = outcome_.interruptions.size();
        outcome_.interruptions.push_back({job, now});
    }

    void free_place(std::uint32_t job) {
        // A job past its walltime may have left ahead of its end.
        const JobId id{static_cast<std::int64_t>(job)};
        if (allocator_ && allocator_->placements().contains(id)) ZBS_EXPECTS(allocator_->release(id).has_value());
    }

    /// Frees the places of jobs that the zone counts as gone, though their ends come later in this instant.
    void free_places_of_leaving(Time now) {
        if (next_end() != now) return;
        for (const End& end : ends_) {
            if (end.at != now || is_cut_short(end)) continue;
            const JobRecord* const record = zone_.find(JobId{static_cast<std::int64_t>(end.job)});
            if (record != nullptr && record->phase == JobPhase::kLeaving) free_place(end.job);
        }
    }

    /// Whether the allocator has a place for the job, which is then taken.
    bool place(Time now, std::uint32_t job) {
        const Result<const Placement*> placed = allocator_->allocate(JobId{static_cast<std::int64_t>(job)},
                                                                     {.processors = jobs_[job].entry.job.processors});
        ZBS_EXPECTS(placed.has_value());  // tried on an unused machine before the run
        if (*placed == nullptr) return false;
        if (options_.record_places) {
            PlacementChange change{.at = now, .job = job, .ranges = {}};
            std::vector<NodeIndex> nodes = (*placed)->nodes;
            std::ranges::sort(nodes);
            for (const NodeIndex node : nodes) add_processor(change.ranges, 0, static_cast<std::int32_t>(node));
            outcome_.placements.push_back(std::move(change));
        }
        return true;
    }

    static void add_processor(std::vector<PlaceRange>& ranges, std::int32_t row, std::int32_t processor) {
        if (!ranges.empty() && ranges.back().row == row && ranges.back().last + 1 == processor)
            ranges.back().last = processor;
        else
            ranges.push_back({row, processor, processor});
    }

    /// The slots of all jobs as the matrix has them now; records those that changed.
    void record_slots(Time now, const TraceDiagram& diagram) {
        std::map<std::uint32_t, std::vector<PlaceRange>> slots;
        for (std::int32_t row = 0; row < diagram.row_count(); ++row) {
            const std::span<const JobId> cells = diagram.slots(row);
            for (std::int32_t processor = 0; processor < diagram.processors(); ++processor)
                if (const JobId job = cells[static_cast<std::size_t>(processor)]; job != kNoJob)
                    add_processor(slots[static_cast<std::uint32_t>(job.value)], row, processor);
        }
        for (auto& [job, ranges] : slots)
            if (const auto known = slots_.find(job); known == slots_.end() || known->second != ranges)
                outcome_.placements.push_back({now, job, ranges});
        slots_ = std::move(slots);
        outcome_.rows = std::max(outcome_.rows, diagram.row_count());
    }

    /// Starts jobs behind a refused one that end before a place can come free: nobody is delayed by them.
    Result<void> pass_refused(Time now) {
        const ZoneSnapshot zone = zone_.snapshot();
        if (zone.running.empty()) return {};
        const Time until = zone.running.front().expected_end;
        std::int32_t free = zone.free_processors;
        std::vector<JobId> candidates;
        zone.waiting.visit([&](const WaitingJob& job) {
            if (job.processors <= free && now + job.walltime <= until)
                candidates.push_back(zone.record(job.handle).job.id);
            return true;
        });
        for (const JobId id : candidates) {
            const auto job = static_cast<std::uint32_t>(id.value);
            if (jobs_[job].entry.job.processors > free || !place(now, job)) continue;
            if (Result<void> started = zone_.apply(now, JobStarted{id}); !started) return refused(id, started.error());
            free -= jobs_[job].entry.job.processors;
            start(now, job);
        }
        return {};
    }

    Result<void> wake(Time now) {
        ++outcome_.events;
        return zone_.apply(now, ClockAdvanced{});
    }

    /// What the plan says of jobs that run: preemptions, then other sizes.
    Result<void> change_running(Time now) {
        for (const JobId id : plan_.preemptions) {
            Result<void> preempted = zone_.apply(now, JobPreempted{id});
            if (outcome_.interruptions.size() >= most_changes())
                return Error{ErrorCode::kTooLarge,
                             "the policy preempts more than " + std::to_string(most_changes()) +
                                 " times: let jobs keep their processors longer",
                             {}};
            if (preempted && (rotation_ || by_rank()))
                preempted = invalid("jobs that take turns or have ranks are not preempted besides");
            if (!preempted) return refused(id, preempted.error());
            preempt(now, static_cast<std::uint32_t>(id.value));
        }
        for (const Resize& resize : plan_.resizes) {
            if (outcome_.size_changes.size() >= most_changes())
                return Error{ErrorCode::kTooLarge,
                             "the policy changes sizes more than " + std::to_string(most_changes()) +
                                 " times: let jobs keep their sizes longer",
                             {}};
            if (Result<void> resized = this->resize(now, resize); !resized) return refused(resize.id, resized.error());
        }
        return {};
    }

    Result<void> make_promises(Time now) {
        for (const Reservation& reservation : plan_.reservations) {
            // A job that passed a refused one needs no promise any more.
            if (allocator_refused_ && options_.pass_refused) {
                const JobRecord* const record = zone_.find(reservation.id);
                if (record != nullptr && record->phase != JobPhase::kWaiting) continue;
            }
            Result<void> reserved = zone_.apply(now, JobReserved{reservation.id, reservation.at, reservation.latest});
            if (!reserved) return refused(reservation.id, reserved.error());
            if (options_.record_promises) {
                outcome_.promised.resize(workload_->jobs.size(), kNever);
                Time& first = outcome_.promised[static_cast<std::size_t>(reservation.id.value)];
                if (first == kNever) first = reservation.at;
            }
        }
        return {};
    }

    Result<void> decide(Time now, bool instant_complete) {
        policy_.plan(zone_.snapshot(instant_complete), plan_);
        ++outcome_.plans;
        zone_.changes_planned();
        if (Result<void> done = change_running(now); !done) return done;
        allocator_refused_ = false;
        if (allocator_ && !plan_.starts.empty()) free_places_of_leaving(now);
        for (const JobId id : plan_.starts) {
            const JobRecord* const record = allocator_ ? zone_.find(id) : nullptr;
            if (record != nullptr && record->phase == JobPhase::kWaiting &&
                !place(now, static_cast<std::uint32_t>(id.value))) {
                ++outcome_.refused_starts;
                allocator_refused_ = true;
                zone_.plan_refused();
                break;
            }
            Result<void> started = zone_.apply(now, JobStarted{id});
            if (!started) return refused(id, started.error());
            start(now, static_cast<std::uint32_t>(id.value));
        }
        if (allocator_refused_ && options_.pass_refused)
            if (Result<void> done = pass_refused(now); !done) return done;
        if (plan_.diagram) {
            Result<void> changed = zone_.apply(now, DiagramChanged{plan_.diagram});
            if (!changed)
                return Error{
                    ErrorCode::kInternal, "the policy's slice matrix cannot be used: " + changed.error().message, {}};
            if (options_.record_places) record_slots(now, *plan_.diagram);
            if (rotation_) install(now);
            top_stale_ = true;
        } else if ((rotation_ || by_rank()) && !plan_.starts.empty()) {
            return Error{ErrorCode::kInternal, "the policy started jobs without a place in the slice matrix", {}};
        }
        if (!plan_.shares.empty()) {
            Result<void> changed = zone_.apply(now, SharesChanged{plan_.shares});
            if (!changed)
                return Error{
                    ErrorCode::kInternal, "the policy's shares cannot be given: " + changed.error().message, {}};
            share_out(now);
        } else if (shared_ && !by_rank() && !plan_.starts.empty()) {
            return Error{ErrorCode::kInternal, "the policy started jobs without a share", {}};
        }
        if (plan_.load)
            if (Result<void> found = zone_.apply(now, LoadFound{*plan_.load}); !found) return found;
        if (by_rank() && top_stale_) run_top(now);
        if (Result<void> done = make_promises(now); !done) return done;
        if (plan_.wake_at < now || (plan_.wake_at == now && instant_complete))
            return Error{ErrorCode::kInternal, "the policy asked to be woken at an instant that is over", {}};
        return {};
    }

    double speed(const Job& job, std::int32_t processors) const {
        return relative_speed(size_range(job, outcome_.processors), processors);
    }
    static Duration stretched(Duration time, double factor) {
        const double us = static_cast<double>(time.count()) * factor + 0.5;
        return Duration{std::max<std::int64_t>(1, static_cast<std::int64_t>(us))};
    }

    Result<void> resize(Time now, const Resize& resize) {
        const JobRecord* const record = zone_.find(resize.id);
        if (record == nullptr) return Error{ErrorCode::kNotFound, "it neither waits nor runs", {}};
        const bool runs = record->phase == JobPhase::kRunning;
        const std::int32_t before = record->allocated;
        const SizeRange range = size_range(record->job, outcome_.processors);
        if (resize.processors < range.least || resize.processors > range.most)
            return invalid("it runs on " + std::to_string(range.least) + " to " + std::to_string(range.most) +
                           " processors, not on " + std::to_string(resize.processors));
        if (runs && !rotation_) return invalid("jobs change their size only where they take turns");
        const Job job = record->job;
        if (Result<void> done = zone_.apply(now, JobResized{resize.id, resize.processors}); !done) return done;
        if (!runs) return {};
        const std::int32_t difference = std::abs(resize.processors - before);
        const auto place = static_cast<std::uint32_t>(resize.id.value);
        const SliceRotation::Stretched left = rotation_->stretch(
            now, place, speed(job, before) / speed(job, resize.processors), options_.resize_cost * difference);
        use(place, before, left_[place] - left.before);
        left_[place] = left.after;
        if (now == jobs_[place].start)
            start_on(place, resize.processors);
        else
            outcome_.size_changes.push_back({now, place, resize.processors});
        ++outcome_.resizes;
        outcome_.resized_processors += static_cast<std::uint64_t>(difference);
        return {};
    }

    /// The job was served that long on so many processors.
    void use(std::uint32_t job, std::int32_t processors, Duration service) {
        outcome_.processor_seconds[job] += processors * to_seconds(service);
    }

    void install(Time now) {
        const auto rows = static_cast<std::size_t>(plan_.diagram->row_count());
        outcome_.time_with_rows[rows_] += now - rows_since_;
        rows_ = rows;
        rows_since_ = now;
        if (outcome_.time_with_rows.size() <= rows) outcome_.time_with_rows.resize(rows + 1);
        rotation_->install(now, std::move(plan_.diagram), plan_.slice);
    }

    /// Jobs run at their share, less what they slow each other down.
    void share_out(Time now) {
        std::vector<std::int32_t> programs;
        for (const ShareOfProcessors& share : plan_.shares)
            programs.push_back(jobs_[static_cast<std::size_t>(share.id.value)].entry.job.application);
        std::vector<SharedMachine::Rate> rates;
        std::vector<std::int32_t> others;
        for (std::size_t i = 0; i < programs.size(); ++i) {
            others = programs;
            others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
            rates.push_back({static_cast<std::uint32_t>(plan_.shares[i].id.value),
                             plan_.shares[i].percent / 100.0 / options_.coscheduling.slowdown(programs[i], others)});
        }
        shared_->set_rates(now, rates);
        book_parts(now);
        parts_.clear();
        for (const ShareOfProcessors& share : plan_.shares) {
            const auto job = static_cast<std::uint32_t>(share.id.value);
            parts_.push_back({job, jobs_[job].entry.job.processors * share.percent / 100.0});
        }
    }

    /// Jobs have used their parts since the last time.
    void book_parts(Time now) {
        for (const Part& part : parts_)
            outcome_.processor_seconds[part.job] += part.processors * to_seconds(now - parts_since_);
        parts_since_ = now;
    }

    bool has_shares() const { return policy_.sharing() == ZoneState::Sharing::kShare; }
    bool by_rank() const { return policy_.sharing() == ZoneState::Sharing::kPriority; }

    /// Jobs on top run at full speed, all others not at all.
    void run_top(Time now) {
        TraceDiagram diagram = *zone_.snapshot().diagram;
        std::vector<JobId> ended;
        for (std::int32_t row = 0; row < diagram.row_count(); ++row)
            for (const TraceDiagram::Entry& entry : diagram.entries(row))
                if (zone_.find(entry.job) == nullptr) ended.push_back(entry.job);
        for (const JobId job : ended) diagram.remove(job);
        std::vector<SharedMachine::Rate> rates;
        book_top(now);
        top_.clear();
        for (const JobId job : jobs_on_top(diagram)) {
            rates.push_back({static_cast<std::uint32_t>(job.value), 1});
            top_.push_back(static_cast<std::uint32_t>(job.value));
        }
        shared_->set_rates(now, rates);
        top_stale_ = false;
    }

    /// Jobs on top have run since the last time.
    void book_top(Time now) {
        if (now > top_since_)
            for (const std::uint32_t job : top_)
                outcome_.first_service[job] = std::min(outcome_.first_service[job], top_since_);
        top_since_ = now;
    }

    Error refused(JobId id, const Error& why) const {
        return {ErrorCode::kInternal,
                "the policy's plan for " + name_of(jobs_[static_cast<std::size_t>(id.value)].entry, name_) +
                    " cannot be carried out: " + why.message,
                {}};
    }

    Error left_waiting() const {
        std::size_t first = jobs_.begin();
        while (jobs_[first].start != kNever) ++first;
        if (allocator_refused_)
            return {ErrorCode::kRejected,
                    std::to_string(zone_.waiting_count()) + " jobs never started, the first of them " +
                        name_of(jobs_[first].entry, name_) +
                        ": nothing runs any more, but the allocator has no place for the next "
                        "one; it cannot join the parts that were given back: take another allocator, or other options "
                        "of it",
                    {}};
        return {ErrorCode::kRejected,
                "the policy never started " + std::to_string(zone_.waiting_count()) + " jobs, the first of them " +
                    name_of(jobs_[first].entry, name_),
                {}};
    }

    const std::string& name_;
    const Workload* workload_;
    const JobEndedCall& ended_call_;
    JobWindow jobs_;
    Time last_submission_ = Time::min();
    bool open_ = false;  ///< ends of the instant of the last submission have been dealt with; its plan is to be made
    Policy& policy_;
    const SimulationOptions& options_;
    ZoneState zone_;
    Plan plan_;
    std::vector<End> ends_;  ///< min-heap; empty where jobs take turns
    /// What is left of jobs that were preempted, and the first order of ends foreseen after that.
    struct CutShort {
        Duration left{};
        Time resumed{};
        std::uint32_t order = 0;
        std::size_t interruption = 0;
    };
    std::unordered_map<std::uint32_t, CutShort> cut_short_;
    std::optional<SliceRotation> rotation_;
    std::vector<Duration> left_;  ///< where jobs take turns: service that a job needed when it got its size
    std::size_t rows_ = 0;        ///< of the slice matrix since `rows_since_`
    Time rows_since_{};
    struct Part {
        std::uint32_t job;
        double processors;  ///< of its own ones, as many as its share makes
    };
    std::vector<Part> parts_;  ///< where jobs have shares: of running jobs, since `parts_since_`
    Time parts_since_{};
    std::optional<SharedMachine> shared_;  ///< where jobs have shares, or ranks
    std::vector<std::uint32_t> top_;       ///< where jobs have ranks: those that run, since `top_since_`
    Time top_since_{};
    /// Where jobs have slots in a matrix and places are recorded: as the last one has them.
    std::map<std::uint32_t, std::vector<PlaceRange>> slots_;
    bool top_stale_ = false;                ///< where jobs have ranks: others may be on top since the last `run_top`
    std::unique_ptr<Allocator> allocator_;  ///< nullptr: places do not matter
    bool allocator_refused_ = false;        ///< a start of the last plan
    std::size_t submitted_ = 0;
    std::size_t ended_ = 0;
    std::uint32_t started_ = 0;
    Duration work_{};  ///< walltimes of the jobs that wait or run
    SimulationOutcome outcome_;
};

}  // namespace

Result<SimulationOutcome> simulate(const Workload& workload, Policy& policy, const SimulationOptions& options) {
    const Result<std::int32_t> processors = machine_of(workload.processors, policy, options);
    if (!processors) return processors.error();
    if (workload.jobs.size() > kMostJobs) return too_many_jobs();
    Time previous = Time::min();
    for (const WorkloadJob& entry : workload.jobs) {
        if (Result<void> good = check_job(entry, previous, workload.name, policy, options); !good) return good.error();
        previous = entry.job.submit;
    }
    const JobEndedCall unused;
    Run run(workload.name, &workload, policy, options, *processors, unused);
    for (const WorkloadJob& entry : workload.jobs)
        if (Result<void> done = run.add(entry); !done) return done.error();
    return run.finish();
}

Result<SimulationOutcome> simulate(const JobStream& jobs, const std::string& name, Policy& policy,
                                   const SimulationOptions& options, const JobEndedCall& ended) {
    ZBS_EXPECTS(policy.sharing() == ZoneState::Sharing::kSpace && !options.record_places && !options.record_promises);
    const Result<std::int32_t> processors = machine_of(0, policy, options);
    if (!processors) return processors.error();
    Run run(name, nullptr, policy, options, *processors, ended);
    Result<void> done = jobs([&run](const WorkloadJob& entry) { return run.add(entry); });
    if (!done) return done.error();
    return run.finish();
}

}  // namespace zbs
