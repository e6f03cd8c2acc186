#include "client/cli/simulation/simulate_output.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <string_view>
#include <tuple>

#include "algorithms/formats/schedule_svg.hpp"
#include "algorithms/sim/flexibility.hpp"

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

}  // namespace

std::string schedule_csv(const Workload& workload, const SimulatedSchedule& schedule) {
    std::string out = "id,submit,start,end,processors\n";
    out.reserve(workload.jobs.size() * 40);
    for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
        const Job& job = workload.jobs[i].job;
        line(out, ',', job.id.value, job.submit, schedule.start[i], schedule.end[i],
             static_cast<std::int64_t>(size_at_start(workload, schedule, i)));
    }
    return out;
}

std::string events_csv(const Workload& workload, const SimulatedSchedule& schedule) {
    enum Kind : std::uint8_t { kEnd, kPreempt, kSubmit, kResize, kStart, kResume };
    constexpr std::string_view kWords[] = {",end,", ",preempt,", ",submit,", ",resize,", ",start,", ",resume,"};
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
    // Stable: several resizes of one job in an instant stay in their order.
    std::ranges::stable_sort(events, {},
                             [](const Event& event) { return std::tuple(event.at, event.kind, event.job); });
    std::vector<std::int32_t> sizes;
    for (std::size_t i = 0; i < workload.jobs.size(); ++i) sizes.push_back(size_at_start(workload, schedule, i));
    std::string out = "time,kind,job,processors,free\n";
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
        out += '\n';
    }
    return out;
}

std::size_t flexible_jobs(const Workload& workload) {
    return static_cast<std::size_t>(std::ranges::count_if(
        workload.jobs, [](const WorkloadJob& entry) { return entry.job.flexibility != Flexibility::kRigid; }));
}

std::string swf_text(const LoadedWorkload& loaded, const SimulatedSchedule* schedule) {
    const std::span<const Time> start = schedule == nullptr ? std::span<const Time>{} : schedule->start;
    formats::SwfTrace log =
        loaded.trace ? formats::schedule_swf(*loaded.trace, loaded.workload.jobs, loaded.cleaned.record_of_job, start)
                     : formats::make_swf(loaded.workload, start);
    if (const std::size_t flexible = flexible_jobs(loaded.workload); flexible > 0)
        log.comments.push_back(" Note: " + std::to_string(flexible) + " of " +
                               std::to_string(loaded.workload.jobs.size()) +
                               " jobs are moldable or malleable, which this format cannot say");
    // The machine may be another one than the log's: who replays the file should have this one.
    if (loaded.trace && log.processors() != loaded.workload.processors) {
        std::erase_if(log.comments, [](const std::string& comment) {
            const std::size_t word = comment.find_first_not_of(" \t");
            return word != std::string::npos &&
                   (comment.compare(word, 9, "MaxProcs:") == 0 || comment.compare(word, 9, "MaxNodes:") == 0);
        });
        log.comments.push_back(" MaxProcs: " + std::to_string(loaded.workload.processors));
    }
    return formats::write_swf(log);
}

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
    for (const Interruption& pause : schedule.interruptions) {
        formats::ScheduleBar& before = bars[last_piece[pause.job]];
        const formats::ScheduleBar after{before.id, pause.resumed, before.end, before.processors};
        before.end = pause.stopped;
        last_piece[pause.job] = bars.size();
        bars.push_back(after);
    }
    for (const SizeChange& change : schedule.size_changes) {
        formats::ScheduleBar& before = bars[last_piece[change.job]];
        const formats::ScheduleBar after{before.id, change.at, before.end, change.processors};
        before.end = change.at;
        last_piece[change.job] = bars.size();
        bars.push_back(after);
    }
    std::erase_if(bars, [](const formats::ScheduleBar& bar) { return bar.end <= bar.start; });
    return formats::schedule_svg(
        {.title = loaded.name + " under " + schedule.policy, .jobs = bars, .processors = schedule.processors});
}

}  // namespace zbs::cli
