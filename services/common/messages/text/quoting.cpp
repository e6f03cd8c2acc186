#include "services/common/messages/text/quoting.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>

namespace zbs {

std::string shell_word(std::string_view text) {
    constexpr std::string_view kPlain = "/._-+,@%:";  // '=' and '~' mean something in some places
    const auto is_plain = [&](unsigned char c) {
        return c < 128 && (std::isalnum(c) != 0 || kPlain.find(static_cast<char>(c)) != std::string_view::npos);
    };
    if (!text.empty() && std::ranges::all_of(text, is_plain)) return std::string(text);
    std::string word = "'";
    for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return word + "'";
}

std::string toml_string(std::string_view text) {
    std::string written = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7f) {
            std::array<char, 8> escape{};
            std::snprintf(escape.data(), escape.size(), "\\u%04X", byte);
            written += escape.data();
        } else {
            if (c == '"' || c == '\\') written += '\\';
            written += c;
        }
    }
    return written + '"';
}

}  // namespace zbs
