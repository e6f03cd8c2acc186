#pragma once
#include <memory>
#include <string>
#include <vector>

#include "services/zone_scheduler/peer/part_service.hpp"

namespace zbs {

/// The zone as a peer, whose machines have one queue, or one for each partition that has its own: a `PartService` for
/// each of these in the order of the file, and one for the machines outside of them. A part lies in one of them. What
/// is free is what the best of them has; a hold takes the first that has enough, and one that waits the queue that is
/// shortest. Rights are looked at, and usage is counted, over all of them. Calls and errors: `PartService`'s.
class Partitions {
  public:
    /// Looks at `ports.config` for as long as it lives.
    explicit Partitions(PartPorts ports);

    Result<void> resume();
    void start();
    /// Of the machines outside of partitions.
    Result<void> use_queue(const std::string& discipline);
    /// Takes what has changed in the configuration of the zone, for this partition or, where empty, for all machines
    /// outside. Errors, nothing changed there: `PartQueue::use`'s; kInvalidArgument for other rows of processors.
    Result<void> refresh(const std::string& partition);
    void restate_queue(const std::string& partition);
    void restate_parts() const;

    Result<Capacity> capacity(const Caller& caller, const CapacityRequest& request);
    Result<PartStatus> hold(const Caller& caller, const PartRequest& request);
    /// The service that answers all other calls about this part: the one that has it, or had it.
    PartService& of(const PartId& id) const;

    /// The first, and only one of a zone whose machines have one queue.
    PartService& front() const { return *parts_.front()->service; }
    const std::vector<const PartTable*>& tables() const { return tables_; }  ///< of its services
    std::vector<ProcessorLedger::NodeView> nodes() const;
    std::size_t waiting_count() const;
    int slots() const;                 ///< most of a partition
    std::string sharing_mode() const;  ///< of the first partition whose parts share processors

  private:
    struct Part {
        std::string name;   ///< empty: outside of partitions
        ZoneConfig config;  ///< unused where there is only one
        std::unique_ptr<PartService> service;
    };
    ZoneConfig config_of(const std::string& partition) const;
    PartService* owner(const PartId& id) const;
    Part& part_of(const PartRecord& record) const;

    const ZoneConfig& zone_;
    PartStore& store_;
    std::vector<const PartTable*> tables_;
    std::vector<std::unique_ptr<Part>> parts_;
};

}  // namespace zbs
