#pragma once
#include <signal.h>

#include <string>

namespace zbs::cli {

/// While it lives, SIGINT and SIGTERM first write a line to standard error and then end the program as they would have
/// done without it. A signal that the caller of the program ignores stays ignored. One at a time.
class InterruptLine {
  public:
    explicit InterruptLine(const std::string& line);
    ~InterruptLine();
    InterruptLine(const InterruptLine&) = delete;
    InterruptLine& operator=(const InterruptLine&) = delete;

  private:
    struct sigaction before_[2] = {};
};

}  // namespace zbs::cli
