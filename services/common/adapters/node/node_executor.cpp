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
constexpr std::size_t kMostSteps = 200;                        ///< asked for at once
constexpr std::size_t kRemovedAtOnce = 1'000;                  ///< files of a step
/// Of what a step leaves: a job could write there without end.
constexpr std::size_t kMostFiles = 4'096;
constexpr std::uint64_t kMostBytes = 128ULL << 20;
constexpr Duration kFetchDeadline = std::chrono::seconds{60};
constexpr std::uint64_t kLeastBytesPerSecond = 1 << 20;  ///< an agent that sends slower is given up
constexpr int kMostRounds = 5;                           ///< of bringing inputs that its agent loses again
constexpr Duration kBetweenPages = std::chrono::milliseconds{20};
constexpr int kCannotStart = 127;  ///< exit code, as of a shell
constexpr int kKilled = 128 + 9;
constexpr const char* kNearlyFull = "the disk of its zone is nearly full";

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
    std::optional<StepWork> work{};  ///< as its agent said last
    bool was_seen = false;           ///< its agent has said that it has it
    bool wants_files = true;
    bool is_stopping = false;
    bool is_telling = false;  ///< the agent has not heard yet that it is to stop
    Duration grace{};
    std::vector<StepFile> files{};   ///< to be fetched
    std::size_t file = 0;            ///< which of them is
    std::uint64_t offset = 0;        ///< in it
    Duration fetch_until{};          ///< steady time; each piece that comes moves it
    Duration all_until{};            ///< steady time at which even a slow agent has sent all
    std::size_t told_left_out = 0;   ///< results of which it was told that they are left out
    std::optional<Wanted> wanted{};  ///< results
    int rounds = 0;                  ///< times that its agent lacked an input
};

struct NodeExecutor::Agent {
    std::string url;
    std::unique_ptr<http::NodeClient> client;
    std::uint64_t version = 0;
    bool is_watching = false;
    std::set<std::string> running;          ///< its steps that run, as far as is known
    std::optional<Duration> failing_since;  ///< steady time of the first question without an answer since the last one
    int failures = 0;                       ///< since then
    bool is_lost(Duration now, Duration after) const {
        return failing_since && failures >= 3 && now - *failing_since >= after;
    }
    void heard(bool answered, Duration now) {
        if (answered) {
            failing_since.reset();
            failures = 0;
        } else {
            if (!failing_since) failing_since = now;
            ++failures;
        }
    }
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
      results_(options_.folder, {options_.reserve_bytes, options_.reserve_percent}),
      turns_(
          [this](const std::string& machine) -> http::NodeClient* {
              Agent* const agent = agent_of(machine);
              return agent == nullptr ? nullptr : agent->client.get();
          },
          [this](const std::string& machine) { return pause_for(machine); }, clock_, log_),
      inputs_(
          [this](const std::string& machine) -> http::NodeClient* {
              Agent* const agent = agent_of(machine);
              return agent == nullptr ? nullptr : agent->client.get();
          },
          options_.read, clock_, log_) {}

NodeExecutor::~NodeExecutor() = default;

Duration NodeExecutor::pause_for(const std::string& machine) const {
    const auto at = agents_.find(machine);
    const bool is_lost = at != agents_.end() && at->second->is_lost(clock_.steady_now(), options_.lost_after);
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

Result<bool> NodeExecutor::bring(const Need& need) {
    return options_.machines.contains(need.machine) ? inputs_.bring(need) : local_.bring(need);
}

void NodeExecutor::bring_no_more(const std::string& who) {
    inputs_.take_back(who);
    local_.bring_no_more(who);
}

void NodeExecutor::want(const std::string& operation, Wanted wanted) {
    ZBS_EXPECTS(wanted.room != nullptr);
    const SharedStep step = find(operation);
    if (step == nullptr) return;
    const bool is_first = !step->wanted;
    step->wanted = std::move(wanted);
    if (is_first) take_room(*step);
}

/// Of what was fetched of it before a restart.
void NodeExecutor::take_room(const Step& step) {
    if (!results_.end_of(step.operation)) return;
    Room& room = *step.wanted->room;
    for (const File& file : results_.list(step.operation, "")) {
        if (!file.fault.empty() || !step.wanted->matches(file.name)) continue;
        room.bytes -= std::min(room.bytes, file.bytes);
        room.files -= std::min<std::size_t>(room.files, 1);
    }
}

Result<void> NodeExecutor::start(const StepSpec& spec) {
    const SharedStep step = find(spec.operation);
    if (step == nullptr) return local_.start(spec);
    if (step->phase != Step::Phase::kPlaced) return {};
    if (agent_of(step->machine) == nullptr)
        return Error{ErrorCode::kUnavailable, "the agent of machine " + step->machine + " has not registered", {}};
    step->phase = Step::Phase::kStarting;
    step->spec = spec;
    // Told where to leave a profile, or the output of ranks, or asked for results.
    step->wants_files = step->wanted || std::ranges::any_of(spec.environment, [](const auto& v) {
                            return v.first == "ZBS_PROFILE_OUT" || v.first == "ZBS_OUTPUT";
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
    const Result<bool> here = step->is_stopping ? Result<bool>(Error{ErrorCode::kConflict, "it was stopped", {}})
                                                : inputs_.bring({step->operation, step->machine, step->spec.inputs});
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
        inputs_.take_back(step->operation);
        step->was_seen = true;
        set_running(step);
        if (step->is_stopping) send_stop(step);
        return watch(step->machine);
    }
    const bool is_late = clock_.steady_now() - step->asked >= kStartDeadline;
    const bool lacks_input =
        report.error().code == ErrorCode::kConflict && !step->spec.inputs.empty() && ++step->rounds < kMostRounds;
    if (lacks_input) inputs_.forget(step->machine);
    if ((is_passing(report.error()) || lacks_input) && !is_late && !step->is_stopping)
        return later(kPause, [this, step] { send_start(step); });
    not_started(step, report.error());
}

void NodeExecutor::not_started(const SharedStep& step, const Error& error) {
    inputs_.take_back(step->operation);
    const std::string why = "could not be started on machine " + step->machine + ": " + error.message;
    log_.warn("step_not_started", {{"operation", step->operation}, {"reason", why}});
    set_running(step);
    stop(step->operation, Duration{0});  // it may have been started all the same: then it must not go on
    end(step, {StepStatus::State::kExited, kCannotStart, why, true}, false);
}

void NodeExecutor::set_running(const SharedStep& step) {
    step->phase = Step::Phase::kRunning;
    static_cast<void>(agent_of(step->machine));
    agents_.at(step->machine)->running.insert(step->operation);
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
        set_running(step);
    }
    if (step->phase == Step::Phase::kRunning) watch(step->machine);
    return {.state = StepStatus::State::kRunning, .work = step->work};
}

/// Asks the agent for its steps until none of them is left. O(steps that run there), once a look.
void NodeExecutor::watch(const std::string& machine) {
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
    const std::vector<std::string> asked(known.running.begin(), known.running.end());
    // Named they are answered in their order; more than fit into an address are found among all.
    http::NodeClient::StepQuery query{.operations = {}, .since = known.version, .wait = kLongPoll};
    if (asked.size() <= kMostSteps) query.operations = asked;
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

void NodeExecutor::take_page(const std::string& machine, const std::vector<std::string>& asked, const StepPage& page) {
    std::map<std::string, const StepReport*> reports;
    for (const StepReport& report : page.steps) reports[report.operation] = &report;
    for (const std::string& operation : asked) {
        const SharedStep step = find(operation);
        if (step == nullptr || step->phase != Step::Phase::kRunning) continue;
        const auto at = reports.find(operation);
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
            end(step, {StepStatus::State::kExited, kKilled, why, true}, false);
        } else {
            stop(operation, Duration{0});  // the zone died before it asked for it, or the question is still on its way
            end(step, {StepStatus::State::kUnknown, 0, {}}, false);
        }
    }
}

void NodeExecutor::give_up_lost(const std::string& machine) {
    Agent& agent = *agents_.at(machine);
    if (!agent.is_lost(clock_.steady_now(), options_.lost_after)) return;
    const std::string why = "machine " + machine + " has not answered for " +
                            std::to_string(static_cast<int>(to_seconds(options_.lost_after))) + " s";
    for (const std::string& operation : std::set<std::string>(agent.running)) {
        log_.warn("step_lost", {{"operation", operation}, {"reason", why}});
        stop(operation, Duration{0});  // should the machine come back
        end(find(operation), {StepStatus::State::kExited, kKilled, why, true}, false);
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
        const bool is_heard = report || report.error().code == ErrorCode::kNotFound;
        if (!is_heard) {
            const bool passing = is_passing(report.error());
            return later(passing ? pause_for(step->machine) : kLongPause, [this, step] { send_stop(step); });
        }
        step->is_telling = false;
        if (step->phase == Step::Phase::kEnded) return forget_at_agent(step);
        watch(step->machine);
    });
}

void NodeExecutor::end(const SharedStep& step, StepStatus status, bool fetch) {
    step->end = std::move(status);
    step->phase = Step::Phase::kFetching;
    agents_.at(step->machine)->running.erase(step->operation);
    step->fetch_until = clock_.steady_now() + kFetchDeadline;
    if (!fetch) return settle(step);
    results_.clear(step->operation);
    fetch_list(step);
}

void NodeExecutor::fetch_list(const SharedStep& step) {
    agent_of(step->machine)->client->list(step->operation, {}, [this, step](Result<std::vector<StepFile>> files) {
        if (!files && is_passing(files.error()) && clock_.steady_now() < step->fetch_until)
            return later(kPause, [this, step] { fetch_list(step); });
        if (files) step->files = *std::move(files);
        if (!files && step->wanted) leave_out(*step, {"*", 0}, "what it left could not be listed");
        choose_files(step);
        fetch_next(step);
    });
}

/// Profiles first, and of each kind as much as is bounded by itself: output without end costs no profile.
void NodeExecutor::choose_files(const SharedStep& step) {
    const auto is_result = [&](const StepFile& f) { return step->wanted && step->wanted->matches(f.name); };
    const auto is_output = [&](const StepFile& f) {
        return (f.name.starts_with("out.") || f.name.starts_with("err.")) && !is_result(f);
    };
    std::erase_if(step->files, [&](const StepFile& f) {
        const bool own = std::ranges::any_of(options_.wanted_files,
                                             [&f](const std::string& begin) { return f.name.starts_with(begin); });
        return !is_result(f) && (!own || f.bytes == 0);
    });
    std::ranges::stable_sort(step->files, {}, is_output);
    std::uint64_t left_of[] = {kMostBytes, options_.most_output_bytes};
    std::size_t left_out = 0, own_files = 0;
    std::uint64_t sum = 0;
    std::vector<StepFile> chosen;
    for (StepFile& file : step->files) {
        if (is_result(file)) {
            if (!take_result(*step, file)) continue;
        } else {
            std::uint64_t& left = left_of[is_output(file) ? 1 : 0];
            const bool fits =
                is_output(file) ? left > 0 : file.bytes <= std::min<std::uint64_t>(left, limits::kMaxReplyBytes);
            if (!fits || own_files >= kMostFiles) {
                ++left_out;
                continue;
            }
            file.bytes = std::min(file.bytes, left);  // of output its beginning, at least
            left -= file.bytes;
            ++own_files;
        }
        sum += file.bytes;
        chosen.push_back(std::move(file));
    }
    step->files = std::move(chosen);
    step->all_until = clock_.steady_now() + kFetchDeadline +
                      std::chrono::seconds{static_cast<std::int64_t>(sum / kLeastBytesPerSecond)};
    if (left_out > 0)
        log_.warn("results_left_out", {{"operation", step->operation}, {"files", std::to_string(left_out)}});
}

/// Whether this result is to be fetched; what is too much is only listed.
bool NodeExecutor::take_result(Step& step, const StepFile& file) {
    Room& room = *step.wanted->room;
    const bool is_much = file.bytes > step.wanted->file_bytes || file.bytes > room.bytes || room.files == 0;
    const bool is_full = !is_much && !results_.has_space(awaited_ + file.bytes);
    if (is_much || is_full) {
        if (step.told_left_out++ < limits::kMaxStagingNotes)
            leave_out(step, file, is_full ? kNearlyFull : "it is more than its zone takes from the machines of a part");
        return false;
    }
    room.bytes -= file.bytes;
    --room.files;
    awaited_ += file.bytes;
    return true;
}

void NodeExecutor::leave_out(const Step& step, const StepFile& file, const std::string& why) {
    log_.warn("result_left_out", {{"operation", step.operation}, {"file", file.name}, {"reason", why}});
    if (auto noted = results_.leave_out(step.operation, {file.name, file.bytes, why}); !noted)
        log_.warn("step_result_not_kept", {{"operation", step.operation}, {"reason", noted.error().message}});
}

void NodeExecutor::fetch_next(const SharedStep& step) {
    const Duration now = clock_.steady_now();
    if (step->file >= step->files.size()) return settle(step);
    if (now >= step->fetch_until || now >= step->all_until) {
        log_.warn("results_late",
                  {{"operation", step->operation}, {"files", std::to_string(step->files.size() - step->file)}});
        while (step->file < step->files.size()) next_file(*step, "it did not come in time");
        return settle(step);
    }
    const StepFile& file = step->files[step->file];
    if (file.bytes == 0) return take_bytes(step, std::string{});
    agent_of(step->machine)
        ->client->read(step->operation, file.name, step->offset,
                       std::min<std::uint64_t>(limits::kMaxLogChunkBytes, file.bytes - step->offset),
                       [this, step](const Result<std::string>& bytes) {
                           if (!bytes && is_passing(bytes.error()))
                               return later(kPause, [this, step] { fetch_next(step); });
                           take_bytes(step, bytes);
                       });
}

void NodeExecutor::take_bytes(const SharedStep& step, const Result<std::string>& bytes) {
    const StepFile& file = step->files[step->file];
    step->fetch_until = clock_.steady_now() + kFetchDeadline;
    if (!bytes) {
        next_file(*step, bytes.error().message);
    } else if (bytes->empty() && file.bytes > 0) {
        next_file(*step, "its agent sends less of it than it told");
    } else if (step->wanted && step->wanted->matches(file.name) && !results_.has_space(bytes->size())) {
        next_file(*step, kNearlyFull);
    } else if (auto kept = results_.append(step->operation, file.name, *bytes); !kept) {
        next_file(*step, "its zone cannot keep it");
    } else {
        step->offset += bytes->size();
        if (step->offset >= file.bytes) next_file(*step, {});
    }
    fetch_next(step);
}

/// A file that did not come whole is left out: half a profile is none.
void NodeExecutor::next_file(Step& step, const std::string& fault) {
    const StepFile& file = step.files[step.file];
    const bool is_result = step.wanted && step.wanted->matches(file.name);
    if (is_result) awaited_ -= std::min(awaited_, file.bytes);
    if (!fault.empty()) {
        results_.drop(step.operation, file.name);
        if (is_result) {
            leave_out(step, file, fault);
            step.wanted->room->bytes += file.bytes;
            ++step.wanted->room->files;
        }
    }
    ++step.file;
    step.offset = 0;
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
    if (agent == nullptr) return later(kLongPause, [this, step] { forget_at_agent(step); });
    agent->client->remove(step->operation, kRemovedAtOnce, [this, step](const Result<StepRemoval>& removal) {
        const bool is_done =
            removal ? removal->complete : removal.error().code != ErrorCode::kConflict && !is_passing(removal.error());
        if (!is_done) later(pause_for(step->machine), [this, step] { forget_at_agent(step); });
    });
}

void NodeExecutor::set_column(const std::string& machine, SliceColumn column) {
    turns_.set_column(machine, std::move(column));
}

void NodeExecutor::set_shares(const std::string& machine, ShareTable table) {
    turns_.set_shares(machine, std::move(table));
}

std::optional<bool> NodeExecutor::has_weights(const std::string& machine) const {
    const std::optional<KnownAgent> known = directory_(machine);
    if (!known) return std::nullopt;
    return known->weights;
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

/// An agent forgets a step, with all its files, once those that are wanted are here.
Result<void> NodeExecutor::remove_files(const std::string& operation, const std::vector<std::string>& names) {
    if (!steps_.contains(operation) && !results_.has(operation)) return local_.remove_files(operation, names);
    for (const std::string& name : names) results_.drop(operation, name);
    return {};
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
