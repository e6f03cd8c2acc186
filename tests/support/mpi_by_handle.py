"""An MPI program that finds its functions by a handle: mpi_by_handle.py LIBRARY, LIBRARY being linked with MPICH.

Each rank sends 5 to every rank, and prints "rank R got N", N = ranks that it received it from.
"""
import ctypes
import sys

WORLD, INT = 0x44000000, 0x4C000405  # of MPICH's mpi.h

mpi = ctypes.CDLL(sys.argv[1])
rank, size = ctypes.c_int(), ctypes.c_int()
mpi.MPI_Init(None, None)
mpi.MPI_Comm_rank(WORLD, ctypes.byref(rank))
mpi.MPI_Comm_size(WORLD, ctypes.byref(size))
sent, received = (ctypes.c_int * size.value)(*[5] * size.value), (ctypes.c_int * size.value)()
mpi.MPI_Alltoall(sent, 1, INT, received, 1, INT, WORLD)
print(f"rank {rank.value} got {list(received).count(5)}", flush=True)
mpi.MPI_Finalize()
