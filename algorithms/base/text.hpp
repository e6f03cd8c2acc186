#pragma once
#include <charconv>
#include <cstdio>
#include <iterator>
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

/// The words, with `separator` between each two, and `last` between the last two.
template <class Words>
std::string joined(const Words& words, std::string_view separator, std::string_view last) {
    std::string text;
    for (auto word = words.begin(); word != words.end(); ++word) {
        if (word != words.begin()) text += std::next(word) == words.end() ? last : separator;
        text += *word;
    }
    return text;
}
template <class Words>
std::string joined(const Words& words, std::string_view separator) {
    return joined(words, separator, separator);
}

/// Whether they are the same; takes the same time wherever texts of one length differ.
inline bool is_same_secret(std::string_view shown, std::string_view secret) {
    if (shown.size() != secret.size()) return false;
    unsigned char difference = 0;
    for (std::size_t i = 0; i < secret.size(); ++i)
        difference = static_cast<unsigned char>(difference | (shown[i] ^ secret[i]));
    return difference == 0;
}

/// Two digits in small letters for each byte.
inline std::string hexadecimal(std::string_view bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    for (const char c : bytes) text += {kDigits[static_cast<unsigned char>(c) >> 4], kDigits[c & 15]};
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

/// The number as printf writes it; `form` has one conversion, of a double: "%.2f s".
inline std::string number_text(const char* form, double number) {
    char text[64];
    std::snprintf(text, sizeof text, form, number);
    return text;
}

/// "999 B", "1.5 MiB".
inline std::string human_bytes(double bytes) {
    if (bytes < 1024) return number_text("%.0f B", bytes);
    const char* unit = "KMGTP";
    for (bytes /= 1024; bytes >= 1024 && unit[1] != '\0'; bytes /= 1024) ++unit;
    return number_text("%.1f ", bytes) + *unit + "iB";
}

}  // namespace zbs
