#include "services/common/messages/staging.hpp"

#include <algorithm>

#include "algorithms/base/utf8.hpp"
#include "services/common/messages/limits.hpp"
#include "services/common/messages/printable.hpp"
#include "services/common/messages/rank_end.hpp"

namespace zbs {
namespace {

/// Of a folder or file in a name.
std::string segment_fault(std::string_view segment) {
    if (segment.empty()) return "must not have an empty folder or file in it";
    if (segment == "." || segment == "..") return "must not have '.' or '..' in it";
    if (segment[0] == '-') return "must not begin with '-': programs would take it for an option";
    if (segment.size() > limits::kMaxStagedNameSegmentBytes)
        return "is longer than " + std::to_string(limits::kMaxStagedNameSegmentBytes) + " bytes";
    return {};
}

}  // namespace

std::string file_name_fault(std::string_view name) {
    if (name.empty()) return "must not be empty";
    if (name.size() > limits::kMaxStagedNameBytes)
        return "is longer than " + std::to_string(limits::kMaxStagedNameBytes) + " bytes";
    if (name.find('\\') != std::string_view::npos) return "must be a name without '\\'";
    if (!is_utf8(name)) return "must be UTF-8";
    if (!is_one_line(name)) return "must be without control characters";
    for (std::string_view rest = name;;) {
        const std::size_t end = std::min(rest.find('/'), rest.size());
        if (std::string fault = segment_fault(rest.substr(0, end)); !fault.empty()) return fault;
        if (end == rest.size()) return name[0] == '.' ? "must not begin with '.'" : "";
        rest.remove_prefix(end + 1);
    }
}

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
    if (const std::string fault = file_name_fault(name); !fault.empty()) return fault;
    // Whatever begins as a profile is fetched as one.
    return is_own_output(name) || name.starts_with("profile.json")
               ? "is a name that the zone uses itself; give it another one"
               : "";
}

bool is_pattern(std::string_view name) { return name.find('*') != std::string_view::npos; }

std::string result_pattern_fault(std::string_view pattern) {
    return is_pattern(pattern) ? file_name_fault(pattern) : staged_name_fault(pattern);
}

bool matches_result(std::string_view pattern, std::string_view name) {
    if (name.starts_with('.')) return false;
    std::size_t p = 0, n = 0;
    std::size_t star = std::string_view::npos, retry = 0;       // the last '*', and where it stopped taking letters
    std::size_t deep = std::string_view::npos, deep_retry = 0;  // the same of the last '**'
    const auto at = [&](std::size_t i) { return i < pattern.size() ? pattern[i] : '\0'; };
    while (n < name.size()) {
        if (at(p) == '*' && at(p + 1) == '*') {
            while (at(p) == '*') ++p;
            deep = p;
            deep_retry = n;
            star = std::string_view::npos;
        } else if (at(p) == '*') {
            star = ++p;
            retry = n;
        } else if (p < pattern.size() && pattern[p] == name[n]) {
            ++p;
            ++n;
        } else if (star != std::string_view::npos && name[retry] != '/') {
            p = star;
            n = ++retry;
        } else if (deep != std::string_view::npos) {
            p = deep;
            n = ++deep_retry;
            star = std::string_view::npos;
        } else {
            return false;
        }
    }
    while (at(p) == '*') ++p;
    return p == pattern.size();
}

void StagedResults::note(std::string text) {
    if (notes.size() < limits::kMaxStagingNotes) notes.push_back(std::move(text));
}

void StagedResults::leave_out(std::string text) {
    ++left_out;
    note(std::move(text));
}

}  // namespace zbs
