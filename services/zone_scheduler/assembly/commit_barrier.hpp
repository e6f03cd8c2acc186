#pragma once
#include <functional>
#include <vector>

#include "services/common/ports/allocations.hpp"
#include "services/common/ports/clock.hpp"
#include "services/common/ports/executor.hpp"
#include "services/common/ports/http_client.hpp"
#include "services/common/ports/storage/audit.hpp"
#include "services/common/ports/storage/journal.hpp"

namespace zbs {

/// Intent before act, for many at once: whatever others can see of the zone (answers, calls, processes) waits until
/// all that was written before it is durable. What comes in while one commit is under way is made durable by the next:
/// under load one sync of the disk serves dozens of calls, without load each has its own. Lives on the domain's strand.
class CommitBarrier {
  public:
    /// `failed` is called once, when a commit fails or another process has taken over (`Journal::is_ours`); it should
    /// end the process. After that nothing gets out any more.
    CommitBarrier(Clock& clock, Journal& journal, AuditLog& audit, std::function<void(const Error&)> failed)
        : clock_(clock), journal_(journal), audit_(audit), failed_(std::move(failed)) {}

    /// What has no effect outside is durable within a second all the same.
    void start();
    /// Calls `effect` once all that was written is durable: now, where nothing waits for that.
    void after_commit(std::function<void()> effect);
    /// The same, waiting. Errors: the storage has failed; then do nothing.
    Result<void> commit_now();
    /// Something kept back in the audit log has to be durable with the rest.
    void await_record() { record_waits_ = true; }

    /// Whether nobody has taken over; where somebody has, nothing gets out any more.
    bool is_ours();

  private:
    bool is_dirty() const { return record_waits_ || journal_.is_dirty(); }
    void run_effects();
    void break_with(const Error& error);

    Clock& clock_;
    Journal& journal_;
    AuditLog& audit_;
    std::function<void(const Error&)> failed_;
    std::vector<std::function<void()>> effects_;
    bool commit_is_due_ = false;
    bool record_waits_ = false;
    bool is_broken_ = false;
};

/// An HttpClient whose calls wait for the barrier.
class DurableClient : public HttpClient {
  public:
    DurableClient(CommitBarrier& barrier, HttpClient& client) : barrier_(barrier), client_(client) {}
    void call(HttpCall call, std::function<void(Result<HttpAnswer>)> respond) override;

  private:
    CommitBarrier& barrier_;
    HttpClient& client_;
};

/// An Executor that starts and stops nothing before the barrier.
class DurableExecutor : public Executor {
  public:
    DurableExecutor(CommitBarrier& barrier, Executor& executor) : barrier_(barrier), executor_(executor) {}
    void place(const StepId& step_id, const MachineName& machine) override { executor_.place(step_id, machine); }
    Result<bool> stage_inputs(const Need& need) override { return executor_.stage_inputs(need); }
    void end_staging(const std::string& who) override { executor_.end_staging(who); }
    void request_results(const StepId& step_id, Wanted wanted) override {
        executor_.request_results(step_id, std::move(wanted));
    }
    void share_output(const std::vector<StepId>& step_ids) override { executor_.share_output(step_ids); }
    Result<void> start(const StepSpec& spec) override;
    /// To look at a step may end it (of another host) or begin it (its inputs are there): not any more where another
    /// process has taken over; this one ends then.
    StepStatus status(const StepId& step_id) override;
    void stop(const StepId& step_id, Duration grace) override;
    std::string folder(const StepId& step_id) override { return executor_.folder(step_id); }
    Result<std::string> read(const StepId& step_id, const std::string& file, std::uint64_t offset,
                             std::size_t limit) override {
        return executor_.read(step_id, file, offset, limit);
    }
    std::vector<File> list(const StepId& step_id, const std::string& prefix) override {
        return executor_.list(step_id, prefix);
    }
    std::vector<File> list_all(const StepId& step_id) override { return executor_.list_all(step_id); }
    /// What says that nobody needs them is durable before.
    Result<void> remove_files(const StepId& step_id, const std::vector<std::string>& names) override;
    /// At once: what is removed has ended in an earlier commit.
    Result<Removal> remove(const StepId& step_id, std::size_t at_most) override {
        return executor_.remove(step_id, at_most);
    }

  private:
    CommitBarrier& barrier_;
    Executor& executor_;
};

/// Allocations that are asked for, kept and given back only after the barrier.
class DurableAllocations : public Allocations {
  public:
    DurableAllocations(CommitBarrier& barrier, Allocations& allocations)
        : barrier_(barrier), allocations_(allocations) {}
    void hold(AllocationSpec spec, Done done) override;
    void keep(AllocationKey key, Done done) override;
    void release(AllocationKey key, Done done) override;
    void look(AllocationKey key, std::function<void(Result<AllocationView>)> done) override {
        allocations_.look(std::move(key), std::move(done));
    }
    Result<StepSpec> step_in(const AllocationKey& key, const AllocatedTasks& tasks, StepSpec step) override {
        return allocations_.step_in(key, tasks, std::move(step));
    }
    void machines(std::function<void(Result<std::vector<MachineUse>>)> done) override {
        allocations_.machines(std::move(done));
    }

  private:
    CommitBarrier& barrier_;
    Allocations& allocations_;
};

}  // namespace zbs
