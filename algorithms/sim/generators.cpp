#include "algorithms/sim/generators.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include "algorithms/base/expects.hpp"
#include "algorithms/base/rng.hpp"

namespace zbs {
namespace {

constexpr std::int64_t kTeamTag = 1, kLeaderTag = 2;

Error too_large(const std::string& what) {
    return {ErrorCode::kTooLarge, what + "; at most " + std::to_string(kMaxGeneratedEvents) + " events are made", {}};
}

struct TransportField {
    std::string_view name;
    std::int64_t smallest = 0;
    std::int64_t* number = nullptr;
    CollectiveKind* operation = nullptr;
    bool seen = false;
};

/// `word`: NAME=value of one of the fields.
Result<void> read_field(std::string_view word, std::span<TransportField> fields) {
    constexpr std::int64_t kLargest = 1'000'000'000;
    const std::size_t equals = word.find('=');
    const std::string shown(word.substr(0, 60));
    if (equals == std::string_view::npos) return invalid("'" + shown + "' is no NAME=value");
    TransportField* field = nullptr;
    for (TransportField& known : fields) {
        if (known.name == word.substr(0, equals)) field = &known;
    }
    if (field == nullptr) return invalid("'" + shown + "' names no parameter");
    if (std::exchange(field->seen, true)) return invalid(std::string(field->name) + " is given twice");
    const std::string_view value = word.substr(equals + 1);
    if (field->operation != nullptr) {
        const Result<CollectiveKind> kind = parse_collective(value);
        if (!kind) return invalid(kind.error().message);
        *field->operation = *kind;
        return {};
    }
    const auto [stop, error] = std::from_chars(value.data(), value.data() + value.size(), *field->number);
    if (error != std::errc() || stop != value.data() + value.size() || *field->number < field->smallest ||
        *field->number > kLargest)
        return invalid("'" + shown + "' is out of range: " + std::to_string(field->smallest) + " to " +
                       std::to_string(kLargest));
    return {};
}

}  // namespace

Result<TransportKernel> parse_transport_parameters(std::string_view text, std::string_view source) {
    TransportKernel kernel;
    std::int64_t teams = 0, procs = 0, intra = 0, inter = 0;
    TransportField fields[] = {{"NO_OF_TEAMS", 1, &teams},
                               {"NO_OF_PROCS_PER_TEAM", 1, &procs},
                               {"BYTES_INTRA_TEAM", 0, &intra},
                               {"BYTES_INTER_TEAM", 0, &inter},
                               {"OP_INTRA_TEAM", 0, nullptr, &kernel.op_intra_team},
                               {"OP_INTER_TEAM", 0, nullptr, &kernel.op_inter_team},
                               {"NO_OF_EXTERNAL_CYCLES", 0, &kernel.external_cycles},
                               {"NO_OF_INTERNAL_CYCLES", 0, &kernel.internal_cycles},
                               {"TIME_TO_COMPUTE", 0, &kernel.turns_to_compute}};
    int line = 1;
    const auto fault = [&](const std::string& message) {
        return invalid(message, std::string(source) + ":" + std::to_string(line));
    };
    for (std::size_t at = 0; at < text.size();) {
        if (text[at] == '\n') ++line;
        if (text[at] == '\n' || text[at] == ' ' || text[at] == '\t' || text[at] == '\r') {
            ++at;
            continue;
        }
        const std::size_t end = std::min(text.find_first_of(" \t\r\n", at), text.size());
        const std::string_view word = text.substr(at, end - at);
        at = end;
        if (const auto good = read_field(word, fields); !good) return fault(good.error().message);
    }
    for (const TransportField& field : fields) {
        if (!field.seen) return fault(std::string(field.name) + " is missing");
    }
    if (1 + teams * procs > Trace::kMaxRanks)
        return fault("more than " + std::to_string(Trace::kMaxRanks) + " processes");
    kernel.teams = static_cast<std::int32_t>(teams);
    kernel.procs_per_team = static_cast<std::int32_t>(procs);
    kernel.bytes_intra_team = static_cast<std::uint64_t>(intra);
    kernel.bytes_inter_team = static_cast<std::uint64_t>(inter);
    return kernel;
}

Result<Trace> transport_trace(const TransportKernel& kernel) {
    if (kernel.rank_count() > Trace::kMaxRanks)
        return Error{ErrorCode::kTooLarge, "more than " + std::to_string(Trace::kMaxRanks) + " ranks", {}};
    // A schedule of p ranks has up to p x (p - 1) messages; looked at before it is made.
    const auto most = [](CollectiveKind kind, double p) {
        return kind == CollectiveKind::kAlltoall || kind == CollectiveKind::kAllgather ? p * p : p * 64;
    };
    if (most(kernel.op_intra_team, kernel.procs_per_team) > 1e8 || most(kernel.op_inter_team, kernel.teams + 1.0) > 1e8)
        return too_large("an operation of this many ranks has too many messages");
    const CollectiveSchedule inside =
        collective_schedule(kernel.op_intra_team, kernel.procs_per_team, kernel.bytes_intra_team);
    const CollectiveSchedule outside =
        collective_schedule(kernel.op_inter_team, kernel.teams + 1, kernel.bytes_inter_team);
    double inside_events = kernel.procs_per_team, outside_events = 0;
    for (const auto& steps : inside.steps_of) inside_events += static_cast<double>(steps.size());
    for (const auto& steps : outside.steps_of) outside_events += static_cast<double>(steps.size());
    const double events = static_cast<double>(kernel.external_cycles) *
                          (outside_events + static_cast<double>(kernel.internal_cycles) * inside_events * kernel.teams);
    if (events > kMaxGeneratedEvents)
        return too_large("the kernel would make " + std::to_string(static_cast<std::int64_t>(events)) + " events");

    std::vector<std::int32_t> leaders = {0};
    std::vector<std::vector<std::int32_t>> teams;
    for (std::int32_t team = 0; team < kernel.teams; ++team) {
        std::vector<std::int32_t> members;
        for (std::int32_t i = 0; i < kernel.procs_per_team; ++i)
            members.push_back(kernel.interleaved ? 1 + team + i * kernel.teams : 1 + team * kernel.procs_per_team + i);
        leaders.push_back(members.front());
        teams.push_back(std::move(members));
    }
    TraceBuilder builder(static_cast<std::int32_t>(kernel.rank_count()));
    builder.set_program("transport_kernel");
    const double seconds = static_cast<double>(kernel.turns_to_compute) * kernel.seconds_per_turn;
    for (std::int64_t external = 0; external < kernel.external_cycles; ++external) {
        append(builder, outside, leaders, kLeaderTag);
        for (const auto& members : teams) {
            for (std::size_t m = 0; m < members.size(); ++m) {
                for (std::int64_t internal = 0; internal < kernel.internal_cycles; ++internal) {
                    builder.compute(members[m], seconds);
                    append_member(builder, inside, members, m, kTeamTag);
                }
            }
        }
    }
    return std::move(builder).finish();
}

Result<RandomProgram> make_random_program(const RandomProgramOptions& options) {
    if (options.ranks < 2 || options.ranks > Trace::kMaxRanks)
        return invalid("a random program has 2 to " + std::to_string(Trace::kMaxRanks) + " ranks", "--ranks");
    constexpr std::int32_t kMaxClusters = 4096;  // rules take quadratic memory
    if (options.clusters < 1 || options.clusters > options.ranks || options.clusters > kMaxClusters)
        return invalid("a random program has 1 to " + std::to_string(kMaxClusters) +
                       " clusters, and no more than ranks");
    if (options.every < 0) return invalid("only every n-th message between clusters is sent, n >= 0");
    if (!(options.bytes >= 0 && options.bytes <= 1e15)) return invalid("a message has 0 to 1e15 bytes");
    if (!(options.compute_s >= 0 && options.compute_s <= 1e9)) return invalid("computing takes 0 to 1e9 seconds");
    if (options.lines < 0) return invalid("a pattern has 0 lines or more");
    RandomProgram program{
        .clusters = options.clusters, .lines = options.lines, .compute_s = options.compute_s, .seed = options.seed};
    for (std::int32_t rank = 0; rank < options.ranks; ++rank) program.cluster_of.push_back(rank % options.clusters);
    Rng rng(options.seed);
    rng.shuffle(program.cluster_of);
    for (std::int32_t a = 0; a < options.clusters; ++a) {
        for (std::int32_t b = 0; b < options.clusters; ++b)
            program.rules.push_back({a == b ? 1 : options.every, options.bytes});
    }
    return program;
}

Result<Trace> random_trace(const RandomProgram& program) {
    const auto ranks = static_cast<std::uint64_t>(program.cluster_of.size());
    ZBS_EXPECTS(ranks >= 2 && program.rules.size() == static_cast<std::size_t>(program.clusters) *
                                                          static_cast<std::size_t>(program.clusters));
    if (program.lines > kMaxGeneratedEvents / 4)
        return too_large("a pattern of " + std::to_string(program.lines) + " lines is too long");
    TraceBuilder builder(static_cast<std::int32_t>(ranks));
    builder.set_program("random_program");
    std::vector<std::int64_t> seen(program.rules.size(), 0);
    Rng rng(program.seed ^ 0x5eedULL);
    for (std::int64_t line = 0; line < program.lines; ++line) {
        const auto from = static_cast<std::int32_t>(rng.below(ranks));
        auto to = static_cast<std::int32_t>(rng.below(ranks - 1));
        if (to >= from) ++to;
        const std::int32_t a = program.cluster_of[static_cast<std::size_t>(from)];
        const std::int32_t b = program.cluster_of[static_cast<std::size_t>(to)];
        ZBS_EXPECTS(a >= 0 && a < program.clusters && b >= 0 && b < program.clusters);
        const RandomProgram::Rule& rule = program.rule(a, b);
        // Both directions of a kind are counted together.
        const auto kind = static_cast<std::size_t>(std::min(a, b)) * static_cast<std::size_t>(program.clusters) +
                          static_cast<std::size_t>(std::max(a, b));
        if (rule.every == 0 || ++seen[kind] % rule.every != 0) continue;
        builder.compute(from, program.compute_s);
        builder.send(from, to, rule.bytes);
        builder.compute(to, program.compute_s);
        builder.receive(to, from);
    }
    return std::move(builder).finish();
}

TaskGraph clustered_graph(const ClusteredGraph& options) {
    const auto& [tasks, clusters, inside, outside, seed] = options;
    ZBS_EXPECTS(clusters >= 1 && tasks >= clusters);
    Rng rng(seed);
    std::vector<double> compute(static_cast<std::size_t>(tasks));
    for (double& seconds : compute) seconds = 1e-3 * (1 + rng.uniform());
    std::map<std::pair<TaskIndex, TaskIndex>, double> bytes;
    const int per_cluster = tasks / clusters;
    for (TaskIndex t = 0; t < tasks; ++t) {
        for (int i = 0; i < inside + outside; ++i) {
            const TaskIndex other =
                i < inside ? static_cast<TaskIndex>(rng.below(static_cast<std::uint64_t>(per_cluster))) * clusters +
                                 t % clusters
                           : static_cast<TaskIndex>(rng.below(static_cast<std::uint64_t>(tasks)));
            if (other != t && other < tasks)
                bytes[std::minmax(t, other)] += (i < inside ? 10'000 : 1000) * (1 + rng.uniform());
        }
    }
    std::vector<TaskEdge> edges;
    for (const auto& [pair, sum] : bytes) edges.push_back({pair.first, pair.second, sum, 10});
    return TaskGraph::make(std::move(compute), edges).value();
}

ResourceGraph flat_zones(const std::vector<int>& zones, const Link& between, const Link& within) {
    std::vector<Zone> made_zones;
    std::vector<ResourceGraph::ZoneLink> links;
    for (std::size_t z = 0; z < zones.size(); ++z) {
        Zone zone{.name = "z" + std::to_string(z), .machines = {}, .within_zone = within};
        for (int m = 0; m < zones[z]; ++m) zone.machines.push_back({"m" + std::to_string(m), 1, 1.0});
        made_zones.push_back(std::move(zone));
        for (std::size_t other = 0; other < z; ++other) {
            links.push_back({static_cast<std::int32_t>(other), static_cast<std::int32_t>(z), between});
        }
    }
    return ResourceGraph::make(std::move(made_zones), std::move(links)).value();
}

}  // namespace zbs
