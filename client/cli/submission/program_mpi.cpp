#include "client/cli/submission/program_mpi.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include "client/cli/submission/probe_program.hpp"

namespace zbs::cli {
namespace {
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
