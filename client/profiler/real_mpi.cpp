#include "client/profiler/real_mpi.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "client/profiler/recorder.hpp"

// A slot of the function that the program calls, one of the function that is called next. `zbs_find_mpi` has to be
// reached with all arguments as they came: some are on the stack, and their number is unknown here.
#if defined(__x86_64__)
#define ZBS_JUMP(name, slot, shown, first)                                                                     \
    asm(".pushsection .text\n.globl " #name "\n" shown #name "\n.type " #name ",@function\n" #name ":\n" first \
        " leaq " #slot "(%rip), %r11\n jmpq *(%r11)\n.size " #name ", .-" #name                                \
        "\n"                                                                                                   \
        ".popsection\n");
#define ZBS_COUNT(counter) "lock incq " #counter "(%rip)\n"
asm(R"(
.pushsection .text
.globl zbs_first_call
.hidden zbs_first_call
.type zbs_first_call,@function
zbs_first_call:
    pushq %rdi
    pushq %rsi
    pushq %rdx
    pushq %rcx
    pushq %r8
    pushq %r9
    pushq %r11
    callq zbs_find_mpi
    popq %r11
    popq %r9
    popq %r8
    popq %rcx
    popq %rdx
    popq %rsi
    popq %rdi
    jmpq *(%r11)
.size zbs_first_call, .-zbs_first_call
.popsection
)");
#elif defined(__aarch64__)
#define ZBS_JUMP(name, slot, shown, first)                                                                          \
    asm(".pushsection .text\n.globl " #name "\n" shown #name "\n.type " #name ",%function\n" #name ":\n" first      \
        " adrp x16, " #slot "\n add x16, x16, :lo12:" #slot "\n ldr x17, [x16]\n br x17\n.size " #name ", .-" #name \
        "\n.popsection\n");
#define ZBS_COUNT(counter)                                \
    "adrp x9, " #counter "\n add x9, x9, :lo12:" #counter \
    "\n1: ldxr x10, [x9]\n add x10, x10, #1\n"            \
    " stxr w11, x10, [x9]\n cbnz w11, 1b\n"
asm(R"(
.pushsection .text
.globl zbs_first_call
.hidden zbs_first_call
.type zbs_first_call,%function
zbs_first_call:
    stp x29, x30, [sp, #-96]!
    mov x29, sp
    stp x0, x1, [sp, #16]
    stp x2, x3, [sp, #32]
    stp x4, x5, [sp, #48]
    stp x6, x7, [sp, #64]
    str x16, [sp, #80]
    bl zbs_find_mpi
    ldp x0, x1, [sp, #16]
    ldp x2, x3, [sp, #32]
    ldp x4, x5, [sp, #48]
    ldp x6, x7, [sp, #64]
    ldr x16, [sp, #80]
    ldp x29, x30, [sp], #96
    ldr x17, [x16]
    br x17
.size zbs_first_call, .-zbs_first_call
.popsection
)");
#else
#error "no jumps for this processor: add ZBS_JUMP and zbs_first_call"
#endif

extern "C" {
void zbs_first_call();
void zbs_find_mpi();
#define ZBS_SHOW(name)                                                 \
    void* zbs_entry_##name = reinterpret_cast<void*>(&zbs_first_call); \
    void* zbs_next_##name = nullptr;                                   \
    ZBS_JUMP(name, zbs_entry_##name, ".globl ", "")
#define ZBS_SHOW_BOTH(name) ZBS_SHOW(name) ZBS_SHOW(P##name)
ZBS_C_FUNCTIONS(ZBS_SHOW_BOTH)
ZBS_INIT_FUNCTIONS(ZBS_SHOW)
#undef ZBS_SHOW
#define ZBS_SHOW(name)                                                 \
    void* zbs_entry_##name = reinterpret_cast<void*>(&zbs_first_call); \
    std::uint64_t zbs_calls_##name = 0;                                \
    ZBS_JUMP(name, zbs_entry_##name, ".globl ", ZBS_COUNT(zbs_calls_##name))
ZBS_UNSEEN_FUNCTIONS(ZBS_SHOW_BOTH)
#undef ZBS_SHOW
#undef ZBS_SHOW_BOTH
#define ZBS_HIDE(name)               \
    void* zbs_real_##name = nullptr; \
    ZBS_JUMP(name, zbs_real_##name, ".hidden ", "")
ZBS_PMPI_FUNCTIONS(ZBS_HIDE)
#undef ZBS_HIDE
}

namespace zbs::profiler {
namespace {

char library[8192];                  // MPICH's MPI_MAX_LIBRARY_VERSION_STRING; other libraries have less
const void* library_base = nullptr;  // address of the MPI library whose functions fill the slots

using Dlsym = void* (*)(void*, const char*) noexcept;

/// The dlsym behind the one that this library shows. It checks from which library it is called.
Dlsym real_dlsym() {
    // Set without a guard: the first call may come from the constructor of any library, or from malloc.
    static std::atomic<Dlsym> kept{nullptr};
    Dlsym found = kept.load(std::memory_order_relaxed);
    // Its version of glibc 2.34 and later; before, that of the processor.
    for (const char* version : {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"}) {
        if (found) return found;
        found = reinterpret_cast<Dlsym>(dlvsym(RTLD_NEXT, "dlsym", version));
        kept.store(found, std::memory_order_relaxed);
    }
    if (found) return found;
    std::fputs("zbs-profile: no dlsym of a known version: run the program without this library\n", stderr);
    std::abort();
}

/// Of a function that the program calls and no library has.
int absent() {
    std::fputs("zbs-profile: the program calls a function of MPI, and no loaded MPI library has it\n", stderr);
    return MPI_ERR_OTHER;
}

const void* base_of(const void* address) {
    Dl_info info{};
    return address && dladdr(address, &info) ? info.dli_fbase : nullptr;
}

/// All loaded libraries but this one. The program itself is left out: searching it is searching the global scope.
const std::vector<void*>& loaded_libraries() {
    static const auto* const found = [] {
        std::vector<std::string> names;
        dl_iterate_phdr(
            [](dl_phdr_info* object, std::size_t, void* to) {
                if (object->dlpi_name && *object->dlpi_name)
                    static_cast<std::vector<std::string>*>(to)->emplace_back(object->dlpi_name);
                return 0;
            },
            &names);
        auto* handles = new std::vector<void*>;
        for (const std::string& name : names) {
            void* const handle = dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
            if (handle) handles->push_back(handle);
        }
        dlerror();
        return handles;
    }();
    return *found;
}

/// The ABI of MPICH since 3.1, which MVAPICH, Intel MPI and Cray MPICH share. The standard ABI of MPI 5 is another.
bool has_mpich_abi(const void* function) {
    Dl_info info{};
    if (dladdr(function, &info) && info.dli_fname && std::strstr(info.dli_fname, "libmpi_abi.so")) return false;
    for (const char* relative : {"MPICH", "MVAPICH", "Intel(R) MPI"})
        if (std::strstr(library, relative)) return true;
    return false;
}

bool is_above_one(const char* variable) {
    const char* const text = std::getenv(variable);
    return text && std::atoi(text) > 1;
}

[[noreturn]] void end_alone(const char* mpi, const char* launcher, const char* remedy) {
    std::fprintf(stderr,
                 "zbs-profile: the program uses %s and was started by the launcher of %s, so each of its ranks would "
                 "run alone: give --launcher %s\n",
                 mpi, launcher, remedy);
    std::exit(1);
}

/// MPI_Init of Open MPI in a job of MPICH's launcher, however it is called.
void end_open_mpi() { end_alone("Open MPI", "MPICH", "openmpi"); }

/// zbs could not detect the MPI of the program before the start. Ranks that a script starts with a launcher of its own
/// are none of ours.
bool is_open_mpi_alone() {
    return std::strstr(library, "Open MPI") && is_above_one("PMI_SIZE") && !std::getenv("OMPI_COMM_WORLD_SIZE");
}

pid_t owner = 0;
char begun_mark[4096] =
    "";  // path of the file that says that this rank of Open MPI is between MPI_Init and MPI_Finalize

/// Only this process knows that a rank of Open MPI is in MPI; for `zbs-step rank`. The file is there from the start, as
/// no function is called at the end of a rank that ends by _exit.
void mark_begun() {
    const char *const folder = std::getenv("ZBS_RANK_ENDS"), *const rank = std::getenv("OMPI_COMM_WORLD_RANK");
    if (!folder || !rank || getpid() != owner) return;
    std::snprintf(begun_mark, sizeof begun_mark, "%s/.zbs-early.%s", folder, rank);
    const int file = open(begun_mark, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file >= 0) close(file);
}
void take_mark() {
    if (begun_mark[0] && getpid() == owner) unlink(begun_mark);
}
/// Of programs in Fortran: Open MPI's mpi_finalize_ calls PMPI_Finalize.
void take_mark_at_exit() {
    auto* const finalized = reinterpret_cast<int (*)(int*)>(find_loaded("PMPI_Finalized"));
    int over = 0;
    if (finalized) finalized(&over);
    if (over) take_mark();
}

int abort_unrecorded(void* comm, int code) {
    record_abort(code);
    return reinterpret_cast<int (*)(void*, int)>(zbs_next_MPI_Abort)(comm, code);
}
/// Any initialisation of Open MPI, in C or Fortran: at most four arguments, each in a register.
template <void** kNext>
int begin_unrecorded(void* a, void* b, void* c, void* d) {
    const int rc = reinterpret_cast<int (*)(void*, void*, void*, void*)>(*kNext)(a, b, c, d);
    mark_begun();
    return rc;
}
int finalize_unrecorded() {
    const int rc = reinterpret_cast<int (*)()>(zbs_next_MPI_Finalize)();
    take_mark();
    record_finalized();
    return rc;
}

struct Entry {
    const char* name;
    void **entry, **next;
    void* own;
};

void* next_of(const char* name) {
    void* const found = find_loaded(name);
    return found ? found : reinterpret_cast<void*>(&absent);
}

/// The addresses of the loaded object that `inside` is in, into `recorder`.
void find_mpi_range(const void* inside) {
    recorder.mpi_begin = recorder.mpi_end = reinterpret_cast<std::uintptr_t>(inside);
    dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t, void*) {
            std::uintptr_t begin = UINTPTR_MAX, end = 0;
            for (const ElfW(Phdr) & part : std::span(object->dlpi_phdr, object->dlpi_phnum)) {
                if (part.p_type != PT_LOAD) continue;
                begin = std::min(begin, object->dlpi_addr + part.p_vaddr);
                end = std::max(end, object->dlpi_addr + part.p_vaddr + part.p_memsz);
            }
            if (recorder.mpi_begin < begin || recorder.mpi_begin >= end) return 0;
            recorder.mpi_begin = begin;
            recorder.mpi_end = end;
            return 1;
        },
        nullptr);
}

void fill() {
    remember_zone();
#define ZBS_ENTRY(name) {#name, &zbs_entry_##name, &zbs_next_##name, reinterpret_cast<void*>(&zbs_own_##name)},
#define ZBS_BOTH(name) ZBS_ENTRY(name) ZBS_ENTRY(P##name)
    const auto shown = std::to_array<Entry>({ZBS_C_FUNCTIONS(ZBS_BOTH)});
#undef ZBS_BOTH
#undef ZBS_ENTRY
    // PMPI_*, because another tool may answer for MPI_*.
    auto* const version = reinterpret_cast<decltype(&MPI_Get_library_version)>(find_loaded("PMPI_Get_library_version"));
    int length = 0;
    if (version) version(library, &length);
    library_base = base_of(reinterpret_cast<void*>(version));
    find_mpi_range(reinterpret_cast<void*>(version));
    const bool ours = version && has_mpich_abi(reinterpret_cast<void*>(version));
    for (const Entry& function : shown) {
        *function.next = next_of(function.name);
        *function.entry = ours ? function.own : *function.next;
    }
#define ZBS_FIND(name)                 \
    zbs_entry_##name = next_of(#name); \
    zbs_entry_P##name = next_of("P" #name);
    ZBS_UNSEEN_FUNCTIONS(ZBS_FIND)
#undef ZBS_FIND
#define ZBS_FIND(name) zbs_real_##name = find_loaded(#name);
    ZBS_PMPI_FUNCTIONS(ZBS_FIND)
#undef ZBS_FIND
#define ZBS_FIND(name) zbs_entry_##name = zbs_next_##name = next_of(#name);
    ZBS_INIT_FUNCTIONS(ZBS_FIND)
#undef ZBS_FIND
    if (std::strstr(library, "Open MPI")) {
        zbs_entry_MPI_Finalize = reinterpret_cast<void*>(&finalize_unrecorded);
        zbs_entry_MPI_Abort = reinterpret_cast<void*>(&abort_unrecorded);
        zbs_entry_MPI_Init = reinterpret_cast<void*>(&begin_unrecorded<&zbs_next_MPI_Init>);
        zbs_entry_MPI_Init_thread = reinterpret_cast<void*>(&begin_unrecorded<&zbs_next_MPI_Init_thread>);
        zbs_entry_mpi_init_ = reinterpret_cast<void*>(&begin_unrecorded<&zbs_next_mpi_init_>);
        zbs_entry_mpi_init_thread_ = reinterpret_cast<void*>(&begin_unrecorded<&zbs_next_mpi_init_thread_>);
        zbs_entry_mpi_init_f08_ = reinterpret_cast<void*>(&begin_unrecorded<&zbs_next_mpi_init_f08_>);
        zbs_entry_mpi_init_thread_f08_ = reinterpret_cast<void*>(&begin_unrecorded<&zbs_next_mpi_init_thread_f08_>);
        owner = getpid();
        std::atexit(&take_mark_at_exit);
    }
    if (is_open_mpi_alone())
        for (void** const entry :
             {&zbs_entry_MPI_Init, &zbs_entry_MPI_Init_thread, &zbs_entry_mpi_init_, &zbs_entry_mpi_init_thread_,
              &zbs_entry_mpi_init_f08_, &zbs_entry_mpi_init_thread_f08_})
            *entry = reinterpret_cast<void*>(&end_open_mpi);
    const char* const wanted = std::getenv("ZBS_PROFILE");
    if (!ours && version && is_first_rank() && !(wanted && std::strcmp(wanted, "0") == 0))
        std::fprintf(stderr,
                     "zbs-profile: this run is not profiled: the program uses %.*s, and only MPICH and its ABI "
                     "relatives can be profiled\n",
                     static_cast<int>(std::strcspn(library, ",\n")), library);
}

/// The function `name` that the library around `inside` has of its own, as a tool has that goes on to the next; null
/// where there is none.
void* own_function(const void* inside, const char* name) {
    Dl_info info{};
    if (!dladdr(inside, &info)) return nullptr;
    void* const handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (!handle) return nullptr;
    void* const found = real_dlsym()(handle, name);
    dlclose(handle);
    return found && base_of(found) == info.dli_fbase ? found : nullptr;
}

/// Whether calls reach the library around `address` before this one.
bool is_in_front(const void* address) {
    const void* const base = base_of(address);
    return dl_iterate_phdr(
               [](dl_phdr_info* object, std::size_t, void* wanted) {
                   const void* const here = reinterpret_cast<const void*>(object->dlpi_addr);
                   return here == wanted ? 1 : here == base_of(&library) ? 2 : 0;
               },
               const_cast<void*>(base)) == 1;
}

/// The function that a program linked with MPI would reach by `name`, in place of MPI's own that `handle` leads to.
void* function_of(void* handle, const char* name, const void* caller) {
    void* const found = real_dlsym()(handle, name);
#define ZBS_NAME(name) #name, "P" #name,
    static constexpr auto kShown =
        std::to_array<std::string_view>({ZBS_C_FUNCTIONS(ZBS_NAME) ZBS_UNSEEN_FUNCTIONS(ZBS_NAME)});
#undef ZBS_NAME
    if (!found || std::ranges::find(kShown, name) == kShown.end()) return found;
    const void* const base = base_of(found);
    void* shown = found;
    if (base != base_of(real_dlsym()(handle, "PMPI_Get_library_version"))) return dlerror(), found;
    const bool is_tool = own_function(caller, name) != nullptr;
    if (!is_tool || is_in_front(caller)) {
        zbs_find_mpi();
        if (base == library_base) shown = is_tool ? own_function(&library, name) : real_dlsym()(RTLD_DEFAULT, name);
    }
    dlerror();
    return shown;
}

/// Calls by the names MPI_* and PMPI_*. A tool behind this library calls PMPI_* for each call of its MPI_*.
std::uint64_t calls_of(std::uint64_t& mpi, std::uint64_t& pmpi, const void* next) {
    const std::uint64_t one = std::atomic_ref(mpi).load(), other = std::atomic_ref(pmpi).load();
    if (one == 0 || other == 0 || base_of(next) == library_base) return one + other;
    return std::max(one, other);
}

}  // namespace

std::vector<UnseenCalls> unseen_calls() {
#define ZBS_CALLS(name) {#name, calls_of(zbs_calls_##name, zbs_calls_P##name, zbs_entry_##name)},
    return {ZBS_UNSEEN_FUNCTIONS(ZBS_CALLS)};
#undef ZBS_CALLS
}

const char* mpi_library() { return library; }

void end_if_alone(int ranks) {
    if (ranks == 1 && is_above_one("OMPI_COMM_WORLD_SIZE") && !std::getenv("PMI_SIZE"))
        end_alone("MPICH", "Open MPI", "mpich");
}

void* find_loaded(const char* name) {
    // The global scope behind this library, so that a tool preloaded there is called; what was loaded by dlopen
    // (MPI of Python) is in no scope that we are in.
    if (void* const next = real_dlsym()(RTLD_NEXT, name)) return next;
    static const void* const self = base_of(&library);
    for (void* const handle : loaded_libraries()) {
        void* const found = real_dlsym()(handle, name);
        if (found && base_of(found) != self) return found;
    }
    dlerror();
    return nullptr;
}

void record_abort(int code) noexcept {
    const char* const folder = std::getenv("ZBS_RANK_ENDS");
    const char* rank = std::getenv("PMI_RANK");
    if (!rank) rank = std::getenv("OMPI_COMM_WORLD_RANK");
    if (!folder || !rank) return;
    char path[4096], text[16];
    std::snprintf(path, sizeof path, "%s/.zbs-abort.%s", folder, rank);
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) return;
    const int length = std::snprintf(text, sizeof text, "%d", code);
    [[maybe_unused]] const ssize_t n = write(file, text, static_cast<std::size_t>(length));
    close(file);
}

bool is_first_rank() {
    for (const char* name : {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"})
        if (const char* rank = std::getenv(name)) return std::strcmp(rank, "0") == 0;
    return true;
}

}  // namespace zbs::profiler

extern "C" __attribute__((visibility("hidden"))) void zbs_find_mpi() {
    static const bool done = (zbs::profiler::fill(), true);
    static_cast<void>(done);
}

/// Programs that load MPI by dlopen (ctypes of Python, MPI.jl of Julia) reach MPI's own functions by a handle. The
/// real dlsym finds the caller of RTLD_NEXT and RTLD_DEFAULT by the return address: it has to be a jump, at any level
/// of optimisation.
extern "C" __attribute__((visibility("default"), optimize("O2"))) void* dlsym(void* handle, const char* name) noexcept {
    const auto real = zbs::profiler::real_dlsym();
    if (handle == RTLD_NEXT || handle == RTLD_DEFAULT || std::strncmp(name + (*name == 'P'), "MPI_", 4) != 0)
        return real(handle, name);
    return zbs::profiler::function_of(handle, name, __builtin_return_address(0));
}
