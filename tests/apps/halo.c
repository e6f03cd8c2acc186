/* Halos: halo KIND. A ring of all ranks, 800 bytes to each side, but for `open`, a chain of 50 bytes.
 *   neighbour, ineighbour, graph, dist_graph   neighbourhood collectives
 *   persistent    an Allreduce_init that is started three times
 *   partitioned   Psend_init to the right
 *   large         MPI_Allreduce_c
 *   inter         a barrier on an intercommunicator
 *   file          MPI_File_write_at_all
 *   shared        a window of shared memory
 *   access        the accesses that bring something back
 *   open          MPI_Irecv from both sides, MPI_PROC_NULL at the ends; a second argument with the letters s
 *                 (sub-communicator in reverse), i (statuses ignored), p (persistent receives), b (MPI_Sendrecv),
 *                 m (MPI_Mprobe and MPI_Mrecv), x (MPI_Isendrecv), r (MPI_Isendrecv_replace), a (from any source) */
#include <mpi.h>
#include <string.h>

static double out[200], in[200];
static char here[100], low[100], high[100];

static void open_chain(MPI_Comm comm, int rank, int size, const char* how) {
    const int left = rank > 0 ? rank - 1 : MPI_PROC_NULL, right = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    MPI_Request r[4];
    MPI_Status own[4];
    MPI_Status* const each = strchr(how, 'i') ? MPI_STATUS_IGNORE : own;
    if (strchr(how, 'b')) {
        MPI_Sendrecv(here, 50, MPI_CHAR, right, 0, low, 100, MPI_CHAR, left, 0, comm, each);
        MPI_Sendrecv(here, 50, MPI_CHAR, left, 0, high, 100, MPI_CHAR, right, 0, comm, each);
    } else if (strchr(how, 'm')) {
        MPI_Message message;
        MPI_Isend(here, 50, MPI_CHAR, left, 0, comm, &r[0]);
        MPI_Isend(here, 50, MPI_CHAR, right, 0, comm, &r[1]);
        MPI_Mprobe(left, 0, comm, &message, each);
        MPI_Mrecv(low, 100, MPI_CHAR, &message, each);
        MPI_Mprobe(right, 0, comm, &message, each);
        MPI_Mrecv(high, 100, MPI_CHAR, &message, each);
        MPI_Wait(&r[0], each);
        MPI_Wait(&r[1], each);
    } else if (strchr(how, 'x') || strchr(how, 'r')) {
        /* Each rank first to the right, then to the left, so that a receive from any source has one sender. */
        const int from_left = strchr(how, 'a') && left >= 0 ? MPI_ANY_SOURCE : left;
        if (strchr(how, 'x')) {
            MPI_Isendrecv(here, 50, MPI_CHAR, right, 7, low, 100, MPI_CHAR, from_left, 7, comm, &r[0]);
            MPI_Isendrecv(here, 50, MPI_CHAR, left, 8, high, 100, MPI_CHAR, right, 8, comm, &r[1]);
        } else {
            MPI_Isendrecv_replace(low, 50, MPI_CHAR, right, 7, from_left, 7, comm, &r[0]);
            MPI_Isendrecv_replace(high, 50, MPI_CHAR, left, 8, right, 8, comm, &r[1]);
        }
        MPI_Wait(&r[0], each);
        MPI_Wait(&r[1], each);
    } else if (strchr(how, 'p')) {
        MPI_Recv_init(low, 100, MPI_CHAR, left, 0, comm, &r[0]);
        MPI_Recv_init(high, 100, MPI_CHAR, right, 0, comm, &r[1]);
        MPI_Wait(&r[0], each); /* not started: no message */
        MPI_Startall(2, r);
        MPI_Send(here, 50, MPI_CHAR, left, 0, comm);
        MPI_Send(here, 50, MPI_CHAR, right, 0, comm);
        for (int i = 0; i < 2; ++i) {
            MPI_Wait(&r[i], each);
            MPI_Request_free(&r[i]);
        }
    } else {
        MPI_Irecv(low, 100, MPI_CHAR, left, 0, comm, &r[0]);
        MPI_Irecv(high, 100, MPI_CHAR, right, 0, comm, &r[1]);
        MPI_Isend(here, 50, MPI_CHAR, left, 0, comm, &r[2]);
        MPI_Isend(here, 50, MPI_CHAR, right, 0, comm, &r[3]);
        for (int i = 0; i < 4; ++i) MPI_Wait(&r[i], each);
    }
}

int main(int argc, char** argv) {
    const char* kind = argc > 1 ? argv[1] : "neighbour";
    MPI_Init(&argc, &argv);
    MPI_Comm comm = MPI_COMM_WORLD, ring;
    int size, rank, left, right, circle = 1;
    MPI_Request request;
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    MPI_Cart_create(comm, 1, &size, &circle, 0, &ring);
    MPI_Cart_shift(ring, 0, 1, &left, &right);
    if (strcmp(kind, "neighbour") == 0) MPI_Neighbor_alltoall(out, 100, MPI_DOUBLE, in, 100, MPI_DOUBLE, ring);
    if (strcmp(kind, "ineighbour") == 0) {
        MPI_Ineighbor_alltoall(out, 100, MPI_DOUBLE, in, 100, MPI_DOUBLE, ring, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (strcmp(kind, "graph") == 0 || strcmp(kind, "dist_graph") == 0) {
        int ends[64], edges[128], sides[2] = {left, right}, counts[2] = {100, 100}, at[2] = {0, 100};
        for (int i = 0; i < size; ++i) {
            ends[i] = 2 * i + 2;
            edges[2 * i] = (i + size - 1) % size;
            edges[2 * i + 1] = (i + 1) % size;
        }
        MPI_Comm graph;
        if (*kind == 'g')
            MPI_Graph_create(comm, size, ends, edges, 0, &graph);
        else
            MPI_Dist_graph_create_adjacent(comm, 2, sides, MPI_UNWEIGHTED, 2, sides, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                           &graph);
        MPI_Neighbor_alltoallv(out, counts, at, MPI_DOUBLE, in, counts, at, MPI_DOUBLE, graph);
    }
    if (strcmp(kind, "persistent") == 0) {
        MPI_Allreduce_init(out, in, 100, MPI_DOUBLE, MPI_SUM, ring, MPI_INFO_NULL, &request);
        for (int i = 0; i < 3; ++i) {
            MPI_Start(&request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        MPI_Request_free(&request);
    }
    if (strcmp(kind, "partitioned") == 0) {
        MPI_Request r[2];
        MPI_Psend_init(out, 4, 25, MPI_DOUBLE, right, 0, ring, MPI_INFO_NULL, &r[0]);
        MPI_Precv_init(in, 4, 25, MPI_DOUBLE, left, 0, ring, MPI_INFO_NULL, &r[1]);
        MPI_Startall(2, r);
        for (int i = 0; i < 4; ++i) MPI_Pready(i, r[0]);
        for (int i = 0; i < 2; ++i) {
            MPI_Wait(&r[i], MPI_STATUS_IGNORE);
            MPI_Request_free(&r[i]);
        }
    }
    if (strcmp(kind, "large") == 0) MPI_Allreduce_c(out, in, 100, MPI_DOUBLE, MPI_SUM, ring);
    if (strcmp(kind, "inter") == 0) {
        MPI_Comm half, inter;
        MPI_Comm_split(comm, rank % 2, rank, &half);
        MPI_Intercomm_create(half, 0, comm, 1 - rank % 2, 0, &inter);
        MPI_Barrier(inter);
    }
    if (strcmp(kind, "file") == 0) {
        MPI_File file;
        MPI_File_open(comm, "halo.bin", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
        MPI_File_write_at_all(file, rank * (MPI_Offset)sizeof out, out, 100, MPI_DOUBLE, MPI_STATUS_IGNORE);
        MPI_File_close(&file);
    }
    if (strcmp(kind, "shared") == 0) {
        MPI_Win window;
        double* memory;
        MPI_Win_allocate_shared(sizeof in, sizeof *in, MPI_INFO_NULL, comm, &memory, &window);
        MPI_Win_free(&window);
    }
    if (strcmp(kind, "access") == 0) {
        MPI_Win window;
        double* memory;
        MPI_Win_allocate(sizeof in, sizeof *in, MPI_INFO_NULL, comm, &memory, &window);
        memset(memory, 0, sizeof in);
        MPI_Win_fence(0, window);
        if (rank == 0) {
            MPI_Get_accumulate(out, 10, MPI_DOUBLE, in, 10, MPI_DOUBLE, 1, 0, 10, MPI_DOUBLE, MPI_SUM, window);
            MPI_Fetch_and_op(out, in, MPI_DOUBLE, 1, 0, MPI_NO_OP, window);
        }
        MPI_Win_fence(0, window);
        MPI_Win_free(&window);
    }
    if (strcmp(kind, "open") == 0) {
        const char* how = argc > 2 ? argv[2] : "";
        if (strchr(how, 's')) {
            MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
            MPI_Comm_rank(comm, &rank);
        }
        open_chain(comm, rank, size, how);
        MPI_Barrier(comm);
    }
    MPI_Finalize();
    return 0;
}
