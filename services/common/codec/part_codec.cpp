#include "services/common/codec/json/fields.hpp"
#include "services/common/codec/message_codec.hpp"
#include "services/common/codec/model_codec.hpp"
#include "services/common/codec/staging_codec.hpp"
#include "services/common/messages/limits.hpp"

namespace zbs::codec {
namespace {

using LaunchOption = std::pair<std::string, std::string>;

/// A peer is attacker-controlled: figures that contradict each other would steer the mapping.
void check_processors(JsonReader& in, const auto& offer) {
    if (offer.largest_machine > offer.processors) in.fail("largest_machine", "is more than processors");
    if (offer.processors > 0 && !(offer.speed_sum > 0))
        in.fail("speed_sum", "must be > 0 where processors are offered");
}
void check_capacity(JsonReader& in, const Capacity& capacity) {
    const std::vector<StartWindow>& windows = capacity.windows;
    for (std::size_t i = 1; i < windows.size(); ++i)
        if (windows[i].after <= windows[i - 1].after)
            in.fail("windows/" + std::to_string(i) + "/after_s", "must grow from window to window");
    check_processors(in, capacity);
}
void check_part(JsonReader& in, const PartRequest& request) {
    if (request.graph.task_count() != static_cast<TaskIndex>(request.ranks.size()))
        in.fail("graph", "must have one task for each of ranks");
    // Zero would mean no limit to the zone's executor.
    if (request.walltime < std::chrono::seconds{1}) in.fail("walltime_s", "must be at least 1 second");
    if (request.queued && request.start_in > Duration{0})
        in.fail("queued", "cannot be asked for together with start_in_s: the queue says when it starts");
}
void check_program(JsonReader& in, const LaunchRequest::Program& program) {
    if (program.argv.empty() || program.argv[0].empty()) in.fail("argv", "must name a program");
    if (!program.directory.starts_with('/')) in.fail("directory", "must be an absolute path");
}
void check_launch(JsonReader& in, const LaunchRequest& request) {
    if (request.proxies.empty()) in.fail("proxies", "must name at least one proxy");
    if (request.profile && !request.preload) in.fail("preload", "must be true where the run is profiled");
    if (is_srun(request.launcher) && !request.program) in.fail("program", "must be there for srun");
    if (!is_srun(request.launcher) && request.program)
        in.fail("launcher", "must be srun-pmi2 or srun-pmix where a program is named");
}

// One field a line.
// clang-format off
constexpr auto kOtherQuestion = fields<CapacityRequest>(
    integer("processors", &CapacityRequest::processors, 1, limits::kMaxRanks),
    seconds("walltime_s", &CapacityRequest::walltime, limits::kMaxWalltimeSeconds),
    id("without", &CapacityRequest::without),
    integer("share", &CapacityRequest::share, kMinShare, kMaxShare),
    optional(name("partition", &CapacityRequest::partition)),
    optional(seconds("grace_s", &CapacityRequest::grace, limits::kMaxGraceSeconds)));

constexpr auto kCapacityRequest = fields<CapacityRequest>(
    identity("user", &CapacityRequest::user),
    texts("zones", &CapacityRequest::zones, limits::kMaxZonesInRegistry, 1 << 20),
    defaulted(texts("groups", &CapacityRequest::groups, limits::kMaxGroups, 64 * limits::kMaxGroups)),
    kOtherQuestion,
    nested("staging", &CapacityRequest::staging, Functions{encode, decode_staging_need}),
    defaulted(list("others", &CapacityRequest::others, limits::kMaxOtherQuestions, kOtherQuestion)));

constexpr auto kStartWindow = fields<StartWindow>(
    seconds("after_s", &StartWindow::after, limits::kMaxWalltimeSeconds),
    seconds("expected_s", &StartWindow::expected, limits::kMaxWalltimeSeconds),
    count("processors", &StartWindow::processors, ResourceGraph::kMaxProcessors),
    number("speed_sum", &StartWindow::speed_sum, 0, 1e15),
    number("speed_mean", &StartWindow::speed_mean, 0, 1e12),
    number("speed_variance", &StartWindow::speed_variance, 0, 1e24),
    count("largest_machine", &StartWindow::largest_machine, ResourceGraph::kMaxProcessors)).checked(check_processors);

constexpr auto kLinkToZone = fields<LinkToZone>(
    name("zone", &LinkToZone::zone),
    Inlined{&LinkToZone::link, fields<Link>(number("delay_s", &Link::delay_s, 0, 1e6),
                                            number("bandwidth_Bps", &Link::bandwidth_Bps, 1e-9, 1e18))});

constexpr auto kOtherAnswer = fields<Capacity>(
    count("processors", &Capacity::processors, ResourceGraph::kMaxProcessors),
    count("total_processors", &Capacity::total_processors, ResourceGraph::kMaxProcessors),
    number("speed_sum", &Capacity::speed_sum, 0, 1e15),
    number("speed_mean", &Capacity::speed_mean, 0, 1e12),
    number("speed_variance", &Capacity::speed_variance, 0, 1e24),
    count("largest_machine", &Capacity::largest_machine, ResourceGraph::kMaxProcessors),
    defaulted(list("windows", &Capacity::windows, limits::kMaxStartWindows, kStartWindow))).checked(check_capacity);

constexpr auto kCapacity = fields<Capacity>(
    name("zone", &Capacity::zone),
    kOtherAnswer,
    nested("within_zone", &Capacity::within_zone, Functions{encode, decode_link}),
    list("links", &Capacity::links, limits::kMaxZonesInRegistry, kLinkToZone),
    optional(boolean("queues", &Capacity::queues)),
    optional(integer("max_overcommit", &Capacity::max_overcommit, 1, limits::kMaxOvercommit)),
    defaulted(list("others", &Capacity::others, limits::kMaxOtherQuestions, kOtherAnswer)));

constexpr auto kOutside = fields<PartRequest::Outside>(
    name("zone", &PartRequest::Outside::zone),
    number("bytes", &PartRequest::Outside::bytes, 0, 1e30),
    number("messages", &PartRequest::Outside::messages, 0, 1e30));

constexpr auto kDelegationProof = fields<DelegationProof>(
    text("text", &DelegationProof::text, 1'024),
    text("chain", &DelegationProof::chain, limits::kMaxChainBytes),
    text("signature", &DelegationProof::signature, limits::kMaxSignatureBytes));

constexpr auto kPartRequest = fields<PartRequest>(
    id("id", &PartRequest::id),
    id("application", &PartRequest::application),
    identity("user", &PartRequest::user),
    name("home", &PartRequest::home),
    ranks("ranks", &PartRequest::ranks),
    nested("graph", &PartRequest::graph, Functions{encode, decode_task_graph}),
    list("outside", &PartRequest::outside, limits::kMaxZonesInRegistry, kOutside),
    seconds("walltime_s", &PartRequest::walltime, limits::kMaxWalltimeSeconds),
    count("seed", &PartRequest::seed),
    defaulted(texts("groups", &PartRequest::groups, limits::kMaxGroups, 64 * limits::kMaxGroups)),
    optional(seconds("start_in_s", &PartRequest::start_in, limits::kMaxWalltimeSeconds)),
    id("replaces", &PartRequest::replaces),
    optional(boolean("queued", &PartRequest::queued)),
    optional(count("priority", &PartRequest::priority, kMaxPriority)),
    integer("share", &PartRequest::share, kMinShare, kMaxShare),
    optional(name("partition", &PartRequest::partition)),
    optional(seconds("grace_s", &PartRequest::grace, limits::kMaxGraceSeconds)),
    optional(integer("overcommit", &PartRequest::overcommit, 1, limits::kMaxOvercommit)),
    nested("staging", &PartRequest::staging, Functions{encode, decode_staging_need}),
    nested("delegation", &PartRequest::delegation, kDelegationProof)).checked(check_part);

constexpr auto kQueueOutlook = fields<QueueOutlook>(
    integer("place", &QueueOutlook::place, 1, limits::kMaxPartsInQueue),
    seconds("start_in_s", &QueueOutlook::start_in, 1e9),
    seconds("promised_in_s", &QueueOutlook::promised_in, 1e9),
    optional(text("waits_for", &QueueOutlook::waits_for, 32)));

constexpr auto kRankPlace = fields<RankPlace>(
    count("rank", &RankPlace::rank, limits::kMaxRanks),
    name("machine", &RankPlace::machine),
    count("processor", &RankPlace::processor, ResourceGraph::kMaxProcessors));

constexpr auto kRankEnd = fields<RankEnd>(
    count("rank", &RankEnd::rank, limits::kMaxRanks),
    word("how", &RankEnd::how),
    integer("code", &RankEnd::code, INT32_MIN, INT32_MAX),
    boolean("before_finalize", &RankEnd::before_finalize),
    optional(boolean("before_init", &RankEnd::before_init)),
    time("at_us", &RankEnd::at));

constexpr auto kPartStatus = fields<PartStatus>(
    id("id", &PartStatus::id),
    text("zone", &PartStatus::zone, 64),
    word("state", &PartStatus::state),
    count("token", &PartStatus::token),
    seconds("expires_in_s", &PartStatus::expires_in, 1e9),
    list("assignment", &PartStatus::assignment, limits::kMaxRanks, kRankPlace),
    cut_text("reason", &PartStatus::reason),
    boolean("can_profile", &PartStatus::can_profile),
    boolean("has_profile", &PartStatus::has_profile),
    count("exit_code", &PartStatus::exit_code, 255),
    nested("first_end", &PartStatus::first_end, kRankEnd),
    optional(seconds("starts_in_s", &PartStatus::starts_in, 1e9)),
    optional(boolean("ready", &PartStatus::ready)),
    optional(name("file_system", &PartStatus::file_system)),
    word("work", &PartStatus::work),
    seconds("grace_s", &PartStatus::grace, limits::kMaxGraceSeconds),
    nested("queue", &PartStatus::queue, kQueueOutlook));

constexpr auto kLaunchOption = fields<LaunchOption>(
    text("name", &LaunchOption::first, 64),
    text("value", &LaunchOption::second, limits::kMaxOptionBytes));

constexpr auto kProxy = fields<LaunchRequest::Proxy>(
    count("id", &LaunchRequest::Proxy::id, limits::kMaxRanks),
    name("machine", &LaunchRequest::Proxy::machine));

constexpr auto kProgram = fields<LaunchRequest::Program>(
    texts("argv", &LaunchRequest::Program::argv, limits::kMaxArguments, limits::kMaxArgumentBytes),
    text("directory", &LaunchRequest::Program::directory, limits::kMaxPathBytes),
    environment("environment", &LaunchRequest::Program::environment)).checked(check_program);

constexpr auto kLaunchRequest = fields<LaunchRequest>(
    integer("token", &LaunchRequest::token, 1, INT64_MAX),
    operation("operation", &LaunchRequest::operation),
    list("options", &LaunchRequest::options, 64, kLaunchOption),
    list("proxies", &LaunchRequest::proxies, limits::kMaxRanks, kProxy),
    boolean("profile", &LaunchRequest::profile),
    boolean("preload", &LaunchRequest::preload),
    optional(word("launcher", &LaunchRequest::launcher)),
    nested("program", &LaunchRequest::program, kProgram)).checked(check_launch);
// clang-format on

}  // namespace

Json encode(const CapacityRequest& request) { return kCapacityRequest.encode(request); }
Result<CapacityRequest> decode_capacity_request(const Json& json) { return kCapacityRequest.decode(json); }
Json encode(const Capacity& capacity) { return kCapacity.encode(capacity); }
Result<Capacity> decode_capacity(const Json& json) { return kCapacity.decode(json); }
Json encode(const PartRequest& request) { return kPartRequest.encode(request); }
Result<PartRequest> decode_part_request(const Json& json) { return kPartRequest.decode(json); }
Json encode(const QueueOutlook& outlook) { return kQueueOutlook.encode(outlook); }
Json encode(const PartStatus& status) { return kPartStatus.encode(status); }
Result<PartStatus> decode_part_status(const Json& json, const std::string& pointer) {
    return kPartStatus.decode(json, pointer);
}
Json encode(const RankPlace& place) { return kRankPlace.encode(place); }
Result<RankPlace> decode_rank_place(const Json& json, const std::string& pointer) {
    return kRankPlace.decode(json, pointer);
}
Json encode_commit(std::uint64_t token) { return {{"token", token}}; }
Result<std::uint64_t> decode_commit(const Json& json) {
    JsonReader in(json);
    return in.finish(static_cast<std::uint64_t>(in.integer("token", 1, INT64_MAX)));
}
Json encode(const LaunchRequest& request) { return kLaunchRequest.encode(request); }
Result<LaunchRequest> decode_launch_request(const Json& json) { return kLaunchRequest.decode(json); }

}  // namespace zbs::codec
