#pragma once
#include <cstddef>
#include <span>
#include <string>

namespace zbs::learning {

/// Longest text of a class, bytes.
inline constexpr std::size_t kMaxArgumentClass = 512;

/// What arguments have in common that make a program behave alike: the arguments, joined by blanks, with every number
/// as its order of magnitude in braces: `--grid=1200x800 --eps 1e-6 run_07.in` is `--grid={3}x{2} --eps {-6}
/// run_{0}.in`, and so are 4000x300, 2e-6 and run_08.in. 0 is `{-}`.
///
/// A number is digits, with decimals and an exponent where they follow; one that touches a letter is part of a name
/// (`mpi4`, `2d`) and stays, but for the x between two numbers. A blank, brace, backslash or what is not printable
/// ASCII inside an argument is written as `\xx`. A class longer than kMaxArgumentClass is cut and ends with a hash of
/// all of it.
std::string argument_class(std::span<const std::string> arguments);

}  // namespace zbs::learning
