#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "client/profiler/model_file.hpp"
#include "client/profiler/real_mpi.hpp"
#include "client/profiler/recorder.hpp"
#include "client/profiler/trace_file.hpp"

namespace zbs::profiler {
namespace {

char finalized_path[4096 + 16] = "";  ///< of a rank of a zone
char out_path[4096];
char own_path[4096 + 32];
MPI_Comm private_comm = MPI_COMM_NULL;
bool over = false;
pid_t owner = 0;  ///< a child made by fork shares the counters but must not end the record

FILE* log_file = nullptr;
SpinLock log_lock;
unsigned long long log_line = 0;

bool is_finished_by_callback = false;  // of MPI_COMM_SELF in MPI_Finalize
bool started = false;

bool is_wanted() {
    const char* wanted = std::getenv("ZBS_PROFILE");
    return !wanted || std::strcmp(wanted, "0") != 0;
}

bool rank_path(char* to, std::size_t size, int rank) {
    const int n = std::snprintf(to, size, "%s.rank.%d", out_path, rank);
    return n > 0 && static_cast<std::size_t>(n) < size;
}

/// Absolute, so that a program that changes its directory still writes where it was started.
bool find_out_path() {
    const char* wanted = std::getenv("ZBS_PROFILE_OUT");
    if (!wanted || !*wanted) wanted = "zbs-model.json";
    char cwd[2048] = "";
    if (*wanted != '/' && !getcwd(cwd, sizeof cwd)) return false;
    const int n = std::snprintf(out_path, sizeof out_path, "%s%s%s", cwd, *wanted == '/' ? "" : "/", wanted);
    return n > 0 && static_cast<std::size_t>(n) < sizeof out_path;
}

void name_program(char* to, std::size_t size) {
    if (const char* name = std::getenv("ZBS_PROFILE_PROGRAM"); name && *name) {
        std::snprintf(to, size, "%s", name);
        return;
    }
    const ssize_t n = readlink("/proc/self/exe", to, size - 1);
    to[n > 0 ? n : 0] = '\0';
}

/// The rank file, mapped; memory without a file where none can be made, so that a clean end still gives a model.
void* map_counters(std::size_t bytes, bool& has_file) {
    has_file = false;
    // A file left by an earlier run is replaced, not reused: that run's zone may still be reading it.
    if (unlink(own_path) != 0 && errno != ENOENT) own_path[0] = '\0';
    const int file = own_path[0] ? open(own_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644) : -1;
    void* memory = MAP_FAILED;
    if (file >= 0) {
        // Blocks are reserved now: a full disk shows here, not as a bus error in the program.
        if (posix_fallocate(file, 0, static_cast<off_t>(bytes)) == 0) {
            memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        }
        close(file);
        if (memory == MAP_FAILED) unlink(own_path);
    }
    has_file = memory != MAP_FAILED;
    if (has_file) return memory;
    own_path[0] = '\0';
    return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

std::uint64_t new_run_id() {
    timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    const auto ns = static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(t.tv_nsec);
    return (ns * 0x9e3779b97f4a7c15ULL) ^ (static_cast<std::uint64_t>(getpid()) << 32);
}

void open_log(std::uint64_t run_id) {
    const char* prefix = std::getenv("ZBS_PROFILE_LOG");
    if (!prefix || !*prefix) return;
    char path[4096];
    std::snprintf(path, sizeof path, "%s.%d", prefix, recorder.world_rank);
    log_file = std::fopen(path, "we");
    if (!log_file) {
        std::fprintf(stderr, "zbs-profile: rank %d cannot write the log %s: %s\n", recorder.world_rank, path,
                     std::strerror(errno));
        return;
    }
    std::setvbuf(log_file, nullptr, _IOFBF, 1 << 20);
    std::fprintf(log_file, "zbs-log/1 run %016llx rank %d of %d\n", static_cast<unsigned long long>(run_id),
                 recorder.world_rank, recorder.world_size);
    recorder.logging = true;
}

/// The absolute prefix of a variable, its folder without links; empty if it is not set.
std::string prefix_of(const char* variable) {
    const char* prefix = std::getenv(variable);
    if (!prefix || !*prefix) return {};
    std::error_code fault;
    const std::filesystem::path path = std::filesystem::absolute(prefix, fault);
    const std::filesystem::path folder = std::filesystem::weakly_canonical(path.parent_path(), fault);
    return (fault ? path : folder / path.filename()).string();
}

/// Two outputs of this run with one name, of which each would ruin the other; empty where there are none. Logs and
/// traces are PREFIX.RANK, the rank files of a model MODEL.rank.RANK.
std::string name_clash() {
    const std::string log = prefix_of("ZBS_PROFILE_LOG"), trace = prefix_of("ZBS_PROFILE_TRACE");
    const std::string model = std::getenv("ZBS_PROFILE_OUT") ? prefix_of("ZBS_PROFILE_OUT") : std::string(out_path);
    bool is_same = !log.empty() && log == trace;
    // Rank 0, which reports it, checks the files of all ranks, another one its own.
    const int begin = recorder.world_rank, end = begin == 0 ? recorder.world_size : begin + 1;
    for (int rank = begin; rank < end && !log.empty() && !trace.empty(); ++rank) {
        std::error_code fault;
        const std::string suffix = "." + std::to_string(rank);
        is_same = is_same || std::filesystem::equivalent(log + suffix, trace + suffix, fault);
    }
    if (is_same) return "ZBS_PROFILE_LOG and ZBS_PROFILE_TRACE are both " + log;
    for (const auto& [variable, prefix] : {std::pair{"ZBS_PROFILE_LOG", log}, {"ZBS_PROFILE_TRACE", trace}}) {
        if (prefix.empty()) continue;
        const bool is_model = model.starts_with(prefix + ".") && model.size() > prefix.size() + 1 &&
                              model.find_first_not_of("0123456789", prefix.size() + 1) == std::string::npos;
        if (is_model || prefix == model + ".rank")
            return std::string(variable) + " " + prefix + " and the model " + model + " share names of files";
    }
    return {};
}

void close_log() {
    recorder.logging = false;
    if (log_file) std::fclose(log_file);
    log_file = nullptr;
}

long long microseconds_now() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<long long>(t.tv_sec) * 1'000'000 + t.tv_nsec / 1000;
}

Model empty_model() {
    Model model;
    model.program = recorder.header->program;
    model.compute.assign(static_cast<std::size_t>(recorder.world_size), 0.0);
    return model;
}

/// Calls whose messages are not recorded: those on intercommunicators, shared windows, then by function, in the order
/// that all ranks of a program share.
std::vector<std::uint64_t> count_unseen() {
    std::vector<std::uint64_t> counts = {recorder.intercommunicator_calls, recorder.shared_windows};
    for (const UnseenCalls& one : unseen_calls()) counts.push_back(one.calls);
    return counts;
}

void name_unseen(Model& model, const std::vector<std::uint64_t>& counts) {
    if (counts[0] > 0) model.unseen["collectives on intercommunicators"] = counts[0];
    if (counts[1] > 0) model.unseen["MPI_Win_allocate_shared"] = counts[1];
    const std::vector<UnseenCalls> names = unseen_calls();
    for (std::size_t i = 0; i < names.size(); ++i)
        if (counts[i + 2] > 0) model.unseen[names[i].name] += counts[i + 2];
}

/// Into log and trace of this rank, of which each may be read without the model.
void write_unseen() {
    Model own;
    name_unseen(own, count_unseen());
    for (const auto& [name, calls] : own.unseen) {
        if (log_file)
            std::fprintf(log_file, "zbs-log/1 unseen %llu %s\n", static_cast<unsigned long long>(calls), name.c_str());
        trace_unseen(name, calls);
    }
}

void warn_of_unseen(const Model& model) {
    std::string text;
    for (const auto& [name, calls] : model.unseen)
        text += (text.empty() ? "" : ", ") + name + " (" + std::to_string(calls) + (calls == 1 ? " call)" : " calls)");
    if (!text.empty())
        std::fprintf(stderr, "zbs-profile: the model lacks messages that were sent by %s\n", text.c_str());
}

void at_exit() {
    int finalized = 0;
    if (getpid() != owner) return;
    PMPI_Finalized(&finalized);
    if (!finalized) give_up(RankState::kExited);
}

void write_model() {
    if (!recorder.active.exchange(false) || over) return;
    over = true;
    write_unseen();
    close_log();
    // What was computed since the last operation: no part of the mean, but of the run.
    CpuClock& clock = clock_here();
    trace_compute(clock.pending + clock.now(recorder.many_threads) - clock.gap_begin);
    close_trace(true);
    // One row a rank: compute sum and count, then (peer, bytes, messages) where there is anything.
    std::vector<std::uint64_t> row = {recorder.header->compute_ns, recorder.header->compute_count};
    for (int peer = 0; peer < recorder.world_size; ++peer) {
        const ProfilePeer& to = recorder.peers[peer];
        if (to.messages == 0) continue;
        row.insert(row.end(), {static_cast<std::uint64_t>(peer), to.bytes, to.messages});
    }
    const std::vector<std::uint64_t> unseen = count_unseen();
    std::vector<std::uint64_t> all_unseen(unseen.size());
    PMPI_Reduce(unseen.data(), all_unseen.data(), static_cast<int>(unseen.size()), MPI_UINT64_T, MPI_SUM, 0,
                private_comm);
    if (recorder.world_rank == 0) {
        Model model = empty_model();
        name_unseen(model, all_unseen);
        model.add_row(0, row.data(), row.size());
        for (int rank = 1; rank < recorder.world_size; ++rank) {
            unsigned long long words = 0;
            PMPI_Recv(&words, 1, MPI_UNSIGNED_LONG_LONG, rank, 0, private_comm, MPI_STATUS_IGNORE);
            row.resize(words);
            PMPI_Recv(row.data(), static_cast<int>(words), MPI_UINT64_T, rank, 1, private_comm, MPI_STATUS_IGNORE);
            model.add_row(rank, row.data(), row.size());
        }
        if (model.write(out_path)) warn_of_unseen(model);
    } else {
        const unsigned long long words = row.size();
        PMPI_Send(&words, 1, MPI_UNSIGNED_LONG_LONG, 0, 0, private_comm);
        PMPI_Send(row.data(), static_cast<int>(words), MPI_UINT64_T, 0, 1, private_comm);
    }
    recorder.header->state = RankState::kFinalized;
    // Files go only when the model is there: until then they are the only record.
    PMPI_Barrier(private_comm);
    if (own_path[0]) unlink(own_path);
    PMPI_Comm_free(&private_comm);
}

int on_finalize(MPI_Comm, int, void*, void*) {
    write_model();
    return MPI_SUCCESS;
}

}  // namespace

void log_message(int to_world, std::uint64_t bytes) noexcept {
    log_lock.lock();
    if (log_file) {
        std::fprintf(log_file, "%llu -101 %d 0 %d 0 %lld S %d D %d SZ %llu\n", ++log_line, recorder.world_rank,
                     to_world, microseconds_now(), recorder.world_rank, to_world,
                     static_cast<unsigned long long>(bytes));
    }
    log_lock.unlock();
}

void log_compute(std::int64_t ns) noexcept {
    log_lock.lock();
    if (log_file) {
        std::fprintf(log_file, "%llu 1 %d 0 0 0 %lld PAPI %d %lld\n", ++log_line, recorder.world_rank,
                     microseconds_now(), recorder.world_rank, static_cast<long long>((ns + 500) / 1000));
    }
    log_lock.unlock();
}

namespace {

/// `first`: the first rank that records nothing, the first one whose profile is off, and the first one whose profile is
/// on; the count of ranks where there is none.
void report_not_profiled(const int (&first)[3], int file_fault) noexcept {
    const int none = recorder.world_size;
    const char* const trace = std::getenv("ZBS_PROFILE_TRACE");
    const bool wants_trace = trace && *trace;
    if (first[2] == none && !wants_trace) return;
    if (first[1] < none)
        std::fprintf(stderr, "zbs-profile: rank %d has ZBS_PROFILE=0: this run is not profiled%s\n", first[1],
                     wants_trace ? " and leaves no trace" : "");
    else if (first[0] == 0)
        std::fprintf(stderr, "zbs-profile: cannot write beside %s (%s): this run is not profiled\n", out_path,
                     file_fault ? std::strerror(file_fault) : "path too long");
    else if (first[0] < none)
        std::fprintf(stderr, "zbs-profile: rank %d cannot record: this run is not profiled\n", first[0]);
}

/// The magic word comes last: it makes the file one of a rank.
void write_header(ProfileHeader* header, std::uint64_t run_id) noexcept {
    header->version = ProfileHeader::kVersion;
    header->header_bytes = sizeof(ProfileHeader);
    header->run_id = run_id;
    header->world_size = static_cast<std::uint32_t>(recorder.world_size);
    header->rank = static_cast<std::uint32_t>(recorder.world_rank);
    name_program(header->program, sizeof header->program);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    std::memcpy(header->magic, ProfileHeader::kMagic, sizeof header->magic);
}

/// Until MPI_Finalize; without it the end of the process does the work.
void finish_with_mpi() noexcept {
    // MPI_Finalize first deletes the attributes of MPI_COMM_SELF, the oldest one last but for that of
    // safe_finalize.cpp.
    int key = MPI_KEYVAL_INVALID;
    if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &on_finalize, &key, nullptr) != MPI_SUCCESS) return;
    is_finished_by_callback = PMPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr) == MPI_SUCCESS;
    PMPI_Comm_free_keyval(&key);
}

}  // namespace

void start(int thread_level) noexcept {
    if (started) return;  // the Fortran bindings may call the C ones
    started = true;
    // All ranks decide together, so that none waits for one that records nothing: a rank says no by 0.
    int willing = is_wanted() ? 1 : 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &recorder.world_size);
    PMPI_Comm_rank(MPI_COMM_WORLD, &recorder.world_rank);
    end_if_alone(recorder.world_size);
    std::size_t bytes = rank_file_bytes(static_cast<std::uint32_t>(recorder.world_size));
    void* memory = MAP_FAILED;
    const bool wants = willing != 0, has_path = find_out_path();
    if (!has_path) out_path[0] = '\0';
    int file_fault = 0;
    bool has_clash = false;
    if (wants) {
        bool has_file = false;
        if (!has_path || !rank_path(own_path, sizeof own_path, recorder.world_rank)) own_path[0] = '\0';
        errno = 0;
        memory = map_counters(bytes, has_file);
        file_fault = errno;
        // Rank 0 writes the model beside its rank file: what it cannot do now it could not do at the end.
        if (memory == MAP_FAILED || (recorder.world_rank == 0 && !has_file)) willing = 0;
        if (const std::string clash = name_clash(); !clash.empty()) {
            if (recorder.world_rank == 0)
                std::fprintf(stderr, "zbs-profile: %s: this run is not profiled\n", clash.c_str());
            willing = 0;
            has_clash = true;
        }
    }
    // The first rank that records nothing, the first one whose profile is off, and the first one whose profile is on.
    const int rank = recorder.world_rank, none = recorder.world_size;
    const int own[] = {willing ? none : rank, wants ? none : rank, wants ? rank : none};
    int first[] = {none, none, none};
    PMPI_Allreduce(own, first, 3, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (first[0] < none || PMPI_Comm_dup(MPI_COMM_WORLD, &private_comm) != MPI_SUCCESS) {
        if (rank == 0 && !has_clash) report_not_profiled(first, file_fault);
        if (memory != MAP_FAILED) munmap(memory, bytes);
        if (own_path[0]) unlink(own_path);
        return;
    }
    std::uint64_t run_id = new_run_id();
    PMPI_Bcast(&run_id, 1, MPI_UINT64_T, 0, private_comm);

    auto* header = static_cast<ProfileHeader*>(memory);
    write_header(header, run_id);

    recorder.header = header;
    recorder.peers = reinterpret_cast<ProfilePeer*>(static_cast<char*>(memory) + sizeof(ProfileHeader));
    recorder.many_threads = thread_level == MPI_THREAD_MULTIPLE;
    owner = getpid();
    open_log(run_id);
    open_trace(run_id, header->program);
    std::atexit(at_exit);
    clock_here().gap_begin = clock_here().now(recorder.many_threads);
    recorder.active.store(true, std::memory_order_release);
    finish_with_mpi();
}

void warn_where_not_started(const char* why) noexcept {
    if (started || !is_wanted() || !is_first_rank()) return;
    started = true;
    std::fprintf(stderr, "zbs-profile: this run is not profiled: %s\n", why);
}

void finish(bool has_session) noexcept {
    warn_where_not_started("MPI_Init was not seen. A tool called it past this library");
    if (!is_finished_by_callback || has_session) write_model();
}

void remember_zone() noexcept {
    const char* const model = std::getenv("ZBS_PROFILE_OUT");
    if (std::getenv("ZBS_APPLICATION") && model)
        std::snprintf(finalized_path, sizeof finalized_path, "%s.finalized", model);
}

void record_finalized() noexcept {
    // Once: sessions may begin and end several times.
    static std::atomic<bool> is_noted{false};
    if (!finalized_path[0] || is_noted.exchange(true)) return;
    const int file = open(finalized_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (file < 0) return;
    [[maybe_unused]] const ssize_t n = write(file, ".", 1);
    close(file);
}

void give_up(RankState state) noexcept {
    if (!recorder.active.exchange(false) || over) return;
    over = true;
    write_unseen();
    close_log();
    close_trace(false);
    recorder.header->state = state;
    Model model = empty_model();
    model.complete = false;
    name_unseen(model, count_unseen());
    int running = 0;
    for (int rank = 0; rank < recorder.world_size; ++rank) {
        char path[sizeof own_path];
        RankState theirs = RankState::kRunning;
        if (!rank_path(path, sizeof path, rank)) return;
        if (model.add_rank_file(path, rank, *recorder.header, theirs) && theirs == RankState::kRunning) ++running;
    }
    if (!model.write(out_path)) return;
    // The last one out tidies up; files of ranks still running are newer than this model.
    if (running > 0) return;
    for (int rank = 0; rank < recorder.world_size; ++rank) {
        char path[sizeof own_path];
        if (rank_path(path, sizeof path, rank)) unlink(path);
    }
}

}  // namespace zbs::profiler
