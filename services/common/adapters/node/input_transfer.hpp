#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "services/common/http/node_client.hpp"
#include "services/common/messages/staging.hpp"
#include "services/common/ports/clock.hpp"
#include "services/common/ports/executor.hpp"
#include "services/common/ports/log.hpp"

namespace zbs::node {

/// Sends inputs of steps to the agents that will need them: to each machine one file after the other, by content, in
/// pieces, each from where the agent has it on. What an agent has is asked once per file, and believed for a while.
/// Lives on the domain's strand.
class InputTransfer {
  public:
    /// Null where the machine's agent has never registered.
    using ClientOf = std::function<http::NodeClient*(const std::string& machine)>;

    /// All must outlive this.
    InputTransfer(ClientOf client_of, Clock& clock, Log& log)
        : client_of_(std::move(client_of)), clock_(clock), log_(log) {}

    /// As `Executor::bring`. Errors: kTooLarge, kRejected, naming file and machine.
    Result<bool> bring(const std::string& machine, const std::vector<StepSpec::Input>& inputs);
    /// The agent has lost something: what it has is asked anew.
    void forget(const std::string& machine);

  private:
    struct Transfer {
        StepSpec::Input input;
        Duration until{};        ///< steady time; each piece that is taken moves it
        int setbacks = 0;        ///< gaps, wrong checksums
        std::uint64_t sent = 0;  ///< bytes
    };
    /// How it went, believed until `until` (steady time).
    struct Outcome {
        Duration until{};
        std::optional<Error> fault;
    };
    struct Line {
        std::deque<Transfer> waiting;  ///< the first is under way where `busy`
        bool busy = false;
        std::map<std::string, Outcome> outcomes;  ///< by digest
    };

    void begin_next(const std::string& machine);
    void ask(const std::string& machine);
    void send(const std::string& machine, std::uint64_t offset);
    void take(const std::string& machine, std::uint64_t end, const Result<FilePresence>& answer);
    void retry(const std::string& machine, const Error& error);
    void end(const std::string& machine, std::optional<Error> fault);

    ClientOf client_of_;
    Clock& clock_;
    Log& log_;
    std::map<std::string, Line> lines_;  ///< by machine
};

}  // namespace zbs::node
