/* Every collective that the profiler records, once, on MPI_COMM_WORLD and then on the communicator of the odd or even
 * ranks. Arguments: COLLECTIVE COUNT [ROOT]; data are ints. With COLLECTIVE = all, every one in turn.
 * Results are checked where a wrong one would show that the profiler disturbed the program; exit code 1 then. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMaxRanks = 64 };
static int wrong = 0;

static void expect(int got, int wanted, const char* what) {
    if (got == wanted) return;
    fprintf(stderr, "collectives: %s gave %d instead of %d\n", what, got, wanted);
    wrong = 1;
}

static void run(const char* name, int count, int root, MPI_Comm comm) {
    int size, rank;
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    root %= size;
    const size_t all = (size_t)size * (size_t)(count + size) + 1;
    int* out = calloc(all, sizeof *out);
    int* in = calloc(all, sizeof *in);
    int counts[kMaxRanks], at[kMaxRanks], byte_at[kMaxRanks];
    MPI_Datatype types[kMaxRanks];
    int place = 0;
    for (int r = 0; r < size; ++r) { /* the v forms: rank r has count + r elements */
        counts[r] = count + r;
        at[r] = place;
        byte_at[r] = place * (int)sizeof(int);
        types[r] = MPI_INT;
        place += counts[r];
    }
    for (size_t i = 0; i < all; ++i) out[i] = rank + 1;
    const int sum = size * (size + 1) / 2, each = strcmp(name, "all") == 0;
    MPI_Request request;
#define IF(word) if (each || strcmp(name, word) == 0)
    IF("barrier") MPI_Barrier(comm);
    IF("bcast") {
        in[0] = rank == root ? 42 : 0;
        MPI_Bcast(in, count, MPI_INT, root, comm);
        if (count > 0) expect(in[0], 42, "bcast");
    }
    IF("reduce") {
        MPI_Reduce(out, in, count, MPI_INT, MPI_SUM, root, comm);
        if (rank == root && count > 0) expect(in[count - 1], sum, "reduce");
    }
    IF("allreduce") {
        MPI_Allreduce(out, in, count, MPI_INT, MPI_SUM, comm);
        if (count > 0) expect(in[count - 1], sum, "allreduce");
    }
    IF("gather") MPI_Gather(out, count, MPI_INT, in, count, MPI_INT, root, comm);
    IF("gatherv") MPI_Gatherv(out, counts[rank], MPI_INT, in, counts, at, MPI_INT, root, comm);
    IF("scatter") MPI_Scatter(out, count, MPI_INT, in, count, MPI_INT, root, comm);
    IF("scatterv") MPI_Scatterv(out, counts, at, MPI_INT, in, counts[rank], MPI_INT, root, comm);
    IF("allgather") {
        MPI_Allgather(out, count, MPI_INT, in, count, MPI_INT, comm);
        if (count > 0) expect(in[(size - 1) * count], size, "allgather");
    }
    IF("allgatherv") MPI_Allgatherv(out, counts[rank], MPI_INT, in, counts, at, MPI_INT, comm);
    IF("alltoall") {
        MPI_Alltoall(out, count, MPI_INT, in, count, MPI_INT, comm);
        if (count > 0) expect(in[(size - 1) * count], size, "alltoall");
    }
    /* Rank r sends count + d elements to rank d, so that rank d gets count + d from each. */
    int same[kMaxRanks], same_at[kMaxRanks], same_byte_at[kMaxRanks];
    for (int r = 0; r < size; ++r) {
        same[r] = count + rank;
        same_at[r] = r * same[r];
        same_byte_at[r] = same_at[r] * (int)sizeof(int);
    }
    IF("alltoallv") MPI_Alltoallv(out, counts, at, MPI_INT, in, same, same_at, MPI_INT, comm);
    IF("alltoallw") MPI_Alltoallw(out, counts, byte_at, types, in, same, same_byte_at, types, comm);
    IF("reduce_scatter") {
        MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, comm);
        if (counts[rank] > 0) expect(in[0], sum, "reduce_scatter");
    }
    IF("reduce_scatter_block") {
        MPI_Reduce_scatter_block(out, in, count, MPI_INT, MPI_SUM, comm);
        if (count > 0) expect(in[0], sum, "reduce_scatter_block");
    }
    IF("scan") {
        MPI_Scan(out, in, count, MPI_INT, MPI_SUM, comm);
        if (count > 0) expect(in[0], (rank + 1) * (rank + 2) / 2, "scan");
    }
    IF("exscan") MPI_Exscan(out, in, count, MPI_INT, MPI_SUM, comm);
    IF("ibarrier") {
        MPI_Ibarrier(comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    IF("iallreduce") {
        MPI_Iallreduce(out, in, count, MPI_INT, MPI_SUM, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (count > 0) expect(in[0], sum, "iallreduce");
    }
    IF("ibcast") {
        MPI_Ibcast(in, count, MPI_INT, root, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    free(out);
    free(in);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char* name = argc > 1 ? argv[1] : "all";
    const int count = argc > 2 ? atoi(argv[2]) : 10, root = argc > 3 ? atoi(argv[3]) : 0;
    if (argc <= 4) run(name, count, root, MPI_COMM_WORLD); /* a fourth argument: only the split communicator */
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half); /* ranks in reverse order */
    if (argc > 4 || strcmp(name, "all") == 0) run(name, count, root, half);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return wrong;
}
