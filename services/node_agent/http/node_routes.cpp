#include "services/node_agent/http/node_routes.hpp"

#include "services/common/codec/node_codec.hpp"
#include "services/common/codec/service_codec.hpp"
#include "services/common/codec/staging_codec.hpp"
#include "services/common/http/parameters.hpp"
#include "services/common/messages/limits.hpp"

namespace zbs {
namespace {

using http::Body;
using http::Reply;
using http::Request;
using http::Respond;

constexpr std::uint64_t kMaxRemoved = 100'000;  ///< files in one call: the strand waits for it

/// The step in the path, or why it is none.
Result<StepId> step_of(const Request& request) {
    const std::string& text = request.call.parameters.at("operation");
    if (!codec::is_step_id(text)) return invalid("must be 1 to 64 of A-Z a-z 0-9 -", "operation");
    return StepId(text);
}

/// A handler that is given the step.
http::SyncHandler with_step(NodeService& node, Reply (*handle)(const Request&, NodeService&, const StepId&)) {
    return [&node, handle](const Request& request) {
        const Result<StepId> step_id = step_of(request);
        return step_id ? handle(request, node, *step_id) : http::problem(step_id.error());
    };
}

Reply start_step(const Request& request, NodeService& node, const StepId& step_id) {
    Result<StepSpec> spec = codec::decode_step_spec(request.json);
    if (!spec) return http::problem(spec.error());
    spec->step_id = step_id;
    return http::reply(node.start(*std::move(spec)), [](const StepReport& report) { return codec::encode(report); });
}

Reply stop_step(const Request& request, NodeService& node, const StepId& step_id) {
    const Result<Duration> grace = codec::decode_step_stop(request.json);
    if (!grace) return http::problem(grace.error());
    return http::ok(codec::encode(node.stop(step_id, *grace)));
}

Reply remove_step(const Request& request, NodeService& node, const StepId& step_id) {
    if (auto good = http::check_parameters(request.call, {"at_most"}); !good) return http::problem(good.error());
    const auto most = http::number_parameter(request.call, "at_most", 1'000);
    if (!most || *most < 1 || *most > kMaxRemoved)
        return http::problem(invalid("must be from 1 to " + std::to_string(kMaxRemoved), "at_most"));
    return http::reply(node.remove(step_id, *most), [](const StepRemoval& r) { return codec::encode(r); });
}

Reply list_files(const Request& request, NodeService& node, const StepId& step_id) {
    if (auto good = http::check_parameters(request.call, {"prefix"}); !good) return http::problem(good.error());
    return http::ok(codec::encode(node.files(step_id, http::text_parameter(request.call, "prefix", ""))));
}

Reply read_file(const Request& request, NodeService& node, const StepId& step_id) {
    if (auto good = http::check_parameters(request.call, {"offset", "limit"}); !good)
        return http::problem(good.error());
    const auto offset = http::number_parameter(request.call, "offset", 0);
    if (!offset) return http::problem(offset.error());
    const auto limit = http::number_parameter(request.call, "limit", limits::kMaxLogChunkBytes);
    if (!limit || *limit < 1 || *limit > limits::kMaxLogChunkBytes)
        return http::problem(invalid("must be from 1 to " + std::to_string(limits::kMaxLogChunkBytes), "limit"));
    Result<std::string> bytes = node.read(step_id, request.call.parameters.at("name"), *offset, *limit);
    if (!bytes) return http::problem(bytes.error());
    const std::uint64_t next = *offset + bytes->size();
    return {200, "application/octet-stream", *std::move(bytes), {{"Zbs-Next-Offset", std::to_string(next)}}};
}

Reply find_input(const Request& request, InputStore& inputs) {
    const Result<std::string> digest = http::digest_parameter(request.call);
    if (!digest) return http::problem(digest.error());
    return http::reply(inputs.find(*digest), [](const FilePresence& file) { return codec::encode(file); });
}

Reply put_input(const Request& request, InputStore& inputs) {
    const Result<std::string> digest = http::digest_parameter(request.call);
    if (!digest) return http::problem(digest.error());
    const Result<FileChunk> chunk = codec::decode_file_chunk(request.json);
    if (!chunk) return http::problem(chunk.error());
    return http::reply(inputs.put(*digest, *chunk), [](const FilePresence& file) { return codec::encode(file); });
}

void probe_node(const Request& request, LinkProbe& probe, Respond respond) {
    const Result<ProbeRequest> wanted = codec::decode_probe_request(request.json);
    if (!wanted) return respond(http::problem(wanted.error()));
    probe.measure(*wanted, [respond = std::move(respond)](const Result<ProbeReport>& report) {
        respond(http::reply(report, [](const ProbeReport& r) { return codec::encode(r); }));
    });
}

/// A refusal says nothing of `Retry-After`: who waited for that would measure the wait.
Reply give_probe(const Request& request, NodeServices& services) {
    if (auto good = http::check_parameters(request.call, {"bytes"}); !good) return http::problem(good.error());
    const auto bytes = http::number_parameter(request.call, "bytes", 1);
    if (!bytes || *bytes < 1 || *bytes > limits::kMaxProbeBytes)
        return http::problem(invalid("must be from 1 to " + std::to_string(limits::kMaxProbeBytes), "bytes"));
    if (auto taken = services.budget.take(*bytes, services.clock.steady_now()); !taken)
        return http::problem(taken.error());
    return {200, "application/octet-stream", std::string(*bytes, '\0'), {}};
}

/// "a,b,c"; none for an empty text.
Result<std::vector<StepId>> step_ids_in(std::string_view text) {
    std::vector<StepId> step_ids;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(','), text.size());
        const std::string_view step_id = text.substr(0, end);
        if (!codec::is_step_id(step_id))
            return invalid("must be operations, each 1 to 64 of A-Z a-z 0-9 -, with commas between", "operations");
        step_ids.emplace_back(std::string(step_id));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return step_ids;
}

void list_steps(const Request& request, NodeService& node, Respond respond) {
    const http::Call& call = request.call;
    if (auto good = http::check_parameters(call, {"operations", "since", "wait_s"}); !good)
        return respond(http::problem(good.error()));
    Result<std::vector<StepId>> step_ids = step_ids_in(http::text_parameter(call, "operations", ""));
    if (!step_ids) return respond(http::problem(step_ids.error()));
    const auto since = http::number_parameter(call, "since", 0);
    if (!since) return respond(http::problem(since.error()));
    const auto wait = http::number_parameter(call, "wait_s", 0);
    if (!wait || *wait > static_cast<std::uint64_t>(limits::kMaxNodeWaitSeconds))
        return respond(
            http::problem(invalid("must be from 0 to " + std::to_string(limits::kMaxNodeWaitSeconds), "wait_s")));
    node.steps_after(*std::move(step_ids), *since, std::chrono::seconds{*wait},
                     [respond = std::move(respond)](const StepPage& page) { respond(http::ok(codec::encode(page))); });
}

void add_step_routes(http::Router& router, NodeService& node) {
    router.add("GET", "/v1/steps", Action::kListSteps, Body::kNone,
               [&node](const Request& request, Respond respond) { list_steps(request, node, std::move(respond)); });
    router.add_sync("PUT", "/v1/steps/{operation}", Action::kStartStep, Body::kLargeJson, with_step(node, start_step));
    router.add_sync("POST", "/v1/steps/{operation}/stop", Action::kStopStep, Body::kJson, with_step(node, stop_step));
    router.add_sync("DELETE", "/v1/steps/{operation}", Action::kRemoveStep, Body::kNone, with_step(node, remove_step));
    router.add_sync("GET", "/v1/steps/{operation}/files", Action::kListStepFiles, Body::kNone,
                    with_step(node, list_files));
    router.add_sync("GET", "/v1/steps/{operation}/files/{name...}", Action::kReadStepFile, Body::kNone,
                    with_step(node, read_file));
}

}  // namespace

http::Router make_node_routes(NodeServices& services, http::RouterHooks hooks) {
    http::Router router(std::move(hooks));
    NodeService& node = services.node;
    add_step_routes(router, node);
    router.add_sync("GET", "/v1/files/{digest}", Action::kFindInput, Body::kNone,
                    [&services](const Request& request) { return find_input(request, services.inputs); });
    router.add_sync("PUT", "/v1/files/{digest}", Action::kPutInput, Body::kFilePiece,
                    [&services](const Request& request) { return put_input(request, services.inputs); });
    router.add_sync("GET", "/v1/node", Action::kGetNode, Body::kNone,
                    [&node](const Request&) { return http::ok(codec::encode(node.status())); });
    router.add_sync("PUT", "/v1/slices", Action::kSetSlices, Body::kLargeJson, [&node](const Request& request) {
        Result<SliceColumn> column = codec::decode_slice_column(request.json);
        if (!column) return http::problem(column.error());
        const std::uint64_t number = column->number;
        if (auto set = node.set_slices(*std::move(column)); !set) return http::problem(set.error());
        return http::ok(codec::encode_number(number));
    });
    router.add_sync("PUT", "/v1/shares", Action::kSetShares, Body::kLargeJson, [&node](const Request& request) {
        Result<ShareTable> table = codec::decode_share_table(request.json);
        if (!table) return http::problem(table.error());
        const std::uint64_t number = table->number;
        if (auto set = node.set_shares(*std::move(table)); !set) return http::problem(set.error());
        return http::ok(codec::encode_number(number));
    });
    router.add("POST", "/v1/probe", Action::kProbeNode, Body::kJson,
               [&services](const Request& request, Respond respond) {
                   probe_node(request, services.probe, std::move(respond));
               });
    router.add_sync("GET", "/v1/probe", Action::kGetProbe, Body::kNone,
                    [&services](const Request& request) { return give_probe(request, services); });
    http::add_health_and_contract(router, services.contract);  // not whether the zone answers: the agent works without
    return router;
}

Result<void> check_turn(NodeServices& services, const http::Call& call) {
    if (call.caller() != services.zone || call.method == "GET" || !call.query.contains("turn")) return {};
    const auto turn = http::number_parameter(call, "turn", 0);
    if (!turn) return turn.error();
    if (*turn > static_cast<std::uint64_t>(INT64_MAX)) return invalid("is no number of a lease", "turn");
    return services.node.take_turn(*turn);
}

Decision check_node_call(const NodeServices& services, Action action, const http::Call& call) {
    return authorise(call.peer, action, {},
                     {.service = ServiceKind::kNode,
                      .organisation = services.self.organisation,
                      .name = services.self.name,
                      .accepts_subject = call.caller() == services.zone});
}

}  // namespace zbs
