#include "services/zone_scheduler/adapters/slurm/slurm_allocations.hpp"

#include <algorithm>
#include <atomic>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <utility>

#include "services/zone_scheduler/adapters/slurm/launch.hpp"

namespace zbs::slurm {
namespace {

constexpr std::size_t kThreads = 4;
constexpr std::size_t kStrands = 64;
constexpr std::chrono::milliseconds kSettleEvery{250};

HoldKey key_of(const AllocationKey& key) { return {key.operation, key.account}; }

/// Its job runs, or a reservation stands behind its start. A job whose nodes still boot does not run.
bool is_granted(const Allocation& held, const HoldSpec& wanted) {
    return held.phase == Phase::kRunning || (wanted.start && held.strength == Strength::kReservation);
}

/// The error for a hold that Slurm did not grant at once; it has been released.
Error not_now(const Allocation& waiting, bool for_later) {
    if (for_later) {
        return {ErrorCode::kRejected,
                "Slurm lets this zone make no reservations, so nothing can be promised for later (make its user an "
                "operator of Slurm: sacctmgr modify user NAME set adminlevel=operator)",
                {}};
    }
    const std::string reason = waiting.reason.empty() ? waiting.state : waiting.reason;
    return {ErrorCode::kRejected, "Slurm would let it wait in its queue (" + reason + ")", {}};
}

}  // namespace

Result<Partition> find_partition(const Site& site, const std::string& partition) {
    const auto meant = std::ranges::find_if(site.partitions, [&](const Partition& one) {
        return partition.empty() ? one.is_default : one.name == partition;
    });
    if (meant == site.partitions.end()) {
        std::string names;
        for (const Partition& one : site.partitions) names += (names.empty() ? "" : ", ") + one.name;
        return Error{
            ErrorCode::kNotFound,
            (partition.empty() ? "Slurm has no default partition" : "Slurm has no partition '" + partition + "'") +
                "; it has " + (names.empty() ? "none" : names),
            {}};
    }
    return *meant;
}

Result<std::vector<SlurmMachine>> machines_of(const Site& site, const Partition& partition) {
    std::vector<SlurmMachine> machines;
    for (const Node& node : site.nodes)
        if (node.processors > 0 && std::ranges::find(partition.nodes, node.name) != partition.nodes.end())
            machines.push_back({node.name, node.processors});
    if (machines.empty())
        return Error{
            ErrorCode::kRejected, "partition '" + partition.name + "' of Slurm has no nodes with processors", {}};
    return machines;
}

struct SlurmAllocations::Threads {
    using Pool = boost::asio::thread_pool;
    Pool pool{kThreads};
    std::vector<boost::asio::strand<Pool::executor_type>> strands{kStrands, boost::asio::make_strand(pool)};
    std::shared_ptr<std::atomic<bool>> over = std::make_shared<std::atomic<bool>>(false);

    Threads() {
        for (auto& strand : strands) strand = boost::asio::make_strand(pool);
    }
};

SlurmAllocations::SlurmAllocations(SlurmBackEnd back_end, PartitionUse use, Post post)
    : back_end_(std::move(back_end)),
      use_(std::move(use)),
      post_(std::move(post)),
      threads_(std::make_unique<Threads>()) {}

SlurmAllocations::~SlurmAllocations() {
    *threads_->over = true;
    threads_->pool.join();  // what was asked is done, so that nothing is kept which was given back
}

/// Runs `question` on a thread, after those of the same operation, and `deliver` with its answer on the domain's
/// strand.
template <class Ask, class Deliver>
void SlurmAllocations::ask(const std::string& operation, Ask question, Deliver deliver) {
    auto& strand = threads_->strands[std::hash<std::string>{}(operation) % kStrands];
    boost::asio::post(strand,
                      [this, over = threads_->over, question = std::move(question), deliver = std::move(deliver)] {
                          post_([over, deliver, answer = question()]() mutable {
                              if (!*over) deliver(std::move(answer));
                          });
                      });
}

void SlurmAllocations::hold(AllocationSpec spec, Done done) {
    HoldSpec wanted{.operation = spec.operation,
                    .partition = use_.partition,
                    .account = use_.account,
                    .user = spec.account,
                    .walltime = spec.walltime,
                    .expiry = spec.expiry,
                    .start = spec.start,
                    .wait = Duration{0}};
    for (const AllocationSpec::Share& share : spec.shares) wanted.shares.push_back({share.machine, share.processors});
    const Duration wait = spec.start ? Duration{0} : use_.wait;
    settle(wanted, std::chrono::steady_clock::now() + wait, std::move(done));
}

/// Asks again until Slurm has started the job, or the wait is over; between two questions others have the thread.
void SlurmAllocations::settle(const HoldSpec& wanted, std::chrono::steady_clock::time_point deadline, Done done) {
    const auto question = [this, wanted, deadline, over = threads_->over]() -> Result<Allocation> {
        if (*over) return Error{ErrorCode::kUnavailable, "the zone ends", {}};
        Result<Allocation> held = back_end_.hold(wanted);
        if (!held || is_granted(*held, wanted) || std::chrono::steady_clock::now() < deadline) return held;
        const Error refusal = not_now(*held, wanted.start.has_value());
        const Result<bool> gone =
            back_end_.release({wanted.operation, wanted.user}, SlurmBackEnd::ReleaseMode::kAtOnce);
        if (!gone) return gone.error();
        return refusal;
    };
    ask(wanted.operation, question, [this, wanted, deadline, done](Result<Allocation> held) {
        if (!held) return done(held.error());
        if (!is_granted(*held, wanted)) {
            auto timer = std::make_shared<boost::asio::steady_timer>(threads_->pool, kSettleEvery);
            timer->async_wait([this, timer, wanted, deadline, done, over = threads_->over](boost::system::error_code) {
                if (!*over) settle(wanted, deadline, done);
            });
            return;
        }
        if (held->phase == Phase::kRunning)
            running_.insert_or_assign({wanted.operation, wanted.user}, *std::move(held));
        done({});
    });
}

void SlurmAllocations::keep(AllocationKey key, Done done) {
    ask(
        key.operation, [this, key] { return back_end_.keep(key_of(key)); }, std::move(done));
}

void SlurmAllocations::release(AllocationKey key, Done done) {
    running_.erase(key);
    const auto question = [this, key]() -> Result<void> {
        const Result<bool> gone = back_end_.release(key_of(key), SlurmBackEnd::ReleaseMode::kAtOnce);
        if (!gone) return gone.error();
        return {};
    };
    ask(key.operation, question, std::move(done));
}

void SlurmAllocations::look(AllocationKey key, std::function<void(Result<AllocationView>)> done) {
    const auto deliver = [this, key, done = std::move(done)](const Result<std::optional<Allocation>>& found) {
        if (!found) return done(found.error());
        AllocationView view;
        if (!*found) return done(view);
        const Allocation& seen = **found;
        switch (seen.phase) {
            case Phase::kWaiting:
                view.phase = seen.strength == Strength::kQueued ? AllocationView::Phase::kQueued
                                                                : AllocationView::Phase::kPromised;
                break;
            case Phase::kRunning:
                view.phase = AllocationView::Phase::kHeld;
                running_.insert_or_assign(key, seen);
                break;
            case Phase::kEnding:
                view.phase = AllocationView::Phase::kEnding;
                break;
            case Phase::kEnded:
                view.phase = AllocationView::Phase::kEnded;
                view.reason = judge_end({StepStatus::State::kExited, 0, {}}, seen)->reason;
                break;
        }
        done(std::move(view));
    };
    ask(
        key.operation, [this, key] { return back_end_.find(key_of(key)); }, deliver);
}

Result<StepSpec> SlurmAllocations::step_in(const AllocationKey& key, const AllocatedTasks& tasks, StepSpec step) {
    const auto at = running_.find(key);
    if (at == running_.end())
        return Error{ErrorCode::kConflict, "Slurm has not started the job of operation " + key.operation + " yet", {}};
    Result<StepSpec> made = make_step(back_end_.commands(), at->second,
                                      {.step_id = step.step_id,
                                       .argv = std::move(step.argv),
                                       .environment = std::move(step.environment),
                                       .directory = step.directory,
                                       .places = {tasks.machines.begin(), tasks.machines.end()},
                                       .pmi = tasks.pmi,
                                       .output_folder = tasks.folder,
                                       .walltime = step.walltime,
                                       .grace = step.grace,
                                       .may_share_processors = tasks.may_share_processors,
                                       .is_launcher = step.is_launcher});
    if (!made) return made;
    made->files = std::move(step.files);
    made->shares = std::move(step.shares);
    made->inputs = std::move(step.inputs);
    if (made->account.empty()) made->account = step.account;
    return made;
}

void SlurmAllocations::machines(std::function<void(Result<std::vector<MachineUse>>)> done) {
    const auto deliver = [done = std::move(done)](const Result<std::vector<Node>>& nodes) {
        if (!nodes) return done(nodes.error());
        std::vector<MachineUse> uses;
        for (const Node& node : *nodes)
            uses.push_back({MachineName(node.name), node.allocated, node.fault, 1, node.host});
        done(std::move(uses));
    };
    ask(
        "machines", [this] { return back_end_.read_nodes(); }, deliver);
}

}  // namespace zbs::slurm
