#include "services/common/messages/staging.hpp"

#include <algorithm>

#include "algorithms/base/utf8.hpp"
#include "services/common/messages/limits.hpp"
#include "services/common/messages/steps/own_files.hpp"
#include "services/common/messages/text/printable.hpp"

namespace zbs {
namespace {

/// Of a folder or file in a name.
std::string segment_fault(std::string_view segment) {
    if (segment.empty()) return "must not have an empty folder or file in it";
    if (segment == "." || segment == "..") return "must not have '.' or '..' in it";
    if (segment.size() > limits::kMaxStagedNameSegmentBytes)
        return "is longer than " + std::to_string(limits::kMaxStagedNameSegmentBytes) + " bytes";
    return {};
}

/// Whether the rest of `pattern` from each position on, its end included, may match the text that follows `name`.
std::vector<bool> after(std::string_view pattern, std::string_view name) {
    const auto is_star = [&](std::size_t p) { return p < pattern.size() && pattern[p] == '*'; };
    std::vector<bool> now(pattern.size() + 1), next(pattern.size() + 1);
    const auto reach = [&](std::vector<bool>& positions, std::size_t p) {
        for (positions[p] = true; is_star(p); ++p) positions[p + 1] = true;
    };
    reach(now, 0);
    for (std::size_t n = 0; n < name.size(); ++n) {
        bool any = false;
        next.assign(next.size(), false);
        for (std::size_t p = 0; p < pattern.size(); ++p) {
            if (!now[p]) continue;
            const bool is_deep = is_star(p + 1) || (p > 0 && is_star(p - 1));
            const bool is_taken = is_star(p) ? is_deep || name[n] != '/' : pattern[p] == name[n];
            if (is_taken) reach(next, is_star(p) ? p : p + 1);
            any = any || is_taken;
        }
        std::swap(now, next);
        if (!any) break;
    }
    return now;
}

}  // namespace

std::string file_name_fault(std::string_view name) {
    if (name.empty()) return "must not be empty";
    if (name.size() > limits::kMaxStagedNameBytes)
        return "is longer than " + std::to_string(limits::kMaxStagedNameBytes) + " bytes";
    if (!is_utf8(name)) return "must be UTF-8";
    if (!is_one_line(name)) return "must be without control characters";
    if (name[0] == '/') return "must not be absolute: it is a name in the folder that the ranks run in";
    for (std::string_view rest = name;;) {
        const std::size_t end = std::min(rest.find('/'), rest.size());
        if (std::string fault = segment_fault(rest.substr(0, end)); !fault.empty()) return fault;
        if (end == rest.size()) return {};
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
    const auto drop = [&](std::string_view& rest, std::string_view word) {
        if (!rest.starts_with(word)) return;
        const std::size_t end = std::min(rest.find_first_not_of("0123456789", word.size()), rest.size());
        if (is_number(rest.substr(word.size(), end - word.size()))) rest.remove_prefix(end);
    };
    if (name.starts_with(own_files::kProfile)) {  // as the profiling library names its files
        std::string_view rest = name.substr(own_files::kProfile.size());
        drop(rest, ".rank.");
        drop(rest, ".tmp.");
        return rest.empty() || rest == ".finalized";
    }
    for (const std::string_view prefix :
         {own_files::kOut, own_files::kErr, own_files::kEnd, own_files::kEarly, own_files::kAbort})
        if (name.starts_with(prefix)) return is_number(name.substr(prefix.size()));
    return name == own_files::kStdout || name == own_files::kStderr || name == own_files::kUnusual ||
           name == own_files::kAtWork;
}

std::string result_name_fault(std::string_view name) {
    if (std::string fault = file_name_fault(name); !fault.empty()) return fault;
    return name.starts_with(own_files::kPrefix) ? "is a name that the zone uses itself; give it another one" : "";
}

std::string input_name_fault(std::string_view name) {
    if (std::string fault = result_name_fault(name); !fault.empty()) return fault;
    if (name[0] == '.') return "must not begin with '.'";
    if (name.find('\\') != std::string_view::npos) return "must be a name without '\\'";
    if (name[0] == '-' || name.find("/-") != std::string_view::npos)
        return "must not begin with '-': programs would take it for an option";
    return {};
}

bool is_pattern(std::string_view name) { return name.find('*') != std::string_view::npos; }

std::string result_pattern_fault(std::string_view pattern) {
    return is_pattern(pattern) ? file_name_fault(pattern) : result_name_fault(pattern);
}

bool matches_result(std::string_view pattern, std::string_view name) { return after(pattern, name).back(); }

bool may_match_in(std::string_view pattern, std::string_view folder) {
    const std::vector<bool> rest = after(pattern, std::string(folder) + "/");
    return std::find(rest.begin(), rest.end() - 1, true) != rest.end() - 1;
}

void StagedResults::add_note(std::string text) {
    if (notes.size() < limits::kMaxStagingNotes) notes.push_back(std::move(text));
}

void StagedResults::leave_out(std::string text) {
    ++left_out;
    add_note(std::move(text));
}

}  // namespace zbs
