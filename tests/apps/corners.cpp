// Rare but correct uses of MPI: corners KIND, on two ranks. Rank 0 ends each by one message of 8 bytes to rank 1.
//   throw      an exception leaves an error handler; main catches it
//   jump       a longjmp leaves an error handler; the message goes from a deeper function
//   huge       one element of a derived type of 2.5 GiB, cut off at once by a receive of 0 bytes
//   refused    sends and collectives that MPI refuses, and one MPI_Sendrecv of 8 bytes whose receive is too short
//   callbacks  messages in the copy and delete callbacks of attributes: 1 byte in MPI_Comm_dup, 2 in MPI_Comm_free, 4
//   in
//              MPI_Win_free, 16 in MPI_Finalize
#include <mpi.h>

#include <csetjmp>
#include <cstring>
#include <vector>

namespace {

jmp_buf back;
double data[2];

void throw_on_error(MPI_Comm*, int* code, ...) { throw *code; }
void jump_on_error(MPI_Comm*, int*, ...) { longjmp(back, 1); }

int fail(MPI_Comm_errhandler_function* on_error) {
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(on_error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    return MPI_Send(data, 1, MPI_DOUBLE, 99, 0, MPI_COMM_WORLD);
}

void make_refused_calls(int rank) {
    const MPI_Comm comm = MPI_COMM_WORLD;
    const int to = 1 - rank;
    MPI_Request request;
    MPI_Win window;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Send(data, 1, MPI_DOUBLE, to, -5, comm);
    MPI_Send(nullptr, 1, MPI_DOUBLE, to, 0, comm);
    MPI_Send_c(data, -1, MPI_DOUBLE, to, 0, comm);
    MPI_Isend(data, -1, MPI_DOUBLE, to, 0, comm, &request);
    MPI_Sendrecv(data, 1, MPI_DOUBLE, to, -5, data + 1, 1, MPI_DOUBLE, to, 0, comm, MPI_STATUS_IGNORE);
    MPI_Bcast(data, -1, MPI_DOUBLE, 0, comm);
    MPI_Allreduce(data, data, 1, MPI_DOUBLE, MPI_SUM, comm);
    MPI_Ibarrier(MPI_COMM_NULL, &request);
    MPI_Win_create(data, sizeof data, 1, MPI_INFO_NULL, comm, &window);
    MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    MPI_Put(data, -1, MPI_DOUBLE, to, 0, 1, MPI_DOUBLE, window);
    MPI_Win_free(&window);
    MPI_Sendrecv(data, 1, MPI_DOUBLE, to, 0, data + 1, rank, MPI_DOUBLE, to, 0, comm, MPI_STATUS_IGNORE);
}

void exchange(MPI_Comm comm, int size) {
    int rank = 0;
    char bytes[16] = {};
    MPI_Comm_rank(comm, &rank);
    if (rank == 0) MPI_Send(bytes, size, MPI_BYTE, 1, 0, comm);
    if (rank == 1) MPI_Recv(bytes, size, MPI_BYTE, 0, 0, comm, MPI_STATUS_IGNORE);
}
int on_copy(MPI_Comm comm, int, void*, void* value, void* copy, int* is_copied) {
    exchange(comm, 1);
    *static_cast<void**>(copy) = value;
    *is_copied = 1;
    return MPI_SUCCESS;
}
int on_delete(MPI_Comm comm, int, void* value, void*) {
    exchange(comm == MPI_COMM_SELF ? MPI_COMM_WORLD : comm, *static_cast<int*>(value));
    return MPI_SUCCESS;
}
int on_window_delete(MPI_Win, int, void*, void*) {
    exchange(MPI_COMM_WORLD, 4);
    return MPI_SUCCESS;
}
void set_callbacks() {
    static int in_free = 2, in_finalize = 16;
    int key = 0, window_key = 0, rank = 0;
    MPI_Comm first, copy, reversed;
    MPI_Win window;
    MPI_Comm_create_keyval(on_copy, on_delete, &key, nullptr);
    MPI_Comm_dup(MPI_COMM_WORLD, &first);
    MPI_Comm_set_attr(first, key, &in_free);
    MPI_Comm_dup(first, &copy);
    MPI_Comm_free(&copy);
    MPI_Win_create(data, sizeof data, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_window_delete, &window_key, nullptr);
    MPI_Win_set_attr(window, window_key, nullptr);
    MPI_Win_free(&window);
    // Most likely with the handle of the communicator that was freed.
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank > 0, -rank, &reversed);
    if (rank > 0) exchange(reversed, 8);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &in_finalize);
}

__attribute__((noinline)) void send_message(int rank) {
    volatile double deeper[512];
    deeper[0] = 1;
    data[0] = deeper[0];
    if (rank == 0) MPI_Send(data, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(data, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

}  // namespace

int main(int argc, char** argv) {
    const char* const kind = argc > 1 ? argv[1] : "jump";
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (std::strcmp(kind, "throw") == 0) {
        try {
            fail(throw_on_error);
            return 1;
        } catch (int) {
        }
    }
    if (std::strcmp(kind, "jump") == 0) {
        if (setjmp(back) == 0) {
            fail(jump_on_error);
            return 1;
        }
    }
    if (std::strcmp(kind, "refused") == 0) make_refused_calls(rank);
    if (std::strcmp(kind, "callbacks") == 0) set_callbacks();
    if (std::strcmp(kind, "huge") == 0) {
        constexpr int kBlock = 16 << 20;
        std::vector<char> block(kBlock);
        MPI_Datatype huge;
        MPI_Type_create_hvector(160, kBlock, 0, MPI_CHAR, &huge);
        MPI_Type_commit(&huge);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        if (rank == 0) MPI_Send(block.data(), 1, huge, 1, 0, MPI_COMM_WORLD);
        if (rank == 1) MPI_Recv(block.data(), 0, huge, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    send_message(rank);
    MPI_Finalize();
    return 0;
}
