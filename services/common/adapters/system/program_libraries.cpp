#include "services/common/adapters/system/program_libraries.hpp"

#include <elf.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>

namespace zbs::system {
namespace {

constexpr std::size_t kMostHeaders = 128, kMostEntries = 4'096, kMostNames = 1'024, kMostLength = 255;
constexpr std::streamsize kMostBytes = 64 << 20;  ///< of a program; its tables are near its begin

/// A structure at `offset`; none where it does not lie in the bytes.
template <class T>
std::optional<T> at(std::string_view elf, std::uint64_t offset) {
    T value;
    if (offset > elf.size() || elf.size() - offset < sizeof value) return std::nullopt;
    std::memcpy(&value, elf.data() + offset, sizeof value);
    return value;
}

/// Where in the file lies what the program has at `address`.
std::optional<std::uint64_t> offset_of(const std::vector<Elf64_Phdr>& headers, std::uint64_t address) {
    for (const Elf64_Phdr& header : headers)
        if (header.p_type == PT_LOAD && address >= header.p_vaddr && address - header.p_vaddr < header.p_filesz)
            return header.p_offset + (address - header.p_vaddr);
    return std::nullopt;
}

/// As much of the file as is searched; empty where it cannot be read.
std::string begin_of(const std::string& program) {
    std::ifstream file(program, std::ios::binary | std::ios::ate);
    const std::streamoff size = file ? static_cast<std::streamoff>(file.tellg()) : 0;
    if (size <= 0) return {};
    std::string bytes(static_cast<std::size_t>(std::min<std::streamoff>(size, kMostBytes)), '\0');
    file.seekg(0);
    file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    bytes.resize(static_cast<std::size_t>(file.gcount()));
    return bytes;
}

bool is_open_mpi(const std::string& library) {
    constexpr std::string_view kName = "libmpi.so.";
    constexpr int kFirst = 20;  // Open MPI 2.0
    int number = 0;
    if (!library.starts_with(kName)) return false;
    const char* const begin = library.data() + kName.size();
    const auto [end, fault] = std::from_chars(begin, library.data() + library.size(), number);
    return fault == std::errc{} && number >= kFirst;
}

}  // namespace

std::vector<std::string> needed_libraries(std::string_view elf) {
    std::vector<std::string> names;
    const auto head = at<Elf64_Ehdr>(elf, 0);
    if (!head || std::memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_ident[EI_CLASS] != ELFCLASS64 ||
        head->e_ident[EI_DATA] != ELFDATA2LSB || head->e_phentsize != sizeof(Elf64_Phdr) ||
        head->e_phnum > kMostHeaders)
        return names;
    std::vector<Elf64_Phdr> headers;
    for (std::uint64_t i = 0; i < head->e_phnum; ++i) {
        if (head->e_phoff > elf.size()) return names;
        const auto header = at<Elf64_Phdr>(elf, head->e_phoff + i * sizeof(Elf64_Phdr));
        if (!header) return names;
        headers.push_back(*header);
    }
    const auto dynamic =
        std::find_if(headers.begin(), headers.end(), [](const Elf64_Phdr& h) { return h.p_type == PT_DYNAMIC; });
    if (dynamic == headers.end() || dynamic->p_offset > elf.size()) return names;
    std::vector<std::uint64_t> needed;
    std::optional<std::uint64_t> strings;
    for (std::uint64_t i = 0; i < kMostEntries; ++i) {
        const auto entry = at<Elf64_Dyn>(elf, dynamic->p_offset + i * sizeof(Elf64_Dyn));
        if (!entry || entry->d_tag == DT_NULL) break;
        if (entry->d_tag == DT_NEEDED && needed.size() < kMostNames) needed.push_back(entry->d_un.d_val);
        if (entry->d_tag == DT_STRTAB) strings = offset_of(headers, entry->d_un.d_ptr);
    }
    if (!strings || *strings >= elf.size()) return names;
    const std::string_view table = elf.substr(*strings);
    for (const std::uint64_t begin : needed) {
        if (begin >= table.size()) continue;
        const std::string_view rest = table.substr(begin, kMostLength + 1);
        const std::size_t end = rest.find('\0');
        if (end != std::string_view::npos && end > 0) names.emplace_back(rest.substr(0, end));
    }
    return names;
}

std::optional<std::string> open_mpi_of(const std::string& program) {
    const std::vector<std::string> libraries = needed_libraries(begin_of(program));
    const auto found = std::find_if(libraries.begin(), libraries.end(), is_open_mpi);
    if (found == libraries.end()) return std::nullopt;
    return *found;
}

bool has_static_mpich(const std::string& program) {
    // Of an error message that MPI_Init brings along, whether symbols were stripped or not.
    constexpr std::string_view kText = "before initializing or after finalizing MPICH";
    const std::string bytes = begin_of(program);
    return bytes.starts_with(ELFMAG) && bytes.find(kText) != std::string::npos;
}

}  // namespace zbs::system
