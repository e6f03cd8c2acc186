#pragma once
#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "services/common/messages/names/name_types.hpp"

namespace zbs::step {

/// Keeps MPICH's launcher from starting a rank before all its proxies have connected, so that a start which fails in
/// one zone can be repeated elsewhere and no program has begun. Once the launcher has printed the commands of the
/// proxies it is stopped (SIGSTOP). The kernel accepts connections for it meanwhile; their number is the queue of its
/// listening socket (/proc/net/tcp). The file `held` in the supervisor's folder says that proxies may be started,
/// `connected` that the launcher goes on; it is there before the first rank. The launcher's connections end where the
/// machine of a proxy answers nothing for `kSilence`: it would wait for a lost one until the walltime.
class ProxyGate {
  public:
    /// `folder`: of the supervisor. `proxies`: 0 where the program is no such launcher.
    ProxyGate(std::string folder, StepId step_id, std::size_t proxies);

    bool is_closed() const { return phase_ != Phase::kOpen; }
    /// Takes the next step, if it is time for it. O(processes on the host) where the launcher is stopped or goes on,
    /// else O(connections of the host).
    void advance();
    /// The step ends: a launcher that is held is killed, for it might start ranks before it obeys another signal.
    void shut();

  private:
    enum class Phase { kPrinting, kHolding, kOpen };
    bool signal_all(int number) const;

    std::string folder_;
    StepId step_id_;
    std::size_t proxies_;
    Phase phase_;
    unsigned port_ = 0;
};

/// After so long without any answer of its kernel a machine counts as lost. Cuts of up to 30 s are outlived.
inline constexpr std::chrono::seconds kSilence{35};

/// Connections to `port` of this host that its listener has not taken yet; of IPv4 and IPv6 together.
std::size_t connections_waiting(unsigned port);

/// Of a launcher's proxy (`argv`): "HOST:PORT" of the launcher that it has no connection to; empty where it has one, or
/// is another program. `pid`: its process, whose descriptors this process may read.
std::string missing_launcher(const std::vector<std::string>& argv, pid_t pid);
/// Of a launcher's proxy (`argv`), likewise: its connection to the launcher ends after `kSilence`. Nothing happens
/// where this process may not use descriptors of `pid`.
void watch_launcher(const std::vector<std::string>& argv, pid_t pid);

}  // namespace zbs::step
