#include "algorithms/base/ids.hpp"

namespace zbs {
namespace {
constexpr std::string_view kAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

int digit_value(char c) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    const std::size_t at = kAlphabet.find(c);
    return at == std::string_view::npos ? -1 : static_cast<int>(at);
}
}  // namespace

std::string to_string(const Id128& id) {
    std::string text(26, '0');
    // 130 bits of text hold 128 bits of id: the first character carries the top 3.
    for (int i = 0; i < 26; ++i) {
        int value = 0;
        for (int b = 0; b < 5; ++b) {
            const int bit = i * 5 + b - 2;
            const int is_set = bit < 0 ? 0 : (id.bytes[static_cast<std::size_t>(bit / 8)] >> (7 - bit % 8)) & 1;
            value = value * 2 + is_set;
        }
        text[static_cast<std::size_t>(i)] = kAlphabet[static_cast<std::size_t>(value)];
    }
    return text;
}

std::optional<Id128> parse_id128(std::string_view text) {
    if (text.size() != 26 || digit_value(text[0]) > 7) return std::nullopt;
    Id128 id;
    for (int i = 0; i < 26; ++i) {
        const int value = digit_value(text[static_cast<std::size_t>(i)]);
        if (value < 0) return std::nullopt;
        for (int b = 0; b < 5; ++b) {
            const int bit = i * 5 + b - 2;
            if (bit < 0) continue;
            if ((value >> (4 - b)) & 1) {
                std::uint8_t& byte = id.bytes[static_cast<std::size_t>(bit / 8)];
                byte = static_cast<std::uint8_t>(byte | (0x80 >> (bit % 8)));
            }
        }
    }
    return id;
}

Id128 make_id128(std::int64_t unix_ms, std::uint64_t high, std::uint64_t low) {
    Id128 id;
    for (std::size_t i = 0; i < 6; ++i) id.bytes[i] = static_cast<std::uint8_t>(unix_ms >> (8 * (5 - i)));
    for (std::size_t i = 0; i < 2; ++i) id.bytes[6 + i] = static_cast<std::uint8_t>(high >> (8 * (1 - i)));
    for (std::size_t i = 0; i < 8; ++i) id.bytes[8 + i] = static_cast<std::uint8_t>(low >> (8 * (7 - i)));
    return id;
}

}  // namespace zbs
