#pragma once
#include <span>
#include <string>
#include <vector>

#include "algorithms/model/mapping.hpp"
#include "services/common/codec/json/json.hpp"

namespace zbs::codec {

/// File format `zbs-tree-mapping/1` (schemas/json/tree-mapping.schema.json): processors by index, innermost level of
/// the hierarchy fastest. Its version comes first. `block_bound` is what a processor may hold, `seconds` the time that
/// the mapper took. Written as text at once, because a million rows are common here.
std::string tree_mapping_text(std::span<const ProcessorIndex> processor_of, ProcessorIndex processors,
                              const TreeReport& report, double block_bound, double seconds);

/// Errors: a number of processors other than `processors`, a processor out of range, tasks not 0..n-1 in order.
Result<std::vector<ProcessorIndex>> decode_tree_mapping(const Json& json, ProcessorIndex processors);

}  // namespace zbs::codec
