#pragma once
#include <string>

#include "algorithms/base/result.hpp"

namespace zbs::client {

/// Puts the folder `fresh` in the place of `folder`, whose files are removed, also those of an earlier replacement that
/// was cut short (`folder`.old). Errors: kUnavailable with the folder as pointer; where `fresh` cannot be put in place
/// `folder` is as before, and where only the old files cannot be removed the message says so.
Result<void> replace_folder(const std::string& fresh, const std::string& folder);

}  // namespace zbs::client
