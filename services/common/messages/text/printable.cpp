#include "services/common/messages/text/printable.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>

#include "algorithms/base/expects.hpp"
#include "algorithms/base/text.hpp"
#include "algorithms/base/utf8.hpp"

namespace zbs {
namespace {

constexpr std::string_view kCut = "...";

std::string escaped(std::string_view bytes) {
    std::string out;
    for (const char& c : bytes) out += "\\x" + hexadecimal({&c, 1});
    return out;
}

}  // namespace

bool is_one_line(std::string_view text) {
    while (!text.empty()) {
        const CodePoint c = front_of(text);
        if (c.length == 0 || is_deceptive(c.value)) return false;
        text.remove_prefix(c.length);
    }
    return true;
}

std::string printable_text(std::string_view text, std::size_t max_bytes) {
    ZBS_EXPECTS(max_bytes >= 8);
    std::string out;
    std::size_t cut_at = 0;  // where `kCut` still fits
    while (!text.empty()) {
        const CodePoint c = front_of(text);
        const std::string_view piece = text.substr(0, c.length == 0 ? 1 : c.length);
        const std::string shown = c.length == 0 || is_deceptive(c.value) ? escaped(piece)
                                  : piece == "\\"                        ? std::string("\\\\")
                                                                         : std::string(piece);
        if (out.size() + shown.size() > max_bytes) {
            out.resize(cut_at);
            return out += kCut;
        }
        out += shown;
        if (out.size() + kCut.size() <= max_bytes) cut_at = out.size();
        text.remove_prefix(piece.size());
    }
    return out;
}

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
