#pragma once
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "algorithms/base/rng.hpp"
#include "services/common/ports/executor.hpp"
#include "tests/simulation/timeline.hpp"

namespace zbs::simulation {

/// The processes of all simulated machines, which outlive the services that started them. An MPI job behaves as
/// MPICH's: the launcher prints what its proxies need and waits; once all proxies are there the ranks compute for a
/// while and end with 0; a proxy that dies takes launcher and job with it, a launcher that dies its proxies, each after
/// a moment. Some jobs would compute beyond their walltime, and some processes take a while to end when stopped.
class Jobs {
  public:
    Jobs(Timeline& time, Chronicle& chronicle, Rng rng) : time_(time), chronicle_(chronicle), rng_(rng) {}

    /// What one host's service starts, asks about and stops.
    std::unique_ptr<Executor> executor(Host& host);
    struct Process {
        std::string host;
        StepSpec spec;
        Duration started{};
        Duration ended = Duration::max();
        int exit_code = 0;
        std::string reason;
        int proxies = 0;       ///< of a launcher: how many it waits for
        bool has_met = false;  ///< and they came
        bool is_stopping = false;
        std::string launch;  ///< port of the launcher, its own or a proxy's
        Duration linger{};   ///< from being stopped to its end
        std::string errors;  ///< of a launcher: its error output
        bool runs(Duration now) const { return ended > now; }
    };
    /// A step is started once in a world, wherever.
    const std::map<StepId, Process>& processes() const { return processes_; }
    /// How often each was really started.
    const std::map<StepId, int>& starts() const { return starts_; }
    /// Those that run on a host now.
    const std::map<StepId, const Process*>& live(const std::string& host) const;
    /// In whose names a host's service has files brought to its machines now.
    const std::map<std::string, std::set<std::string>>& needs() const { return needs_; }
    /// Files that came to machines with agents.
    int brought() const { return brought_; }
    /// Ends one running process, as a fault of its machine would.
    void kill_one(const std::string& host);
    /// All processes of a host are gone with it. Nothing closes their connections: the others of their jobs notice it
    /// by the probes of the kernel.
    void lose(const std::string& host);
    /// How long jobs compute: uniform between these.
    Duration shortest = std::chrono::seconds{5};
    Duration longest = std::chrono::seconds{120};
    double endless = 0;         ///< jobs that compute until their walltime stops them
    double unbrought = 0;       ///< files that cannot be brought to a machine, each time that one is asked for anew
    Duration longest_way{};     ///< of a file to a machine with an agent; uniform
    double lingering = 0;       ///< processes that do not end at once when they are stopped
    Duration longest_linger{};  ///< but up to so much later, uniform

  private:
    class HostExecutor;
    Result<void> start(const std::string& host, const StepSpec& spec);
    void stop(const StepId& step_id, const std::string& reason);
    void end(const StepId& step_id, int exit_code, const std::string& reason);
    void meet(const std::string& launch);

    Timeline& time_;
    Chronicle& chronicle_;
    Rng rng_;
    std::map<StepId, Process> processes_;
    std::map<StepId, int> starts_;
    std::map<std::string, std::map<StepId, const Process*>> live_;
    std::map<std::string, std::set<std::string>> needs_;  // by host; gone with the service's life
    int brought_ = 0;
    int last_port_ = 1'000;
    std::map<std::string, StepId> launchers_;             // by launch
    std::map<std::string, std::vector<StepId>> members_;  // launcher and proxies, by launch
};

}  // namespace zbs::simulation
