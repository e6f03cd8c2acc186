/* Ways to end: ends MODE. Each rank prints "rank R got N", N = bytes that it received and that were right, before its
 * last step; between ranks that are not on one host, each way may find MPI_Finalize waiting for a peer that is gone.
 *   at-once      MPI_Init, MPI_Finalize
 *   all          one MPI_Alltoall
 *   pending      sends that complete at the sender long before they are received, one of them buffered
 *   unreceived   sends that nobody receives, more than a connection holds
 *   disconnect   a duplicate of the world that is disconnected
 *   sub          halves of the world, each on its own
 *   callback     messages in the deletion of an attribute of MPI_COMM_SELF, which MPI_Finalize does first
 *   session      a session, and no MPI_Init
 *   last-session the same beside MPI_COMM_WORLD; its end is after MPI_Finalize
 *   abort        rank 1 calls MPI_Abort(7) while the others are in MPI_Finalize
 *   stay         MPI_Finalize, then no end
 *   code         MPI_Finalize, then the last rank returns 3 at once and the others print a line 2 s later
 *   save         MPI_Finalize once SIGTERM has come
 *   stop-abort   rank 1 calls MPI_Abort(7) once SIGTERM has come, the others wait for it */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { kSmall = 4096, kLarge = 300000, kMessages = 40 };

static int rank, size, right, left, got;
static char out[kLarge], in[kLarge];

static volatile sig_atomic_t is_stopped;
static void note_stop(int number) { is_stopped = number; }

static void pause_ms(long ms) {
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}
static void check(int bytes, int from) {
    for (int i = 0; i < bytes; ++i) {
        if (in[i] != (char)(from + i)) return;
    }
    got += bytes;
}
static void all(MPI_Comm comm) {
    int ranks, *sent, *received;
    MPI_Comm_size(comm, &ranks);
    sent = calloc((size_t)ranks, sizeof *sent);
    received = calloc((size_t)ranks, sizeof *received);
    for (int i = 0; i < ranks; ++i) sent[i] = 5;
    MPI_Alltoall(sent, 1, MPI_INT, received, 1, MPI_INT, comm);
    for (int i = 0; i < ranks; ++i) got += received[i] == 5;
    free(sent);
    free(received);
}
static int exchange(MPI_Comm comm, int key, void* value, void* extra) {
    (void)comm, (void)key, (void)value, (void)extra;
    MPI_Request request;
    MPI_Isend(out, kSmall, MPI_CHAR, right, 2, MPI_COMM_WORLD, &request);
    MPI_Recv(in, kSmall, MPI_CHAR, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(kSmall, left);
    printf("rank %d got %d\n", rank, got);
    fflush(stdout);
    return MPI_SUCCESS;
}

static MPI_Session session(void) {
    MPI_Session made;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &made);
    MPI_Group_from_session_pset(made, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "ends", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Comm_rank(comm, &rank);
    all(comm);
    printf("rank %d got %d\n", rank, got);
    fflush(stdout);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    return made;
}

int main(int argc, char** argv) {
    const char* mode = argc > 1 ? argv[1] : "all";
    static char buffer[kLarge + MPI_BSEND_OVERHEAD];
    if (strcmp(mode, "session") == 0) {
        MPI_Session only = session();
        return MPI_Session_finalize(&only);
    }
    MPI_Init(&argc, &argv);
    if (strcmp(mode, "last-session") == 0) {
        MPI_Session last = session();
        MPI_Finalize();
        return MPI_Session_finalize(&last);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int i = 0; i < kLarge; ++i) out[i] = (char)(rank + i);
    if (strcmp(mode, "all") == 0) all(MPI_COMM_WORLD);
    if (strcmp(mode, "pending") == 0) {
        MPI_Request request;
        MPI_Buffer_attach(buffer, sizeof buffer);
        for (int i = 0; i < kMessages; ++i) {
            MPI_Isend(out, kSmall, MPI_CHAR, right, 0, MPI_COMM_WORLD, &request);
            MPI_Request_free(&request);
        }
        MPI_Bsend(out, kLarge, MPI_CHAR, right, 1, MPI_COMM_WORLD);
        if (rank % 2) pause_ms(100);
        for (int i = 0; i < kMessages; ++i) {
            MPI_Recv(in, kSmall, MPI_CHAR, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            check(kSmall, left);
        }
        MPI_Recv(in, kLarge, MPI_CHAR, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(kLarge, left);
    }
    if (strcmp(mode, "unreceived") == 0) {
        MPI_Request request;
        for (int i = 0; i < 100 * kMessages; ++i) {
            MPI_Isend(out, kSmall, MPI_CHAR, right, 0, MPI_COMM_WORLD, &request);
            MPI_Request_free(&request);
        }
    }
    if (strcmp(mode, "disconnect") == 0) {
        MPI_Comm copy;
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        all(copy);
        MPI_Comm_disconnect(&copy);
    }
    if (strcmp(mode, "sub") == 0) {
        MPI_Comm half;
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
        all(half);
        if (rank % 2) MPI_Comm_free(&half);
    }
    if (strcmp(mode, "callback") == 0) {
        int key;
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, exchange, &key, NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    } else {
        printf("rank %d got %d\n", rank, got);
        fflush(stdout);
    }
    if (strcmp(mode, "abort") == 0 && rank == 1) {
        pause_ms(200);
        MPI_Abort(MPI_COMM_WORLD, 7);
    }
    if (strcmp(mode, "save") == 0) {
        signal(SIGTERM, note_stop);
        while (!is_stopped) pause_ms(20);
    }
    if (strcmp(mode, "stop-abort") == 0) {
        signal(SIGTERM, note_stop);
        while (!is_stopped) pause_ms(20);
        if (rank == 1) MPI_Abort(argc > 2 ? MPI_COMM_SELF : MPI_COMM_WORLD, 7);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    while (strcmp(mode, "stay") == 0) pause_ms(1000);
    if (strcmp(mode, "code") == 0) {
        if (rank == size - 1) return 3;
        pause_ms(2000);
        printf("rank %d has written\n", rank);
    }
    return 0;
}
