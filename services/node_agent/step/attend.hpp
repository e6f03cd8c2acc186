#pragma once
#include <string>

namespace zbs::step {

/// `zbs-step attend --socket PATH --request NUMBER`, made by the service manager for a starter of this user that
/// listens at `socket`: gets its descriptors and arguments from it, and becomes that supervisor, with default signals,
/// no variable and no other descriptor. Returns only where that cannot be: exit code, with the reason on stderr.
int attend(const std::string& socket, const std::string& request, const std::string& program);

}  // namespace zbs::step
