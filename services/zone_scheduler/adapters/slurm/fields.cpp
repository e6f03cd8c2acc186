#include "services/zone_scheduler/adapters/slurm/fields.hpp"

#include "algorithms/base/text.hpp"
#include "services/common/messages/text/printable.hpp"

namespace zbs::slurm {

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        lines.push_back(text.substr(0, end));
        if (end == std::string_view::npos) break;
        text.remove_prefix(end + 1);
    }
    return lines;
}

std::optional<std::vector<std::string_view>> split(std::string_view text, char separator, std::size_t count) {
    std::vector<std::string_view> parts;
    while (parts.size() + 1 < count) {
        const std::size_t at = text.find(separator);
        if (at == std::string_view::npos) return std::nullopt;
        parts.push_back(text.substr(0, at));
        text.remove_prefix(at + 1);
    }
    parts.push_back(text);
    return parts;
}

std::optional<std::string_view> word_of(std::string_view text, std::string_view name) {
    for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
        const std::size_t behind = at + name.size();
        if (behind >= text.size() || text[behind] != '=' || (at > 0 && text[at - 1] != ' ')) continue;
        const std::string_view rest = text.substr(behind + 1);
        return rest.substr(0, rest.find(' '));
    }
    return std::nullopt;
}

std::optional<std::int64_t> number_of(std::string_view text, std::int64_t max) {
    const auto value = parse_number<std::uint64_t>(text);
    if (!value || *value > static_cast<std::uint64_t>(max)) return std::nullopt;
    return static_cast<std::int64_t>(*value);
}

std::string_view without_null(std::string_view text) { return text == "(null)" || text == "N/A" ? "" : text; }

std::string_view trimmed(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

Error not_understood(const char* command, std::size_t line, std::string_view text) {
    return {ErrorCode::kUnavailable,
            std::string("the answer of ") + command + " is not understood; is this release of Slurm a known one? \"" +
                printable_text(text, 160) + "\"",
            std::string(command) + ":" + std::to_string(line)};
}

}  // namespace zbs::slurm
