#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "services/common/http/node_client.hpp"
#include "services/common/messages/registry.hpp"
#include "services/common/messages/steps/own_files.hpp"
#include "services/common/messages/steps/rank_end.hpp"
#include "services/common/ports/clock.hpp"
#include "services/common/ports/executor.hpp"
#include "services/common/ports/http_client.hpp"
#include "services/common/ports/log.hpp"
#include "services/common/ports/slice_sink.hpp"
#include "services/zone_scheduler/adapters/node/agent_turns.hpp"
#include "services/zone_scheduler/adapters/node/input_transfer.hpp"
#include "services/zone_scheduler/adapters/node/step_results.hpp"

namespace zbs::node {

struct NodeExecutorOptions {
    std::set<MachineName, std::less<>>
        machines;        ///< those that have an agent of their own; steps for others run on this host
    std::string folder;  ///< where results of steps are kept that were fetched from agents; made if missing
    /// Files whose names begin so are fetched when a step has ended, as profiles and the output of ranks that their
    /// launcher does not bring home; all others go with the step.
    std::vector<std::string> wanted_files = {std::string(own_files::kProfile), std::string(own_files::kOut),
                                             std::string(own_files::kErr),     std::string(own_files::kEnd),
                                             std::string(own_files::kAtWork),  std::string(own_files::kUnusual)};
    std::uint64_t most_output_bytes = std::uint64_t{10} << 30;  ///< of what the ranks of a part print there
    /// Of the disk that `folder` is on: whatever is fetched leaves it free, as `files::Reserve`.
    std::uint64_t reserve_bytes = std::uint64_t{1} << 30;
    unsigned reserve_percent = 1;
    Duration lost_after = std::chrono::minutes{1};  ///< without any answer of an agent its steps count as ended
    /// How inputs are read; default on the strand itself.
    ReadPiece read = [](const FilePiece& piece, const std::function<void(Result<std::string>)>& answer) {
        answer(read_piece(piece));
    };
    /// How fetched files are made durable, before their agent is asked to forget them; on the strand.
    StepResults::MakeDurable make_durable = StepResults::make_durable;
};

/// An agent as it has registered.
struct KnownAgent {
    std::string url;
    std::string step_folder;  ///< as NodeDescription::step_folder
    bool weights = false;     ///< likewise
};

/// Steps on the machines that they are placed on, by the agents of these (`zbs-node`); all others by a local Executor.
/// A query is answered at once, from the last reports of the agents: a start counts as running until its agent has
/// reported otherwise, and a step whose agent is silent goes on until its machine counts as lost. When a step has
/// ended, its wanted files are fetched before the end is reported, and the agent forgets it. Lives on the domain's
/// strand.
class NodeExecutor : public Executor, public SliceSink {
  public:
    /// None where the machine's agent has never registered.
    using Directory = std::function<std::optional<KnownAgent>(const MachineName& machine)>;
    using Post = std::function<void(std::function<void()>)>;

    /// All must outlive this. `organisation`: of the agents.
    NodeExecutor(NodeExecutorOptions options, OrganisationName organisation, Directory directory, Executor& local,
                 HttpClient& client, Post post, Clock& clock, Log& log);
    ~NodeExecutor() override;

    void place(const StepId& step_id, const MachineName& machine) override;
    Result<bool> stage_inputs(const Need& need) override;
    void end_staging(const std::string& who) override;
    void request_results(const StepId& step_id, Wanted wanted) override;
    void share_output(const std::vector<StepId>& step_ids) override;
    Result<void> start(const StepSpec& spec) override;
    StepStatus status(const StepId& step_id) override;
    void stop(const StepId& step_id, Duration grace) override;
    std::string folder(const StepId& step_id) override;
    Result<std::string> read(const StepId& step_id, const std::string& file, std::uint64_t offset,
                             std::size_t limit) override;
    std::vector<File> list(const StepId& step_id, const std::string& prefix) override;
    std::vector<File> list_all(const StepId& step_id) override;
    Result<void> remove_files(const StepId& step_id, const std::vector<std::string>& names) override;
    Result<Removal> remove(const StepId& step_id, std::size_t at_most) override;
    void set_column(const MachineName& machine, SliceColumn column) override;
    void set_shares(const MachineName& machine, ShareTable table) override;
    std::optional<bool> has_weights(const MachineName& machine) const override;

  private:
    struct Step;
    struct Agent;
    using SharedStep = std::shared_ptr<Step>;

    SharedStep find(const StepId& step_id) const;
    Agent* agent_of(const MachineName& machine);
    void send_start(const SharedStep& step);
    bool has_inputs(const SharedStep& step);
    void start_answered(const SharedStep& step, const Result<StepReport>& report);
    void not_started(const SharedStep& step, const Error& error);
    void send_stop(const SharedStep& step);
    void watch(const MachineName& machine);
    void set_running(const SharedStep& step);
    void take_page(const MachineName& machine, const std::vector<StepId>& asked, const StepPage& page);
    void give_up_lost(const MachineName& machine);
    void end(const SharedStep& step, StepStatus status, bool fetch);
    void end_without_results(const SharedStep& step, const std::string& why);
    void fetch_list(const SharedStep& step);
    void choose_files(const SharedStep& step);
    void take_room(const Step& step);
    static bool is_wanted(const Step& step, const StepFile& file);
    bool take_result(Step& step, const StepFile& file);
    bool take_own_file(Step& step, StepFile& file, std::uint64_t& profile_bytes);
    void leave_out(const Step& step, const StepFile& file, const std::string& why);
    void take_bytes(const SharedStep& step, const Result<std::string>& bytes);
    void next_file(Step& step, std::string fault);
    void cut_output(Step& step);
    void fetch_next(const SharedStep& step);
    void settle(const SharedStep& step);
    void forget_at_agent(const SharedStep& step);
    Duration pause_for(const MachineName& machine) const;
    void later(Duration pause, std::function<void()> again);

    NodeExecutorOptions options_;
    OrganisationName organisation_;
    Directory directory_;
    Executor& local_;
    HttpClient& client_;
    Post post_;
    Clock& clock_;
    Log& log_;
    StepResults results_;
    std::map<StepId, SharedStep> steps_;  ///< those placed on agents in this life
    std::map<MachineName, std::unique_ptr<Agent>> agents_;
    AgentTurns turns_;
    InputTransfer inputs_;
    std::uint64_t awaited_ = 0;  ///< bytes of results that are to be fetched
};

}  // namespace zbs::node
