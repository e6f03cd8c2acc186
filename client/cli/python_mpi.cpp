#include "client/cli/python_mpi.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include "client/cli/probe_program.hpp"

namespace zbs::cli {
namespace {
namespace fs = std::filesystem;

constexpr std::string_view kPythonModule = "mpi4py";
constexpr std::chrono::seconds kPythonPatience{10};
constexpr std::size_t kMostScriptBytes = 1024 * 1024;  ///< of a script
constexpr const char* kFindExtension =
    "import importlib.util, os\n"
    "spec = importlib.util.find_spec('mpi4py')\n"
    "for folder in (spec.submodule_search_locations or []) if spec else []:\n"
    "    for name in sorted(os.listdir(folder)):\n"
    "        if name.startswith('MPI.') and name.endswith('.so'):\n"
    "            print('extension', os.path.join(folder, name), flush=True)\n";

std::string script_text(const fs::path& path) {
    std::error_code fault;
    if (!fs::is_regular_file(path, fault)) return {};
    std::ifstream file(path, std::ios::binary);
    std::string text(kMostScriptBytes, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    return text;
}

bool is_python(const std::string& path) { return fs::path(path).filename().string().starts_with("python"); }

/// Of a script's first line; empty where there is none.
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

}  // namespace

std::string mpi_extension_of(const std::string& program, const std::vector<std::string>& argv,
                             const std::string& directory) {
    const std::string own_text = is_python(program) ? std::string{} : script_text(program);
    const std::string python = is_python(program) ? program : interpreter_of(own_text);
    if (!is_python(python)) return {};
    const bool speaks_of_it =
        own_text.find(kPythonModule) != std::string::npos ||
        std::any_of(argv.begin() + 1, argv.end(), [&](const std::string& word) {
            return word.find(kPythonModule) != std::string::npos ||
                   (is_python(program) &&
                    script_text(fs::path(directory) / word).find(kPythonModule) != std::string::npos);
        });
    if (!speaks_of_it) return {};
    const auto found = run_briefly({python, "-c", kFindExtension}, kPythonPatience);
    if (!found) return {};
    constexpr std::string_view kExtensionLine = "extension ";
    std::istringstream lines(found->text);
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with(kExtensionLine)) return line.substr(kExtensionLine.size());
    return {};
}

}  // namespace zbs::cli
