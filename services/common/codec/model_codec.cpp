#include "services/common/codec/model_codec.hpp"

#include <map>

#include "services/common/codec/json/document_text.hpp"
#include "services/common/codec/json/fields.hpp"
#include "services/common/messages/limits.hpp"

namespace zbs::codec {
namespace {

constexpr double kMaxNumber = 1e300;
// Sums over a whole model must stay finite and inside the bounds of the messages that carry them (1e30).
constexpr double kMaxComputeSeconds = 1e12;
constexpr double kMaxTraffic = 1e21;

void check_format(JsonReader& in, const char* expected) {
    const std::string format = in.text("format");
    if (in.ok() && format != expected) {
        in.fail("format", "is '" + format + "'; this version reads '" + std::string(expected) + "'");
    }
}

Result<TaskGraph> make_task_graph(const Json& compute_json, const Json& edges_json, const std::string& pointer) {
    std::vector<double> compute;
    compute.reserve(compute_json.size());
    for (std::size_t i = 0; i < compute_json.size(); ++i) {
        const double seconds = compute_json[i].is_number() ? compute_json[i].get<double>() : -1;
        if (!(seconds >= 0 && seconds <= kMaxComputeSeconds)) {
            return invalid("must be a number of seconds from 0 to 1e12", pointer + "/compute/" + std::to_string(i));
        }
        compute.push_back(seconds);
    }
    std::vector<TaskEdge> edges;
    edges.reserve(edges_json.size());
    for (std::size_t i = 0; i < edges_json.size(); ++i) {
        const Json& edge = edges_json[i];
        const std::string at = pointer + "/edges/" + std::to_string(i);
        if (!edge.is_array() || edge.size() != 4) return invalid("an edge is [u, v, bytes, messages]", at);
        for (std::size_t k = 0; k < 2; ++k) {
            if (!edge[k].is_number_integer() || edge[k].get<double>() < 0 ||
                edge[k].get<double>() > TaskGraph::kMaxTasks) {
                return invalid("must be a rank of this model", at + "/" + std::to_string(k));
            }
        }
        for (std::size_t k = 2; k < 4; ++k) {
            const double amount = edge[k].is_number() ? edge[k].get<double>() : -1;
            if (!(amount >= 0 && amount <= kMaxTraffic))
                return invalid("must be a number from 0 to 1e21", at + "/" + std::to_string(k));
        }
        edges.push_back(
            {edge[0].get<TaskIndex>(), edge[1].get<TaskIndex>(), edge[2].get<double>(), edge[3].get<double>()});
    }
    Result<TaskGraph> graph = TaskGraph::make(std::move(compute), std::move(edges));
    if (!graph) return Error{graph.error().code, graph.error().message, pointer + graph.error().pointer};
    return graph;
}

Json edges_of(const TaskGraph& graph) {
    Json edges = Json::array();
    for (const TaskEdge& edge : graph.edges())
        edges.push_back(Json::array({edge.u, edge.v, edge.bytes, edge.messages}));
    return edges;
}

constexpr auto kMachine = fields<Machine>(text("name", &Machine::name, 256),
                                          integer("processors", &Machine::processors, 1, ResourceGraph::kMaxProcessors),
                                          defaulted(number("speed", &Machine::speed, 0, kMaxNumber)));

constexpr auto kLink = fields<Link>(number("delay_s", &Link::delay_s, 0, kMaxNumber),
                                    number("bandwidth_Bps", &Link::bandwidth_Bps, 1e-9, kMaxNumber));
/// What is absent is as in `Zone{}`.
constexpr auto defaulted_link(const char* delay_key, const char* bandwidth_key) {
    return fields<Link>(defaulted(number(delay_key, &Link::delay_s, 0, kMaxNumber)),
                        defaulted(number(bandwidth_key, &Link::bandwidth_Bps, 0, kMaxNumber)));
}
constexpr auto kZone = fields<Zone>(
    text("name", &Zone::name, 256), list("machines", &Zone::machines, ResourceGraph::kMaxProcessors, kMachine),
    Inlined{&Zone::within_machine, defaulted_link("machine_delay_s", "machine_bandwidth_Bps")},
    Inlined{&Zone::within_zone, defaulted_link("zone_delay_s", "zone_bandwidth_Bps")});

}  // namespace

Result<TaskGraph> decode_task_graph(const Json& json, const std::string& pointer) {
    JsonReader in(json, pointer);
    const Json& compute = in.array("compute", limits::kMaxRanks);
    const Json& edges = in.array("edges", SIZE_MAX);
    if (!in.ok()) return in.error();
    Result<TaskGraph> graph = make_task_graph(compute, edges, pointer);
    if (!graph) return graph;
    return in.finish(*std::move(graph));
}

Json encode(const TaskGraph& graph) {
    return {{"compute", std::vector<double>(graph.compute().begin(), graph.compute().end())},
            {"edges", edges_of(graph)}};
}

Result<UnseenCalls> read_unseen(JsonReader& in) {
    UnseenCalls read;
    if (!in.has("unseen")) return read;
    const Json& unseen = in.object("unseen");
    if (unseen.size() > kMaxUnseenFunctions)
        in.fail("unseen", "has more than " + std::to_string(kMaxUnseenFunctions) + " entries");
    JsonReader calls(unseen, in.pointer_of("unseen"));
    for (const auto& [function, count] : unseen.items()) {
        if (!in.ok() || !calls.ok()) break;
        if (function.empty() || function.size() > kMaxFunctionBytes)
            return invalid("a name has 1 to " + std::to_string(kMaxFunctionBytes) + " bytes", in.pointer_of("unseen"));
        read[function] =
            static_cast<std::uint64_t>(calls.integer(function.c_str(), 1, static_cast<std::int64_t>(kMaxUnseenCalls)));
    }
    if (Result<int> done = calls.finish(0); !done) return done.error();
    return read;
}

Json encode_unseen(const UnseenCalls& unseen) { return {{"unseen", unseen}}; }

Result<UnseenCalls> decode_unseen(const Json& json) {
    JsonReader in(json);
    Result<UnseenCalls> unseen = read_unseen(in);
    if (unseen && !in.ok()) return in.error();
    return unseen;
}

Result<ApplicationModel> decode_model(const Json& json, const std::string& pointer) {
    JsonReader in(json, pointer);
    check_format(in, "zbs-model/1");
    ApplicationModel model;
    model.program = in.text("program");
    const std::int64_t ranks = in.integer("ranks", 1, limits::kMaxRanks);
    model.complete = in.boolean_or("complete", true);
    Result<UnseenCalls> unseen = read_unseen(in);
    if (!unseen) return unseen.error();
    model.unseen = *std::move(unseen);
    const Json& compute = in.array("compute", limits::kMaxRanks);
    const Json& edges = in.array("edges", SIZE_MAX);
    if (!in.ok()) return in.error();
    if (compute.size() != static_cast<std::size_t>(ranks)) {
        return invalid("has " + std::to_string(compute.size()) + " entries for " + std::to_string(ranks) + " ranks",
                       in.pointer_of("compute"));
    }
    Result<TaskGraph> graph = make_task_graph(compute, edges, pointer);
    if (!graph) return graph.error();
    model.graph = *std::move(graph);
    return in.finish(std::move(model));
}

Json encode(const ApplicationModel& model) {
    Json json = {{"format", "zbs-model/1"},
                 {"program", model.program},
                 {"ranks", model.graph.task_count()},
                 {"compute", std::vector<double>(model.graph.compute().begin(), model.graph.compute().end())},
                 {"edges", edges_of(model.graph)}};
    if (!model.complete) json["complete"] = false;
    if (!model.unseen.empty()) json["unseen"] = model.unseen;
    return json;
}

Result<ResourceGraph> decode_resources(const Json& json) {
    JsonReader in(json);
    check_format(in, "zbs-resources/1");
    const Json& zones_json = in.array("zones", limits::kMaxZonesInRegistry);
    std::vector<Zone> zones;
    std::map<std::string, std::int32_t> number;
    for (std::size_t i = 0; i < zones_json.size() && in.ok(); ++i) {
        Result<Zone> zone = kZone.decode(zones_json[i], in.pointer_of("zones/" + std::to_string(i)));
        if (!zone) return zone.error();
        number.emplace(zone->name, static_cast<std::int32_t>(i));
        zones.push_back(*std::move(zone));
    }
    std::vector<ResourceGraph::ZoneLink> links;
    if (in.has("links")) {
        const Json& links_json = in.array("links", 10'000'000);
        for (std::size_t i = 0; i < links_json.size() && in.ok(); ++i) {
            JsonReader l(links_json[i], in.pointer_of("links/" + std::to_string(i)));
            ResourceGraph::ZoneLink link;
            for (const auto& [key, end] : {std::pair<const char*, std::int32_t*>{"a", &link.a}, {"b", &link.b}}) {
                const std::string name = l.text(key, 256);
                const auto at = number.find(name);
                if (at == number.end()) {
                    l.fail(key, "names zone '" + name + "', which is not among the zones");
                } else {
                    *end = at->second;
                }
            }
            link.link = {l.number("delay_s", 0, kMaxNumber), l.number("bandwidth_Bps", 0, kMaxNumber)};
            Result<ResourceGraph::ZoneLink> done = l.finish(link);
            if (!done) return done.error();
            links.push_back(*done);
        }
    }
    if (Result<int> done = in.finish(0); !done) return done.error();
    return ResourceGraph::make(std::move(zones), std::move(links));
}

Json encode(const ResourceGraph& resources) {
    Json zones = Json::array();
    for (const Zone& zone : resources.zones()) zones.push_back(kZone.encode(zone));
    Json links = Json::array();
    for (const ResourceGraph::ZoneLink& link : resources.links()) {
        links.push_back({{"a", resources.zones()[static_cast<std::size_t>(link.a)].name},
                         {"b", resources.zones()[static_cast<std::size_t>(link.b)].name},
                         {"delay_s", link.link.delay_s},
                         {"bandwidth_Bps", link.link.bandwidth_Bps}});
    }
    return {{"format", "zbs-resources/1"}, {"zones", std::move(zones)}, {"links", std::move(links)}};
}

Json encode_mapping(const ResourceGraph& resources, const Mapping& mapping, const MappingReport& report, double seconds,
                    const MadeBy& made) {
    Json rows = Json::array();
    for (std::size_t task = 0; task < mapping.processor_of.size(); ++task) {
        const ProcessorPlace& place = resources.place(mapping.processor_of[task]);
        const Zone& zone = resources.zones()[static_cast<std::size_t>(place.zone)];
        rows.push_back({{"task", task},
                        {"zone", zone.name},
                        {"machine", zone.machines[static_cast<std::size_t>(place.machine)].name},
                        {"processor", place.processor}});
    }
    return {{"format", "zbs-mapping/1"},
            {"mapping", std::move(rows)},
            {"cost", report.cost},
            {"occupancy", report.occupancy},
            {"imbalance", report.imbalance},
            {"inter_zone_bytes", report.inter_zone_bytes},
            {"seconds", seconds},
            {"program", made.program},
            {"settings", made.settings}};
}

namespace {

/// Ignored, whatever is in it.
void check_made_by(JsonReader& in) {
    if (in.has("program")) in.text("program");
    if (in.has("settings")) in.object("settings");
}

}  // namespace

Result<Mapping> decode_mapping(const Json& json, const ResourceGraph& resources) {
    JsonReader in(json);
    check_document_version(in, "zbs map");
    check_format(in, "zbs-mapping/1");
    std::map<std::pair<std::string, std::string>, std::pair<ProcessorIndex, int>> first_of;
    ProcessorIndex next = 0;
    for (const Zone& zone : resources.zones()) {
        for (const Machine& machine : zone.machines) {
            first_of[{zone.name, machine.name}] = {next, machine.processors};
            next += machine.processors;
        }
    }
    Mapping mapping;
    const Json& rows = in.array("mapping", TaskGraph::kMaxTasks);
    for (std::size_t i = 0; i < rows.size() && in.ok(); ++i) {
        JsonReader row(rows[i], in.pointer_of("mapping/" + std::to_string(i)));
        const std::int64_t task = row.integer("task", 0, TaskGraph::kMaxTasks);
        const std::string zone = row.text("zone", 256);
        const std::string machine = row.text("machine", 256);
        const std::int64_t processor = row.integer("processor", 0, ResourceGraph::kMaxProcessors);
        if (row.ok() && task != static_cast<std::int64_t>(i)) row.fail("task", "tasks must stand in order, each once");
        const auto at = first_of.find({zone, machine});
        if (row.ok() && at == first_of.end())
            row.fail("machine", "'" + zone + "/" + machine + "' is not among the resources");
        if (row.ok() && processor >= at->second.second) {
            row.fail("processor",
                     "machine '" + machine + "' has only " + std::to_string(at->second.second) + " processors");
        }
        if (Result<int> done = row.finish(0); !done) return done.error();
        mapping.processor_of.push_back(at->second.first + static_cast<ProcessorIndex>(processor));
    }
    for (const char* key : {"cost", "occupancy", "imbalance", "inter_zone_bytes", "seconds"}) {
        if (in.has(key)) in.number(key, 0, kMaxNumber);
    }
    check_made_by(in);
    return in.finish(std::move(mapping));
}

Json encode(const Link& link) { return kLink.encode(link); }
Result<Link> decode_link(const Json& json, const std::string& pointer) { return kLink.decode(json, pointer); }

std::string tree_mapping_text(std::span<const ProcessorIndex> processor_of, ProcessorIndex processors,
                              const TreeReport& report, double block_bound, double seconds, const MadeBy& made) {
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
    field("program", made.program);
    field("settings", made.settings);
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
    check_made_by(in);
    return in.finish(std::move(processor_of));
}

}  // namespace zbs::codec
