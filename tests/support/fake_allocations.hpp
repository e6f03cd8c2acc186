#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "services/common/ports/allocations.hpp"
#include "services/common/ports/clock.hpp"

namespace zbs::test {

/// A site's scheduler by script, on the test's clock. It outlives the zone that uses it, as a real one does.
class FakeAllocations : public Allocations {
  public:
    using Phase = AllocationView::Phase;
    struct Held {
        AllocationSpec spec;
        Phase phase = Phase::kHeld;
        bool kept = false;
        Duration since{};
        std::string reason;
    };

    explicit FakeAllocations(Clock& clock) : clock_(clock) {}

    Duration takes = std::chrono::milliseconds{50};  ///< from each question to its answer
    Duration ending_takes = std::chrono::milliseconds{300};
    std::string refusal;         ///< not empty: nothing is given, for this reason
    std::optional<Error> fault;  ///< of every call
    std::vector<MachineUse> uses;
    std::vector<std::string> asked;  ///< "hold OPERATION", ..., in order

    Held* find(const std::string& operation) {
        const auto at = held_.find(operation);
        if (at == held_.end()) return nullptr;
        Held& held = at->second;
        if (held.phase == Phase::kPromised && held.spec.start && clock_.now() >= *held.spec.start) {
            held.phase = Phase::kHeld;
            held.since = clock_.steady_now();
        }
        if (held.phase == Phase::kHeld && !held.kept && held.spec.expiry > Duration{0} &&
            clock_.steady_now() >= held.since + held.spec.expiry)
            end(operation, "expired");
        return &held;
    }
    int running() {
        int count = 0;
        for (auto& [operation, held] : held_)
            count += find(operation)->phase == Phase::kHeld || held.phase == Phase::kEnding;
        return count;
    }
    /// By itself: cancelled by an operator, preempted, node lost.
    void end(const std::string& operation, std::string reason) {
        held_.at(operation).phase = Phase::kEnded;
        held_.at(operation).reason = std::move(reason);
    }

    void hold(AllocationSpec spec, Done done) override {
        asked.push_back("hold " + spec.operation);
        answer(std::move(done), [this, spec = std::move(spec)]() -> Result<void> {
            if (held_.contains(spec.operation)) return {};
            if (!refusal.empty()) return Error{ErrorCode::kRejected, refusal, {}};
            held_[spec.operation] = {
                spec, spec.start ? Phase::kPromised : Phase::kHeld, false, clock_.steady_now(), {}};
            return {};
        });
    }
    void keep(AllocationKey key, Done done) override {
        asked.push_back("keep " + key.operation);
        answer(std::move(done), [this, key]() -> Result<void> {
            Held* held = find(key.operation);
            if (held == nullptr || held->phase >= Phase::kEnding) return Error{ErrorCode::kNotFound, "it is over", {}};
            held->kept = true;
            return {};
        });
    }
    void release(AllocationKey key, Done done) override {
        asked.push_back("release " + key.operation);
        answer(std::move(done), [this, key]() -> Result<void> {
            // As Slurm has it: whoever cancelled it, it was cancelled; and its end takes a while.
            Held* held = find(key.operation);
            if (held == nullptr || held->phase == Phase::kEnded || held->phase == Phase::kEnding) return {};
            held->phase = Phase::kEnding;
            held->reason = "it was cancelled";
            clock_.after(ending_takes, [this, key] { held_.at(key.operation).phase = Phase::kEnded; });
            return {};
        });
    }
    void look(AllocationKey key, std::function<void(Result<AllocationView>)> done) override {
        clock_.after(takes, [this, key, done = std::move(done)] {
            if (fault) return done(*fault);
            const Held* held = find(key.operation);
            if (held == nullptr) return done(AllocationView{});
            done(AllocationView{held->phase, held->reason});
        });
    }
    Result<StepSpec> step_in(const AllocationKey& key, const AllocatedTasks& tasks, StepSpec step) override {
        const Held* held = find(key.operation);
        if (held == nullptr || held->phase != Phase::kHeld) return Error{ErrorCode::kConflict, "does not run", {}};
        std::vector<std::string> argv = {"run-in", key.operation};
        argv.insert(argv.end(), tasks.machines.begin(), tasks.machines.end());
        if (!tasks.pmi.empty()) argv.insert(argv.end(), {tasks.pmi, tasks.folder});
        step.argv.insert(step.argv.begin(), argv.begin(), argv.end());
        return step;
    }
    void machines(std::function<void(Result<std::vector<MachineUse>>)> done) override {
        clock_.after(takes, [this, done = std::move(done)] {
            if (fault) return done(*fault);
            done(uses);
        });
    }

  private:
    void answer(Done done, std::function<Result<void>()> act) {
        clock_.after(takes, [this, done = std::move(done), act = std::move(act)] {
            if (fault) return done(*fault);
            done(act());
        });
    }

    Clock& clock_;
    std::map<std::string, Held> held_;
};

}  // namespace zbs::test
