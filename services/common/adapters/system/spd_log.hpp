#pragma once
#include <memory>
#include <string>

#include "services/common/ports/log.hpp"

namespace zbs::system {

/// logfmt lines on standard error: `time level program event key=value ...`. Values are quoted and escaped, so no value
/// can forge a line. Safe from any thread.
std::unique_ptr<Log> make_log(const std::string& program);

}  // namespace zbs::system
