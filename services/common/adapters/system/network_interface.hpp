#pragma once
#include <string>

#include "algorithms/base/result.hpp"

namespace zbs::system {

/// The name of the network interface that `text` means: a name as it is, or, for a network such as "10.1.0.0/16" or
/// "fd00::/8", the first interface that is up with an address in it. Names of interfaces can change with the order in
/// which a container joins its networks, the networks do not. Errors: kInvalidArgument for what is no network,
/// kUnavailable where no interface has an address in it; both name `text`.
Result<std::string> resolve_interface(const std::string& text);

}  // namespace zbs::system
