#include "studies/models/time_shared_cluster.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <string>
#include <utility>

#include "algorithms/model/job.hpp"

namespace zbs {
namespace {

using Kind = ProcessStep::Kind;
using Rule = HostScheduling::Rule;

constexpr std::size_t kNobody = ~std::size_t{0};
constexpr Duration kYield{1};  ///< how long a process is away that gives up the processor
/// Of all steps of all jobs, so that sums of instants stay in range.
constexpr double kMaxTotalUs = 1e17;
constexpr Duration kLongest = std::chrono::hours{1};

/// A process of a job, or a daemon.
struct Process {
    const ClusterProcess* script = nullptr;  ///< nullptr: a daemon
    std::size_t job = 0;
    std::int32_t host = 0;
    std::int32_t base_level = 0;
    std::int32_t level = 0;  ///< as it has drifted

    bool ended = false;
    bool blocked = true;
    bool receiving = false;                            ///< blocked in a receive
    std::int64_t messages = 0;                         ///< there, not received yet
    std::vector<std::size_t> mail;                     ///< of a daemon: whom to pass a message on to, one by one
    std::size_t step = 0;                              ///< within first, phase or last
    std::int64_t phase = -1;                           ///< -1: first; number of phases: last
    bool in_step = false;                              ///< computing or measuring
    Duration left{};                                   ///< of computing
    Time deadline = kNever;                            ///< of measuring
    Duration measured{}, since_blocked{}, computed{};  ///< processor time
};

struct Host {
    std::vector<std::size_t> ready;  ///< in the order in which they get their turns within a level
    std::size_t running = kNobody;
    std::size_t last = kNobody;  ///< ran last
    Time since{};                ///< accounted for up to here; `now` wherever a process runs
    Time quantum_from{};
    Duration switching{};  ///< left of a context switch
    Duration busy{};
};

struct Arrival {
    enum class What : std::uint8_t { kMessage, kRelayedMessage, kReady };
    Time at;
    std::uint64_t order;
    std::size_t process;
    What what;
    bool operator>(const Arrival& other) const { return at != other.at ? at > other.at : order > other.order; }
};

class HostSimulation {
  public:
    HostSimulation(std::int32_t hosts, std::span<const ClusterJob> jobs, const HostScheduling& scheduling)
        : jobs_(jobs), scheduling_(scheduling), hosts_(static_cast<std::size_t>(hosts)) {
        for (std::size_t j = 0; j < jobs.size(); ++j) {
            first_process_.push_back(processes_.size());
            processes_left_.push_back(jobs[j].processes.size());
            pools_.push_back(jobs[j].pool);
            for (const ClusterProcess& script : jobs[j].processes) {
                post(jobs[j].start, processes_.size(), Arrival::What::kReady);
                processes_.push_back({.script = &script, .job = j, .host = script.host, .base_level = jobs[j].level});
            }
        }
        for (std::size_t j = 0; j < jobs.size(); ++j) add_daemons(j);
        outcome_.end.assign(jobs.size(), kNever);
    }

    Result<ClusterOutcome> run() {
        for (Time now = next_event(); now != kNever; now = next_event()) {
            now_ = now;
            while (!arrivals_.empty() && arrivals_.top().at == now) take_arrival();
            for (Host& host : hosts_) serve(host);
            for (Host& host : hosts_) choose(host);
        }
        outcome_.computed.assign(jobs_.size(), Duration::zero());
        for (const Process& process : processes_) {
            if (process.script == nullptr) continue;
            if (!process.ended)
                return Error{ErrorCode::kConflict,
                             "a process of job " + std::to_string(process.job) + " on host " +
                                 std::to_string(process.host) + " waits for a message that nobody sends",
                             {}};
            outcome_.computed[process.job] += process.computed;
        }
        for (const Host& host : hosts_) outcome_.busy.push_back(host.busy);
        return std::move(outcome_);
    }

  private:
    void add_daemons(std::size_t job) {
        std::vector<std::size_t>& daemon_of = daemon_of_.emplace_back(hosts_.size(), kNobody);
        const std::optional<MessageDaemons>& daemons = jobs_[job].daemons;
        if (!daemons) return;
        for (const ClusterProcess& script : jobs_[job].processes) {
            std::size_t& daemon = daemon_of[static_cast<std::size_t>(script.host)];
            if (daemon != kNobody) continue;
            daemon = processes_.size();
            processes_.push_back({.job = job, .host = script.host, .base_level = daemons->level});
        }
    }

    void post(Time at, std::size_t process, Arrival::What what) { arrivals_.push({at, next_order_++, process, what}); }
    Host& host_of(const Process& process) { return hosts_[static_cast<std::size_t>(process.host)]; }

    Time next_event() const {
        Time next = arrivals_.empty() ? kNever : arrivals_.top().at;
        for (const Host& host : hosts_)
            if (host.running != kNobody) next = std::min({next, step_end(host), turn_end(host)});
        return next;
    }
    /// When the running process has done its step.
    Time step_end(const Host& host) const {
        const Process& process = processes_[host.running];
        if (process.deadline != kNever) return std::max(process.deadline, host.since);
        return host.since + host.switching + process.left;
    }
    /// When the running process has used up a quantum that others may want; kNever where nobody does.
    Time turn_end(const Host& host) const {
        if (scheduling_.rule == Rule::kFifo) return kNever;
        const Process& process = processes_[host.running];
        const bool sinks = drifts() && process.level < scheduling_.lowest_level;
        const auto wants = [&](std::size_t other) { return sinks || processes_[other].level <= process.level; };
        if (std::ranges::none_of(host.ready, wants)) return kNever;
        const Duration used = host.since - host.quantum_from;
        const std::int64_t quanta = (used.count() + scheduling_.quantum.count() - 1) / scheduling_.quantum.count();
        return host.quantum_from + scheduling_.quantum * std::max<std::int64_t>(1, quanta);
    }
    bool drifts() const { return scheduling_.rule == Rule::kFeedback && scheduling_.drift > Duration::zero(); }

    void take_arrival() {
        const Arrival arrival = arrivals_.top();
        arrivals_.pop();
        ++outcome_.events;
        Process& process = processes_[arrival.process];
        if (arrival.what == Arrival::What::kReady) return make_ready(arrival.process);
        const std::size_t daemon = daemon_of_[process.job][static_cast<std::size_t>(process.host)];
        if (arrival.what == Arrival::What::kMessage && daemon != kNobody) {
            processes_[daemon].mail.push_back(arrival.process);
            if (processes_[daemon].blocked) make_ready(daemon);
        } else if (process.receiving) {
            process.receiving = false;
            ++process.step;
            make_ready(arrival.process);
        } else {
            ++process.messages;
        }
    }

    void make_ready(std::size_t which) {
        Process& process = processes_[which];
        process.blocked = false;
        process.since_blocked = {};
        process.level = process.base_level;
        host_of(process).ready.push_back(which);
    }

    /// Accounts for the time since the last event, and lets the running process do what comes next.
    void serve(Host& host) {
        if (host.running == kNobody) return;
        Process& process = processes_[host.running];
        Duration elapsed = now_ - host.since;
        host.busy += elapsed;
        host.since = now_;
        const Duration switched = std::min(elapsed, host.switching);
        host.switching -= switched;
        elapsed -= switched;
        process.computed += elapsed;
        process.since_blocked += elapsed;
        if (process.deadline != kNever)
            process.measured += elapsed;
        else
            process.left -= elapsed;
        if (step_end(host) <= now_) {
            ++outcome_.events;
            if (process.script == nullptr)
                relay(process);
            else
                advance(process);
            if (process.blocked || process.ended) {
                host.running = kNobody;
                return;
            }
        }
        if (turn_end(host) <= now_) {
            ++outcome_.events;
            if (drifts())
                process.level = static_cast<std::int32_t>(
                    std::min<std::int64_t>(std::max(scheduling_.lowest_level, process.base_level),
                                           process.base_level + process.since_blocked / scheduling_.drift));
            host.ready.push_back(std::exchange(host.running, kNobody));
        }
    }

    /// A daemon has a message in hand: passes it on, and turns to the next one.
    void relay(Process& daemon) {
        if (daemon.in_step) {
            post(now_, daemon.mail.front(), Arrival::What::kRelayedMessage);
            daemon.mail.erase(daemon.mail.begin());
        }
        daemon.in_step = !daemon.mail.empty();
        daemon.blocked = daemon.mail.empty();
        if (daemon.in_step) daemon.left = jobs_[daemon.job].daemons->relay;
    }

    const ProcessStep* current_step(Process& process) const {
        const ClusterProcess& script = *process.script;
        for (;;) {
            const std::vector<ProcessStep>& steps = process.phase < 0               ? script.first
                                                    : process.phase < script.phases ? script.phase
                                                                                    : script.last;
            if (process.step < steps.size()) return &steps[process.step];
            if (process.phase >= script.phases) return nullptr;
            process.phase = script.phase.empty() ? script.phases : process.phase + 1;
            process.step = 0;
        }
    }

    /// Takes the steps that need no time, up to one that does.
    void advance(Process& process) {
        if (process.in_step && current_step(process)->kind != Kind::kTake) ++process.step;
        process.in_step = false;
        process.deadline = kNever;
        process.left = {};
        while (const ProcessStep* const step = current_step(process)) {
            switch (step->kind) {
                case Kind::kSend: {
                    const std::size_t peer = first_process_[process.job] + static_cast<std::size_t>(step->peer);
                    const bool far = processes_[peer].host != process.host;
                    post(now_ + step->time, peer, far ? Arrival::What::kMessage : Arrival::What::kRelayedMessage);
                    break;
                }
                case Kind::kReceive:
                    if (process.messages == 0) {
                        process.receiving = process.blocked = true;
                        return;
                    }
                    --process.messages;
                    if (!scheduling_.receive_yields) break;
                    ++process.step;
                    process.blocked = true;
                    return post(now_ + kYield, index_of(process), Arrival::What::kReady);
                case Kind::kMeasure:
                    process.deadline = now_ + step->time;
                    process.in_step = true;
                    return;
                case Kind::kCompute:
                case Kind::kShare:
                case Kind::kTake:
                    process.left = work_of(process, *step);
                    if (process.left == Duration::zero()) break;
                    process.in_step = true;
                    return;
            }
            ++process.step;
        }
        process.ended = true;
        if (--processes_left_[process.job] == 0) outcome_.end[process.job] = now_;
    }

    std::size_t index_of(const Process& process) const {
        return static_cast<std::size_t>(&process - processes_.data());
    }

    Duration work_of(const Process& process, const ProcessStep& step) {
        if (step.kind == Kind::kShare) return share_of(process, step.time);
        if (step.kind == Kind::kCompute) return step.time;
        const Duration part = std::min(step.time, pools_[process.job]);
        pools_[process.job] -= part;
        return part;
    }

    /// `total` by what the processes of the job have measured; evenly if none got anything.
    Duration share_of(const Process& process, Duration total) const {
        const std::size_t first = first_process_[process.job];
        const std::size_t count = jobs_[process.job].processes.size();
        double sum = 0;
        for (std::size_t i = first; i < first + count; ++i) sum += static_cast<double>(processes_[i].measured.count());
        const double part =
            sum > 0 ? static_cast<double>(process.measured.count()) / sum : 1.0 / static_cast<double>(count);
        return Duration{static_cast<std::int64_t>(static_cast<double>(total.count()) * part + 0.5)};
    }

    /// Takes the processor away where the rule says so, and gives it to the first of the highest level.
    void choose(Host& host) {
        if (host.ready.empty()) return;
        const auto level = [this](std::size_t which) { return processes_[which].level; };
        const auto best = std::ranges::min_element(host.ready, {}, level);
        std::size_t chosen = *best;
        if (host.running != kNobody) {
            if (scheduling_.rule == Rule::kFeedback || level(chosen) >= level(host.running)) return;
            // It goes on before others of its level.
            *best = host.running;
            std::rotate(host.ready.begin(), best, best + 1);
        } else {
            host.ready.erase(best);
        }
        host.running = chosen;
        host.since = host.quantum_from = now_;
        host.switching = host.last == chosen ? Duration::zero() : scheduling_.context_switch;
        if (host.last != chosen) ++outcome_.switches;
        host.last = chosen;
    }

    std::span<const ClusterJob> jobs_;
    const HostScheduling& scheduling_;
    std::vector<Host> hosts_;
    std::vector<Process> processes_;
    std::vector<std::size_t> first_process_;           ///< by job
    std::vector<Duration> pools_;                      ///< by job: what nobody has taken
    std::vector<std::size_t> processes_left_;          ///< by job: not ended
    std::vector<std::vector<std::size_t>> daemon_of_;  ///< by job and host
    std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals_;
    std::uint64_t next_order_ = 0;
    Time now_{};
    ClusterOutcome outcome_;
};

double microseconds(Duration time) { return static_cast<double>(time.count()); }

/// `total_us` grows by all that the steps can take, done `times` times.
Result<void> check_steps(const std::vector<ProcessStep>& steps, const ClusterJob& job, double times, double& total_us) {
    for (const ProcessStep& step : steps) {
        if (step.time < Duration::zero()) return invalid("a step takes less than no time");
        if (step.kind == Kind::kTake && step.time == Duration::zero()) return invalid("parts of a pool take time");
        if (step.kind == Kind::kSend) {
            if (step.peer < 0 || static_cast<std::size_t>(step.peer) >= job.processes.size())
                return invalid("a message goes to process " + std::to_string(step.peer) + " of a job of " +
                               std::to_string(job.processes.size()));
            if (job.daemons) total_us += times * microseconds(job.daemons->relay);
        }
        total_us += times * microseconds(step.time);
    }
    return {};
}

Result<void> check(std::int32_t hosts, const ClusterJob& job, double& total_us) {
    if (job.processes.empty()) return invalid("a job needs a process");
    if (job.level < 0 || (job.daemons && job.daemons->level < 0)) return invalid("levels begin at 0");
    if (job.daemons && job.daemons->relay <= Duration::zero()) return invalid("passing a message on takes time");
    if (job.pool < Duration::zero()) return invalid("a pool holds no less than nothing");
    if (job.start < Time{}) return invalid("time begins at 0");
    total_us += microseconds(job.start.time_since_epoch()) + microseconds(job.pool);
    for (const ClusterProcess& process : job.processes) {
        if (process.host < 0 || process.host >= hosts)
            return invalid("host " + std::to_string(process.host) + " is none of the " + std::to_string(hosts));
        if (process.phases < 0) return invalid("a process cannot have less than no phases");
        for (const auto& [steps, times] : {std::pair{&process.first, 1.0},
                                           {&process.phase, static_cast<double>(process.phases)},
                                           {&process.last, 1.0}})
            if (Result<void> good = check_steps(*steps, job, times, total_us); !good) return good;
    }
    if (total_us > kMaxTotalUs) return invalid("the steps up to its last one take more than 3,000 years");
    return {};
}

}  // namespace

Result<ClusterOutcome> run_time_shared_cluster(std::int32_t hosts, std::span<const ClusterJob> jobs,
                                               const HostScheduling& scheduling) {
    if (hosts < 1) return invalid("a cluster needs a host");
    if (scheduling.quantum <= Duration::zero()) return invalid("a quantum must be longer than nothing");
    if (scheduling.drift < Duration::zero() || scheduling.context_switch < Duration::zero())
        return invalid("drift and context switches take no less than no time");
    if (std::max({scheduling.quantum, scheduling.drift, scheduling.context_switch}) > kLongest)
        return invalid("quantum, drift and context switch are an hour at most");
    double total_us = 0;
    for (std::size_t j = 0; j < jobs.size(); ++j)
        if (Result<void> good = check(hosts, jobs[j], total_us); !good)
            return invalid("job " + std::to_string(j) + ": " + good.error().message);
    return HostSimulation(hosts, jobs, scheduling).run();
}

}  // namespace zbs
