#include "studies/models/gang_machine.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <ostream>
#include <tuple>

#include "algorithms/base/expects.hpp"

namespace zbs {

namespace {

using gang::TaskClass;
using Index = std::int32_t;
constexpr Index kNone = -1;

enum class EventKind : std::uint8_t { kDisk, kMessage, kBarrier, kProcessor, kArrival, kCheckpoint, kClock };

struct Event {
    Time at;
    std::uint64_t order;  ///< kind, then the order of scheduling
    Index target;
    std::uint32_t stamp;

    EventKind kind() const { return static_cast<EventKind>(order >> 56); }
    bool operator>(const Event& other) const { return at != other.at ? at > other.at : order > other.order; }
};

enum class Waits : std::uint8_t { kForNothing, kForDisk, kForMessage, kForBarrier };

struct Task {
    Task(const BurstOptions& bursts, const GangJob& source, Index job_index, Index number, Index where)
        : program(bursts, source, number), job(job_index), processor(where) {}

    TaskProgram program;
    Index job;
    Index processor;
    Duration left{};  ///< of computing, before `step` takes effect
    TaskStep step;
    Waits waits = Waits::kForNothing;
    bool blocked = false;  ///< waits, and has given up its processor
    bool done = false;
    bool wake_scheduled = false;
    std::uint32_t stamp = 0;  ///< of the wake-up that counts
    std::uint64_t last_picked = 0;
    std::uint64_t steps = 0xcbf29ce484222325ULL;
    // What this slice shows of it.
    bool ran = false;
    gang::SliceMeasurement measured;
    gang::BayesianState belief;  ///< f of the fuzzy classifier lives in belief.f
    double priority = 0;
    TaskClass task_class = TaskClass::kUndecided;
};

/// Messages between two tasks that have been sent and not been waited for, by the time of their arrival.
struct Channel {
    std::vector<Time> arrivals;
    std::size_t head = 0;

    bool empty() const { return head == arrivals.size(); }
    void push(Time at) {
        if (empty()) arrivals.clear(), head = 0;
        arrivals.push_back(at);
    }
    Time pop() { return arrivals[head++]; }
};

struct ResidentJob {
    Index first_task = kNone;
    Index tasks = 0;
    Index done = 0;
    Index at_barrier = 0;
    std::int64_t last_slice = 0;
    std::vector<Channel> channels;  ///< sender x receiver; made when the first message is sent
};

struct Processor {
    std::vector<Index> tasks;  ///< resident, not done
    Index own = kNone;         ///< the task whose slot this is
    bool allocated = false;    ///< the slot belongs to a job, though its task here may have ended
    Index running = kNone;
    bool filling = false;
    std::uint32_t stamp = 0;  ///< of the processor event that counts
    Time since{};             ///< accounted up to here
    Time run_from{};          ///< when the context switch is over
    Index last_ran = kNone;
    std::deque<std::pair<Index, Duration>> disk;  ///< requests; the first is being served
    ProcessorTime time;
};

/// A row of the trace diagram as the clock needs it; made anew when the workload changes.
struct Turn {
    std::int64_t last_slice = 0;  ///< when it was served last
    std::vector<Index> jobs;      ///< at home here
    std::vector<Index> owner;     ///< task of every processor, or kNone
};

class GangSimulation {
  public:
    GangSimulation(const GangWorkload& workload, const GangScheduling& scheduling, const GangRun& run)
        : workload_(workload),
          how_(scheduling),
          run_(run),
          packing_(packing_options(workload, scheduling)),
          baseline_(gang::baseline_spin(how_.network)),
          overhead_(gang::message_overhead(how_.network)),
          latency_(gang::message_latency(how_.network)),
          jobs_(workload.jobs.size()),
          processors_(static_cast<std::size_t>(workload.processors)),
          random_(how_.seed) {
        outcome_.jobs.resize(workload.jobs.size());
        for (std::size_t i = 0; i < workload.jobs.size(); ++i) outcome_.jobs[i].id = workload.jobs[i].id;
    }

    static gang::PackingOptions packing_options(const GangWorkload& workload, const GangScheduling& scheduling) {
        gang::PackingOptions options = scheduling.packing;
        options.processors = workload.processors;
        return options;
    }

    Result<GangOutcome> run() {
        for (std::size_t i = 0; i < run_.checkpoints.size(); ++i)
            schedule(run_.checkpoints[i], EventKind::kCheckpoint, static_cast<Index>(i), 0);
        if (!workload_.jobs.empty()) schedule(workload_.jobs[0].arrival, EventKind::kArrival, 0, 0);
        schedule(Time{}, EventKind::kClock, 0, 0);
        while (!heap_.empty() && ended_ < std::ssize(jobs_)) {
            const Event event = pop();
            if (event.at >= run_.horizon) break;
            now_ = event.at;
            ++outcome_.events;
            if (Result<void> handled = handle(event); !handled) return handled.error();
        }
        if (run_.horizon != kNever) now_ = run_.horizon;
        outcome_.last = checkpoint();
        for (const Processor& p : processors_) outcome_.processors.push_back(p.time);
        return std::move(outcome_);
    }

  private:
    Processor& processor(Index p) { return processors_[static_cast<std::size_t>(p)]; }
    Task& task(Index t) { return tasks_[static_cast<std::size_t>(t)]; }
    ResidentJob& job(Index j) { return jobs_[static_cast<std::size_t>(j)]; }
    Index processor_count() const { return workload_.processors; }
    bool local() const { return how_.turns != GangScheduling::Turns::kDiagram; }
    bool fills() const { return local() || how_.fill != GangScheduling::Fill::kNone; }

    void schedule(Time at, EventKind kind, Index target, std::uint32_t stamp) {
        heap_.push_back({at, static_cast<std::uint64_t>(kind) << 56 | next_order_++, target, stamp});
        std::ranges::push_heap(heap_, std::greater{});
    }
    Event pop() {
        std::ranges::pop_heap(heap_, std::greater{});
        const Event event = heap_.back();
        heap_.pop_back();
        return event;
    }

    Result<void> handle(const Event& event) {
        switch (event.kind()) {
            case EventKind::kDisk:
                disk_done(event.target);
                break;
            case EventKind::kMessage:
                if (task(event.target).stamp == event.stamp) wake(event.target, overhead_);
                break;
            case EventKind::kBarrier:
                release(event.target);
                break;
            case EventKind::kProcessor:
                if (processor(event.target).stamp == event.stamp) processor_due(event.target);
                break;
            case EventKind::kArrival:
                return arrive(event.target);
            case EventKind::kCheckpoint:
                outcome_.checkpoints.push_back(checkpoint());
                break;
            case EventKind::kClock:
                return clock();
        }
        return {};
    }

    // -- Time ----------------------------------------------------------------------------------------------------

    void record(Index p, Time begin, Time end, ProcessorSpan::Doing doing) {
        if (!run_.record_spans || begin == end) return;
        const Processor& pe = processor(p);
        const JobId id = pe.running == kNone ? kNoJob : workload_.jobs[task(pe.running).job].id;
        const ProcessorSpan span{p, begin, end, doing, id, pe.running != kNone && pe.filling};
        // The last span of this processor is extended where nothing else has changed.
        for (auto last = outcome_.spans.rbegin(); last != outcome_.spans.rend(); ++last) {
            if (last->processor != p) continue;
            if (last->end != begin || last->doing != doing || last->job != id || last->filling != span.filling) break;
            ProcessorSpan longer = *last;
            longer.end = end;
            outcome_.spans.erase(std::next(last).base());
            outcome_.spans.push_back(longer);
            return;
        }
        outcome_.spans.push_back(span);
    }

    /// Books the time since the last booking of a processor.
    void account(Index p) {
        Processor& pe = processor(p);
        const Time begin = std::exchange(pe.since, now_);
        if (begin == now_) return;
        if (pe.running == kNone) {
            (pe.allocated ? pe.time.blocked_idle : pe.time.space_idle) += now_ - begin;
            record(p, begin, now_,
                   pe.allocated ? ProcessorSpan::Doing::kBlockedIdle : ProcessorSpan::Doing::kSpaceIdle);
            return;
        }
        const Time switched = std::clamp(pe.run_from, begin, now_);
        pe.time.switching += switched - begin;
        record(p, begin, switched, ProcessorSpan::Doing::kSwitching);
        const Duration ran = now_ - switched;
        Task& t = task(pe.running);
        if (t.waits == Waits::kForNothing) {
            pe.time.computing += ran;
            t.left -= ran;
            record(p, switched, now_, ProcessorSpan::Doing::kComputing);
        } else {
            pe.time.spinning += ran;
            record(p, switched, now_, ProcessorSpan::Doing::kSpinning);
        }
        if (pe.filling) pe.time.filled += ran;
    }

    GangCheckpoint checkpoint() {
        GangCheckpoint point{now_, ended_, {}, slots_, allocated_slots_};
        for (Index p = 0; p < processor_count(); ++p) {
            account(p);
            point.time += processor(p).time;
        }
        return point;
    }

    // -- What a task does ----------------------------------------------------------------------------------------

    /// Takes the next steps of a task up to one that is more than computing.
    void fetch(Task& t) {
        for (;;) {
            t.step = t.program.next();
            for (const std::uint64_t part :
                 {static_cast<std::uint64_t>(t.step.kind), static_cast<std::uint64_t>(t.step.peer),
                  static_cast<std::uint64_t>(t.step.time.count())})
                t.steps = (t.steps ^ part) * 0x100000001b3ULL;
            if (t.step.kind != TaskStep::Kind::kCompute) break;
            t.left += t.step.time;
        }
        if (t.step.kind == TaskStep::Kind::kSend) t.left += overhead_;
    }

    Index number_of(Index t) { return t - job(task(t).job).first_task; }
    Channel& channel(ResidentJob& j, Index from, Index to) {
        if (j.channels.empty())
            j.channels.resize(static_cast<std::size_t>(j.tasks) * static_cast<std::size_t>(j.tasks));
        return j.channels[static_cast<std::size_t>(from) * static_cast<std::size_t>(j.tasks) +
                          static_cast<std::size_t>(to)];
    }

    void wake_at(Index t, Time at) {
        Task& woken = task(t);
        woken.wake_scheduled = true;
        schedule(at, EventKind::kMessage, t, ++woken.stamp);
    }

    void send(Index t) {
        Task& sender = task(t);
        ResidentJob& j = job(sender.job);
        const Index to = j.first_task + sender.step.peer;
        Task& receiver = task(to);
        const Time at = now_ + latency_;
        if (receiver.waits == Waits::kForMessage && receiver.step.peer == number_of(t) && !receiver.wake_scheduled)
            wake_at(to, at);
        else
            channel(j, number_of(t), sender.step.peer).push(at);
    }

    /// The task on processor p has computed what it had to: carries its step out, and on until it computes, waits or
    /// ends.
    void carry_on(Index p) {
        for (;;) {
            const Index t = processor(p).running;
            Task& running = task(t);
            if (running.left > Duration{0}) {
                schedule_processor(p, std::max(now_, processor(p).run_from) + running.left);
                return;
            }
            switch (running.step.kind) {
                case TaskStep::Kind::kCompute:
                    ZBS_EXPECTS(false);
                    break;
                case TaskStep::Kind::kIo:
                    running.waits = Waits::kForDisk;
                    if (counts(p)) running.measured.blocked_on_io = true;
                    request_disk(p, t, running.step.time);
                    block(p);
                    return;
                case TaskStep::Kind::kSend:
                    count_communication(p, running);
                    send(t);
                    fetch(running);
                    break;
                case TaskStep::Kind::kReceive: {
                    count_communication(p, running);
                    Channel& from = channel(job(running.job), running.step.peer, number_of(t));
                    running.wake_scheduled = false;
                    if (!from.empty()) {
                        const Time arrival = from.pop();
                        if (arrival <= now_) {
                            fetch(running);
                            running.left += overhead_;
                            break;
                        }
                        wake_at(t, arrival);
                    }
                    running.waits = Waits::kForMessage;
                    spin(p);
                    return;
                }
                case TaskStep::Kind::kBarrier: {
                    count_communication(p, running);
                    ResidentJob& j = job(running.job);
                    running.waits = Waits::kForBarrier;
                    if (++j.at_barrier == j.tasks) schedule(now_ + baseline_, EventKind::kBarrier, running.job, 0);
                    spin(p);
                    return;
                }
                case TaskStep::Kind::kEnd:
                    finish(t);
                    return;
            }
        }
    }

    bool counts(Index p) { return how_.measure_filling || !processor(p).filling; }
    void count_communication(Index p, Task& t) {
        if (counts(p)) ++t.measured.communications;
    }

    /// What a task waited for is there; `cost` is what taking it costs the processor.
    void wake(Index t, Duration cost) {
        Task& woken = task(t);
        const Index p = woken.processor;
        const bool spins = processor(p).running == t;
        if (spins) account(p);
        woken.waits = Waits::kForNothing;
        woken.wake_scheduled = false;
        woken.left += cost;
        fetch(woken);
        if (spins) {
            ++processor(p).stamp;
            if (now_ >= processor(p).run_from)
                carry_on(p);
            else
                schedule_processor(p, processor(p).run_from + woken.left);
            return;
        }
        const bool was_blocked = std::exchange(woken.blocked, false);
        if (woken.step.kind == TaskStep::Kind::kEnd && woken.left == Duration{0})
            finish(t);
        else if (was_blocked)
            became_ready(t);
    }

    void release(Index j) {
        job(j).at_barrier = 0;
        const Index first = job(j).first_task, count = job(j).tasks;
        for (Index t = first; t < first + count; ++t) wake(t, Duration{0});
    }

    void request_disk(Index p, Index t, Duration time) {
        Processor& pe = processor(p);
        pe.disk.emplace_back(t, time);
        if (pe.disk.size() == 1) schedule(now_ + time, EventKind::kDisk, p, 0);
    }
    void disk_done(Index p) {
        Processor& pe = processor(p);
        const Index t = pe.disk.front().first;
        pe.disk.pop_front();
        if (!pe.disk.empty()) schedule(now_ + pe.disk.front().second, EventKind::kDisk, p, 0);
        wake(t, Duration{0});
    }

    /// Also when the task runs nowhere: the last step was I/O or a barrier.
    void finish(Index t) {
        Task& ended = task(t);
        const Index p = ended.processor;
        Processor& pe = processor(p);
        account(p);
        ended.done = true;
        std::erase(pe.tasks, t);
        const bool ran = pe.running == t;
        if (ran) leave_processor(p);
        if (local()) pe.allocated = !pe.tasks.empty();
        if (pe.own == t) pe.own = kNone;  // the slot stays allocated as long as the job is there
        if (++job(ended.job).done == job(ended.job).tasks) end_job(ended.job);
        if (ran && processor(p).running == kNone) find_work(p);
    }

    // -- What a processor does -----------------------------------------------------------------------------------

    void schedule_processor(Index p, Time at) { schedule(at, EventKind::kProcessor, p, ++processor(p).stamp); }

    void processor_due(Index p) {
        account(p);
        if (task(processor(p).running).waits == Waits::kForNothing)
            carry_on(p);
        else
            spun_long_enough(p);
    }

    GangScheduling::Wait wait_of(Index p) {
        return processor(p).filling ? GangScheduling::Wait::kSpinThenBlock : how_.wait;
    }

    /// The running task begins to wait with the processor held.
    void spin(Index p) {
        ++processor(p).stamp;
        const Time from = std::max(now_, processor(p).run_from);
        switch (wait_of(p)) {
            case GangScheduling::Wait::kSpin:
                return;
            case GangScheduling::Wait::kSpinControl:
                if (io_task(p, false)) schedule_processor(p, from + baseline_);
                return;
            case GangScheduling::Wait::kSpinThenBlock:
                schedule_processor(p, from + baseline_);
                return;
            case GangScheduling::Wait::kBlock:
                if (from == now_)
                    block(p);
                else
                    schedule_processor(p, from);
        }
    }

    /// Whether another task classified as I/O intensive lives on the processor (and is ready).
    bool io_task(Index p, bool ready) {
        const Processor& pe = processor(p);
        return std::ranges::any_of(pe.tasks, [&](Index t) {
            return t != pe.running && task(t).task_class == TaskClass::kIo && (!ready || !task(t).blocked);
        });
    }

    void spun_long_enough(Index p) {
        if (wait_of(p) == GangScheduling::Wait::kSpinControl) {
            const gang::SpinSituation situation{.io_task_here = io_task(p, false),
                                                .io_task_ready = io_task(p, true),
                                                .slice_after_baseline = next_clock_ - now_};
            if (gang::spin_control(situation, how_.worthwhile_switches * how_.context_switch) == gang::WaitMode::kSpin)
                return;
        }
        block(p);
    }

    void leave_processor(Index p) {
        Processor& pe = processor(p);
        pe.running = kNone;
        pe.filling = false;
        ++pe.stamp;
    }
    void block(Index p) {
        account(p);
        task(processor(p).running).blocked = true;
        leave_processor(p);
        find_work(p);
    }

    /// Gives the processor to a ready task, by a context switch unless it was the last one there.
    void dispatch(Index p, Index t, bool filling) {
        account(p);
        Processor& pe = processor(p);
        Task& next = task(t);
        const bool same = pe.running == t;
        if (pe.running != kNone && !same) leave_processor(p);
        pe.running = t;
        pe.filling = filling;
        next.last_picked = ++picks_;
        if (!filling || how_.measure_filling) next.ran = true;
        if (!same) {
            pe.run_from = now_ + (pe.last_ran == t ? Duration{0} : how_.context_switch);
            pe.last_ran = t;
        }
        if (next.waits != Waits::kForNothing)
            spin(p);
        else if (!same)
            schedule_processor(p, pe.run_from + next.left);
    }

    /// The slot's own task cannot run, or there is none: fills the slot, if anything may.
    void find_work(Index p) {
        if (!fills()) return;
        Processor& pe = processor(p);
        if (how_.turns == GangScheduling::Turns::kLocalRandom) {
            ready_.clear();
            for (const Index t : pe.tasks)
                if (!task(t).blocked) ready_.push_back(t);
            if (!ready_.empty()) dispatch(p, ready_[random_.below(ready_.size())], false);
            return;
        }
        candidates_.clear();
        for (const Index t : pe.tasks) candidates_.push_back({!task(t).blocked, task(t).priority, task(t).last_picked});
        const auto rule = how_.fill == GangScheduling::Fill::kPriority && !local() ? gang::LocalRule::kPriority
                                                                                   : gang::LocalRule::kRoundRobin;
        if (const auto picked = gang::pick_local(candidates_, rule, how_.priority_floor))
            dispatch(p, pe.tasks[*picked], !local());
        else if (pe.running != kNone) {
            account(p);
            leave_processor(p);
        }
    }

    void became_ready(Index t) {
        const Index p = task(t).processor;
        Processor& pe = processor(p);
        if (pe.own == t && !local()) {
            if (how_.resume_in_slice)
                dispatch(p, t, false);
            else if (pe.running == kNone && fills())
                find_work(p);
            return;
        }
        if (pe.running == kNone) {
            account(p);
            find_work(p);
        } else if (pe.filling && how_.filling_preempts && how_.fill == GangScheduling::Fill::kPriority &&
                   task(t).priority >= how_.priority_floor && task(t).priority > task(pe.running).priority) {
            dispatch(p, t, true);
        }
    }

    // -- The clock -----------------------------------------------------------------------------------------------

    void judge(Task& t) {
        const gang::SliceEvidence evidence = gang::evidence_of(t.measured, how_.communication_threshold);
        if (how_.classifier == GangScheduling::Classifier::kFuzzy) {
            t.belief.f = gang::update_fuzzy(t.belief.f, evidence);
            t.priority = gang::priority_v1(t.belief.f, how_.alpha);
        } else {
            t.belief = gang::update_bayesian(t.belief, evidence, how_.membership_floor);
            t.priority = gang::priority_v2(t.belief.f, how_.alpha);
        }
        t.task_class = gang::class_of(t.belief.f);
    }
    void measure(Index t) {
        Task& seen = task(t);
        if (seen.waits == Waits::kForDisk) seen.measured.blocked_on_io = true;
        if (seen.ran || seen.measured.blocked_on_io) judge(seen);
        seen.ran = false;
        seen.measured = {};
    }

    /// The rows as they stand. Their turns go by how long ago each was served, which is what its jobs remember: a job's
    /// first turn comes a period after it is placed, or with that of the row that it shares. So rows may be erased and
    /// moved.
    void list_turns() {
        const TraceDiagram& diagram = packing_.diagram();
        turns_.assign(static_cast<std::size_t>(diagram.row_count()), {});
        for (std::size_t row = 0; row < turns_.size(); ++row) {
            turns_[row].last_slice = outcome_.slices;
            turns_[row].owner.assign(processors_.size(), kNone);
        }
        for (const gang::GangPacking::Resident& resident : packing_.residents()) {
            const Index j = index_of(resident.request.job);
            for (const Index row : diagram.rows_of(resident.request.job)) {
                Turn& turn = turns_[static_cast<std::size_t>(row)];
                for (Index number = 0; number < job(j).tasks; ++number)
                    turn.owner[static_cast<std::size_t>(resident.processors[static_cast<std::size_t>(number)])] =
                        job(j).first_task + number;
            }
            Turn& home = turns_[static_cast<std::size_t>(*diagram.home_row(resident.request.job))];
            home.jobs.push_back(j);
            home.last_slice = std::min(home.last_slice, job(j).last_slice);
        }
    }

    /// Jobs for the idle slots of a row: the one with the most ready I/O tasks first, then communicating ones, for
    /// which a set of idle processors at one time is made. Others run task by task [DaSilva2000, section 8.4].
    void choose_alternatives(std::vector<Index>& owner) {
        struct Candidate {
            std::int64_t io;
            bool communicates;
            std::size_t resident;
        };
        std::vector<Candidate> candidates;
        const auto residents = packing_.residents();
        for (std::size_t i = 0; i < residents.size(); ++i) {
            const ResidentJob& j = job(index_of(residents[i].request.job));
            Candidate candidate{0, false, i};
            for (Index t = j.first_task; t < j.first_task + j.tasks; ++t) {
                candidate.io += task(t).task_class == TaskClass::kIo && !task(t).blocked && !task(t).done ? 1 : 0;
                candidate.communicates |= task(t).task_class == TaskClass::kCommunication;
            }
            if (candidate.io > 0 || candidate.communicates) candidates.push_back(candidate);
        }
        std::ranges::stable_sort(candidates, {}, [](const Candidate& c) { return std::pair(-c.io, !c.communicates); });
        for (const Candidate& candidate : candidates) {
            const auto& resident = residents[candidate.resident];
            const bool free = std::ranges::all_of(resident.processors,
                                                  [&](Index p) { return owner[static_cast<std::size_t>(p)] == kNone; });
            if (!free) continue;
            Index t = job(index_of(resident.request.job)).first_task;
            for (const Index p : resident.processors) owner[static_cast<std::size_t>(p)] = t++;
        }
    }

    Result<void> clock() {
        next_clock_ = now_ + how_.slice;
        schedule(next_clock_, EventKind::kClock, 0, 0);
        ++outcome_.slices;
        for (Index p = 0; p < processor_count(); ++p) {
            account(p);
            Processor& pe = processor(p);
            if (how_.measure_filling) {
                for (const Index t : pe.tasks) measure(t);
            } else if (pe.own != kNone) {
                measure(pe.own);
            }
        }
        owners_.assign(processors_.size(), kNone);
        if (!local() && !turns_.empty()) {
            Turn& turn = *std::ranges::min_element(turns_, {}, &Turn::last_slice);
            turn.last_slice = outcome_.slices;
            for (const Index j : turn.jobs) job(j).last_slice = outcome_.slices;
            owners_ = turn.owner;
            if (how_.alternatives == GangScheduling::Alternatives::kRuntime) choose_alternatives(owners_);
        }
        for (Index p = 0; p < processor_count(); ++p) begin_slot(p, owners_[static_cast<std::size_t>(p)]);
        if (run_.horizon == kNever && stuck())
            return Error{ErrorCode::kConflict,
                         "the jobs left at " + std::to_string(to_seconds(now_ - Time{})) +
                             " s wait for messages or barriers that never come; check the script",
                         {}};
        return {};
    }

    void begin_slot(Index p, Index owner) {
        Processor& pe = processor(p);
        pe.allocated = local() ? !pe.tasks.empty() : owner != kNone;
        pe.own = owner == kNone || task(owner).done ? kNone : owner;
        ++slots_;
        allocated_slots_ += pe.allocated ? 1 : 0;
        if (pe.own != kNone && !task(pe.own).blocked) {
            dispatch(p, pe.own, false);
        } else if (fills()) {
            find_work(p);
        } else if (pe.running != kNone) {
            leave_processor(p);
        }
    }

    /// Nothing is under way, and nobody can start anything.
    bool stuck() {
        if (next_arrival_ < static_cast<Index>(workload_.jobs.size())) return false;
        for (const Processor& pe : processors_) {
            if (!pe.disk.empty()) return false;
            for (const Index t : pe.tasks)
                if (task(t).waits == Waits::kForNothing || task(t).wake_scheduled) return false;
        }
        for (const Event& event : heap_)
            if (event.kind() == EventKind::kBarrier) return false;
        return packing_.residents().size() > 0;
    }

    // -- The front end -------------------------------------------------------------------------------------------

    Index index_of(JobId id) {
        const auto at = std::ranges::lower_bound(resident_index_, id, {}, &std::pair<JobId, Index>::first);
        ZBS_EXPECTS(at != resident_index_.end() && at->first == id);
        return at->second;
    }

    Result<void> arrive(Index j) {
        const GangJob& source = workload_.jobs[static_cast<std::size_t>(j)];
        next_arrival_ = j + 1;
        if (next_arrival_ < static_cast<Index>(workload_.jobs.size()))
            schedule(workload_.jobs[static_cast<std::size_t>(next_arrival_)].arrival, EventKind::kArrival,
                     next_arrival_, 0);
        const auto at = std::ranges::lower_bound(resident_index_, source.id, {}, &std::pair<JobId, Index>::first);
        if (at != resident_index_.end() && at->first == source.id)
            return invalid("job " + std::to_string(source.id.value) + " is there twice; give every job its own id");
        resident_index_.insert(at, {source.id, j});
        Result<gang::WorkloadChange> change =
            packing_.arrive({.job = source.id, .processors = source.processors, .memory = source.memory});
        if (!change) return invalid(change.error().message);
        carry_out(*change);
        return {};
    }

    void end_job(Index j) {
        GangJobOutcome& outcome = outcome_.jobs[static_cast<std::size_t>(j)];
        outcome.end = now_;
        ++ended_;
        ResidentJob& ended = job(j);
        outcome.steps = 0xcbf29ce484222325ULL;
        for (Index t = ended.first_task; t < ended.first_task + ended.tasks; ++t) {
            outcome.steps = (outcome.steps ^ task(t).steps) * 0x100000001b3ULL;
            Processor& pe = processor(task(t).processor);
            account(task(t).processor);
            // Where the slot was this job's.
            if (!local() && owner_of(task(t).processor) == t) pe.allocated = false;
        }
        ended.channels = {};
        const gang::WorkloadChange change = packing_.leave(outcome.id);
        std::erase_if(resident_index_, [&](const auto& entry) { return entry.second == j; });
        carry_out(change);
    }
    Index owner_of(Index p) const {
        return static_cast<std::size_t>(p) < owners_.size() ? owners_[static_cast<std::size_t>(p)] : kNone;
    }

    void carry_out(const gang::WorkloadChange& change) {
        ++outcome_.front_end_activations;
        outcome_.notifications += std::ssize(change.notified);
        for (const JobId id : change.placed) {
            const Index j = index_of(id);
            const GangJob& source = workload_.jobs[static_cast<std::size_t>(j)];
            const auto residents = packing_.residents();
            const auto resident = std::ranges::find(residents.rbegin(), residents.rend(), id,
                                                    [](const auto& r) { return r.request.job; });
            ResidentJob& placed = job(j);
            placed.first_task = static_cast<Index>(tasks_.size());
            placed.tasks = source.processors;
            placed.last_slice = outcome_.slices;
            outcome_.jobs[static_cast<std::size_t>(j)].placed = now_;
            for (Index number = 0; number < source.processors; ++number) {
                const Index p = resident->processors[static_cast<std::size_t>(number)];
                tasks_.emplace_back(workload_.bursts, source, j, number, p);
                Task& fresh = tasks_.back();
                fresh.priority = how_.classifier == GangScheduling::Classifier::kFuzzy
                                     ? gang::priority_v1(fresh.belief.f, how_.alpha)
                                     : gang::priority_v2(fresh.belief.f, how_.alpha);
                fetch(fresh);
                account(p);
                if (local()) processor(p).allocated = true;
                processor(p).tasks.push_back(static_cast<Index>(tasks_.size()) - 1);
                outcome_.most_tasks_on_processor =
                    std::max(outcome_.most_tasks_on_processor, static_cast<std::int32_t>(processor(p).tasks.size()));
            }
            if (!fills()) continue;
            for (const Index p : resident->processors)
                if (processor(p).running == kNone) find_work(p);
        }
        list_turns();
    }

    const GangWorkload& workload_;
    const GangScheduling& how_;
    const GangRun& run_;
    gang::GangPacking packing_;
    Duration baseline_, overhead_, latency_;
    std::vector<ResidentJob> jobs_;  ///< as in the workload
    std::vector<Task> tasks_;
    std::vector<Processor> processors_;
    std::vector<std::pair<JobId, Index>> resident_index_;  ///< by id: jobs that have arrived and not ended
    Rng random_;

    Time now_{};
    Time next_clock_{};
    std::vector<Event> heap_;
    std::uint64_t next_order_ = 0;
    std::uint64_t picks_ = 0;
    std::int64_t ended_ = 0;
    Index next_arrival_ = 0;
    std::int64_t slots_ = 0, allocated_slots_ = 0;
    std::vector<Turn> turns_;
    std::vector<Index> owners_;  ///< tasks whose slots these are, in this slice
    std::vector<Index> ready_;
    std::vector<gang::LocalTask> candidates_;
    GangOutcome outcome_;
};

Result<void> check(const GangWorkload& workload, const GangScheduling& how, const GangRun& run) {
    if (workload.processors < 1 || workload.processors > TraceDiagram::kMaxProcessors)
        return invalid("a gang machine has 1 to " + std::to_string(TraceDiagram::kMaxProcessors) + " processors, not " +
                       std::to_string(workload.processors));
    if (how.packing.rule == gang::PackingRule::kBuddy && (workload.processors & (workload.processors - 1)) != 0)
        return invalid("buddy packing halves the machine: give it a power of two of processors, not " +
                       std::to_string(workload.processors));
    if (how.packing.repack != gang::Repack::kNever || how.packing.compact)
        return invalid("jobs of a gang machine stay where they are: use packing without migration and compaction");
    if (how.slice < Duration{1}) return invalid("a slice lasts at least 1 us");
    if (how.context_switch < Duration{0} || how.context_switch >= how.slice)
        return invalid("a context switch takes 0 us or more, and less than a slice");
    if (how.network.latency_ns < 0 || how.network.overhead_ns < 0)
        return invalid("latency and overhead of the network are at least 0");
    if (!(how.alpha >= 0) || !(how.membership_floor >= 0 && how.membership_floor < 1))
        return invalid("alpha is at least 0, and the floor of memberships lies in 0 .. 1, 1 excluded");
    for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
        const GangJob& job = workload.jobs[i];
        const std::string name = "job " + std::to_string(job.id.value);
        if (job.id == kNoJob) return invalid("a job has no id; give it one that is not negative");
        if (job.processors < 1 || job.processors > workload.processors)
            return invalid(name + " asks for " + std::to_string(job.processors) + " of " +
                           std::to_string(workload.processors) + " processors");
        if (job.arrival < (i == 0 ? Time{} : workload.jobs[i - 1].arrival))
            return invalid(name + " arrives before the one before it, or before time 0; sort jobs by arrival");
        if (!job.script && job.work < Duration{1}) return invalid(name + " has no work; give it at least 1 us");
        if (!job.script) continue;
        if (std::ssize(*job.script) != job.processors)
            return invalid(name + " needs the steps of " + std::to_string(job.processors) + " tasks");
        for (const std::vector<TaskStep>& steps : *job.script)
            for (const TaskStep& step : steps) {
                const bool talks = step.kind == TaskStep::Kind::kSend || step.kind == TaskStep::Kind::kReceive;
                if (step.kind == TaskStep::Kind::kEnd || step.time < Duration{0} ||
                    (talks && (step.peer < 0 || step.peer >= job.processors)))
                    return invalid(name + " has a step with a time below 0, a peer that it has not, or an end");
            }
    }
    if (!std::ranges::is_sorted(run.checkpoints) ||
        (!run.checkpoints.empty() && (run.checkpoints.front() < Time{} || run.checkpoints.back() >= run.horizon)))
        return invalid("checkpoints ascend from 0 and lie before the horizon");
    return {};
}

}  // namespace

ProcessorTime& ProcessorTime::operator+=(const ProcessorTime& other) {
    computing += other.computing;
    spinning += other.spinning;
    switching += other.switching;
    space_idle += other.space_idle;
    blocked_idle += other.blocked_idle;
    filled += other.filled;
    return *this;
}

std::ostream& operator<<(std::ostream& out, const ProcessorSpan& span) {
    static constexpr std::array kWords{"computes", "spins", "switches to", "idle", "blocked"};
    out << 'p' << span.processor << ' ' << to_microseconds(span.begin) << '-' << to_microseconds(span.end) << ' '
        << kWords[static_cast<std::size_t>(span.doing)];
    if (span.job != kNoJob) out << ' ' << span.job << (span.filling ? " filling" : "");
    return out;
}

GangScheduling pure_gang() {
    return {.fill = GangScheduling::Fill::kNone, .wait = GangScheduling::Wait::kSpin, .resume_in_slice = false};
}
GangScheduling concurrent_gang_round_robin() {
    return {.fill = GangScheduling::Fill::kRoundRobin, .wait = GangScheduling::Wait::kSpinThenBlock};
}
GangScheduling concurrent_gang_priority() {
    return {.fill = GangScheduling::Fill::kPriority,
            .classifier = GangScheduling::Classifier::kFuzzy,
            .wait = GangScheduling::Wait::kSpinThenBlock};
}
GangScheduling modified_gang() {
    return {.fill = GangScheduling::Fill::kPriority,
            .classifier = GangScheduling::Classifier::kBayesian,
            .wait = GangScheduling::Wait::kSpinControl,
            .priority_floor = gang::kPriorityFloor};
}
GangScheduling hierarchical_control() {
    GangScheduling how = pure_gang();
    how.packing.rule = gang::PackingRule::kBuddy;
    how.packing.fill = true;
    return how;
}
GangScheduling hierarchical_control_runtime() {
    GangScheduling how = modified_gang();
    how.packing.rule = gang::PackingRule::kBuddy;
    how.alternatives = GangScheduling::Alternatives::kRuntime;
    return how;
}
GangScheduling local_scheduling() {
    return {.turns = GangScheduling::Turns::kLocalRandom, .wait = GangScheduling::Wait::kSpinThenBlock};
}

Result<GangOutcome> run_gang_machine(const GangWorkload& workload, const GangScheduling& scheduling,
                                     const GangRun& run) {
    if (Result<void> checked = check(workload, scheduling, run); !checked) return checked.error();
    return GangSimulation(workload, scheduling, run).run();
}

}  // namespace zbs
