#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/common/adapters/process/start/supervisor_launch.hpp"

namespace zbs::process {

/// How long a starter is waited for; it gives up a step itself before that (kUnitPatienceS).
inline constexpr int kStarterPatienceS = 8;

/// The process that starts steps at `socket` (`zbs-step serve`), for who is confined more tightly than its steps may
/// be. Errors: kUnavailable where none answers there within kStarterPatienceS, or it is another user's.
Result<pid_t> find_starter(const std::string& socket);

/// Has the starter make a supervisor, of its own program, with the descriptors `given`; its number. The caller closes
/// its own. Errors: kUnavailable where there is no starter, it says nothing for kStarterPatienceS, or refuses.
Result<pid_t> ask_starter(const std::string& socket, const std::vector<std::string>& arguments,
                          const SupervisorDescriptors& given);

}  // namespace zbs::process
