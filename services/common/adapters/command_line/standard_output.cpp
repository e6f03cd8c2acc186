#include "services/common/adapters/command_line/standard_output.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>

namespace zbs::command_line {

int end_of_output(const std::string& program, int exit_code) {
    errno = 0;
    std::cout.flush();
    std::fflush(stdout);
    int why = errno;
    if (std::cout && std::ferror(stdout) == 0) return exit_code;
    // A buffer that could not be written before is gone: one more byte behind output that is cut anyhow yields errno.
    if (why == 0 && ::write(STDOUT_FILENO, "\n", 1) < 0) why = errno;
    if (why == EPIPE) return exit_code;
    std::cerr << program << ": cannot write standard output: " << (why == 0 ? "a write failed" : std::strerror(why))
              << "\n";
    return exit_code != 0 ? exit_code : 1;
}

}  // namespace zbs::command_line
