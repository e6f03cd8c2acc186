/* Every way to send one message, each with a size of its own, from rank 0 to rank 1 (one-sided: origin 0, target 1);
 * two ranks or more. Prints nothing. Sizes in bytes: Send 1, Bsend 2, Ssend 4, Rsend 8, Isend 16, Ibsend 32, Issend 64,
 * Irsend 128, Send_init started twice 256, Startall 512, Sendrecv 1024 (both ways), Sendrecv_replace 2048 (both ways),
 * Put 4096, Get 8192, Accumulate 16384, intercommunicator 32768. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    int level;
    MPI_Init_thread(&argc, &argv, argc > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char* a = calloc(1, 65536);
    char* b = calloc(1, 65536);
    char* attached = malloc(65536);
    MPI_Buffer_attach(attached, 65536);
    MPI_Request requests[8];
    const MPI_Comm world = MPI_COMM_WORLD;
    if (rank == 1) {
        for (int i = 0; i < 8; ++i) MPI_Irecv(b, 128, MPI_BYTE, 0, i, world, &requests[i]);
    }
    int go = 0; /* the ready sends need their receives posted */
    if (rank == 1) MPI_Send(&go, 0, MPI_INT, 0, 99, world);
    if (rank == 0) {
        MPI_Recv(&go, 0, MPI_INT, 1, 99, world, MPI_STATUS_IGNORE);
        MPI_Send(a, 1, MPI_BYTE, 1, 0, world);
        MPI_Bsend(a, 2, MPI_BYTE, 1, 1, world);
        MPI_Ssend(a, 4, MPI_BYTE, 1, 2, world);
        MPI_Rsend(a, 8, MPI_BYTE, 1, 3, world);
        MPI_Isend(a, 16, MPI_BYTE, 1, 4, world, &requests[0]);
        MPI_Ibsend(a, 32, MPI_BYTE, 1, 5, world, &requests[1]);
        MPI_Issend(a, 64, MPI_BYTE, 1, 6, world, &requests[2]);
        MPI_Irsend(a, 128, MPI_BYTE, 1, 7, world, &requests[3]);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        MPI_Send(a, 1000, MPI_BYTE, MPI_PROC_NULL, 0, world); /* goes nowhere */
        MPI_Send_init(a, 64, MPI_INT, 1, 8, world, &requests[0]);
        MPI_Start(&requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        MPI_Start(&requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        MPI_Request_free(&requests[0]);
        MPI_Send_init(a, 512, MPI_BYTE, 1, 8, world, &requests[0]);
        MPI_Startall(1, requests);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        MPI_Request_free(&requests[0]);
    } else if (rank == 1) {
        MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
        MPI_Recv_init(b, 512, MPI_BYTE, 0, 8, world, &requests[0]);
        for (int i = 0; i < 3; ++i) {
            MPI_Start(&requests[0]);
            for (int done = 0; !done;) MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE);
        }
        MPI_Request_free(&requests[0]);
    }
    if (rank < 2) {
        MPI_Sendrecv(a, 1024, MPI_BYTE, 1 - rank, 9, b, 1024, MPI_BYTE, 1 - rank, 9, world, MPI_STATUS_IGNORE);
        MPI_Sendrecv_replace(a, 2048, MPI_BYTE, 1 - rank, 10, 1 - rank, 10, world, MPI_STATUS_IGNORE);
    }
    MPI_Win win;
    MPI_Win_create(b, 65536, 1, MPI_INFO_NULL, world, &win);
    MPI_Win_fence(0, win);
    if (rank == 0) {
        MPI_Put(a, 4096, MPI_BYTE, 1, 0, 4096, MPI_BYTE, win);
        MPI_Get(a + 8192, 8192, MPI_BYTE, 1, 8192, 8192, MPI_BYTE, win);
        MPI_Accumulate(a, 16384, MPI_BYTE, 1, 16384, 16384, MPI_BYTE, MPI_BOR, win);
    }
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    /* Ranks below and from 1 on, joined: remote rank 0 of the lower side is world rank 1. */
    MPI_Comm side, both;
    MPI_Comm_split(world, rank >= 1, rank, &side);
    MPI_Intercomm_create(side, 0, world, rank >= 1 ? 0 : 1, 11, &both);
    if (rank == 0) MPI_Send(a, 32768, MPI_BYTE, 0, 12, both);
    if (rank == 1) MPI_Recv(b, 32768, MPI_BYTE, 0, 12, both, MPI_STATUS_IGNORE);
    MPI_Comm_free(&both);
    MPI_Comm_free(&side);
    void* detached;
    int detached_size;
    MPI_Buffer_detach(&detached, &detached_size);
    free(attached);
    free(a);
    free(b);
    MPI_Finalize();
    return 0;
}
