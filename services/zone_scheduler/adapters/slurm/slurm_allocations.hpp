#pragma once
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "services/common/ports/allocations.hpp"
#include "services/zone_scheduler/adapters/slurm/slurm_back_end.hpp"

namespace zbs::slurm {

/// What a zone asks of Slurm for all of its parts.
struct PartitionUse {
    std::string partition;  ///< empty = Slurm's default
    std::string account;    ///< that Slurm charges; empty = each user's default
    /// How long a hold for now may wait for Slurm to start it; then it is none. Slurm looks at its queue every second
    /// or so.
    Duration wait = std::chrono::seconds{5};
};

/// The partition of this name; empty = Slurm's default. Errors: kNotFound naming the partitions there are.
Result<Partition> find_partition(const Site& site, const std::string& partition);

/// Nodes of a partition as machines of a zone: its faults stay out of it, they may pass. Errors: kRejected where it has
/// no nodes.
struct SlurmMachine {
    std::string name;
    int processors = 0;
    bool operator==(const SlurmMachine&) const = default;
};
Result<std::vector<SlurmMachine>> machines_of(const Site& site, const Partition& partition);

/// A Slurm as the scheduler behind a zone. Its commands block, so they run on threads of its own, those of one
/// operation one after the other. Lives on the strand that `post` puts work on; what was asked when it ends is
/// still done, and answers nobody.
class SlurmAllocations : public Allocations {
  public:
    using Post = std::function<void(std::function<void()>)>;
    SlurmAllocations(SlurmBackEnd back_end, PartitionUse use, Post post);
    ~SlurmAllocations() override;

    void hold(AllocationSpec spec, Done done) override;
    void keep(AllocationKey key, Done done) override;
    void release(AllocationKey key, Done done) override;
    void look(AllocationKey key, std::function<void(Result<AllocationView>)> done) override;
    Result<StepSpec> step_in(const AllocationKey& key, const AllocatedTasks& tasks, StepSpec step) override;
    void machines(std::function<void(Result<std::vector<MachineUse>>)> done) override;

  private:
    struct Threads;
    void settle(const HoldSpec& wanted, std::chrono::steady_clock::time_point deadline, Done done);
    template <class Ask, class Deliver>
    void ask(const std::string& operation, Ask question, Deliver deliver);

    SlurmBackEnd back_end_;
    PartitionUse use_;
    Post post_;
    std::map<AllocationKey, Allocation> running_;  ///< as last seen
    std::unique_ptr<Threads> threads_;             ///< last: ends first
};

}  // namespace zbs::slurm
