#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace zbs::listing {

/// Columns of a terminal that `text` fills on one line: wide characters (CJK, emoji) two, combining ones none. A byte
/// that is no UTF-8 fills one.
std::size_t width_of(std::string_view text);

/// The first `rows` lines of `text`, UTF-8, each cut to at most `columns` columns.
std::string cut_to(std::string_view text, std::size_t rows, std::size_t columns);

}  // namespace zbs::listing
