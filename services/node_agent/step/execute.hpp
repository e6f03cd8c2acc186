#pragma once
#include <string>

namespace zbs::step {

struct ExecuteFault {
    int error = 0;     ///< errno
    std::string text;  ///< "cannot run NAME: ..." or, of a name that ends in '/', "cannot enter folder NAME: ..."
};

/// Becomes the program `argv[0]`, as execvp does: PATH is searched, and a text without a `#!` line is run by /bin/sh. A
/// file that is no text is never passed to a shell. Returns only if the program cannot run; the text names the
/// interpreter that is missing, or the machine that the file was built for.
ExecuteFault execute_program(char** argv);

}  // namespace zbs::step
