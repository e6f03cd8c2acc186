/* How long does a job take to start? Rank 0 says when it has left MPI_Init: one line, "started SECONDS" since the
 * epoch. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        printf("started %lld.%06ld\n", (long long)now.tv_sec, now.tv_nsec / 1000);
        fflush(stdout);
    }
    MPI_Finalize();
    return 0;
}
