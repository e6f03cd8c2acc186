#pragma once
#include "services/common/adapters/command_line/check.hpp"
#include "services/common/listing/rows.hpp"

namespace zbs::command_line {

listing::Listing listing_of(const std::vector<Check>& checks);

/// For people: a line a check, with what to do below it. Nothing in it drives a terminal but the colour of the
/// verdicts, where `has_colour`.
std::string text_of(const std::vector<Check>& checks, bool has_colour);

}  // namespace zbs::command_line
