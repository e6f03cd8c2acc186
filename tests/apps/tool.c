/* Another tool that is preloaded: its MPI_Init prints a line and calls PMPI, as those of most tools do. Its MPI_Barrier
 * prints a line and calls the next function of that name, which a handle of the MPI library has to lead to as well. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

int MPI_Init(int* argc, char*** argv) {
    const int rc = PMPI_Init(argc, argv);
    fputs("tool: MPI_Init\n", stderr);
    return rc;
}
int MPI_Barrier(MPI_Comm comm) {
    Dl_info mpi;
    int (*next)(MPI_Comm) = dlsym(RTLD_NEXT, "MPI_Barrier");
    fputs("tool: MPI_Barrier\n", stderr);
    if (!dladdr((void*)&PMPI_Barrier, &mpi) ||
        dlsym(dlopen(mpi.dli_fname, RTLD_LAZY | RTLD_NOLOAD), "MPI_Barrier") != (void*)next)
        fputs("tool: two functions\n", stderr);
    return next(comm);
}
