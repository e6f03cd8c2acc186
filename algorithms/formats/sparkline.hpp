#pragma once
#include <span>
#include <string>

namespace zbs::formats {

/// A series as one line of eight heights (UTF-8 block elements), oldest first: the least value lowest, the greatest
/// highest, a constant series in the middle; what is no finite number is a space. Of more than `width` values the
/// newest count; width >= 1.
std::string sparkline(std::span<const double> values, std::size_t width = 40);

}  // namespace zbs::formats
