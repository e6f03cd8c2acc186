#pragma once
#include <cstddef>
#include <string>
#include <string_view>

/// Text of any bytes without NUL, written so that a reader of another language reads the same text.
namespace zbs {

/// Foreign text made fit for one line of a log or a terminal: valid UTF-8 of at most `max_bytes` (>= 8). Control
/// characters (C0, C1, delete, line and paragraph separators, direction marks), bytes that are no UTF-8 and `\` become
/// `\xNN` per byte (`\\` for the last), so nothing can forge a line or hide one. A cut text ends in "...".
std::string printable_text(std::string_view text, std::size_t max_bytes);

/// Whether `text` is valid UTF-8 without such characters, so that it can stand on one line as it is.
bool is_one_line(std::string_view text);

/// As one word of a POSIX shell.
std::string shell_word(std::string_view text);

/// As a basic string of TOML, with its quotes. `text` must be UTF-8: TOML has no way to write other bytes.
std::string toml_string(std::string_view text);

}  // namespace zbs
