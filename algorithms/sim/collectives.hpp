#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/model/trace.hpp"

namespace zbs {

/// One message of a collective; ranks are those of its communicator. See algorithms/base/collective_pattern.hpp for
/// what a round means.
struct CollectiveMessage {
    std::int32_t from = 0;
    std::int32_t to = 0;
    std::int32_t round = 0;
    double bytes = 0;
};

/// What each member of a collective does, in order: before it sends in a round it has received all that came to it in
/// lower rounds.
struct CollectiveSchedule {
    struct Step {
        std::int32_t peer = 0;  ///< rank in the communicator
        bool sends = false;
        double bytes = 0;
    };
    std::vector<std::vector<Step>> steps_of;  ///< by rank in the communicator
};
/// Messages of one sender must be in the order of sending. O(messages log messages).
CollectiveSchedule make_schedule(std::int32_t members, std::vector<CollectiveMessage> messages);

enum class CollectiveKind { kAllgather, kBcast, kAlltoall, kAllreduce, kBarrier };
/// "MPI_Allgather" and so on. Nothing but these five: what the test kernel may name.
Result<CollectiveKind> parse_collective(std::string_view name);

/// The messages of MPICH for this kind: `bytes` of every rank (Allgather), of the root 0 (Bcast), for each pair
/// (Alltoall), of the vector (Allreduce, in elements of one byte).
CollectiveSchedule collective_schedule(CollectiveKind kind, std::int32_t members, std::uint64_t bytes);

/// Appends the part of every member. `members[i]` is the rank that has number i in the communicator.
void append(TraceBuilder& builder, const CollectiveSchedule& schedule, std::span<const std::int32_t> members,
            std::int64_t tag);
/// The part of one member alone.
void append_member(TraceBuilder& builder, const CollectiveSchedule& schedule, std::span<const std::int32_t> members,
                   std::size_t member, std::int64_t tag);

}  // namespace zbs
