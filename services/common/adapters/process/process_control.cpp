#include "services/common/adapters/process/process_control.hpp"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "services/common/adapters/process/control_group.hpp"
#include "services/common/adapters/process/job_folder.hpp"
#include "services/common/adapters/process/step_processes.hpp"

namespace zbs::process {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kStopWithin{200};
constexpr std::chrono::microseconds kBetweenWalks{30};
constexpr int kContinueRounds = 10;  ///< a program that stops itself again and again is left alone then

bool same_processes(const std::vector<StepProcess>& a, const std::vector<StepProcess>& b) {
    const auto refs = [](const std::vector<StepProcess>& processes) {
        std::set<std::pair<pid_t, std::uint64_t>> set;
        for (const StepProcess& process : processes) set.emplace(process.ref.pid, process.ref.start_time);
        return set;
    };
    return refs(a) == refs(b);
}

Error nothing_lives(const StepId& step_id) {
    return {ErrorCode::kNotFound, "nothing of step " + step_id + " lives", {}};
}

/// Where the kernel puts every session into a group of its own, levels count within that, and the group has one.
void set_session_nice(const StepProcess& process, int nice) {
    const std::string file = "/proc/" + std::to_string(process.ref.pid) + "/autogroup";
    const std::string has = read_file(file).value_or("");  // as "/autogroup-25 nice 0"
    if (!has.ends_with(" nice " + std::to_string(nice) + "\n")) std::ofstream(file) << nice;
}

class StepController : public StepControl {
  public:
    StepController(std::string folder, std::unique_ptr<ControlGroup> group)
        : folder_(std::move(folder)), group_(std::move(group)) {
        means_ = freezes() ? "steps are frozen by control groups" : "steps are suspended by signals";
        means_ += has_weights() ? ", shares given by weights of control groups" : ", shares given by nice levels";
    }

    const std::string& means() const override { return means_; }

    std::vector<StepId> step_ids() override {
        std::vector<StepId> found;
        DIR* steps = opendir(folder_.c_str());
        if (steps == nullptr) return found;
        while (const dirent* entry = readdir(steps)) {
            if (entry->d_type == DT_DIR && is_plain_name(entry->d_name)) found.emplace_back(std::string(entry->d_name));
        }
        closedir(steps);
        std::ranges::sort(found);
        return found;
    }

    Result<void> suspend(const StepId& step_id) override {
        const std::lock_guard lock(mutex_);
        seen_[step_id].suspended = true;
        ++seen_[step_id].suspensions;
        if (!freezes() || !gather(step_id)) return stop_all(step_id);
        return group_->freeze(step_id, true);
    }

    Result<void> resume(const StepId& step_id) override {
        const std::lock_guard lock(mutex_);
        if (const auto at = seen_.find(step_id); at != seen_.end()) {  // a step that was forgotten stays so
            at->second.suspended = false;
            at->second.looked = SteadyClock::now();
            at->second.was_blocked = false;
        }
        const Result<void> thawed = freezes() ? group_->freeze(step_id, false) : Result<void>{};
        continue_all(step_id);  // also with a group: an agent without one may have stopped it
        return thawed;
    }

    Result<void> set_nice(const StepId& step_id, int nice) override {
        if (nice < -20 || nice > 19) return invalid("must be from -20 to 19", "nice");
        const std::lock_guard lock(mutex_);
        std::vector<StepProcess> before;
        Result<void> all;
        for (int round = 0; round < 10; ++round) {  // what is forked meanwhile may have the old level
            StepWalk found = walk(step_id);
            std::set<pid_t> sessions;
            all = {};
            for (const StepProcess& process : found.processes) {
                if (sessions.insert(process.session).second) set_session_nice(process, nice);
                for (const pid_t thread : threads_of(process.ref.pid)) {
                    if (setpriority(PRIO_PROCESS, static_cast<id_t>(thread), nice) == 0 || errno == ESRCH) continue;
                    all = Error{ErrorCode::kDenied,
                                std::string("nice level ") + std::to_string(nice) + " is refused by the system (" +
                                    std::strerror(errno) +
                                    "); lower levels than the present one need root or CAP_SYS_NICE",
                                {}};
                }
            }
            if (found.is_whole && same_processes(found.processes, before)) break;
            before = std::move(found.processes);
        }
        return all;
    }

    Result<int> nice(const StepId& step_id) override {
        const std::lock_guard lock(mutex_);
        std::optional<int> smallest;
        for (const StepProcess& process : walk(step_id).processes) {
            if (process.has_ended()) continue;
            for (const pid_t thread : threads_of(process.ref.pid)) {
                errno = 0;
                const int level = getpriority(PRIO_PROCESS, static_cast<id_t>(thread));
                if (errno == 0) smallest = std::min(smallest.value_or(level), level);
            }
        }
        if (!smallest) return nothing_lives(step_id);
        return *smallest;
    }

    bool has_weights() const override { return group_ && group_->has_weights(); }

    Result<void> set_weight(const StepId& step_id, int weight) override {
        if (weight < 1 || weight > 10'000) return invalid("must be from 1 to 10000", "weight");
        if (has_weights()) {
            const std::lock_guard lock(mutex_);
            if (gather(step_id)) return group_->set_weight(step_id, weight);
        }
        return set_nice(step_id, nice_of_weight(weight));
    }

    StepActivity activity(const StepId& step_id) override {
        const std::lock_guard lock(mutex_);
        return look(step_id, walk(step_id).processes);
    }

    Result<StepUsage> usage(const StepId& step_id) override {
        const std::lock_guard lock(mutex_);
        const StepWalk found = walk(step_id);
        StepUsage usage;
        for (const StepProcess& process : found.processes) {
            if (process.has_ended()) continue;
            const ProcessUsage one = read_usage(process.ref.pid);
            usage.cpu += one.cpu;
            usage.waiting += one.waiting;
            usage.read_bytes += one.read_bytes;
            usage.written_bytes += one.written_bytes;
            usage.voluntary_switches += one.voluntary_switches;
            usage.involuntary_switches += one.involuntary_switches;
            ++usage.processes;
        }
        if (usage.processes == 0) return nothing_lives(step_id);
        // What has ended was waited for by its parent or by the supervisor, which keeps the sum.
        if (const auto supervisor = find_supervisor(control_folder(step_id)))
            usage.cpu += read_usage(supervisor->pid).children_cpu;
        usage.activity = look(step_id, found.processes);
        usage.blocked = seen_[step_id].blocked;
        return usage;
    }

    /// The kernel counts it as a switch by itself when a thread stops.
    std::uint64_t suspension_switches(const StepId& step_id) override {
        const std::lock_guard lock(mutex_);
        const auto at = seen_.find(step_id);
        if (at == seen_.end() || at->second.suspensions == 0) return 0;
        std::uint64_t threads = 0;
        for (const StepProcess& process : walk(step_id).processes) threads += process.states.size();
        return at->second.suspensions * threads;
    }

    void forget(const StepId& step_id) override {
        const std::lock_guard lock(mutex_);
        seen_.erase(step_id);
        if (group_) group_->remove(step_id);
    }

  private:
    struct Seen {
        bool suspended = false;
        std::uint64_t suspensions = 0;
        bool was_blocked = false;  ///< at the last look
        SteadyClock::time_point looked{};
        Duration blocked{};
    };

    bool freezes() const { return group_ && group_->has_freezer(); }
    std::string control_folder(const StepId& step_id) const { return folder_ + "/" + step_id; }
    StepWalk walk(const StepId& step_id) const { return walk_step(control_folder(step_id), step_id); }

    StepActivity look(const StepId& step_id, const std::vector<StepProcess>& processes) {
        Seen& seen = seen_[step_id];
        const auto now = SteadyClock::now();
        if (seen.suspended) return StepActivity::kSuspended;
        const bool runs = std::ranges::any_of(processes, &StepProcess::is_runnable);
        if (seen.was_blocked && !runs) seen.blocked += std::chrono::duration_cast<Duration>(now - seen.looked);
        seen.was_blocked = !runs;
        seen.looked = now;
        return runs ? StepActivity::kRunning : StepActivity::kBlocked;
    }

    /// All of the step in its control group. What is there brings its children along, so this ends.
    bool gather(const StepId& step_id) {
        for (int round = 0; round < 100; ++round) {
            const StepWalk found = walk(step_id);
            bool all = found.is_whole;
            for (const StepProcess& process : found.processes) {
                if (process.has_ended() || group_->holds(step_id, process.ref)) continue;
                if (!group_->take(step_id, process.ref) && is_alive(process.ref)) return false;
                all = false;
            }
            if (all) return true;
        }
        return false;
    }

    /// Two walks in a row have to find the same processes, all stopped and none gone meanwhile: a stopped process forks
    /// nothing, and what lost its parent before the second walk began is a child of the supervisor then.
    Result<void> stop_all(const StepId& step_id) {
        const auto end = SteadyClock::now() + kStopWithin;
        std::set<std::pair<pid_t, std::uint64_t>> signalled;
        std::vector<StepProcess> before;
        bool before_stopped = false;
        for (;;) {
            StepWalk found = walk(step_id);
            bool stopped = found.is_whole;
            for (const StepProcess& process : found.processes) {
                const std::pair key{process.ref.pid, process.ref.start_time};
                if (process.is_stopped(signalled.contains(key))) continue;
                stopped = false;
                if (signalled.insert(key).second) send_signal(process.ref, SIGSTOP);
            }
            if (stopped && (found.processes.empty() || (before_stopped && same_processes(found.processes, before))))
                return {};
            before = std::move(found.processes);
            before_stopped = stopped;
            if (SteadyClock::now() > end)
                return Error{ErrorCode::kTimeout,
                             "step " + step_id + " does not stand still: " + std::to_string(before.size()) +
                                 " processes, or more than can be stopped",
                             {}};
            if (!stopped) std::this_thread::sleep_for(kBetweenWalks);
        }
    }

    /// Whatever its state: a stop is pending until the process has a processor again, which on a busy host takes long,
    /// and would take effect after all. Then until a walk that missed nothing finds none that stands.
    void continue_all(const StepId& step_id) {
        std::set<std::pair<pid_t, std::uint64_t>> signalled;
        for (int round = 0; round < kContinueRounds; ++round) {
            const StepWalk found = walk(step_id);
            bool done = found.is_whole && round > 0;
            for (const StepProcess& process : found.processes) {
                const bool stands = process.states.find('T') != std::string::npos;
                const bool is_new = signalled.emplace(process.ref.pid, process.ref.start_time).second;
                if ((is_new || stands) && !process.has_ended()) send_signal(process.ref, SIGCONT);
                done = done && !stands;
            }
            if (done) return;
        }
    }

    std::string folder_;
    std::unique_ptr<ControlGroup> group_;
    std::string means_;
    std::mutex mutex_;
    std::map<StepId, Seen> seen_;
};

}  // namespace

int nice_of_weight(int weight) {
    const double levels = -std::log(static_cast<double>(std::max(weight, 1)) / 100) / std::log(1.25);
    return std::clamp(static_cast<int>(std::lround(levels)), -20, 19);
}

Result<std::unique_ptr<StepControl>> make_process_control(ProcessControlOptions options) {
    std::unique_ptr<ControlGroup> group;
    if (!options.control_group.empty()) {
        Result<std::unique_ptr<ControlGroup>> opened = ControlGroup::open(options.control_group);
        if (!opened) return opened.error();
        group = *std::move(opened);
    }
    return std::unique_ptr<StepControl>(new StepController(std::move(options.folder), std::move(group)));
}

}  // namespace zbs::process
