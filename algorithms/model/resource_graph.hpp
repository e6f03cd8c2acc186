#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "algorithms/base/result.hpp"

namespace zbs {

/// Delay and bandwidth of a path between two places.
struct Link {
    double delay_s = 0;          ///< one-way start-up time of a message, seconds, >= 0
    double bandwidth_Bps = 1e9;  ///< bytes per second, > 0
    bool operator==(const Link&) const = default;
};

/// One machine (node) of a zone: `processors` processing elements of equal `speed`.
struct Machine {
    std::string name;
    int processors = 1;  ///< >= 1
    double speed = 1;    ///< relative to a reference processor, > 0
    bool operator==(const Machine&) const = default;
};

/// Machines under one scheduler. `within_machine` joins processors of one machine, `within_zone` machines of the zone.
struct Zone {
    std::string name;
    std::vector<Machine> machines;
    Link within_machine{1e-6, 5e9};
    Link within_zone{5e-5, 1e9};
    bool operator==(const Zone&) const = default;

    int processor_count() const;
    double speed_sum() const;  ///< sum over processors
};

/// Dense 0-based number of a processor in a resource graph: zones, machines, processors in the order given.
using ProcessorIndex = std::int32_t;

/// Where a processor is; all three 0-based, `processor` within its machine.
struct ProcessorPlace {
    std::int32_t zone = 0;
    std::int32_t machine = 0;
    std::int32_t processor = 0;
    bool operator==(const ProcessorPlace&) const = default;
};

/// Zones and the links between them: what tasks are mapped onto. The file format is `zbs-resources/1`. Immutable.
class ResourceGraph {
  public:
    /// A link between two zones, symmetric; `a` and `b` index zones, a != b.
    struct ZoneLink {
        std::int32_t a = 0;
        std::int32_t b = 0;
        Link link;
        bool operator==(const ZoneLink&) const = default;
    };
    static constexpr int kMaxProcessors = 10'000'000;
    /// Taken for a pair of zones that no ZoneLink names.
    static constexpr Link kDefaultZoneLink{0.01, 1e8};

    ResourceGraph() = default;
    /// Errors: no zone, empty or duplicate names, a zone without machines, counts or speeds out of range, a link that
    /// names an unknown zone, itself, or a pair twice; with a JSON pointer into the file format.
    static Result<ResourceGraph> make(std::vector<Zone> zones, std::vector<ZoneLink> links);

    std::span<const Zone> zones() const { return zones_; }
    std::span<const ZoneLink> links() const { return links_; }
    std::int32_t zone_count() const { return static_cast<std::int32_t>(zones_.size()); }
    ProcessorIndex processor_count() const { return static_cast<ProcessorIndex>(places_.size()); }

    const ProcessorPlace& place(ProcessorIndex p) const { return places_[static_cast<std::size_t>(p)]; }
    double speed(ProcessorIndex p) const {
        const ProcessorPlace& at = place(p);
        return zones_[static_cast<std::size_t>(at.zone)].machines[static_cast<std::size_t>(at.machine)].speed;
    }
    ProcessorIndex first_processor_of_zone(std::int32_t zone) const {
        return zone_begin_[static_cast<std::size_t>(zone)];
    }
    int processors_in_zone(std::int32_t zone) const {
        return zone_begin_[static_cast<std::size_t>(zone) + 1] - zone_begin_[static_cast<std::size_t>(zone)];
    }
    const Link& zone_link(std::int32_t a, std::int32_t b) const {
        return between_zones_[static_cast<std::size_t>(a) * zones_.size() + static_cast<std::size_t>(b)];
    }
    /// Path between two processors: within_machine, within_zone, or the zones' link. Precondition: a != b.
    const Link& link(ProcessorIndex a, ProcessorIndex b) const;

    bool operator==(const ResourceGraph& other) const { return zones_ == other.zones_ && links_ == other.links_; }

  private:
    std::vector<Zone> zones_;
    std::vector<ZoneLink> links_;
    std::vector<ProcessorPlace> places_;
    std::vector<ProcessorIndex> zone_begin_ = {0};
    std::vector<Link> between_zones_;  // zone_count squared
};

}  // namespace zbs
