/* A kernel that communicates like the TRANSPORT code [Prabhakar2003, section 5.4]: rank 0 is the master, the other
 * ranks form teams. Per external cycle there is one operation between the master and the team leaders, then
 * NO_OF_INTERNAL_CYCLES operations inside each team, each after TIME_TO_COMPUTE turns of an empty loop.
 *
 * usage: transport_kernel PARAMETER_FILE [interleaved|contiguous]
 * interleaved (default): rank 1 is in team 0, rank 2 in team 1, ... round robin; contiguous: team 0 is ranks 1..P.
 * Needs 1 + NO_OF_TEAMS * NO_OF_PROCS_PER_TEAM ranks. Exit code 2 and a message on a wrong file or number of ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct parameters {
    long teams, procs_per_team, bytes_intra, bytes_inter, external_cycles, internal_cycles, compute;
    char op_intra[32], op_inter[32];
};

struct field {
    const char* name;
    long* number; /* one of the two */
    char* word;
    long smallest;
};

/* NAME=value words, any white space between them; each name exactly once. */
static int read_parameters(const char* path, struct parameters* p) {
    const struct field fields[] = {
        {"NO_OF_TEAMS", &p->teams, NULL, 1},
        {"NO_OF_PROCS_PER_TEAM", &p->procs_per_team, NULL, 1},
        {"BYTES_INTRA_TEAM", &p->bytes_intra, NULL, 0},
        {"BYTES_INTER_TEAM", &p->bytes_inter, NULL, 0},
        {"OP_INTRA_TEAM", NULL, p->op_intra, 0},
        {"OP_INTER_TEAM", NULL, p->op_inter, 0},
        {"NO_OF_EXTERNAL_CYCLES", &p->external_cycles, NULL, 0},
        {"NO_OF_INTERNAL_CYCLES", &p->internal_cycles, NULL, 0},
        {"TIME_TO_COMPUTE", &p->compute, NULL, 0},
    };
    enum { kFields = sizeof fields / sizeof fields[0] };
    int seen[kFields] = {0};
    FILE* file = fopen(path, "r");
    if (!file) return fprintf(stderr, "transport_kernel: cannot open %s\n", path), 0;
    char word[128];
    while (fscanf(file, "%127s", word) == 1) {
        char* value = strchr(word, '=');
        int i = 0;
        if (value) *value++ = '\0';
        while (i < kFields && strcmp(word, fields[i].name) != 0) ++i;
        if (!value || i == kFields || seen[i]++) {
            fprintf(stderr, "transport_kernel: %s: %s is no parameter, has no value or is given twice\n", path, word);
            return fclose(file), 0;
        }
        if (fields[i].word) {
            snprintf(fields[i].word, 32, "%s", value);
            continue;
        }
        char* end = NULL;
        *fields[i].number = strtol(value, &end, 10);
        if (end == value || *end || *fields[i].number < fields[i].smallest || *fields[i].number > 1000000000L) {
            fprintf(stderr, "transport_kernel: %s: %s=%s is out of range\n", path, word, value);
            return fclose(file), 0;
        }
    }
    fclose(file);
    for (int i = 0; i < kFields; ++i) {
        if (!seen[i]) return fprintf(stderr, "transport_kernel: %s: %s is missing\n", path, fields[i].name), 0;
    }
    return 1;
}

static void compute(long turns) {
    for (volatile long i = 0; i < turns; ++i) {
    }
}

/* One operation of `bytes` per rank on `comm`, rooted at 0; returns a number that depends on the data received. */
static unsigned long operate(const char* op, long bytes, MPI_Comm comm, unsigned char* out, unsigned char* in) {
    int size, rank;
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    const int n = (int)bytes;
    unsigned long sum = 0;
    if (strcmp(op, "MPI_Allgather") == 0) {
        memset(out, rank + 1, (size_t)n);
        MPI_Allgather(out, n, MPI_BYTE, in, n, MPI_BYTE, comm);
        for (int r = 0; n > 0 && r < size; ++r) sum += in[(size_t)r * (size_t)n];
    } else if (strcmp(op, "MPI_Bcast") == 0) {
        if (rank == 0) memset(in, 7, (size_t)n);
        MPI_Bcast(in, n, MPI_BYTE, 0, comm);
        if (n > 0) sum = in[n - 1];
    } else if (strcmp(op, "MPI_Alltoall") == 0) {
        memset(out, rank + 1, (size_t)n * (size_t)size);
        MPI_Alltoall(out, n, MPI_BYTE, in, n, MPI_BYTE, comm);
        for (int r = 0; n > 0 && r < size; ++r) sum += in[(size_t)r * (size_t)n];
    } else if (strcmp(op, "MPI_Allreduce") == 0) {
        memset(out, 1, (size_t)n);
        MPI_Allreduce(out, in, n, MPI_UNSIGNED_CHAR, MPI_SUM, comm);
        if (n > 0) sum = in[0];
    } else {
        MPI_Barrier(comm);
        sum = 1;
    }
    return sum;
}

static int known(const char* op) {
    const char* ops[] = {"MPI_Allgather", "MPI_Bcast", "MPI_Alltoall", "MPI_Allreduce", "MPI_Barrier"};
    for (int i = 0; i < 5; ++i) {
        if (strcmp(op, ops[i]) == 0) return 1;
    }
    return fprintf(stderr, "transport_kernel: unknown operation %s\n", op), 0;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    struct parameters p;
    memset(&p, 0, sizeof p);
    int good = 1;
    const int contiguous = argc > 2 && strcmp(argv[2], "contiguous") == 0;
    if (rank == 0) {
        good = argc > 1 && (argc == 2 || contiguous || strcmp(argv[2], "interleaved") == 0);
        if (!good) fprintf(stderr, "usage: transport_kernel PARAMETER_FILE [interleaved|contiguous]\n");
        good = good && read_parameters(argv[1], &p) && known(p.op_intra) && known(p.op_inter);
        if (good && (long)size != 1 + p.teams * p.procs_per_team) {
            fprintf(stderr, "transport_kernel: %ld teams of %ld need %ld ranks, not %d\n", p.teams, p.procs_per_team,
                    1 + p.teams * p.procs_per_team, size);
            good = 0;
        }
    }
    MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (!good) {
        MPI_Finalize();
        return 2;
    }
    MPI_Bcast(&p, (int)sizeof p, MPI_BYTE, 0, MPI_COMM_WORLD);

    int team = MPI_UNDEFINED, leader = rank == 0;
    if (rank > 0) {
        team = (int)(contiguous ? (rank - 1) / p.procs_per_team : (rank - 1) % p.teams);
        leader = contiguous ? (rank - 1) % p.procs_per_team == 0 : rank <= p.teams;
    }
    MPI_Comm team_comm, leader_comm;
    MPI_Comm_split(MPI_COMM_WORLD, team, rank, &team_comm);
    MPI_Comm_split(MPI_COMM_WORLD, leader ? 0 : MPI_UNDEFINED, rank, &leader_comm);
    if (rank == 0) {
        printf(
            "transport_kernel: %ld teams of %ld, %s; intra %s %ld bytes, inter %s %ld bytes; %ld external x %ld "
            "internal cycles, "
            "compute %ld\n",
            p.teams, p.procs_per_team, contiguous ? "contiguous" : "interleaved", p.op_intra, p.bytes_intra, p.op_inter,
            p.bytes_inter, p.external_cycles, p.internal_cycles, p.compute);
        fflush(stdout);
    }

    const long largest = p.bytes_intra > p.bytes_inter ? p.bytes_intra : p.bytes_inter;
    unsigned char* out = malloc((size_t)largest * (size_t)size + 1);
    unsigned char* in = malloc((size_t)largest * (size_t)size + 1);
    if (!out || !in) MPI_Abort(MPI_COMM_WORLD, 2);
    unsigned long mine = 0, total = 0;
    const double begin = MPI_Wtime();
    for (long e = 0; e < p.external_cycles; ++e) {
        if (leader_comm != MPI_COMM_NULL) mine += operate(p.op_inter, p.bytes_inter, leader_comm, out, in);
        for (long i = 0; team_comm != MPI_COMM_NULL && i < p.internal_cycles; ++i) {
            compute(p.compute);
            mine += operate(p.op_intra, p.bytes_intra, team_comm, out, in);
        }
    }
    MPI_Reduce(&mine, &total, 1, MPI_UNSIGNED_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    /* After the reduction: the master's own part is short where it need not wait for the teams. */
    const double seconds = MPI_Wtime() - begin;
    if (rank == 0) printf("transport_kernel: checksum %lu seconds %.3f\n", total, seconds);
    free(out);
    free(in);
    if (team_comm != MPI_COMM_NULL) MPI_Comm_free(&team_comm);
    if (leader_comm != MPI_COMM_NULL) MPI_Comm_free(&leader_comm);
    MPI_Finalize();
    return 0;
}
