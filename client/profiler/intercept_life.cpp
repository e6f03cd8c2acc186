#include "client/profiler/real_mpi.hpp"
#include "client/profiler/recorder.hpp"
#include "client/profiler/safe_finalize.hpp"

using namespace zbs::profiler;

// MPI names are not ours to style; each function has the signature of mpi.h and forwards to the next function of its
// name. intercept_pmpi.cpp compiles this file and the other two of its kind a second time.

int ZBS_OWN(Init)(int* argc, char*** argv) {
    ++recorder.initialising;
    const int rc = ZBS_NEXT_MPI(Init)(argc, argv);
    // The one that the program called: a tool behind may call PMPI_Init in its own, and send before that ends.
    if (--recorder.initialising > 0 || rc != MPI_SUCCESS) return rc;
    make_finalize_safe();
    start(MPI_THREAD_SINGLE);
    return rc;
}
int ZBS_OWN(Init_thread)(int* argc, char*** argv, int required, int* provided) {
    int level = MPI_THREAD_SINGLE;
    ++recorder.initialising;
    const int rc = ZBS_NEXT_MPI(Init_thread)(argc, argv, required, &level);
    if (provided) *provided = level;
    if (--recorder.initialising > 0 || rc != MPI_SUCCESS) return rc;
    make_finalize_safe();
    // The program uses the level that it requested; MPICH may provide more.
    start(required < level ? required : level);
    return rc;
}
int ZBS_OWN(Finalize)() {
    finish(has_open_session());
    make_finalize_safe();
    const int rc = ZBS_NEXT_MPI(Finalize)();
    record_finalized();
    return rc;
}
int ZBS_OWN(Session_init)(MPI_Info info, MPI_Errhandler handler, MPI_Session* session) {
    const int rc = ZBS_NEXT_MPI(Session_init)(info, handler, session);
    if (rc == MPI_SUCCESS) record_session();
    return rc;
}
int ZBS_OWN(Session_finalize)(MPI_Session* session) {
    warn_where_not_started("its world is one of MPI_Session_init, not of MPI_Init");
    const bool is_last = session && end_session(*session);
    const int rc = ZBS_NEXT_MPI(Session_finalize)(session);
    if (is_last) record_finalized();
    return rc;
}
int ZBS_OWN(Abort)(MPI_Comm comm, int code) {
    give_up(zbs::RankState::kAborted);
    record_abort(code);
    return ZBS_NEXT_MPI(Abort)(comm, code);
}

namespace {
template <class Handle>
int freed(Handle* handle, void (*forget)(Handle, bool), int (*next)(Handle*)) {
    if (!handle) return next(handle);
    const Handle old = *handle;
    forget(old, false);
    const int rc = next(handle);
    forget(old, true);
    return rc;
}
}  // namespace

int ZBS_OWN(Comm_free)(MPI_Comm* comm) {
    const Call call(Call::Kind::kOther);
    return freed(comm, forget_communicator, ZBS_NEXT_MPI(Comm_free));
}
int ZBS_OWN(Comm_disconnect)(MPI_Comm* comm) {
    const Call call(Call::Kind::kOther);
    return freed(comm, forget_communicator, ZBS_NEXT_MPI(Comm_disconnect));
}
int ZBS_OWN(Win_allocate_shared)(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* win) {
    const Call call(Call::Kind::kOther);
    if (call) add(recorder.shared_windows, 1);
    return ZBS_NEXT_MPI(Win_allocate_shared)(size, unit, info, comm, base, win);
}
int ZBS_OWN(Win_free)(MPI_Win* win) {
    const Call call(Call::Kind::kOther);
    return freed(win, forget_window, ZBS_NEXT_MPI(Win_free));
}

// Calls that synchronise and so may burn CPU time waiting: not computing, and not a communication of the program.
#define ZBS_OTHER(name, parameters, arguments) \
    int ZBS_OWN(name) parameters {             \
        const Call call(Call::Kind::kOther);   \
        return ZBS_NEXT_MPI(name) arguments;   \
    }
ZBS_OTHER(Comm_dup, (MPI_Comm comm, MPI_Comm* made), (comm, made))
ZBS_OTHER(Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm* made), (comm, info, made))
ZBS_OTHER(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm* made), (comm, group, made))
ZBS_OTHER(Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made), (comm, group, tag, made))
ZBS_OTHER(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm* made), (comm, color, key, made))
ZBS_OTHER(Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made),
          (comm, type, key, info, made))
ZBS_OTHER(Cart_create, (MPI_Comm comm, int dims, const int size[], const int periodic[], int reorder, MPI_Comm* made),
          (comm, dims, size, periodic, reorder, made))
ZBS_OTHER(Cart_sub, (MPI_Comm comm, const int keep[], MPI_Comm* made), (comm, keep, made))
ZBS_OTHER(Intercomm_create, (MPI_Comm local, int leader, MPI_Comm peer, int remote, int tag, MPI_Comm* made),
          (local, leader, peer, remote, tag, made))
ZBS_OTHER(Intercomm_merge, (MPI_Comm inter, int high, MPI_Comm* made), (inter, high, made))
ZBS_OTHER(Comm_spawn,
          (const char* command, char* argv[], int procs, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* made,
           int errors[]),
          (command, argv, procs, info, root, comm, made, errors))
ZBS_OTHER(Win_create, (void* base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win* win),
          (base, size, unit, info, comm, win))
ZBS_OTHER(Win_allocate, (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* win),
          (size, unit, info, comm, base, win))
ZBS_OTHER(Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win* win), (info, comm, win))
ZBS_OTHER(File_open, (MPI_Comm comm, const char* name, int mode, MPI_Info info, MPI_File* file),
          (comm, name, mode, info, file))
ZBS_OTHER(File_close, (MPI_File * file), (file))
#undef ZBS_OTHER
