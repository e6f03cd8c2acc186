#pragma once
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "services/common/ports/clock.hpp"
#include "services/common/ports/log.hpp"
#include "services/common/ports/machine_sensor.hpp"
#include "services/common/ports/process_control.hpp"
#include "services/common/ports/steps/step_files.hpp"
#include "services/common/ports/steps/step_runner.hpp"
#include "services/node_agent/domain/input_store.hpp"
#include "services/node_agent/domain/slice_switcher.hpp"
#include "services/node_agent/domain/work_meter.hpp"

namespace zbs {

/// What an agent stands on. All of it must outlive the service.
struct NodePorts {
    Clock& clock;
    StepRunner& steps;
    StepFiles& files;
    ProcessControl& control;
    MachineSensor& sensor;
    SliceSwitcher& switcher;
    /// Puts work on the strand of `switcher`.
    std::function<void(std::function<void()>)> post_switch;
    InputStore& inputs;
    Log& log;
};

/// The steps of one node: started, watched, stopped, let take turns. It keeps nothing of its own on the disk: what it
/// had started before a restart it finds by its folders. Lives on one strand; `start` waits there for the program to
/// execute, up to 5 s.
class NodeService {
  public:
    static constexpr Duration kCheckInterval = std::chrono::milliseconds{100};  ///< for what has ended
    static constexpr int kChecksPerSample = 10;  ///< of what the steps do; that costs more, by their processes
    /// A step that has ended, and that nobody has asked for by its name for so long, goes with its folder: its zone has
    /// forgotten it, as where that was restarted before it could have it removed.
    static constexpr Duration kForgottenAfter = std::chrono::hours{7 * 24};
    static constexpr Duration kMeasureEvery = std::chrono::seconds{2};  ///< load and what the steps use, at most

    /// `name` and `step_folder` go into the description.
    NodeService(NodePorts ports, MachineName name, std::string step_folder);

    /// Takes up the steps that are there, and begins to look after them.
    void resume();
    /// The agent ends; the steps go on, all of them.
    void release();

    /// Before an order of a zone that has several schedulers: `turn` is the number of the lease that it acts under.
    /// Errors: kConflict for one below the greatest seen in this life of the agent.
    Result<void> take_turn(std::uint64_t turn);

    NodeStatus status();
    NodeRegistration registration(const std::string& url);

    // Ids are such as `codec::is_step_id` says; what is none is kInvalidArgument at the edge.

    /// Idempotent. Errors: the executor's; kTooManyRequests where `limits::kMaxNodeSteps` run; as
    /// `InputStore::locate`.
    Result<StepReport> start(StepSpec spec);
    /// Ends the whole tree, suspended or not: all are asked, and killed after `grace`. A step that is not known never
    /// begins after it.
    StepReport stop(const StepId& step_id, Duration grace);
    /// Of these; of all that are here where none are named. With what they use.
    StepPage steps(const std::vector<StepId>& step_ids);
    using Answer = std::function<void(StepPage)>;
    /// The same, once the version is another than `since`, or `wait` has passed.
    void steps_after(std::vector<StepId> step_ids, std::uint64_t since, Duration wait, Answer answer);
    std::vector<StepFile> files(const StepId& step_id, const std::string& prefix);
    Result<std::string> read(const StepId& step_id, const std::string& file, std::uint64_t offset, std::size_t limit);
    /// Errors: the executor's; kConflict while it runs.
    Result<StepRemoval> remove(const StepId& step_id, std::size_t at_most);

    /// Errors: kConflict for a number that is not greater than the last one's; the same column again is success.
    Result<void> set_slices(SliceColumn column);
    /// Steps that are not here yet get theirs when they start; a step that the table names no more goes back to what is
    /// as without. A repeat sets all again, and nice levels are set again with every sample, for what a step has
    /// started meanwhile. They keep their order also where this agent may not make one smaller: such a step stays where
    /// it is, and those with larger levels get as much more. Errors: as `set_slices`; what could not be set, naming the
    /// first step, after all others were tried.
    Result<void> set_shares(ShareTable table);

  private:
    struct Known {
        StepReport report;
        bool leaving = false;  ///< it was asked to end: no column holds it any more
        Duration cpu{};        ///< as seen last
        Duration asked{};      ///< steady time, when somebody asked for it last
        WorkMeter meter{};
    };
    struct Waiter {
        std::uint64_t id;
        std::vector<StepId> step_ids;
        Answer answer;
        Clock::TimerId timer;
    };

    void look();
    void remove_forgotten();
    bool update(const StepId& step_id, Known& known, bool sample);
    void measure_work(const StepId& step_id, Known& known);
    void changed();
    void answer(std::uint64_t waiter);
    StepReport report_of(const StepId& step_id, bool with_usage);
    void leave(const StepId& step_id, Known& known);
    bool runs(const StepId& step_id) const;
    void record_question(const StepId& step_id);
    Result<void> set_all_shares();
    std::vector<Share> levels() const;
    Result<void> set_nice_levels(std::vector<Share> shares);
    void take_back_share(const Share& share);
    const NodeLoad& measure();

    NodePorts ports_;
    NodeDescription description_;
    std::map<StepId, Known> known_;
    std::list<Waiter> waiters_;
    std::uint64_t next_waiter_ = 1;
    std::uint64_t version_ = 0;
    std::uint64_t turn_ = 0;  ///< the greatest seen
    int checks_ = 0;
    std::optional<SliceColumn> column_;  ///< the last one taken
    ShareTable shares_;
    NodeLoad load_;
    std::optional<Duration> measured_;  ///< steady time
    Duration ended_cpu_{};              ///< of steps that have ended
};

}  // namespace zbs
