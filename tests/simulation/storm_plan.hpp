#pragma once
#include <string>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/base/time.hpp"

namespace zbs::simulation {

enum class FaultKind {
    kCrash,          ///< a service ends in the middle of what it does, and starts again
    kStop,           ///< a service is stopped for a while and wakes up stale
    kPartition,      ///< a host cannot reach another one, or any, or is not reached either
    kBadLines,       ///< delay, loss, duplicates and stragglers on all lines
    kSlowDisk,       ///< each sync of a host takes a while
    kFailingDisk,    ///< syncs fail until the service has ended
    kKilledProcess,  ///< a process of a job dies
    kClockJump,      ///< a wall clock jumps, back or forth
    kLiar,           ///< a host bends answers and calls
    kLostHost,       ///< a host is lost for good, with disk and processes
    kBurst,          ///< all users submit several applications at once
};

/// One fault. What a kind does not use has no meaning there.
struct StormFault {
    FaultKind kind = FaultKind::kCrash;
    std::string hosts = "all";                   ///< "all", "zones", "registry", or a zone's name: who it meets
    Duration least{}, most{};                    ///< how long it lasts; of a clock jump how far it goes, either way
    Duration registry_least{}, registry_most{};  ///< of every fourth crash of the registry; 0: as of others
    Duration delay{}, jitter{};                  ///< at most, of bad lines
    double loss = 0, duplicates = 0, stragglers = 0;  ///< shares at most, of bad lines
    Duration sync{};                                  ///< at most, of a slow disk
    int applications = 0;                             ///< of each user, of a burst
};

/// Faults of which one strikes, each as likely.
struct StormEntry {
    int weight = 1;  ///< against other entries
    Duration from{};
    Duration until = Duration::max();  ///< the phase of the storm in which it strikes
    int at_most = 0;                   ///< strikes; 0: any number
    std::vector<StormFault> faults;
};

/// The description of a storm, as a file of `tests/storms` has it.
struct StormPlan {
    std::string name;
    Duration storm{};  ///< faults happen
    Duration calm{};   ///< none do; by the end everything must have come to rest
    int zones_least = 3;
    int zones_most = 8;
    Duration pause_least{}, pause_most{};  ///< between two faults
    std::vector<StormEntry> entries;
};

/// Reads one storm. Errors name the file, the line, the key, and what is expected there.
Result<StormPlan> read_storm(const std::string& path);
/// Of all `.toml` files of a folder, by name. Errors: those of the first bad file; a folder without such files.
Result<std::vector<StormPlan>> read_storms(const std::string& folder);
/// `tests/storms/all.toml`.
const StormPlan& mixed_storm();

}  // namespace zbs::simulation
