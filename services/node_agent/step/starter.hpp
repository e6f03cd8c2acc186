#pragma once
#include <string>

namespace zbs::step {

/// `zbs-step serve --socket PATH`: makes supervisors for a service of the same user that may not do itself what its
/// jobs may (services/common/adapters/process/starter_message.hpp), until SIGTERM; they outlive it. `program` is what
/// it makes them of. One thread; who connects and says nothing is let go after 2 s. Exit code.
int serve_starts(const std::string& socket, const std::string& program);

}  // namespace zbs::step
