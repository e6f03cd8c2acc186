#pragma once
#include <string>

namespace zbs::step {

/// `zbs-step serve --socket PATH --units PROGRAM`: makes supervisors for a service of the same user that may not do
/// itself what its jobs may (services/common/adapters/process/start/starter_message.hpp), until SIGTERM; they outlive
/// it. `program` is what it makes them of, as units of the service manager by `unit_maker`, the path of systemd-run, so
/// that it needs no right of a job. One thread; who connects and says nothing is let go
/// after 2 s. Exit code.
int serve_starts(const std::string& socket, const std::string& program, const std::string& unit_maker);

/// `zbs-step attend --socket PATH --request NUMBER`, made by the service manager for a starter of this user that
/// listens at `socket`: gets its descriptors and arguments from it, and becomes that supervisor, with default signals,
/// no variable and no other descriptor. Returns only where that cannot be: exit code, with the reason on stderr.
int attend(const std::string& socket, const std::string& request, const std::string& program);

}  // namespace zbs::step
