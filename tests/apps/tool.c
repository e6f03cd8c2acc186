/* Another tool that is preloaded: its MPI_Init prints a line and calls PMPI, as those of most tools do, and so do its
 * MPI_Send, MPI_Allreduce_c and MPI_Finalize without a line. Its MPI_Barrier prints a line and calls the function of
 * that name that a handle of the MPI library leads to, which has to be the next one. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

int MPI_Init(int* argc, char*** argv) {
    const int rc = PMPI_Init(argc, argv);
    fputs("tool: MPI_Init\n", stderr);
    return rc;
}
int MPI_Send(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    return PMPI_Send(buffer, count, type, to, tag, comm);
}
int MPI_Allreduce_c(const void* sent, void* sum, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    return PMPI_Allreduce_c(sent, sum, count, type, op, comm);
}
int MPI_Finalize(void) { return PMPI_Finalize(); }
int MPI_Barrier(MPI_Comm comm) {
    Dl_info mpi = {0};
    fputs("tool: MPI_Barrier\n", stderr);
    dladdr((void*)&PMPI_Get_library_version, &mpi);
    int (*next)(MPI_Comm) = dlsym(dlopen(mpi.dli_fname, RTLD_LAZY | RTLD_NOLOAD), "MPI_Barrier");
    if (dlsym(RTLD_NEXT, "MPI_Barrier") != (void*)next) fputs("tool: two functions\n", stderr);
    return next(comm);
}
