#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace zbs {

/// How far a rank got, as its rank file says. The file of a rank that was killed stays at `kRunning`.
enum class RankState : std::uint32_t { kRunning = 0, kFinalized = 1, kAborted = 2, kExited = 3 };

/// First bytes of a rank file, which the profiling library maps into memory while the program runs, so that the
/// counters outlive the process however it ends. Native byte order; one file a rank, named `MODEL.rank.R`.
/// `world_size` entries of ProfilePeer follow at `header_bytes`.
struct ProfileHeader {
    static constexpr char kMagic[8] = {'Z', 'B', 'S', 'P', 'R', 'O', 'F', '1'};
    static constexpr std::uint32_t kVersion = 1;

    char magic[8];                   ///< kMagic, written last: a file without it is not ready
    std::uint32_t version;           ///< kVersion
    std::uint32_t header_bytes;      ///< offset of the first peer
    std::uint64_t run_id;            ///< equal in all rank files of one run, differs between runs
    std::uint32_t world_size;        ///< ranks of MPI_COMM_WORLD, >= 1
    std::uint32_t rank;              ///< 0..world_size-1
    RankState state;                 ///< a raw number from outside: check before use
    std::uint32_t reserved;          ///< 0
    std::uint64_t compute_ns;        ///< CPU time between communication operations, summed, nanoseconds
    std::uint64_t compute_count;     ///< communication operations that `compute_ns` is spread over
    std::uint64_t outside_bytes;     ///< sent to processes outside MPI_COMM_WORLD (spawned, connected)
    std::uint64_t outside_messages;  ///< the same, messages
    char program[256];               ///< NUL-terminated
};

/// What this rank sent to one peer; index in the array = world rank of the peer.
struct ProfilePeer {
    std::uint64_t bytes;
    std::uint64_t messages;
};

static_assert(std::is_trivially_copyable_v<ProfileHeader> && sizeof(ProfileHeader) == 328);
static_assert(sizeof(ProfilePeer) == 16);

constexpr std::size_t rank_file_bytes(std::uint32_t world_size) {
    return sizeof(ProfileHeader) + std::size_t{world_size} * sizeof(ProfilePeer);
}

}  // namespace zbs
