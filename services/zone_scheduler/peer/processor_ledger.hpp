#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "algorithms/mapping/mapper.hpp"
#include "algorithms/queue/processor_calendar.hpp"
#include "services/common/messages/capacity.hpp"
#include "services/common/messages/part.hpp"
#include "services/common/ports/machine_use.hpp"
#include "services/zone_scheduler/peer/processor_set.hpp"
#include "services/zone_scheduler/records/zone_config.hpp"

namespace zbs {

/// Which processors of a zone are free when, in which row of its slice matrix, and where a part lies. The calendar of
/// promises, the time and the rights of a user come with each question; it remembers only what the machines have.
///
/// Each row of the matrix is as large as the zone, and a part lies in one row. A zone that does not share its
/// processors has one row.
class ProcessorLedger {
  public:
    /// The part of a zone's configuration that decides.
    struct Setup {
        Zone zone;
        int slots = 1;       ///< rows of the matrix
        std::string mapper;  ///< a name of `mapper_names`
    };
    /// Which promises count in an interval.
    struct Promised {
        const ProcessorCalendar& calendar;
        ProcessorCalendar::Interval when;
        std::set<PartId> without;  ///< count as free
        bool by_estimate = false;  ///< as parts have ended lately, not as they may
        /// Share of its processors that a part of the calendar has, per cent; empty where parts have none.
        std::function<int(const PartId&)> share_of;
    };
    /// Bounds of the question how much is free.
    struct Limits {
        int processors = 0;    ///< that the user may have
        int max_machines = 0;  ///< of one part; 0: no limit
        int share = 0;         ///< that a part would have of its processors, per cent
    };
    struct PlaceOptions {
        Link within_zone;      ///< between machines
        int max_machines = 0;  ///< of the part; 0: no limit
        /// On processors that as few rows use as can be; else in the fullest row.
        bool beside_fewest = false;
        /// All processors that it may use are in slots that a queue policy has chosen, whatever their rows.
        bool in_slots = false;
    };
    struct Placement {
        std::vector<std::int32_t> processors;  ///< each once, as `processors_in` has them
        std::vector<RankPlace> assignment;
    };
    struct NodeView {
        Machine machine;
        int used = 0;
    };
    /// Every processor once, also where several parts share it.
    struct Use {
        std::size_t used = 0;         ///< a part runs there
        std::size_t held = 0;         ///< held or committed, and no part runs there
        std::size_t unavailable = 0;  ///< out of order, or not the zone's to give
        std::size_t free = 0;
    };
    /// A machine that went out of order, or takes work again: `fault` is empty.
    struct FaultChange {
        MachineName machine;
        std::string fault;
    };

    /// Precondition: at least one processor and one row, and a known mapper.
    explicit ProcessorLedger(Setup setup);

    /// Places by this one from now on. Precondition: it is known.
    void use_mapper(const std::string& name) { mapper_ = find_mapper(name); }
    std::size_t row_size() const { return machine_of_.size(); }  ///< processors that there are
    /// The processors that a part was given under these names of machines, which stay when others come or go before
    /// them; `old` where a machine is gone, or there are several rows.
    std::vector<std::int32_t> processors_of(const std::vector<RankPlace>& assignment,
                                            const std::vector<std::int32_t>& old) const;
    /// Whether a stored part lies on processors that there are. Errors: kConflict.
    Result<void> check(const PartId& part, const std::vector<std::int32_t>& processors,
                       const std::vector<RankPlace>& assignment) const;

    /// Marks as taken what others have of each machine, and all of one that is out of order; machines that are not
    /// named stay as they are. `ours`: processors of parts that the machines count as allocated.
    std::vector<FaultChange> record_use(const std::vector<MachineUse>& seen, const std::vector<std::int32_t>& ours);
    bool is_out_of_order(const MachineName& machine) const { return faults_.contains(machine); }
    /// Whether two of these may be one host. Those of which no host is known may be.
    bool may_share_a_host(const std::vector<MachineName>& machines) const;

    /// The processors of these machines, by index, that are the zone's to give.
    ProcessorSet processors_on(const std::vector<bool>& machines) const;
    /// Those of them that are not promised either.
    ProcessorSet free_on(const std::vector<bool>& machines, const Promised& promised) const;
    ProcessorSet promised_in(const Promised& promised) const;
    ProcessorSet promised_at(const ProcessorCalendar& calendar, Duration now) const;

    /// How many of `usable` a part could have, all in one row, as one aggregate. Where the limits leave fewer, machines
    /// with most of them count first.
    StartWindow count_free(const ProcessorSet& usable, const Promised& promised, const Limits& limits) const;
    /// Errors: kRejected where parts have shares, and such a one more would make them more than all.
    Result<void> check_share(const Promised& promised, int share) const;
    /// The part on some of these processors, all in one row, as the zone's mapper has it. Errors: kRejected where no
    /// row has enough of them; the mapper's. No more processors are used than `processors_of` says.
    Result<Placement> place(const PartRequest& request, const ProcessorSet& usable, const PlaceOptions& options) const;

    /// Free ones of the row that has most.
    int free_processors(const ProcessorCalendar& calendar, Duration now) const;
    std::vector<NodeView> nodes(const ProcessorCalendar& calendar, Duration now) const;
    Use use(const ProcessorCalendar& calendar, Duration now, const std::vector<std::int32_t>& running) const;

  private:
    struct Room {
        int processors = 0;
        std::size_t machine = 0;
    };
    std::size_t rows() const { return static_cast<std::size_t>(setup_.slots); }
    ProcessorSet given_on(const std::vector<bool>& machines, std::vector<bool> taken) const;
    ProcessorSet set_of(const std::vector<std::int32_t>& processors) const;
    bool fits(const std::vector<std::int32_t>& processors, const std::vector<RankPlace>& assignment) const;
    void record_use(std::size_t machine, const MachineUse& use, const ProcessorSet& ours);
    std::vector<Room> most_room(const ProcessorSet& usable, std::size_t row, int max_machines) const;
    std::optional<std::size_t> fullest_row(const ProcessorSet& usable, std::size_t processors) const;
    int given_shares(const Promised& promised) const;
    std::vector<double> row_speeds(const Promised& promised, int share) const;
    StartWindow count_free_in_row(const ProcessorSet& usable, std::size_t row, double speed_left,
                                  const Limits& limits) const;
    Result<Placement> place_in_row(const PartRequest& request, const ProcessorSet& usable, std::size_t row,
                                   const PlaceOptions& options) const;
    Result<Placement> place_in_slots(const PartRequest& request, const ProcessorSet& usable,
                                     const PlaceOptions& options) const;
    Result<Placement> place_beside_fewest(const PartRequest& request, const ProcessorSet& usable,
                                          const PlaceOptions& options) const;

    Setup setup_;
    const Mapper* mapper_;
    std::vector<std::size_t> machine_of_;        ///< by processor of a row
    std::vector<ProcessorSet::Range> range_of_;  ///< by machine
    ProcessorSet elsewhere_;                     ///< others have it, or its machine is out of order
    std::vector<double> speed_;                  ///< by machine, as seen last
    std::map<MachineName, std::string> hosts_;   ///< of machines, where the site's scheduler reports them
    std::map<MachineName, std::string> faults_;  ///< of machines that are out of order
};

}  // namespace zbs
