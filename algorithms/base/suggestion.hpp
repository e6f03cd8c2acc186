#pragma once
#include <span>
#include <string>
#include <string_view>

namespace zbs {

/// The name that `word` was probably meant to be: the one with the fewest slips (letters put in, left out, replaced or
/// swapped; case, '-' and '_' do not count), the first of equals. Empty where even that has more than a third of the
/// word's letters wrong, or, where the word is short, more than two (more than one below five letters). O(letters of
/// the word x letters of all names).
std::string_view closest_name(std::string_view word, std::span<const std::string_view> names);

/// The end of a message about an unknown word: "; did you mean 'easy'?", else "; known are fcfs, easy, los". `names`
/// may be long: at most 40 are listed.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> names);

}  // namespace zbs
