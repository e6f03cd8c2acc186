#include "client/profiler/recorder.hpp"
#include "client/profiler/requests.hpp"

using namespace zbs::profiler;

namespace {
void sent(const Call& call, MPI_Comm comm, int to, MPI_Datatype type, long long count) {
    if (!call || to < 0) return;
    if (const Group* group = group_of(comm)) record_send(*group, to, size_of(type, count));
}
void touched(const Call& call, MPI_Win win, int target, MPI_Datatype type, long long count) {
    if (!call || target < 0) return;
    if (const Group* group = group_of_window(win)) record_send(*group, target, size_of(type, count));
}
void prepared(const Call& call, MPI_Comm comm, int to, MPI_Datatype type, long long count, const MPI_Request* request,
              int rc) {
    if (call && rc == MPI_SUCCESS && to >= 0) remember_request(*request, comm, to, size_of(type, count));
}
}  // namespace

void zbs::profiler::note_start(const Call& call, MPI_Request request) {
    PersistentSend send;
    if (!call || !find_request(request, send)) return;
    if (const Group* group = group_of(send.comm)) record_send(*group, send.to, send.bytes);
}

#define ZBS_SEND(name)                                                                                        \
    int MPI_##name(const void* buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {           \
        const Call call;                                                                                      \
        sent(call, comm, to, type, count);                                                                    \
        return PMPI_##name(buf, count, type, to, tag, comm);                                                  \
    }                                                                                                         \
    int MPI_##name##_c(const void* buf, MPI_Count count, MPI_Datatype type, int to, int tag, MPI_Comm comm) { \
        const Call call;                                                                                      \
        sent(call, comm, to, type, count);                                                                    \
        return PMPI_##name##_c(buf, count, type, to, tag, comm);                                              \
    }
ZBS_SEND(Send)
ZBS_SEND(Bsend)
ZBS_SEND(Ssend)
ZBS_SEND(Rsend)

#define ZBS_ISEND(name)                                                                                             \
    int MPI_##name(const void* buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* r) { \
        const Call call;                                                                                            \
        sent(call, comm, to, type, count);                                                                          \
        return PMPI_##name(buf, count, type, to, tag, comm, r);                                                     \
    }                                                                                                               \
    int MPI_##name##_c(const void* buf, MPI_Count count, MPI_Datatype type, int to, int tag, MPI_Comm comm,         \
                       MPI_Request* r) {                                                                            \
        const Call call;                                                                                            \
        sent(call, comm, to, type, count);                                                                          \
        return PMPI_##name##_c(buf, count, type, to, tag, comm, r);                                                 \
    }
ZBS_ISEND(Isend)
ZBS_ISEND(Ibsend)
ZBS_ISEND(Issend)
ZBS_ISEND(Irsend)

// A persistent send is recorded each time it is started.
#define ZBS_SEND_INIT(name)                                                                                         \
    int MPI_##name(const void* buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* r) { \
        const Call call(Call::Kind::kOther);                                                                        \
        const int rc = PMPI_##name(buf, count, type, to, tag, comm, r);                                             \
        prepared(call, comm, to, type, count, r, rc);                                                               \
        return rc;                                                                                                  \
    }
ZBS_SEND_INIT(Send_init)
ZBS_SEND_INIT(Bsend_init)
ZBS_SEND_INIT(Ssend_init)
ZBS_SEND_INIT(Rsend_init)

int MPI_Start(MPI_Request* request) {
    const Call call;
    note_start(call, *request);
    return PMPI_Start(request);
}
int MPI_Startall(int count, MPI_Request requests[]) {
    const Call call;
    for (int i = 0; i < count; ++i) note_start(call, requests[i]);
    return PMPI_Startall(count, requests);
}
int MPI_Request_free(MPI_Request* request) {
    forget_request(*request);
    return PMPI_Request_free(request);
}

int MPI_Sendrecv(const void* buf, int count, MPI_Datatype type, int to, int tag, void* rbuf, int rcount,
                 MPI_Datatype rtype, int from, int rtag, MPI_Comm comm, MPI_Status* status) {
    const Call call;
    sent(call, comm, to, type, count);
    return PMPI_Sendrecv(buf, count, type, to, tag, rbuf, rcount, rtype, from, rtag, comm, status);
}
int MPI_Sendrecv_replace(void* buf, int count, MPI_Datatype type, int to, int tag, int from, int rtag, MPI_Comm comm,
                         MPI_Status* status) {
    const Call call;
    sent(call, comm, to, type, count);
    return PMPI_Sendrecv_replace(buf, count, type, to, tag, from, rtag, comm, status);
}
int MPI_Isendrecv(const void* buf, int count, MPI_Datatype type, int to, int tag, void* rbuf, int rcount,
                  MPI_Datatype rtype, int from, int rtag, MPI_Comm comm, MPI_Request* request) {
    const Call call;
    sent(call, comm, to, type, count);
    return PMPI_Isendrecv(buf, count, type, to, tag, rbuf, rcount, rtype, from, rtag, comm, request);
}
int MPI_Isendrecv_replace(void* buf, int count, MPI_Datatype type, int to, int tag, int from, int rtag, MPI_Comm comm,
                          MPI_Request* request) {
    const Call call;
    sent(call, comm, to, type, count);
    return PMPI_Isendrecv_replace(buf, count, type, to, tag, from, rtag, comm, request);
}

// Receiving and completing: boundaries of computing, no message of this rank.
#define ZBS_BOUNDARY(name, parameters, arguments) \
    int MPI_##name parameters {                   \
        const Call call;                          \
        return PMPI_##name arguments;             \
    }
ZBS_BOUNDARY(Recv, (void* buf, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status),
             (buf, count, type, from, tag, comm, status))
ZBS_BOUNDARY(Irecv, (void* buf, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request),
             (buf, count, type, from, tag, comm, request))
ZBS_BOUNDARY(Mrecv, (void* buf, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status),
             (buf, count, type, message, status))
ZBS_BOUNDARY(Imrecv, (void* buf, int count, MPI_Datatype type, MPI_Message* message, MPI_Request* request),
             (buf, count, type, message, request))
ZBS_BOUNDARY(Wait, (MPI_Request * request, MPI_Status* status), (request, status))
ZBS_BOUNDARY(Waitall, (int count, MPI_Request requests[], MPI_Status* statuses), (count, requests, statuses))
ZBS_BOUNDARY(Waitany, (int count, MPI_Request requests[], int* index, MPI_Status* status),
             (count, requests, index, status))
ZBS_BOUNDARY(Waitsome, (int count, MPI_Request requests[], int* done, int indices[], MPI_Status* statuses),
             (count, requests, done, indices, statuses))
ZBS_BOUNDARY(Probe, (int from, int tag, MPI_Comm comm, MPI_Status* status), (from, tag, comm, status))
ZBS_BOUNDARY(Mprobe, (int from, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status),
             (from, tag, comm, message, status))
ZBS_BOUNDARY(Win_fence, (int assertion, MPI_Win win), (assertion, win))
ZBS_BOUNDARY(Win_lock, (int type, int rank, int assertion, MPI_Win win), (type, rank, assertion, win))
ZBS_BOUNDARY(Win_unlock, (int rank, MPI_Win win), (rank, win))
ZBS_BOUNDARY(Win_lock_all, (int assertion, MPI_Win win), (assertion, win))
ZBS_BOUNDARY(Win_unlock_all, (MPI_Win win), (win))
ZBS_BOUNDARY(Win_flush, (int rank, MPI_Win win), (rank, win))
ZBS_BOUNDARY(Win_flush_all, (MPI_Win win), (win))
ZBS_BOUNDARY(Win_start, (MPI_Group group, int assertion, MPI_Win win), (group, assertion, win))
ZBS_BOUNDARY(Win_complete, (MPI_Win win), (win))
ZBS_BOUNDARY(Win_post, (MPI_Group group, int assertion, MPI_Win win), (group, assertion, win))
ZBS_BOUNDARY(Win_wait, (MPI_Win win), (win))

// A poll that finds nothing is not an operation: else a waiting loop would drown the computing time in empty intervals.
#define ZBS_POLL(name, parameters, arguments, something) \
    int MPI_##name parameters {                          \
        Call call(Call::Kind::kPoll);                    \
        const int rc = PMPI_##name arguments;            \
        call.found(rc == MPI_SUCCESS && (something));    \
        return rc;                                       \
    }
ZBS_POLL(Test, (MPI_Request * request, int* flag, MPI_Status* status), (request, flag, status), *flag)
ZBS_POLL(Testall, (int count, MPI_Request requests[], int* flag, MPI_Status* statuses),
         (count, requests, flag, statuses), *flag)
ZBS_POLL(Testany, (int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status),
         (count, requests, index, flag, status), *flag)
ZBS_POLL(Testsome, (int count, MPI_Request requests[], int* done, int indices[], MPI_Status* statuses),
         (count, requests, done, indices, statuses), *done > 0)
ZBS_POLL(Iprobe, (int from, int tag, MPI_Comm comm, int* flag, MPI_Status* status), (from, tag, comm, flag, status),
         *flag)
ZBS_POLL(Improbe, (int from, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status),
         (from, tag, comm, flag, message, status), *flag)

// One-sided: the origin records the bytes with the target, whichever way they flow; edges have no direction.
int MPI_Put(const void* buf, int count, MPI_Datatype type, int target, MPI_Aint at, int tcount, MPI_Datatype ttype,
            MPI_Win win) {
    const Call call;
    touched(call, win, target, type, count);
    return PMPI_Put(buf, count, type, target, at, tcount, ttype, win);
}
int MPI_Get(void* buf, int count, MPI_Datatype type, int target, MPI_Aint at, int tcount, MPI_Datatype ttype,
            MPI_Win win) {
    const Call call;
    touched(call, win, target, type, count);
    return PMPI_Get(buf, count, type, target, at, tcount, ttype, win);
}
int MPI_Accumulate(const void* buf, int count, MPI_Datatype type, int target, MPI_Aint at, int tcount,
                   MPI_Datatype ttype, MPI_Op op, MPI_Win win) {
    const Call call;
    touched(call, win, target, type, count);
    return PMPI_Accumulate(buf, count, type, target, at, tcount, ttype, op, win);
}
int MPI_Rput(const void* buf, int count, MPI_Datatype type, int target, MPI_Aint at, int tcount, MPI_Datatype ttype,
             MPI_Win win, MPI_Request* request) {
    const Call call;
    touched(call, win, target, type, count);
    return PMPI_Rput(buf, count, type, target, at, tcount, ttype, win, request);
}
int MPI_Rget(void* buf, int count, MPI_Datatype type, int target, MPI_Aint at, int tcount, MPI_Datatype ttype,
             MPI_Win win, MPI_Request* request) {
    const Call call;
    touched(call, win, target, type, count);
    return PMPI_Rget(buf, count, type, target, at, tcount, ttype, win, request);
}
