#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <string_view>
#include <vector>

#include "algorithms/base/result.hpp"
#include "algorithms/base/task_runner.hpp"
#include "algorithms/model/mapping.hpp"
#include "algorithms/model/resource_graph.hpp"
#include "algorithms/model/task_graph.hpp"

namespace zbs {

/// What a mapper makes small. Each has an exact value and a fast change of it, see objective.hpp.
enum class Objective {
    kOccupancy,  ///< largest relative load of any processor or link, seconds per step [Taura2000]
    kCost,       ///< sum over pairs of traffic x distance, under a bound on every processor's load
    kTime,       ///< predicted_time(): the slowest processor's compute and messages together, seconds
};

/// How much work the multilevel mapper puts in: about 1 : 6 : 50.
enum class Preset { kFast, kDefault, kStrong };

struct MapOptions {
    std::uint64_t seed = 1;
    int max_tasks_per_processor = 1;  ///< >= 0; 0 is unlimited
    bool weigh_messages = true;       ///< see edge_weight
    /// How `hier` divides tasks among zones: "clusters" (the thesis's, map_clusters_to_zones) or "multilevel".
    std::string_view level1 = "clusters";
    std::string_view level2 = "global";      ///< the mapper that `hier` uses inside a zone; any name of mapper_names()
    Objective objective = Objective::kCost;  ///< heeded by `multilevel`; the others have their own
    Preset preset = Preset::kDefault;        ///< heeded by `multilevel`
    /// Where max_tasks_per_processor is 0: no processor gets more compute than (1 + imbalance) x its share by speed,
    /// the share rounded up where all compute is whole, >= 0.
    double imbalance = 0.03;
    TaskRunner* runner = nullptr;            ///< null is serial; not owned
    std::function<bool()> out_of_time = {};  ///< asked now and then, from any thread; true ends the search early

    /// Tasks that `processors` of them hold.
    std::int64_t slots(std::int64_t processors) const {
        return max_tasks_per_processor == 0 ? std::numeric_limits<std::int64_t>::max()
                                            : processors * max_tasks_per_processor;
    }
};

/// Places the tasks of a graph on processors. Mappers hold no state and may be used from several threads.
class Mapper {
  public:
    virtual ~Mapper() = default;
    virtual std::string_view name() const = 0;
    /// Equal arguments give equal mappings. Errors, all kInvalidArgument: no processors, a negative limit, more tasks
    /// than slots, an unknown mapper of level 1 or 2.
    virtual Result<Mapping> map(const TaskGraph& graph, const ResourceGraph& resources,
                                const MapOptions& options) const = 0;
};

/// `auto`, `global`, `hier`, `multilevel`, `metis`, `block`, `round-robin`, `random`.
std::vector<std::string_view> mapper_names();
/// Null for an unknown name. The mapper lives as long as the program.
const Mapper* find_mapper(std::string_view name);

/// The checks that all mappers share; the message names both numbers and the remedy.
Result<void> check_slots(std::int64_t tasks, std::int64_t processors, const MapOptions& options);

}  // namespace zbs
