#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <memory>
#include <numeric>

#include "algorithms/base/text.hpp"
#include "algorithms/formats/launchers/hostfile.hpp"
#include "algorithms/formats/svg.hpp"
#include "algorithms/mapping/mapper.hpp"
#include "algorithms/mapping/occupancy.hpp"
#include "algorithms/mapping/trees/tree_evaluation.hpp"
#include "algorithms/mapping/trees/tree_mapper.hpp"
#include "client/cli/context.hpp"
#include "client/cli/document_codec.hpp"
#include "client/cli/mapping/map_input.hpp"
#include "client/cli/mapping/map_output.hpp"
#include "client/cli/output_file.hpp"
#include "client/cli/submission/probe_program.hpp"
#include "services/common/adapters/command_line/pages/program_words.hpp"
#include "services/common/adapters/command_line/values.hpp"
#include "services/common/adapters/system/thread_runner.hpp"
#include "services/common/codec/json/document_text.hpp"
#include "services/common/codec/model_codec.hpp"
#include "services/common/messages/limits.hpp"

namespace zbs::cli {
namespace {

struct MapCommand {
    MapSources sources;
    LaunchOptions launch;
    std::string algorithm, objective = "cost", preset = "default", format = "table", evaluate, zone, file, plot;
    std::string level1, level2;  ///< of hier; empty: the mapper's own
    std::uint64_t seed = 1;
    int tasks_per_processor = -1;  ///< not given
    int threads = 0;
    double imbalance = 0.03, time_limit = 0;
};

using Seconds = std::chrono::duration<double>;

std::string shown(double value) { return number_text("%.9g", value); }

/// The options that go together; what is missing is said with what to add.
Result<void> check_options(const MapCommand& options) {
    const MapSources& from = options.sources;
    if (from.model.empty() == from.graph.empty())
        return invalid(from.model.empty() ? "what is to be mapped? give --model MODEL or --graph GRAPH"
                                          : "give --model or --graph, not both");
    if (from.resources.empty() == from.hierarchy.empty())
        return invalid(from.resources.empty()
                           ? "onto what? give --resources FILE, or --hierarchy 4:8:6 --distances 1:10:100"
                           : "give --resources or --hierarchy, not both");
    if (from.hierarchy.empty() != from.distances.empty())
        return invalid("--hierarchy and --distances go together: one distance for each level, innermost first",
                       from.distances.empty() ? "--hierarchy" : "--distances");
    if (!std::isfinite(options.imbalance) || options.imbalance < 0 || options.imbalance > 1e6)
        return invalid("is a share from 0 to 1e6; 0.03 allows 3 % more than the average", "--imbalance");
    if (!std::isfinite(options.time_limit) || options.time_limit < 0)
        return invalid("is a number of seconds >= 0; 0 is no limit", "--time-limit");
    if (from.resources.empty() && is_launch_format(options.format))
        return invalid("'" + options.format + "' needs machines by name; map with --resources, or take json or table",
                       "--format");
    if (options.algorithm != "hier" && !(options.level1.empty() && options.level2.empty()))
        return invalid("is for --algorithm hier", options.level1.empty() ? "--level2" : "--level1");
    if (!options.zone.empty() && !is_launch_format(options.format))
        return invalid("chooses a document of a launch format; '" + options.format + "' is none", "--zone");
    return {};
}

/// On one processor; 0: any number.
int most_tasks(const MapCommand& options) {
    if (options.tasks_per_processor >= 0) return options.tasks_per_processor;
    return options.sources.resources.empty() ? 0 : 1;
}

MapOptions mapping_options(const MapCommand& options, TaskRunner& runner) {
    MapOptions made{.seed = options.seed, .imbalance = options.imbalance, .runner = &runner};
    if (!options.level1.empty()) made.level1 = options.level1;
    if (!options.level2.empty()) made.level2 = options.level2;
    made.max_tasks_per_processor = most_tasks(options);
    made.objective = options.objective == "occupancy" ? Objective::kOccupancy
                     : options.objective == "time"    ? Objective::kTime
                                                      : Objective::kCost;
    made.preset = options.preset == "fast"     ? Preset::kFast
                  : options.preset == "strong" ? Preset::kStrong
                                               : Preset::kDefault;
    if (options.time_limit > 0) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::nanoseconds>(
                                                                Seconds(std::min(options.time_limit, 1e9)));
        made.out_of_time = [end] { return std::chrono::steady_clock::now() >= end; };
    }
    return made;
}

codec::MadeBy made_by(const MapCommand& options) {
    const MapSources& from = options.sources;
    MappingSettings settings{.model = from.model,
                             .graph = from.graph,
                             .resources = from.resources,
                             .hierarchy = from.hierarchy,
                             .distances = from.distances,
                             .evaluate = options.evaluate,
                             .objective = options.objective,
                             .preset = options.preset,
                             .tasks_per_processor = most_tasks(options),
                             .imbalance = options.imbalance,
                             .time_limit_s = options.time_limit,
                             .seed = options.seed};
    if (options.evaluate.empty()) {
        settings.algorithm = options.algorithm.empty() ? "auto" : options.algorithm;
        settings.level1 = options.level1;
        settings.level2 = options.level2;
    }
    return {kProgramVersion, encode(settings)};
}

/// The traffic of all pairs of tasks, ordered by processor, with the zones and machines outlined. `group_at` returns
/// the number of a processor's group at a depth (1 zones, 2 machines) below the root, -1 where there is none.
template <typename GroupAt>
Result<void> plot(const TaskGraph& graph, const std::vector<ProcessorIndex>& processor_of, const GroupAt& group_at,
                  std::vector<std::string> zone_names, const std::string& path) {
    std::vector<std::int32_t> order(processor_of.size());
    std::iota(order.begin(), order.end(), 0);
    const auto processor = [&](std::int32_t task) { return processor_of[static_cast<std::size_t>(task)]; };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int32_t a, std::int32_t b) { return processor(a) < processor(b); });
    std::vector<std::int32_t> zones, machines;
    for (const std::int32_t task : order) {
        if (group_at(processor(task), 1) >= 0) zones.push_back(group_at(processor(task), 1));
        if (group_at(processor(task), 2) >= 0) machines.push_back(group_at(processor(task), 2));
    }
    return deliver(formats::matrix_svg(graph, {.title = "Traffic between tasks, ordered by processor",
                                               .order = order,
                                               .zone_of_position = zones,
                                               .machine_of_position = machines,
                                               .zone_names = zone_names}),
                   path);
}

Error beyond_numbers() {
    return invalid(
        "traffic times distance is more than a number holds; check bytes, delays and bandwidths for their units");
}

/// Bytes of an average message, for the distance of a link; of an average pair where messages were not counted.
double message_bytes(const TaskGraph& graph) {
    double bytes = 0, messages = 0;
    for (const TaskEdge& edge : graph.edges()) {
        bytes += edge.bytes;
        messages += edge.messages;
    }
    if (messages <= 0) messages = static_cast<double>(graph.edge_count());
    return bytes > 0 && messages > 0 ? bytes / messages : 1;
}

struct Found {
    std::vector<ProcessorIndex> processor_of;
    double seconds = 0;  ///< that the mapper took
};

void map_onto_hierarchy(Context& context, const MapCommand& options, const TaskGraph& graph) {
    const Result<Hierarchy> hierarchy = make_hierarchy(options.sources);
    if (!hierarchy) return context.fail(hierarchy.error());
    const ProcessorTree& tree = hierarchy->tree;
    for (const std::string& warning : hierarchy->warnings) std::cerr << "zbs: warning: " << warning << "\n";
    system::ThreadRunner runner(options.threads);
    const MapOptions how = mapping_options(options, runner);
    Found found;
    if (options.evaluate.empty()) {
        const auto begin = std::chrono::steady_clock::now();
        auto mapped = map_onto_tree(graph, tree, options.algorithm.empty() ? "auto" : options.algorithm, how);
        if (!mapped) return context.fail(mapped.error());
        found = {*std::move(mapped), Seconds(std::chrono::steady_clock::now() - begin).count()};
    } else {
        auto read = read_mapping(options.evaluate, graph.task_count(), tree.processor_count(), nullptr);
        if (!read) return context.fail(read.error());
        found.processor_of = *std::move(read);
    }
    if (!options.plot.empty()) {
        const auto group_at = [&](ProcessorIndex p, int depth) {
            return depth < tree.levels() ? tree.group_of(p, depth) - tree.first_group(depth) : -1;
        };
        if (auto done = plot(graph, found.processor_of, group_at, {}, options.plot); !done)
            return context.fail(done.error());
    }
    const LoadBounds bounds = load_bounds(graph, tree, how);
    const TreeReport report = evaluate_on_tree(graph, tree, found.processor_of, bounds);
    if (!std::isfinite(report.cost) || !std::isfinite(report.occupancy)) return context.fail(beyond_numbers());
    if (!report.feasible)
        std::cerr << "zbs: warning: a processor holds more than the bound of " << shown(bounds.most[0])
                  << "; allow more " << (most_tasks(options) > 0 ? "--tasks-per-processor" : "--imbalance") << "\n";
    if (options.format == "json" || context.output == "json") {
        const std::string text = codec::tree_mapping_text(found.processor_of, tree.processor_count(), report,
                                                          bounds.most[0], found.seconds, made_by(options));
        if (auto done = deliver(text + "\n", options.file); !done) context.fail(done.error());
        return;
    }
    if (!options.file.empty()) {  // one processor a line, as --evaluate and other tools read it
        std::string text;
        for (const ProcessorIndex p : found.processor_of) text += std::to_string(p) + "\n";
        if (auto done = deliver(text, options.file); !done) return context.fail(done.error());
    } else {
        Listing listing{"tasks", {"TASK", "PROCESSOR", "GROUPS"}};
        for (std::size_t task = 0; task < found.processor_of.size(); ++task) {
            const ProcessorIndex p = found.processor_of[task];
            std::string groups;
            for (int depth = 1; depth < tree.levels(); ++depth)
                groups += (depth > 1 ? "." : "") + std::to_string(tree.group_of(p, depth) - tree.first_group(depth));
            listing.rows.push_back({std::to_string(task), std::to_string(p), groups});
            listing.items.push_back(encode_place(task, p));
        }
        print(context, listing);
    }
    std::cerr << "cost " << shown(report.cost) << ", occupancy " << shown(report.occupancy) << ", imbalance "
              << shown(report.imbalance) << ", bound of a processor " << shown(bounds.most[0])
              << (report.feasible ? "" : " (exceeded)");
    if (options.evaluate.empty()) std::cerr << ", found in " << shown(found.seconds) << " s";
    std::cerr << "\n";
}

std::vector<std::string> algorithm_names() {
    std::vector<std::string> names;
    for (const std::string_view name : mapper_names()) names.emplace_back(name);
    for (const std::string_view name : tree_mapper_names())
        if (find_mapper(name) == nullptr) names.emplace_back(name);
    return names;
}

Result<Mapping> map_by_name(const MapCommand& options, const TaskGraph& graph, const ResourceGraph& resources,
                            const MapOptions& how) {
    const std::string name = options.algorithm.empty() ? "auto" : options.algorithm;
    if (const Mapper* mapper = find_mapper(name)) return mapper->map(graph, resources, how);
    if (std::ranges::count(tree_mapper_names(), name) > 0) {
        auto mapped = map_onto_tree(graph, ProcessorTree::of(resources, message_bytes(graph)), name, how);
        if (!mapped) return mapped.error();
        return Mapping{*std::move(mapped)};
    }
    return invalid("'" + name + "' is no mapping algorithm; known are " + joined(algorithm_names(), " "),
                   "--algorithm");
}

std::vector<NamedFile> inputs_of(const MapCommand& options) {
    return {{"--model", options.sources.model},
            {"--graph", options.sources.graph},
            {"--resources", options.sources.resources},
            {"--evaluate", options.evaluate}};
}

Result<void> write_launch(const MapCommand& options, const ResourceGraph& resources, const Mapping& mapping) {
    const Result<formats::LaunchRequest> request = make_launch(resources, mapping.processor_of, options.launch);
    if (!request) return request.error();
    const Result<std::vector<Document>> documents =
        write_documents(*request, {.format = options.format,
                                   .zone = options.zone,
                                   .one_by_one = options.file.find("{zone}") != std::string::npos});
    if (!documents) {
        Error fault = documents.error();
        // Names of machines and zones are those of the file.
        if (fault.pointer.starts_with("/ranks/") || fault.pointer.ends_with("/lan_id"))
            fault.pointer = options.sources.resources;
        return fault;
    }
    std::vector<NamedFile> kept = inputs_of(options);
    kept.push_back({"--plot", options.plot});
    if (auto done = deliver(*documents, options.file, kept); !done) return done;
    if (options.format == "rankfile" || options.format == "openmpi_hostfile") {
        for (const formats::LaunchZone& zone : request->zones) {
            const std::string host = formats::find_dotted_host(zone);
            if (host.empty() || (!options.zone.empty() && options.zone != zone.name)) continue;
            std::cerr << "zbs: warning: Open MPI cuts the host name " << printable(host)
                      << " at its first dot; start mpirun with --mca orte_keep_fqdn_hostnames 1 (Open MPI 5: --prtemca "
                         "prte_keep_fqdn_hostnames 1)\n";
            break;
        }
    }
    if (options.format == "hostfile") {
        if (request->zones.size() > 1 && options.zone.empty() && options.file.find("{zone}") == std::string::npos)
            std::cerr << "zbs: note: hosts of several zones are named ZONE.MACHINE, for mpiexec -launcher manual; for "
                         "mpiexec in one of the zones take --zone\n";
        const bool has_slurm = !path_of("srun").empty();
        for (const formats::LaunchZone& zone : request->zones) {
            std::vector<std::string> hosts;
            for (const formats::LaunchRank& rank : zone.ranks) hosts.push_back(rank.host);
            if (!has_slurm || !formats::has_returning_host(hosts)) continue;
            std::cerr << "zbs: warning: a host of zone " << printable(zone.name)
                      << " comes back after another one; this works with mpiexec, but not inside a Slurm allocation\n";
            break;
        }
    } else if (formats::is_renumbered(*request)) {
        std::cerr << "zbs: note: every zone numbers its ranks as one block; the program's own numbers are in "
                  << (options.format == "rsl"    ? "the variable ZBS_RANKS of each subjob"
                      : options.format == "jsdl" ? "the annotation zbs.ranks"
                      : options.format == "psij" ? "the attribute zbs.ranks"
                                                 : "the output of --format json")
                  << "\n";
    }
    return {};
}

void map_onto_resources(Context& context, const MapCommand& options, const TaskGraph& graph) {
    const Result<ResourceGraph> resources = read_resources(options.sources.resources);
    if (!resources) return context.fail(resources.error());
    Mapping mapping;
    double seconds = 0;
    if (options.evaluate.empty()) {
        system::ThreadRunner runner(options.threads);
        const MapOptions how = mapping_options(options, runner);
        const auto begin = std::chrono::steady_clock::now();
        Result<Mapping> mapped = map_by_name(options, graph, *resources, how);
        seconds = Seconds(std::chrono::steady_clock::now() - begin).count();
        if (!mapped) return context.fail(mapped.error());
        mapping = *std::move(mapped);
    } else {
        auto read = read_mapping(options.evaluate, graph.task_count(), resources->processor_count(), &*resources);
        if (!read) return context.fail(read.error());
        mapping.processor_of = *std::move(read);
    }
    if (!options.plot.empty()) {
        const ProcessorTree tree = ProcessorTree::of(*resources, 1);
        const auto group_at = [&](ProcessorIndex p, int depth) {
            return tree.group_of(p, depth) - tree.first_group(depth);
        };
        std::vector<std::string> names;
        for (const Zone& zone : resources->zones()) names.push_back(zone.name);
        if (auto done = plot(graph, mapping.processor_of, group_at, std::move(names), options.plot); !done)
            return context.fail(done.error());
    }
    if (is_launch_format(options.format)) {
        if (auto done = write_launch(options, *resources, mapping); !done) context.fail(done.error());
        return;
    }
    const MappingReport report = evaluate(graph, *resources, mapping);
    if (!std::isfinite(report.cost) || !std::isfinite(report.occupancy)) return context.fail(beyond_numbers());
    if (options.format == "json" || context.output == "json") {
        const std::string text =
            codec::document_text(codec::encode_mapping(*resources, mapping, report, seconds, made_by(options)));
        if (auto done = deliver(text, options.file); !done) context.fail(done.error());
        return;
    }
    if (!options.file.empty()) {
        std::string text;
        for (const ProcessorIndex p : mapping.processor_of) text += std::to_string(p) + "\n";
        if (auto done = deliver(text, options.file); !done) return context.fail(done.error());
    } else {
        Listing listing{"tasks", {"TASK", "ZONE", "MACHINE", "PROCESSOR"}};
        for (std::size_t task = 0; task < mapping.processor_of.size(); ++task) {
            const ProcessorPlace& place = resources->place(mapping.processor_of[task]);
            const Zone& zone = resources->zones()[static_cast<std::size_t>(place.zone)];
            const std::string& machine = zone.machines[static_cast<std::size_t>(place.machine)].name;
            listing.rows.push_back({std::to_string(task), zone.name, machine, std::to_string(place.processor)});
            listing.items.push_back(encode_place(task, zone, place));
        }
        print(context, listing);
    }
    std::cerr << "cost " << shown(report.cost) << ", occupancy " << shown(report.occupancy) << " s, imbalance "
              << shown(report.imbalance) << ", between zones " << human_bytes(report.inter_zone_bytes);
    if (options.evaluate.empty()) std::cerr << ", found in " << shown(seconds) << " s";
    std::cerr << "\n";
}

/// What was given for launch formats and is not in this one.
void note_unused(const MapCommand& options) {
    const LaunchOptions& given = options.launch;
    const bool is_whole = options.format == "rsl" || options.format == "jsdl" || options.format == "psij";
    std::vector<std::string> unused;
    const auto add = [&unused](bool is_unused, const char* option) {
        if (is_unused) unused.emplace_back(option);
    };
    add(!is_whole && !given.directory.empty(), "--chdir");
    add(!is_whole && !given.walltime.empty(), "--walltime");
    add(!is_whole && !given.name.empty(), "--name");
    add(!is_whole && !given.environment.empty(), "--env");
    add(options.format != "rsl" && !given.contacts.empty(), "--contact");
    add(!is_launch_format(options.format) && !given.argv.empty(), "the program");
    if (unused.empty()) return;
    std::cerr << "zbs: note: " << options.format << " has no place for " << joined(unused, ", ")
              << (is_launch_format(options.format) ? "; give it to the command that starts the program" : "") << "\n";
}

void map(Context& context, MapCommand options) {
    // --output of every other command is the form of a listing.
    for (const std::string& form : output_formats()) {
        if (options.file != form) continue;
        context.output = form;
        options.file.clear();
    }
    if (auto ok = check_options(options); !ok) return context.fail(ok.error());
    if (auto ok = check_outputs({{"--output", options.file}, {"--plot", options.plot}}, inputs_of(options)); !ok)
        return context.fail(ok.error());
    const Result<TaskGraph> graph = read_task_graph(options.sources);
    if (!graph) return context.fail(graph.error());
    note_unused(options);
    if (options.sources.resources.empty()) {
        map_onto_hierarchy(context, options, *graph);
    } else {
        map_onto_resources(context, options, *graph);
    }
}

void add_source_options(CLI::App& command, MapSources& sources) {
    command.add_option("--model", sources.model, "tasks: model file (zbs-model/1)");
    command.add_option("--graph", sources.graph,
                       "tasks: METIS, MatrixMarket or SNAP graph; task weights are work, edge weights bytes");
    command.add_option("--resources", sources.resources, "processors: resources file (zbs-resources/1)");
    command.add_option("--hierarchy", sources.hierarchy,
                       "processors: 4:8:6 is 6 zones of 8 machines of 4, numbered with the innermost level fastest");
    command.add_option("--distances", sources.distances, "of two processors whose first common group is of that level");
}

void add_algorithm_options(CLI::App& command, MapCommand& options) {
    command_line::offer(
        command.add_option("--algorithm", options.algorithm,
                           "auto (default: the best of the others), hier, multilevel, metis, greedy, global, block, "
                           "round-robin, random; an unknown word lists all"),
        {.words = algorithm_names()});
    command
        .add_option("--level1", options.level1,
                    "hier: how tasks are divided among zones: clusters (default) or multilevel")
        ->check(command_line::one_of({"clusters", "multilevel"}));
    command_line::offer(
        command.add_option("--level2", options.level2,
                           "hier: the algorithm inside a zone (default: global); with --level1 multilevel --level2 "
                           "hier a hierarchy of any depth is divided level by level"),
        {.words = algorithm_names()});
    command
        .add_option(
            "--objective", options.objective,
            "what is to be small: cost, occupancy or time; multilevel heeds it, the others have a measure of their own")
        ->check(command_line::one_of({"cost", "occupancy", "time"}))
        ->capture_default_str();
    command.add_option("--preset", options.preset, "how hard to try: fast, default or strong")
        ->check(command_line::one_of({"fast", "default", "strong"}))
        ->capture_default_str();
    command
        .add_option("--tasks-per-processor", options.tasks_per_processor,
                    "at most this many tasks on one processor; 0 = any number, balanced within --imbalance (default: "
                    "1 with --resources, 0 with --hierarchy)")
        ->check(command_line::whole_number_in(0, 1'000'000));
    command
        .add_option("--imbalance", options.imbalance,
                    "how far a processor's work may be above its share, where tasks are not counted")
        ->capture_default_str();
    command.add_option("--seed", options.seed, "seed of everything that is drawn")
        ->check(command_line::natural_number())
        ->capture_default_str();
    command.add_option("--threads", options.threads, "0 = all processors of this machine; the result is the same")
        ->check(command_line::whole_number_in(0, 1'024))
        ->capture_default_str();
    command
        .add_option("--time-limit", options.time_limit,
                    "seconds after which an algorithm that searches (multilevel) ends; 0 = none")
        ->capture_default_str();
}

void add_result_options(CLI::App& command, MapCommand& options) {
    command.add_option("--evaluate", options.evaluate,
                       "judge this mapping instead: JSON of this command, or one processor index per line");
    command
        .add_option("--format", options.format,
                    "table, json, rsl, jsdl, psij, hostfile (MPICH), openmpi_hostfile, rankfile (Open MPI) or slurm")
        ->check(command_line::one_of(
            {"table", "json", "rsl", "jsdl", "psij", "hostfile", "openmpi_hostfile", "rankfile", "slurm"}))
        ->capture_default_str();
    command.add_option(
        "--output", options.file,
        "write here, - is standard output; {zone} in the name gives one file per zone (table: one processor per line)");
    command.add_option("--plot", options.plot,
                       "also draw the traffic between tasks, ordered by the mapping, as SVG into this file");
    command.add_option("--zone", options.zone, "only this zone, for formats with one document per zone");
}

void add_launch_options(CLI::App& command, LaunchOptions& launch) {
    command.add_option("-D,--chdir", launch.directory, "launch formats: working directory of every rank");
    command
        .add_option("-t,--walltime,--time", launch.walltime, "launch formats: longest run: 90s, 15m, 1h30m, HH:MM:SS")
        ->check(command_line::span_of_time(std::chrono::seconds{1}, std::chrono::seconds{limits::kMaxWalltimeSeconds}));
    command.add_option("--name", launch.name, "launch formats: name of the job (default: the program's)");
    command.add_option("--env", launch.environment, "launch formats: NAME=VALUE; may be repeated")
        ->take_all()
        ->allow_extra_args(false);
    command
        .add_option("--contact", launch.contacts,
                    "rsl: ZONE=HOST:PORT/SERVICE of a zone's resource manager; may be repeated (default: its name)")
        ->take_all()
        ->allow_extra_args(false);
    command_line::add_program(command, launch.argv, "launch formats: program and its arguments");
}

}  // namespace

void add_map_command(CLI::App& app, Context& context) {
    auto options = std::make_shared<MapCommand>();
    CLI::App* command = app.add_subcommand(
        "map",
        "map the tasks of a model or graph onto processors, offline\n\n"
        "Example: zbs map --model model.json --resources zones.json --format rsl -- ./solver input.dat\n"
        "Example: zbs map --graph mesh.graph --hierarchy 4:8:6 --distances 1:10:100 --format json --output "
        "mapping.json");
    add_source_options(*command, options->sources);
    add_algorithm_options(*command, *options);
    add_result_options(*command, *options);
    add_launch_options(*command, options->launch);
    command->callback([&context, options] { map(context, *options); });
}

}  // namespace zbs::cli
