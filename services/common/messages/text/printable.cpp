#include "services/common/messages/text/printable.hpp"

#include <array>
#include <cstdint>

#include "algorithms/base/expects.hpp"
#include "algorithms/base/text.hpp"
#include "algorithms/base/utf8.hpp"

namespace zbs {
namespace {

constexpr std::string_view kCut = "...";

/// Bytes of the UTF-8 character that `text` starts with; 0 where it starts with none.
std::size_t character_size(std::string_view text) {
    for (std::size_t size = 1; size <= 4 && size <= text.size(); ++size) {
        if (is_utf8(text.substr(0, size))) return size;
    }
    return 0;
}

std::uint32_t code_point(std::string_view character) {
    if (character.size() == 1) return static_cast<unsigned char>(character[0]);
    std::uint32_t code = static_cast<unsigned char>(character[0]) & (0x7fU >> character.size());
    for (const char c : character.substr(1)) code = code << 6 | (static_cast<unsigned char>(c) & 0x3fU);
    return code;
}

bool is_deceptive(std::uint32_t code) {
    return code < 0x20 || (code >= 0x7f && code < 0xa0) ||  // controls
           code == 0x61c || code == 0x200e || code == 0x200f || code == 0xfeff ||
           (code >= 0x2028 && code <= 0x202e) ||  // separators and direction marks
           (code >= 0x2066 && code <= 0x2069);
}

std::string escaped(std::string_view bytes) {
    std::string out;
    for (const char& c : bytes) out += "\\x" + hexadecimal({&c, 1});
    return out;
}

}  // namespace

bool is_one_line(std::string_view text) {
    while (!text.empty()) {
        const std::size_t size = character_size(text);
        if (size == 0 || is_deceptive(code_point(text.substr(0, size)))) return false;
        text.remove_prefix(size);
    }
    return true;
}

std::string printable_text(std::string_view text, std::size_t max_bytes) {
    ZBS_EXPECTS(max_bytes >= 8);
    std::string out;
    std::size_t cut_at = 0;  // where `kCut` still fits
    while (!text.empty()) {
        const std::size_t size = character_size(text);
        const std::string_view piece = text.substr(0, size == 0 ? 1 : size);
        const std::string shown = size == 0 || is_deceptive(code_point(piece)) ? escaped(piece)
                                  : piece == "\\"                              ? std::string("\\\\")
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

}  // namespace zbs
