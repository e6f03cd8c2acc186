#include "algorithms/mapping/simple_mappers.hpp"

#include <algorithm>

#include "algorithms/base/rng.hpp"
#include "algorithms/mapping/zone_planner.hpp"

namespace zbs {

Result<Mapping> BlockMapper::map(const TaskGraph& graph, const ResourceGraph& resources,
                                 const MapOptions& options) const {
    const std::vector<ZoneAggregate> zones = aggregate_zones(resources);
    const Result<std::vector<std::int32_t>> zone_of_task = place_blocks(graph.task_count(), zones, options);
    if (!zone_of_task) return zone_of_task.error();
    std::vector<std::int32_t> in_zone(zones.size(), 0);
    for (const std::int32_t zone : *zone_of_task) ++in_zone[static_cast<std::size_t>(zone)];
    std::vector<std::int32_t> placed(zones.size(), 0);
    Mapping mapping;
    for (const std::int32_t zone : *zone_of_task) {
        const auto z = static_cast<std::size_t>(zone);
        const std::int32_t processors = resources.processors_in_zone(zone);
        // Even blocks: the first `extra` processors take one task more than the others; at most one each where they
        // fit.
        const std::int32_t base = in_zone[z] / processors;
        const std::int32_t extra = in_zone[z] % processors;
        const std::int32_t rank = placed[z]++;
        const std::int32_t in_large_blocks = extra * (base + 1);
        const std::int32_t offset =
            rank < in_large_blocks ? rank / (base + 1) : extra + (rank - in_large_blocks) / std::max(1, base);
        mapping.processor_of.push_back(resources.first_processor_of_zone(zone) + offset);
    }
    return mapping;
}

Result<Mapping> RoundRobinMapper::map(const TaskGraph& graph, const ResourceGraph& resources,
                                      const MapOptions& options) const {
    if (auto ok = check_slots(graph.task_count(), resources.processor_count(), options); !ok) return ok.error();
    std::vector<std::int64_t> dealt(static_cast<std::size_t>(resources.zone_count()), 0);
    Mapping mapping;
    for (std::int32_t zone = 0; mapping.processor_of.size() < static_cast<std::size_t>(graph.task_count());
         zone = (zone + 1) % resources.zone_count()) {
        const std::int32_t processors = resources.processors_in_zone(zone);
        std::int64_t& count = dealt[static_cast<std::size_t>(zone)];
        if (count >= options.slots(processors)) continue;
        mapping.processor_of.push_back(resources.first_processor_of_zone(zone) +
                                       static_cast<ProcessorIndex>(count++ % processors));
    }
    return mapping;
}

Result<Mapping> RandomMapper::map(const TaskGraph& graph, const ResourceGraph& resources,
                                  const MapOptions& options) const {
    if (auto ok = check_slots(graph.task_count(), resources.processor_count(), options); !ok) return ok.error();
    Rng rng(options.seed);
    Mapping mapping;
    if (options.max_tasks_per_processor == 0) {
        for (TaskIndex t = 0; t < graph.task_count(); ++t) {
            mapping.processor_of.push_back(
                static_cast<ProcessorIndex>(rng.below(static_cast<std::uint64_t>(resources.processor_count()))));
        }
        return mapping;
    }
    std::vector<ProcessorIndex> slots;
    // More than one slot a task on any processor is never used, however generous the limit.
    const int per_processor = std::min<int>(options.max_tasks_per_processor, std::max(1, graph.task_count()));
    for (ProcessorIndex p = 0; p < resources.processor_count(); ++p)
        slots.insert(slots.end(), static_cast<std::size_t>(per_processor), p);
    rng.shuffle(slots);
    mapping.processor_of.assign(slots.begin(), slots.begin() + graph.task_count());
    return mapping;
}

}  // namespace zbs
