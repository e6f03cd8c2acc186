#pragma once
#include <cstddef>
#include <string_view>

namespace zbs {

/// One character of UTF-8: its code point and bytes; length 0 where the bytes are none.
struct CodePoint {
    char32_t value = 0;
    std::size_t length = 0;
};

/// The character at the front of `text`, which must not be empty: no overlong form, no surrogate, nothing above
/// U+10FFFF.
inline CodePoint front_of(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    if (byte(0) < 0x80) return {byte(0), 1};
    const std::size_t length = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : byte(0) >= 0xc2 ? 2 : 0;
    if (length == 0 || byte(0) > 0xf4 || text.size() < length) return {};
    char32_t value = byte(0) & (0xffu >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0) != 0x80) return {};
        value = (value << 6) | (byte(i) & 0x3fu);
    }
    constexpr char32_t kMin[] = {0, 0, 0x80, 0x800, 0x10000};
    if (value < kMin[length] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000)) return {};
    return {value, length};
}

/// Whether `text` is well-formed UTF-8. JSON takes nothing else.
inline bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const std::size_t length = front_of(text).length;
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}

/// Whether it drives a terminal, or changes the direction of writing: controls (C0, delete, C1), line and paragraph
/// separators, direction marks.
constexpr bool is_deceptive(char32_t c) {
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f || c == 0xfeff ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

}  // namespace zbs
