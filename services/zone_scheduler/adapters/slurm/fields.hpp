#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "algorithms/base/result.hpp"

/// What the readers of Slurm's texts have in common.
namespace zbs::slurm {

/// The lines of `text` without their ends; a last empty one is none.
std::vector<std::string_view> lines_of(std::string_view text);

/// The parts of `text` between separators: exactly `count`, the last of which may hold separators; else none.
std::optional<std::vector<std::string_view>> split(std::string_view text, char separator, std::size_t count);

/// The word behind "NAME=" up to the next space or the end, where NAME begins the text or follows a space.
std::optional<std::string_view> word_of(std::string_view text, std::string_view name);

/// All of `text` as a number of at most `max`; none where it is no such number.
std::optional<std::int64_t> number_of(std::string_view text, std::int64_t max);

/// "(null)" and "N/A" are no words.
std::string_view without_null(std::string_view text);

std::string_view trimmed(std::string_view text);

/// An answer of `command` that is not understood, with the line at fault (1-based) and what it holds.
Error not_understood(const char* command, std::size_t line, std::string_view text);

}  // namespace zbs::slurm
