#include "services/zone_scheduler/adapters/node/node_executor.hpp"

#include <algorithm>
#include <utility>

#include "services/common/messages/steps/lost_machine.hpp"
#include "services/zone_scheduler/adapters/node/node_step.hpp"

namespace zbs::node {
namespace {

constexpr Duration kLongPoll = std::chrono::seconds{10};       ///< agents hold answers back for so long
constexpr Duration kStartDeadline = std::chrono::seconds{20};  ///< for an agent to be reached at all
constexpr std::size_t kMaxSteps = 200;                         ///< asked for at once
constexpr int kMaxRounds = 5;                                  ///< of bringing inputs that its agent loses again
constexpr Duration kBetweenPages = std::chrono::milliseconds{20};
constexpr int kCannotStart = 127;  ///< exit code, as of a shell

}  // namespace

NodeExecutor::NodeExecutor(NodeExecutorOptions options, OrganisationName organisation, Directory directory,
                           Executor& local, HttpClient& client, Post post, Clock& clock, Log& log)
    : options_(std::move(options)),
      organisation_(std::move(organisation)),
      directory_(std::move(directory)),
      local_(local),
      client_(client),
      post_(std::move(post)),
      clock_(clock),
      log_(log),
      results_(options_.folder, {options_.reserve_bytes, options_.reserve_percent}, options_.make_durable),
      turns_(
          [this](const MachineName& machine) -> http::NodeClient* {
              Agent* const agent = agent_of(machine);
              return agent == nullptr ? nullptr : agent->client.get();
          },
          [this](const MachineName& machine) { return pause_for(machine); }, clock_, log_),
      inputs_(
          [this](const MachineName& machine) -> http::NodeClient* {
              Agent* const agent = agent_of(machine);
              return agent == nullptr ? nullptr : agent->client.get();
          },
          options_.read, clock_, log_) {}

NodeExecutor::~NodeExecutor() = default;

Duration NodeExecutor::pause_for(const MachineName& machine) const {
    const auto at = agents_.find(machine);
    const bool is_lost = at != agents_.end() && at->second->is_lost(clock_.steady_now(), options_.lost_after);
    return is_lost ? kLongPause : kPause;
}

void NodeExecutor::later(Duration pause, std::function<void()> again) { clock_.after(pause, std::move(again)); }

NodeExecutor::SharedStep NodeExecutor::find(const StepId& step_id) const {
    const auto at = steps_.find(step_id);
    return at == steps_.end() ? nullptr : at->second;
}

/// Null where the machine's agent has never registered. Where it has moved, its new place counts.
NodeExecutor::Agent* NodeExecutor::agent_of(const MachineName& machine) {
    std::unique_ptr<Agent>& agent = agents_[machine];
    if (agent == nullptr) {
        agent = std::make_unique<Agent>();
    }
    const std::optional<KnownAgent> known = directory_(machine);
    if (known && (agent->client == nullptr || agent->url != known->url)) {
        agent->url = known->url;
        agent->version = 0;
        agent->client = std::make_unique<http::NodeClient>(
            client_, ServiceAddress{known->url, {CallerKind::kNode, organisation_, machine}}, post_);
    }
    return agent->client == nullptr ? nullptr : agent.get();
}

void NodeExecutor::place(const StepId& step_id, const MachineName& machine) {
    if (!options_.machines.contains(machine) || steps_.contains(step_id)) return;
    steps_[step_id] = std::make_shared<Step>(Step{.step_id = step_id, .machine = machine});
}

Result<bool> NodeExecutor::stage_inputs(const Need& need) {
    return options_.machines.contains(need.machine) ? inputs_.stage_inputs(need) : local_.stage_inputs(need);
}

void NodeExecutor::end_staging(const std::string& who) {
    inputs_.take_back(who);
    local_.end_staging(who);
}

void NodeExecutor::request_results(const StepId& step_id, Wanted wanted) {
    ZBS_EXPECTS(wanted.room != nullptr);
    const SharedStep step = find(step_id);
    if (step == nullptr) return;
    const bool is_first = !step->wanted;
    step->wanted = std::move(wanted);
    if (is_first) take_room(*step);
}

Result<void> NodeExecutor::start(const StepSpec& spec) {
    const SharedStep step = find(spec.step_id);
    if (step == nullptr) return local_.start(spec);
    if (step->phase != Step::Phase::kPlaced) return {};
    if (agent_of(step->machine) == nullptr)
        return Error{ErrorCode::kUnavailable, "the agent of machine " + step->machine + " has not registered", {}};
    step->phase = Step::Phase::kStarting;
    step->spec = spec;
    // The spec has a place for a profile, for output or for the ends of ranks, or asks for results.
    step->wants_files =
        step->wanted || std::ranges::any_of(spec.environment, [](const auto& v) {
            return v.first == "ZBS_PROFILE_OUT" || v.first == "ZBS_OUTPUT" || v.first == kRankEndsVariable;
        });
    step->asked = clock_.steady_now();
    send_start(step);
    return {};
}

void NodeExecutor::send_start(const SharedStep& step) {
    if (step->phase != Step::Phase::kStarting || !has_inputs(step)) return;
    agent_of(step->machine)->client->start(step->spec, [this, step](const Result<StepReport>& report) {
        if (step->phase == Step::Phase::kStarting) start_answered(step, report);
    });
}

/// Whether its inputs are at its agent; while they are on their way this is tried again, and where they cannot be
/// brought the step ends.
bool NodeExecutor::has_inputs(const SharedStep& step) {
    if (step->spec.inputs.empty()) return true;
    const Result<bool> here = step->is_stopping
                                  ? Result<bool>(Error{ErrorCode::kConflict, "it was stopped", {}})
                                  : inputs_.stage_inputs({step->step_id, step->machine, step->spec.inputs});
    if (here && *here) return true;
    step->asked = clock_.steady_now();
    if (here)
        later(kPause, [this, step] { send_start(step); });
    else
        not_started(step, here.error());
    return false;
}

void NodeExecutor::start_answered(const SharedStep& step, const Result<StepReport>& report) {
    Agent& agent = *agents_.at(step->machine);
    agent.heard(report || !is_passing(report.error()), clock_.steady_now());
    if (report) {
        inputs_.take_back(step->step_id);
        step->was_seen = true;
        set_running(step);
        if (step->is_stopping) send_stop(step);
        return watch(step->machine);
    }
    const bool is_late = clock_.steady_now() - step->asked >= kStartDeadline;
    const bool lacks_input =
        report.error().code == ErrorCode::kConflict && !step->spec.inputs.empty() && ++step->rounds < kMaxRounds;
    if (lacks_input) inputs_.forget(step->machine);
    if ((is_passing(report.error()) || lacks_input) && !is_late && !step->is_stopping)
        return later(kPause, [this, step] { send_start(step); });
    not_started(step, report.error());
}

void NodeExecutor::not_started(const SharedStep& step, const Error& error) {
    inputs_.take_back(step->step_id);
    const std::string why = "could not be started on machine " + step->machine + ": " + error.message;
    log_.warn("step_not_started", {{"operation", step->step_id}, {"reason", why}});
    set_running(step);
    stop(step->step_id, Duration{0});  // it may have been started all the same: then it must not go on
    end(step, {StepStatus::State::kExited, kCannotStart, why, true}, false);
}

void NodeExecutor::set_running(const SharedStep& step) {
    step->phase = Step::Phase::kRunning;
    static_cast<void>(agent_of(step->machine));
    agents_.at(step->machine)->running.insert(step->step_id);
}

StepStatus NodeExecutor::status(const StepId& step_id) {
    const SharedStep step = find(step_id);
    if (step == nullptr) return local_.status(step_id);
    if (step->phase == Step::Phase::kEnded) return step->end;
    if (step->phase == Step::Phase::kPlaced) {  // of a life before this one
        if (const std::optional<StepStatus> end = results_.end_of(step_id)) {
            step->phase = Step::Phase::kEnded;
            step->end = *end;
            forget_at_agent(step);
            return *end;
        }
        set_running(step);
    }
    if (step->phase == Step::Phase::kRunning) watch(step->machine);
    return {.state = StepStatus::State::kRunning, .work = step->work};
}

/// Asks the agent for its steps until none of them is left. O(steps that run there), once a look.
void NodeExecutor::watch(const MachineName& machine) {
    Agent* const agent = agent_of(machine);
    Agent& known = *agents_.at(machine);
    if (known.is_watching || known.running.empty()) return;
    known.is_watching = true;
    const auto again = [this, machine](Duration pause) {
        later(pause, [this, machine] {
            agents_.at(machine)->is_watching = false;
            watch(machine);
        });
    };
    if (agent == nullptr) {
        known.heard(false, clock_.steady_now());
        give_up_lost(machine);
        return again(kPause);
    }
    const std::vector<StepId> asked(known.running.begin(), known.running.end());
    // Named they are answered in their order; more than fit into an address are found among all.
    http::NodeClient::StepQuery query{.step_ids = {}, .since = known.version, .wait = kLongPoll};
    if (asked.size() <= kMaxSteps) query.step_ids = asked;
    agent->client->statuses(query, [this, machine, again, asked](const Result<StepPage>& page) {
        Agent& answered = *agents_.at(machine);
        answered.heard(page.has_value(), clock_.steady_now());
        if (page) {
            answered.version = page->version;
            take_page(machine, asked, *page);
        }
        give_up_lost(machine);
        again(page ? kBetweenPages : pause_for(machine));
    });
}

void NodeExecutor::take_page(const MachineName& machine, const std::vector<StepId>& asked, const StepPage& page) {
    std::map<StepId, const StepReport*> reports;
    for (const StepReport& report : page.steps) reports[report.step_id] = &report;
    for (const StepId& step_id : asked) {
        const SharedStep step = find(step_id);
        if (step == nullptr || step->phase != Step::Phase::kRunning) continue;
        const auto at = reports.find(step_id);
        const StepState state = at == reports.end() ? StepState::kUnknown : at->second->state;
        if (state == StepState::kRunning) {
            step->was_seen = true;
            step->work = at->second->work;
        } else if (state == StepState::kExited) {
            const std::string& reason = at->second->reason;
            end(step, {StepStatus::State::kExited, at->second->exit_code, reason, reason.starts_with(kStepNotStarted)},
                step->wants_files);
        } else if (step->was_seen) {
            const std::string why = "machine " + machine + " knows nothing of it any more";
            end_without_results(step, why);
        } else {
            stop(step_id, Duration{0});  // the zone died before it asked for it, or the question is still on its way
            end(step, {StepStatus::State::kUnknown, 0, {}}, false);
        }
    }
}

void NodeExecutor::give_up_lost(const MachineName& machine) {
    Agent& agent = *agents_.at(machine);
    if (!agent.is_lost(clock_.steady_now(), options_.lost_after)) return;
    const std::string why = std::string(kLostMachineReason) + ": machine " + machine + " has not answered for " +
                            std::to_string(static_cast<int>(to_seconds(options_.lost_after))) +
                            " s; look at it, its network and its zbs-node";
    for (const StepId& step_id : std::set<StepId>(agent.running)) {
        log_.warn("step_lost", {{"operation", step_id}, {"reason", why}});
        stop(step_id, Duration{0});  // should the machine come back
        end_without_results(find(step_id), why);
    }
}

void NodeExecutor::stop(const StepId& step_id, Duration grace) {
    const SharedStep step = find(step_id);
    if (step == nullptr) return local_.stop(step_id, grace);
    if (step->phase == Step::Phase::kFetching || step->phase == Step::Phase::kEnded) return;
    step->grace = grace;
    if (std::exchange(step->is_stopping, true)) return;
    step->awaits_stop_answer = true;
    send_stop(step);
}

/// Until its agent has heard of it: it might have been started there by a call that came late.
void NodeExecutor::send_stop(const SharedStep& step) {
    Agent* const agent = agent_of(step->machine);
    if (agent == nullptr) return later(pause_for(step->machine), [this, step] { send_stop(step); });
    agent->client->stop(step->step_id, step->grace, [this, step](const Result<StepReport>& report) {
        const bool is_heard = report || report.error().code == ErrorCode::kNotFound;
        if (!is_heard) {
            const bool passing = is_passing(report.error());
            return later(passing ? pause_for(step->machine) : kLongPause, [this, step] { send_stop(step); });
        }
        step->awaits_stop_answer = false;
        if (step->phase == Step::Phase::kEnded) return forget_at_agent(step);
        watch(step->machine);
    });
}

void NodeExecutor::set_column(const MachineName& machine, SliceColumn column) {
    turns_.set_column(machine, std::move(column));
}

void NodeExecutor::set_shares(const MachineName& machine, ShareTable table) {
    turns_.set_shares(machine, std::move(table));
}

std::optional<bool> NodeExecutor::has_weights(const MachineName& machine) const {
    const std::optional<KnownAgent> known = directory_(machine);
    if (!known) return std::nullopt;
    return known->weights;
}

std::string NodeExecutor::folder(const StepId& step_id) {
    const SharedStep step = find(step_id);
    if (step == nullptr) return local_.folder(step_id);
    const std::optional<KnownAgent> known = directory_(step->machine);
    std::string folder = known ? known->step_folder : "";
    constexpr std::string_view kMark = "{operation}";
    if (const std::size_t at = folder.find(kMark); at != std::string::npos) folder.replace(at, kMark.size(), step_id);
    return folder;
}

Result<std::string> NodeExecutor::read(const StepId& step_id, const std::string& file, std::uint64_t offset,
                                       std::size_t limit) {
    if (steps_.contains(step_id) || results_.has(step_id)) return results_.read(step_id, file, offset, limit);
    return local_.read(step_id, file, offset, limit);
}

std::vector<StepFiles::File> NodeExecutor::list(const StepId& step_id, const std::string& prefix) {
    if (steps_.contains(step_id) || results_.has(step_id)) return results_.list(step_id, prefix);
    return local_.list(step_id, prefix);
}

std::vector<StepFiles::File> NodeExecutor::list_all(const StepId& step_id) {
    if (steps_.contains(step_id) || results_.has(step_id)) return results_.list(step_id, "");
    return local_.list_all(step_id);
}

/// An agent forgets a step, with all its files, once those that are wanted are here.
Result<void> NodeExecutor::remove_files(const StepId& step_id, const std::vector<std::string>& names) {
    if (!steps_.contains(step_id) && !results_.has(step_id)) return local_.remove_files(step_id, names);
    for (const std::string& name : names) results_.drop(step_id, name);
    return {};
}

Result<StepFiles::Removal> NodeExecutor::remove(const StepId& step_id, std::size_t at_most) {
    const SharedStep step = find(step_id);
    if (step == nullptr && !results_.has(step_id)) return local_.remove(step_id, at_most);
    if (step != nullptr && step->phase != Step::Phase::kEnded)
        return Error{ErrorCode::kConflict, "step " + step_id + " has not ended", {}};
    Result<Removal> removal = results_.remove(step_id, at_most);
    if (removal && removal->complete) steps_.erase(step_id);
    return removal;
}

}  // namespace zbs::node
