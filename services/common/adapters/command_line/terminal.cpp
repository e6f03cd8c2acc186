#include "services/common/adapters/command_line/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace zbs::command_line {

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

}  // namespace zbs::command_line
