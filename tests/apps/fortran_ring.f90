! A ring of 100 integers, an Allreduce of 4 doubles and an in-place Allreduce, through the Fortran bindings.
program fortran_ring
  use mpi
  implicit none
  integer :: ierr, rank, size, right, left, token(100)
  double precision :: mine(4), total(4)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  right = mod(rank + 1, size)
  left = mod(rank + size - 1, size)
  token = rank
  if (rank == 0) call MPI_Send(token, 100, MPI_INTEGER, right, 5, MPI_COMM_WORLD, ierr)
  call MPI_Recv(token, 100, MPI_INTEGER, left, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  if (rank /= 0) call MPI_Send(token, 100, MPI_INTEGER, right, 5, MPI_COMM_WORLD, ierr)
  mine = 1
  call MPI_Allreduce(mine, total, 4, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (nint(total(4)) /= size) call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  call MPI_Allreduce(MPI_IN_PLACE, mine, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (nint(mine(1)) /= size) call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  call MPI_Finalize(ierr)
end program
