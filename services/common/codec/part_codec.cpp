#include <algorithm>

#include "services/common/codec/json/words.hpp"
#include "services/common/codec/message_codec.hpp"
#include "services/common/codec/model_codec.hpp"
#include "services/common/codec/staging_codec.hpp"
#include "services/common/messages/limits.hpp"

namespace zbs::codec {
namespace {

Json encode_options(const std::vector<std::pair<std::string, std::string>>& options) {
    Json json = Json::array();
    for (const auto& [name, value] : options) json.push_back({{"name", name}, {"value", value}});
    return json;
}

}  // namespace

Json encode(const CapacityRequest& request) {
    Json json = {{"user", to_uri(request.user)},
                 {"processors", request.processors},
                 {"walltime_s", to_seconds(request.walltime)},
                 {"zones", request.zones},
                 {"groups", request.groups}};
    if (request.without) json["without"] = to_string(*request.without);
    if (request.share) json["share"] = *request.share;
    write_grace(json, request.grace);
    if (request.staging) json["staging"] = encode(*request.staging);
    return json;
}

Result<CapacityRequest> decode_capacity_request(const Json& json) {
    JsonReader in(json);
    CapacityRequest request;
    request.user = read_identity(in, "user");
    request.processors = static_cast<int>(in.integer("processors", 1, limits::kMaxRanks));
    request.walltime = in.seconds("walltime_s", static_cast<double>(limits::kMaxWalltimeSeconds));
    request.zones = in.texts("zones", limits::kMaxZonesInRegistry, 1 << 20);
    if (in.has("groups")) request.groups = in.texts("groups", limits::kMaxGroups, 64 * limits::kMaxGroups);
    if (in.has("without")) request.without = read_id<ApplicationId>(in, "without");
    request.share = read_share(in);
    request.grace = read_grace(in);
    request.staging = read_staging_need(in);
    return in.finish(std::move(request));
}

Json encode(const Capacity& capacity) {
    Json windows = Json::array();
    for (const StartWindow& window : capacity.windows) {
        windows.push_back({{"after_s", to_seconds(window.after)},
                           {"expected_s", to_seconds(window.expected)},
                           {"processors", window.processors},
                           {"speed_sum", window.speed_sum},
                           {"speed_mean", window.speed_mean},
                           {"speed_variance", window.speed_variance},
                           {"largest_machine", window.largest_machine}});
    }
    Json links = Json::array();
    for (const LinkToZone& link : capacity.links) {
        links.push_back(
            {{"zone", link.zone}, {"delay_s", link.link.delay_s}, {"bandwidth_Bps", link.link.bandwidth_Bps}});
    }
    Json json = {{"zone", capacity.zone},
                 {"processors", capacity.processors},
                 {"total_processors", capacity.total_processors},
                 {"speed_sum", capacity.speed_sum},
                 {"speed_mean", capacity.speed_mean},
                 {"speed_variance", capacity.speed_variance},
                 {"largest_machine", capacity.largest_machine},
                 {"within_zone", encode(capacity.within_zone)},
                 {"links", std::move(links)},
                 {"windows", std::move(windows)}};
    if (capacity.queues) json["queues"] = true;
    return json;
}

namespace {

Result<std::vector<StartWindow>> decode_windows(JsonReader& in) {
    std::vector<StartWindow> windows;
    const Json& list = in.array("windows", limits::kMaxStartWindows);
    for (std::size_t i = 0; i < list.size() && in.ok(); ++i) {
        JsonReader w(list[i], in.pointer_of("windows/" + std::to_string(i)));
        StartWindow window;
        window.after = w.seconds("after_s", static_cast<double>(limits::kMaxWalltimeSeconds));
        window.expected = w.seconds("expected_s", static_cast<double>(limits::kMaxWalltimeSeconds));
        window.processors = static_cast<int>(w.integer("processors", 0, ResourceGraph::kMaxProcessors));
        window.speed_sum = w.number("speed_sum", 0, 1e15);
        window.speed_mean = w.number("speed_mean", 0, 1e12);
        window.speed_variance = w.number("speed_variance", 0, 1e24);
        window.largest_machine = static_cast<int>(w.integer("largest_machine", 0, ResourceGraph::kMaxProcessors));
        if (w.ok() && window.largest_machine > window.processors) w.fail("largest_machine", "is more than processors");
        if (w.ok() && window.processors > 0 && !(window.speed_sum > 0))
            w.fail("speed_sum", "must be > 0 where processors are offered");
        if (w.ok() && !windows.empty() && window.after <= windows.back().after)
            w.fail("after_s", "must grow from window to window");
        Result<StartWindow> done = w.finish(window);
        if (!done) return done.error();
        windows.push_back(*done);
    }
    if (!in.ok()) return in.error();
    return windows;
}

}  // namespace

Result<Capacity> decode_capacity(const Json& json) {
    JsonReader in(json);
    Capacity capacity;
    capacity.zone = read_name(in, "zone");
    capacity.processors = static_cast<int>(in.integer("processors", 0, ResourceGraph::kMaxProcessors));
    capacity.total_processors = static_cast<int>(in.integer("total_processors", 0, ResourceGraph::kMaxProcessors));
    capacity.speed_sum = in.number("speed_sum", 0, 1e15);
    capacity.speed_mean = in.number("speed_mean", 0, 1e12);
    capacity.speed_variance = in.number("speed_variance", 0, 1e24);
    capacity.largest_machine = static_cast<int>(in.integer("largest_machine", 0, ResourceGraph::kMaxProcessors));
    const Result<Link> within = decode_link(in.object("within_zone"), in.pointer_of("within_zone"));
    if (!in.ok()) return in.error();
    if (!within) return within.error();
    capacity.within_zone = *within;
    const Json& links = in.array("links", limits::kMaxZonesInRegistry);
    for (std::size_t i = 0; i < links.size() && in.ok(); ++i) {
        JsonReader l(links[i], in.pointer_of("links/" + std::to_string(i)));
        LinkToZone link{read_name(l, "zone"), {l.number("delay_s", 0, 1e6), l.number("bandwidth_Bps", 1e-9, 1e18)}};
        Result<LinkToZone> done = l.finish(std::move(link));
        if (!done) return done.error();
        capacity.links.push_back(*std::move(done));
    }
    if (in.has("windows")) {
        Result<std::vector<StartWindow>> read = decode_windows(in);
        if (!read) return read.error();
        capacity.windows = *std::move(read);
    }
    capacity.queues = in.boolean_or("queues", false);
    // A peer is attacker-controlled: figures that contradict each other would steer the mapping.
    if (in.ok() && capacity.largest_machine > capacity.processors)
        in.fail("largest_machine", "is more than processors");
    if (in.ok() && capacity.processors > 0 && !(capacity.speed_sum > 0))
        in.fail("speed_sum", "must be > 0 where processors are offered");
    return in.finish(std::move(capacity));
}

Json encode(const PartRequest& request) {
    Json outside = Json::array();
    for (const PartRequest::Outside& o : request.outside) {
        outside.push_back({{"zone", o.zone}, {"bytes", o.bytes}, {"messages", o.messages}});
    }
    Json json = {{"id", to_string(request.id)},   {"application", to_string(request.application)},
                 {"user", to_uri(request.user)},  {"home", request.home},
                 {"ranks", request.ranks},        {"graph", encode(request.graph)},
                 {"outside", std::move(outside)}, {"walltime_s", to_seconds(request.walltime)},
                 {"seed", request.seed},          {"groups", request.groups}};
    if (request.start_in > Duration{0}) json["start_in_s"] = to_seconds(request.start_in);
    if (request.replaces) json["replaces"] = to_string(*request.replaces);
    if (request.queued) json["queued"] = true;
    write_standing(json, request.priority, request.share);
    write_grace(json, request.grace);
    if (request.staging) json["staging"] = encode(*request.staging);
    if (request.delegation) {
        json["delegation"] = {{"text", request.delegation->text},
                              {"chain", request.delegation->chain},
                              {"signature", request.delegation->signature}};
    }
    return json;
}

Result<PartRequest> decode_part_request(const Json& json) {
    JsonReader in(json);
    PartRequest request;
    request.id = read_id<PartId>(in, "id");
    request.application = read_id<ApplicationId>(in, "application");
    request.user = read_identity(in, "user");
    request.home = read_name(in, "home");
    request.ranks = read_ranks(in, "ranks");
    Result<TaskGraph> graph = decode_task_graph(in.object("graph"), in.pointer_of("graph"));
    if (!in.ok()) return in.error();
    if (!graph) return graph.error();
    request.graph = *std::move(graph);
    if (request.graph.task_count() != static_cast<TaskIndex>(request.ranks.size()))
        in.fail("graph", "must have one task for each of ranks");
    const Json& outside = in.array("outside", limits::kMaxZonesInRegistry);
    for (std::size_t i = 0; i < outside.size() && in.ok(); ++i) {
        JsonReader o(outside[i], in.pointer_of("outside/" + std::to_string(i)));
        Result<PartRequest::Outside> done = o.finish(
            PartRequest::Outside{read_name(o, "zone"), o.number("bytes", 0, 1e30), o.number("messages", 0, 1e30)});
        if (!done) return done.error();
        request.outside.push_back(*std::move(done));
    }
    request.walltime = in.seconds("walltime_s", static_cast<double>(limits::kMaxWalltimeSeconds));
    // Zero would mean no limit to the zone's executor.
    if (in.ok() && request.walltime < std::chrono::seconds{1}) in.fail("walltime_s", "must be at least 1 second");
    request.seed = static_cast<std::uint64_t>(in.integer("seed", 0, INT64_MAX));
    if (in.has("groups")) request.groups = in.texts("groups", limits::kMaxGroups, 64 * limits::kMaxGroups);
    if (in.has("start_in_s"))
        request.start_in = in.seconds("start_in_s", static_cast<double>(limits::kMaxWalltimeSeconds));
    if (in.has("replaces")) request.replaces = read_id<PartId>(in, "replaces");
    request.queued = in.boolean_or("queued", false);
    if (in.ok() && request.queued && request.start_in > Duration{0})
        in.fail("queued", "cannot be asked for together with start_in_s: the queue says when it starts");
    request.priority = read_priority(in);
    request.share = read_share(in);
    request.grace = read_grace(in);
    request.staging = read_staging_need(in);
    if (in.has("delegation")) {
        JsonReader proof(in.object("delegation"), in.pointer_of("delegation"));
        Result<DelegationProof> read =
            proof.finish(DelegationProof{proof.text("text", 1'024), proof.text("chain", limits::kMaxChainBytes),
                                         proof.text("signature", limits::kMaxSignatureBytes)});
        if (!read) return read.error();
        request.delegation = *std::move(read);
    }
    return in.finish(std::move(request));
}

Json encode(const QueueOutlook& outlook) {
    Json json = Json::object();
    if (outlook.place) json["place"] = *outlook.place;
    if (outlook.start_in) json["start_in_s"] = to_seconds(*outlook.start_in);
    if (outlook.promised_in) json["promised_in_s"] = to_seconds(*outlook.promised_in);
    if (!outlook.waits_for.empty()) json["waits_for"] = outlook.waits_for;
    return json;
}

namespace {

Result<QueueOutlook> decode_outlook(JsonReader in) {
    QueueOutlook outlook;
    if (in.has("place")) outlook.place = static_cast<int>(in.integer("place", 1, limits::kMaxPartsInQueue));
    if (in.has("start_in_s")) outlook.start_in = in.seconds("start_in_s", 1e9);
    if (in.has("promised_in_s")) outlook.promised_in = in.seconds("promised_in_s", 1e9);
    if (in.has("waits_for")) outlook.waits_for = in.text("waits_for", 32);
    return in.finish(std::move(outlook));
}

}  // namespace

Json encode(const PartStatus& status) {
    Json assignment = Json::array();
    for (const RankPlace& place : status.assignment) {
        assignment.push_back({{"rank", place.rank}, {"machine", place.machine}, {"processor", place.processor}});
    }
    Json json = {{"id", to_string(status.id)},
                 {"zone", status.zone},
                 {"state", to_string(status.state)},
                 {"token", status.token},
                 {"expires_in_s", to_seconds(status.expires_in)},
                 {"assignment", std::move(assignment)},
                 {"reason", bounded(status.reason, JsonReader::kMaxText)},
                 {"can_profile", status.can_profile},
                 {"has_profile", status.has_profile}};
    if (status.exit_code) json["exit_code"] = *status.exit_code;
    if (status.first_end) {
        const RankEnd& end = *status.first_end;
        json["first_end"] = {{"rank", end.rank},
                             {"how", to_string(end.how)},
                             {"code", end.code},
                             {"before_finalize", end.before_finalize},
                             {"at_us", to_microseconds(end.at)}};
        if (end.before_init) json["first_end"]["before_init"] = true;
    }
    if (status.starts_in > Duration{0}) json["starts_in_s"] = to_seconds(status.starts_in);
    if (!status.ready) json["ready"] = false;
    if (status.queue) json["queue"] = encode(*status.queue);
    if (!status.file_system.empty()) json["file_system"] = status.file_system;
    if (status.work) json["work"] = to_string(*status.work);
    if (status.grace) json["grace_s"] = to_seconds(*status.grace);
    return json;
}

Result<PartStatus> decode_part_status(const Json& json, const std::string& pointer) {
    JsonReader in(json, pointer);
    PartStatus status;
    status.id = read_id<PartId>(in, "id");
    status.zone = in.text("zone", 64);
    status.state = read_word(in, "state", kPartStates);
    status.token = static_cast<std::uint64_t>(in.integer("token", 0, INT64_MAX));
    status.expires_in = in.seconds("expires_in_s", 1e9);
    const Json& assignment = in.array("assignment", limits::kMaxRanks);
    for (std::size_t i = 0; i < assignment.size() && in.ok(); ++i) {
        JsonReader a(assignment[i], in.pointer_of("assignment/" + std::to_string(i)));
        RankPlace place{static_cast<TaskIndex>(a.integer("rank", 0, limits::kMaxRanks)), read_name(a, "machine"),
                        static_cast<std::int32_t>(a.integer("processor", 0, ResourceGraph::kMaxProcessors))};
        Result<RankPlace> done = a.finish(std::move(place));
        if (!done) return done.error();
        status.assignment.push_back(*std::move(done));
    }
    status.reason = in.text("reason");
    status.can_profile = in.boolean("can_profile");
    status.has_profile = in.boolean("has_profile");
    if (in.has("exit_code")) status.exit_code = static_cast<int>(in.integer("exit_code", 0, 255));
    if (in.has("first_end")) {
        JsonReader e(in.object("first_end"), in.pointer_of("first_end"));
        RankEnd end{.rank = static_cast<TaskIndex>(e.integer("rank", 0, limits::kMaxRanks)),
                    .how = read_word(e, "how", kRankEndKinds),
                    .code = static_cast<int>(e.integer("code", INT32_MIN, INT32_MAX)),
                    .before_finalize = e.boolean("before_finalize"),
                    .before_init = e.boolean_or("before_init", false),
                    .at = time_from_microseconds(e.integer("at_us", 0, INT64_MAX))};
        Result<RankEnd> done = e.finish(std::move(end));
        if (!in.ok()) return in.error();
        if (!done) return done.error();
        status.first_end = *done;
    }
    if (in.has("starts_in_s")) status.starts_in = in.seconds("starts_in_s", 1e9);
    status.ready = in.boolean_or("ready", true);
    if (in.has("file_system")) status.file_system = read_name(in, "file_system");
    if (in.has("work")) status.work = read_word(in, "work", kStepWorks);
    if (in.has("grace_s")) status.grace = read_grace(in);
    if (in.has("queue")) {
        Result<QueueOutlook> read = decode_outlook(JsonReader(in.object("queue"), in.pointer_of("queue")));
        if (!in.ok()) return in.error();
        if (!read) return read.error();
        status.queue = *std::move(read);
    }
    return in.finish(std::move(status));
}

Json encode_commit(std::uint64_t token) { return {{"token", token}}; }

Result<std::uint64_t> decode_commit(const Json& json) {
    JsonReader in(json);
    return in.finish(static_cast<std::uint64_t>(in.integer("token", 1, INT64_MAX)));
}

Json encode(const LaunchRequest& request) {
    Json proxies = Json::array();
    for (const LaunchRequest::Proxy& proxy : request.proxies)
        proxies.push_back({{"id", proxy.id}, {"machine", proxy.machine}});
    Json json = {
        {"token", request.token},        {"operation", request.operation}, {"options", encode_options(request.options)},
        {"proxies", std::move(proxies)}, {"profile", request.profile},     {"preload", request.preload}};
    if (request.launcher != Launcher::kMpich) json["launcher"] = to_string(request.launcher);
    if (request.program) {
        json["program"] = {{"argv", request.program->argv},
                           {"directory", request.program->directory},
                           {"environment", encode_environment(request.program->environment)}};
    }
    return json;
}

Result<LaunchRequest> decode_launch_request(const Json& json) {
    JsonReader in(json);
    LaunchRequest request;
    request.token = static_cast<std::uint64_t>(in.integer("token", 1, INT64_MAX));
    request.operation = read_operation(in, "operation");
    const Json& options = in.array("options", 64);
    for (std::size_t i = 0; i < options.size() && in.ok(); ++i) {
        JsonReader o(options[i], in.pointer_of("options/" + std::to_string(i)));
        Result<std::pair<std::string, std::string>> done =
            o.finish(std::pair{o.text("name", 64), o.text("value", limits::kMaxOptionBytes)});
        if (!done) return done.error();
        request.options.push_back(*std::move(done));
    }
    const Json& proxies = in.array("proxies", limits::kMaxRanks);
    for (std::size_t i = 0; i < proxies.size() && in.ok(); ++i) {
        JsonReader p(proxies[i], in.pointer_of("proxies/" + std::to_string(i)));
        LaunchRequest::Proxy proxy{static_cast<int>(p.integer("id", 0, limits::kMaxRanks)), read_name(p, "machine")};
        Result<LaunchRequest::Proxy> done = p.finish(std::move(proxy));
        if (!done) return done.error();
        request.proxies.push_back(*std::move(done));
    }
    if (in.ok() && request.proxies.empty()) in.fail("proxies", "must name at least one proxy");
    request.profile = in.boolean("profile");
    request.preload = in.boolean("preload");
    if (in.ok() && request.profile && !request.preload) in.fail("preload", "must be true where the run is profiled");
    if (in.has("launcher")) request.launcher = read_word(in, "launcher", kLaunchers);
    if (in.has("program")) {
        JsonReader p(in.object("program"), in.pointer_of("program"));
        LaunchRequest::Program program;
        program.argv = p.texts("argv", limits::kMaxArguments, limits::kMaxArgumentBytes);
        if (p.ok() && (program.argv.empty() || program.argv[0].empty())) p.fail("argv", "must name a program");
        program.directory = p.text("directory", limits::kMaxPathBytes);
        if (p.ok() && !program.directory.starts_with('/')) p.fail("directory", "must be an absolute path");
        program.environment = read_environment(p, "environment");
        Result<LaunchRequest::Program> done = p.finish(std::move(program));
        if (!done) return done.error();
        request.program = *std::move(done);
    }
    if (in.ok() && is_srun(request.launcher) && !request.program) in.fail("program", "must be there for srun");
    if (in.ok() && !is_srun(request.launcher) && request.program)
        in.fail("launcher", "must be srun-pmi2 or srun-pmix where a program is named");
    return in.finish(std::move(request));
}

}  // namespace zbs::codec
