#include "algorithms/mapping/mapper.hpp"

#include <array>
#include <string>

#include "algorithms/mapping/best_mapper.hpp"
#include "algorithms/mapping/global_mapper.hpp"
#include "algorithms/mapping/hier_mapper.hpp"
#include "algorithms/mapping/metis_multisection.hpp"
#include "algorithms/mapping/multilevel_mapper.hpp"
#include "algorithms/mapping/simple_mappers.hpp"

namespace zbs {
namespace {

std::array<const Mapper*, 8> all_mappers() {
    static const BestMapper best;
    static const GlobalMapper global;
    static const HierMapper hier;
    static const MultilevelMapper multilevel;
    static const MetisMapper metis;
    static const BlockMapper block;
    static const RoundRobinMapper round_robin;
    static const RandomMapper random;
    return {&best, &global, &hier, &multilevel, &metis, &block, &round_robin, &random};
}

}  // namespace

std::vector<std::string_view> mapper_names() {
    std::vector<std::string_view> names;
    for (const Mapper* mapper : all_mappers()) names.push_back(mapper->name());
    return names;
}

const Mapper* find_mapper(std::string_view name) {
    for (const Mapper* mapper : all_mappers()) {
        if (mapper->name() == name) return mapper;
    }
    return nullptr;
}

Result<void> check_slots(std::int64_t tasks, std::int64_t processors, const MapOptions& options) {
    if (options.max_tasks_per_processor < 0)
        return invalid("the limit of tasks per processor must be >= 0 (0 is unlimited)");
    if (processors < 1) return invalid("there is no processor to map onto; check that a zone offers some to this user");
    if (tasks > options.slots(processors)) {
        return invalid(std::to_string(tasks) + " tasks need " + std::to_string(tasks) + " slots but there are " +
                       std::to_string(options.slots(processors)) + " (" + std::to_string(processors) +
                       " processors x " + std::to_string(options.max_tasks_per_processor) +
                       " tasks each); add zones or processors, or allow more tasks per processor");
    }
    return {};
}

}  // namespace zbs
