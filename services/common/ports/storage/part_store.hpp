#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/queue/queue_event.hpp"
#include "services/common/messages/part.hpp"
#include "services/common/messages/registry.hpp"
#include "services/common/messages/staging.hpp"
#include "services/common/ports/storage/site_store.hpp"

namespace zbs {

/// A part as the zone that runs it remembers it.
struct PartRecord {
    Caller home_caller;  ///< who holds it: the home zone
    PartRequest request;
    PartStatus status;
    std::string operation;                 ///< of its launch; empty before
    std::vector<std::int32_t> processors;  ///< by rank, in the zone's own numbering
    std::vector<int> proxies;              ///< of its launch
    std::vector<MachineName> machines{};   ///< of its launch, by proxy
    bool profile = false;
    /// Once its processes have ended: why the site's own scheduler ended them; empty where it did not.
    std::optional<std::string> verdict{};
    AccountName account;  ///< its processes run in; empty: the zone's own
    /// Once launched: when. Before: when it is to start; none where that is as soon as home wishes.
    std::optional<Time> starts_at{};
    Time ended{};                            ///< once it has ended
    std::optional<Staging> staging{};        ///< files that home sends and wants back; none: home has asked for none
    std::optional<StagedResults> results{};  ///< once they are laid aside for home
    std::string partition{};                 ///< whose queue it is in; empty: that of the machines in none
    bool operator==(const PartRecord&) const = default;
};

/// What is needed to remove one that has ended.
struct EndedPart {
    PartId id;
    std::string operation;
    std::vector<int> proxies;
    bool operator==(const EndedPart&) const = default;
};

/// A queue of a zone whose parts share processors, when it was stored last.
struct QueueRecord {
    std::string policy;  ///< as the zone's `queue` has it
    Time at{};           ///< wall clock
    QueueContinued state;
    std::string partition{};  ///< empty: of the machines in none that has its own
    bool operator==(const QueueRecord&) const = default;
};
inline std::string key_of(const QueueRecord& queue) { return queue.partition; }

/// The parts that a zone runs for homes. Durability and errors: as of `ZoneStore`.
class PartStore {
  public:
    virtual ~PartStore() = default;

    /// Inserts or replaces. kConflict where the id has been removed.
    virtual Result<void> save(const PartRecord& part) = 0;
    virtual Result<std::vector<PartRecord>> load_open_parts() = 0;  ///< not ended, by id
    virtual Result<std::optional<PartRecord>> find_part(const PartId& id) = 0;
    /// Those that ended before `time`, longest ago first.
    virtual Result<std::vector<EndedPart>> ended_parts(Time time, std::size_t limit) = 0;
    /// Those that were launched and ended after `time`, the last one first. Cost: that of the rows it gives and of
    /// those between them that were not launched.
    virtual Result<std::vector<PartRecord>> recent_parts(Time time, std::size_t limit) = 0;
    virtual Result<void> remove(const PartId& id) = 0;
    virtual Result<bool> was_removed(const PartId& id) = 0;

    /// A number that has never been returned before, not even before a restart.
    virtual Result<std::uint64_t> next_token() = 0;
    virtual RecordTable<QueueRecord>& queues() = 0;
};

}  // namespace zbs
