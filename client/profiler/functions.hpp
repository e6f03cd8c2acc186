#pragma once
// mpi.h declares the ABI of MPICH. Nothing that it declares is defined here under its own name: see real_mpi.hpp.
#include <mpi.h>

// clang-format off
/// Functions of C with a recording twin, `zbs_own_NAME`, and one of the same function by its name PMPI_*. X(NAME)
#define ZBS_C_FUNCTIONS(X)                                                                                            \
    X(MPI_Init) X(MPI_Init_thread) X(MPI_Finalize) X(MPI_Abort) X(MPI_Session_init) X(MPI_Session_finalize)           \
    X(MPI_Comm_free)                                                                                                  \
    X(MPI_Comm_disconnect) X(MPI_Comm_dup) X(MPI_Comm_dup_with_info) X(MPI_Comm_create) X(MPI_Comm_create_group)      \
    X(MPI_Comm_split) X(MPI_Comm_split_type) X(MPI_Cart_create) X(MPI_Cart_sub) X(MPI_Intercomm_create)               \
    X(MPI_Intercomm_merge) X(MPI_Comm_spawn) X(MPI_File_open) X(MPI_File_close) X(MPI_Win_create) X(MPI_Win_allocate) \
    X(MPI_Win_allocate_shared) X(MPI_Win_create_dynamic) X(MPI_Win_free) X(MPI_Send) X(MPI_Bsend) X(MPI_Ssend)        \
    X(MPI_Rsend) X(MPI_Isend) X(MPI_Ibsend) X(MPI_Issend) X(MPI_Irsend) X(MPI_Send_c) X(MPI_Bsend_c) X(MPI_Ssend_c)   \
    X(MPI_Rsend_c) X(MPI_Isend_c) X(MPI_Ibsend_c) X(MPI_Issend_c) X(MPI_Irsend_c) X(MPI_Send_init) X(MPI_Bsend_init)  \
    X(MPI_Ssend_init) X(MPI_Rsend_init) X(MPI_Start) X(MPI_Startall) X(MPI_Request_free) X(MPI_Recv) X(MPI_Irecv)     \
    X(MPI_Recv_init) X(MPI_Sendrecv) X(MPI_Sendrecv_replace) X(MPI_Isendrecv) X(MPI_Isendrecv_replace) X(MPI_Mprobe)  \
    X(MPI_Improbe) X(MPI_Mrecv) X(MPI_Imrecv) X(MPI_Probe) X(MPI_Iprobe) X(MPI_Wait) X(MPI_Waitall) X(MPI_Waitany)    \
    X(MPI_Waitsome) X(MPI_Test) X(MPI_Testall) X(MPI_Testany) X(MPI_Testsome) X(MPI_Win_fence) X(MPI_Win_lock)        \
    X(MPI_Win_unlock) X(MPI_Win_lock_all) X(MPI_Win_unlock_all) X(MPI_Win_flush) X(MPI_Win_flush_all)                 \
    X(MPI_Win_start) X(MPI_Win_complete) X(MPI_Win_post) X(MPI_Win_wait) X(MPI_Put) X(MPI_Get) X(MPI_Accumulate)      \
    X(MPI_Rput) X(MPI_Rget) X(MPI_Get_accumulate) X(MPI_Raccumulate) X(MPI_Rget_accumulate) X(MPI_Fetch_and_op)       \
    X(MPI_Compare_and_swap) X(MPI_Barrier) X(MPI_Bcast) X(MPI_Reduce) X(MPI_Allreduce) X(MPI_Gather) X(MPI_Gatherv)   \
    X(MPI_Scatter) X(MPI_Scatterv) X(MPI_Allgather) X(MPI_Allgatherv) X(MPI_Alltoall) X(MPI_Alltoallv)                \
    X(MPI_Alltoallw) X(MPI_Reduce_scatter) X(MPI_Reduce_scatter_block) X(MPI_Scan) X(MPI_Exscan) X(MPI_Ibarrier)      \
    X(MPI_Ibcast) X(MPI_Ireduce) X(MPI_Iallreduce) X(MPI_Igather) X(MPI_Igatherv) X(MPI_Iscatter) X(MPI_Iscatterv)    \
    X(MPI_Iallgather) X(MPI_Iallgatherv) X(MPI_Ialltoall) X(MPI_Ialltoallv) X(MPI_Ialltoallw) X(MPI_Ireduce_scatter)  \
    X(MPI_Ireduce_scatter_block) X(MPI_Iscan) X(MPI_Iexscan) X(MPI_Neighbor_allgather) X(MPI_Neighbor_allgatherv)     \
    X(MPI_Neighbor_alltoall) X(MPI_Neighbor_alltoallv) X(MPI_Neighbor_alltoallw) X(MPI_Ineighbor_allgather)           \
    X(MPI_Ineighbor_allgatherv) X(MPI_Ineighbor_alltoall) X(MPI_Ineighbor_alltoallv) X(MPI_Ineighbor_alltoallw)

/// Functions of Fortran that go on to the library of the program, unless its ranks would be alone: see end_if_alone.
#define ZBS_INIT_FUNCTIONS(X) X(mpi_init_) X(mpi_init_thread_) X(mpi_init_f08_) X(mpi_init_thread_f08_)

/// Functions that send and whose messages are not recorded: their calls are counted, by either name, and named beside
/// the model.
#define ZBS_UNSEEN_FUNCTIONS(X)                                                                                       \
    X(MPI_Barrier_init) X(MPI_Psend_init) X(MPI_Allgather_init) X(MPI_Allgather_init_c) X(MPI_Allgather_c)            \
    X(MPI_Iallgather_c) X(MPI_Allgatherv_init) X(MPI_Allgatherv_init_c) X(MPI_Allgatherv_c) X(MPI_Iallgatherv_c)      \
    X(MPI_Allreduce_init) X(MPI_Allreduce_init_c) X(MPI_Allreduce_c) X(MPI_Iallreduce_c) X(MPI_Alltoall_init)         \
    X(MPI_Alltoall_init_c) X(MPI_Alltoall_c) X(MPI_Ialltoall_c) X(MPI_Alltoallv_init) X(MPI_Alltoallv_init_c)         \
    X(MPI_Alltoallv_c) X(MPI_Ialltoallv_c) X(MPI_Alltoallw_init) X(MPI_Alltoallw_init_c) X(MPI_Alltoallw_c)           \
    X(MPI_Ialltoallw_c) X(MPI_Bcast_init) X(MPI_Bcast_init_c) X(MPI_Bcast_c) X(MPI_Ibcast_c) X(MPI_Exscan_init)       \
    X(MPI_Exscan_init_c) X(MPI_Exscan_c) X(MPI_Iexscan_c) X(MPI_Gather_init) X(MPI_Gather_init_c) X(MPI_Gather_c)     \
    X(MPI_Igather_c) X(MPI_Gatherv_init) X(MPI_Gatherv_init_c) X(MPI_Gatherv_c) X(MPI_Igatherv_c) X(MPI_Reduce_init)  \
    X(MPI_Reduce_init_c) X(MPI_Reduce_c) X(MPI_Ireduce_c) X(MPI_Reduce_scatter_init) X(MPI_Reduce_scatter_init_c)     \
    X(MPI_Reduce_scatter_c) X(MPI_Ireduce_scatter_c) X(MPI_Reduce_scatter_block_init)                                 \
    X(MPI_Reduce_scatter_block_init_c) X(MPI_Reduce_scatter_block_c) X(MPI_Ireduce_scatter_block_c) X(MPI_Scan_init)  \
    X(MPI_Scan_init_c) X(MPI_Scan_c) X(MPI_Iscan_c) X(MPI_Scatter_init) X(MPI_Scatter_init_c) X(MPI_Scatter_c)        \
    X(MPI_Iscatter_c) X(MPI_Scatterv_init) X(MPI_Scatterv_init_c) X(MPI_Scatterv_c) X(MPI_Iscatterv_c)                \
    X(MPI_Neighbor_allgather_init) X(MPI_Neighbor_allgather_init_c) X(MPI_Neighbor_allgather_c)                       \
    X(MPI_Ineighbor_allgather_c) X(MPI_Neighbor_allgatherv_init) X(MPI_Neighbor_allgatherv_init_c)                    \
    X(MPI_Neighbor_allgatherv_c) X(MPI_Ineighbor_allgatherv_c) X(MPI_Neighbor_alltoall_init)                          \
    X(MPI_Neighbor_alltoall_init_c) X(MPI_Neighbor_alltoall_c) X(MPI_Ineighbor_alltoall_c)                            \
    X(MPI_Neighbor_alltoallv_init) X(MPI_Neighbor_alltoallv_init_c) X(MPI_Neighbor_alltoallv_c)                       \
    X(MPI_Ineighbor_alltoallv_c) X(MPI_Neighbor_alltoallw_init) X(MPI_Neighbor_alltoallw_init_c)                      \
    X(MPI_Neighbor_alltoallw_c) X(MPI_Ineighbor_alltoallw_c) X(MPI_Send_init_c) X(MPI_Bsend_init_c)                   \
    X(MPI_Ssend_init_c) X(MPI_Rsend_init_c) X(MPI_Sendrecv_c) X(MPI_Sendrecv_replace_c) X(MPI_Isendrecv_c)            \
    X(MPI_Isendrecv_replace_c) X(MPI_Put_c) X(MPI_Get_c) X(MPI_Accumulate_c) X(MPI_Rput_c) X(MPI_Rget_c)              \
    X(MPI_Get_accumulate_c) X(MPI_Raccumulate_c) X(MPI_Rget_accumulate_c) X(MPI_File_iread) X(MPI_File_iread_all)     \
    X(MPI_File_iread_all_c) X(MPI_File_iread_at) X(MPI_File_iread_at_all) X(MPI_File_iread_at_all_c)                  \
    X(MPI_File_iread_at_c) X(MPI_File_iread_c) X(MPI_File_iread_shared) X(MPI_File_iread_shared_c) X(MPI_File_iwrite) \
    X(MPI_File_iwrite_all) X(MPI_File_iwrite_all_c) X(MPI_File_iwrite_at) X(MPI_File_iwrite_at_all)                   \
    X(MPI_File_iwrite_at_all_c) X(MPI_File_iwrite_at_c) X(MPI_File_iwrite_c) X(MPI_File_iwrite_shared)                \
    X(MPI_File_iwrite_shared_c) X(MPI_File_read) X(MPI_File_read_all) X(MPI_File_read_all_begin)                      \
    X(MPI_File_read_all_begin_c) X(MPI_File_read_all_c) X(MPI_File_read_at) X(MPI_File_read_at_all)                   \
    X(MPI_File_read_at_all_begin) X(MPI_File_read_at_all_begin_c) X(MPI_File_read_at_all_c) X(MPI_File_read_at_c)     \
    X(MPI_File_read_c) X(MPI_File_read_ordered) X(MPI_File_read_ordered_begin) X(MPI_File_read_ordered_begin_c)       \
    X(MPI_File_read_ordered_c) X(MPI_File_read_shared) X(MPI_File_read_shared_c) X(MPI_File_write)                    \
    X(MPI_File_write_all) X(MPI_File_write_all_begin) X(MPI_File_write_all_begin_c) X(MPI_File_write_all_c)           \
    X(MPI_File_write_at) X(MPI_File_write_at_all) X(MPI_File_write_at_all_begin) X(MPI_File_write_at_all_begin_c)     \
    X(MPI_File_write_at_all_c) X(MPI_File_write_at_c) X(MPI_File_write_c) X(MPI_File_write_ordered)                   \
    X(MPI_File_write_ordered_begin) X(MPI_File_write_ordered_begin_c) X(MPI_File_write_ordered_c)                     \
    X(MPI_File_write_shared) X(MPI_File_write_shared_c) X(MPI_Win_allocate_shared_c)

/// Functions that this library calls for itself, beside those of ZBS_C_FUNCTIONS by their name PMPI_*.
#define ZBS_PMPI_FUNCTIONS(X)                                                                                         \
    X(PMPI_Comm_create_from_group) X(PMPI_Group_from_session_pset) X(PMPI_Initialized) X(PMPI_Cart_shift)             \
    X(PMPI_Cartdim_get) X(PMPI_Comm_create_keyval) X(PMPI_Comm_free_keyval) X(PMPI_Comm_group) X(PMPI_Comm_rank)      \
    X(PMPI_Comm_remote_group) X(PMPI_Comm_remote_size) X(PMPI_Comm_set_attr) X(PMPI_Comm_size)                        \
    X(PMPI_Comm_test_inter) X(PMPI_Dist_graph_neighbors) X(PMPI_Dist_graph_neighbors_count) X(PMPI_Finalized)         \
    X(PMPI_Graph_neighbors) X(PMPI_Graph_neighbors_count) X(PMPI_Group_free) X(PMPI_Group_rank) X(PMPI_Group_size)    \
    X(PMPI_Group_translate_ranks) X(PMPI_Op_commutative) X(PMPI_Test_cancelled) X(PMPI_Topo_test) X(PMPI_Type_size_x) \
    X(PMPI_Win_get_group) X(PMPI_Error_class)
// clang-format on
