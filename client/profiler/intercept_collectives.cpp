#include <vector>

#include "algorithms/base/collective_pattern.hpp"
#include "client/profiler/real_mpi.hpp"
#include "client/profiler/recorder.hpp"
#include "client/profiler/trace_file.hpp"

using namespace zbs::profiler;
using namespace zbs::collectives;

namespace {

/// The communicator of a collective that is to be recorded: null for intercommunicators, whose calls are counted.
const Group* collective_group(const Call& call, MPI_Comm comm) {
    if (!call) return nullptr;
    const Group* group = group_of(comm);
    if (!group) return nullptr;
    if (group->inter) {
        add(recorder.intercommunicator_calls, 1);
        return nullptr;
    }
    trace_collective(*group);
    return group;
}
CommRank place(const Group& group) { return {group.size, group.rank}; }
auto to_recorder(const Group& group) {
    return [&group](int to, Bytes bytes, int round) {
        if (to == group.rank) return;
        record_send(group, to, bytes);
        trace_collective_message(group, to, bytes, round);
    };
}

/// A message of a collective in which every message goes at once.
void record_direct(const Group& group, int to, Bytes bytes) {
    record_send(group, to, bytes);
    trace_collective_message(group, to, bytes, 0);
}

Reduction reduction(long long count, MPI_Datatype type, MPI_Op op, bool nonblocking) {
    int commutes = 1;
    PMPI_Op_commutative(op, &commutes);
    // MPICH marks handles of predefined objects in the two highest bits.
    const bool built_in = (static_cast<unsigned>(op) >> 30) == 1;
    return {.count = static_cast<Bytes>(count > 0 ? count : 0),
            .element = size_of(type, 1),
            .built_in = built_in,
            .commutative = commutes != 0,
            .nonblocking = nonblocking};
}

void record_bcast(const Call& call, long long count, MPI_Datatype type, int root, MPI_Comm comm, bool nonblocking) {
    if (const Group* g = collective_group(call, comm))
        bcast(place(*g), root, size_of(type, count), nonblocking, to_recorder(*g));
}
void record_reduce(const Call& call, long long count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
    if (const Group* g = collective_group(call, comm))
        reduce(place(*g), root, reduction(count, type, op, false), to_recorder(*g));
}
void record_allreduce(const Call& call, long long count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                      bool nonblocking) {
    if (const Group* g = collective_group(call, comm))
        allreduce(place(*g), reduction(count, type, op, nonblocking), to_recorder(*g));
}
void record_gather(const Call& call, int scount, MPI_Datatype stype, int root, MPI_Comm comm) {
    const Group* g = collective_group(call, comm);
    if (g && g->rank != root) gather(place(*g), root, size_of(stype, scount), to_recorder(*g));
}
void record_gatherv(const Call& call, int scount, MPI_Datatype stype, int root, MPI_Comm comm) {
    const Group* g = collective_group(call, comm);
    if (g && g->rank != root && scount > 0) record_direct(*g, root, size_of(stype, scount));
}
void record_scatter(const Call& call, int scount, MPI_Datatype stype, int rcount, MPI_Datatype rtype, int root,
                    MPI_Comm comm) {
    const Group* g = collective_group(call, comm);
    if (g) scatter(place(*g), root, g->rank == root ? size_of(stype, scount) : size_of(rtype, rcount), to_recorder(*g));
}
void record_scatterv(const Call& call, const int scounts[], MPI_Datatype stype, int root, MPI_Comm comm) {
    const Group* g = collective_group(call, comm);
    if (!g || g->rank != root) return;
    for (int r = 0; r < g->size; ++r) {
        if (r != root && scounts[r] > 0) record_direct(*g, r, size_of(stype, scounts[r]));
    }
}
void record_allgather(const Call& call, int rcount, MPI_Datatype rtype, MPI_Comm comm) {
    const Group* g = collective_group(call, comm);
    if (!g) return;
    const Bytes each = size_of(rtype, rcount);
    allgather(
        place(*g), each * static_cast<Bytes>(g->size), [each](int) { return each; }, to_recorder(*g));
}
void record_allgatherv(const Call& call, const int rcounts[], MPI_Datatype rtype, MPI_Comm comm) {
    const Group* g = collective_group(call, comm);
    if (!g) return;
    const Bytes element = size_of(rtype, 1);
    const auto size = [&](int r) { return element * static_cast<Bytes>(rcounts[r]); };
    Bytes total = 0;
    for (int r = 0; r < g->size; ++r) total += size(r);
    allgather(place(*g), total, size, to_recorder(*g));
}
void record_alltoall(const Call& call, const void* sbuf, int scount, MPI_Datatype stype, int rcount, MPI_Datatype rtype,
                     MPI_Comm comm, bool nonblocking) {
    const Group* g = collective_group(call, comm);
    if (!g) return;
    const bool in_place = sbuf == MPI_IN_PLACE;
    alltoall(place(*g), in_place ? size_of(rtype, rcount) : size_of(stype, scount), in_place, nonblocking,
             to_recorder(*g));
}
/// Alltoallv and Alltoallw: one message to every rank that gets something. `size(r)` = bytes for rank r.
template <class Size>
void record_scattered(const Call& call, MPI_Comm comm, Size&& size) {
    const Group* g = collective_group(call, comm);
    if (!g) return;
    for (int i = 1; i < g->size; ++i) {
        const int to = (g->rank + i) % g->size;
        if (const Bytes bytes = size(to); bytes > 0) record_direct(*g, to, bytes);
    }
}
void record_alltoallv(const Call& call, const void* sbuf, const int scounts[], MPI_Datatype stype, const int rcounts[],
                      MPI_Datatype rtype, MPI_Comm comm) {
    const bool in_place = sbuf == MPI_IN_PLACE;
    record_scattered(call, comm,
                     [&](int r) { return in_place ? size_of(rtype, rcounts[r]) : size_of(stype, scounts[r]); });
}
void record_alltoallw(const Call& call, const void* sbuf, const int scounts[], const MPI_Datatype stypes[],
                      const int rcounts[], const MPI_Datatype rtypes[], MPI_Comm comm) {
    const bool in_place = sbuf == MPI_IN_PLACE;
    record_scattered(call, comm,
                     [&](int r) { return in_place ? size_of(rtypes[r], rcounts[r]) : size_of(stypes[r], scounts[r]); });
}
void record_reduce_scatter(const Call& call, const int rcounts[], MPI_Datatype type, MPI_Comm comm) {
    const Group* g = collective_group(call, comm);
    if (!g) return;
    const Bytes element = size_of(type, 1);
    const auto size = [&](int r) { return element * static_cast<Bytes>(rcounts[r]); };
    Bytes total = 0;
    for (int r = 0; r < g->size; ++r) total += size(r);
    reduce_scatter(place(*g), total, size, to_recorder(*g));
}
void record_reduce_scatter_block(const Call& call, int rcount, MPI_Datatype type, MPI_Comm comm) {
    const Group* g = collective_group(call, comm);
    if (!g) return;
    const Bytes each = size_of(type, rcount);
    reduce_scatter(
        place(*g), each * static_cast<Bytes>(g->size), [each](int) { return each; }, to_recorder(*g));
}
void record_scan(const Call& call, long long count, MPI_Datatype type, MPI_Comm comm) {
    if (const Group* g = collective_group(call, comm)) scan(place(*g), size_of(type, count), to_recorder(*g));
}

/// Where a neighbourhood collective sends to, in the order of its arguments; MPI_PROC_NULL beyond an open border.
std::vector<int> neighbours(MPI_Comm comm, int rank) {
    std::vector<int> to;
    int topology = MPI_UNDEFINED, count = 0, before = 0, after = 0;
    PMPI_Topo_test(comm, &topology);
    if (topology == MPI_CART && PMPI_Cartdim_get(comm, &count) == MPI_SUCCESS) {
        for (int i = 0; i < count; ++i) {
            PMPI_Cart_shift(comm, i, 1, &before, &after);
            to.insert(to.end(), {before, after});
        }
    } else if (topology == MPI_GRAPH && PMPI_Graph_neighbors_count(comm, rank, &count) == MPI_SUCCESS) {
        to.resize(static_cast<std::size_t>(count));
        PMPI_Graph_neighbors(comm, rank, count, to.data());
    } else if (topology == MPI_DIST_GRAPH &&
               PMPI_Dist_graph_neighbors_count(comm, &before, &after, &count) == MPI_SUCCESS) {
        to.resize(static_cast<std::size_t>(after));
        std::vector<int> from(static_cast<std::size_t>(before)), in_weights(from.size()), out_weights(to.size());
        PMPI_Dist_graph_neighbors(comm, before, from.data(), in_weights.data(), after, to.data(), out_weights.data());
    }
    return to;
}

/// `size(i)` = bytes for the i-th neighbour.
template <class Size>
void record_neighbours(const Call& call, MPI_Comm comm, Size&& size) {
    const Group* g = collective_group(call, comm);
    if (!g) return;
    const std::vector<int> to = neighbours(comm, g->rank);
    for (std::size_t i = 0; i < to.size(); ++i) {
        const Bytes bytes = to[i] >= 0 && to[i] != g->rank ? size(i) : 0;
        if (bytes > 0) record_direct(*g, to[i], bytes);
    }
}

void record_barrier(const Call& call, MPI_Comm comm) {
    if (const Group* g = collective_group(call, comm)) barrier(place(*g), to_recorder(*g));
}

}  // namespace

#define ZBS_UNPACK(...) __VA_ARGS__
/// MPI_<blocking> and MPI_<nonblocking>; `note` may use `call`, the parameters and `nonblocking`.
#define ZBS_COLLECTIVE(blocking_name, nonblocking_name, parameters, arguments, note)                                   \
    int ZBS_OWN(blocking_name)(ZBS_UNPACK parameters) {                                                                \
        const Call call;                                                                                               \
        [[maybe_unused]] constexpr bool nonblocking = false;                                                           \
        return recorded([&] { note; }, [&] { return ZBS_NEXT_MPI(blocking_name)(ZBS_UNPACK arguments); });             \
    }                                                                                                                  \
    int ZBS_OWN(nonblocking_name)(ZBS_UNPACK parameters, MPI_Request * request) {                                      \
        const Call call;                                                                                               \
        [[maybe_unused]] constexpr bool nonblocking = true;                                                            \
        return recorded([&] { note; }, [&] { return ZBS_NEXT_MPI(nonblocking_name)(ZBS_UNPACK arguments, request); }); \
    }

ZBS_COLLECTIVE(Barrier, Ibarrier, (MPI_Comm comm), (comm), record_barrier(call, comm))
ZBS_COLLECTIVE(Bcast, Ibcast, (void* buf, int count, MPI_Datatype type, int root, MPI_Comm comm),
               (buf, count, type, root, comm), record_bcast(call, count, type, root, comm, nonblocking))
ZBS_COLLECTIVE(Reduce, Ireduce,
               (const void* sbuf, void* rbuf, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
               (sbuf, rbuf, count, type, op, root, comm), record_reduce(call, count, type, op, root, comm))
ZBS_COLLECTIVE(Allreduce, Iallreduce,
               (const void* sbuf, void* rbuf, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
               (sbuf, rbuf, count, type, op, comm), record_allreduce(call, count, type, op, comm, nonblocking))
ZBS_COLLECTIVE(Gather, Igather,
               (const void* sbuf, int scount, MPI_Datatype stype, void* rbuf, int rcount, MPI_Datatype rtype, int root,
                MPI_Comm comm),
               (sbuf, scount, stype, rbuf, rcount, rtype, root, comm), record_gather(call, scount, stype, root, comm))
ZBS_COLLECTIVE(Gatherv, Igatherv,
               (const void* sbuf, int scount, MPI_Datatype stype, void* rbuf, const int rcounts[], const int at[],
                MPI_Datatype rtype, int root, MPI_Comm comm),
               (sbuf, scount, stype, rbuf, rcounts, at, rtype, root, comm),
               record_gatherv(call, scount, stype, root, comm))
ZBS_COLLECTIVE(Scatter, Iscatter,
               (const void* sbuf, int scount, MPI_Datatype stype, void* rbuf, int rcount, MPI_Datatype rtype, int root,
                MPI_Comm comm),
               (sbuf, scount, stype, rbuf, rcount, rtype, root, comm),
               record_scatter(call, scount, stype, rcount, rtype, root, comm))
ZBS_COLLECTIVE(Scatterv, Iscatterv,
               (const void* sbuf, const int scounts[], const int at[], MPI_Datatype stype, void* rbuf, int rcount,
                MPI_Datatype rtype, int root, MPI_Comm comm),
               (sbuf, scounts, at, stype, rbuf, rcount, rtype, root, comm),
               record_scatterv(call, scounts, stype, root, comm))
ZBS_COLLECTIVE(Allgather, Iallgather,
               (const void* sbuf, int scount, MPI_Datatype stype, void* rbuf, int rcount, MPI_Datatype rtype,
                MPI_Comm comm),
               (sbuf, scount, stype, rbuf, rcount, rtype, comm), record_allgather(call, rcount, rtype, comm))
ZBS_COLLECTIVE(Allgatherv, Iallgatherv,
               (const void* sbuf, int scount, MPI_Datatype stype, void* rbuf, const int rcounts[], const int at[],
                MPI_Datatype rtype, MPI_Comm comm),
               (sbuf, scount, stype, rbuf, rcounts, at, rtype, comm), record_allgatherv(call, rcounts, rtype, comm))
ZBS_COLLECTIVE(Alltoall, Ialltoall,
               (const void* sbuf, int scount, MPI_Datatype stype, void* rbuf, int rcount, MPI_Datatype rtype,
                MPI_Comm comm),
               (sbuf, scount, stype, rbuf, rcount, rtype, comm),
               record_alltoall(call, sbuf, scount, stype, rcount, rtype, comm, nonblocking))
ZBS_COLLECTIVE(Alltoallv, Ialltoallv,
               (const void* sbuf, const int scounts[], const int sat[], MPI_Datatype stype, void* rbuf,
                const int rcounts[], const int rat[], MPI_Datatype rtype, MPI_Comm comm),
               (sbuf, scounts, sat, stype, rbuf, rcounts, rat, rtype, comm),
               record_alltoallv(call, sbuf, scounts, stype, rcounts, rtype, comm))
ZBS_COLLECTIVE(Alltoallw, Ialltoallw,
               (const void* sbuf, const int scounts[], const int sat[], const MPI_Datatype stypes[], void* rbuf,
                const int rcounts[], const int rat[], const MPI_Datatype rtypes[], MPI_Comm comm),
               (sbuf, scounts, sat, stypes, rbuf, rcounts, rat, rtypes, comm),
               record_alltoallw(call, sbuf, scounts, stypes, rcounts, rtypes, comm))
ZBS_COLLECTIVE(Reduce_scatter, Ireduce_scatter,
               (const void* sbuf, void* rbuf, const int rcounts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm),
               (sbuf, rbuf, rcounts, type, op, comm), record_reduce_scatter(call, rcounts, type, comm))
ZBS_COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block,
               (const void* sbuf, void* rbuf, int rcount, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
               (sbuf, rbuf, rcount, type, op, comm), record_reduce_scatter_block(call, rcount, type, comm))
ZBS_COLLECTIVE(Scan, Iscan, (const void* sbuf, void* rbuf, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
               (sbuf, rbuf, count, type, op, comm), record_scan(call, count, type, comm))
ZBS_COLLECTIVE(Exscan, Iexscan, (const void* sbuf, void* rbuf, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
               (sbuf, rbuf, count, type, op, comm), record_scan(call, count, type, comm))
ZBS_COLLECTIVE(Neighbor_allgather, Ineighbor_allgather,
               (const void* sbuf, int scount, MPI_Datatype stype, void* rbuf, int rcount, MPI_Datatype rtype,
                MPI_Comm comm),
               (sbuf, scount, stype, rbuf, rcount, rtype, comm),
               record_neighbours(call, comm, [&](std::size_t) { return size_of(stype, scount); }))
ZBS_COLLECTIVE(Neighbor_allgatherv, Ineighbor_allgatherv,
               (const void* sbuf, int scount, MPI_Datatype stype, void* rbuf, const int rcounts[], const int at[],
                MPI_Datatype rtype, MPI_Comm comm),
               (sbuf, scount, stype, rbuf, rcounts, at, rtype, comm),
               record_neighbours(call, comm, [&](std::size_t) { return size_of(stype, scount); }))
ZBS_COLLECTIVE(Neighbor_alltoall, Ineighbor_alltoall,
               (const void* sbuf, int scount, MPI_Datatype stype, void* rbuf, int rcount, MPI_Datatype rtype,
                MPI_Comm comm),
               (sbuf, scount, stype, rbuf, rcount, rtype, comm),
               record_neighbours(call, comm, [&](std::size_t) { return size_of(stype, scount); }))
ZBS_COLLECTIVE(Neighbor_alltoallv, Ineighbor_alltoallv,
               (const void* sbuf, const int scounts[], const int sat[], MPI_Datatype stype, void* rbuf,
                const int rcounts[], const int rat[], MPI_Datatype rtype, MPI_Comm comm),
               (sbuf, scounts, sat, stype, rbuf, rcounts, rat, rtype, comm),
               record_neighbours(call, comm, [&](std::size_t i) { return size_of(stype, scounts[i]); }))
ZBS_COLLECTIVE(Neighbor_alltoallw, Ineighbor_alltoallw,
               (const void* sbuf, const int scounts[], const MPI_Aint sat[], const MPI_Datatype stypes[], void* rbuf,
                const int rcounts[], const MPI_Aint rat[], const MPI_Datatype rtypes[], MPI_Comm comm),
               (sbuf, scounts, sat, stypes, rbuf, rcounts, rat, rtypes, comm),
               record_neighbours(call, comm, [&](std::size_t i) { return size_of(stypes[i], scounts[i]); }))
