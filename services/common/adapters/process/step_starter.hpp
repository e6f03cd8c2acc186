#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

#include "algorithms/base/result.hpp"
#include "services/common/adapters/process/supervisor_spawn.hpp"

namespace zbs::process {

/// The process that starts steps at `socket` (`zbs-step serve`), for who is confined more tightly than its steps may
/// be. Errors: kUnavailable where none answers there within 3 s, or it is another user's.
Result<pid_t> find_starter(const std::string& socket);

/// Has the starter make a supervisor, of its own program, with the descriptors `given`; its number. The caller closes
/// its own. Errors: kUnavailable where there is no starter, it says nothing for 3 s, or refuses.
Result<pid_t> ask_starter(const std::string& socket, const std::vector<std::string>& arguments,
                          const SupervisorDescriptors& given);

/// A file in memory that holds `text`; -1 with errno. For its reader it has to be pread.
int make_memory_file(const char* name, const std::string& text);

}  // namespace zbs::process
