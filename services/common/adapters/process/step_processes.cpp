#include "services/common/adapters/process/step_processes.hpp"

#include <dirent.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <set>
#include <string_view>

#include "services/common/adapters/process/start/supervisor_record.hpp"

namespace zbs::process {
namespace {

std::string proc(pid_t pid) { return "/proc/" + std::to_string(pid); }

Duration ticks(std::uint64_t count) {
    static const long per_second = sysconf(_SC_CLK_TCK);
    return Duration{static_cast<std::int64_t>(count) * 1'000'000 / per_second};
}

/// The number behind `key` in a text of "key: number" lines; 0 where it is not there.
std::uint64_t number_after(std::string_view text, std::string_view key) {
    const std::size_t at = text.find(key);
    if (at == std::string_view::npos) return 0;
    return std::strtoull(text.data() + at + key.size(), nullptr, 10);
}

std::optional<StepProcess> read_process(pid_t pid) {
    const auto fields = read_stat(proc(pid) + "/stat");
    if (!fields) return std::nullopt;
    StepProcess process{.ref = {pid, fields->start_time}, .states = {}, .session = fields->session};
    if (fields->threads <= 1) {
        process.states = std::string(1, fields->state);
        return process;
    }
    for (const pid_t thread : threads_of(pid)) {
        if (const auto of_thread = read_stat(proc(pid) + "/task/" + std::to_string(thread) + "/stat"))
            process.states += of_thread->state;
    }
    if (process.states.empty()) return std::nullopt;
    return process;
}

std::vector<pid_t> children_of(pid_t pid) {
    std::vector<pid_t> children;
    for (const pid_t thread : threads_of(pid)) {
        const auto text = read_file(proc(pid) + "/task/" + std::to_string(thread) + "/children", 4 * 1024 * 1024);
        if (!text) continue;
        const char* at = text->c_str();
        for (char* end = nullptr;; at = end) {
            const long child = std::strtol(at, &end, 10);
            if (end == at) break;
            children.push_back(static_cast<pid_t>(child));
        }
    }
    return children;
}

/// Kernels may be built without the files of children.
bool has_children_files() {
    static const bool has = access(("/proc/self/task/" + std::to_string(getpid()) + "/children").c_str(), R_OK) == 0;
    return has;
}

}  // namespace

std::vector<pid_t> threads_of(pid_t pid) {
    std::vector<pid_t> threads;
    DIR* folder = opendir((proc(pid) + "/task").c_str());
    if (folder == nullptr) return threads;
    while (const dirent* entry = readdir(folder)) {
        const int thread = std::atoi(entry->d_name);
        if (thread > 0) threads.push_back(thread);
    }
    closedir(folder);
    return threads;
}

std::optional<ProcessRef> find_supervisor(const std::string& folder) {
    const auto record = read_supervisor_record(folder);
    if (!record || !record->is_of_this_host() || !is_alive(record->process)) return std::nullopt;
    return record->process;
}

StepWalk walk_step(const std::string& folder, const StepId& step_id) {
    StepWalk walk;
    const auto supervisor = find_supervisor(folder);
    if (!supervisor || !has_children_files()) {
        for (const ProcessRef& ref : find_marked(step_variable(step_id), supervisor ? supervisor->pid : 0)) {
            if (auto process = read_process(ref.pid); process && process->ref == ref)
                walk.processes.push_back(*std::move(process));
            else
                walk.is_whole = false;
        }
        return walk;
    }
    std::vector<pid_t> open = children_of(supervisor->pid);
    std::set<pid_t> seen(open.begin(), open.end());
    while (!open.empty()) {
        const pid_t pid = open.back();
        open.pop_back();
        auto process = read_process(pid);
        if (!process) {
            walk.is_whole = false;
            continue;
        }
        for (const pid_t child : children_of(pid)) {
            if (seen.insert(child).second) open.push_back(child);
        }
        walk.processes.push_back(*std::move(process));
    }
    // Its children are lost to this walk where it ended meanwhile.
    walk.is_whole = walk.is_whole && is_alive(*supervisor);
    return walk;
}

ProcessUsage read_usage(pid_t pid) {
    ProcessUsage usage;
    if (const auto fields = read_stat(proc(pid) + "/stat")) {
        usage.children_cpu = ticks(fields->children_user + fields->children_system);
        usage.cpu = ticks(fields->user + fields->system) + usage.children_cpu;
    }
    if (const auto io = read_file(proc(pid) + "/io")) {
        usage.read_bytes = number_after(*io, "\nread_bytes:");
        usage.written_bytes = number_after(*io, "\nwrite_bytes:");
    }
    for (const pid_t thread : threads_of(pid)) {
        const std::string folder = proc(pid) + "/task/" + std::to_string(thread);
        unsigned long long run = 0, wait = 0;  // nanoseconds
        if (const auto text = read_file(folder + "/schedstat");
            text && std::sscanf(text->c_str(), "%llu %llu", &run, &wait) == 2)
            usage.waiting += Duration{static_cast<std::int64_t>(wait / 1'000)};
        if (const auto status = read_file(folder + "/status")) {
            usage.voluntary_switches += number_after(*status, "\nvoluntary_ctxt_switches:");
            usage.involuntary_switches += number_after(*status, "\nnonvoluntary_ctxt_switches:");
        }
    }
    return usage;
}

}  // namespace zbs::process
