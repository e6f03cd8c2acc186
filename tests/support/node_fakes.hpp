#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "services/common/ports/machine_sensor.hpp"
#include "services/common/ports/process_control.hpp"
#include "tests/support/virtual_clock.hpp"

namespace zbs::test {

/// ProcessControl that keeps who is suspended, writes down every change, and has settings for processes that wait and
/// that resist.
class FakeProcessControl : public ProcessControl {
  public:
    explicit FakeProcessControl(VirtualClock* clock = nullptr) : clock_(clock) {}

    std::vector<StepId> step_ids() override { return {there.begin(), there.end()}; }
    Result<void> suspend(const StepId& step_id) override { return change("-" + step_id, true); }
    Result<void> resume(const StepId& step_id) override { return change("+" + step_id, false); }
    Result<void> set_nice(const StepId& step_id, int nice) override {
        if (nice < (may_raise ? 0 : niceness[step_id])) return Error{ErrorCode::kDenied, "not allowed", {}};
        niceness[step_id] = nice;
        return {};
    }
    Result<int> nice(const StepId& step_id) override { return niceness[step_id]; }
    bool has_weights() const override { return weighs; }
    Result<void> set_weight(const StepId& step_id, int weight) override {
        weights[step_id] = weight;
        return {};
    }
    StepActivity activity(const StepId& step_id) override {
        if (suspended.contains(step_id)) return StepActivity::kSuspended;
        return blocked.contains(step_id) ? StepActivity::kBlocked : StepActivity::kRunning;
    }
    Result<StepUsage> usage(const StepId& step_id) override {
        const auto at = usages.find(step_id);
        if (at == usages.end()) return Error{ErrorCode::kNotFound, "nothing lives", {}};
        return at->second;
    }
    std::uint64_t suspension_switches(const StepId&) override { return 0; }
    void forget(const StepId& step_id) override { forgotten.insert(step_id); }

    std::set<std::string> there, blocked, resisting, forgotten;
    std::set<std::string> suspended;
    std::vector<std::string> changes;  ///< "-a": a was suspended, "+a": resumed
    std::map<std::string, int> niceness, weights;
    std::map<std::string, StepUsage> usages;
    bool weighs = false;
    bool may_raise = true;  ///< may a nice level become smaller?
    Duration takes{};       ///< that the clock goes on by with every change

  private:
    Result<void> change(const std::string& what, bool suspends) {
        const StepId step_id(what.substr(1));
        if (clock_ != nullptr && takes > Duration{0}) clock_->advance(takes);
        if (resisting.contains(step_id)) return Error{ErrorCode::kTimeout, "does not stop", {}};
        changes.push_back(what);
        if (suspends)
            suspended.insert(step_id);
        else
            suspended.erase(step_id);
        return {};
    }
    VirtualClock* clock_;
};

class FakeMachineSensor : public MachineSensor {
  public:
    NodeDescription describe() override { return {.processors = 4, .cores = 2, .memory_bytes = 1'000}; }
    NodeLoad load(Duration own_cpu) override {
        own = own_cpu;
        return {.load_1 = 0.5, .cpu_available = available, .memory_available_bytes = 500};
    }
    Duration own{};
    double available = 2.5;
};

}  // namespace zbs::test
