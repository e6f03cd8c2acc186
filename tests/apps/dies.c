/* dies HOW RANK CODE: when each rank has written a line to its error output, that rank ends by HOW: exit, leave
 * (_exit), signal, abort, abort-self (of MPI_COMM_SELF) or error (MPI aborts it, because it sends to nobody). The others
 * wait for it. HOW "uninitialized" is an exit before MPI_Init. With HOW "clear" all end well, after they have cleared their
 * environments. */
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
    int rank, code = argc > 3 ? atoi(argv[3]) : 1;
    const char* launched_as = getenv("PMI_RANK");
    if (argc > 2 && strcmp(argv[1], "uninitialized") == 0 && launched_as && strcmp(launched_as, argv[2]) == 0) {
        fprintf(stderr, "rank %s found no input\n", argv[2]);
        exit(code);
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "rank %d was here\n", rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (argc > 1 && strcmp(argv[1], "clear") == 0) clearenv();
    if (argc > 2 && rank == atoi(argv[2])) {
        fprintf(stderr, "rank %d found a negative density\n", rank);
        if (strcmp(argv[1], "exit") == 0) exit(code);
        if (strcmp(argv[1], "leave") == 0) _exit(code);
        if (strcmp(argv[1], "signal") == 0) raise(code);
        if (strcmp(argv[1], "abort") == 0) MPI_Abort(MPI_COMM_WORLD, code);
        if (strcmp(argv[1], "abort-self") == 0) MPI_Abort(MPI_COMM_SELF, code);
        if (strcmp(argv[1], "error") == 0) MPI_Send(NULL, 1, MPI_INT, 1 << 20, 0, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
