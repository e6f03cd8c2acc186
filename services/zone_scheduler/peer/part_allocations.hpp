#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "algorithms/base/ids.hpp"
#include "services/common/ports/allocations.hpp"
#include "services/common/ports/clock.hpp"
#include "services/common/ports/log.hpp"

namespace zbs {

/// What the site's own scheduler has given for parts, where the zone shares its machines through one; without one
/// everything is granted at once. Keeps nothing: after a restart `adopt` asks again. Lives on the domain's strand.
///
/// What must happen (keep, give back) is tried until that scheduler has answered, however long it is down.
class PartAllocations {
  public:
    /// `source`: null where there is none.
    PartAllocations(Allocations* source, Clock& clock, Log& log) : source_(source), clock_(clock), log_(log) {}
    bool in_use() const { return source_ != nullptr; }

    /// Asks for the processors of a part; only where a scheduler is in use. `done` is called once; after an error
    /// nothing is left behind, or it is being released.
    void ask(const PartId& part, AllocationSpec spec, Allocations::Done done);
    /// Of a part that was there before a restart. `done` as of `ask`, once that scheduler has been seen to have it or
    /// not.
    void adopt(const PartId& part, const AccountName& account, bool is_kept, Allocations::Done done);
    /// It shall not expire any more.
    void keep(const PartId& part);
    /// Gives it back. What runs in it is ended by that scheduler.
    void release(const PartId& part);
    /// Of one whose processes have ended: why that scheduler ended it, or "" where it had not.
    void judge(const PartId& part, std::function<void(const std::string& why)> done);
    /// Releases it; `done` is called once nothing of it is left.
    void finish(const PartId& part, std::function<void()> done);

    bool is_asked(const PartId& part) const;
    bool is_held(const PartId& part) const;  ///< its processors are ours now; true where no scheduler is in use
    /// Why it is no more, where it ended without us.
    std::optional<std::string> lost(const PartId& part) const;
    /// Looks at those that are granted, now and then; the watch calls it.
    void check_around();
    Result<StepSpec> step_in(const PartId& part, const AllocatedTasks& tasks, StepSpec step);

  private:
    enum class Stage { kAsked, kPromised, kHeld, kLost, kEnding };
    struct Entry {
        AllocationKey key;
        Stage stage = Stage::kAsked;
        bool to_keep = false;
        bool is_kept = false;
        bool is_asking = false;   ///< a look or a keep is under way
        bool is_unknown = false;  ///< lost without a word
        Duration next_check{};
        std::optional<Time> start;  ///< of one for later, where known
        std::string why_lost;
        Allocations::Done adopted{};  ///< called once it has been seen
    };
    using Shared = std::shared_ptr<Entry>;
    Shared find(const PartId& part) const;
    void look(const PartId& part, const Shared& entry);
    void take_view(const PartId& part, Entry& entry, const AllocationView& seen);
    void try_keep(const PartId& part, const Shared& entry);
    void give_back(const AllocationKey& key, Duration pause, std::function<void()> done);
    void await_end(const AllocationKey& key, Duration pause, std::function<void()> done);
    void check_again_later(Entry& entry) const;
    void ask_why(const Shared& entry, Duration pause, std::function<void(const std::string&)> done);
    void later(Duration pause, std::function<void()> again);

    Allocations* source_;
    Clock& clock_;
    Log& log_;
    std::map<PartId, Shared> entries_;  ///< of parts that have not ended
};

}  // namespace zbs
