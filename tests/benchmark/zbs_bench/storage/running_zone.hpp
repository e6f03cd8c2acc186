#pragma once
#include <sys/types.h>

#include <string>

#include "algorithms/base/result.hpp"

namespace zbs::bench {

/// The real zbs-zone, without certificates, on a free port of loopback, on a state folder that outlives it.
class RunningZone {
  public:
    /// Writes the configuration of a zone with one processor into `folder`.
    static void configure(const std::string& folder);
    /// `program`: path of zbs-zone. Returns once it says where it listens. Errors: it ended before.
    static Result<RunningZone> start(const std::string& program, const std::string& folder);
    RunningZone(RunningZone&& other) noexcept;
    RunningZone& operator=(RunningZone&&) = delete;
    ~RunningZone();  ///< SIGTERM, and waits

    int port() const { return port_; }
    std::string token() const;  ///< that proves a name
    std::string token_text;     ///< room for it
    double resident_megabytes() const;
    void kill();  ///< -9, and waits

  private:
    RunningZone(pid_t process, int port, std::string folder)
        : process_(process), port_(port), folder_(std::move(folder)) {}
    void end(int signal);
    pid_t process_ = 0;
    int port_ = 0;
    std::string folder_;
};

/// One kept connection, used by one thread.
class Connection {
  public:
    explicit Connection(int port);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    /// Status of the answer; 0 where there is none. The body is in `body()`.
    int call(const std::string& method, const std::string& path, const std::string& headers,
             const std::string& content = {});
    const std::string& body() const { return body_; }

  private:
    int socket_ = -1;
    std::string buffer_, body_;
};

}  // namespace zbs::bench
