#include "services/common/codec/tree_mapping_codec.hpp"

#include "services/common/codec/json/document_text.hpp"

namespace zbs::codec {

std::string tree_mapping_text(std::span<const ProcessorIndex> processor_of, ProcessorIndex processors,
                              const TreeReport& report, double block_bound, double seconds) {
    std::string text = "{\"version\":" + std::to_string(kDocumentVersion) +
                       R"(,"format":"zbs-tree-mapping/1","processors":)" + std::to_string(processors);
    const auto field = [&](const char* name, const Json& value) {
        text += std::string(",\"") + name + "\":" + value.dump();
    };
    field("cost", report.cost);
    field("occupancy", report.occupancy);
    field("imbalance", report.imbalance);
    field("feasible", report.feasible);
    field("block_bound", block_bound);
    field("seconds", seconds);
    text += ",\"mapping\":[";
    text.reserve(text.size() + processor_of.size() * 36);
    for (std::size_t task = 0; task < processor_of.size(); ++task) {
        text += task == 0 ? "{\"task\":" : ",{\"task\":";
        text += std::to_string(task);
        text += ",\"processor\":";
        text += std::to_string(processor_of[task]);
        text += '}';
    }
    return text += "]}";
}

Result<std::vector<ProcessorIndex>> decode_tree_mapping(const Json& json, ProcessorIndex processors) {
    JsonReader in(json);
    check_document_version(in, "zbs map");
    const std::string format = in.text("format");
    if (in.ok() && format != "zbs-tree-mapping/1")
        in.fail("format", "is '" + format + "'; a mapping onto a hierarchy is 'zbs-tree-mapping/1'");
    const std::int64_t written = in.integer("processors", 1, ResourceGraph::kMaxProcessors);
    if (in.ok() && written != processors)
        in.fail("processors", "is " + std::to_string(written) + ", but the hierarchy has " +
                                  std::to_string(processors) + "; give the hierarchy that the mapping was made for");
    const Json& rows = in.array("mapping", TaskGraph::kMaxTasks);
    std::vector<ProcessorIndex> processor_of;
    processor_of.reserve(rows.size());
    for (std::size_t i = 0; i < rows.size() && in.ok(); ++i) {
        JsonReader row(rows[i], in.pointer_of("mapping/" + std::to_string(i)));
        const std::int64_t task = row.integer("task", 0, TaskGraph::kMaxTasks);
        const std::int64_t processor = row.integer("processor", 0, processors - 1);
        if (row.ok() && task != static_cast<std::int64_t>(i)) row.fail("task", "tasks must stand in order, each once");
        if (Result<int> done = row.finish(0); !done) return done.error();
        processor_of.push_back(static_cast<ProcessorIndex>(processor));
    }
    for (const char* key : {"cost", "occupancy", "imbalance", "block_bound", "seconds"}) {
        if (in.has(key)) in.number(key, 0, 1e300);
    }
    if (in.has("feasible")) in.boolean("feasible");
    return in.finish(std::move(processor_of));
}

}  // namespace zbs::codec
