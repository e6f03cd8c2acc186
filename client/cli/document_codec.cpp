#include "client/cli/document_codec.hpp"

#include <utility>

#include "client/cli/context.hpp"
#include "services/common/codec/message_codec.hpp"
#include "services/common/codec/records/queue_log_codec.hpp"

namespace zbs::cli {

using codec::Json;

Json encode_place(std::size_t task, ProcessorIndex processor) { return {{"task", task}, {"processor", processor}}; }

Json encode_place(std::size_t task, const Zone& zone, const ProcessorPlace& place) {
    return {{"task", task},
            {"zone", zone.name},
            {"machine", zone.machines[static_cast<std::size_t>(place.machine)].name},
            {"processor", place.processor}};
}

Json encode(const MappingSettings& settings) {
    Json out = Json::object();
    const auto add = [&out](const char* key, const std::string& value) {
        if (!value.empty()) out[key] = value;
    };
    add("model", settings.model);
    add("graph", settings.graph);
    add("resources", settings.resources);
    add("hierarchy", settings.hierarchy);
    add("distances", settings.distances);
    add("evaluate", settings.evaluate);
    add("algorithm", settings.algorithm);
    add("level1", settings.level1);
    add("level2", settings.level2);
    add("objective", settings.objective);
    add("preset", settings.preset);
    out["tasks_per_processor"] = settings.tasks_per_processor;
    out["imbalance"] = settings.imbalance;
    out["seed"] = settings.seed;
    if (settings.time_limit_s > 0) out["time_limit_s"] = settings.time_limit_s;
    return out;
}

Json encode_times(std::size_t rank, const RankTimes& times, double idle_s, const Zone& zone,
                  const ProcessorPlace& place) {
    return {{"rank", rank},
            {"zone", zone.name},
            {"machine", zone.machines[static_cast<std::size_t>(place.machine)].name},
            {"processor", place.processor},
            {"compute_s", times.compute_s},
            {"blocked_s", times.blocked_s},
            {"idle_s", idle_s},
            {"end_s", times.end_s}};
}

Json encode(const ReplaySettings& settings) {
    Json out = {{"resources", settings.resources}, {"seed", settings.seed}};
    if (!settings.traces.empty()) {
        out["trace"] = settings.traces;
    } else if (settings.generate == "transport") {
        out["generate"] = settings.generate;
        out["params"] = settings.parameters;
        out["interleaved"] = settings.interleaved;
        out["seconds_per_turn"] = settings.seconds_per_turn;
    } else {
        out["generate"] = settings.generate;
        out["ranks"] = settings.random.ranks;
        out["clusters"] = settings.random.clusters;
        out["every"] = settings.random.every;
        out["bytes"] = settings.random.bytes;
        out["lines"] = settings.random.lines;
        out["compute"] = settings.random.compute_s;
    }
    if (!settings.mapping.empty()) {
        out["mapping"] = settings.mapping;
    } else {
        out["algorithm"] = settings.algorithm;
        out["tasks_per_processor"] = settings.tasks_per_processor;
    }
    return out;
}

Json encode_replay(const ReplaySettings& settings, const ReplayReport& report, const std::vector<LinkRow>& links,
                   const Json& ranks, const UnseenCalls& unseen) {
    Json traffic = Json::array();
    for (const LinkRow& row : links)
        traffic.push_back({{"link", row.name}, {"messages", row.traffic.messages}, {"bytes", row.traffic.bytes}});
    Json document = {{"run_time_s", report.run_time_s}, {"complete", report.complete},
                     {"events", report.events},         {"unreceived_messages", report.unreceived_messages},
                     {"links", std::move(traffic)},     {"ranks", ranks},
                     {"program", kProgramVersion},      {"settings", encode(settings)}};
    if (!unseen.empty()) document["unseen"] = unseen;
    return document;
}

Json encode_option(std::string_view name, std::string_view default_value, std::string_view meaning) {
    return {{"name", name}, {"default", default_value}, {"meaning", meaning}};
}

Json encode(const PolicyInfo& policy, Json options) {
    return {{"policy", policy.name},   {"takes_turns", policy.takes_turns}, {"summary", policy.summary},
            {"source", policy.source}, {"starvation", policy.starvation},   {"options", std::move(options)}};
}

Json encode(const AllocatorInfo& allocator, Json options) {
    return {{"allocator", allocator.name},
            {"summary", allocator.summary},
            {"source", allocator.source},
            {"machine", allocator.machine},
            {"options", std::move(options)}};
}

Json encode(const GeneratorInfo& generator, Json options) {
    return {{"generator", generator.name}, {"summary", generator.summary}, {"options", std::move(options)}};
}

Json encode_rule(std::string_view kind, std::string_view name, std::string_view summary, std::string_view source) {
    return {{"kind", kind}, {"name", name}, {"summary", summary}, {"source", source}};
}

EncodedDecisions encode(const QueueReplay::Difference& difference, std::span<const QueueEvent> log) {
    QueueEvent decided = log[difference.event];
    Json logged = codec::encode(decided);
    std::get<Decided>(decided).decision = difference.replayed;
    return {std::move(logged), codec::encode(decided)};
}

Json encode(const QueueReplay& replay, std::span<const QueueEvent> log) {
    const auto& difference = replay.first_difference;
    Json json = {
        {"events", log.size()}, {"decisions", replay.decisions}, {"starts", replay.starts}, {"same", !difference}};
    if (difference) {
        EncodedDecisions both = encode(*difference, log);
        json["first_difference"] = {{"event", difference->event + 1},
                                    {"logged", std::move(both.logged)},
                                    {"replayed", std::move(both.replayed)}};
    }
    return json;
}

Json encode(const ApplicationModel& model, const std::optional<ProfileRow>& stored) {
    Json document = {{"model", codec::encode(model)}};
    if (stored) document["profile"] = codec::encode(*stored);
    return document;
}

}  // namespace zbs::cli
