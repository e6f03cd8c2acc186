#pragma once
#include <functional>
#include <string>

namespace zbs::step {

/// Sets the umask and the soft limits that the owner of the job asked for
/// (services/common/messages/steps/job_limits.hpp), as the job's user, in the process that becomes the program.
/// `variable` returns a variable of the job, or null. The reason if it cannot; else empty.
std::string set_own_limits(const std::function<const char*(const char* name)>& variable);

}  // namespace zbs::step
