#include "client/cli/mapping/map_input.hpp"

#include <algorithm>
#include <iostream>

#include "algorithms/base/text.hpp"
#include "algorithms/formats/metis_graph.hpp"
#include "client/cli/context.hpp"
#include "client/cli/input.hpp"
#include "services/common/codec/model_codec.hpp"

namespace zbs::cli {
namespace {

Result<std::vector<ProcessorIndex>> parse_lines(std::string_view text, const std::string& path, TaskIndex tasks,
                                                ProcessorIndex processors) {
    std::vector<ProcessorIndex> processor_of;
    processor_of.reserve(static_cast<std::size_t>(tasks));
    std::size_t number = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        std::string_view line = text.substr(at, end - at);
        at = end + 1;
        ++number;
        while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t'))
            line.remove_suffix(1);
        while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
        const std::string here = path + ":" + std::to_string(number);
        if (line.empty() && text.find_first_not_of(" \t\r\n", std::min(at, text.size())) == std::string_view::npos)
            break;  // empty lines at the end
        const auto processor = parse_number<std::int64_t>(line);
        if (!processor)
            return invalid("\"" + std::string(line.substr(0, 40)) +
                               "\" is no processor; a mapping is one index per line, or the JSON of zbs map",
                           here);
        if (*processor < 0 || *processor >= processors)
            return invalid(
                "processor " + std::to_string(*processor) + " is not in 0.." + std::to_string(processors - 1), here);
        if (processor_of.size() == static_cast<std::size_t>(tasks))
            return invalid("more lines than the " + std::to_string(tasks) + " tasks", here);
        processor_of.push_back(static_cast<ProcessorIndex>(*processor));
    }
    return processor_of;
}

}  // namespace

Result<TaskGraph> read_task_graph(const MapSources& sources) {
    if (!sources.graph.empty()) {
        const Result<std::string> text = read_all(sources.graph);
        if (!text) return text.error();
        Result<formats::GraphFile> file = formats::read_graph_file(*text, sources.graph);
        if (!file) return file.error();
        for (const std::string& warning : file->warnings)
            std::cerr << "zbs: warning: " << printable(sources.graph) << " " << warning << "\n";
        return std::move(file->graph);
    }
    Result<ApplicationModel> model = read_model_file(sources.model);
    if (!model) return model.error();
    if (!model->complete || !model->unseen.empty())
        std::cerr << "zbs: warning: " << printable(sources.model) << " lacks "
                  << (model->unseen.empty() ? "what came after the run was cut short"
                                            : "the messages of " + printable(unseen_text(model->unseen)))
                  << "\n";
    return std::move(model->graph);
}

Result<ResourceGraph> read_resources(const std::string& path) {
    const Result<codec::Json> json = read_json(path);
    if (!json) return json.error();
    Result<ResourceGraph> resources = codec::decode_resources(*json);
    if (!resources) return in_file(resources.error(), path);
    return resources;
}

Result<Hierarchy> make_hierarchy(const MapSources& sources) {
    const Result<std::vector<int>> arity = parse_hierarchy(sources.hierarchy);
    if (!arity) return arity.error();
    const Result<std::vector<double>> distances = parse_distances(sources.distances);
    if (!distances) return distances.error();
    Result<ProcessorTree> tree = ProcessorTree::uniform(*arity, *distances);
    if (!tree) return tree.error();
    Hierarchy hierarchy{*std::move(tree), {}};
    for (std::size_t level = 1; level < distances->size(); ++level) {
        if ((*distances)[level] <= (*distances)[level - 1])
            hierarchy.warnings.push_back("--distances: level " + std::to_string(level + 1) + " of " +
                                         sources.distances + " is not farther than level " + std::to_string(level) +
                                         "; innermost comes first, and outer levels are meant to be farther");
    }
    return hierarchy;
}

Result<std::vector<ProcessorIndex>> read_mapping(const std::string& path, TaskIndex tasks, ProcessorIndex processors,
                                                 const ResourceGraph* resources) {
    const Result<std::string> text = read_all(path);
    if (!text) return text.error();
    Result<std::vector<ProcessorIndex>> processor_of = std::vector<ProcessorIndex>{};
    const std::size_t first = text->find_first_not_of(" \t\r\n");
    if (first != std::string::npos && (*text)[first] == '{') {
        const Result<codec::Json> json = parse_json(*text, path);
        if (!json) return json.error();
        if (resources == nullptr) {
            processor_of = codec::decode_tree_mapping(*json, processors);
        } else if (Result<Mapping> mapping = codec::decode_mapping(*json, *resources); mapping) {
            processor_of = std::move(mapping->processor_of);
        } else {
            processor_of = mapping.error();
        }
        if (!processor_of) return in_file(processor_of.error(), path);
    } else {
        processor_of = parse_lines(*text, path, tasks, processors);
        if (!processor_of) return processor_of;
    }
    if (processor_of->size() != static_cast<std::size_t>(tasks))
        return invalid("maps " + std::to_string(processor_of->size()) + " tasks, but the graph has " +
                           std::to_string(tasks) + "; give the mapping of this graph",
                       path);
    return processor_of;
}

}  // namespace zbs::cli
