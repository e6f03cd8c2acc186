/* Another tool that is preloaded: its MPI_Init and MPI_Barrier print a line and call PMPI, as those of most tools do.
 */
#include <mpi.h>
#include <stdio.h>

int MPI_Init(int* argc, char*** argv) {
    const int rc = PMPI_Init(argc, argv);
    fputs("tool: MPI_Init\n", stderr);
    return rc;
}
int MPI_Barrier(MPI_Comm comm) {
    fputs("tool: MPI_Barrier\n", stderr);
    return PMPI_Barrier(comm);
}
