#pragma once
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <vector>

#include "algorithms/model/job.hpp"
#include "algorithms/model/trace_diagram.hpp"

namespace zbs {

/// The promise to start a waiting job at `at` or before, and at `latest` at the latest, in the absence of faults. Most
/// policies never go back on `at` and leave `latest` alone.
struct Reservation {
    JobId id;
    Time at{};
    Time latest = kNever;
    bool operator==(const Reservation&) const = default;
};

/// A job's number of processors, other than it asked for.
struct Resize {
    JobId id;
    std::int32_t processors = 0;
    bool operator==(const Resize&) const = default;
};
/// A running job's part of every processor, per cent.
struct ShareOfProcessors {
    JobId id;
    std::int32_t percent = 0;
    bool operator==(const ShareOfProcessors&) const = default;
};

/// How much of a zone its jobs could make use of, as far as a policy distinguishes loads.
enum class Load : std::uint8_t { kLow, kNormal, kHigh };
std::ostream& operator<<(std::ostream& out, Load load);

/// What a policy wants done now. The driver carries it out in the order of the members; jobs that it does not name stay
/// as they are. A plan that follows the contract of `Policy` is carried out whole.
struct Plan {
    std::vector<JobId> preemptions;         ///< running jobs to stop and put back into the queue at their old place
    std::vector<Resize> resizes;            ///< of malleable jobs that run, and of jobs that start now and may
    std::vector<JobId> starts;              ///< waiting jobs to start now, in this order
    std::vector<Reservation> reservations;  ///< promises made or moved; all others stand
    /// Where jobs have shares: those of all running jobs from now on, together at most 100. Empty: as they stand.
    std::vector<ShareOfProcessors> shares;
    /// Where jobs take turns or have ranks: which job has which slots from now on. nullptr: as it stands, without the
    /// jobs that ended.
    std::shared_ptr<const TraceDiagram> diagram;
    std::optional<Load> load;  ///< found now, for later plans to go by; none: the one found before stands
    Duration slice{};          ///< with a diagram: how long each row runs; 0: as the machine has it
    Time wake_at = kNever;     ///< plan again then, even if nothing has happened

    void clear() {
        preemptions.clear();
        resizes.clear();
        starts.clear();
        shares.clear();
        slice = {};
        reservations.clear();
        diagram.reset();
        load.reset();
        wake_at = kNever;
    }
};
bool operator==(const Plan& a, const Plan& b);
std::ostream& operator<<(std::ostream& out, const Plan& plan);

}  // namespace zbs
