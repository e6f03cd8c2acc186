#include "algorithms/model/zone_state.hpp"

#include <algorithm>
#include <map>
#include <ostream>
#include <string>
#include <unordered_set>

#include "algorithms/model/speedup.hpp"

namespace zbs {
namespace {

Error unknown_job(JobId id) {
    return {ErrorCode::kNotFound, "job " + std::to_string(id.value) + " neither waits nor runs in this zone", {}};
}
Error wrong_phase(JobId id, const char* needed, JobPhase phase) {
    const char* is = phase == JobPhase::kWaiting ? "waits" : "runs";
    return {ErrorCode::kConflict,
            "job " + std::to_string(id.value) + " " + is + "; only a job that " + needed + " can do this",
            {}};
}

}  // namespace

bool operator==(const Plan& a, const Plan& b) {
    const bool same_diagram = a.diagram && b.diagram ? *a.diagram == *b.diagram : a.diagram == b.diagram;
    return a.preemptions == b.preemptions && a.resizes == b.resizes && a.starts == b.starts && a.shares == b.shares &&
           a.load == b.load && a.slice == b.slice && a.reservations == b.reservations && same_diagram &&
           a.wake_at == b.wake_at;
}

std::ostream& operator<<(std::ostream& out, Load load) {
    return out << (load == Load::kLow ? "low" : load == Load::kNormal ? "normal" : "high");
}

std::ostream& operator<<(std::ostream& out, const Plan& plan) {
    const auto list = [&out](const char* word, const std::vector<JobId>& ids) {
        if (ids.empty()) return;
        out << ' ' << word;
        for (const JobId id : ids) out << ' ' << id;
        out << ';';
    };
    out << "plan:";
    list("preempt", plan.preemptions);
    list("start", plan.starts);
    for (const Reservation& reservation : plan.reservations)
        out << " reserve " << reservation.id << " at " << to_seconds(reservation.at.time_since_epoch()) << " s;";
    for (const Resize& resize : plan.resizes)
        out << " resize " << resize.id << " to " << resize.processors << " processors;";
    for (const ShareOfProcessors& share : plan.shares) out << " share " << share.id << ' ' << share.percent << " %;";
    if (plan.diagram) out << " take turns in " << plan.diagram->row_count() << " slices;";
    if (plan.load) out << " the load is " << *plan.load << ';';
    if (plan.wake_at != kNever) out << " wake at " << to_seconds(plan.wake_at.time_since_epoch()) << " s;";
    return out;
}

ZoneState::HandleTable::HandleTable() : cells_(16), shift_(64 - 4) {}

void ZoneState::HandleTable::insert(JobId id, JobHandle handle) {
    if (2 * (size_ + 1) > cells_.size()) {
        std::vector<Cell> old(cells_.size() * 2);
        old.swap(cells_);
        --shift_;
        size_ = 0;
        for (const Cell& cell : old)
            if (cell.id >= 0) insert(JobId{cell.id}, cell.handle);
    }
    std::size_t place = home_of(id.value);
    while (cells_[place].id >= 0) place = (place + 1) & (cells_.size() - 1);
    cells_[place] = {id.value, handle};
    ++size_;
}

JobHandle ZoneState::HandleTable::find(JobId id) const {
    for (std::size_t place = home_of(id.value);; place = (place + 1) & (cells_.size() - 1)) {
        if (cells_[place].id == id.value) return cells_[place].handle;
        if (cells_[place].id < 0) return kNone;
    }
}

void ZoneState::HandleTable::erase(JobId id) {
    const std::size_t mask = cells_.size() - 1;
    std::size_t hole = home_of(id.value);
    while (cells_[hole].id != id.value) hole = (hole + 1) & mask;
    for (std::size_t place = (hole + 1) & mask; cells_[place].id >= 0; place = (place + 1) & mask) {
        if (((place - home_of(cells_[place].id)) & mask) < ((place - hole) & mask)) continue;
        cells_[hole] = cells_[place];
        hole = place;
    }
    cells_[hole] = {};
    --size_;
}

ZoneState::ZoneState(const Options& options) : options_(options), free_(options.processors) {
    ZBS_EXPECTS(options.processors > 0 && options.processors <= kMaxProcessors);
    if (has_diagram()) diagram_ = std::make_shared<TraceDiagram>(options.processors);
}

Result<void> ZoneState::apply(Time at, const ZoneEvent& event) {
    if (at != now_)
        if (Result<void> advanced = advance(at); !advanced) return advanced;
    struct Visitor {
        ZoneState& state;
        Result<void> operator()(const JobSubmitted& e) const { return state.submit(e.job); }
        Result<void> operator()(const JobStarted& e) const { return state.start(e.id); }
        Result<void> operator()(const JobEnded& e) const { return state.end(e.id); }
        Result<void> operator()(const JobWithdrawn& e) const { return state.withdraw(e.id); }
        Result<void> operator()(const JobPreempted& e) const { return state.preempt(e.id); }
        Result<void> operator()(const JobReserved& e) const { return state.reserve(e); }
        Result<void> operator()(const ProcessorsChanged& e) const { return state.change_processors(e.processors); }
        Result<void> operator()(const JobResized& e) const { return state.resize(e.id, e.processors); }
        Result<void> operator()(const SharesChanged& e) const { return state.change_shares(e.shares); }
        Result<void> operator()(const DiagramChanged& e) const { return state.change_diagram(e.diagram); }
        Result<void> operator()(const EndExpected& e) const { return state.expect_end(e); }
        Result<void> operator()(const ZoneRecovered& e) const { return state.recover(e); }
        Result<void> operator()(const WaitingOrdered& e) const { return state.order_waiting(e.jobs); }
        Result<void> operator()(const LoadFound& e) const {
            state.load_ = FoundLoad{e.load, state.now_};
            return {};
        }
        Result<void> operator()(const ClockAdvanced&) const { return {}; }
    };
    return std::visit(Visitor{*this}, event);
}

Result<void> ZoneState::advance(Time at) {
    if (at < now_) return invalid("an event lies before one that was taken already: events come in the order of time");
    if (to_microseconds(at) > kMaxTimeUs || to_microseconds(at) < -kMaxTimeUs)
        return invalid("the time of an event is out of range");
    now_ = at;
    pass_walltimes();
    return {};
}

void ZoneState::pass_walltimes() {
    while (!running_.empty() && running_.front().expected_end <= now_) {
        const RunningJob job = running_.front();
        JobRecord& record = records_[job.handle];
        running_.erase(job.key());
        if (options_.overdue == Overdue::kGone) {
            record.phase = JobPhase::kLeaving;
            free_ += held(record);
        } else {
            record.expected_end = now_ + kOverdueGrace;
            running_.insert({record.expected_end, job.processors, job.handle});
            ++generation_;
        }
    }
}

Result<void> ZoneState::submit(const Job& job) {
    const auto fault = [&job](const std::string& what) {
        return invalid("job " + std::to_string(job.id.value) + ": " + what);
    };
    if (job.id.value < 0) return fault("its number must not be negative");
    if (job.processors < 1) return fault("it must ask for at least one processor");
    if (job.processors > options_.processors)
        return fault("it asks for " + std::to_string(job.processors) + " processors, the zone has " +
                     std::to_string(options_.processors));
    if (job.walltime <= Duration::zero() || job.walltime.count() > kMaxTimeUs)
        return fault("its walltime must be positive and below 73,000 years");
    if (handles_.find(job.id) != HandleTable::kNone)
        return Error{ErrorCode::kConflict, "job " + std::to_string(job.id.value) + " is in this zone already", {}};
    JobHandle handle;
    if (unused_.empty()) {
        handle = static_cast<JobHandle>(records_.size());
        records_.emplace_back();
    } else {
        handle = unused_.back();
        unused_.pop_back();
    }
    records_[handle] = JobRecord{.job = job,
                                 .arrival = next_arrival_++,
                                 .waiting_since = now_,
                                 .walltime_left = job.walltime,
                                 .allocated = job.processors};
    handles_.insert(job.id, handle);
    waiting_.insert({records_[handle].arrival, job.walltime, job.processors, handle});
    log(ZoneChange::Kind::kSubmitted, handle);
    return {};
}

Result<void> ZoneState::start(JobId id) {
    const JobHandle handle = handles_.find(id);
    if (handle == HandleTable::kNone) return unknown_job(id);
    JobRecord& record = records_[handle];
    if (record.phase != JobPhase::kWaiting) return wrong_phase(id, "waits", record.phase);
    if (held(record) > free_)
        return Error{ErrorCode::kConflict,
                     "job " + std::to_string(id.value) + " needs " + std::to_string(record.allocated) +
                         " processors, " + std::to_string(free_) + " are free",
                     {}};
    waiting_.erase(record.arrival);
    free_ -= held(record);
    record.phase = JobPhase::kRunning;
    record.start = record.served_until = now_;
    record.speed = speed_of(record);
    record.expected_end = options_.sharing == Sharing::kSpace ? now_ + record.walltime_left : kNever;
    running_.insert({record.expected_end, record.allocated, handle});
    log(ZoneChange::Kind::kStarted, handle);
    record.reserved = kNever;
    return {};
}

Result<void> ZoneState::end(JobId id) {
    const JobHandle handle = handles_.find(id);
    if (handle == HandleTable::kNone) return unknown_job(id);
    const JobRecord& record = records_[handle];
    if (record.phase == JobPhase::kWaiting) return wrong_phase(id, "runs", record.phase);
    log(ZoneChange::Kind::kEnded, handle);
    if (record.phase == JobPhase::kRunning) {
        running_.erase({record.expected_end, handle});
        free_ += held(record);
    }
    drop(handle);
    return {};
}

Result<void> ZoneState::withdraw(JobId id) {
    const JobHandle handle = handles_.find(id);
    if (handle == HandleTable::kNone) return unknown_job(id);
    const JobRecord& record = records_[handle];
    if (record.phase != JobPhase::kWaiting) return wrong_phase(id, "waits", record.phase);
    log(ZoneChange::Kind::kWithdrawn, handle);
    waiting_.erase(record.arrival);
    drop(handle);
    return {};
}

Result<void> ZoneState::preempt(JobId id) {
    const JobHandle handle = handles_.find(id);
    if (handle == HandleTable::kNone) return unknown_job(id);
    JobRecord& record = records_[handle];
    if (record.phase != JobPhase::kRunning) return wrong_phase(id, "runs", record.phase);
    running_.erase({record.expected_end, handle});
    free_ += held(record);
    record.phase = JobPhase::kWaiting;
    record.walltime_left = std::max(record.walltime_left - (now_ - record.start), kOverdueGrace);
    record.waiting_since = now_;
    record.served = served(record, now_);
    record.share = 0;
    record.start = record.expected_end = kNever;
    waiting_.insert({record.arrival, record.walltime_left, record.job.processors, handle});
    ++generation_;
    return {};
}

Result<void> ZoneState::reserve(const JobReserved& promise) {
    const auto& [id, at, latest] = promise;
    const JobHandle handle = handles_.find(id);
    if (handle == HandleTable::kNone) return unknown_job(id);
    JobRecord& record = records_[handle];
    if (record.phase != JobPhase::kWaiting) return wrong_phase(id, "waits", record.phase);
    if (latest < at) return invalid("a promise must not end before it begins");
    if (at != kNever && (at < now_ || to_microseconds(at) > 2 * kMaxTimeUs))
        return invalid("a reservation must lie ahead");
    record.reserved = at;
    record.latest_start = latest;
    record.reservation_order = next_reservation_++;
    return {};
}

Result<void> ZoneState::change_processors(std::int32_t processors) {
    if (processors < 1 || processors > kMaxProcessors)
        return invalid("a zone has 1 to " + std::to_string(kMaxProcessors) + " processors, not " +
                       std::to_string(processors));
    const std::int32_t used = options_.processors - free_;
    if (options_.sharing == Sharing::kShare && !running_.empty())
        return Error{
            ErrorCode::kConflict, "jobs share all processors; end or preempt them before the number changes", {}};
    if (has_diagram()) {
        if (processors > TraceDiagram::kMaxProcessors)
            return invalid("jobs share the slots of at most " + std::to_string(TraceDiagram::kMaxProcessors) +
                           " processors");
        if (!running_.empty())
            return Error{ErrorCode::kConflict,
                         "jobs share the slots of all processors; end or preempt them before the number changes",
                         {}};
        diagram_ = std::make_shared<TraceDiagram>(processors);
    }
    if (processors < used)
        return Error{ErrorCode::kConflict,
                     std::to_string(used) + " processors are held by running jobs; end or move these first",
                     {}};
    options_.processors = processors;
    free_ = processors - used;
    ++generation_;
    return {};
}

Result<void> ZoneState::resize(JobId id, std::int32_t processors) {
    const JobHandle handle = handles_.find(id);
    if (handle == HandleTable::kNone) return unknown_job(id);
    JobRecord& record = records_[handle];
    const auto conflict = [id](const std::string& what) {
        return Error{ErrorCode::kConflict, "job " + std::to_string(id.value) + " " + what, {}};
    };
    if (record.phase == JobPhase::kLeaving) return wrong_phase(id, "has time left", record.phase);
    if (record.job.flexibility == Flexibility::kRigid) return conflict("is rigid: it runs on what it asked for");
    if (record.phase == JobPhase::kRunning && record.job.flexibility == Flexibility::kMoldable)
        return conflict("runs and is moldable: only malleable jobs change their size then");
    if (processors < 1 || processors > options_.processors)
        return invalid("job " + std::to_string(id.value) + " cannot run on " + std::to_string(processors) + " of " +
                       std::to_string(options_.processors) + " processors");
    if (record.phase == JobPhase::kRunning) {
        if (options_.sharing == Sharing::kSpace && processors - record.allocated > free_)
            return conflict("would need more processors than are free");
        serve(record);
        free_ += held(record);
        running_.erase({record.expected_end, handle});
        record.allocated = processors;
        record.speed = speed_of(record);
        running_.insert({record.expected_end, processors, handle});
        free_ -= held(record);
        // Where jobs do not hold processors, what is free does not change.
        if (options_.sharing == Sharing::kSpace) ++generation_;
    } else {
        record.allocated = processors;
    }
    return {};
}

Result<void> ZoneState::change_shares(const std::vector<ShareOfProcessors>& shares) {
    const auto conflict = [](const std::string& what) { return Error{ErrorCode::kConflict, what, {}}; };
    if (options_.sharing != Sharing::kShare) return conflict("jobs of this zone do not have shares");
    std::int64_t sum = 0;
    std::unordered_set<JobId> named;
    for (const ShareOfProcessors& share : shares) {
        const std::string name = "job " + std::to_string(share.id.value);
        const JobHandle handle = handles_.find(share.id);
        if (handle == HandleTable::kNone || records_[handle].phase != JobPhase::kRunning)
            return conflict(name + " has a share but does not run");
        if (share.percent < 1 || share.percent > 100)
            return invalid(name + " has a share of " + std::to_string(share.percent) + " per cent; 1 to 100 can be");
        if (!named.insert(share.id).second) return conflict(name + " has two shares");
        sum += share.percent;
    }
    if (named.size() != running_.size()) return conflict("a running job has no share");
    if (sum > 100) return conflict("the shares sum up to " + std::to_string(sum) + " per cent");
    for (const ShareOfProcessors& share : shares) {
        JobRecord& record = records_[handles_.find(share.id)];
        serve(record);
        record.share = share.percent;
    }
    return {};
}

Result<void> ZoneState::change_diagram(const std::shared_ptr<const TraceDiagram>& diagram) {
    const auto conflict = [](const std::string& what) { return Error{ErrorCode::kConflict, what, {}}; };
    if (!has_diagram()) return conflict("jobs of this zone do not have slots");
    if (!diagram || diagram->processors() != options_.processors)
        return conflict("the zone has " + std::to_string(options_.processors) + " processors, the slice matrix " +
                        std::to_string(diagram ? diagram->processors() : 0));
    std::vector<JobHandle> turns;
    for (std::int32_t row = 0; row < diagram->row_count(); ++row) {
        for (const TraceDiagram::Entry& entry : diagram->entries(row)) {
            const JobHandle handle = handles_.find(entry.job);
            if (handle == HandleTable::kNone || records_[handle].phase != JobPhase::kRunning)
                return conflict("job " + std::to_string(entry.job.value) + " is in the slice matrix but does not run");
            if (entry.processors != records_[handle].allocated)
                return conflict("job " + std::to_string(entry.job.value) + " needs " +
                                std::to_string(records_[handle].allocated) + " processors, the slice matrix has " +
                                std::to_string(entry.processors));
            turns.push_back(handle);
        }
    }
    std::vector<bool> seen(records_.size());
    std::size_t placed = 0;
    for (const JobHandle handle : turns) {
        placed += seen[handle] ? 0 : 1;
        seen[handle] = true;
    }
    if (placed != running_.size())
        return conflict(std::to_string(running_.size()) + " jobs run, the slice matrix has " + std::to_string(placed));
    diagram_ = diagram;
    running_.visit([&](const RunningJob& job) {
        JobRecord& record = records_[job.handle];
        serve(record);
        record.share = 0;
        record.share_of = std::max(diagram->row_count(), 1);
        return true;
    });
    for (const JobHandle handle : turns) ++records_[handle].share;
    return {};
}

Result<void> ZoneState::recover(const ZoneRecovered& zone) {
    if (!waiting_.empty() || !running_.empty())
        return Error{ErrorCode::kConflict, "a zone that has jobs takes those of no other", {}};
    if (has_diagram() != (zone.diagram != nullptr) ||
        (zone.diagram && zone.diagram->processors() != options_.processors))
        return invalid("the slice matrix is of another zone");
    std::unordered_set<JobId> ids;
    std::unordered_set<std::uint64_t> places;
    std::int64_t used = 0;
    for (const JobRecord& record : zone.records) {
        const std::string name = "job " + std::to_string(record.job.id.value);
        if (record.job.id.value < 0 || !ids.insert(record.job.id).second || !places.insert(record.arrival).second)
            return invalid(name + " has the number or the place of another one");
        if (record.job.processors < 1 || record.allocated < 1 || record.allocated > options_.processors ||
            record.job.walltime <= Duration::zero() || record.share < 0 || record.share_of < 1)
            return invalid(name + " has a size, a time or a share that no job has");
        if (record.phase == JobPhase::kLeaving) return invalid(name + " has left");
        if (record.phase == JobPhase::kRunning) used += held(record);
    }
    if (used > options_.processors) return invalid("the running jobs have more processors than there are");
    std::map<JobId, std::int32_t> slots;
    for (std::int32_t row = 0; zone.diagram && row < zone.diagram->row_count(); ++row)
        for (const TraceDiagram::Entry& entry : zone.diagram->entries(row)) slots[entry.job] = entry.processors;
    for (const JobRecord& record : zone.records) {
        const auto placed = slots.extract(record.job.id);
        const std::int32_t wanted = has_diagram() && record.phase == JobPhase::kRunning ? record.allocated : 0;
        if ((placed ? placed.mapped() : 0) != wanted)
            return invalid("job " + std::to_string(record.job.id.value) + " has slots that it does not need, or none");
    }
    if (!slots.empty()) return invalid("the slice matrix has a job that is not there");
    for (const JobRecord& record : zone.records) {
        const auto handle = static_cast<JobHandle>(records_.size());
        records_.push_back(record);
        handles_.insert(record.job.id, handle);
        next_arrival_ = std::max(next_arrival_, record.arrival + 1);
        next_reservation_ = std::max(next_reservation_, record.reservation_order + 1);
        if (record.phase == JobPhase::kRunning)
            running_.insert({record.expected_end, record.allocated, handle});
        else
            waiting_.insert({record.arrival, record.walltime_left, record.job.processors, handle});
    }
    next_arrival_ = std::max(next_arrival_, zone.next_arrival);
    free_ -= static_cast<std::int32_t>(used);
    diagram_ = zone.diagram;
    load_ = zone.load;
    ++generation_;
    return {};
}

Result<void> ZoneState::expect_end(const EndExpected& end) {
    const JobHandle handle = handles_.find(end.id);
    if (handle == HandleTable::kNone) return unknown_job(end.id);
    JobRecord& record = records_[handle];
    if (record.phase != JobPhase::kRunning) return wrong_phase(end.id, "runs", record.phase);
    if (options_.sharing != Sharing::kSpace || end.at <= now_ || to_microseconds(end.at) > 2 * kMaxTimeUs)
        return invalid("an end is expected where a job has its processors alone, and ahead");
    running_.erase({record.expected_end, handle});
    record.expected_end = end.at;
    running_.insert({record.expected_end, record.allocated, handle});
    ++generation_;
    return {};
}

Result<void> ZoneState::order_waiting(const std::vector<JobId>& jobs) {
    std::vector<JobHandle> handles;
    std::vector<std::uint64_t> places;
    for (const JobId id : jobs) {
        const JobHandle handle = handles_.find(id);
        if (handle == HandleTable::kNone) return unknown_job(id);
        if (records_[handle].phase != JobPhase::kWaiting) return wrong_phase(id, "waits", records_[handle].phase);
        handles.push_back(handle);
        places.push_back(records_[handle].arrival);
    }
    if (std::ranges::adjacent_find(places, std::greater_equal<>{}) == places.end()) return {};
    std::ranges::sort(places);
    if (std::ranges::adjacent_find(places) != places.end())
        return Error{ErrorCode::kConflict, "a job cannot have two places among those that wait", {}};
    for (const JobHandle handle : handles) waiting_.erase(records_[handle].arrival);
    for (std::size_t i = 0; i < handles.size(); ++i) {
        JobRecord& record = records_[handles[i]];
        record.arrival = places[i];
        waiting_.insert({record.arrival, record.walltime_left, record.job.processors, handles[i]});
    }
    ++generation_;
    return {};
}

ZoneSnapshot ZoneState::snapshot(bool instant_complete) const {
    return {.now = now_,
            .processors = options_.processors,
            .free_processors = free_,
            .waiting = waiting_,
            .running = running_,
            .records = records_,
            .diagram = diagram_,
            .memory_bytes = options_.memory_bytes,
            .load = load_,
            .instant_complete = instant_complete,
            .changes = changes_,
            .change_base = change_base_,
            .generation = generation_};
}

void ZoneState::changes_planned() {
    change_base_ += changes_.size();
    changes_.clear();
}

const JobRecord* ZoneState::find(JobId id) const {
    const JobHandle handle = handles_.find(id);
    return handle == HandleTable::kNone ? nullptr : &records_[handle];
}

/// Brings what the job was given up to now.
void ZoneState::serve(JobRecord& record) const {
    record.served = served(record, now_);
    record.served_until = now_;
}

double ZoneState::speed_of(const JobRecord& record) const {
    if (record.allocated == record.job.processors) return 1;
    const SizeRange range = size_range(record.job, options_.processors);
    return relative_speed(range, std::clamp(record.allocated, range.least, range.most));
}

void ZoneState::log(ZoneChange::Kind kind, JobHandle handle) {
    const JobRecord& record = records_[handle];
    changes_.push_back({kind, handle, record.arrival, record.allocated, record.job.priority, record.walltime_left,
                        record.reserved, record.expected_end});
}

void ZoneState::drop(JobHandle handle) {
    handles_.erase(records_[handle].job.id);
    unused_.push_back(handle);
}

}  // namespace zbs
