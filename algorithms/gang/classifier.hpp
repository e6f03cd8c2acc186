#pragma once
#include <cstdint>

#include "algorithms/base/time.hpp"

namespace zbs::gang {

/// What one processor saw of a task in one slice.
struct SliceMeasurement {
    bool blocked_on_io = false;
    std::int32_t communications = 0;  ///< sends, receives and barriers; those of a running task, none while it waits
};

/// Which of the three classes a slice speaks for [DaSilva2000, section 6.2.2].
struct SliceEvidence {
    bool io = false;
    bool communication = false;
    bool computation = false;
    bool operator==(const SliceEvidence&) const = default;
};
/// `threshold` is the thesis's N, for which it gives no value. Two by default: who waits for others at least twice in a
/// slice gets nowhere unless they run at the same time.
inline constexpr std::int32_t kCommunicationThreshold = 2;
SliceEvidence evidence_of(const SliceMeasurement& slice, std::int32_t threshold = kCommunicationThreshold);

/// Degrees of membership in the fuzzy sets of I/O, communication and computation intensive tasks, each 0..1.
struct Memberships {
    double io = 0.5;
    double communication = 0.5;
    double computation = 0.5;
    bool operator==(const Memberships&) const = default;
};

/// First version: f <- m + f/5 with m = 4/5 where the slice speaks for the class and 1/5 where not
/// [DaSilva2000, section 6.2.2]. Stays within ]0, 1[; a class that is never seen falls to 1/4, not to 0.
Memberships update_fuzzy(const Memberships& f, const SliceEvidence& slice);

/// Second version: accumulated measurements weigh the memberships by Bayes' rule [DaSilva2000, eq. 8.3].
struct BayesianState {
    Memberships f;
    Memberships accumulated;  ///< S of the paper
    bool operator==(const BayesianState&) const = default;
};
/// S <- m + S/2 with m = 1/2 where the slice speaks for the class, else 0; then f_i <- S_i f_i / sum_j S_j f_j, and
/// each f at least `floor`, without another normalisation.
///
/// The paper has no floor (0): there a phase of k slices takes k + 1 slices of another to be forgotten, and after 45
/// equal slices the other memberships are exactly 0 in double precision and stay so. Should all products be 0, f
/// stays.
BayesianState update_bayesian(const BayesianState& state, const SliceEvidence& slice, double floor = 0);
/// A floor with which a phase of any length is forgotten within five slices of another.
inline constexpr double kMembershipFloor = 1e-3;

/// The class with the strictly largest membership; kUndecided where there is none, as before the first measurement.
enum class TaskClass : std::uint8_t { kUndecided, kIo, kCommunication, kComputation };
TaskClass class_of(const Memberships& f);

/// Pr = max(alpha f_io, f_comp) [DaSilva2000, eq. 6.1].
double priority_v1(const Memberships& f, double alpha = 2);
/// Pr = max(alpha (f_io - f_comm), f_comp) [DaSilva2000, eq. 8.4]: a task that does both I/O and communication is no
/// longer put first.
double priority_v2(const Memberships& f, double alpha = 2);
/// The local scheduler runs only tasks with at least this priority (beta of the paper).
inline constexpr double kPriorityFloor = 0.3;

}  // namespace zbs::gang
