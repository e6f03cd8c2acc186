#pragma once
#include <string>

#include "algorithms/base/result.hpp"

namespace zbs::zone_program {

/// A path of `library` that LD_PRELOAD can name. LD_PRELOAD separates its entries by blanks and colons; a path that
/// contains one gets a link in a folder of this account below /tmp, which every account can read. Empty for an empty
/// path. Errors: kUnavailable if the link cannot be made.
Result<std::string> preload_path(const std::string& library);

}  // namespace zbs::zone_program
