#include <algorithm>
#include <charconv>

#include "services/common/codec/json/words.hpp"
#include "services/common/codec/message_codec.hpp"
#include "services/common/codec/model_codec.hpp"
#include "services/common/codec/staging_codec.hpp"
#include "services/common/messages/text/printable.hpp"

namespace zbs::codec {
namespace {

Json encode_parts(const std::vector<ApplicationPart>& parts) {
    Json json = Json::array();
    for (const ApplicationPart& part : parts) {
        Json one = {
            {"id", to_string(part.id)}, {"zone", part.zone}, {"ranks", part.ranks}, {"status", encode(part.status)}};
        if (part.replaces) one["replaces"] = to_string(*part.replaces);
        if (part.queued) one["queued"] = true;
        json.push_back(std::move(one));
    }
    return json;
}

Result<std::vector<ApplicationPart>> decode_parts(JsonReader& in, const char* key) {
    std::vector<ApplicationPart> parts;
    const Json& json = in.array(key, limits::kMaxZonesInRegistry);
    for (std::size_t i = 0; i < json.size() && in.ok(); ++i) {
        const std::string at = in.pointer_of(std::string(key) + "/" + std::to_string(i));
        JsonReader p(json[i], at);
        ApplicationPart part{read_id<PartId>(p, "id"), read_name(p, "zone"), read_ranks(p, "ranks"), {}, {}};
        if (p.has("replaces")) part.replaces = read_id<PartId>(p, "replaces");
        part.queued = p.boolean_or("queued", false);
        Result<PartStatus> status = decode_part_status(p.object("status"), at + "/status");
        if (!p.ok()) return p.error();
        if (!status) return status.error();
        part.status = *std::move(status);
        Result<ApplicationPart> done = p.finish(std::move(part));
        if (!done) return done.error();
        parts.push_back(*std::move(done));
    }
    return parts;
}

Json encode_events(const std::vector<ApplicationEvent>& events) {
    Json json = Json::array();
    for (const ApplicationEvent& event : events) {
        json.push_back({{"at_us", to_microseconds(event.at)},
                        {"last_us", to_microseconds(event.last)},
                        {"times", event.times},
                        {"round", event.round},
                        {"zone", event.zone},
                        {"what", event.what},
                        {"answer", bounded(event.answer, kMaxEventText)},
                        {"ok", event.ok}});
    }
    return json;
}

Result<std::vector<ApplicationEvent>> read_events(JsonReader& in) {
    std::vector<ApplicationEvent> events;
    const Json& list = in.array("events", kMaxEvents);
    for (std::size_t i = 0; i < list.size() && in.ok(); ++i) {
        JsonReader e(list[i], in.pointer_of("events/" + std::to_string(i)));
        ApplicationEvent event;
        event.at = time_from_microseconds(e.integer("at_us", 0, INT64_MAX));
        event.last = time_from_microseconds(e.integer("last_us", 0, INT64_MAX));
        event.times = static_cast<int>(e.integer("times", 1, INT32_MAX));
        event.round = static_cast<int>(e.integer("round", 1, INT32_MAX));
        event.zone = e.text("zone", 64);
        event.what = e.text("what", 32);
        event.answer = e.text("answer", kMaxEventText + 8);
        event.ok = e.boolean("ok");
        Result<ApplicationEvent> done = e.finish(std::move(event));
        if (!done) return done.error();
        events.push_back(*std::move(done));
    }
    if (!in.ok()) return in.error();
    return events;
}

Json encode_history(const std::vector<StateChange>& history) {
    Json json = Json::array();
    for (const StateChange& change : history)
        json.push_back({{"state", to_string(change.state)}, {"at_us", to_microseconds(change.at)}});
    return json;
}

std::optional<Time> read_instant(JsonReader& in, const char* name) {
    if (!in.has(name)) return std::nullopt;
    return time_from_microseconds(in.integer(name, 0, INT64_MAX));
}

/// For people, on one line.
std::string read_job_name(JsonReader& in) {
    if (!in.has("name")) return {};
    std::string name = in.text("name", limits::kMaxJobNameBytes);
    if (in.ok() && (name.empty() || !is_one_line(name)))
        in.fail("name", "must be one line of text, without control characters and marks of direction");
    return name;
}

}  // namespace

Json encode(const ApplicationRequest& request) {
    Json json = {{"id", to_string(request.id)},
                 {"ranks", request.ranks},
                 {"argv", request.argv},
                 {"directory", request.directory},
                 {"environment", encode_environment(request.environment)},
                 {"walltime_s", to_seconds(request.walltime)},
                 {"grace_s", to_seconds(request.grace)},
                 {"mapper", request.mapper},
                 {"seed", request.seed},
                 {"zones", request.zones},
                 {"profile", request.profile},
                 {"use_profile", request.use_profile}};
    if (request.launcher != Launcher::kMpich) json["launcher"] = to_string(request.launcher);
    if (request.model) json["model"] = encode(*request.model);
    if (!request.staging.empty()) json["staging"] = encode(request.staging);
    if (!request.name.empty()) json["name"] = request.name;
    write_standing(json, request.priority, request.share);
    return json;
}

Result<ApplicationRequest> decode_application_request(const Json& json) {
    JsonReader in(json);
    const auto id = read_id<ApplicationId>(in, "id");
    if (!in.ok()) return in.error();
    return decode_new_application(json, id);
}

Result<ApplicationRequest> decode_new_application(const Json& json, const ApplicationId& otherwise) {
    JsonReader in(json);
    ApplicationRequest request;
    request.id = read_id_or(in, "id", otherwise);
    request.name = read_job_name(in);
    request.ranks = static_cast<int>(in.integer("ranks", 1, limits::kMaxRanks));
    request.argv = in.texts("argv", limits::kMaxArguments, limits::kMaxArgumentBytes);
    if (in.ok() && (request.argv.empty() || request.argv[0].empty())) in.fail("argv", "must name a program");
    if (in.ok() && (request.argv[0].starts_with('-') || request.argv[0] == ":"))
        in.fail("argv/0", "must be a program; launchers take this word for one of their own");
    request.directory = in.text("directory", limits::kMaxPathBytes);
    if (in.ok() && !request.directory.starts_with('/')) in.fail("directory", "must be an absolute path");
    if (in.has("environment")) request.environment = read_environment(in, "environment");
    request.walltime = in.has("walltime_s") ? in.seconds("walltime_s", static_cast<double>(limits::kMaxWalltimeSeconds))
                                            : Duration{std::chrono::hours{1}};
    if (in.ok() && request.walltime < std::chrono::seconds{1}) in.fail("walltime_s", "must be at least 1 second");
    request.grace = in.has("grace_s") ? in.seconds("grace_s", limits::kMaxGraceSeconds) : kUsualGrace;
    if (in.has("model")) {
        Result<ApplicationModel> model = decode_model(in.object("model"), in.pointer_of("model"));
        if (!in.ok()) return in.error();
        if (!model) return model.error();
        request.model = *std::move(model);
        if (request.model->graph.task_count() != request.ranks) {
            in.fail("model/ranks", "is " + std::to_string(request.model->graph.task_count()) +
                                       ", but the application has " + std::to_string(request.ranks) + " ranks");
        }
    }
    request.mapper = in.text_or("mapper", "hier", 64);
    request.seed = static_cast<std::uint64_t>(in.integer_or("seed", 1, 0, INT64_MAX));
    if (in.has("zones")) request.zones = in.texts("zones", limits::kMaxZonesInRegistry, 1 << 20);
    request.profile = in.boolean_or("profile", true);
    request.use_profile = in.boolean_or("use_profile", true);
    if (in.has("launcher")) request.launcher = read_word(in, "launcher", kLaunchers);
    if (in.has("staging")) {
        Result<Staging> staging = decode_staging(in.object("staging"), in.pointer_of("staging"));
        if (!in.ok()) return in.error();
        if (!staging) return staging.error();
        request.staging = *std::move(staging);
    }
    request.priority = read_priority(in);
    request.share = read_share(in);
    return in.finish(std::move(request));
}

Json encode(const ApplicationPlan& plan) {
    Json zones = Json::array();
    for (const ZoneVerdict& v : plan.zones) {
        Json zone = {{"zone", v.zone},
                     {"processors", v.processors},
                     {"ranks", v.ranks},
                     {"reason", bounded(v.reason, JsonReader::kMaxText)}};
        if (v.start) {
            zone["start_from_s"] = to_seconds(v.start->from);
            zone["start_to_s"] = to_seconds(v.start->to);
        }
        zones.push_back(std::move(zone));
    }
    Json json = {{"profile", plan.profile},
                 {"clusters", plan.clusters},
                 {"zone_of_cluster", plan.zone_of_cluster},
                 {"zone_of_rank", plan.zone_of_rank},
                 {"zones", std::move(zones)},
                 {"round", plan.round},
                 {"start_in_s", to_seconds(plan.start_in)}};
    if (plan.queued) json["queued"] = true;
    if (plan.crossing_bytes) json["crossing_bytes"] = *plan.crossing_bytes;
    if (plan.crossing_bytes_block) json["crossing_bytes_block"] = *plan.crossing_bytes_block;
    if (plan.crossing_bytes_round_robin) json["crossing_bytes_round_robin"] = *plan.crossing_bytes_round_robin;
    if (!plan.learned.empty()) json["learned"] = bounded(plan.learned, JsonReader::kMaxText);
    if (!plan.digest.empty()) json["digest"] = plan.digest;
    if (plan.predicted) json["predicted_s"] = to_seconds(*plan.predicted);
    return json;
}

Result<ApplicationPlan> decode_application_plan(const Json& json, const std::string& pointer) {
    JsonReader in(json, pointer);
    ApplicationPlan plan;
    plan.profile = in.text("profile", 64);
    const Json& clusters = in.array("clusters", limits::kMaxRanks);
    for (std::size_t i = 0; i < clusters.size() && in.ok(); ++i) {
        std::vector<TaskIndex> cluster;
        if (!clusters[i].is_array()) in.fail("clusters/" + std::to_string(i), "must be an array of ranks");
        for (std::size_t k = 0; k < clusters[i].size() && in.ok(); ++k) {
            if (!clusters[i][k].is_number_unsigned() || clusters[i][k].get<std::uint64_t>() >= limits::kMaxRanks) {
                in.fail("clusters/" + std::to_string(i) + "/" + std::to_string(k), "must be a rank");
                break;
            }
            cluster.push_back(clusters[i][k].get<TaskIndex>());
        }
        plan.clusters.push_back(std::move(cluster));
    }
    plan.zone_of_cluster = in.texts("zone_of_cluster", limits::kMaxRanks, 1 << 27);
    plan.zone_of_rank = in.texts("zone_of_rank", limits::kMaxRanks, 1 << 27);
    const Json& zones = in.array("zones", limits::kMaxZonesInRegistry);
    for (std::size_t i = 0; i < zones.size() && in.ok(); ++i) {
        JsonReader z(zones[i], in.pointer_of("zones/" + std::to_string(i)));
        ZoneVerdict verdict{z.text("zone", 64),
                            static_cast<int>(z.integer("processors", 0, ResourceGraph::kMaxProcessors)),
                            static_cast<int>(z.integer("ranks", 0, limits::kMaxRanks)),
                            z.text("reason"),
                            {}};
        constexpr double kMaxStart = static_cast<double>(limits::kMaxWalltimeSeconds);
        if (z.has("start_from_s") || z.has("start_to_s"))
            verdict.start = {z.seconds("start_from_s", kMaxStart), z.seconds("start_to_s", kMaxStart)};
        Result<ZoneVerdict> done = z.finish(std::move(verdict));
        if (!done) return done.error();
        plan.zones.push_back(*std::move(done));
    }
    plan.round = static_cast<int>(in.integer("round", 1, 1'000));
    if (in.has("start_in_s"))
        plan.start_in = in.seconds("start_in_s", static_cast<double>(limits::kMaxWalltimeSeconds));
    plan.queued = in.boolean_or("queued", false);
    if (in.has("crossing_bytes")) plan.crossing_bytes = in.number("crossing_bytes", 0, 1e30);
    if (in.has("crossing_bytes_block")) plan.crossing_bytes_block = in.number("crossing_bytes_block", 0, 1e30);
    if (in.has("crossing_bytes_round_robin"))
        plan.crossing_bytes_round_robin = in.number("crossing_bytes_round_robin", 0, 1e30);
    plan.learned = in.text_or("learned", "");
    plan.digest = in.has("digest") ? read_digest(in, "digest") : std::string{};
    if (in.has("predicted_s")) plan.predicted = in.seconds("predicted_s", limits::kMaxRunSeconds);
    return in.finish(std::move(plan));
}

Json encode(const ApplicationStatus& status) {
    Json json = {{"state", to_string(status.state)},
                 {"reason", status.reason},
                 {"history", encode_history(status.history)},
                 {"parts", encode_parts(status.parts)},
                 {"releasing", encode_parts(status.releasing)},
                 {"operation", status.operation},
                 {"cancel_requested", status.cancel_requested},
                 {"stop_reason", status.stop_reason}};
    if (!status.cancelled_by.empty()) json["cancelled_by"] = status.cancelled_by;
    if (status.exit_code) json["exit_code"] = *status.exit_code;
    if (status.plan) json["plan"] = encode(*status.plan);
    if (status.profile) json["profile"] = to_string(*status.profile);
    if (status.start) json["start_us"] = to_microseconds(*status.start);
    if (status.queue_start) json["queue_start_us"] = to_microseconds(*status.queue_start);
    if (!status.events.empty()) json["events"] = encode_events(status.events);
    if (status.results) json["results"] = encode(*status.results);
    return json;
}

Result<ApplicationStatus> decode_application_status(const Json& json) {
    JsonReader in(json);
    ApplicationStatus status;
    status.state = read_word(in, "state", kApplicationStates);
    status.reason = in.text("reason", 1 << 20);
    const Json& history = in.array("history", 1'000);
    for (std::size_t i = 0; i < history.size() && in.ok(); ++i) {
        JsonReader h(history[i], in.pointer_of("history/" + std::to_string(i)));
        StateChange change{read_word(h, "state", kApplicationStates),
                           time_from_microseconds(h.integer("at_us", 0, INT64_MAX))};
        Result<StateChange> done = h.finish(change);
        if (!done) return done.error();
        status.history.push_back(*done);
    }
    Result<std::vector<ApplicationPart>> parts = decode_parts(in, "parts");
    if (!parts) return parts.error();
    status.parts = *std::move(parts);
    Result<std::vector<ApplicationPart>> releasing = decode_parts(in, "releasing");
    if (!releasing) return releasing.error();
    status.releasing = *std::move(releasing);
    status.operation = in.text("operation", 64);
    status.cancel_requested = in.boolean("cancel_requested");
    if (in.has("cancelled_by")) status.cancelled_by = in.text("cancelled_by", 256);
    status.stop_reason = in.text("stop_reason", 1 << 20);
    if (in.has("exit_code")) status.exit_code = static_cast<int>(in.integer("exit_code", 0, 255));
    if (in.has("plan")) {
        Result<ApplicationPlan> plan = decode_application_plan(in.object("plan"), in.pointer_of("plan"));
        if (!plan) return plan.error();
        status.plan = *std::move(plan);
    }
    if (in.has("profile")) status.profile = read_id<ProfileId>(in, "profile");
    status.start = read_instant(in, "start_us");
    status.queue_start = read_instant(in, "queue_start_us");
    if (in.has("events")) {
        Result<std::vector<ApplicationEvent>> events = read_events(in);
        if (!events) return events.error();
        status.events = *std::move(events);
    }
    if (in.has("results")) {
        Result<StagedResults> results = decode_staged_results(in.object("results"), in.pointer_of("results"));
        if (!in.ok()) return in.error();
        if (!results) return results.error();
        status.results = *std::move(results);
    }
    return in.finish(std::move(status));
}

Json encode(const ApplicationSummary& row) {
    Json json = {{"id", to_string(row.id)},       {"owner", to_uri(row.owner)},
                 {"state", to_string(row.state)}, {"ranks", row.ranks},
                 {"program", row.program},        {"zones", row.zones},
                 {"reason", row.reason},          {"submitted_us", to_microseconds(row.submitted)}};
    if (row.exit_code) json["exit_code"] = *row.exit_code;
    if (!row.name.empty()) json["name"] = row.name;
    if (row.started) json["started_us"] = to_microseconds(*row.started);
    if (row.ended) json["ended_us"] = to_microseconds(*row.ended);
    if (row.expected_start) json["expected_start_us"] = to_microseconds(*row.expected_start);
    if (!row.waits_for.empty()) json["waits_for"] = row.waits_for;
    if (row.results_left_out > 0) json["results_left_out"] = row.results_left_out;
    return json;
}

Result<std::vector<ApplicationEvent>> decode_events(const Json& json) {
    if (!json.is_object() || !json.contains("events")) return std::vector<ApplicationEvent>{};
    const Json only = {{"events", json.at("events")}};
    JsonReader in(only);
    Result<std::vector<ApplicationEvent>> events = read_events(in);
    return events;
}

Result<ApplicationSummary> decode_application_summary(const Json& json) {
    JsonReader in(json);
    ApplicationSummary row;
    row.id = read_id<ApplicationId>(in, "id");
    row.owner = read_identity(in, "owner");
    row.name = read_job_name(in);
    row.state = read_word(in, "state", kApplicationStates);
    row.ranks = static_cast<int>(in.integer("ranks", 1, limits::kMaxRanks));
    row.program = in.text("program", limits::kMaxArgumentBytes);
    row.zones = in.texts("zones", limits::kMaxZonesInRegistry, 1 << 20);
    row.reason = in.text("reason", 1 << 20);
    row.submitted = time_from_microseconds(in.integer("submitted_us", 0, INT64_MAX));
    if (in.has("exit_code")) row.exit_code = static_cast<int>(in.integer("exit_code", 0, 255));
    row.started = read_instant(in, "started_us");
    row.ended = read_instant(in, "ended_us");
    row.expected_start = read_instant(in, "expected_start_us");
    if (in.has("waits_for")) row.waits_for = in.text("waits_for", 32);
    row.results_left_out = static_cast<std::uint64_t>(in.integer_or("results_left_out", 0, 0, INT64_MAX));
    return in.finish(std::move(row));
}

Json encode(const ApplicationPage& page) {
    Json rows = Json::array();
    for (const ApplicationSummary& row : page.rows) rows.push_back(encode(row));
    Json json = {{"applications", std::move(rows)}};
    if (!page.next.empty()) json["next"] = page.next;
    return json;
}

Result<ApplicationPage> decode_application_page(const Json& json) {
    JsonReader in(json);
    ApplicationPage page;
    const Json& rows = in.array("applications", limits::kMaxApplicationRows);
    for (std::size_t i = 0; i < rows.size() && in.ok(); ++i) {
        Result<ApplicationSummary> row = decode_application_summary(rows[i]);
        if (!row) return invalid(row.error().message, "/applications/" + std::to_string(i) + row.error().pointer);
        page.rows.push_back(*std::move(row));
    }
    page.next = in.text_or("next", "", 46);
    return in.finish(std::move(page));
}

Result<std::vector<ApplicationState>> decode_states(std::string_view words, const std::string& pointer) {
    std::vector<ApplicationState> states;
    for (;;) {
        const std::size_t end = std::min(words.find(','), words.size());
        const std::optional<ApplicationState> state = find_word(words.substr(0, end), kApplicationStates);
        if (!state) {
            std::string all;
            for (const ApplicationState one : kApplicationStates) all += std::string(" ") + to_string(one);
            return invalid("must be states with commas between them, of" + all, pointer);
        }
        if (!std::ranges::count(states, *state)) states.push_back(*state);
        if (end == words.size()) return states;
        words.remove_prefix(end + 1);
    }
}

std::string encode_place(const ApplicationPlace& place) {
    return std::to_string(to_microseconds(place.submitted)) + "-" + to_string(place.id);
}

Result<ApplicationPlace> decode_place(std::string_view text, const std::string& pointer) {
    const std::size_t at = text.find('-');
    std::int64_t us = -1;
    if (at != std::string_view::npos && text.front() != '-') {
        const auto [stop, fault] = std::from_chars(text.data(), text.data() + at, us);
        const std::optional<Id128> id = parse_id128(text.substr(at + 1));
        if (fault == std::errc{} && stop == text.data() + at && id)
            return ApplicationPlace{time_from_microseconds(us), {*id}};
    }
    return invalid("must be what a page of this list gave as 'next'", pointer);
}

Json encode_counts(const std::map<ApplicationState, std::size_t>& by_state, Time since) {
    Json counts = Json::object();
    for (const auto& [state, count] : by_state) counts[to_string(state)] = count;
    return {{"counts", std::move(counts)}, {"ended_since_us", to_microseconds(since)}};
}

Json encode_view(const Application& application) {
    Json json = encode(summary_of(application));
    json["argv"] = application.request.argv;
    json["directory"] = application.request.directory;
    json["walltime_s"] = to_seconds(application.request.walltime);
    json["grace_s"] = to_seconds(application.request.grace);
    json["mapper"] = application.request.mapper;
    if (application.request.launcher != Launcher::kMpich) json["launcher"] = to_string(application.request.launcher);
    json["history"] = encode_history(application.status.history);
    json["cancel_requested"] = application.status.cancel_requested;
    Json parts = Json::array();
    for (const ApplicationPart& part : application.status.parts) {
        Json assignment = Json::array();
        for (const RankPlace& place : part.status.assignment) {
            assignment.push_back({{"rank", place.rank}, {"machine", place.machine}, {"processor", place.processor}});
        }
        Json row = {{"id", to_string(part.id)},     {"zone", part.zone},
                    {"ranks", part.ranks},          {"state", to_string(part.status.state)},
                    {"reason", part.status.reason}, {"assignment", std::move(assignment)}};
        if (part.status.queue) row["queue"] = encode(*part.status.queue);
        if (part.status.work) row["work"] = to_string(*part.status.work);
        if (part.status.grace) row["grace_s"] = to_seconds(*part.status.grace);
        parts.push_back(std::move(row));
    }
    json["parts"] = std::move(parts);
    if (application.status.plan) json["plan"] = encode(*application.status.plan);
    if (application.status.profile) json["profile"] = to_string(*application.status.profile);
    if (application.status.start) json["start_us"] = to_microseconds(*application.status.start);
    if (application.status.results && !application.status.results->notes.empty())
        json["result_notes"] = application.status.results->notes;
    return json;
}

Json encode_explanation(const Application& application) {
    Json json = {{"id", to_string(application.request.id)},
                 {"state", to_string(application.status.state)},
                 {"reason", application.status.reason},
                 {"events", encode_events(application.status.events)}};
    if (application.status.plan) json["plan"] = encode(*application.status.plan);
    if (application.status.start) json["start_us"] = to_microseconds(*application.status.start);
    return json;
}

}  // namespace zbs::codec
