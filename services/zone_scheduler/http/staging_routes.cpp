#include "services/common/codec/message_codec.hpp"
#include "services/common/codec/staging_codec.hpp"
#include "services/common/http/parameters.hpp"
#include "services/zone_scheduler/http/zone_routes.hpp"

namespace zbs {
namespace {

using http::Body;
using http::Reply;
using http::Request;

Reply file_reply(const Result<FilePresence>& file) {
    return http::reply(file, [](const FilePresence& f) { return codec::encode(f); });
}

Reply results_reply(const Result<StagedResults>& results) {
    return http::reply(results, [](const StagedResults& r) { return codec::encode(r); });
}

/// One answer of those with an id, a name and an offset.
template <class Id, class Answer>
Reply piece_reply(const Request& request, const Answer& answer) {
    if (auto good = http::check_parameters(request.call, {"offset"}); !good) return http::problem(good.error());
    const Result<Id> id = codec::decode_id<Id>(request.call.parameters.at("id"), "id");
    if (!id) return http::problem(id.error());
    const Result<std::uint64_t> offset = http::number_parameter(request.call, "offset", 0);
    if (!offset) return http::problem(offset.error());
    return http::reply(answer(*id, request.call.parameters.at("name"), *offset),
                       [](const FileChunk& chunk) { return codec::encode(chunk); });
}

Reply put_file(const Request& request, ZoneServices& services) {
    const Result<std::string> digest = http::digest_parameter(request.call);
    if (!digest) return http::problem(digest.error());
    const Result<FileChunk> chunk = codec::decode_file_chunk(request.json);
    if (!chunk) return http::problem(chunk.error());
    return file_reply(services.files.put(request.call.caller(), *digest, *chunk));
}

Reply put_part_file(const Request& request, ZoneServices& services) {
    const Result<PartId> id = codec::decode_id<PartId>(request.call.parameters.at("id"), "id");
    if (!id) return http::problem(id.error());
    const Result<std::string> digest = http::digest_parameter(request.call);
    if (!digest) return http::problem(digest.error());
    const Result<FileChunk> chunk = codec::decode_file_chunk(request.json);
    if (!chunk) return http::problem(chunk.error());
    return file_reply(services.parts.of(*id).put_file(request.call.caller(), *id, *digest, *chunk));
}

Reply stage(const Request& request, ZoneServices& services) {
    const Result<PartId> id = codec::decode_id<PartId>(request.call.parameters.at("id"), "id");
    if (!id) return http::problem(id.error());
    const Result<StagingRequest> wanted = codec::decode_staging_request(request.json);
    if (!wanted) return http::problem(wanted.error());
    return http::reply(services.parts.of(*id).stage(request.call.caller(), *id, *wanted),
                       [](const StagingStatus& status) { return codec::encode(status); });
}

}  // namespace

void add_staging_routes(http::Router& router, ZoneServices& services) {
    router.add_sync("GET", "/v1/files/{digest}", Action::kGetFile, Body::kNone, [&services](const Request& request) {
        const Result<std::string> digest = http::digest_parameter(request.call);
        if (!digest) return http::problem(digest.error());
        return file_reply(services.files.find(request.call.caller(), *digest));
    });
    router.add_sync("PUT", "/v1/files/{digest}", Action::kPutFile, Body::kFilePiece,
                    [&services](const Request& request) { return put_file(request, services); });
    router.add_sync("GET", "/v1/applications/{id}/results", Action::kListResults, Body::kNone,
                    [&services](const Request& request) {
                        const auto id = codec::decode_id<ApplicationId>(request.call.parameters.at("id"), "id");
                        if (!id) return http::problem(id.error());
                        return results_reply(services.applications.results(request.call.caller(), *id));
                    });
    router.add_sync("GET", "/v1/applications/{id}/results/{name...}", Action::kReadResult, Body::kNone,
                    [&services](const Request& request) {
                        return piece_reply<ApplicationId>(request, [&](const auto& id, const auto& name, auto offset) {
                            return services.applications.result(request.call.caller(), id, name, offset);
                        });
                    });
    router.add_sync("PUT", "/v1/parts/{id}/staging", Action::kStagePart, Body::kJson,
                    [&services](const Request& request) { return stage(request, services); });
    router.add_sync("PUT", "/v1/parts/{id}/files/{digest}", Action::kPutPartFile, Body::kFilePiece,
                    [&services](const Request& request) { return put_part_file(request, services); });
    router.add_sync("GET", "/v1/parts/{id}/results", Action::kListPartResults, Body::kNone,
                    [&services](const Request& request) {
                        const Result<PartId> id = codec::decode_id<PartId>(request.call.parameters.at("id"), "id");
                        if (!id) return http::problem(id.error());
                        return results_reply(services.parts.of(*id).results(request.call.caller(), *id));
                    });
    router.add_sync("GET", "/v1/parts/{id}/results/{name...}", Action::kReadPartResult, Body::kNone,
                    [&services](const Request& request) {
                        return piece_reply<PartId>(request, [&](const auto& id, const auto& name, auto offset) {
                            return services.parts.of(id).result(request.call.caller(), id, name, offset);
                        });
                    });
}

}  // namespace zbs
