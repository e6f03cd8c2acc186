#include "algorithms/learning/argument_class.hpp"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace zbs::learning {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
/// The x of 1200x800, at `at`.
bool is_times(const std::string& text, std::size_t at) {
    return at > 0 && at + 1 < text.size() && (text[at] == 'x' || text[at] == 'X') && is_digit(text[at - 1]) &&
           is_digit(text[at + 1]);
}

std::size_t after_digits(const std::string& text, std::size_t at) {
    while (at < text.size() && is_digit(text[at])) ++at;
    return at;
}

/// Where the number that begins at `begin` ends.
std::size_t end_of_number(const std::string& text, std::size_t begin) {
    std::size_t end = after_digits(text, begin);
    if (end + 1 < text.size() && text[end] == '.' && is_digit(text[end + 1])) end = after_digits(text, end + 1);
    if (end < text.size() && (text[end] == 'e' || text[end] == 'E')) {
        const std::size_t sign = end + 1 < text.size() && (text[end + 1] == '-' || text[end + 1] == '+') ? 1 : 0;
        const std::size_t exponent = after_digits(text, end + 1 + sign);
        if (exponent > end + 1 + sign) end = exponent;
    }
    return end;
}

std::string magnitude(const std::string& number) {
    const double value = std::strtod(number.c_str(), nullptr);
    if (!(value > 0)) return "{-}";
    if (!std::isfinite(value)) return "{+}";
    char text[40];
    std::snprintf(text, sizeof text, "%.17e", value);
    return "{" + std::to_string(std::atoi(std::strchr(text, 'e') + 1)) + "}";
}

void append_class(std::string& out, const std::string& argument) {
    for (std::size_t at = 0; at < argument.size();) {
        const char c = argument[at];
        if (is_digit(c)) {
            const std::size_t end = end_of_number(argument, at);
            const bool named = (at > 0 && is_letter(argument[at - 1]) && !is_times(argument, at - 1)) ||
                               (end < argument.size() && is_letter(argument[end]) && !is_times(argument, end));
            const std::string number = argument.substr(at, end - at);
            out += named ? number : magnitude(number);
            at = end;
            continue;
        }
        if (c > ' ' && c < 0x7f && c != '{' && c != '}' && c != '\\') {
            out += c;
        } else {
            char text[4];
            std::snprintf(text, sizeof text, "\\%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
            out += text;
        }
        ++at;
    }
}

}  // namespace

std::string argument_class(std::span<const std::string> arguments) {
    std::string all;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (i > 0) all += ' ';
        append_class(all, arguments[i]);
    }
    if (all.size() <= kMaxArgumentClass) return all;
    std::uint64_t hash = 14695981039346656037ULL;  // FNV-1a
    for (const char c : all) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    char tail[20];
    std::snprintf(tail, sizeof tail, "~%016llx", static_cast<unsigned long long>(hash));
    return all.substr(0, kMaxArgumentClass - 17) + tail;
}

}  // namespace zbs::learning
