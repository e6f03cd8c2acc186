#include "services/common/messages/staging.hpp"

#include <algorithm>

#include "services/common/messages/limits.hpp"

namespace zbs {
namespace {

std::string plain_name_fault(std::string_view name) {
    if (name.empty()) return "must not be empty";
    if (name.size() > limits::kMaxStagedNameBytes)
        return "is longer than " + std::to_string(limits::kMaxStagedNameBytes) + " bytes";
    if (name[0] == '.') return "must not begin with '.'";
    if (name.find('/') != std::string_view::npos) return "must be a name without '/'";
    if (!std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < 127; }))
        return "must be printable ASCII without spaces";
    return {};
}

}  // namespace

std::optional<StagingNeed> need_of(const Staging& staging, const std::string& shared) {
    if (staging.empty()) return std::nullopt;
    StagingNeed need;
    for (const StagedFile& file : staging.inputs) {
        need.bytes += file.size;
        need.largest = std::max(need.largest, file.size);
    }
    if (!staging.always) need.file_system = shared;
    return need;
}

bool is_own_output(std::string_view name) {
    const bool of_a_rank = name.size() > 4 && (name.starts_with("out.") || name.starts_with("err.")) &&
                           name.find_first_not_of("0123456789", 4) == std::string_view::npos;
    return of_a_rank || name == "stdout" || name == "stderr" || name.starts_with("profile.json");
}

std::string staged_name_fault(std::string_view name) {
    if (const std::string fault = plain_name_fault(name); !fault.empty()) return fault;
    return is_own_output(name) ? "is a name that the zone uses itself; give it another one" : "";
}

std::string result_pattern_fault(std::string_view pattern) { return plain_name_fault(pattern); }

}  // namespace zbs
