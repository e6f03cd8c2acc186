#include "services/common/messages/staging.hpp"

#include <algorithm>

#include "services/common/messages/limits.hpp"
#include "services/common/messages/rank_end.hpp"

namespace zbs {
namespace {

std::string plain_name_fault(std::string_view name) {
    if (name.empty()) return "must not be empty";
    if (name.size() > limits::kMaxStagedNameBytes)
        return "is longer than " + std::to_string(limits::kMaxStagedNameBytes) + " bytes";
    if (name[0] == '.') return "must not begin with '.'";
    if (name[0] == '-') return "must not begin with '-': programs would take it for an option";
    if (name.find_first_of("/\\") != std::string_view::npos) return "must be a name without '/' and '\\'";
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
    const auto is_number = [](std::string_view text) {
        return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
    };
    // As the profiling library names its files: profile.json[.rank.N][.tmp.N], profile.json.finalized.
    const auto drop = [&](std::string_view& rest, std::string_view word) {
        if (!rest.starts_with(word)) return;
        const std::size_t end = std::min(rest.find_first_not_of("0123456789", word.size()), rest.size());
        if (is_number(rest.substr(word.size(), end - word.size()))) rest.remove_prefix(end);
    };
    constexpr std::string_view kProfile = "profile.json";
    bool is_profile = name.starts_with(kProfile);
    if (is_profile) {
        std::string_view rest = name.substr(kProfile.size());
        drop(rest, ".rank.");
        drop(rest, ".tmp.");
        is_profile = rest.empty() || rest == ".finalized";
    }
    const bool of_a_rank = (name.starts_with("out.") || name.starts_with("err.") || name.starts_with(kRankEndPrefix)) &&
                           is_number(name.substr(4));
    return of_a_rank || name == "stdout" || name == "stderr" || is_profile;
}

std::string staged_name_fault(std::string_view name) {
    if (const std::string fault = plain_name_fault(name); !fault.empty()) return fault;
    // Whatever begins as a profile is fetched as one.
    return is_own_output(name) || name.starts_with("profile.json")
               ? "is a name that the zone uses itself; give it another one"
               : "";
}

std::string result_pattern_fault(std::string_view pattern) { return plain_name_fault(pattern); }

}  // namespace zbs
