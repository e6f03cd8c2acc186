// The program of README.md: rank r exchanges data with rank r + size/2. Argument: rounds.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kNumbers = 100000 };

int main(int argc, char** argv) {
    static double data[kNumbers];
    int rank, size, rounds = argc > 1 ? atoi(argv[1]) : 10;
    double own, sum = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int partner = (rank + size / 2) % size; /* for an even number of ranks */
    for (int round = 0; round < rounds; ++round) {
        MPI_Sendrecv_replace(data, kNumbers, MPI_DOUBLE, partner, 0, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        data[0] += rank;
    }
    own = data[0];
    MPI_Reduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%d ranks, %d rounds: %g\n", size, rounds, sum);
    MPI_Finalize();
    return 0;
}
