#include "client/cli/interrupt.hpp"

#include <unistd.h>

#include <cerrno>

namespace zbs::cli {
namespace {

constexpr int kInterrupts[] = {SIGINT, SIGTERM};

std::string& interrupt_line() {
    static std::string line;
    return line;
}

/// The default action is back in force (SA_RESETHAND) and ends the program when this returns.
void print_line_and_end(int signal) {
    const int before = errno;
    [[maybe_unused]] const ssize_t written = write(2, interrupt_line().data(), interrupt_line().size());
    errno = before;
    raise(signal);
}

}  // namespace

InterruptLine::InterruptLine(const std::string& line) {
    interrupt_line() = line + "\n";
    struct sigaction action {};
    action.sa_handler = print_line_and_end;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    for (int i = 0; i < 2; ++i) {
        sigaction(kInterrupts[i], nullptr, &before_[i]);
        if (before_[i].sa_handler != SIG_IGN) sigaction(kInterrupts[i], &action, nullptr);
    }
}

InterruptLine::~InterruptLine() {
    for (int i = 0; i < 2; ++i) sigaction(kInterrupts[i], &before_[i], nullptr);
}

}  // namespace zbs::cli
