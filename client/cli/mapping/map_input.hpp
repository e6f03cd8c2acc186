#pragma once
#include <string>
#include <vector>

#include "algorithms/model/processor_tree.hpp"
#include "algorithms/model/resource_graph.hpp"
#include "algorithms/model/task_graph.hpp"

namespace zbs::cli {

/// What `zbs map` maps, and onto what: file names and texts as given; empty where not given.
struct MapSources {
    std::string model, graph;                     ///< one of them
    std::string resources, hierarchy, distances;  ///< resources, or both others
};

/// Errors of all three name the file, and the line or JSON pointer in it.
Result<TaskGraph> read_task_graph(const MapSources& sources);
Result<ResourceGraph> read_resources(const std::string& path);

/// The tree of --hierarchy and --distances, and what is odd about it: distances that do not increase.
struct Hierarchy {
    ProcessorTree tree;
    std::vector<std::string> warnings;
};
Result<Hierarchy> make_hierarchy(const MapSources& sources);

/// The mapping of `tasks` tasks in a file: what `zbs map --format json` writes, or plain text with one processor index
/// per line (counted over zones and machines, with resources). `resources` is null for a hierarchy.
Result<std::vector<ProcessorIndex>> read_mapping(const std::string& path, TaskIndex tasks, ProcessorIndex processors,
                                                 const ResourceGraph* resources);

}  // namespace zbs::cli
