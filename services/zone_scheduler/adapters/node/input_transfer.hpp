#pragma once
#include <compare>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "algorithms/base/result.hpp"
#include "services/common/http/node_client.hpp"
#include "services/common/messages/staging.hpp"
#include "services/common/ports/clock.hpp"
#include "services/common/ports/log.hpp"
#include "services/common/ports/steps/step_files.hpp"

namespace zbs::node {

struct FilePiece {
    std::string path;
    std::uint64_t offset = 0;
    std::size_t limit = 0;  ///< bytes; fewer come at the end of the file
};
/// Reads it, and answers on the domain's strand, now or later. Errors: kUnavailable.
using ReadPiece = std::function<void(FilePiece piece, std::function<void(Result<std::string>)> answer)>;

/// On the caller's own thread.
Result<std::string> read_piece(const FilePiece& piece);

/// Reads on a thread of its own, one piece after the other: a disk that is slow keeps nobody waiting but who wants a
/// piece.
class PieceReader {
  public:
    /// `post`: puts work on the domain's strand, from any thread.
    using Post = std::function<void(std::function<void()>)>;

    explicit PieceReader(Post post);
    /// Waits for the piece that is being read; what was not read yet is not answered.
    ~PieceReader();
    PieceReader(const PieceReader&) = delete;
    PieceReader& operator=(const PieceReader&) = delete;

    void read(FilePiece piece, std::function<void(Result<std::string>)> answer);

  private:
    using Wanted = std::pair<FilePiece, std::function<void(Result<std::string>)>>;
    void work();

    Post post_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Wanted> wanted_;
    bool is_ending_ = false;
    std::thread thread_;  ///< last: it uses all of the above
};

/// Sends inputs of steps to the agents that will need them: to each machine one piece after the other, by content, each
/// from where the agent has it on. Files for one machine take turns; one that its agent does not take now is tried
/// again later and later, while others go on. Each goes for as long as somebody needs it. What an agent has is asked
/// once per file, and believed for a while. Lives on the domain's strand.
class InputTransfer {
  public:
    /// Null where the machine's agent has never registered.
    using ClientOf = std::function<http::NodeClient*(const MachineName& machine)>;

    /// All must outlive this.
    InputTransfer(ClientOf client_of, ReadPiece read, Clock& clock, Log& log)
        : client_of_(std::move(client_of)), read_(std::move(read)), clock_(clock), log_(log) {}

    /// As `MachineFiles::stage_inputs`. Errors: kTooLarge, kRejected, naming file and machine.
    Result<bool> stage_inputs(const MachineFiles::Need& need);
    /// As `MachineFiles::end_staging`.
    void take_back(const std::string& who);
    /// The agent has lost something: what it has is asked anew.
    void forget(const MachineName& machine);

  private:
    struct Content {
        std::string digest;
        std::uint64_t size = 0;
        auto operator<=>(const Content&) const = default;
    };
    struct Transfer {
        std::map<std::string, StepSpec::Input> wishes;  ///< by who needs it: the same content, maybe at other places
        std::optional<std::uint64_t> have{};            ///< bytes that the agent has; none: it has to be asked
        std::optional<Duration> until{};                ///< steady time; each piece that is taken moves it
        Duration not_before{};                          ///< steady time of the next try
        Duration pause{};                               ///< after the next failure
        int failures = 0;                               ///< since the last piece that was taken
        int setbacks = 0;                               ///< gaps, wrong checksums
        int pieces = 0;                                 ///< of this turn
        std::uint64_t sent = 0;                         ///< bytes
    };
    struct Line {
        std::map<Content, Transfer> transfers;
        std::deque<Content> order;            ///< of their turns
        bool busy = false;                    ///< a call or a look at the disk is under way
        bool rests = false;                   ///< all wait for another try
        std::map<Content, Duration> here;     ///< what the agent has; believed until then (steady time)
        std::map<std::string, Error> faults;  ///< by the step to be notified
    };

    void go_on(const MachineName& machine);
    void rest(const MachineName& machine, Duration until);
    Transfer* find(const MachineName& machine, const Content& content);
    void ask(const MachineName& machine, const Content& content);
    void send(const MachineName& machine, const Content& content);
    void put(const MachineName& machine, const Content& content, std::uint64_t from, std::string bytes);
    void take(const MachineName& machine, const Content& content, std::uint64_t end,
              const Result<FilePresence>& answer);
    void retry(const MachineName& machine, const Content& content, const Error& error);
    void end(const MachineName& machine, const Content& content, const std::optional<Error>& fault);
    void fail(const MachineName& machine, const Content& content, const std::string& who, const Error& error);
    void erase(Line& line, const Content& content);

    ClientOf client_of_;
    ReadPiece read_;
    Clock& clock_;
    Log& log_;
    std::map<MachineName, Line> lines_;  ///< by machine
};

}  // namespace zbs::node
