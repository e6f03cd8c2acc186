#include "services/zone_scheduler/launch/loader_fault.hpp"

#include <algorithm>

#include "services/common/messages/text/printable.hpp"

namespace zbs {
namespace {

constexpr std::size_t kMaxShown = 512;

/// Of glibc, of musl, and of glibc if a library is too old.
bool is_of_loader(std::string_view line) {
    const auto has = [line](std::string_view words) { return line.find(words) != std::string_view::npos; };
    return has(": error while loading shared libraries: ") || line.starts_with("Error loading shared library ") ||
           (has(": version `") && has("' not found (required by "));
}

}  // namespace

std::string loader_fault(std::string_view errors) {
    while (!errors.empty()) {
        const std::string_view line = errors.substr(0, errors.find('\n'));
        if (is_of_loader(line)) return printable_text(line, kMaxShown);
        errors.remove_prefix(std::min(line.size() + 1, errors.size()));
    }
    return {};
}

bool is_loader_fault_of(std::string_view program, std::string_view line) {
    const auto last_name = [](std::string_view path) { return path.substr(path.rfind('/') + 1); };
    const std::string_view name = last_name(program);
    return last_name(line.substr(0, line.find(": "))) == name || last_name(line) == std::string(name) + ")";
}

}  // namespace zbs
