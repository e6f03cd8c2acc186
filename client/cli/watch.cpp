#include "client/cli/watch.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <sstream>

#include "client/cli/context.hpp"
#include "services/common/listing/rows.hpp"

namespace zbs::cli {
namespace {

/// What is written to standard output while it lives.
class Captured {
  public:
    Captured() : before_(std::cout.rdbuf(text_.rdbuf())) {}
    ~Captured() { std::cout.rdbuf(before_); }
    Captured(const Captured&) = delete;
    Captured& operator=(const Captured&) = delete;
    std::string text() const { return text_.str(); }

  private:
    std::ostringstream text_;
    std::streambuf* before_;
};

/// From the upper left corner, each line to its end, then nothing below.
void redraw(const std::string& text) {
    winsize size{};
    if (ioctl(1, TIOCGWINSZ, &size) != 0 || size.ws_row < 2 || size.ws_col < 2) size = {24, 80, 0, 0};
    std::string screen = "\x1b[H";
    for (const char c : listing::cut_to(text, size.ws_row - 1u, size.ws_col))
        screen += c == '\n' ? std::string("\x1b[K\n") : std::string(1, c);
    std::cout << screen << "\x1b[J" << std::flush;
}

Result<std::chrono::milliseconds> interval_of(const std::string& every) {
    const Result<Duration> time = parse_duration(every);
    if (!time) return invalid(time.error().message, "--watch");
    if (*time < std::chrono::milliseconds{100} || *time > std::chrono::hours{24})
        return invalid("must be 0.1 s to one day", "--watch");
    return std::chrono::duration_cast<std::chrono::milliseconds>(*time);
}

}  // namespace

void add_watch_option(CLI::App& command, std::string& every) {
    command.add_flag("--watch{2}", every, "draw it again, every 2 s or as --watch=SECONDS says");
}

void draw_repeatedly(Context& context, const std::string& every, const std::function<bool()>& draw) {
    if (every.empty()) {
        draw();
        return;
    }
    const Result<std::chrono::milliseconds> interval = interval_of(every);
    if (!interval) return context.fail(interval.error());
    const bool terminal = context.for_people() && isatty(1) == 1;
    if (terminal) std::cout << "\x1b[2J";
    for (;;) {
        bool more = false;
        if (terminal) {
            std::string text;
            {
                const Captured captured;
                more = draw();
                text = captured.text();
            }
            if (context.exit_code == kOk) redraw(text);
        } else {
            more = draw();
            std::cout << std::flush;
        }
        if (!more || context.exit_code != kOk || !std::cout) return;
        context.outlasts_absence = true;
        poll(nullptr, 0, static_cast<int>(interval->count()));
    }
}

}  // namespace zbs::cli
