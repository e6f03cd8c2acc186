#pragma once
#include <string_view>

namespace zbs {

/// Whether `pattern` covers all of `text`; `*` stands for any letters, also none. O(pattern x text) at worst.
bool matches_glob(std::string_view pattern, std::string_view text);

}  // namespace zbs
