/* One of two components that alternate: coupled first|second OWN OTHER STEPS MS
 * In each step all ranks wait for the other component's result, of the step before (first) or of the same (second), compute MS
 * milliseconds each, and rank 0 leaves its own. Results are files OWN.1, OTHER.1 and so on, in one folder that all ranks see. Ranks that
 * wait are blocked in the kernel. Rank 0 prints the seconds from the first to the last step. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>

static double cpu_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void compute(double seconds) {
    const double end = cpu_seconds() + seconds;
    volatile double x = 1;
    while (cpu_seconds() < end)
        for (int i = 0; i < 10000; ++i) x = x * 1.0000001 + 1e-9;
}

static int watched = -1; /* wakes when a result appears */

static void watch(const char* other) {
    char folder[4096];
    snprintf(folder, sizeof folder, "%s", other);
    *strrchr(folder, '/') = 0;
    watched = inotify_init();
    if (inotify_add_watch(watched, folder, IN_CREATE) < 0) {
        perror(folder);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void await(const char* other, int step) {
    char path[4096], events[4096];
    snprintf(path, sizeof path, "%s.%d", other, step);
    while (access(path, F_OK) != 0 && read(watched, events, sizeof events) > 0)
        ;
}

static void leave(const char* own, int step) {
    char path[4096];
    snprintf(path, sizeof path, "%s.%d", own, step);
    FILE* file = fopen(path, "w");
    if (file == NULL || fclose(file) != 0) {
        perror(path);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

int main(int argc, char** argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int steps = argc == 6 ? atoi(argv[4]) : 0, ms = argc == 6 ? atoi(argv[5]) : 0;
    if (steps <= 0 || ms <= 0 || strchr(argv[3], '/') == NULL) {
        if (rank == 0) fprintf(stderr, "usage: coupled first|second OWN OTHER STEPS MS\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    watch(argv[3]);
    const int is_first = strcmp(argv[1], "first") == 0;
    const double start = MPI_Wtime();
    for (int step = 1; step <= steps; ++step) {
        if (!is_first || step > 1) await(argv[3], is_first ? step - 1 : step);
        compute(1e-3 * ms);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) leave(argv[2], step);
    }
    if (rank == 0) printf("%.3f s\n", MPI_Wtime() - start);
    MPI_Finalize();
    return 0;
}
