! The ring of 100 integers, received by a nonblocking receive, and a barrier through the Fortran 2008 bindings.
program fortran08_ring
  use mpi_f08
  implicit none
  integer :: rank, size, token(100)
  integer, asynchronous :: received(100)
  type(MPI_Request) :: request
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  token = rank
  if (rank == 0) call MPI_Send(token, 100, MPI_INTEGER, mod(rank + 1, size), 5, MPI_COMM_WORLD)
  call MPI_Irecv(received, 100, MPI_INTEGER, mod(rank + size - 1, size), 5, MPI_COMM_WORLD, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  if (rank /= 0) call MPI_Send(token, 100, MPI_INTEGER, mod(rank + 1, size), 5, MPI_COMM_WORLD)
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_Finalize()
end program
