#include "client/profiler/recorder.hpp"

#include <unwind.h>

#include <cstring>
#include <new>
#include <unordered_map>

namespace zbs::profiler {

Recorder recorder;
CpuClock main_clock;
thread_local constinit CpuClock thread_clock;

namespace {

constexpr std::size_t kBuckets = 256;
Group* buckets[kBuckets];
SpinLock groups_lock;

Group*& bucket(int handle, bool window) {
    const auto h = static_cast<std::uint32_t>(handle) * 2654435761U + (window ? 97U : 0U);
    return buckets[(h >> 16) % kBuckets];
}

/// The ranks of `group` in MPI_COMM_WORLD, in its order; null where it fails. Frees `group`.
int* world_ranks(MPI_Group group, int size) {
    int* world = size > 0 ? new (std::nothrow) int[static_cast<std::size_t>(size) * 2] : nullptr;
    MPI_Group all = MPI_GROUP_NULL;
    bool done = false;
    if (world && PMPI_Comm_group(MPI_COMM_WORLD, &all) == MPI_SUCCESS) {
        int* own = world + size;
        for (int i = 0; i < size; ++i) own[i] = i;
        done = PMPI_Group_translate_ranks(group, size, own, all, world) == MPI_SUCCESS;
        PMPI_Group_free(&all);
    }
    PMPI_Group_free(&group);
    if (done) return world;
    delete[] world;
    return nullptr;
}

std::uint64_t hash_of(const int* world, int size) {
    std::uint64_t h = 0xcbf29ce484222325ULL + static_cast<std::uint64_t>(size);
    for (int i = 0; i < size; ++i) {
        h = (h ^ static_cast<std::uint32_t>(world[i])) * 0x9e3779b97f4a7c15ULL;
        h ^= h >> 32;
    }
    return h;
}

/// For messages, both sides of an intercommunicator must give it one name: the sum does not depend on the side.
std::uint64_t local_hash(MPI_Comm comm) {
    MPI_Group group = MPI_GROUP_NULL;
    int size = 0;
    PMPI_Comm_size(comm, &size);
    if (PMPI_Comm_group(comm, &group) != MPI_SUCCESS) return 0;
    const int* world = world_ranks(group, size);
    const std::uint64_t h = world ? hash_of(world, size) : 0;
    delete[] world;
    return h;
}

/// Never destroyed: MPI may be called while static objects of the program are being destroyed. `groups_lock` is held.
Members* members_of(const Group& group, std::uint64_t other_side) {
    static auto* all = new std::unordered_map<std::uint64_t, Members>;
    const std::uint64_t own = hash_of(group.world, group.size);
    // The two sides translate different ranks, so they are two entries with one name.
    const auto [at, added] = all->try_emplace(own ^ (other_side << 1));
    Members& members = at->second;
    if (!added) return &members;
    int* world = new (std::nothrow) int[static_cast<std::size_t>(group.size)];
    if (!world) {
        all->erase(at);
        return nullptr;
    }
    std::memcpy(world, group.world, sizeof(int) * static_cast<std::size_t>(group.size));
    members = {own + other_side, group.size, world, 0};
    return &members;
}

bool translate(MPI_Comm comm, Group& made) {
    int inter = 0;
    MPI_Group group = MPI_GROUP_NULL;
    if (comm == MPI_COMM_NULL || PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS) return false;
    PMPI_Comm_rank(comm, &made.rank);
    made.inter = inter != 0;
    if (made.inter) {
        PMPI_Comm_remote_size(comm, &made.size);
        PMPI_Comm_remote_group(comm, &group);
    } else {
        PMPI_Comm_size(comm, &made.size);
        PMPI_Comm_group(comm, &group);
    }
    made.world = world_ranks(group, made.size);
    return made.world != nullptr;
}

bool translate_window(MPI_Win window, Group& made) {
    MPI_Group group = MPI_GROUP_NULL;
    if (window == MPI_WIN_NULL || PMPI_Win_get_group(window, &group) != MPI_SUCCESS) return false;
    PMPI_Group_size(group, &made.size);
    PMPI_Group_rank(group, &made.rank);
    made.world = world_ranks(group, made.size);
    return made.world != nullptr;
}

const Group* lookup(int handle, bool window) {
    const MaybeLocked guard(groups_lock);
    Group*& head = bucket(handle, window);
    for (Group* g = head; g; g = g->next) {
        if (g->handle == handle && g->window == window) return g;
    }
    Group made;
    made.handle = handle;
    made.window = window;
    if (!(window ? translate_window(handle, made) : translate(handle, made))) return nullptr;
    if (recorder.tracing) made.members = members_of(made, made.inter ? local_hash(handle) : 0);
    made.next = head;
    Group* kept = new (std::nothrow) Group(made);
    if (!kept) {
        delete[] made.world;
        return nullptr;
    }
    head = kept;
    return kept;
}

/// MPI lets a handle be freed only when no other thread is calling with it, so its entry has no reader left.
void forget(int handle, bool window, bool is_freed) {
    const MaybeLocked guard(groups_lock);
    for (Group** at = &bucket(handle, window); *at; at = &(*at)->next) {
        if ((*at)->handle != handle || (*at)->window != window) continue;
        Group* gone = *at;
        *at = gone->next;
        if (is_freed && recorder.many_threads) return;
        delete[] gone->world;
        delete gone;
        return;
    }
}

struct Search {
    const CpuClock& clock;
    bool found = true;  // also where the stack cannot be read so far
};
/// The frame of the caller of the call in progress is the first one that is older: the stack grows down.
_Unwind_Reason_Code search_frame(_Unwind_Context* context, void* argument) {
    auto& search = *static_cast<Search*>(argument);
    if (_Unwind_GetCFA(context) <= reinterpret_cast<std::uintptr_t>(search.clock.progress.frame)) return _URC_NO_REASON;
    search.found = _Unwind_GetIP(context) == reinterpret_cast<std::uintptr_t>(search.clock.progress.caller);
    return _URC_NORMAL_STOP;
}

}  // namespace

bool is_on_stack(const CpuClock& clock, const void* frame) noexcept {
    if (reinterpret_cast<std::uintptr_t>(frame) >= reinterpret_cast<std::uintptr_t>(clock.progress.frame)) return false;
    Search search{clock};
    _Unwind_Backtrace(&search_frame, &search);
    return search.found;
}

const Group* group_of(MPI_Comm comm) { return lookup(comm, false); }
const Group* group_of_window(MPI_Win window) { return lookup(window, true); }
void forget_communicator(MPI_Comm comm, bool is_freed) { forget(comm, false, is_freed); }
void forget_window(MPI_Win window, bool is_freed) { forget(window, true, is_freed); }

void record_send(const Group& group, int to, std::uint64_t bytes) noexcept {
    if (to < 0 || to >= group.size) return;
    const int world = group.world[to];
    if (world < 0 || world >= recorder.world_size) {
        add(recorder.header->outside_bytes, bytes);
        add(recorder.header->outside_messages, 1);
        return;
    }
    ProfilePeer& peer = recorder.peers[world];
    add(peer.bytes, bytes);
    add(peer.messages, 1);
    if (recorder.logging) log_message(world, bytes);
}

}  // namespace zbs::profiler
