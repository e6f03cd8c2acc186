#include "services/node_agent/step/execute.hpp"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace zbs::step {
namespace {

constexpr std::size_t kHead = 4'096;  ///< bytes of a file that are examined
constexpr std::size_t kLine = 256;    ///< of them the kernel reads so many of a `#!` line
constexpr std::string_view kBlanks = " \t";

std::string head_of(const std::string& path) {
    std::string head(kHead, '\0');
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const ssize_t got = fd < 0 ? -1 : read(fd, head.data(), head.size());
    if (fd >= 0) close(fd);
    head.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return head;
}

bool is_elf(std::string_view head) { return head.starts_with(std::string_view(ELFMAG, SELFMAG)); }

bool is_text(std::string_view head) {
    return !is_elf(head) && head.substr(0, kLine).find('\0') == std::string_view::npos;
}

/// The machine that an ELF file was built for.
std::optional<int> machine_of(std::string_view head) {
    constexpr std::size_t kAt = 18;  // in the header of either class
    if (!is_elf(head) || head.size() < kAt + 2 || head[EI_VERSION] != EV_CURRENT) return std::nullopt;
    const int first = static_cast<unsigned char>(head[kAt]), second = static_cast<unsigned char>(head[kAt + 1]);
    return head[EI_DATA] == ELFDATA2MSB ? first << 8 | second : second << 8 | first;
}

/// Empty for one that is not known.
std::string machine_name(int machine) {
    constexpr std::array<std::pair<int, const char*>, 9> kNames = {{{EM_386, "x86, 32 bit"},
                                                                    {EM_X86_64, "x86-64"},
                                                                    {EM_ARM, "ARM, 32 bit"},
                                                                    {EM_AARCH64, "AArch64"},
                                                                    {EM_PPC64, "POWER"},
                                                                    {EM_S390, "S/390"},
                                                                    {EM_MIPS, "MIPS"},
                                                                    {EM_SPARCV9, "SPARC"},
                                                                    {EM_RISCV, "RISC-V"}}};
    for (const auto& [number, name] : kNames)
        if (number == machine) return name;
    return {};
}

/// The loader that an ELF file of this machine names; empty if it names none.
std::string loader_of(std::string_view head) {
    Elf64_Ehdr header;
    if (!is_elf(head) || head.size() < sizeof header || head[EI_CLASS] != ELFCLASS64) return {};
    std::memcpy(&header, head.data(), sizeof header);
    for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
        Elf64_Phdr part;
        if (header.e_phoff > head.size() || header.e_phoff + (i + 1) * sizeof part > head.size()) break;
        std::memcpy(&part, head.data() + header.e_phoff + i * sizeof part, sizeof part);
        if (part.p_type != PT_INTERP || part.p_offset >= head.size()) continue;
        const std::string_view name = head.substr(part.p_offset, part.p_filesz);
        return std::string(name.substr(0, name.find('\0')));
    }
    return {};
}

/// The `#!` line of a script: its interpreter, and the one argument that the kernel makes of the rest.
struct InterpreterLine {
    std::string interpreter, argument;
    bool ends_in_return = false;
};

std::optional<InterpreterLine> interpreter_line(std::string_view head) {
    if (!head.starts_with("#!")) return std::nullopt;
    std::string_view line = head.substr(0, std::min(head.find('\n'), kLine)).substr(2);
    InterpreterLine found;
    found.ends_in_return = line.ends_with('\r');
    if (found.ends_in_return) line.remove_suffix(1);
    line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
    const std::size_t end = std::min(line.find_first_of(kBlanks), line.size());
    found.interpreter = line.substr(0, end);
    line.remove_prefix(end);
    line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
    found.argument = line.substr(0, line.find_last_not_of(kBlanks) + 1);
    return found;
}

std::string of_line_end(const InterpreterLine& line) {
    return "the line of its interpreter, " + line.interpreter + (line.argument.empty() ? "" : " " + line.argument) +
           ", ends in a carriage return (Windows line ends)";
}

/// Files that `name` may be, in the order of PATH.
std::vector<std::string> candidates(const std::string& name) {
    if (name.empty() || name.find('/') != std::string::npos) return {name};
    const char* const path = std::getenv("PATH");
    std::string_view rest = path == nullptr ? "/bin:/usr/bin" : path;
    std::vector<std::string> files;
    for (;;) {
        const std::string folder(rest.substr(0, rest.find(':')));
        files.push_back((folder.empty() ? "." : folder) + "/" + name);
        if (rest.find(':') == std::string_view::npos) return files;
        rest.remove_prefix(rest.find(':') + 1);
    }
}

/// `env` would run, and fail in place of the program: its fault would look like an end of the program. Empty if the
/// script `head` names no `env`, or one that finds its program.
std::string fault_of_env(std::string_view head) {
    const std::optional<InterpreterLine> line = interpreter_line(head);
    if (!line || line->interpreter.substr(line->interpreter.rfind('/') + 1) != "env") return {};
    if (line->ends_in_return) return of_line_end(*line);
    const std::string& name = line->argument;
    if (name.empty() || name.starts_with('-') || name.find('=') != std::string::npos) return {};
    for (const std::string& file : candidates(name))
        if (access(file.c_str(), X_OK) == 0) return {};
    return "its interpreter " + name + " is not in PATH";
}

/// Why execve(path) ended with `error`.
std::string why_not(const std::string& path, int error) {
    const std::string plain = std::strerror(error), head = head_of(path);
    if (access(path.c_str(), X_OK) != 0) return plain;
    if (const std::optional<int> machine = machine_of(head); machine && error == ENOEXEC) {
        const int own = machine_of(head_of("/proc/self/exe")).value_or(*machine);
        const std::string other = machine_name(*machine);
        if (own == *machine || other.empty()) return plain;
        return plain + ": it is built for " + other + ", and this machine is " + machine_name(own);
    }
    const std::optional<InterpreterLine> line = interpreter_line(head);
    if (line && line->ends_in_return) return of_line_end(*line);
    const std::string interpreter = line ? line->interpreter : loader_of(head);
    return interpreter.empty() ? plain : "its interpreter " + interpreter + ": " + plain;
}

/// errno and the reason.
std::pair<int, std::string> execute_file(const std::string& path, char** argv) {
    const std::string head = access(path.c_str(), X_OK) == 0 ? head_of(path) : std::string{};
    if (std::string fault = fault_of_env(head); !fault.empty()) return {ENOENT, std::move(fault)};
    execv(path.c_str(), argv);
    const int error = errno;
    if (error != ENOEXEC || !is_text(head) || head.starts_with("#!")) return {error, why_not(path, error)};
    std::string shell = "/bin/sh", end_of_options = "--", file = path;
    std::vector<char*> words = {shell.data(), end_of_options.data(), file.data()};
    for (char** word = argv + 1; *word != nullptr; ++word) words.push_back(*word);
    words.push_back(nullptr);
    execv(words[0], words.data());
    return {errno, why_not(path, errno)};
}

}  // namespace

ExecuteFault execute_program(char** argv) {
    const std::string name = argv[0];
    if (const std::string folder = name.substr(0, name.rfind('/'));
        folder.size() + 1 == name.size() && !folder.empty() && access((folder + "/.").c_str(), X_OK) != 0)
        return {errno, "cannot enter folder " + folder + ": " + std::strerror(errno)};
    ExecuteFault fault;
    bool is_there = false;  // of several files the first that is there counts
    for (const std::string& file : candidates(name)) {
        auto [error, why] = execute_file(file, argv);
        if (!is_there) fault = {error, "cannot run " + name + ": " + why};
        is_there = is_there || access(file.c_str(), F_OK) == 0;
        if (error != ENOENT && error != ENOTDIR && error != EACCES) break;
    }
    return fault;
}

}  // namespace zbs::step
