#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace zbs::listing {

/// One character of UTF-8: its code point and bytes; length 0 where the bytes are none.
struct CodePoint {
    char32_t value = 0;
    std::size_t length = 0;
};
/// The character at the front of `text`, which must not be empty.
CodePoint front_of(std::string_view text);

/// Columns of a terminal that `text` fills on one line: wide characters (CJK, emoji) two, combining ones none. A byte
/// that is no UTF-8 fills one.
std::size_t width_of(std::string_view text);

/// The first `rows` lines of `text`, UTF-8, each cut to at most `columns` columns.
std::string cut_to(std::string_view text, std::size_t rows, std::size_t columns);

}  // namespace zbs::listing
