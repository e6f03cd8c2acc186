/* Passes a token round all ranks and reports how the rank was started. Options, in any order; others are echoed:
 *   --exit-code N     every rank returns N           --abort RANK   that rank calls MPI_Abort(7) after the ring
 *   --sleep SECONDS   every rank sleeps after it     --kill RANK    that rank ends itself by SIGKILL after the ring
 *   --leave RANK      that rank calls exit(3) without MPI_Finalize
 *   --bytes N         size of the token (default 8)  --rounds N     how often it goes round (default 1) */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char* option(int argc, char** argv, const char* name, const char* otherwise) {
    for (int i = 1; i + 1 < argc; ++i) {
        if (strcmp(argv[i], name) == 0) return argv[i + 1];
    }
    return otherwise;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int bytes = atoi(option(argc, argv, "--bytes", "8")), rounds = atoi(option(argc, argv, "--rounds", "1"));
    char* token = calloc((size_t)(bytes > 0 ? bytes : 1), 1);
    const int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int i = 0; size > 1 && i < rounds; ++i) {
        if (rank == 0) MPI_Send(token, bytes, MPI_BYTE, right, 0, MPI_COMM_WORLD);
        MPI_Recv(token, bytes, MPI_BYTE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank != 0) MPI_Send(token, bytes, MPI_BYTE, right, 0, MPI_COMM_WORLD);
    }
    free(token);

    char cwd[4096], host[256] = "", line[16384];
    if (!getcwd(cwd, sizeof cwd)) cwd[0] = '\0';
    gethostname(host, sizeof host - 1);
    const char* variable = getenv("ZBS_TEST_VAR");
    /* One write a rank, so that lines of different ranks do not mix. */
    int n = snprintf(line, sizeof line, "rank %d of %d host=%s cwd=%s ZBS_TEST_VAR=%s args=", rank, size, host, cwd,
                     variable ? variable : "");
    for (int i = 1; i < argc && n < (int)sizeof line - 2; ++i) {
        n += snprintf(line + n, sizeof line - (size_t)n, "%s[%s]", i > 1 ? " " : "", argv[i]);
    }
    if (n > (int)sizeof line - 2) n = (int)sizeof line - 2;
    line[n++] = '\n';
    fwrite(line, 1, (size_t)n, stdout);
    fflush(stdout);

    const double pause = atof(option(argc, argv, "--sleep", "0"));
    if (pause > 0) {
        struct timespec left_to_sleep = {(time_t)pause, (long)((pause - (double)(time_t)pause) * 1e9)};
        while (nanosleep(&left_to_sleep, &left_to_sleep) != 0) {
        }
    }
    if (atoi(option(argc, argv, "--kill", "-1")) == rank) raise(SIGKILL);
    if (atoi(option(argc, argv, "--leave", "-1")) == rank) exit(3);
    if (atoi(option(argc, argv, "--abort", "-1")) == rank) MPI_Abort(MPI_COMM_WORLD, 7);
    MPI_Finalize();
    return atoi(option(argc, argv, "--exit-code", "0"));
}
