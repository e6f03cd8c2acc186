#include "client/cli/simulation/simulate_output.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <span>
#include <string_view>
#include <tuple>

#include "algorithms/formats/schedule_svg.hpp"
#include "algorithms/sim/flexibility.hpp"
#include "client/cli/simulation/workload_changes.hpp"

namespace zbs::cli {
namespace {

void append(std::string& out, std::int64_t value) {
    char buffer[24];
    out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

/// Seconds, with up to six decimals where they are not whole.
void append(std::string& out, Duration span) {
    const std::int64_t us = span.count();
    if (us < 0) out += '-';
    const std::int64_t magnitude = us < 0 ? -us : us;
    append(out, magnitude / 1'000'000);
    std::int64_t part = magnitude % 1'000'000;
    if (part == 0) return;
    out += '.';
    for (std::int64_t unit = 100'000; part > 0; unit /= 10) {
        out += static_cast<char>('0' + part / unit);
        part %= unit;
    }
}
void append(std::string& out, Time at) { append(out, at.time_since_epoch()); }

template <class... Values>
void line(std::string& out, char separator, const Values&... values) {
    (..., (append(out, values), out += separator));
    out.back() = '\n';
}

std::int32_t size_at_start(const Workload& workload, const SimulatedSchedule& schedule, std::size_t job) {
    return schedule.started_on.empty() ? workload.jobs[job].job.processors : schedule.started_on[job];
}

/// "0-3;8", with rows "0:0-3;8|2:4".
std::string text_of(const std::vector<PlaceRange>& ranges, bool with_rows) {
    std::string out;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        const PlaceRange& range = ranges[i];
        const bool new_row = i == 0 || ranges[i - 1].row != range.row;
        if (i > 0) out += new_row ? '|' : ';';
        if (with_rows && new_row) append(out, std::int64_t{range.row}), out += ':';
        append(out, std::int64_t{range.first});
        if (range.last > range.first) out += '-', append(out, std::int64_t{range.last});
    }
    return out;
}

/// The places of each job over time, as numbers of `SimulatedSchedule::placements`.
class Places {
  public:
    Places(const SimulatedSchedule& schedule, std::size_t jobs) : schedule_(schedule) {
        if (schedule.placements.empty()) return;
        of_job_.resize(jobs);
        for (std::size_t i = 0; i < schedule.placements.size(); ++i) of_job_[schedule.placements[i].job].push_back(i);
    }
    bool known() const { return !of_job_.empty(); }
    /// Its changes, in the order of time.
    std::span<const std::size_t> of(std::size_t job) const { return of_job_[job]; }
    /// The last ones that it got by then; nothing if it had none.
    const std::vector<PlaceRange>* at(std::size_t job, Time time) const {
        const std::vector<PlaceRange>* found = nullptr;
        for (const std::size_t i : of_job_[job]) {
            if (schedule_.placements[i].at > time) break;
            found = &schedule_.placements[i].ranges;
        }
        return found;
    }
    std::string text(std::size_t job, Time time) const {
        const std::vector<PlaceRange>* const ranges = at(job, time);
        return ranges == nullptr ? std::string{} : text_of(*ranges, schedule_.rows > 0);
    }

  private:
    const SimulatedSchedule& schedule_;
    std::vector<std::vector<std::size_t>> of_job_;
};

/// `line`, and the places where they are known, in one line.
void add_column(std::string& out, const Places& places, std::size_t job, Time time) {
    if (!places.known()) return;
    out.back() = ',';
    out += places.text(job, time);
    out += '\n';
}
void add_header(std::string& out, const Places& places) {
    if (places.known()) out.replace(out.size() - 1, 1, ",places\n");
}

}  // namespace

std::string schedule_csv(const Workload& workload, const SimulatedSchedule& schedule) {
    const Places places(schedule, workload.jobs.size());
    std::string out = "id,submit,start,end,processors\n";
    add_header(out, places);
    out.reserve(workload.jobs.size() * 40);
    for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
        const Job& job = workload.jobs[i].job;
        line(out, ',', job.id.value, job.submit, schedule.start[i], schedule.end[i],
             static_cast<std::int64_t>(size_at_start(workload, schedule, i)));
        add_column(out, places, i, schedule.start[i]);
    }
    return out;
}

std::string events_csv(const Workload& workload, const SimulatedSchedule& schedule) {
    enum Kind : std::uint8_t { kEnd, kPreempt, kSubmit, kResize, kMove, kStart, kResume };
    constexpr std::string_view kWords[] = {",end,",  ",preempt,", ",submit,", ",resize,",
                                           ",move,", ",start,",   ",resume,"};
    const Places places(schedule, workload.jobs.size());
    struct Event {
        Time at;
        Kind kind;
        std::uint32_t job;
        std::int32_t processors = 0;  ///< of a resize
    };
    std::vector<Event> events;
    events.reserve(workload.jobs.size() * 3);
    for (std::uint32_t i = 0; i < workload.jobs.size(); ++i) {
        events.push_back({workload.jobs[i].job.submit, kSubmit, i});
        events.push_back({schedule.start[i], kStart, i});
        events.push_back({schedule.end[i], kEnd, i});
    }
    for (const Interruption& pause : schedule.interruptions) {
        events.push_back({pause.stopped, kPreempt, pause.job});
        events.push_back({pause.resumed, kResume, pause.job});
    }
    for (const SizeChange& change : schedule.size_changes)
        if (change.at < schedule.end[change.job]) events.push_back({change.at, kResize, change.job, change.processors});
    if (schedule.rows > 0)
        for (const PlacementChange& change : schedule.placements)
            if (change.at > schedule.start[change.job] && change.at < schedule.end[change.job])
                events.push_back({change.at, kMove, change.job});
    // Stable: several resizes of one job in an instant stay in their order.
    std::ranges::stable_sort(events, {},
                             [](const Event& event) { return std::tuple(event.at, event.kind, event.job); });
    std::vector<std::int32_t> sizes;
    for (std::size_t i = 0; i < workload.jobs.size(); ++i) sizes.push_back(size_at_start(workload, schedule, i));
    std::string out = "time,kind,job,processors,free\n";
    add_header(out, places);
    out.reserve(events.size() * 32);
    std::int64_t free = schedule.processors;
    for (const Event& event : events) {
        const Job& job = workload.jobs[event.job].job;
        std::int32_t& size = sizes[event.job];
        if (event.kind == kResize) free += size - event.processors, size = event.processors;
        if (event.kind == kStart || event.kind == kResume) free -= size;
        if (event.kind == kEnd || event.kind == kPreempt) free += size;
        append(out, event.at);
        out += kWords[event.kind];
        line(out, ',', job.id.value, static_cast<std::int64_t>(event.kind == kSubmit ? job.processors : size), free);
        if (schedule.overlapping) out.replace(out.rfind(',') + 1, std::string::npos, "\n");
        if (!places.known()) continue;
        const bool has_places = event.kind != kSubmit && event.kind != kEnd && event.kind != kPreempt;
        out.back() = ',';
        if (has_places) out += places.text(event.job, event.at);
        out += '\n';
    }
    return out;
}

std::string waits_text(const Workload& workload, const SimulatedSchedule& schedule) {
    std::vector<std::uint32_t> by_id(workload.jobs.size());
    std::iota(by_id.begin(), by_id.end(), 0U);
    std::ranges::sort(by_id, {}, [&](std::uint32_t i) { return workload.jobs[i].job.id; });
    std::string out;
    out.reserve(by_id.size() * 16);
    for (const std::uint32_t i : by_id)
        line(out, ' ', workload.jobs[i].job.id.value, schedule.start[i] - workload.jobs[i].job.submit);
    return out;
}

std::string jobs_csv(const Workload& workload, const SimulatedSchedule* schedule) {
    std::string out =
        "id,submit,wait,start,end,runtime,walltime,processors,priority,user,group,queue,memory_bytes_per_task,"
        "flexibility\n";
    const bool promises = schedule != nullptr && !schedule->promised.empty();
    if (promises) out.replace(out.size() - 1, 1, ",promised\n");
    const std::optional<Places> places =
        schedule == nullptr ? std::nullopt : std::optional<Places>(std::in_place, *schedule, workload.jobs.size());
    if (places) add_header(out, *places);
    for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
        const auto& [job, runtime] = workload.jobs[i];
        append(out, job.id.value);
        out += ',';
        append(out, job.submit);
        out += ',';
        if (schedule != nullptr) {
            line(out, ',', schedule->start[i] - job.submit, schedule->start[i], schedule->end[i]);
            out.back() = ',';
        } else {
            out += ",,,";
        }
        line(out, ',', runtime, job.walltime, static_cast<std::int64_t>(job.processors),
             static_cast<std::int64_t>(job.priority), static_cast<std::int64_t>(job.user),
             static_cast<std::int64_t>(job.group), static_cast<std::int64_t>(job.queue), job.memory_bytes);
        out.back() = ',';
        out += to_string(job.flexibility);
        if (promises) {
            out += ',';
            if (schedule->promised[i] != kNever) append(out, schedule->promised[i]);
        }
        out += '\n';
        if (places) add_column(out, *places, i, schedule->start[i]);
    }
    return out;
}

std::vector<ClassMetrics> classes_by_size(const Workload& workload, const SimulatedSchedule& schedule, Duration tau) {
    if (schedule.times.empty()) return metrics_by_size(workload, schedule.view(), tau);
    const auto largest = std::ranges::max_element(schedule.times, {}, &JobTimes::processors);
    return metrics_by_size(schedule.times, largest->processors, tau);
}

std::vector<ClassMetrics> classes_by_runtime(const Workload& workload, const SimulatedSchedule& schedule,
                                             Duration tau) {
    if (schedule.times.empty()) return metrics_by_runtime(workload, schedule.view(), tau);
    return metrics_by_runtime(schedule.times, tau);
}

std::size_t flexible_jobs(const Workload& workload) {
    return static_cast<std::size_t>(std::ranges::count_if(
        workload.jobs, [](const WorkloadJob& entry) { return entry.job.flexibility != Flexibility::kRigid; }));
}

std::string swf_text(const LoadedWorkload& loaded, const SimulatedSchedule* schedule) {
    const bool is_simulated = schedule != nullptr && schedule->policy != kRecorded;
    const std::span<const Time> start = is_simulated ? schedule->start : std::span<const Time>{};
    formats::SwfTrace log =
        loaded.trace ? formats::schedule_swf(*loaded.trace, loaded.workload.jobs, loaded.cleaned.record_of_job, start)
                     : formats::make_swf(loaded.workload, start);
    if (const std::size_t flexible = flexible_jobs(loaded.workload); flexible > 0)
        log.comments.push_back(" Note: " + std::to_string(flexible) + " of " +
                               std::to_string(loaded.workload.jobs.size()) +
                               " jobs are moldable or malleable, which this format cannot say");
    // The machine may be another one than the log's: who replays the file should have this one.
    if (loaded.trace && log.processors() != loaded.workload.processors) {
        for (const char* name : {"MaxProcs", "MaxNodes"}) log.erase_directive(name);
        log.comments.push_back(" MaxProcs: " + std::to_string(loaded.workload.processors));
    }
    return formats::write_swf(log);
}

namespace {

/// The bars in pieces, each with the places that its job had then.
std::vector<formats::ScheduleBar> at_places(const std::vector<formats::ScheduleBar>& bars,
                                            const std::vector<std::size_t>& job_of_bar,
                                            const SimulatedSchedule& schedule, const Places& places) {
    std::vector<formats::ScheduleBar> pieces;
    for (std::size_t b = 0; b < bars.size(); ++b) {
        const std::size_t job = job_of_bar[b];
        formats::ScheduleBar piece = bars[b];
        const auto add_until = [&](Time end) {
            piece.end = end;
            piece.ranges.clear();
            if (const std::vector<PlaceRange>* const ranges = places.at(job, piece.start))
                for (const auto& [row, first, last] : *ranges) {
                    const std::int64_t below = std::int64_t{row} * schedule.processors;
                    piece.ranges.emplace_back(below + first, below + last);
                }
            if (piece.end > piece.start) pieces.push_back(piece);
            piece.start = end;
        };
        for (const std::size_t change : places.of(job))
            if (const Time at = schedule.placements[change].at; at > bars[b].start && at < bars[b].end) add_until(at);
        add_until(bars[b].end);
    }
    return pieces;
}

}  // namespace

std::string gantt_svg(const LoadedWorkload& loaded, const SimulatedSchedule& schedule) {
    std::vector<formats::ScheduleBar> bars;
    bars.reserve(loaded.workload.jobs.size());
    for (std::size_t i = 0; i < loaded.workload.jobs.size(); ++i) {
        const Job& job = loaded.workload.jobs[i].job;
        bars.push_back({job.id.value, schedule.start[i], schedule.end[i], size_at_start(loaded.workload, schedule, i)});
    }
    // A job is drawn in pieces: what it ran up to each pause or change of its size, and after the last one.
    std::vector<std::size_t> last_piece(bars.size());
    std::iota(last_piece.begin(), last_piece.end(), std::size_t{0});
    std::vector<std::size_t> job_of_bar = last_piece;
    for (const Interruption& pause : schedule.interruptions) {
        formats::ScheduleBar& before = bars[last_piece[pause.job]];
        const formats::ScheduleBar after{before.id, pause.resumed, before.end, before.processors};
        before.end = pause.stopped;
        last_piece[pause.job] = bars.size();
        job_of_bar.push_back(pause.job);
        bars.push_back(after);
    }
    for (const SizeChange& change : schedule.size_changes) {
        formats::ScheduleBar& before = bars[last_piece[change.job]];
        const formats::ScheduleBar after{before.id, change.at, before.end, change.processors};
        before.end = change.at;
        last_piece[change.job] = bars.size();
        job_of_bar.push_back(change.job);
        bars.push_back(after);
    }
    if (const Places places(schedule, loaded.workload.jobs.size()); places.known())
        bars = at_places(bars, job_of_bar, schedule, places);
    std::erase_if(bars, [](const formats::ScheduleBar& bar) { return bar.end <= bar.start; });
    return formats::schedule_svg({.title = loaded.name + " under " + schedule.policy,
                                  .jobs = bars,
                                  .processors = schedule.processors,
                                  .rows = std::max(1, schedule.rows)});
}

}  // namespace zbs::cli
