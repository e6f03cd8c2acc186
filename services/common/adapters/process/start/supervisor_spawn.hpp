#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

namespace zbs::process {

/// What a supervisor gets as its descriptors 1 and 2, 3, and 4; the caller keeps its own.
struct SupervisorDescriptors {
    int log = -1, answer = -1, input = -1;
};

/// Makes a process of `program` in a session of its own, with default signals, no variable and no other descriptor of
/// this process; its descriptor 0 is empty. Error number, 0 where `pid` is made.
int spawn_supervisor(const std::string& program, const std::vector<std::string>& arguments,
                     const SupervisorDescriptors& given, pid_t& pid);

/// The same of another program, an absolute path, which gets `output` as its descriptors 1 and 2.
int spawn_tool(const std::string& program, const std::vector<std::string>& arguments, int output, pid_t& pid);

}  // namespace zbs::process
