/* Programs that share processors with others: turns compute|device|barriers COUNT
 *   compute   COUNT times 10 ms of computing, no message before the end
 *   device    COUNT times 5 ms of computing and 45 ms of waiting, as for a slow device; no message before the end
 *   barriers  COUNT times 0.2 ms of computing and a barrier of all ranks
 * Rank 0 prints the seconds from the first to the last step. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double per_ms; /* steps of `work` */

static double work(double steps) {
    volatile double x = 1;
    for (double i = 0; i < steps; i += 1) x = x * 1.0000001 + 1e-9;
    return x;
}

static double cpu_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char** argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int count = argc == 3 ? atoi(argv[2]) : 0;
    if (count <= 0) {
        if (rank == 0) fprintf(stderr, "usage: turns compute|device|barriers COUNT\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const double begun = cpu_seconds(), steps = 2e6;
    work(steps);
    per_ms = steps / (1e3 * (cpu_seconds() - begun));
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int i = 0; i < count; ++i) {
        if (strcmp(argv[1], "compute") == 0) {
            work(10 * per_ms);
        } else if (strcmp(argv[1], "device") == 0) {
            const struct timespec wait = {0, 45000000};
            work(5 * per_ms);
            nanosleep(&wait, NULL);
        } else {
            work(0.2 * per_ms);
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
    const double mine = MPI_Wtime() - start;
    double longest = 0;
    MPI_Reduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%s: %.3f s\n", argv[1], longest);
    MPI_Finalize();
    return 0;
}
