#pragma once
#include <span>
#include <string>
#include <vector>

#include "algorithms/model/mapping.hpp"
#include "algorithms/model/resource_graph.hpp"
#include "algorithms/model/task_graph.hpp"
#include "services/common/codec/json/json.hpp"

namespace zbs::codec {

/// File format `zbs-model/1` (schemas/json/model.schema.json).
Result<ApplicationModel> decode_model(const Json& json, const std::string& pointer = {});
Json encode(const ApplicationModel& model);

/// The optional member "unseen".
Result<UnseenCalls> read_unseen(JsonReader& in);
/// An object with that member alone.
Json encode_unseen(const UnseenCalls& unseen);
Result<UnseenCalls> decode_unseen(const Json& json);

/// Task graph alone: {"compute":[...],"edges":[[u,v,bytes,messages],...]}.
Result<TaskGraph> decode_task_graph(const Json& json, const std::string& pointer);
Json encode(const TaskGraph& graph);

/// File format `zbs-resources/1` (schemas/json/resources.schema.json).
Result<ResourceGraph> decode_resources(const Json& json);
Json encode(const ResourceGraph& resources);

/// How a mapping can be made again: the program with its version, and what it was given. Readers ignore both.
struct MadeBy {
    std::string program;
    Json settings;  ///< object
};

/// File format `zbs-mapping/1` (schemas/json/mapping.schema.json), without its version, which `document_text` writes;
/// `seconds` is the time that the mapper took.
Json encode_mapping(const ResourceGraph& resources, const Mapping& mapping, const MappingReport& report, double seconds,
                    const MadeBy& made);
/// Errors: a zone or machine that `resources` does not have, a processor out of range, tasks not 0..n-1 in order.
Result<Mapping> decode_mapping(const Json& json, const ResourceGraph& resources);

Json encode(const Link& link);
Result<Link> decode_link(const Json& json, const std::string& pointer);

/// File format `zbs-tree-mapping/1` (schemas/json/tree-mapping.schema.json): processors by index, innermost level of
/// the hierarchy fastest. Its version comes first. `block_bound` is what a processor may hold, `seconds` the time that
/// the mapper took. Written as text at once, because a million rows are common here.
std::string tree_mapping_text(std::span<const ProcessorIndex> processor_of, ProcessorIndex processors,
                              const TreeReport& report, double block_bound, double seconds, const MadeBy& made);

/// Errors: a number of processors other than `processors`, a processor out of range, tasks not 0..n-1 in order.
Result<std::vector<ProcessorIndex>> decode_tree_mapping(const Json& json, ProcessorIndex processors);

}  // namespace zbs::codec
