#include <vector>

#include "client/profiler/real_mpi.hpp"
#include "client/profiler/recorder.hpp"
#include "client/profiler/requests.hpp"
#include "client/profiler/trace_file.hpp"

using namespace zbs::profiler;

namespace {
void sent(const Call& call, MPI_Comm comm, int to, int tag, MPI_Datatype type, long long count) {
    if (!call || to < 0) return;
    const Group* group = group_of(comm);
    if (!group) return;
    const std::uint64_t bytes = size_of(type, count);
    record_send(*group, to, bytes);
    trace_send(*group, to, tag, bytes);
}
void touched(const Call& call, MPI_Win win, int target, MPI_Datatype type, long long count) {
    if (!call || target < 0) return;
    const Group* group = group_of_window(win);
    if (!group) return;
    const std::uint64_t bytes = size_of(type, count);
    record_send(*group, target, bytes);
    trace_access(*group, target, bytes);
}
void prepared(const Call& call, MPI_Comm comm, int to, int tag, MPI_Datatype type, long long count,
              const MPI_Request* request, int rc) {
    if (call && rc == MPI_SUCCESS && to >= 0) remember_request(*request, comm, to, tag, size_of(type, count));
}

// Receives are recorded when they complete, with the source and tag that the program requested, and for wildcards with
// those of MPI's status. So in the trace mode every completing call needs a status, also if the program requests none.
bool traces(const Call& call) { return recorder.tracing && call; }

void received(const Receive& receive, const MPI_Status& status) {
    int cancelled = 0;
    if (!receive.members || receive.from == MPI_PROC_NULL) return;
    const int from = receive.from == MPI_ANY_SOURCE ? status.MPI_SOURCE : receive.from;
    if (from < 0 || PMPI_Test_cancelled(&status, &cancelled) != MPI_SUCCESS || cancelled) return;
    trace_receive(*receive.members, from, receive.tag == MPI_ANY_TAG ? status.MPI_TAG : receive.tag);
}
const Members* members_of(MPI_Comm comm) {
    const Group* group = group_of(comm);
    return group ? group->members : nullptr;
}
/// From MPI_PROC_NULL nothing comes, whatever the status says: that of MPICH 4.0 for MPI_Irecv names rank 0.
void asked(const Call& call, MPI_Comm comm, int from, int tag, const MPI_Request* request, int rc,
           bool persistent = false) {
    if (traces(call) && rc == MPI_SUCCESS && from != MPI_PROC_NULL)
        remember_receive(*request, {members_of(comm), from, tag}, persistent);
}
/// The same of an MPI_Isendrecv, whose status in MPICH 4.0 always has source 0 and tag 0: behind a wildcard the message
/// is unknown, and the trace names the call.
void asked_both(const Call& call, const char* name, MPI_Comm comm, int from, int tag, const MPI_Request* request,
                int rc) {
    if (from != MPI_ANY_SOURCE && tag != MPI_ANY_TAG) return asked(call, comm, from, tag, request, rc);
    if (traces(call) && rc == MPI_SUCCESS && from != MPI_PROC_NULL) trace_unseen(name, 1);
}

/// The requests of a completing call as they were before it, and room for their statuses.
class Completion {
  public:
    Completion(const Call& call, int count, const MPI_Request* requests, MPI_Status* statuses, MPI_Status* ignored)
        : statuses_(statuses) {
        if (!traces(call) || count <= 0) return;
        requests_.assign(requests, requests + count);
        if (statuses != ignored) return;
        own_.resize(static_cast<std::size_t>(count));
        statuses_ = own_.data();
    }
    MPI_Status* statuses() { return statuses_; }
    /// `request`: its index; `status`: where its status is.
    void done(int request, int status) {
        if (requests_.empty() || request < 0 || static_cast<std::size_t>(request) >= requests_.size()) return;
        const MPI_Request handle = requests_[static_cast<std::size_t>(request)];
        if (handle != MPI_REQUEST_NULL) received(completed_receive(handle), statuses_[status]);
    }
    void all_done() {
        for (int i = 0; static_cast<std::size_t>(i) < requests_.size(); ++i) done(i, i);
    }

  private:
    std::vector<MPI_Request> requests_;
    std::vector<MPI_Status> own_;
    MPI_Status* statuses_;
};
void record_start(const Call& call, MPI_Request request) {
    PersistentSend send;
    if (traces(call)) start_receive(request);
    if (!call || !find_request(request, send)) return;
    const Group* group = group_of(send.comm);
    if (!group) return;
    record_send(*group, send.to, send.bytes);
    trace_send(*group, send.to, send.tag, send.bytes);
}
}  // namespace

#define ZBS_SEND(name)                                                                                           \
    int ZBS_OWN(name)(const void* buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {           \
        const Call call;                                                                                         \
        return recorded([&] { sent(call, comm, to, tag, type, count); },                                         \
                        [&] { return ZBS_NEXT_MPI(name)(buf, count, type, to, tag, comm); });                    \
    }                                                                                                            \
    int ZBS_OWN(name##_c)(const void* buf, MPI_Count count, MPI_Datatype type, int to, int tag, MPI_Comm comm) { \
        const Call call;                                                                                         \
        return recorded([&] { sent(call, comm, to, tag, type, count); },                                         \
                        [&] { return ZBS_NEXT_MPI(name##_c)(buf, count, type, to, tag, comm); });                \
    }
ZBS_SEND(Send)
ZBS_SEND(Bsend)
ZBS_SEND(Ssend)
ZBS_SEND(Rsend)

#define ZBS_ISEND(name)                                                                                                \
    int ZBS_OWN(name)(const void* buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* r) { \
        const Call call;                                                                                               \
        return recorded([&] { sent(call, comm, to, tag, type, count); },                                               \
                        [&] { return ZBS_NEXT_MPI(name)(buf, count, type, to, tag, comm, r); });                       \
    }                                                                                                                  \
    int ZBS_OWN(name##_c)(const void* buf, MPI_Count count, MPI_Datatype type, int to, int tag, MPI_Comm comm,         \
                          MPI_Request* r) {                                                                            \
        const Call call;                                                                                               \
        return recorded([&] { sent(call, comm, to, tag, type, count); },                                               \
                        [&] { return ZBS_NEXT_MPI(name##_c)(buf, count, type, to, tag, comm, r); });                   \
    }
ZBS_ISEND(Isend)
ZBS_ISEND(Ibsend)
ZBS_ISEND(Issend)
ZBS_ISEND(Irsend)

// A persistent send is recorded each time it is started.
#define ZBS_SEND_INIT(name)                                                                                            \
    int ZBS_OWN(name)(const void* buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* r) { \
        const Call call(Call::Kind::kOther);                                                                           \
        const int rc = ZBS_NEXT_MPI(name)(buf, count, type, to, tag, comm, r);                                         \
        prepared(call, comm, to, tag, type, count, r, rc);                                                             \
        return rc;                                                                                                     \
    }
ZBS_SEND_INIT(Send_init)
ZBS_SEND_INIT(Bsend_init)
ZBS_SEND_INIT(Ssend_init)
ZBS_SEND_INIT(Rsend_init)

int ZBS_OWN(Start)(MPI_Request* request) {
    const Call call;
    return recorded([&] { record_start(call, *request); }, [&] { return ZBS_NEXT_MPI(Start)(request); });
}
int ZBS_OWN(Startall)(int count, MPI_Request requests[]) {
    const Call call;
    const auto note = [&] {
        for (int i = 0; i < count; ++i) record_start(call, requests[i]);
    };
    return recorded(note, [&] { return ZBS_NEXT_MPI(Startall)(count, requests); });
}
int ZBS_OWN(Request_free)(MPI_Request* request) {
    forget_request(*request);
    return ZBS_NEXT_MPI(Request_free)(request);
}

/// A blocking call that ends with a message from `comm` in `status`.
#define ZBS_RECEIVING(comm, from, tag, invoke)                                             \
    MPI_Status own;                                                                        \
    MPI_Status* const seen = traces(call) && status == MPI_STATUS_IGNORE ? &own : status;  \
    const int rc = invoke;                                                                 \
    if (traces(call) && rc == MPI_SUCCESS) received({members_of(comm), from, tag}, *seen); \
    return rc

int ZBS_OWN(Recv)(void* buf, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
    const Call call;
    ZBS_RECEIVING(comm, from, tag, ZBS_NEXT_MPI(Recv)(buf, count, type, from, tag, comm, seen));
}
int ZBS_OWN(Sendrecv)(const void* buf, int count, MPI_Datatype type, int to, int tag, void* rbuf, int rcount,
                      MPI_Datatype rtype, int from, int rtag, MPI_Comm comm, MPI_Status* status) {
    const Call call;
    ZBS_RECEIVING(comm, from, rtag,
                  recorded([&] { sent(call, comm, to, tag, type, count); },
                           [&] {
                               return ZBS_NEXT_MPI(Sendrecv)(buf, count, type, to, tag, rbuf, rcount, rtype, from, rtag,
                                                             comm, seen);
                           }));
}
int ZBS_OWN(Sendrecv_replace)(void* buf, int count, MPI_Datatype type, int to, int tag, int from, int rtag,
                              MPI_Comm comm, MPI_Status* status) {
    const Call call;
    ZBS_RECEIVING(
        comm, from, rtag,
        recorded([&] { sent(call, comm, to, tag, type, count); },
                 [&] { return ZBS_NEXT_MPI(Sendrecv_replace)(buf, count, type, to, tag, from, rtag, comm, seen); }));
}
int ZBS_OWN(Isendrecv)(const void* buf, int count, MPI_Datatype type, int to, int tag, void* rbuf, int rcount,
                       MPI_Datatype rtype, int from, int rtag, MPI_Comm comm, MPI_Request* request) {
    const Call call;
    const int rc = recorded([&] { sent(call, comm, to, tag, type, count); },
                            [&] {
                                return ZBS_NEXT_MPI(Isendrecv)(buf, count, type, to, tag, rbuf, rcount, rtype, from,
                                                               rtag, comm, request);
                            });
    asked_both(call, "MPI_Isendrecv", comm, from, rtag, request, rc);
    return rc;
}
int ZBS_OWN(Isendrecv_replace)(void* buf, int count, MPI_Datatype type, int to, int tag, int from, int rtag,
                               MPI_Comm comm, MPI_Request* request) {
    const Call call;
    const int rc =
        recorded([&] { sent(call, comm, to, tag, type, count); },
                 [&] { return ZBS_NEXT_MPI(Isendrecv_replace)(buf, count, type, to, tag, from, rtag, comm, request); });
    asked_both(call, "MPI_Isendrecv_replace", comm, from, rtag, request, rc);
    return rc;
}
int ZBS_OWN(Irecv)(void* buf, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request) {
    const Call call;
    const int rc = ZBS_NEXT_MPI(Irecv)(buf, count, type, from, tag, comm, request);
    asked(call, comm, from, tag, request, rc);
    return rc;
}
int ZBS_OWN(Recv_init)(void* buf, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                       MPI_Request* request) {
    const Call call(Call::Kind::kOther);
    const int rc = ZBS_NEXT_MPI(Recv_init)(buf, count, type, from, tag, comm, request);
    asked(call, comm, from, tag, request, rc, /*persistent=*/true);
    return rc;
}

// A message that was matched by a probe: whose communicator it is, only the probe knows.
int ZBS_OWN(Mprobe)(int from, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
    const Call call;
    const int rc = ZBS_NEXT_MPI(Mprobe)(from, tag, comm, message, status);
    if (traces(call) && rc == MPI_SUCCESS && from != MPI_PROC_NULL) remember_message(*message, members_of(comm));
    return rc;
}
int ZBS_OWN(Improbe)(int from, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
    Call call(Call::Kind::kPoll);
    const int rc = ZBS_NEXT_MPI(Improbe)(from, tag, comm, flag, message, status);
    call.found(rc == MPI_SUCCESS && *flag);
    if (traces(call) && rc == MPI_SUCCESS && *flag && from != MPI_PROC_NULL)
        remember_message(*message, members_of(comm));
    return rc;
}
int ZBS_OWN(Mrecv)(void* buf, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status) {
    const Call call;
    const Members* const members = traces(call) ? take_message(*message) : nullptr;
    MPI_Status own;
    MPI_Status* const seen = members && status == MPI_STATUS_IGNORE ? &own : status;
    const int rc = ZBS_NEXT_MPI(Mrecv)(buf, count, type, message, seen);
    if (rc == MPI_SUCCESS) received({members}, *seen);
    return rc;
}
int ZBS_OWN(Imrecv)(void* buf, int count, MPI_Datatype type, MPI_Message* message, MPI_Request* request) {
    const Call call;
    const Members* const members = traces(call) ? take_message(*message) : nullptr;
    const int rc = ZBS_NEXT_MPI(Imrecv)(buf, count, type, message, request);
    if (rc == MPI_SUCCESS) remember_receive(*request, {members});
    return rc;
}

int ZBS_OWN(Wait)(MPI_Request* request, MPI_Status* status) {
    const Call call;
    Completion completion(call, 1, request, status, MPI_STATUS_IGNORE);
    const int rc = ZBS_NEXT_MPI(Wait)(request, completion.statuses());
    if (rc == MPI_SUCCESS) completion.done(0, 0);
    return rc;
}
int ZBS_OWN(Waitall)(int count, MPI_Request requests[], MPI_Status* statuses) {
    const Call call;
    Completion completion(call, count, requests, statuses, MPI_STATUSES_IGNORE);
    const int rc = ZBS_NEXT_MPI(Waitall)(count, requests, completion.statuses());
    if (rc == MPI_SUCCESS) completion.all_done();
    return rc;
}
int ZBS_OWN(Waitany)(int count, MPI_Request requests[], int* index, MPI_Status* status) {
    const Call call;
    Completion completion(call, count, requests, status, MPI_STATUS_IGNORE);
    const int rc = ZBS_NEXT_MPI(Waitany)(count, requests, index, completion.statuses());
    if (rc == MPI_SUCCESS && *index != MPI_UNDEFINED) completion.done(*index, 0);
    return rc;
}
int ZBS_OWN(Waitsome)(int count, MPI_Request requests[], int* done, int indices[], MPI_Status* statuses) {
    const Call call;
    Completion completion(call, count, requests, statuses, MPI_STATUSES_IGNORE);
    const int rc = ZBS_NEXT_MPI(Waitsome)(count, requests, done, indices, completion.statuses());
    for (int i = 0; rc == MPI_SUCCESS && *done != MPI_UNDEFINED && i < *done; ++i) completion.done(indices[i], i);
    return rc;
}

// A poll that finds nothing is not an operation: else a waiting loop would drown the computing time in empty intervals.
int ZBS_OWN(Test)(MPI_Request* request, int* flag, MPI_Status* status) {
    Call call(Call::Kind::kPoll);
    Completion completion(call, 1, request, status, MPI_STATUS_IGNORE);
    const int rc = ZBS_NEXT_MPI(Test)(request, flag, completion.statuses());
    call.found(rc == MPI_SUCCESS && *flag);
    if (rc == MPI_SUCCESS && *flag) completion.done(0, 0);
    return rc;
}
int ZBS_OWN(Testall)(int count, MPI_Request requests[], int* flag, MPI_Status* statuses) {
    Call call(Call::Kind::kPoll);
    Completion completion(call, count, requests, statuses, MPI_STATUSES_IGNORE);
    const int rc = ZBS_NEXT_MPI(Testall)(count, requests, flag, completion.statuses());
    call.found(rc == MPI_SUCCESS && *flag);
    if (rc == MPI_SUCCESS && *flag) completion.all_done();
    return rc;
}
int ZBS_OWN(Testany)(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
    Call call(Call::Kind::kPoll);
    Completion completion(call, count, requests, status, MPI_STATUS_IGNORE);
    const int rc = ZBS_NEXT_MPI(Testany)(count, requests, index, flag, completion.statuses());
    call.found(rc == MPI_SUCCESS && *flag);
    if (rc == MPI_SUCCESS && *flag && *index != MPI_UNDEFINED) completion.done(*index, 0);
    return rc;
}
int ZBS_OWN(Testsome)(int count, MPI_Request requests[], int* done, int indices[], MPI_Status* statuses) {
    Call call(Call::Kind::kPoll);
    Completion completion(call, count, requests, statuses, MPI_STATUSES_IGNORE);
    const int rc = ZBS_NEXT_MPI(Testsome)(count, requests, done, indices, completion.statuses());
    call.found(rc == MPI_SUCCESS && *done > 0);
    for (int i = 0; rc == MPI_SUCCESS && *done != MPI_UNDEFINED && i < *done; ++i) completion.done(indices[i], i);
    return rc;
}
int ZBS_OWN(Iprobe)(int from, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
    Call call(Call::Kind::kPoll);
    const int rc = ZBS_NEXT_MPI(Iprobe)(from, tag, comm, flag, status);
    call.found(rc == MPI_SUCCESS && *flag);
    return rc;
}

// Boundaries of computing, no message of this rank.
#define ZBS_BOUNDARY(name, parameters, arguments) \
    int ZBS_OWN(name) parameters {                \
        const Call call;                          \
        return ZBS_NEXT_MPI(name) arguments;      \
    }
ZBS_BOUNDARY(Probe, (int from, int tag, MPI_Comm comm, MPI_Status* status), (from, tag, comm, status))
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

// One-sided: the origin records the bytes with the target, whichever way they flow; edges have no direction.
int ZBS_OWN(Put)(const void* buf, int count, MPI_Datatype type, int target, MPI_Aint at, int tcount, MPI_Datatype ttype,
                 MPI_Win win) {
    const Call call;
    return recorded([&] { touched(call, win, target, type, count); },
                    [&] { return ZBS_NEXT_MPI(Put)(buf, count, type, target, at, tcount, ttype, win); });
}
int ZBS_OWN(Get)(void* buf, int count, MPI_Datatype type, int target, MPI_Aint at, int tcount, MPI_Datatype ttype,
                 MPI_Win win) {
    const Call call;
    return recorded([&] { touched(call, win, target, type, count); },
                    [&] { return ZBS_NEXT_MPI(Get)(buf, count, type, target, at, tcount, ttype, win); });
}
int ZBS_OWN(Accumulate)(const void* buf, int count, MPI_Datatype type, int target, MPI_Aint at, int tcount,
                        MPI_Datatype ttype, MPI_Op op, MPI_Win win) {
    const Call call;
    return recorded([&] { touched(call, win, target, type, count); },
                    [&] { return ZBS_NEXT_MPI(Accumulate)(buf, count, type, target, at, tcount, ttype, op, win); });
}
int ZBS_OWN(Rput)(const void* buf, int count, MPI_Datatype type, int target, MPI_Aint at, int tcount,
                  MPI_Datatype ttype, MPI_Win win, MPI_Request* request) {
    const Call call;
    return recorded([&] { touched(call, win, target, type, count); },
                    [&] { return ZBS_NEXT_MPI(Rput)(buf, count, type, target, at, tcount, ttype, win, request); });
}
int ZBS_OWN(Rget)(void* buf, int count, MPI_Datatype type, int target, MPI_Aint at, int tcount, MPI_Datatype ttype,
                  MPI_Win win, MPI_Request* request) {
    const Call call;
    return recorded([&] { touched(call, win, target, type, count); },
                    [&] { return ZBS_NEXT_MPI(Rget)(buf, count, type, target, at, tcount, ttype, win, request); });
}
// Bytes that go there are one message, those that come back another.
int ZBS_OWN(Get_accumulate)(const void* buf, int count, MPI_Datatype type, void* result, int rcount, MPI_Datatype rtype,
                            int target, MPI_Aint at, int tcount, MPI_Datatype ttype, MPI_Op op, MPI_Win win) {
    const Call call;
    return recorded(
        [&] {
            if (op != MPI_NO_OP) touched(call, win, target, type, count);
            touched(call, win, target, rtype, rcount);
        },
        [&] {
            return ZBS_NEXT_MPI(Get_accumulate)(buf, count, type, result, rcount, rtype, target, at, tcount, ttype, op,
                                                win);
        });
}
int ZBS_OWN(Raccumulate)(const void* buf, int count, MPI_Datatype type, int target, MPI_Aint at, int tcount,
                         MPI_Datatype ttype, MPI_Op op, MPI_Win win, MPI_Request* request) {
    const Call call;
    return recorded(
        [&] { touched(call, win, target, type, count); },
        [&] { return ZBS_NEXT_MPI(Raccumulate)(buf, count, type, target, at, tcount, ttype, op, win, request); });
}
int ZBS_OWN(Rget_accumulate)(const void* buf, int count, MPI_Datatype type, void* result, int rcount,
                             MPI_Datatype rtype, int target, MPI_Aint at, int tcount, MPI_Datatype ttype, MPI_Op op,
                             MPI_Win win, MPI_Request* request) {
    const Call call;
    return recorded(
        [&] {
            if (op != MPI_NO_OP) touched(call, win, target, type, count);
            touched(call, win, target, rtype, rcount);
        },
        [&] {
            return ZBS_NEXT_MPI(Rget_accumulate)(buf, count, type, result, rcount, rtype, target, at, tcount, ttype, op,
                                                 win, request);
        });
}
int ZBS_OWN(Fetch_and_op)(const void* buf, void* result, MPI_Datatype type, int target, MPI_Aint at, MPI_Op op,
                          MPI_Win win) {
    const Call call;
    return recorded(
        [&] {
            if (op != MPI_NO_OP) touched(call, win, target, type, 1);
            touched(call, win, target, type, 1);
        },
        [&] { return ZBS_NEXT_MPI(Fetch_and_op)(buf, result, type, target, at, op, win); });
}
int ZBS_OWN(Compare_and_swap)(const void* buf, const void* wanted, void* result, MPI_Datatype type, int target,
                              MPI_Aint at, MPI_Win win) {
    const Call call;
    return recorded(
        [&] {
            touched(call, win, target, type, 2);
            touched(call, win, target, type, 1);
        },
        [&] { return ZBS_NEXT_MPI(Compare_and_swap)(buf, wanted, result, type, target, at, win); });
}
