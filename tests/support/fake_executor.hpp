#pragma once
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "services/common/ports/clock.hpp"
#include "services/common/ports/executor.hpp"

namespace zbs::test {

/// Executor whose steps end by a script, on the test's clock. It outlives the service that uses it, as real steps do.
class FakeExecutor : public Executor {
  public:
    /// How a step goes. Without a script it runs until it is stopped.
    struct Script {
        Duration runtime = Duration::max();
        int exit_code = 0;
        std::string reason;
        std::string refusal;                       ///< not empty: it cannot be started, for this reason
        bool overruns = false;                     ///< its walltime does not end it
        bool hears_no_stop = false;                ///< its machine answers no more
        Duration stop_takes{};                     ///< from being asked to end to its end
        std::map<std::string, std::string> files;  ///< in its folder once it has started
        std::optional<StepWork> work;              ///< that its agent tells
    };
    struct Step {
        StepSpec spec;
        Script script;
        Duration started{};
        Duration ends = Duration::max();
        int exit_code = 0;
        std::string reason;
    };

    explicit FakeExecutor(const Clock& clock) : clock_(clock) {}

    /// For steps whose id begins with `prefix`; of several the longest counts.
    void script(const std::string& prefix, Script script) { scripts_[prefix] = std::move(script); }

    Result<bool> stage_inputs(const Need& need) override {
        for (const StepSpec::Input& input : need.inputs) brought[need.machine][input.name] = input;
        needed.insert(need.who);
        return bring_answer;
    }
    void end_staging(const std::string& who) override { needed.erase(who); }
    void place(const StepId&, const MachineName&) override {}
    void request_results(const StepId&, Wanted) override {}
    void share_output(const std::vector<StepId>&) override {}
    std::set<std::string> needed;  ///< in whose names something is to be brought
    std::map<std::string, std::map<std::string, StepSpec::Input>> brought;  ///< by machine and name
    Result<bool> bring_answer = true;
    Result<void> start(const StepSpec& spec) override {
        if (steps_.contains(spec.step_id)) return {};
        if (stopped_.contains(spec.step_id)) return Error{ErrorCode::kUnavailable, "stopped before it began", {}};
        Step step{.spec = spec, .script = find_script(spec.step_id), .started = clock_.steady_now()};
        if (!step.script.refusal.empty()) return Error{ErrorCode::kUnavailable, step.script.refusal, {}};
        step.exit_code = step.script.exit_code;
        step.reason = step.script.reason;
        if (step.script.runtime != Duration::max()) step.ends = step.started + step.script.runtime;
        if (spec.walltime > Duration{0} && !step.script.overruns && step.started + spec.walltime < step.ends) {
            step.ends = step.started + spec.walltime;
            step.exit_code = 143;
            step.reason = "walltime reached";
        }
        for (const auto& [name, text] : spec.files) step.script.files[name] = text;
        for (const StepSpec::Input& input : spec.inputs)  // unless the program writes a file of that name
            step.script.files.emplace(input.name, "copy of " + input.path);
        steps_.emplace(spec.step_id, std::move(step));
        return {};
    }
    StepStatus status(const StepId& step_id) override {
        const auto at = steps_.find(step_id);
        if (at == steps_.end()) return {};
        if (at->second.ends > clock_.steady_now())
            return {.state = StepStatus::State::kRunning, .work = at->second.script.work};
        return {StepStatus::State::kExited, at->second.exit_code, at->second.reason};
    }
    void stop(const StepId& step_id, Duration grace) override {
        const auto at = steps_.find(step_id);
        if (at == steps_.end()) stopped_.insert(step_id);
        if (at == steps_.end() || at->second.ends <= clock_.steady_now() || at->second.script.hears_no_stop) return;
        Step& step = at->second;
        const bool killed = step.script.stop_takes > grace;
        const Duration end = clock_.steady_now() + std::min(step.script.stop_takes, grace);
        if (end >= step.ends) return;
        step.ends = end;
        step.exit_code = killed ? 137 : 143;
        step.reason = "stopped";
    }
    std::string folder(const StepId& step_id) override { return "/steps/" + step_id; }
    Result<std::string> read(const StepId& step_id, const std::string& file, std::uint64_t offset,
                             std::size_t limit) override {
        const auto at = steps_.find(step_id);
        const auto text = at == steps_.end() ? std::map<std::string, std::string>::const_iterator{}
                                             : at->second.script.files.find(file);
        if (at == steps_.end() || text == at->second.script.files.end())
            return Error{ErrorCode::kNotFound, "no file " + file, {}};
        return offset >= text->second.size() ? std::string{} : text->second.substr(offset, limit);
    }
    std::vector<File> list(const StepId& step_id, const std::string& prefix) override {
        std::vector<File> found;
        if (const auto at = steps_.find(step_id); at != steps_.end()) {
            for (const auto& [name, text] : at->second.script.files) {
                if (name.starts_with(prefix))
                    found.push_back({name, text.size(), lost.contains(name) ? lost.at(name) : ""});
            }
        }
        return found;
    }

    std::vector<File> list_all(const StepId& step_id) override { return list(step_id, {}); }

    std::map<std::string, std::string> lost;  ///< files that are only listed, and why

    Result<void> remove_files(const StepId& step_id, const std::vector<std::string>& names) override {
        if (const auto at = steps_.find(step_id); at != steps_.end())
            for (const std::string& name : names) at->second.script.files.erase(name);
        return {};
    }
    Result<Removal> remove(const StepId& step_id, std::size_t at_most) override {
        if (unremovable.contains(step_id)) return Error{ErrorCode::kUnavailable, "not permitted", {}};
        const auto at = steps_.find(step_id);
        if (at == steps_.end()) return Removal{0, true};
        if (status(step_id).state == StepStatus::State::kRunning) return Error{ErrorCode::kConflict, "it runs", {}};
        auto& files = at->second.script.files;
        Removal removal;
        for (; !files.empty() && removal.files < at_most; ++removal.files) files.erase(files.begin());
        removal.complete = files.empty() && removal.files < at_most;
        removal.files += removal.complete;  // the folder
        if (removal.complete) steps_.erase(at);
        return removal;
    }
    std::set<StepId> unremovable;  ///< steps whose folders resist

    /// Everything that was ever started and not removed.
    const std::map<StepId, Step>& steps() const { return steps_; }
    int running() {
        return static_cast<int>(std::count_if(steps_.begin(), steps_.end(), [this](const auto& item) {
            return status(item.first).state == StepStatus::State::kRunning;
        }));
    }
    /// Writes into the folder of a step that has started.
    void write(const std::string& step_id, const std::string& file, std::string text) {
        steps_.at(StepId(step_id)).script.files[file] = std::move(text);
    }
    /// Ends a step now.
    void end(const std::string& step_id, int exit_code, std::string reason = {}) {
        Step& step = steps_.at(StepId(step_id));
        step.ends = clock_.steady_now();
        step.exit_code = exit_code;
        step.reason = std::move(reason);
    }

  private:
    Script find_script(const std::string& step_id) const {
        const Script* best = nullptr;
        std::size_t length = 0;
        for (const auto& [prefix, script] : scripts_) {
            if (step_id.starts_with(prefix) && (best == nullptr || prefix.size() >= length)) {
                best = &script;
                length = prefix.size();
            }
        }
        return best == nullptr ? Script{} : *best;
    }

    const Clock& clock_;
    std::map<std::string, Script> scripts_;
    std::map<StepId, Step> steps_;
    std::set<StepId> stopped_;  // before they began
};

}  // namespace zbs::test
