#include "services/common/adapters/command_line/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>

namespace zbs::command_line {
namespace {

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

}  // namespace

bool wants_colour(int stream) {
    const char* refused = std::getenv("NO_COLOR");
    const char* terminal = std::getenv("TERM");
    if ((refused != nullptr && *refused != 0) || terminal == nullptr || std::string(terminal) == "dumb") return false;
    return isatty(stream) == 1;
}

std::size_t table_width() {
    winsize size{};
    if (ioctl(1, TIOCGWINSZ, &size) == 0 && size.ws_col >= 2) return size.ws_col;
    return 120;
}

std::string coloured(const std::string& text, Colour colour, bool on) {
    if (!on) return text;
    const char* const code = colour == Colour::kGreen ? "32" : colour == Colour::kYellow ? "33" : "31";
    return std::string("\x1b[") + code + "m" + text + "\x1b[0m";
}

int run_program(const std::string& program, int (*run)(int argc, char** argv), int argc, char** argv) {
    try {
        return end_of_output(program, run(argc, argv));
    } catch (const std::exception& fault) {
        std::cerr << program << ": " << fault.what() << "\n";
        return 1;
    }
}

}  // namespace zbs::command_line
