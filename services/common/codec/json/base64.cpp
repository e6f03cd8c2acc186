#include "services/common/codec/json/base64.hpp"

#include <array>
#include <cstdint>

namespace zbs::codec {
namespace {

constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<std::int8_t, 256> make_values() {
    std::array<std::int8_t, 256> values{};
    values.fill(-1);
    for (std::size_t i = 0; i < kLetters.size(); ++i)
        values[static_cast<unsigned char>(kLetters[i])] = static_cast<std::int8_t>(i);
    return values;
}
constexpr std::array<std::int8_t, 256> kValues = make_values();

unsigned byte_at(std::string_view bytes, std::size_t i) {
    return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0U;
}

}  // namespace

std::string to_base64(std::string_view bytes) {
    std::string out;
    out.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const unsigned word = byte_at(bytes, i) << 16 | byte_at(bytes, i + 1) << 8 | byte_at(bytes, i + 2);
        out += kLetters[word >> 18];
        out += kLetters[word >> 12 & 63];
        out += i + 1 < bytes.size() ? kLetters[word >> 6 & 63] : '=';
        out += i + 2 < bytes.size() ? kLetters[word & 63] : '=';
    }
    return out;
}

std::optional<std::string> from_base64(std::string_view text) {
    if (text.size() % 4 != 0) return std::nullopt;
    const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
    std::string out;
    out.reserve(text.size() / 4 * 3);
    for (std::size_t i = 0; i < text.size(); i += 4) {
        const bool last = i + 4 == text.size();
        unsigned word = 0;
        for (std::size_t k = 0; k < 4; ++k) {
            const bool padded = last && k >= 4 - padding;
            const int value = padded ? 0 : kValues[static_cast<unsigned char>(text[i + k])];
            if (value < 0) return std::nullopt;
            word = word << 6 | static_cast<unsigned>(value);
        }
        // Bits behind the last byte would be a second spelling.
        if (last && (word & (padding == 2 ? 0xFFFFU : padding == 1 ? 0xFFU : 0U)) != 0) return std::nullopt;
        for (std::size_t k = 0; k < 3 - (last ? padding : 0); ++k)
            out += static_cast<char>(static_cast<unsigned char>(word >> (16 - 8 * k)));
    }
    return out;
}

}  // namespace zbs::codec
