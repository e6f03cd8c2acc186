#include "client/profiler/real_mpi.hpp"
#include "client/profiler/recorder.hpp"
#include "client/profiler/requests.hpp"
#include "client/profiler/safe_finalize.hpp"

// In MPICH's library the bindings of mpif.h and `use mpi` call MPI_*, and those of `use mpi_f08` do so where an
// argument is a buffer. The rest of `use mpi_f08` calls PMPI_* directly and would pass by unseen; it is caught here by
// its link name. Every argument is an address; MPICH's Fortran handles are the C handles; `ierror` is null where the
// program left it out.

using namespace zbs::profiler;

/// The twin of a binding that the program calls.
#define ZBS_BINDING(name) extern "C" void zbs_own_##name
#define ZBS_NEXT(name, types, arguments) reinterpret_cast<void(*) types>(zbs_next_##name) arguments

ZBS_BINDING(mpi_init_f08_)(int* error) {
    ZBS_NEXT(mpi_init_f08_, (int*), (error));
    start(MPI_THREAD_SINGLE);
    make_finalize_safe();
}
ZBS_BINDING(mpi_init_thread_f08_)(const int* required, int* provided, int* error) {
    ZBS_NEXT(mpi_init_thread_f08_, (const int*, int*, int*), (required, provided, error));
    start(*required < *provided ? *required : *provided);
    make_finalize_safe();
}
ZBS_BINDING(mpi_finalize_f08_)(int* error) {
    finish();
    make_finalize_safe();
    ZBS_NEXT(mpi_finalize_f08_, (int*), (error));
    note_finalized();
}
ZBS_BINDING(mpi_session_init_f08_)(int* info, int* handler, int* session, int* error) {
    ZBS_NEXT(mpi_session_init_f08_, (int*, int*, int*, int*), (info, handler, session, error));
    if (!error || *error == MPI_SUCCESS) note_session();
}
ZBS_BINDING(mpi_session_finalize_f08_)(int* session, int* error) {
    warn_where_not_started("its world is one of MPI_Session_init, not of MPI_Init");
    const bool is_last = end_session(*session);
    ZBS_NEXT(mpi_session_finalize_f08_, (int*, int*), (session, error));
    if (is_last) note_finalized();
}
ZBS_BINDING(mpi_abort_f08_)(int* comm, int* code, int* error) {
    give_up(zbs::RankState::kAborted);
    ZBS_NEXT(mpi_abort_f08_, (int*, int*, int*), (comm, code, error));
}
ZBS_BINDING(mpi_comm_free_f08_)(int* comm, int* error) {
    const Call call(Call::Kind::kOther);
    forget_communicator(*comm);
    ZBS_NEXT(mpi_comm_free_f08_, (int*, int*), (comm, error));
}
ZBS_BINDING(mpi_comm_disconnect_f08_)(int* comm, int* error) {
    const Call call(Call::Kind::kOther);
    forget_communicator(*comm);
    ZBS_NEXT(mpi_comm_disconnect_f08_, (int*, int*), (comm, error));
}
ZBS_BINDING(mpi_win_free_f08_)(int* win, int* error) {
    const Call call(Call::Kind::kOther);
    forget_window(*win);
    ZBS_NEXT(mpi_win_free_f08_, (int*, int*), (win, error));
}
ZBS_BINDING(mpi_request_free_f08_)(int* request, int* error) {
    forget_request(*request);
    ZBS_NEXT(mpi_request_free_f08_, (int*, int*), (request, error));
}

ZBS_BINDING(mpi_barrier_f08_)(int* comm, int* error) {
    const Call call;
    note_barrier(call, *comm);
    ZBS_NEXT(mpi_barrier_f08_, (int*, int*), (comm, error));
}
ZBS_BINDING(mpi_ibarrier_f08_)(int* comm, int* request, int* error) {
    const Call call;
    note_barrier(call, *comm);
    ZBS_NEXT(mpi_ibarrier_f08_, (int*, int*, int*), (comm, request, error));
}
ZBS_BINDING(mpi_start_f08_)(int* request, int* error) {
    const Call call;
    note_start(call, *request);
    ZBS_NEXT(mpi_start_f08_, (int*, int*), (request, error));
}
ZBS_BINDING(mpi_startall_f08_)(const int* count, int* requests, int* error) {
    const Call call;
    for (int i = 0; i < *count; ++i) note_start(call, requests[i]);
    ZBS_NEXT(mpi_startall_f08_, (const int*, int*, int*), (count, requests, error));
}

#define ZBS_F08(name, kind, parameters, arguments, something) \
    ZBS_BINDING(name) parameters {                            \
        Call call(Call::Kind::kind);                          \
        ZBS_NEXT(name, parameters, arguments);                \
        call.found(something);                                \
    }
ZBS_F08(mpi_wait_f08_, kOperation, (void* a, void* b, int* e), (a, b, e), false)
ZBS_F08(mpi_waitall_f08_, kOperation, (void* a, void* b, void* c, int* e), (a, b, c, e), false)
ZBS_F08(mpi_waitany_f08_, kOperation, (void* a, void* b, void* c, void* d, int* e), (a, b, c, d, e), false)
ZBS_F08(mpi_waitsome_f08_, kOperation, (void* a, void* b, void* c, void* d, void* s, int* e), (a, b, c, d, s, e), false)
ZBS_F08(mpi_probe_f08_, kOperation, (void* a, void* b, void* c, void* d, int* e), (a, b, c, d, e), false)
ZBS_F08(mpi_mprobe_f08_, kOperation, (void* a, void* b, void* c, void* d, void* s, int* e), (a, b, c, d, s, e), false)
ZBS_F08(mpi_test_f08_, kPoll, (void* a, int* flag, void* c, int* e), (a, flag, c, e), *flag != 0)
ZBS_F08(mpi_testall_f08_, kPoll, (void* a, void* b, int* flag, void* c, int* e), (a, b, flag, c, e), *flag != 0)
ZBS_F08(mpi_testany_f08_, kPoll, (void* a, void* b, void* c, int* flag, void* d, int* e), (a, b, c, flag, d, e),
        *flag != 0)
ZBS_F08(mpi_testsome_f08_, kPoll, (void* a, void* b, int* done, void* c, void* d, int* e), (a, b, done, c, d, e),
        *done > 0)
ZBS_F08(mpi_iprobe_f08_, kPoll, (void* a, void* b, void* c, int* flag, void* d, int* e), (a, b, c, flag, d, e),
        *flag != 0)
ZBS_F08(mpi_comm_split_f08_, kOther, (void* a, void* b, void* c, void* d, int* e), (a, b, c, d, e), false)
ZBS_F08(mpi_comm_dup_f08_, kOther, (void* a, void* b, int* e), (a, b, e), false)
ZBS_F08(mpi_comm_create_f08_, kOther, (void* a, void* b, void* c, int* e), (a, b, c, e), false)
ZBS_F08(mpi_win_fence_f08_, kOperation, (void* a, void* b, int* e), (a, b, e), false)
