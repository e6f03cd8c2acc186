#include "services/zone_scheduler/http/zone_routes.hpp"

#include <algorithm>
#include <optional>

#include "algorithms/base/instant_text.hpp"
#include "algorithms/base/text.hpp"
#include "services/common/codec/message_codec.hpp"
#include "services/common/codec/model_codec.hpp"
#include "services/common/codec/node_codec.hpp"
#include "services/common/codec/service_codec.hpp"
#include "services/common/codec/site_codec.hpp"
#include "services/common/http/parameters.hpp"
#include "services/common/messages/limits.hpp"
#include "services/zone_scheduler/http/zone_codec.hpp"

namespace zbs {
namespace {

using http::Body;
using http::Reply;
using http::Request;
using http::Respond;

constexpr std::size_t kMaxReasonBytes = 1024;
constexpr std::size_t kMaxEnded = 100;  ///< parts in one answer

template <class Id>
Result<Id> id_of(const Request& request) {
    return codec::decode_id<Id>(request.call.parameters.at("id"), "id");
}

Reply part_reply(const Result<PartStatus>& status) {
    return http::reply(status, [](const PartStatus& s) { return codec::encode(s); });
}

void submit(const Request& request, ZoneServices& services, Respond respond) {
    if (auto good = http::check_parameters(request.call, {"dry_run"}); !good)
        return respond(http::problem(good.error()));
    const Result<ApplicationRequest> wanted =
        codec::decode_new_application(request.json, {services.ids.fresh(request.call.caller())});
    if (!wanted) return respond(http::problem(wanted.error()));
    const std::string dry_run = http::text_parameter(request.call, "dry_run", "false");
    if (dry_run == "true") {
        return services.applications.dry_run(
            request.call.caller(), *wanted, [respond](const Result<ApplicationPlan>& plan) {
                respond(http::reply(plan, [](const ApplicationPlan& p) { return codec::encode(p); }));
            });
    }
    if (dry_run != "false") return respond(http::problem(invalid("must be true or false", "dry_run")));
    services.traces.record(wanted->id, request.call.trace);
    const Result<Application> application = services.applications.submit(request.call.caller(), *wanted);
    if (!application) return respond(http::problem(application.error()));
    respond(http::accepted("/v1/applications/" + to_string(wanted->id), codec::encode_view(*application)));
}

Reply read_log(const Request& request, ZoneServices& services) {
    if (auto good = http::check_parameters(request.call, {"stream", "offset"}); !good)
        return http::problem(good.error());
    const Result<ApplicationId> id = id_of<ApplicationId>(request);
    if (!id) return http::problem(id.error());
    const std::string& rank_text = request.call.parameters.at("rank");
    int rank = -1;
    if (rank_text != "launcher") {
        rank = parse_number<int>(rank_text).value_or(-1);
        if (rank < 0) return http::problem(invalid("must be a rank or 'launcher'", "rank"));
    }
    const std::string stream = http::text_parameter(request.call, "stream", "stdout");
    if (stream != "stdout" && stream != "stderr") return http::problem(invalid("must be stdout or stderr", "stream"));
    const Result<std::uint64_t> offset = http::number_parameter(request.call, "offset", 0);
    if (!offset) return http::problem(offset.error());
    Result<ApplicationOutput::LogChunk> chunk =
        services.output.log(request.call.caller(), *id, rank, stream == "stderr", *offset, limits::kMaxLogChunkBytes);
    if (!chunk) return http::problem(chunk.error());
    const std::uint64_t next = *offset + chunk->bytes.size();
    return {200,
            "application/octet-stream",
            std::move(chunk->bytes),
            {{"Zbs-Next-Offset", std::to_string(next)}, {"Zbs-Complete", chunk->complete ? "true" : "false"}}};
}

Reply list_applications(const Request& request, ZoneServices& services) {
    if (auto good = http::check_parameters(request.call, {"limit", "after", "since", "state", "owner"}); !good)
        return http::problem(good.error());
    const Result<std::uint64_t> limit = http::number_parameter(request.call, "limit", 100);
    if (!limit) return http::problem(limit.error());
    ApplicationService::Page page{
        .limit = static_cast<std::size_t>(std::min<std::uint64_t>(*limit, limits::kMaxApplicationRows))};
    if (const std::string after = http::text_parameter(request.call, "after", ""); !after.empty()) {
        const Result<ApplicationPlace> place = codec::decode_place(after, "after");
        if (!place) return http::problem(place.error());
        page.after = *place;
    }
    if (const std::string since = http::text_parameter(request.call, "since", ""); !since.empty()) {
        page.since = parse_instant(since);
        if (!page.since) return http::problem(invalid("must be an instant of RFC 3339: 2026-11-24T13:00:00Z", "since"));
    }
    if (const std::string states = http::text_parameter(request.call, "state", ""); !states.empty()) {
        Result<std::vector<ApplicationState>> wanted = codec::decode_states(states, "state");
        if (!wanted) return http::problem(wanted.error());
        page.states = *std::move(wanted);
    }
    if (const std::string owner = http::text_parameter(request.call, "owner", ""); !owner.empty()) {
        page.owner = parse_identity(owner);
        if (!page.owner) return http::problem(invalid("must be spiffe://ORGANISATION/user/NAME", "owner"));
    }
    const Result<std::vector<ApplicationSummary>> rows = services.applications.list(request.call.caller(), page);
    if (!rows) return http::problem(rows.error());
    const bool is_full = !rows->empty() && rows->size() == page.limit;
    return http::ok(codec::encode(
        codec::ApplicationPage{*rows, is_full ? codec::encode_place(place_of(rows->back())) : std::string{}}));
}

Reply count_applications(const Request& request, ZoneServices& services) {
    const Result<ApplicationService::Counts> counts = services.applications.counts(request.call.caller());
    if (!counts) return http::problem(counts.error());
    return http::ok(codec::encode_counts(counts->by_state, counts->since));
}

void add_application_routes(http::Router& router, ZoneServices& services) {
    router.add("POST", "/v1/applications", Action::kScheduleApplication, Body::kLargeJson,
               [&services](const Request& request, Respond respond) { submit(request, services, std::move(respond)); });
    router.add_sync("GET", "/v1/applications", Action::kListApplications, Body::kNone,
                    [&services](const Request& request) {
                        if (auto ok = check_insider(request, services); !ok) return http::problem(ok.error());
                        return list_applications(request, services);
                    });
    router.add_sync("GET", "/v1/applications/counts", Action::kCountApplications, Body::kNone,
                    [&services](const Request& request) {
                        if (auto ok = check_insider(request, services); !ok) return http::problem(ok.error());
                        if (auto good = http::check_parameters(request.call, {}); !good)
                            return http::problem(good.error());
                        return count_applications(request, services);
                    });
    const auto with_application = [&services](auto answer) {
        return [&services, answer](const Request& request) {
            const Result<ApplicationId> id = id_of<ApplicationId>(request);
            if (!id) return http::problem(id.error());
            const Result<std::shared_ptr<const Application>> application =
                services.applications.find(request.call.caller(), *id);
            if (!application) return http::problem(application.error());
            return answer(request, **application);
        };
    };
    router.add_sync(
        "GET", "/v1/applications/{id}", Action::kGetApplication, Body::kNone,
        with_application([](const Request&, const Application& a) { return http::ok(codec::encode_view(a)); }));
    router.add_sync("GET", "/v1/applications/{id}/assignment", Action::kGetAssignment, Body::kNone,
                    with_application([&services](const Request& request, const Application& a) {
                        if (auto good = http::check_parameters(request.call, {"format"}); !good)
                            return http::problem(good.error());
                        return assignment_reply(a, services, http::text_parameter(request.call, "format", "json"));
                    }));
    router.add_sync(
        "GET", "/v1/applications/{id}/explain", Action::kExplainApplication, Body::kNone,
        with_application([](const Request&, const Application& a) { return http::ok(codec::encode_explanation(a)); }));
    router.add_sync(
        "GET", "/v1/applications/{id}/logs", Action::kListLogs, Body::kNone, [&services](const Request& request) {
            const Result<ApplicationId> id = id_of<ApplicationId>(request);
            if (!id) return http::problem(id.error());
            return http::reply(services.output.logs(request.call.caller(), *id),
                               [](const ApplicationOutput::LogIndex& index) { return codec::encode(index); });
        });
    router.add_sync("GET", "/v1/applications/{id}/logs/{rank}", Action::kReadLog, Body::kNone,
                    [&services](const Request& request) { return read_log(request, services); });
    router.add_sync("DELETE", "/v1/applications/{id}", Action::kCancelApplication, Body::kNone,
                    [&services](const Request& request) {
                        const Result<ApplicationId> id = id_of<ApplicationId>(request);
                        if (!id) return http::problem(id.error());
                        return http::reply(services.applications.cancel(request.call.caller(), *id),
                                           [](const Application& a) { return codec::encode_view(a); });
                    });
}

void hold(const Request& request, ZoneServices& services, Respond respond) {
    const Result<PartRequest> part = codec::decode_part_request(request.json);
    if (!part) return respond(http::problem(part.error()));
    if (const Result<PartStatus> held = services.parts.hold(request.call.caller(), *part); !held)
        return respond(http::problem(held.error()));
    services.parts.of(part->id).when_settled(
        request.call.caller(), part->id, [id = part->id, respond = std::move(respond)](const Result<PartStatus>& held) {
            if (!held) return respond(http::problem(held.error()));
            respond(http::created("/v1/parts/" + to_string(id), codec::encode(*held)));
        });
}

void add_part_routes(http::Router& router, ZoneServices& services) {
    router.add_sync("POST", "/v1/capacity", Action::kAskCapacity, Body::kLargeJson,
                    [&services](const Request& request) {
                        const Result<CapacityRequest> question = codec::decode_capacity_request(request.json);
                        if (!question) return http::problem(question.error());
                        return http::reply(services.parts.capacity(request.call.caller(), *question),
                                           [](const Capacity& c) { return codec::encode(c); });
                    });
    router.add("POST", "/v1/parts", Action::kScheduleCluster, Body::kLargeJson,
               [&services](const Request& request, Respond respond) { hold(request, services, std::move(respond)); });
    const auto with_id = [](auto answer) {
        return [answer](const Request& request) {
            const Result<PartId> id = id_of<PartId>(request);
            return id ? answer(request, *id) : http::problem(id.error());
        };
    };
    router.add_sync("GET", "/v1/parts/{id}", Action::kGetPart, Body::kNone,
                    with_id([&services](const Request& request, const PartId& id) {
                        return part_reply(services.parts.of(id).status(request.call.caller(), id));
                    }));
    router.add_sync("POST", "/v1/parts/{id}/commit", Action::kCommitPart, Body::kJson,
                    with_id([&services](const Request& request, const PartId& id) {
                        const Result<std::uint64_t> token = codec::decode_commit(request.json);
                        if (!token) return http::problem(token.error());
                        return part_reply(services.parts.of(id).commit(request.call.caller(), id, *token));
                    }));
    router.add_sync("POST", "/v1/parts/{id}/launch", Action::kLaunchPart, Body::kLargeJson,
                    with_id([&services](const Request& request, const PartId& id) {
                        const Result<LaunchRequest> launch = codec::decode_launch_request(request.json);
                        if (!launch) return http::problem(launch.error());
                        return part_reply(services.parts.of(id).launch(request.call.caller(), id, *launch));
                    }));
    router.add_sync("GET", "/v1/parts/{id}/profile", Action::kGetPartProfile, Body::kNone,
                    with_id([&services](const Request& request, const PartId& id) {
                        return http::reply(services.parts.of(id).profile(request.call.caller(), id),
                                           [](const ApplicationModel& m) { return codec::encode(m); });
                    }));
    router.add_sync(
        "DELETE", "/v1/parts/{id}", Action::kReleasePart, Body::kNone,
        with_id([&services](const Request& request, const PartId& id) {
            if (auto good = http::check_parameters(request.call, {"reason"}); !good) return http::problem(good.error());
            const std::string reason = http::text_parameter(request.call, "reason", "");
            if (reason.size() > kMaxReasonBytes)
                return http::problem(invalid("is longer than " + std::to_string(kMaxReasonBytes) + " bytes", "reason"));
            return part_reply(services.parts.of(id).release(request.call.caller(), id, reason));
        }));
}

codec::QueueRow queue_row(const PartRecord& part, const PartService& parts) {
    return {part, parts.table().slice_of(part), parts.outlook_inside(part)};
}

Reply list_queue(const Request& request, const ZoneServices& services) {
    if (auto ok = check_insider(request, services); !ok) return http::problem(ok.error());
    if (auto good = http::check_parameters(request.call, {"ended_after"}); !good) return http::problem(good.error());
    const Result<std::uint64_t> after = http::number_parameter(request.call, "ended_after", 0);
    if (!after) return http::problem(after.error());
    if (*after > INT64_MAX) return http::problem(invalid("is later than any time", "ended_after"));
    std::vector<codec::QueueRow> rows, past;
    for (const PartTable* table : services.parts.tables())
        for (const PartRecord* part : table->records())
            rows.push_back(queue_row(*part, services.parts.of(part->request.id)));
    if (!request.call.query.contains("ended_after")) return http::ok(codec::encode_queue(rows, std::nullopt));
    const Result<std::vector<PartRecord>> ended =
        services.parts.front().ended_since(time_from_microseconds(static_cast<std::int64_t>(*after)), kMaxEnded);
    if (!ended) return http::problem(ended.error());
    for (const PartRecord& part : *ended) past.push_back({part, std::nullopt, std::nullopt});
    return http::ok(codec::encode_queue(rows, std::move(past)));
}

Reply register_node(const Request& request, ZoneServices& services) {
    Result<NodeRegistration> registration = codec::decode_node_registration(request.json);
    if (!registration) return http::problem(registration.error());
    return http::reply(services.nodes.put(MachineName(request.call.parameters.at("name")), *std::move(registration)),
                       [](const NodeLease& lease) { return codec::encode(lease); });
}

Reply not_serving() {
    return http::problem({ErrorCode::kUnavailable, "this zone does not serve: it starts or ends", {}});
}

void add_zone_routes(http::Router& router, ZoneServices& services) {
    router.add_sync("PUT", "/v1/nodes/{name}", Action::kRegisterNode, Body::kJson,
                    [&services](const Request& request) { return register_node(request, services); });
    router.add_sync("GET", "/v1/nodes", Action::kListNodes, Body::kNone, [&services](const Request& request) {
        if (auto ok = check_insider(request, services); !ok) return http::problem(ok.error());
        return http::ok(
            codec::encode(codec::NodeList{.zone = services.config.name(),
                                          .organisation = services.config.organisation,
                                          .nodes = services.parts.nodes(),
                                          .agents = services.nodes.nodes(),
                                          .has_addresses = request.call.caller().kind == CallerKind::kOperator,
                                          .categories = categories_of(services.config),
                                          .sharing = services.parts.sharing_mode(),
                                          .slices = services.parts.slots()}));
    });
    router.add_sync("GET", "/v1/queue", Action::kListQueue, Body::kNone,
                    [&services](const Request& request) { return list_queue(request, services); });
    add_link_routes(router, services);
    router.add_sync("GET", "/v1/profiles", Action::kListProfiles, Body::kNone, [&services](const Request& request) {
        if (auto ok = check_insider(request, services); !ok) return http::problem(ok.error());
        return http::reply(services.applications.profiles().list(request.call.caller()),
                           [](const std::vector<ProfileRow>& rows) { return codec::encode(rows); });
    });
    router.add_sync(
        "POST", "/v1/profiles", Action::kImportProfile, Body::kLargeJson, [&services](const Request& request) {
            const Result<ProfileImport> wanted =
                codec::decode_profile_import(request.json, {services.ids.fresh(request.call.caller())});
            if (!wanted) return http::problem(wanted.error());
            const Result<ProfileSummary> made = services.applications.profiles().import(request.call.caller(), *wanted);
            if (!made) return http::problem(made.error());
            return http::created("/v1/profiles/" + to_string(made->id), codec::encode(*made));
        });
    router.add_sync("GET", "/v1/profiles/{id}", Action::kGetProfile, Body::kNone, [&services](const Request& request) {
        if (auto ok = check_insider(request, services); !ok) return http::problem(ok.error());
        const Result<ProfileId> id = id_of<ProfileId>(request);
        if (!id) return http::problem(id.error());
        const auto profile = services.store.load_profile(request.call.caller(), *id);
        if (!profile) return http::problem(profile.error());
        if (!*profile)
            return http::problem({ErrorCode::kNotFound, "no profile " + to_string(*id) + " of yours is here", {}});
        return http::ok(codec::encode((*profile)->model));
    });
    const auto drain_view = [&services] { return http::ok(codec::encode_drain(services.registry.draining())); };
    router.add_sync("GET", "/v1/drain", Action::kGetDrain, Body::kNone,
                    [drain_view](const Request&) { return drain_view(); });
    router.add_sync("PUT", "/v1/drain", Action::kSetDrain, Body::kJson,
                    [&services, drain_view](const Request& request) {
                        const Result<bool> on = codec::decode_drain(request.json);
                        if (!on) return http::problem(on.error());
                        services.registry.drain(*on);
                        return drain_view();
                    });
    router.add_sync("GET", "/v1/audit", Action::kReadAudit, Body::kNone,
                    [&services](const Request& request) { return http::audit_reply(request.call, services.audit); });
    router.add_sync("GET", "/livez", Action::kGetLive, Body::kNone,
                    [](const Request&) { return http::ok(codec::encode(codec::Health{})); });
    router.add_sync("GET", "/readyz", Action::kGetReady, Body::kNone, [&services](const Request& request) {
        if (services.registry.draining())
            return http::problem({ErrorCode::kUnavailable, "this zone drains: it takes no new work", {}});
        if (!services.serves) return not_serving();
        return http::ok(
            codec::encode_ready(check_insider(request, services) ? registry_standing(services) : std::nullopt));
    });
    router.add_sync("GET", "/healthz", Action::kGetHealth, Body::kNone, [&services](const Request&) {
        return services.serves ? http::ok(codec::encode(codec::Health{})) : not_serving();  // draining is no fault
    });
    router.add_sync("GET", "/metrics", Action::kGetMetrics, Body::kNone, [&services](const Request& request) {
        const metrics::TextFormat format = metrics::choose_format(request.call.accept);
        return Reply{200, metrics::content_type(format), services.metrics_text(format), {}};
    });
    router.add_sync("GET", "/openapi.json", Action::kGetContract, Body::kNone, [&services](const Request&) {
        return Reply{200, "application/json", services.contract, {}};
    });
}

}  // namespace

Result<void> check_insider(const http::Request& request, const ZoneServices& services) {
    const Caller& caller = request.call.caller();
    if (caller.kind == CallerKind::kAnonymous)
        return Error{ErrorCode::kUnauthenticated, "say who you are: no identity came with the call", {}};
    if (!caller.is_user_of(services.config.organisation) && !caller.is_operator_of(services.config.organisation)) {
        return Error{
            ErrorCode::kDenied, "only users of organisation '" + services.config.organisation + "' may see this", {}};
    }
    return {};
}

http::Router make_zone_routes(ZoneServices& services, http::RouterHooks hooks) {
    http::Router router(std::move(hooks));
    add_application_routes(router, services);
    add_part_routes(router, services);
    add_zone_routes(router, services);
    add_staging_routes(router, services);
    add_event_routes(router, services);
    add_identity_routes(router, services);
    add_delegation_routes(router, services);
    add_peering_routes(router, services);
    add_dashboard_routes(router, services);
    return router;
}

void add_link_routes(http::Router& router, ZoneServices& services) {
    router.add_sync(
        "GET", "/v1/links", Action::kListLinks, http::Body::kNone, [&services](const http::Request& request) {
            if (auto ok = check_insider(request, services); !ok) return http::problem(ok.error());
            return http::ok(codec::encode_links(services.config.name(), services.links.links(), services.node_links));
        });
}

}  // namespace zbs
