#include "services/common/adapters/node/node_executor.hpp"

#include <algorithm>
#include <utility>

#include "services/common/messages/limits.hpp"

namespace zbs::node {
namespace {

constexpr Duration kPause = std::chrono::milliseconds{500};    ///< before a call that failed is repeated
constexpr Duration kLongPause = std::chrono::seconds{10};      ///< the same, where its agent is silent for long
constexpr Duration kLongPoll = std::chrono::seconds{10};       ///< agents hold answers back for so long
constexpr Duration kStartDeadline = std::chrono::seconds{20};  ///< for an agent to be reached at all
constexpr Duration kColumnAgain = std::chrono::seconds{5};     ///< an agent that was restarted has none
constexpr std::size_t kMostSteps = 200;                        ///< asked for at once
constexpr std::size_t kRemovedAtOnce = 1'000;                  ///< files of a step
constexpr int kFetchTries = 5;
constexpr int kCannotStart = 127;  ///< exit code, as of a shell
constexpr int kKilled = 128 + 9;

bool is_passing(const Error& error) {
    return error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kTimeout ||
           error.code == ErrorCode::kTooManyRequests;
}

}  // namespace

struct NodeExecutor::Step {
    enum class Phase {
        kPlaced,    ///< nothing was asked yet
        kStarting,  ///< the agent has not answered yet
        kRunning,   ///< as far as is known
        kFetching,  ///< it has ended; its files are being fetched
        kEnded,
    };
    std::string operation, machine;
    Phase phase = Phase::kPlaced;
    StepSpec spec{};
    Duration asked{};  ///< steady time of its start
    StepStatus end{};
    bool is_stopping = false;
    bool is_telling = false;  ///< the agent has not heard yet that it is to stop
    Duration grace{};
    std::vector<StepFile> files{};  ///< still to be fetched
    std::uint64_t offset = 0;       ///< in the first of them
    int failures = 0;
};

struct NodeExecutor::Agent {
    std::string url;
    std::unique_ptr<http::NodeClient> client;
    std::uint64_t version = 0;
    bool is_watching = false;
    std::optional<SliceColumn> column;
    Duration answered{};  ///< steady time of its last answer, or of the first question
};

NodeExecutor::NodeExecutor(NodeExecutorOptions options, std::string organisation, Executor& local, HttpClient& client,
                           Post post, Clock& clock, Log& log)
    : options_(std::move(options)),
      organisation_(std::move(organisation)),
      local_(local),
      client_(client),
      post_(std::move(post)),
      clock_(clock),
      log_(log),
      results_(options_.folder) {}

NodeExecutor::~NodeExecutor() = default;

Duration NodeExecutor::pause_for(const std::string& machine) const {
    const auto at = agents_.find(machine);
    const bool is_lost = at != agents_.end() && clock_.steady_now() - at->second->answered >= options_.lost_after;
    return is_lost ? kLongPause : kPause;
}

void NodeExecutor::later(Duration pause, std::function<void()> again) { clock_.after(pause, std::move(again)); }

NodeExecutor::SharedStep NodeExecutor::find(const std::string& operation) const {
    const auto at = steps_.find(operation);
    return at == steps_.end() ? nullptr : at->second;
}

/// Null where the machine's agent has never registered. Where it has moved, its new place counts.
NodeExecutor::Agent* NodeExecutor::agent_of(const std::string& machine) {
    std::unique_ptr<Agent>& agent = agents_[machine];
    if (agent == nullptr) {
        agent = std::make_unique<Agent>();
        agent->answered = clock_.steady_now();
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

void NodeExecutor::place(const std::string& operation, const std::string& machine) {
    if (!options_.machines.contains(machine) || steps_.contains(operation)) return;
    steps_[operation] = std::make_shared<Step>(Step{.operation = operation, .machine = machine});
}

Result<void> NodeExecutor::start(const StepSpec& spec) {
    const SharedStep step = find(spec.operation);
    if (step == nullptr) return local_.start(spec);
    if (step->phase != Step::Phase::kPlaced) return {};
    if (agent_of(step->machine) == nullptr)
        return Error{ErrorCode::kUnavailable, "the agent of machine " + step->machine + " has not registered", {}};
    step->phase = Step::Phase::kStarting;
    step->spec = spec;
    step->asked = clock_.steady_now();
    send_start(step);
    return {};
}

void NodeExecutor::send_start(const SharedStep& step) {
    if (step->phase != Step::Phase::kStarting) return;
    agent_of(step->machine)->client->start(step->spec, [this, step](const Result<StepReport>& report) {
        if (step->phase != Step::Phase::kStarting) return;
        if (report) {
            agent_of(step->machine)->answered = clock_.steady_now();
            step->phase = Step::Phase::kRunning;
            if (step->is_stopping) send_stop(step);
            return watch(step->machine);
        }
        const bool is_late = clock_.steady_now() - step->asked >= kStartDeadline;
        if (is_passing(report.error()) && !is_late && !step->is_stopping)
            return later(kPause, [this, step] { send_start(step); });
        const std::string why = "could not be started on machine " + step->machine + ": " + report.error().message;
        log_.warn("step_not_started", {{"operation", step->operation}, {"reason", why}});
        // It may have been, where no answer came: then it must not go on.
        step->phase = Step::Phase::kRunning;
        if (is_passing(report.error())) stop(step->operation, Duration{0});
        end(step, {StepStatus::State::kExited, kCannotStart, why}, false);
    });
}

StepStatus NodeExecutor::status(const std::string& operation) {
    const SharedStep step = find(operation);
    if (step == nullptr) return local_.status(operation);
    if (step->phase == Step::Phase::kEnded) return step->end;
    if (step->phase == Step::Phase::kPlaced) {  // of a life before this one
        if (const std::optional<StepStatus> end = results_.end_of(operation)) {
            step->phase = Step::Phase::kEnded;
            step->end = *end;
            forget_at_agent(step);
            return *end;
        }
        step->phase = Step::Phase::kRunning;
    }
    if (step->phase == Step::Phase::kRunning) watch(step->machine);
    return {StepStatus::State::kRunning, 0, {}};
}

/// Asks the agent for its steps until none of them is left.
void NodeExecutor::watch(const std::string& machine) {
    Agent* const agent = agent_of(machine);
    const auto again = [this, machine] {
        agents_[machine]->is_watching = false;
        give_up_lost(machine);
        watch(machine);
    };
    http::NodeClient::StepQuery query{.operations = {}, .since = 0, .wait = kLongPoll};
    for (const auto& [operation, step] : steps_)
        if (step->machine == machine && step->phase == Step::Phase::kRunning && query.operations.size() < kMostSteps)
            query.operations.push_back(operation);
    if (query.operations.empty() || agents_[machine]->is_watching) return;
    agents_[machine]->is_watching = true;
    if (agent == nullptr) return later(kPause, again);
    query.since = agent->version;
    agent->client->statuses(query, [this, machine, again](const Result<StepPage>& page) {
        if (!page) return later(kPause, again);
        agents_[machine]->answered = clock_.steady_now();
        agents_[machine]->version = page->version;
        take_page(machine, *page);
        again();
    });
}

void NodeExecutor::take_page(const std::string& machine, const StepPage& page) {
    for (const StepReport& report : page.steps) {
        const SharedStep step = find(report.operation);
        if (step == nullptr || step->machine != machine || step->phase != Step::Phase::kRunning) continue;
        if (report.state == StepState::kExited)
            end(step, {StepStatus::State::kExited, report.exit_code, report.reason}, true);
        else if (report.state == StepState::kUnknown)
            end(step, {StepStatus::State::kExited, kKilled, "machine " + machine + " knows nothing of it any more"},
                false);
    }
}

void NodeExecutor::give_up_lost(const std::string& machine) {
    if (clock_.steady_now() - agents_[machine]->answered < options_.lost_after) return;
    const std::string why = "machine " + machine + " has not answered for " +
                            std::to_string(static_cast<int>(to_seconds(options_.lost_after))) + " s";
    for (const auto& [operation, step] : std::map<std::string, SharedStep>(steps_)) {
        if (step->machine != machine || step->phase != Step::Phase::kRunning) continue;
        log_.warn("step_lost", {{"operation", operation}, {"reason", why}});
        stop(operation, Duration{0});  // should the machine come back
        end(step, {StepStatus::State::kExited, kKilled, why}, false);
    }
}

void NodeExecutor::stop(const std::string& operation, Duration grace) {
    const SharedStep step = find(operation);
    if (step == nullptr) return local_.stop(operation, grace);
    if (step->phase == Step::Phase::kFetching || step->phase == Step::Phase::kEnded) return;
    step->grace = grace;
    if (std::exchange(step->is_stopping, true)) return;
    step->is_telling = true;
    send_stop(step);
}

/// Until its agent has heard of it: it might have been started there by a call that came late.
void NodeExecutor::send_stop(const SharedStep& step) {
    Agent* const agent = agent_of(step->machine);
    if (agent == nullptr) return later(pause_for(step->machine), [this, step] { send_stop(step); });
    agent->client->stop(step->operation, step->grace, [this, step](const Result<StepReport>& report) {
        if (!report && is_passing(report.error()))
            return later(pause_for(step->machine), [this, step] { send_stop(step); });
        step->is_telling = false;
        if (step->phase == Step::Phase::kEnded) return forget_at_agent(step);
        watch(step->machine);
    });
}

void NodeExecutor::end(const SharedStep& step, StepStatus status, bool fetch) {
    step->end = std::move(status);
    step->phase = Step::Phase::kFetching;
    if (!fetch) return settle(step);
    results_.clear(step->operation);
    fetch_list(step);
}

void NodeExecutor::fetch_list(const SharedStep& step) {
    agent_of(step->machine)
        ->client->list(step->operation, options_.wanted_files, [this, step](Result<std::vector<StepFile>> files) {
            if (!files && is_passing(files.error()) && ++step->failures < kFetchTries)
                return later(kPause, [this, step] { fetch_list(step); });
            if (files) step->files = *std::move(files);
            std::erase_if(step->files, [](const StepFile& f) { return f.bytes > limits::kMaxReplyBytes; });
            fetch_next(step);
        });
}

void NodeExecutor::fetch_next(const SharedStep& step) {
    if (step->files.empty()) return settle(step);
    const StepFile& file = step->files.front();
    if (step->offset >= file.bytes) {
        step->offset = 0;
        step->files.erase(step->files.begin());
        return fetch_next(step);
    }
    agent_of(step->machine)
        ->client->read(step->operation, file.name, step->offset, limits::kMaxLogChunkBytes,
                       [this, step, name = file.name](const Result<std::string>& bytes) {
                           if (!bytes && is_passing(bytes.error()) && ++step->failures < kFetchTries)
                               return later(kPause, [this, step] { fetch_next(step); });
                           const bool good = bytes && !bytes->empty() && results_.append(step->operation, name, *bytes);
                           // A file that cannot be had, or shrinks, is left out: half a profile is none.
                           step->offset = good ? step->offset + bytes->size() : UINT64_MAX;
                           fetch_next(step);
                       });
}

void NodeExecutor::settle(const SharedStep& step) {
    if (auto kept = results_.finish(step->operation, step->end); !kept)
        log_.warn("step_result_not_kept", {{"operation", step->operation}, {"reason", kept.error().message}});
    step->phase = Step::Phase::kEnded;
    if (!step->is_telling) forget_at_agent(step);
}

/// Nothing of it is needed there any more.
void NodeExecutor::forget_at_agent(const SharedStep& step) {
    Agent* const agent = agent_of(step->machine);
    if (agent == nullptr) return;  // it removes what is old by itself
    agent->client->remove(step->operation, kRemovedAtOnce, [this, step](const Result<StepRemoval>& removal) {
        const bool is_done =
            removal ? removal->complete : removal.error().code != ErrorCode::kConflict && !is_passing(removal.error());
        if (!is_done) later(pause_for(step->machine), [this, step] { forget_at_agent(step); });
    });
}

void NodeExecutor::set_column(const std::string& machine, SliceColumn column) {
    static_cast<void>(agent_of(machine));  // makes its entry
    const std::uint64_t number = column.number;
    agents_.at(machine)->column = std::move(column);
    send_column(machine, number);
}

/// Until there is a newer one.
void NodeExecutor::send_column(const std::string& machine, std::uint64_t number) {
    Agent* const agent = agent_of(machine);
    if (agents_.at(machine)->column->number != number) return;
    const auto again = [this, machine, number](Duration pause) {
        later(pause, [this, machine, number] { send_column(machine, number); });
    };
    if (agent == nullptr) return again(kPause);
    agent->client->set_slices(*agent->column, [this, machine, number, again](const Result<void>& set) {
        const SliceColumn& newest = *agents_.at(machine)->column;
        if (newest.number != number) return;
        if (!set && !is_passing(set.error()))
            log_.warn("slices_refused", {{"machine", machine}, {"reason", set.error().message}});
        if (!set) return again(std::max(pause_for(machine), is_passing(set.error()) ? kPause : kColumnAgain));
        if (!newest.rows.empty()) again(kColumnAgain);
    });
}

std::string NodeExecutor::folder(const std::string& operation) {
    const SharedStep step = find(operation);
    if (step == nullptr) return local_.folder(operation);
    const std::optional<KnownAgent> known = directory_(step->machine);
    std::string folder = known ? known->step_folder : "";
    constexpr std::string_view kMark = "{operation}";
    if (const std::size_t at = folder.find(kMark); at != std::string::npos) folder.replace(at, kMark.size(), operation);
    return folder;
}

Result<std::string> NodeExecutor::read(const std::string& operation, const std::string& file, std::uint64_t offset,
                                       std::size_t limit) {
    if (steps_.contains(operation) || results_.has(operation)) return results_.read(operation, file, offset, limit);
    return local_.read(operation, file, offset, limit);
}

std::vector<Executor::File> NodeExecutor::list(const std::string& operation, const std::string& prefix) {
    if (steps_.contains(operation) || results_.has(operation)) return results_.list(operation, prefix);
    return local_.list(operation, prefix);
}

Result<Executor::Removal> NodeExecutor::remove(const std::string& operation, std::size_t at_most) {
    const SharedStep step = find(operation);
    if (step == nullptr && !results_.has(operation)) return local_.remove(operation, at_most);
    if (step != nullptr && step->phase != Step::Phase::kEnded)
        return Error{ErrorCode::kConflict, "step " + operation + " has not ended", {}};
    Result<Removal> removal = results_.remove(operation, at_most);
    if (removal && removal->complete) steps_.erase(operation);
    return removal;
}

}  // namespace zbs::node
