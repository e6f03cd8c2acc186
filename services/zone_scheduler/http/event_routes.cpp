// Server-sent events: what happens to applications, and to operators also parts.

#include "algorithms/base/text.hpp"
#include "services/common/codec/message_codec.hpp"
#include "services/common/http/parameters.hpp"
#include "services/common/http/rate_limit.hpp"
#include "services/zone_scheduler/http/event_feed.hpp"
#include "services/zone_scheduler/http/zone_routes.hpp"

namespace zbs {
namespace {

using http::Body;
using http::Reply;
using http::Request;

/// Who is cut comes again after so many ms.
constexpr const char* kFirstText = "retry: 1000\n\n";
constexpr Duration kComeAgain = std::chrono::seconds{10};

/// The last event that the caller has seen: as its browser says when it comes again, else as it asks. None: it says
/// nothing of that. Errors: no number.
Result<std::optional<std::uint64_t>> seen_by(const http::Call& call) {
    if (auto good = http::check_parameters(call, {"after"}); !good) return good.error();
    if (!call.last_event_id.empty()) {
        const auto id = parse_number<std::uint64_t>(call.last_event_id);
        if (!id) return invalid("must be the id of an event", "Last-Event-ID");
        return id;
    }
    if (!call.query.contains("after")) return std::optional<std::uint64_t>{};
    const Result<std::uint64_t> after = http::number_parameter(call, "after", 0);
    if (!after) return after.error();
    return std::optional(*after);
}

Reply stream_reply(const Request& request, ZoneServices& services, const EventQuery& query) {
    Result<std::shared_ptr<http::Stream>> stream = services.feed.open(request.call.peer, query);
    if (!stream && stream.error().code == ErrorCode::kTooManyRequests)
        return http::too_many_requests(request.call.peer, kComeAgain, "streams");
    if (!stream) return http::problem(stream.error());
    return {.status = 200, .content_type = "text/event-stream", .body = kFirstText, .stream = *std::move(stream)};
}

/// From now on, unless the caller says what it has seen.
Reply watch_all(const Request& request, ZoneServices& services) {
    const Caller& caller = request.call.caller();
    const Result<std::optional<std::uint64_t>> seen = seen_by(request.call);
    if (!seen) return http::problem(seen.error());
    EventQuery query{.after = seen->value_or(services.events.last())};
    if (!caller.is_operator_of(services.config.organisation)) query.owner = caller;
    return stream_reply(request, services, query);
}

/// All past and future events of one application. 204 answers a client that comes again after the end: there are no
/// more.
Reply watch_one(const Request& request, ZoneServices& services) {
    const Result<ApplicationId> id = codec::decode_id<ApplicationId>(request.call.parameters.at("id"), "id");
    if (!id) return http::problem(id.error());
    const auto application = services.applications.find(request.call.caller(), *id);
    if (!application) return http::problem(application.error());
    const Result<std::optional<std::uint64_t>> seen = seen_by(request.call);
    if (!seen) return http::problem(seen.error());
    const EventQuery query{.after = seen->value_or(0), .application = *id, .limit = 1};
    if (is_final((*application)->status.state)) {
        const Result<std::vector<StateEvent>> left = services.events.find(query);
        if (!left) return http::problem(left.error());
        if (left->empty()) return {.status = 204};
    }
    return stream_reply(request, services, query);
}

}  // namespace

void add_event_routes(http::Router& router, ZoneServices& services) {
    router.add_sync("GET", "/v1/events", Action::kWatchEvents, Body::kNone,
                    [&services](const Request& request) { return watch_all(request, services); });
    router.add_sync("GET", "/v1/applications/{id}/events", Action::kWatchApplication, Body::kNone,
                    [&services](const Request& request) { return watch_one(request, services); });
}

}  // namespace zbs
