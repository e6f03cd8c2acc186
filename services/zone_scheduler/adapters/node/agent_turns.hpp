#pragma once
#include <functional>
#include <map>

#include "services/common/http/node_client.hpp"
#include "services/common/ports/clock.hpp"
#include "services/common/ports/log.hpp"

namespace zbs::node {

/// Whether the same call may be answered otherwise soon.
bool is_passing(const Error& error);

/// Sends agents their columns and shares: the newest until the agent has it, and while there is anything in it again
/// and again, because an agent that was restarted has none. Lives on the domain's strand.
class AgentTurns {
  public:
    /// Null where the machine's agent has never registered.
    using FindClient = std::function<http::NodeClient*(const MachineName& machine)>;
    /// Before a call that was not answered is repeated.
    using Pause = std::function<Duration(const MachineName& machine)>;

    /// Both must outlive this.
    AgentTurns(FindClient find, Pause pause, Clock& clock, Log& log)
        : find_(std::move(find)), pause_(std::move(pause)), clock_(clock), log_(log) {}

    void set_column(const MachineName& machine, SliceColumn column);
    void set_shares(const MachineName& machine, ShareTable table);

  private:
    void send_column(const MachineName& machine, std::uint64_t number);
    void send_shares(const MachineName& machine, std::uint64_t number);
    void record_refused(const char* what, const MachineName& machine, const Error& error);

    FindClient find_;
    Pause pause_;
    Clock& clock_;
    Log& log_;
    std::map<MachineName, SliceColumn> columns_;
    std::map<MachineName, ShareTable> shares_;
    std::map<MachineName, std::uint64_t> logged_refusals_;  ///< number of the shares that the log has a refusal of
};

}  // namespace zbs::node
