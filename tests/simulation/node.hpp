#pragma once
#include <memory>
#include <string>

#include "services/registry/http/registry_routes.hpp"
#include "services/zone_scheduler/assembly/zone_core.hpp"
#include "tests/simulation/disk.hpp"
#include "tests/simulation/jobs.hpp"
#include "tests/simulation/network.hpp"
#include "tests/simulation/planted_fault.hpp"
#include "tests/simulation/timeline.hpp"
#include "tests/support/memory_depot.hpp"

namespace zbs::simulation {

/// What all simulated services share.
struct Surroundings {
    Timeline& time;
    Chronicle& chronicle;
    Network& network;
    Jobs& jobs;
    std::map<std::string, Disk>& disks;
    std::vector<OrganisationName> organisations;  ///< whose bundles everybody knows
    PlantedFault fault = PlantedFault::kNone;
};

/// Settings of a zone that takes the users of all organisations without limits; its machines are for the caller to add.
ZoneConfig open_zone(const std::string& name, const OrganisationName& organisation, const ServiceAddress& registry,
                     std::string code);

/// A machine with a service on it. `boot` starts the service on what the disk has; `crash` ends it between two
/// instructions, and the disk forgets what was not synced.
class Node {
  public:
    Node(Surroundings& world, const std::string& name)
        : world_(world), host_(world.time, name), disk_(world.disks[name]) {
        disk_.on_sync([this] { host_.step(); });
        disk_.ignore_syncs(world.fault == PlantedFault::kCommitWithoutSync);
    }
    virtual ~Node() = default;
    virtual Result<void> boot() = 0;
    /// Called when the service ends by itself: its storage has failed.
    void on_end(std::function<void()> ended) { ended_ = std::move(ended); }
    void crash(Rng& rng) {
        host_.crash();
        stop();
        disk_.crash(rng);
    }
    Host& host() { return host_; }
    Disk& disk() { return disk_; }
    const std::string& name() const { return host_.name(); }

  protected:
    virtual void stop() = 0;
    Surroundings& world_;
    Host host_;
    Disk& disk_;
    std::function<void()> ended_ = [] {};
};

/// A zone as it is in production, but for sockets, processes, disk and cryptography.
class ZoneNode : public Node {
  public:
    ZoneNode(Surroundings& world, ZoneConfig config, std::uint64_t id_stream);
    ~ZoneNode() override;
    Result<void> boot() override;
    const ZoneConfig& config() const { return config_; }
    ZoneConfig& settings() { return config_; }
    Caller self() const { return {CallerKind::kZone, config_.organisation, config_.zone.name}; }
    /// Null while it is down.
    const ZoneCore* core() const;

  protected:
    void stop() override;

  private:
    struct Life;
    void register_agents();
    ZoneConfig config_;
    HostIds ids_;
    test::MemoryDepot depot_;  ///< outlives crashes
    std::unique_ptr<Life> life_;
};

class RegistryNode : public Node {
  public:
    explicit RegistryNode(Surroundings& world);
    ~RegistryNode() override;
    Result<void> boot() override;
    ServiceAddress address() const;
    /// A code for one zone of that organisation.
    std::string invite(const OrganisationName& organisation);

  protected:
    void stop() override;

  private:
    struct Life;
    RegistryConfig config_;
    HostIds ids_;
    std::unique_ptr<Life> life_;
};

}  // namespace zbs::simulation
