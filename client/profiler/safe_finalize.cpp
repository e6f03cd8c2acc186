#include "client/profiler/safe_finalize.hpp"

#include <atomic>
#include <cstring>

#include "client/profiler/real_mpi.hpp"

namespace zbs::profiler {
namespace {

std::atomic<bool> disconnects_nothing{false};
std::atomic<int> sessions{0};

bool is_mpich_4_0_over_ucx() {
    constexpr char kVersion[] = "MPICH Version:";
    const char* version = std::strstr(mpi_library(), kVersion);
    if (!version || !std::strstr(version, "ch4:ucx")) return false;
    version += sizeof kVersion - 1;
    version += std::strspn(version, " \t");
    return std::strncmp(version, "4.0", 3) == 0 && !(version[3] >= '0' && version[3] <= '9');
}

/// Seen with 1.13; the flush has been the same since 1.10, and UCX's issue 8738 is open. ucp_disconnect_nb
/// belongs to the API of major version 1.
bool is_ucx_that_hangs() {
    unsigned major = 0, minor = 0, release = 0;
    auto* const version = reinterpret_cast<void (*)(unsigned*, unsigned*, unsigned*)>(find_loaded("ucp_get_version"));
    if (version) version(&major, &minor, &release);
    return major == 1 && minor >= 10;
}

void end_communication(MPI_Comm world) {
    // After the first barrier every rank is here: all messages of a correct program are delivered. A rank may leave it
    // before its last message of it has gone, and will make no more progress; but it can leave the second one only
    // when all ranks have left the first one, so what it then sent is a few bytes on connections with nothing queued:
    // the kernel has them.
    PMPI_Barrier(world);
    PMPI_Barrier(world);
    disconnects_nothing = true;
}

/// The last step of the program's own communication in MPI_Finalize.
int on_finalize(MPI_Comm, int, void*, void*) {
    end_communication(MPI_COMM_WORLD);
    return MPI_SUCCESS;
}

bool hangs() { return is_mpich_4_0_over_ucx() && is_ucx_that_hangs(); }

}  // namespace

void make_finalize_safe() noexcept {
    static bool done = false;
    if (done) return;
    done = true;
    if (!hangs()) return;
    // Attributes of MPI_COMM_SELF are deleted first in MPI_Finalize, the oldest one last: after what the program and
    // its libraries do there.
    int key = MPI_KEYVAL_INVALID;
    if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &on_finalize, &key, nullptr) != MPI_SUCCESS) return;
    PMPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
    PMPI_Comm_free_keyval(&key);
}

void record_session() noexcept { ++sessions; }
bool has_open_session() noexcept { return sessions > 0; }

bool end_session(MPI_Session session) noexcept {
    int has_begun = 0, has_ended = 0;
    PMPI_Initialized(&has_begun);
    PMPI_Finalized(&has_ended);
    if (--sessions > 0 || (has_begun && !has_ended)) return false;
    if (!hangs()) return true;
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Comm world = MPI_COMM_NULL;
    if (PMPI_Group_from_session_pset(session, "mpi://WORLD", &group) != MPI_SUCCESS) return true;
    if (PMPI_Comm_create_from_group(group, "zbs-finalize", MPI_INFO_NULL, MPI_ERRORS_RETURN, &world) == MPI_SUCCESS) {
        end_communication(world);
        PMPI_Comm_free(&world);
    }
    PMPI_Group_free(&group);
    return true;
}

}  // namespace zbs::profiler

/// MPICH disconnects from every rank in MPI_Finalize, waits until the endpoints are flushed, and then blocks in a
/// barrier of its launcher, in which it makes no progress. Over TCP a flush needs progress of the peer, which may be in
/// that barrier already. With nothing to flush there is nothing to wait for: null means done.
extern "C" __attribute__((visibility("default"))) void* ucp_disconnect_nb(void* endpoint) {
    if (zbs::profiler::disconnects_nothing) return nullptr;
    static auto* const next = reinterpret_cast<void* (*)(void*)>(zbs::profiler::find_loaded("ucp_disconnect_nb"));
    return next ? next(endpoint) : nullptr;
}
