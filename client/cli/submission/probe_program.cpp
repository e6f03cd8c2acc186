#include "client/cli/submission/probe_program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include "algorithms/base/text.hpp"

extern char** environ;
namespace zbs::cli {
namespace {

constexpr std::size_t kMaxOutput = 256 * 1024;

/// In a process group of its own, writing to `out`; an errno, or 0.
int spawn_quietly(const std::vector<std::string>& words, int out, pid_t& pid) {
    std::vector<char*> argv;
    for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out, 1);
    posix_spawn_file_actions_adddup2(&actions, out, 2);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes, 0);
    const int fault = posix_spawn(&pid, argv[0], &actions, &attributes, argv.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return fault;
}

/// Reads until all writers are gone; false when the time is over first.
bool read_until(int in, std::chrono::steady_clock::time_point until, std::string& text) {
    for (;;) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
        pollfd ready{in, POLLIN, 0};
        if (left <= 0 || poll(&ready, 1, static_cast<int>(left)) == 0) return false;
        char piece[4096];
        const ssize_t got = read(in, piece, sizeof piece);
        if (got == 0) return true;
        if (got < 0 && errno != EINTR) return true;
        if (got > 0) text.append(piece, std::min<std::size_t>(static_cast<std::size_t>(got), kMaxOutput - text.size()));
    }
}

namespace fs = std::filesystem;

constexpr std::string_view kPythonModule = "mpi4py";
constexpr std::chrono::seconds kPatience{10};
constexpr std::size_t kMaxScriptBytes = 1024 * 1024;
constexpr std::size_t kMaxProgramBytes = 64 * 1024 * 1024;
constexpr const char* kFindExtension =
    "import importlib.util, os\n"
    "spec = importlib.util.find_spec('mpi4py')\n"
    "for folder in (spec.submodule_search_locations or []) if spec else []:\n"
    "    for name in sorted(os.listdir(folder)):\n"
    "        if name.startswith('MPI.') and name.endswith('.so'):\n"
    "            print('extension', os.path.join(folder, name), flush=True)\n";

/// The first bytes of a file; empty if it cannot be read.
std::string begin_of(const fs::path& path, std::size_t most) {
    std::error_code fault;
    const std::uintmax_t size = fs::is_regular_file(path, fault) ? fs::file_size(path, fault) : 0;
    if (fault) return {};
    std::ifstream file(path, std::ios::binary);
    std::string text(static_cast<std::size_t>(std::min<std::uintmax_t>(size, most)), '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    return text;
}

/// MPICH's own library is libmpich.so.12. Its relatives and Open MPI call theirs libmpi.so, with the numbers 12 and,
/// since Open MPI 2.0, 20 and more.
void take_library(std::string name, LoadedMpi& loaded) {
    constexpr std::string_view kMpich = "libmpich.so.", kShared = "libmpi.so.";
    constexpr int kFirstOfOpenMpi = 20;
    name.erase(0, name.rfind('/') + 1);
    if (name.starts_with(kMpich)) loaded.mpich = name;
    int number = 0;
    if (!name.starts_with(kShared)) return;
    const char* const begin = name.data() + kShared.size();
    if (std::from_chars(begin, name.data() + name.size(), number).ec != std::errc{}) return;
    (number >= kFirstOfOpenMpi ? loaded.open_mpi : loaded.mpich) = name;
}

bool is_python(const std::string& path) { return fs::path(path).filename().string().starts_with("python"); }

/// The interpreter in a script's first line; empty if there is none.
std::string interpreter_of(const std::string& text) {
    if (!text.starts_with("#!")) return {};
    std::istringstream words(text.substr(2, text.find('\n') - 2));
    std::string word;
    words >> word;
    if (fs::path(word).filename() != "env") return word;
    while (words >> word)
        if (!word.starts_with('-') && word.find('=') == std::string::npos) return path_of(word);
    return {};
}

/// Empty if `argv` is not a Python program that uses mpi4py.
std::string mpi_extension_of(const std::string& program, const std::vector<std::string>& argv,
                             const std::string& directory) {
    const std::string own_text = is_python(program) ? std::string{} : begin_of(program, kMaxScriptBytes);
    const std::string python = is_python(program) ? program : interpreter_of(own_text);
    if (!is_python(python)) return {};
    const bool speaks_of_it =
        own_text.find(kPythonModule) != std::string::npos ||
        std::any_of(argv.begin() + 1, argv.end(), [&](const std::string& word) {
            return word.find(kPythonModule) != std::string::npos ||
                   (is_python(program) &&
                    begin_of(fs::path(directory) / word, kMaxScriptBytes).find(kPythonModule) != std::string::npos);
        });
    if (!speaks_of_it) return {};
    const auto found = run_briefly({python, "-c", kFindExtension}, kPatience);
    if (!found) return {};
    constexpr std::string_view kExtensionLine = "extension ";
    std::istringstream lines(found->text);
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with(kExtensionLine)) return line.substr(kExtensionLine.size());
    return {};
}

}  // namespace

std::string path_of(const std::string& name) {
    const char* path = std::getenv("PATH");
    for (const std::string_view folder : split(path != nullptr ? path : "/usr/bin:/bin", ':')) {
        const std::string file = (folder.empty() ? "." : std::string(folder)) + "/" + name;
        std::error_code fault;
        if (access(file.c_str(), X_OK) == 0 && !std::filesystem::is_directory(file, fault)) return file;
    }
    return {};
}

Result<ProgramOutput> run_briefly(const std::vector<std::string>& argv, std::chrono::milliseconds patience) {
    int out[2];
    if (pipe2(out, O_CLOEXEC) != 0) return Error{ErrorCode::kInternal, std::strerror(errno), {}};
    pid_t pid = 0;
    const int fault = spawn_quietly(argv, out[1], pid);
    close(out[1]);
    ProgramOutput done;
    if (fault != 0) {
        close(out[0]);
        return Error{ErrorCode::kUnavailable, std::string("cannot be started: ") + std::strerror(fault), argv[0]};
    }
    const bool ended = read_until(out[0], std::chrono::steady_clock::now() + patience, done.text);
    close(out[0]);
    if (!ended) kill(-pid, SIGKILL);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (!ended) return Error{ErrorCode::kTimeout, "says nothing", argv[0]};
    done.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return done;
}

LoadedMpi mpi_of(const std::string& program) {
    LoadedMpi loaded;
    const auto listed = run_briefly({path_of("ldd"), program}, kPatience);
    if (!listed || listed->exit_code != 0) return loaded;
    std::istringstream lines(listed->text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        if (std::string name; words >> name) take_library(std::move(name), loaded);
    }
    return loaded;
}

LoadedMpi mpi_of_command(const std::string& program, const std::vector<std::string>& argv,
                         const std::string& directory) {
    const std::string extension = mpi_extension_of(program, argv, directory);
    return mpi_of(extension.empty() ? program : extension);
}

bool has_static_mpich(const std::string& program) {
    // Of an error message that MPI_Init brings along, whether symbols were stripped or not.
    constexpr std::string_view kText = "before initializing or after finalizing MPICH", kElf = "\177ELF";
    const std::string bytes = begin_of(program, kMaxProgramBytes);
    return bytes.starts_with(kElf) && bytes.find(kText) != std::string::npos;
}

}  // namespace zbs::cli
