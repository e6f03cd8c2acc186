#pragma once
#include <iosfwd>
#include <memory>
#include <vector>

#include "algorithms/model/job.hpp"
#include "algorithms/model/trace_diagram.hpp"

namespace zbs {

/// The instant that never comes.
inline constexpr Time kNever = Time::max();

/// The promise to start a waiting job at `at` or before, and at `latest` at the latest, in the absence of faults. Most
/// policies never go back on `at` and leave `latest` alone.
struct Reservation {
    JobId id;
    Time at{};
    Time latest = kNever;
    bool operator==(const Reservation&) const = default;
};

/// What a policy wants done now. The driver carries it out in the order of the members; jobs that it does not name stay
/// as they are. A plan that follows the contract of `Policy` is carried out whole.
struct Plan {
    std::vector<JobId> preemptions;         ///< running jobs to stop and put back into the queue at their old place
    std::vector<JobId> starts;              ///< waiting jobs to start now, in this order
    std::vector<Reservation> reservations;  ///< promises made or moved; all others stand
    /// Where jobs take turns: which job has which slots from now on. nullptr: as it stands, without the jobs that
    /// ended.
    std::shared_ptr<const TraceDiagram> diagram;
    Time wake_at = kNever;  ///< plan again then, even if nothing has happened

    void clear() {
        preemptions.clear();
        starts.clear();
        reservations.clear();
        diagram.reset();
        wake_at = kNever;
    }
};
bool operator==(const Plan& a, const Plan& b);
std::ostream& operator<<(std::ostream& out, const Plan& plan);

}  // namespace zbs
