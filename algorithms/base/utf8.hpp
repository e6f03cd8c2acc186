#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace zbs {

/// Whether `text` is well-formed UTF-8: no overlong form, no surrogate, nothing above U+10FFFF. JSON takes nothing
/// else.
inline bool is_utf8(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
        const auto lead = static_cast<unsigned char>(text[i]);
        if (lead < 0x80) {
            ++i;
            continue;
        }
        const std::size_t tail = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
        if (lead < 0xc2 || lead > 0xf4 || text.size() - i <= tail) return false;
        std::uint32_t code = lead & (0x3fU >> tail);
        for (std::size_t k = 1; k <= tail; ++k) {
            const auto byte = static_cast<unsigned char>(text[i + k]);
            if ((byte & 0xc0) != 0x80) return false;
            code = code << 6 | (byte & 0x3fU);
        }
        const std::uint32_t smallest = tail == 1 ? 0x80 : tail == 2 ? 0x800 : 0x10000;
        if (code < smallest || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return false;
        i += tail + 1;
    }
    return true;
}

}  // namespace zbs
