#pragma once
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "client/api/zone_client.hpp"
#include "client/cli/applications/application_view.hpp"
#include "client/cli/context.hpp"

/// Staying with an application until it ends.
namespace zbs::cli {

/// Where the output of the ranks goes; both may be one.
struct OutputStreams {
    std::FILE* out = stdout;
    std::FILE* err = stderr;
    std::function<void()> begin{};  ///< called once: when the job has begun, or before its first output
};

/// Copies new output of all ranks to our own streams, or others.
class LogFollower {
  public:
    LogFollower(client::ZoneClient& zone, std::string id, std::string only_rank = {}, bool label = false,
                OutputStreams streams = {})
        : zone_(zone), id_(std::move(id)), only_rank_(std::move(only_rank)), label_(label), streams_(streams) {}
    /// Ends the last line of each stream that its program did not end.
    ~LogFollower();
    LogFollower(const LogFollower&) = delete;
    LogFollower& operator=(const LogFollower&) = delete;

    /// True once everything has been copied and nothing will follow. Errors: what the zone says, kNotFound of a rank
    /// that the application does not have.
    Result<bool> copy();
    /// The job has begun, also where it prints nothing.
    void begin() {
        if (streams_.begin) std::exchange(streams_.begin, nullptr)();
    }
    bool writes_files() const { return streams_.out != stdout || streams_.err != stderr; }
    /// 0, or the errno of the first write that one of our own streams refused, EPIPE where nobody reads it any more.
    /// What comes later is not written.
    int write_fault() const { return write_fault_[0] != 0 ? write_fault_[0] : write_fault_[1]; }
    /// Whether nothing can be written any more to either stream.
    bool is_cut() const { return write_fault_[0] != 0 && write_fault_[1] != 0; }
    bool is_output_cut() const { return write_fault_[0] != 0; }
    /// Before a message on standard error: ends the line there that a program has not ended, also where standard output
    /// leads to the same terminal or file.
    void end_line();

  private:
    std::FILE* stream_of(std::string_view name) const { return name == "stderr" ? streams_.err : streams_.out; }
    void emit(const std::string& rank, const std::string& stream, const std::string& bytes);
    void emit_line(const std::string& rank, std::string_view line, std::FILE* out);
    int& fault_of(const std::FILE* out) { return write_fault_[out != streams_.out]; }
    void put(std::string_view bytes, std::FILE* out);
    void flush(std::FILE* out);

    client::ZoneClient& zone_;
    std::string id_, only_rank_;
    bool label_;
    OutputStreams streams_;
    bool rank_known_ = false;      ///< there is such a rank
    int write_fault_[2] = {0, 0};  ///< of standard output, of standard error
    bool is_line_open_ = false;    ///< on standard error
    std::map<std::string, std::uint64_t> offsets_;
    std::map<std::string, std::string> partial_;
};

/// Keeps an application's delegation alive for as long as this command waits with it.
class DelegationKeeper {
  public:
    DelegationKeeper(client::ZoneClient& zone, std::string id, Duration walltime);
    Result<void> sign();
    /// Signs again once half of the time has passed, while the application still waits for zones.
    void look(const std::string& state);

  private:
    client::ZoneClient& zone_;
    std::string id_;
    Duration lifetime_;
    std::chrono::steady_clock::time_point signed_at_{};
};

/// The line that a command prints if it ends before these applications, with the commands that return to them.
std::string way_back(const std::vector<std::string>& ids);

/// Prints the error as `Context::fail` does. If the zone is away, a further line names the way back to the application.
void fail_to_follow(Context& context, const Error& error, const std::string& id);

struct FollowOptions {
    bool quiet = false;        ///< only the program's own output
    bool has_results = false;  ///< lines about results follow
};
/// Follows an application to its end, copying its output; the first interrupt cancels it, the second leaves it. An
/// output that cannot be written is reported once, and the application goes on. Returns the zone's view of it at its
/// end; none where the command left it before.
std::optional<ApplicationView> follow(Context& context, client::ZoneClient& zone, const std::string& id,
                                      const FollowOptions& options, const OutputStreams& streams,
                                      DelegationKeeper* delegation = nullptr);

}  // namespace zbs::cli
