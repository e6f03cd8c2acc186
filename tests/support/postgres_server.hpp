#pragma once
#include <filesystem>
#include <memory>
#include <string>

#include "tests/support/temporary_folder.hpp"

namespace zbs::test {

/// A real PostgreSQL of this test program alone: in a temporary folder, reached by a socket in it, as an unprivileged
/// account where the test is root. It ends with the program, however that ends.
class PostgresServer {
  public:
    /// The one server, started when it is asked for first; null where Debian's `postgresql` is not installed.
    static PostgresServer* shared();
    ~PostgresServer();
    PostgresServer(const PostgresServer&) = delete;
    PostgresServer& operator=(const PostgresServer&) = delete;

    std::string url() const;
    /// A name that no other test has.
    std::string fresh_schema();
    /// Ends it as a power cut does, and starts it again; waits until it takes calls.
    void crash_and_restart();

  private:
    PostgresServer() = default;
    void start();
    void stop(int signal);
    /// In memory if there is room: commits and recovery wait for no disk then.
    static std::filesystem::path place();
    TemporaryFolder folder_{place()};
    std::string programs_;
    int pid_ = -1;
    int schemas_ = 0;
};

}  // namespace zbs::test
