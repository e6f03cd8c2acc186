#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/allocation/registry.hpp"
#include "algorithms/gang/packing.hpp"
#include "algorithms/model/resource_graph.hpp"
#include "algorithms/policy/registry.hpp"
#include "algorithms/queue/queue_log.hpp"
#include "algorithms/sim/generators.hpp"
#include "algorithms/sim/replay.hpp"
#include "algorithms/sim/workload_generators.hpp"
#include "services/common/codec/json/json.hpp"
#include "services/common/codec/model_codec.hpp"
#include "services/common/messages/profile.hpp"

/// Items and documents of commands that compute here.
namespace zbs::cli {

/// Where a task is in a machine that is a tree, and in zones.
codec::Json encode_place(std::size_t task, ProcessorIndex processor);
codec::Json encode_place(std::size_t task, const Zone& zone, const ProcessorPlace& place);

/// What `zbs map` was given, as its options name it; empty: not given.
struct MappingSettings {
    std::string model, graph, resources, hierarchy, distances, evaluate, algorithm, level1, level2, objective, preset;
    int tasks_per_processor = 0;
    double imbalance = 0, time_limit_s = 0;
    std::uint64_t seed = 0;
};
codec::Json encode(const MappingSettings& settings);

struct LinkRow {
    std::string name;
    LinkTraffic traffic;
};
codec::Json encode_times(std::size_t rank, const RankTimes& times, double idle_s, const Zone& zone,
                         const ProcessorPlace& place);
/// What `zbs replay` was given, as its options name it; empty: not given.
struct ReplaySettings {
    std::vector<std::string> traces;
    std::string generate, parameters;
    bool interleaved = false;
    double seconds_per_turn = TransportKernel{}.seconds_per_turn;
    RandomProgramOptions random;
    std::string resources, mapping, algorithm = "hier";
    int tasks_per_processor = 1;
    std::uint64_t seed = 1;
};
codec::Json encode(const ReplaySettings& settings);
codec::Json encode_replay(const ReplaySettings& settings, const ReplayReport& report, const std::vector<LinkRow>& links,
                          const codec::Json& ranks, const UnseenCalls& unseen);

codec::Json encode_option(std::string_view name, std::string_view default_value, std::string_view meaning);
/// What `zbs simulate` can be given by name, with items of `encode_option`.
codec::Json encode(const PolicyInfo& policy, codec::Json options);
codec::Json encode(const AllocatorInfo& allocator, codec::Json options);
codec::Json encode(const GeneratorInfo& generator, codec::Json options);
/// The same in a list of things of several kinds, without options.
codec::Json encode_rule(std::string_view kind, std::string_view name, std::string_view summary,
                        std::string_view source);

/// What a log of a queue gives when it is decided again. Precondition: `replay` is of `log`.
/// The decision in the log, and the one that the replay made.
struct EncodedDecisions {
    codec::Json logged, replayed;
};
EncodedDecisions encode(const QueueReplay::Difference& difference, std::span<const QueueEvent> log);
codec::Json encode(const QueueReplay& replay, std::span<const QueueEvent> log);

/// A model, and how it is stored; none: it comes from a file.
codec::Json encode(const ApplicationModel& model, const std::optional<ProfileRow>& stored);

}  // namespace zbs::cli
