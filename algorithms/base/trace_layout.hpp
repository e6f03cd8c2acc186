#pragma once
#include <cstdint>
#include <type_traits>

namespace zbs {

/// First bytes of a rank's trace file, which the profiling library writes while the program runs, named `PREFIX.R`.
/// Native byte order. Records follow at `header_bytes` until the end of the file; a last one that is not whole was cut
/// off.
struct RankTraceHeader {
    static constexpr char kMagic[8] = {'Z', 'B', 'S', 'T', 'R', 'A', 'C', '1'};
    static constexpr std::uint32_t kVersion = 1;

    char magic[8];
    std::uint32_t version;
    std::uint32_t header_bytes;  ///< offset of the first record
    std::uint64_t run_id;        ///< equal in all files of one run, differs between runs
    std::uint32_t world_size;    ///< ranks of MPI_COMM_WORLD, >= 1
    std::uint32_t rank;          ///< 0..world_size-1
    char program[256];           ///< NUL-terminated
};

/// One step of the rank. Raw numbers from outside: check before use.
struct RankTraceRecord {
    enum class Kind : std::uint32_t {
        kCompute = 1,            ///< value: CPU time in ns since the last operation
        kSend = 2,               ///< peer, tag, value: bytes; a one-sided access is a send that nobody receives
        kReceive = 3,            ///< peer, tag: the message received, by MPI's status; where it completed
        kCollective = 4,         ///< a collective begins, value: how many there were on `group` before it
        kCollectiveMessage = 5,  ///< peer, value: bytes, tag: round; a message this rank sends in the last collective
        kEnd = 6,                ///< the rank reached MPI_Finalize; without it the record is incomplete
        kUnseen = 7,             ///< value: calls whose messages are missing; the name of the function follows
    };
    std::uint64_t value;
    std::uint64_t group;  ///< which ranks talk to each other: equal for equal lists of ranks; 0 in kCompute and kEnd
    std::int32_t peer;    ///< rank in MPI_COMM_WORLD
    std::int32_t tag;     ///< >= 0
    Kind kind;
    /// 0; in a kSend, 1 where no receive is to be expected (one-sided); in a kUnseen, bytes of the name, which take the
    /// place of the next records, filled up with zeros
    std::uint32_t reserved;
};

static_assert(std::is_trivially_copyable_v<RankTraceHeader> && sizeof(RankTraceHeader) == 288);
static_assert(std::is_trivially_copyable_v<RankTraceRecord> && sizeof(RankTraceRecord) == 32);

}  // namespace zbs
