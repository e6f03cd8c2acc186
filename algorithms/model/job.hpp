#pragma once
#include <compare>
#include <cstdint>
#include <functional>
#include <ostream>

#include "algorithms/base/time.hpp"
#include "algorithms/base/words.hpp"

namespace zbs {

/// The instant that never comes.
inline constexpr Time kNever = Time::max();

/// The number of a job in one zone's queue (or in one workload trace), >= 0. Not the 128-bit id of an application.
struct JobId {
    std::int64_t value = -1;
    auto operator<=>(const JobId&) const = default;
};
inline std::ostream& operator<<(std::ostream& out, JobId id) { return out << id.value; }

/// Whether a job can run on other numbers of processors than it asks for.
enum class Flexibility : std::uint8_t {
    kRigid,
    kMoldable,   ///< chosen once, when it starts
    kMalleable,  ///< changed while it runs, too
};
constexpr auto words_of(Flexibility) { return std::array{"rigid", "moldable", "malleable"}; }

/// A parallel job as its user asked for it: all that a queue policy may know of a job that has not run.
struct Job {
    JobId id;
    Time submit{};
    Duration walltime{};          ///< requested limit, > 0; the job is stopped when it has run that long
    std::int32_t processors = 1;  ///< >= 1; one task a processor
    std::int32_t priority = 0;    ///< larger goes first where a policy looks at it
    std::int32_t user = -1;       ///< -1: unknown, as in the next two
    std::int32_t group = -1;
    std::int32_t queue = -1;
    std::int64_t memory_bytes = 0;  ///< of every task; 0: unknown, taken as none
    std::int32_t application = -1;  ///< kind of program, where an estimator knows some
    Flexibility flexibility = Flexibility::kRigid;
    /// Per cent of every processor, where jobs share processors by time: what it must get, and can make use of beside
    /// others. 0: as the policy has it.
    std::int8_t least_share = 0, most_share = 0;
    Time start_at = kNever;  ///< start reserved in advance

    bool operator==(const Job&) const = default;
};

}  // namespace zbs

template <>
struct std::hash<zbs::JobId> {
    std::size_t operator()(zbs::JobId id) const noexcept { return std::hash<std::int64_t>{}(id.value); }
};
