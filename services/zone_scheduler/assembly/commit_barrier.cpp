#include "services/zone_scheduler/assembly/commit_barrier.hpp"

#include <utility>

#include "services/common/failpoint/failpoint.hpp"

namespace zbs {
namespace {
constexpr Duration kAtLeastEvery = std::chrono::seconds{1};
}

void CommitBarrier::start() {
    if (audit_.rides_on_journal()) {
        if (auto written = audit_.flush(); !written) break_with(written.error());
    }
    after_commit([] {});
    clock_.after(kAtLeastEvery, [this] { start(); });
}

void CommitBarrier::after_commit(std::function<void()> effect) {
    if (!is_ours()) return;
    if (!is_dirty() && effects_.empty()) return effect();
    effects_.push_back(std::move(effect));
    if (std::exchange(commit_is_due_, true)) return;
    // Behind what waits on the strand already: all of it shares the commit.
    clock_.after(Duration{0}, [this] {
        commit_is_due_ = false;
        if (commit_now()) run_effects();
    });
}

Result<void> CommitBarrier::commit_now() {
    const Error broken{ErrorCode::kUnavailable, "the zone's storage has failed", {}};
    if (!is_ours()) return broken;
    if (!is_dirty()) return {};
    Result<void> done = failpoint::reach(failpoint::Point::kStoreBeforeCommit);
    if (done && record_waits_ && !audit_.rides_on_journal()) done = audit_.flush();
    if (done) done = journal_.commit();
    if (done) done = failpoint::reach(failpoint::Point::kStoreAfterCommit);
    if (done) {
        record_waits_ = false;
        return {};
    }
    break_with(done.error());
    return broken;
}

/// Also where nothing has to be committed: what another has taken over is that one's to act on.
bool CommitBarrier::is_ours() {
    if (!is_broken_ && !journal_.is_ours()) {
        break_with({ErrorCode::kUnavailable, "another zone scheduler has taken over, or may have", {}});
    }
    return !is_broken_;
}

void CommitBarrier::break_with(const Error& error) {
    if (std::exchange(is_broken_, true)) return;
    effects_.clear();
    failed_(error);
}

/// In the order in which they were asked for. What they write is for the next commit, and so is what they ask for then.
void CommitBarrier::run_effects() {
    for (const std::function<void()>& effect : std::exchange(effects_, {})) effect();
}

void DurableClient::call(HttpCall call, std::function<void(Result<HttpAnswer>)> respond) {
    barrier_.after_commit([&client = client_, call = std::move(call), respond = std::move(respond)]() mutable {
        client.call(std::move(call), std::move(respond));
    });
}

StepStatus DurableExecutor::status(const StepId& step_id) {
    if (!barrier_.is_ours()) return {StepStatus::State::kRunning, 0, {}};
    return executor_.status(step_id);
}

Result<void> DurableExecutor::start(const StepSpec& spec) {
    if (auto durable = barrier_.commit_now(); !durable) return durable;
    return executor_.start(spec);
}

Result<void> DurableExecutor::remove_files(const StepId& step_id, const std::vector<std::string>& names) {
    if (auto durable = barrier_.commit_now(); !durable) return durable;
    return executor_.remove_files(step_id, names);
}

void DurableExecutor::stop(const StepId& step_id, Duration grace) {
    if (barrier_.commit_now()) executor_.stop(step_id, grace);
}

void DurableAllocations::hold(AllocationSpec spec, Done done) {
    barrier_.after_commit([&to = allocations_, spec = std::move(spec), done = std::move(done)]() mutable {
        to.hold(std::move(spec), std::move(done));
    });
}

void DurableAllocations::keep(AllocationKey key, Done done) {
    barrier_.after_commit([&to = allocations_, key = std::move(key), done = std::move(done)]() mutable {
        to.keep(std::move(key), std::move(done));
    });
}

void DurableAllocations::release(AllocationKey key, Done done) {
    barrier_.after_commit([&to = allocations_, key = std::move(key), done = std::move(done)]() mutable {
        to.release(std::move(key), std::move(done));
    });
}

}  // namespace zbs
