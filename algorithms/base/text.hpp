#pragma once
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zbs {

/// Parts between separators; an empty text has one empty part.
inline std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (std::size_t end = 0; (end = text.find(separator)) != std::string_view::npos; text.remove_prefix(end + 1))
        parts.push_back(text.substr(0, end));
    parts.push_back(text);
    return parts;
}

/// The words, with `separator` between each two.
template <class Words>
std::string joined(const Words& words, std::string_view separator) {
    std::string text;
    bool is_first = true;
    for (const auto& word : words) {
        if (!is_first) text += separator;
        is_first = false;
        text += word;
    }
    return text;
}

/// The number that the whole text is, as std::from_chars reads it; none where it is another text or out of range.
template <class Number>
std::optional<Number> parse_number(std::string_view text, auto... base) {
    Number number{};
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number, base...);
    if (fault != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

}  // namespace zbs
