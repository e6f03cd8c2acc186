#pragma once
#include <sys/types.h>

#include <string>

#include "services/node_agent/step/step_options.hpp"

namespace zbs::step {

/// fork(), whose child is the first process in new namespaces; -1 with errno.
pid_t fork_into(Namespaces namespaces);

/// In that child: gives this process its user in a new user namespace, hides and protects the folders of `options`
/// except those the job may write, and mounts a /proc without the processes of others. Nothing that this process has
/// opened before may reach the program. What went wrong; empty where nothing did.
std::string confine(const StepOptions& options, uid_t uid, gid_t gid);

/// Takes what executing a program could give to root, as far as this process may.
void drop_bounding_set();

/// Gives up every capability, for this process and whatever it executes, and whatever setuid programs could give.
/// What went wrong; empty where nothing did.
std::string drop_privileges();

}  // namespace zbs::step
