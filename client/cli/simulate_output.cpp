#include "client/cli/simulate_output.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <string_view>

#include "algorithms/formats/schedule_svg.hpp"

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

}  // namespace

std::string schedule_csv(const Workload& workload, const SimulatedSchedule& schedule) {
    std::string out = "id,submit,start,end,processors\n";
    out.reserve(workload.jobs.size() * 40);
    for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
        const Job& job = workload.jobs[i].job;
        line(out, ',', job.id.value, job.submit, schedule.start[i], schedule.end[i],
             static_cast<std::int64_t>(job.processors));
    }
    return out;
}

std::string events_csv(const Workload& workload, const SimulatedSchedule& schedule) {
    enum Kind : std::uint8_t { kEnd, kPreempt, kSubmit, kStart, kResume };
    constexpr std::string_view kWords[] = {",end,", ",preempt,", ",submit,", ",start,", ",resume,"};
    struct Event {
        Time at;
        Kind kind;
        std::uint32_t job;
        auto operator<=>(const Event&) const = default;
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
    std::ranges::sort(events);
    std::string out = "time,kind,job,processors,free\n";
    out.reserve(events.size() * 32);
    std::int64_t free = schedule.processors;
    for (const Event& event : events) {
        const Job& job = workload.jobs[event.job].job;
        if (event.kind == kStart || event.kind == kResume) free -= job.processors;
        if (event.kind == kEnd || event.kind == kPreempt) free += job.processors;
        append(out, event.at);
        out += kWords[event.kind];
        line(out, ',', job.id.value, static_cast<std::int64_t>(job.processors), free);
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
        "id,submit,wait,start,end,runtime,walltime,processors,priority,user,group,queue,memory_bytes_per_task\n";
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
    }
    return out;
}

std::string swf_text(const LoadedWorkload& loaded, const SimulatedSchedule* schedule) {
    const std::span<const Time> start = schedule == nullptr ? std::span<const Time>{} : schedule->start;
    if (!loaded.trace) return formats::write_swf(formats::make_swf(loaded.workload, start));
    formats::SwfTrace log =
        formats::schedule_swf(*loaded.trace, loaded.workload.jobs, loaded.cleaned.record_of_job, start);
    // The machine may be another one than the log's: who replays the file should have this one.
    if (log.processors() != loaded.workload.processors) {
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
        bars.push_back({job.id.value, schedule.start[i], schedule.end[i], job.processors});
    }
    // A preempted job is drawn in pieces: what it ran up to each pause, and after the last one.
    std::vector<std::size_t> last_piece(bars.size());
    std::iota(last_piece.begin(), last_piece.end(), std::size_t{0});
    for (const Interruption& pause : schedule.interruptions) {
        formats::ScheduleBar& before = bars[last_piece[pause.job]];
        const formats::ScheduleBar after{before.id, pause.resumed, before.end, before.processors};
        before.end = pause.stopped;
        last_piece[pause.job] = bars.size();
        bars.push_back(after);
    }
    std::erase_if(bars, [](const formats::ScheduleBar& bar) { return bar.end <= bar.start; });
    return formats::schedule_svg(
        {.title = loaded.name + " under " + schedule.policy, .jobs = bars, .processors = schedule.processors});
}

}  // namespace zbs::cli
