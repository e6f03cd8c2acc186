#pragma once
#include <string>
#include <string_view>

/// Text of any bytes without NUL, written so that a reader of another language reads the same text.
namespace zbs {

/// As one word of a POSIX shell.
std::string shell_word(std::string_view text);

/// As a basic string of TOML, with its quotes. `text` must be UTF-8: TOML has no way to write other bytes.
std::string toml_string(std::string_view text);

}  // namespace zbs
