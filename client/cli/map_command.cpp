#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "algorithms/formats/hostfile.hpp"
#include "algorithms/mapping/mapper.hpp"
#include "algorithms/mapping/occupancy.hpp"
#include "client/cli/context.hpp"
#include "services/common/codec/model_codec.hpp"

namespace zbs::cli {
namespace {

struct MapCommand {
    std::string model, resources, algorithm = "hier", format = "table";
    std::uint64_t seed = 1;
    int tasks_per_processor = 1;
};

Result<codec::Json> read_json(const std::string& path) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) return invalid("is a directory", path);
    std::ifstream in(path, std::ios::binary);
    if (!in) return Error{ErrorCode::kNotFound, "cannot be read", path};
    std::stringstream text;
    text << in.rdbuf();
    Result<codec::Json> json = codec::parse(text.str());
    if (!json) return Error{json.error().code, json.error().message, path + " " + json.error().pointer};
    return json;
}

void map(Context& context, const MapCommand& options) {
    const Result<codec::Json> model_json = read_json(options.model);
    if (!model_json) return context.fail(model_json.error());
    const Result<ApplicationModel> model = codec::decode_model(*model_json);
    if (!model)
        return context.fail({model.error().code, model.error().message, options.model + " " + model.error().pointer});
    const Result<codec::Json> resources_json = read_json(options.resources);
    if (!resources_json) return context.fail(resources_json.error());
    const Result<ResourceGraph> resources = codec::decode_resources(*resources_json);
    if (!resources)
        return context.fail(
            {resources.error().code, resources.error().message, options.resources + " " + resources.error().pointer});
    const Mapper* mapper = find_mapper(options.algorithm);
    if (mapper == nullptr) {
        std::string names;
        for (const auto& name : mapper_names()) names += " " + std::string(name);
        return context.fail(
            invalid("'" + options.algorithm + "' is no mapping algorithm; known are" + names, "--algorithm"));
    }
    const auto begin = std::chrono::steady_clock::now();
    const Result<Mapping> mapping =
        mapper->map(model->graph, *resources,
                    MapOptions{.seed = options.seed, .max_tasks_per_processor = options.tasks_per_processor});
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (!mapping) return context.fail(mapping.error());
    const MappingReport report = evaluate(model->graph, *resources, *mapping);
    if (options.format == "json" || context.output == "json") {
        std::cout << codec::dump(codec::encode_mapping(*resources, *mapping, report, seconds)) << "\n";
        return;
    }
    const auto name_of = [&](ProcessorIndex p) {
        const ProcessorPlace& place = resources->place(p);
        const Zone& zone = resources->zones()[static_cast<std::size_t>(place.zone)];
        return std::pair(zone.name, zone.machines[static_cast<std::size_t>(place.machine)].name);
    };
    if (options.format == "hostfile") {
        std::vector<std::string> hosts;
        for (const ProcessorIndex p : mapping->processor_of) {
            const auto [zone, machine] = name_of(p);
            hosts.push_back(zone + "." + machine);
        }
        const Result<std::string> text = formats::write_hydra_hostfile(hosts);
        if (!text) return context.fail(text.error());
        std::cout << *text;
        return;
    }
    Listing listing{{"TASK", "ZONE", "MACHINE", "PROCESSOR"}, {}, codec::Json::array()};
    for (std::size_t task = 0; task < mapping->processor_of.size(); ++task) {
        const auto [zone, machine] = name_of(mapping->processor_of[task]);
        listing.rows.push_back({std::to_string(task), zone, machine,
                                std::to_string(resources->place(mapping->processor_of[task]).processor)});
        listing.items.push_back({{"task", task},
                                 {"zone", zone},
                                 {"machine", machine},
                                 {"processor", resources->place(mapping->processor_of[task]).processor}});
    }
    print(context, listing);
    std::cerr << "cost " << report.cost << ", occupancy " << report.occupancy << " s, imbalance " << report.imbalance
              << ", between zones " << human_bytes(report.inter_zone_bytes) << ", found in " << seconds << " s\n";
}

}  // namespace

void add_map_command(CLI::App& app, Context& context) {
    auto options = std::make_shared<MapCommand>();
    CLI::App* command = app.add_subcommand("map",
                                           "map the tasks of a model onto zones, offline\n\nExample: zbs map --model "
                                           "model.json --resources zones.json --format json");
    command->add_option("--model", options->model, "model file (zbs-model/1)")->required();
    command->add_option("--resources", options->resources, "resources file (zbs-resources/1)")->required();
    command->add_option("--algorithm", options->algorithm, "hier, global, block, round_robin or random")
        ->capture_default_str();
    command->add_option("--format", options->format, "table, json or hostfile")
        ->check(CLI::IsMember({"table", "json", "hostfile"}))
        ->capture_default_str();
    command->add_option("--seed", options->seed, "seed of everything that is drawn")->capture_default_str();
    command
        ->add_option("--tasks-per-processor", options->tasks_per_processor,
                     "at most this many tasks on one processor; 0 = any number")
        ->check(CLI::Range(0, 1'000'000))
        ->capture_default_str();
    command->callback([&context, options] { map(context, *options); });
}

}  // namespace zbs::cli
