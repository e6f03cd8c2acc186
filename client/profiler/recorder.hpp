#pragma once
#include <time.h>

#include <atomic>
#include <cstdint>

#include "algorithms/base/profile_layout.hpp"
#include "client/profiler/functions.hpp"

/// The counters of this process. Everything is `noexcept` and allocation-free on the path of a message, except the
/// first use of a communicator or window, which translates its ranks once.
namespace zbs::profiler {

/// One mapped rank file plus what the calls need at hand. Written at MPI_Init, read everywhere.
struct Recorder {
    std::atomic<bool> active{false};
    bool many_threads = false;                  ///< MPI_THREAD_MULTIPLE: counters add atomically, clocks are per thread
    int initialising = 0;                       ///< MPI_Init and PMPI_Init in progress
    std::uintptr_t mpi_begin = 0, mpi_end = 0;  ///< addresses of the MPI library
    int world_size = 0;
    int world_rank = 0;
    ProfileHeader* header = nullptr;
    ProfilePeer* peers = nullptr;
    std::uint64_t intercommunicator_calls = 0;  ///< collectives on intercommunicators, which are not recorded
    std::uint64_t shared_windows = 0;           ///< calls of MPI_Win_allocate_shared: loads and stores are no calls
    bool logging = false;
    std::atomic<bool> tracing{false};
};
extern Recorder recorder;

class SpinLock {
  public:
    void lock() {
        while (flag_.test_and_set(std::memory_order_acquire)) {
        }
    }
    void unlock() { flag_.clear(std::memory_order_release); }

  private:
    std::atomic_flag flag_;
};
/// Locks only where several threads may call MPI at once.
class MaybeLocked {
  public:
    explicit MaybeLocked(SpinLock& lock) : lock_(recorder.many_threads ? &lock : nullptr) {
        if (lock_) lock_->lock();
    }
    ~MaybeLocked() {
        if (lock_) lock_->unlock();
    }
    MaybeLocked(const MaybeLocked&) = delete;
    MaybeLocked& operator=(const MaybeLocked&) = delete;

  private:
    SpinLock* lock_;
};

inline void add(std::uint64_t& counter, std::uint64_t amount) {
    std::atomic_ref<std::uint64_t> shared(counter);
    if (recorder.many_threads) {
        shared.fetch_add(amount, std::memory_order_relaxed);
    } else {
        shared.store(shared.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
    }
}

/// What all communicators of the same processes share; made in the trace mode only and never freed, because receives
/// may complete after their communicator is gone.
struct Members {
    std::uint64_t id = 0;  ///< equal on all ranks for equal lists of processes
    int size = 0;
    const int* world = nullptr;     ///< as Group::world
    std::uint64_t collectives = 0;  ///< that have begun here
};

/// Ranks of a communicator or window in MPI_COMM_WORLD. For an intercommunicator, `world` holds the remote group.
struct Group {
    int handle = 0;
    bool window = false;
    bool inter = false;
    int size = 0;                ///< entries of `world`
    int rank = 0;                ///< of this process in the local group
    int* world = nullptr;        ///< MPI_UNDEFINED for a process outside MPI_COMM_WORLD; null where translation failed
    Members* members = nullptr;  ///< null where nothing is traced
    Group* next = nullptr;
};
/// Found in a table, or translated now. Null where MPI refuses the handle (the call itself will say so).
const Group* group_of(MPI_Comm comm);
const Group* group_of_window(MPI_Win window);
/// To be called before the handle is freed, and after it, because callbacks may use the handle. After it, another
/// thread may use an equal handle already: the memory is then kept.
void forget_communicator(MPI_Comm comm, bool is_freed);
void forget_window(MPI_Win window, bool is_freed);

/// One message of `bytes` to `to` (a rank in `group`); MPI_PROC_NULL and the like are ignored.
void record_send(const Group& group, int to, std::uint64_t bytes) noexcept;

/// Size of `count` elements; 0 where either is invalid.
inline std::uint64_t size_of(MPI_Datatype type, long long count) {
    MPI_Count size = 0;
    if (count <= 0 || PMPI_Type_size_x(type, &size) != MPI_SUCCESS || size <= 0) return 0;
    return static_cast<std::uint64_t>(size) * static_cast<std::uint64_t>(count);
}

/// CPU time of the process, estimated cheaply. The CPU clock costs a system call (about 300 ns), the wall clock about
/// 20 ns, so the CPU clock is read only at the end of an interval longer than kShort, or kResync after the last
/// reading; in between the process is taken to have run. Error per interval: below kShort (a preemption shorter than
/// that).
class CpuClock {
  public:
    static constexpr std::int64_t kShort = 10'000, kResync = 1'000'000;  // nanoseconds

    std::int64_t now(bool per_thread) {
        const std::int64_t wall = read(CLOCK_MONOTONIC);
        if (wall - last_wall_ > kShort || wall - anchor_wall_ > kResync) {
            anchor_cpu_ = read(per_thread ? CLOCK_THREAD_CPUTIME_ID : CLOCK_PROCESS_CPUTIME_ID);
            anchor_wall_ = wall;
        }
        last_wall_ = wall;
        return anchor_cpu_ + (wall - anchor_wall_);
    }

    std::int64_t gap_begin = 0;  ///< end of the last call
    std::int64_t pending = 0;    ///< compute time not yet given to an operation
    /// The call in progress: MPI functions that call MPI functions count once.
    struct Progress {
        const void* frame = nullptr;   ///< null where there is none
        const void* caller = nullptr;  ///< where the call returns to
        bool is_other = false;         ///< of Call::Kind::kOther: calls within are of the program's callbacks
    } progress;

  private:
    static std::int64_t read(clockid_t id) {
        timespec t;
        clock_gettime(id, &t);
        return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
    }
    std::int64_t last_wall_ = 0, anchor_wall_ = 0, anchor_cpu_ = 0;
};
extern CpuClock main_clock;
extern thread_local CpuClock thread_clock;
inline CpuClock& clock_here() { return recorder.many_threads ? thread_clock : main_clock; }

/// Whether the call in progress has not been left by longjmp or an exception. `frame`: of a later call.
bool is_on_stack(const CpuClock& clock, const void* frame) noexcept;

void log_message(int to_world, std::uint64_t bytes) noexcept;
void log_compute(std::int64_t ns) noexcept;
void trace_compute(std::int64_t ns) noexcept;

/// Brackets one MPI call: the time up to here was computing, the time inside is not. A call by the MPI library itself,
/// as MPI-IO makes, is none of the program.
class Call {
  public:
    enum class Kind {
        kOperation,  ///< a communication operation: closes a compute interval
        kPoll,       ///< Test, Iprobe: an operation only if it found something (see found())
        kOther,      ///< communicates, but is not a communication of the program (making communicators)
    };
    /// `caller`, `frame`: by default, those of the function in which the object is made.
    explicit Call(Kind kind = Kind::kOperation, const void* caller = __builtin_return_address(0),
                  const void* frame = __builtin_frame_address(0)) {
        if (!recorder.active.load(std::memory_order_relaxed)) return;
        const auto from = reinterpret_cast<std::uintptr_t>(caller);
        if (from >= recorder.mpi_begin && from < recorder.mpi_end) return;
        CpuClock& clock = clock_here();
        if (clock.progress.frame && is_on_stack(clock, frame)) {
            if (!clock.progress.is_other || kind == Kind::kOther) return;
            outer_ = clock.progress;
        }
        clock_ = &clock;
        clock.progress = {frame, caller, kind == Kind::kOther};
        const std::int64_t now = clock.now(recorder.many_threads), gap = now - clock.gap_begin;
        if (gap > 0 && !outer_.frame) clock.pending += gap;
        clock.gap_begin = now;  // of the next call, if this one is left by longjmp or an exception
        if (kind == Kind::kOperation) close_interval();
    }
    ~Call() {
        if (!clock_) return;
        clock_->progress = outer_;
        clock_->gap_begin = clock_->now(recorder.many_threads);
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    /// Whether messages of this call are to be recorded.
    explicit operator bool() const { return clock_ != nullptr; }
    void found(bool something) {
        if (clock_ && something) close_interval();
    }

  private:
    void close_interval() {
        add(recorder.header->compute_ns, static_cast<std::uint64_t>(clock_->pending));
        add(recorder.header->compute_count, 1);
        if (recorder.logging) log_compute(clock_->pending);
        if (recorder.tracing) trace_compute(clock_->pending);
        clock_->pending = 0;
    }
    CpuClock::Progress outer_;
    CpuClock* clock_ = nullptr;  ///< null where the call is none of the program
};

/// Whether what a call sends has gone out: also if the message that it received was too long.
inline bool has_sent(int rc) {
    int error = MPI_SUCCESS;
    return rc == MPI_SUCCESS || (PMPI_Error_class(rc, &error) == MPI_SUCCESS && error == MPI_ERR_TRUNCATE);
}
/// Makes the MPI call and records it by `note`, unless MPI refuses it. In a trace of several threads the record comes
/// before the call: another thread may record the answer before this call returns.
template <class Note, class Invoke>
int recorded(Note note, Invoke invoke) {
    const bool is_early = recorder.many_threads && recorder.tracing;
    if (is_early) note();
    const int rc = invoke();
    if (!is_early && has_sent(rc)) note();
    return rc;
}

/// Life of the recorder. `start` is collective over MPI_COMM_WORLD and returns with recording on or off.
void start(int thread_level) noexcept;
/// One line of rank 0 that this run is not profiled and why, where it should be and `start` was not called.
void warn_where_not_started(const char* why) noexcept;
/// Collective: rank 0 writes the model, every rank removes its file. Before PMPI_Finalize; the model is written within
/// it, after the callbacks of the program. With an open session (`has_session`), MPICH calls them in the last
/// MPI_Session_finalize, where ranks can no longer send: then the model is written at once.
void finish(bool has_session) noexcept;
/// At the first call of MPI: the program may change its environment later.
void remember_zone() noexcept;
/// After PMPI_Finalize, under a zone: one byte more in MODEL.finalized, so that the zone recognises a program that does
/// not end from an MPI_Finalize that does not.
void record_finalized() noexcept;
/// This process alone: writes the content of the rank files as a partial model.
void give_up(RankState state) noexcept;

}  // namespace zbs::profiler
