#include "services/node_agent/domain/node_service.hpp"

#include <algorithm>
#include <utility>

#include "services/common/messages/limits.hpp"

namespace zbs {
namespace {

StepReport to_report(const StepId& step_id, const StepStatus& status) {
    StepReport report{.step_id = step_id};
    switch (status.state) {
        case StepStatus::State::kUnknown:
            break;
        case StepStatus::State::kRunning:
            report.state = StepState::kRunning;
            break;
        case StepStatus::State::kExited:
            report.state = StepState::kExited;
            report.exit_code = std::clamp(status.exit_code, 0, 255);
            report.reason = status.reason;
            break;
    }
    return report;
}

constexpr int kUsualWeight = 100;
constexpr int kLargestNice = 19;
constexpr std::size_t kRemovedAtOnce = 1'000;  ///< files

Error of_step(const StepId& step_id, const Error& error) {
    return {error.code, "step " + step_id + ": " + error.message, error.pointer};
}

Error old_number(const char* what, std::uint64_t last) {
    return {ErrorCode::kConflict,
            std::string("this agent has ") + what + " number " + std::to_string(last) +
                "; a newer one needs a greater number",
            "/number"};
}

}  // namespace

NodeService::NodeService(NodePorts ports, MachineName name, std::string step_folder)
    : ports_(std::move(ports)), description_(ports_.sensor.describe()) {
    description_.name = std::move(name);
    description_.step_folder = std::move(step_folder);
    description_.weights = ports_.control.has_weights();
    // Greater than whatever an agent said here before, so that nobody who waits takes it for the same.
    version_ = static_cast<std::uint64_t>(std::max<std::int64_t>(to_microseconds(ports_.clock.now()), 1));
}

void NodeService::resume() {
    int running = 0;
    for (const StepId& step_id : ports_.control.step_ids()) {
        Known known{.report = to_report(step_id, ports_.steps.status(step_id))};
        if (known.report.state == StepState::kUnknown) continue;  // stopped before it began
        if (known.report.state == StepState::kRunning) {
            ++running;
            // The agent before may have been killed while it was suspended.
            ports_.post_switch([this, step_id] { ports_.switcher.join(step_id, true); });
        }
        known.asked = ports_.clock.steady_now();
        known_.emplace(step_id, std::move(known));
    }
    ports_.log.info("steps_found", {{"running", std::to_string(running)}, {"all", std::to_string(known_.size())}});
    ports_.inputs.resume();
    measure();
    look();
}

void NodeService::release() {
    while (!waiters_.empty()) answer(waiters_.front().id);
    ports_.post_switch([this] { ports_.switcher.release_all(); });
}

Result<void> NodeService::take_turn(std::uint64_t turn) {
    if (turn < turn_) {
        return Error{ErrorCode::kConflict,
                     "another scheduler of the zone has taken over: turn " + std::to_string(turn_) +
                         " has given orders here, this one is of turn " + std::to_string(turn) +
                         "; where the zone's database is new, restart this agent",
                     "turn"};
    }
    turn_ = turn;
    return {};
}

NodeStatus NodeService::status() {
    return {.description = description_,
            .load = measure(),
            .steps = static_cast<int>(std::ranges::count_if(
                known_, [](const auto& item) { return item.second.report.state == StepState::kRunning; })),
            .slices = column_ ? column_->number : 0,
            .shares = shares_.number,
            .version = version_,
            .switches = ports_.switcher.statistics()};
}

NodeRegistration NodeService::registration(const std::string& url) { return {url, description_, measure()}; }

Result<StepReport> NodeService::start(StepSpec spec) {
    if (const auto at = known_.find(spec.step_id); at != known_.end()) return report_of(spec.step_id, true);
    if (known_.size() >= limits::kMaxNodeSteps)
        return Error{ErrorCode::kTooManyRequests,
                     "this node keeps " + std::to_string(limits::kMaxNodeSteps) + " steps; remove some that have ended",
                     {}};
    if (auto located = ports_.inputs.locate(spec.inputs); !located) return located.error();
    if (auto started = ports_.steps.start(spec); !started) {
        // It may have begun and ended nevertheless; then that is what is known of it.
        Known known{.report = to_report(spec.step_id, ports_.steps.status(spec.step_id))};
        known.asked = ports_.clock.steady_now();
        if (known.report.state != StepState::kUnknown) known_.emplace(spec.step_id, std::move(known));
        return started.error();
    }
    Known& known = known_[spec.step_id];
    known.asked = ports_.clock.steady_now();
    known.report = to_report(spec.step_id, ports_.steps.status(spec.step_id));
    if (known.report.state == StepState::kRunning)
        ports_.post_switch([this, step_id = spec.step_id] { ports_.switcher.join(step_id, false); });
    if (std::ranges::find(shares_.shares, spec.step_id, &Share::step_id) != shares_.shares.end()) {
        if (auto set = set_all_shares(); !set)
            ports_.log.warn("share_not_set", {{"operation", spec.step_id}, {"reason", set.error().message}});
    }
    changed();
    return report_of(spec.step_id, true);
}

StepReport NodeService::stop(const StepId& step_id, Duration grace) {
    ports_.steps.stop(step_id, grace);
    if (const auto at = known_.find(step_id); at != known_.end()) leave(step_id, at->second);
    return report_of(step_id, false);
}

StepPage NodeService::steps(const std::vector<StepId>& step_ids) {
    StepPage page{.version = version_};
    if (!step_ids.empty()) {
        for (const StepId& step_id : step_ids) {
            record_question(step_id);
            page.steps.push_back(report_of(step_id, true));
        }
    } else {
        for (const auto& [step_id, known] : known_) page.steps.push_back(report_of(step_id, true));
    }
    return page;
}

void NodeService::steps_after(std::vector<StepId> step_ids, std::uint64_t since, Duration wait, Answer answer) {
    if (since != version_ || wait <= Duration{0} || waiters_.size() >= limits::kMaxNodeWaiters)
        return answer(steps(step_ids));
    const std::uint64_t id = next_waiter_++;
    const Clock::TimerId timer = ports_.clock.after(wait, [this, id] { this->answer(id); });
    waiters_.push_back({id, std::move(step_ids), std::move(answer), timer});
}

void NodeService::answer(std::uint64_t waiter) {
    const auto at = std::ranges::find(waiters_, waiter, &Waiter::id);
    if (at == waiters_.end()) return;
    const Waiter taken = std::move(*at);
    waiters_.erase(at);
    ports_.clock.cancel(taken.timer);
    taken.answer(steps(taken.step_ids));
}

std::vector<StepFile> NodeService::files(const StepId& step_id, const std::string& prefix) {
    record_question(step_id);
    std::vector<StepFile> files;
    for (StepFiles::File& file : prefix.empty() ? ports_.files.list_all(step_id) : ports_.files.list(step_id, prefix)) {
        if (files.size() + 1 == limits::kMaxListedFiles) {
            files.push_back({"*", 0, "more than " + std::to_string(files.size()) + " files are in its folder"});
            break;
        }
        files.push_back({std::move(file.name), file.bytes, std::move(file.fault), file.is_folder, file.executable});
    }
    return files;
}

Result<std::string> NodeService::read(const StepId& step_id, const std::string& file, std::uint64_t offset,
                                      std::size_t limit) {
    record_question(step_id);
    return ports_.files.read(step_id, file, offset, limit);
}

Result<StepRemoval> NodeService::remove(const StepId& step_id, std::size_t at_most) {
    const Result<StepFiles::Removal> removed = ports_.files.remove(step_id, at_most);
    if (!removed) return removed.error();
    if (removed->complete) {
        const auto at = known_.find(step_id);
        if (at != known_.end()) {
            if (at->second.report.state == StepState::kRunning) leave(step_id, at->second);
            known_.erase(at);
            changed();
        }
        ports_.control.forget(step_id);
    }
    return StepRemoval{removed->files, removed->complete};
}

Result<void> NodeService::set_slices(SliceColumn column) {
    if (column_ && column.number <= column_->number) {
        if (column == *column_) return {};  // a repeat
        return old_number("a column with", column_->number);
    }
    column_ = column;
    ports_.post_switch([this, column = std::move(column)]() mutable { ports_.switcher.set_column(std::move(column)); });
    return {};
}

Result<void> NodeService::set_shares(ShareTable table) {
    if (shares_.number > 0 && table.number <= shares_.number) {
        if (table == shares_) return set_all_shares();
        return old_number("shares with", shares_.number);
    }
    const ShareTable before = std::exchange(shares_, std::move(table));
    for (const Share& old : before.shares)
        if (std::ranges::find(shares_.shares, old.step_id, &Share::step_id) == shares_.shares.end())
            take_back_share(old);
    return set_all_shares();
}

bool NodeService::runs(const StepId& step_id) const {
    const auto at = known_.find(step_id);
    return at != known_.end() && at->second.report.state == StepState::kRunning;
}

/// A level that cannot be taken back stays: then it is the next table's to order the others around it.
void NodeService::take_back_share(const Share& share) {
    if (!runs(share.step_id)) return;
    const Result<void> done =
        share.nice ? ports_.control.set_nice(share.step_id, 0) : ports_.control.set_weight(share.step_id, kUsualWeight);
    if (!done) ports_.log.info("share_kept", {{"operation", share.step_id}, {"reason", done.error().message}});
}

Result<void> NodeService::set_all_shares() {
    Result<void> all;
    for (const Share& share : shares_.shares) {
        if (share.nice || !runs(share.step_id)) continue;
        if (auto set = ports_.control.set_weight(share.step_id, share.weight.value_or(kUsualWeight)); !set && all)
            all = of_step(share.step_id, set.error());
    }
    const Result<void> ordered = set_nice_levels(levels());
    return all ? ordered : all;
}

/// Of the steps that run.
std::vector<Share> NodeService::levels() const {
    std::vector<Share> levels;
    for (const Share& share : shares_.shares)
        if (share.nice && runs(share.step_id)) levels.push_back(share);
    return levels;
}

/// From the highest down. Those of one level are looked at together: what one of them cannot have moves only those
/// below.
Result<void> NodeService::set_nice_levels(std::vector<Share> shares) {
    std::ranges::stable_sort(shares, {}, [](const Share& share) { return *share.nice; });
    Result<void> all;
    int shift = 0, next_shift = 0;
    for (std::size_t i = 0; i < shares.size(); ++i) {
        const Share& share = shares[i];
        if (i > 0 && *share.nice > *shares[i - 1].nice) shift = next_shift;
        const int level = std::min(*share.nice + shift, kLargestNice);
        const Result<void> set = ports_.control.set_nice(share.step_id, level);
        if (set) continue;
        if (all) all = of_step(share.step_id, set.error());
        if (set.error().code != ErrorCode::kDenied) continue;
        if (const Result<int> has = ports_.control.nice(share.step_id))
            next_shift = std::max(next_shift, *has - *share.nice);
    }
    return all;
}

void NodeService::look() {
    bool any = false;
    const bool sample = checks_++ % kChecksPerSample == 0;
    for (auto& [step_id, known] : known_) any = update(step_id, known, sample) || any;
    if (any) changed();
    // What a step has started meanwhile; that something is denied was said when the table came.
    if (sample) static_cast<void>(set_nice_levels(levels()));
    if (sample) remove_forgotten();
    ports_.clock.after(kCheckInterval, [this] { look(); });
}

/// One at a time, and of a large one some files: nobody waits for it.
void NodeService::remove_forgotten() {
    const Duration now = ports_.clock.steady_now();
    const auto at = std::ranges::find_if(known_, [&](const auto& item) {
        return item.second.report.state != StepState::kRunning && now - item.second.asked >= kForgottenAfter;
    });
    if (at == known_.end()) return;
    const StepId step_id = at->first;
    const Result<StepRemoval> removed = remove(step_id, kRemovedAtOnce);
    if (removed && !removed->complete) return;
    if (!removed) at->second.asked = now;  // tried again as much later: others must have their turn
    ports_.log.info("step_forgotten",
                    {{"operation", step_id}, {"reason", removed ? std::string() : removed.error().message}});
}

void NodeService::record_question(const StepId& step_id) {
    if (const auto at = known_.find(step_id); at != known_.end()) at->second.asked = ports_.clock.steady_now();
}

/// Whether it is in another state than before.
bool NodeService::update(const StepId& step_id, Known& known, bool sample) {
    if (known.report.state != StepState::kRunning) return false;
    StepReport now = to_report(step_id, ports_.steps.status(step_id));
    if (now.state == StepState::kRunning) {
        if (sample) measure_work(step_id, known);
        return false;
    }
    leave(step_id, known);
    ports_.control.forget(step_id);
    ended_cpu_ += std::exchange(known.cpu, Duration{});
    known.report = std::move(now);
    ports_.log.info("step_ended", {{"operation", step_id},
                                   {"exit_code", std::to_string(known.report.exit_code)},
                                   {"reason", known.report.reason}});
    return true;
}

/// How long it waits is counted by these looks, too.
void NodeService::measure_work(const StepId& step_id, Known& known) {
    const Result<StepUsage> usage = ports_.control.usage(step_id);
    if (!usage) return;
    known.cpu = std::max(known.cpu, usage->cpu);
    const double before = known.meter.priority();
    known.meter.observe(*usage, ports_.control.suspension_switches(step_id), ports_.clock.steady_now());
    if (const double priority = known.meter.priority(); priority != before)
        ports_.post_switch([this, step_id, priority] { ports_.switcher.set_priority(step_id, priority); });
}

void NodeService::changed() {
    ++version_;
    std::vector<std::uint64_t> ids;
    for (const Waiter& waiter : waiters_) ids.push_back(waiter.id);
    for (const std::uint64_t id : ids) answer(id);
}

StepReport NodeService::report_of(const StepId& step_id, bool with_usage) {
    const auto at = known_.find(step_id);
    if (at == known_.end()) return to_report(step_id, ports_.steps.status(step_id));
    StepReport report = at->second.report;
    if (report.state == StepState::kRunning) report.work = at->second.meter.work();
    if (report.state != StepState::kRunning || !with_usage) return report;
    if (const Result<StepUsage> usage = ports_.control.usage(step_id)) {
        report.usage = *usage;
        at->second.cpu = std::max(at->second.cpu, usage->cpu);
    }
    return report;
}

void NodeService::leave(const StepId& step_id, Known& known) {
    if (std::exchange(known.leaving, true)) return;
    ports_.post_switch([this, step_id] { ports_.switcher.leave(step_id); });
}

const NodeLoad& NodeService::measure() {
    const Duration now = ports_.clock.steady_now();
    if (measured_ && now - *measured_ < kMeasureEvery) return load_;
    measured_ = now;
    Duration cpu = ended_cpu_;
    for (auto& [step_id, known] : known_) {
        if (known.report.state == StepState::kRunning) {
            if (const Result<StepUsage> usage = ports_.control.usage(step_id))
                known.cpu = std::max(known.cpu, usage->cpu);
        }
        cpu += known.cpu;
    }
    load_ = ports_.sensor.load(cpu);
    load_.cpu_available = std::clamp(load_.cpu_available, 0.0, static_cast<double>(description_.processors));
    load_.at = ports_.clock.now();
    return load_;
}

}  // namespace zbs
