#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/gang/matrix_steps.hpp"
#include "algorithms/model/trace_diagram.hpp"

namespace zbs::gang {

/// Which slots an arriving job gets [DaSilva2000, chapter 5 and section 3.3].
enum class PackingRule : std::uint8_t {
    kFirstFit,   ///< the first slice with enough idle processors, else a new one
    kBestFit,    ///< of those the one with the fewest left over
    kMemoryFit,  ///< of those the one after which memory is balanced best over the nodes
    kBuddy,      ///< processors in halves, one controller a block (distributed hierarchical control)
};
/// When all jobs are packed anew, each free to move.
enum class Repack : std::uint8_t { kNever, kAtArrival, kAtChange };
/// The order in which they are then packed.
enum class RepackOrder : std::uint8_t { kArrival, kDecreasingProcessors };
/// Which processors of the slice, where there is a choice. The thesis does not say.
enum class ProcessorChoice : std::uint8_t { kLowest, kFewestTasks, kMaxMemory };
/// When memory fit opens a slice: the thesis can be read both ways [DaSilva2000, section 5.4]. Compared literally a
/// new slice never loses but to ties, for its processors are the freest of the machine.
enum class NewSlice : std::uint8_t { kOnlyIfNeeded, kAlwaysCompared };

struct PackingOptions {
    std::int32_t processors = 1;  ///< 1 .. TraceDiagram::kMaxProcessors; a power of two for kBuddy
    PackingRule rule = PackingRule::kFirstFit;
    Repack repack = Repack::kNever;
    RepackOrder repack_order = RepackOrder::kArrival;
    /// Few tasks on every processor give its local scheduler a choice; so this, not the lowest number.
    ProcessorChoice choice = ProcessorChoice::kFewestTasks;
    NewSlice new_slice = NewSlice::kOnlyIfNeeded;
    std::int64_t memory_per_node = 0;     ///< in the unit of GangRequest::memory; 0: no limit
    std::int32_t max_tasks_per_node = 0;  ///< admission cap; 0: none
    std::int32_t max_slices = 0;          ///< largest multiprogramming level; 0: none
    /// Whether a job that waits lets later ones pass. Waiting in order starves nobody.
    bool overtaking = false;
    /// Whether slots left over go to further copies of jobs (alternative scheduling, FillMatrix).
    bool fill = false;
    /// Whether jobs are moved into fuller rows when one has left (CompactMatrix).
    bool compact = false;
    /// kBuddy: whether controllers below processors that a gang leaves unused stay active beside it.
    bool selective_disabling = true;

    bool operator==(const PackingOptions&) const = default;
};

/// A packing rule as its users see it.
struct PackingInfo {
    std::string_view name;
    std::string_view summary;  ///< one sentence
    std::string_view source;   ///< key in REFERENCES.md, and place
};
/// All packing rules.
std::span<const PackingInfo> packing_rules();
/// `options` with what the rule `name` sets: rule, for ffd repack and repack_order, for memory-fit overtaking. Errors,
/// kInvalidArgument: unknown rule, with the nearest that exists; processors out of range.
Result<PackingOptions> make_packing_options(std::string_view name, PackingOptions options);

/// What a job asks of the slice matrix.
struct GangRequest {
    JobId job;
    std::int32_t processors = 1;  ///< one task each
    std::int64_t memory = 0;      ///< of every task, in any one unit
    bool operator==(const GangRequest&) const = default;
};

/// The effects of one workload change: the front end notifies only these processors [DaSilva2000, section 6.2].
struct WorkloadChange {
    std::vector<JobId> placed;           ///< jobs that were waiting or new and now have slots
    std::vector<std::int32_t> notified;  ///< processors whose tasks changed, ascending
    bool operator==(const WorkloadChange&) const = default;
};

/// The front end of a gang scheduler: keeps the trace diagram while jobs come and go.
///
/// A value: its state is the diagram, the resident requests in the order of arrival with their processors, and the
/// waiting ones; a policy can make one from those at any time (`restore`). One workload change costs
/// O(slices + processors) without repacking, times the number of jobs with it.
class GangPacking {
  public:
    struct Resident {
        GangRequest request;
        std::vector<std::int32_t> processors;  ///< ascending
        bool operator==(const Resident&) const = default;
    };

    /// Precondition: options in range (`make_packing_options` sees to it).
    explicit GangPacking(const PackingOptions& options);
    /// The packing that holds `diagram`, `residents` (in the order of arrival) and `waiting`. Precondition: they come
    /// from a packing with these options.
    static GangPacking restore(const PackingOptions& options, TraceDiagram diagram, std::vector<Resident> residents,
                               std::vector<GangRequest> waiting);

    /// Takes a job in: it gets slots now or waits. Error kRejected, nothing changed: it can never fit this machine.
    /// Precondition: its id is not present.
    Result<WorkloadChange> arrive(const GangRequest& request);
    /// A job has ended or was withdrawn; waiting jobs may get slots. Precondition: it is present.
    WorkloadChange leave(JobId job);

    /// The diagram with further copies of jobs in left-over slots, as each change leaves it with `fill`. For a front
    /// end without that option that makes several changes at once.
    TraceDiagram filled() const;
    /// No job waits any more. Those that have slots keep them.
    void withdraw_waiting() { waiting_.clear(); }

    const PackingOptions& options() const { return options_; }
    const TraceDiagram& diagram() const { return diagram_; }
    std::span<const Resident> residents() const { return residents_; }
    std::span<const GangRequest> waiting() const { return waiting_; }
    /// Resident tasks of every processor.
    std::span<const std::int32_t> tasks() const { return tasks_; }
    /// Memory not taken by resident tasks, of every processor; may fall below 0 where there is no limit.
    std::span<const std::int64_t> free_memory() const { return free_memory_; }

    friend bool operator==(const GangPacking& a, const GangPacking& b) {
        return a.options_ == b.options_ && a.diagram_ == b.diagram_ && a.residents_ == b.residents_ &&
               a.waiting_ == b.waiting_;
    }

  private:
    struct Site {
        std::int32_t row;  ///< == row_count for a new slice
        std::vector<std::int32_t> processors;
    };
    bool admits(std::int32_t processor, const GangRequest& request) const;
    bool pick(std::int32_t row, const GangRequest& request, std::vector<std::int32_t>& picked);
    bool find_site(const GangRequest& request, Site& site);
    bool find_first(const GangRequest& request, Site& site);
    bool find_best(const GangRequest& request, Site& site);
    bool find_balanced(const GangRequest& request, Site& site);
    bool find_block(const GangRequest& request, Site& site);
    bool open_slice(const GangRequest& request, Site& site);
    bool constrained() const { return options_.memory_per_node > 0 || options_.max_tasks_per_node > 0; }
    bool place(const GangRequest& request);
    bool place_or_repack(const GangRequest& request);
    void charge(const Resident& resident, int sign);
    /// Packs all residents anew; false, nothing changed, where a limit stands in the way.
    bool repack();
    /// Puts every gang of the buddy tree into the first row its controller may use.
    void lay_out_blocks();
    /// Places waiting jobs, completes the diagram, and says what changed.
    WorkloadChange finish();

    PackingOptions options_;
    TraceDiagram diagram_;
    std::vector<Resident> residents_;
    std::vector<GangRequest> waiting_;
    std::vector<std::int32_t> tasks_;
    std::vector<std::int64_t> free_memory_;
    std::vector<std::int32_t> candidates_;  ///< scratch
    std::vector<bool> touched_;             ///< processors whose tasks have changed since the last report
    std::vector<JobId> placed_;             ///< jobs placed since then
};

/// Level of the controller of a gang: the smallest i with 2^i >= processors.
std::int32_t controller_level(std::int32_t processors);

/// The least number of slices that `residents` need on so many processors, ceil(tasks / processors): a lower bound on
/// every packing [DaSilva2000, eq. 5.1].
std::int64_t fewest_slices(std::int64_t tasks, std::int32_t processors);

}  // namespace zbs::gang
