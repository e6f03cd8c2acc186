/* What one MPI call costs, in nanoseconds: zero-byte messages of a rank to itself (Isend, Irecv, Waitall: three calls a
 * turn), and Iprobe, which finds nothing. One rank. usage: profiler_cost [TURNS]. The line is read by zbs_bench.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const long turns = argc > 1 ? atol(argv[1]) : 1000000;
    double best_message = 1e9, best_probe = 1e9;
    for (int repeat = 0; repeat < 5; ++repeat) { /* the least disturbed of five */
        double begin = MPI_Wtime();
        for (long i = 0; i < turns / 5; ++i) {
            MPI_Request requests[2];
            MPI_Irecv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_SELF, &requests[0]);
            MPI_Isend(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_SELF, &requests[1]);
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        }
        double ns = (MPI_Wtime() - begin) * 1e9 / (double)(turns / 5) / 3;
        if (ns < best_message) best_message = ns;
        begin = MPI_Wtime();
        for (long i = 0; i < turns / 5; ++i) {
            int flag;
            MPI_Iprobe(0, 1, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
        }
        ns = (MPI_Wtime() - begin) * 1e9 / (double)(turns / 5);
        if (ns < best_probe) best_probe = ns;
    }
    printf("message_call_ns %.1f iprobe_call_ns %.1f\n", best_message, best_probe);
    MPI_Finalize();
    return 0;
}
